"""amcheck, PostgreSQL's own check of B-tree indexes (contrib)."""

from __future__ import annotations

import psycopg
import pytest


def is_available(connection: psycopg.Connection) -> bool:
    """Returns whether the server has amcheck."""
    query = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck')"
    return connection.execute(query).fetchone() == (True,)


def install(connection: psycopg.Connection) -> None:
    """Creates the extension, or skips the test if the server does not have it."""
    if not is_available(connection):
        pytest.skip("this server has no amcheck (contrib)")
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")


def check_if_there(connection: psycopg.Connection, index: str) -> None:
    """Runs `check` if the server has amcheck."""
    if is_available(connection):
        install(connection)
        check(connection, index)


def check(connection: psycopg.Connection, index: str) -> None:
    """Checks the order of the tuples, the links between the pages, and that the index has all rows of the table."""
    connection.execute(f"SELECT bt_index_check('{index}', heapallindexed => true)")
    # bt_index_parent_check takes a lock that is not available during recovery.
    if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
        connection.execute(f"SELECT bt_index_parent_check('{index}', heapallindexed => true, rootdescend => true)")
