"""The server's own checker of B-tree indexes, from contrib."""

from __future__ import annotations

import psycopg
import pytest


def is_available(connection: psycopg.Connection) -> bool:
    """Whether the server comes with it."""
    query = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck')"
    return connection.execute(query).fetchone() == (True,)


def install(connection: psycopg.Connection) -> None:
    """Installs it, or skips the test where the server comes without it."""
    if not is_available(connection):
        pytest.skip("this server comes without amcheck (contrib)")
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")


def check_if_there(connection: psycopg.Connection, index: str) -> None:
    """As `check`, where the server comes with it: for tests that have more to say."""
    if is_available(connection):
        install(connection)
        check(connection, index)


def check(connection: psycopg.Connection, index: str) -> None:
    """Compares each tuple with its neighbours, up and down the tree, finds each again, and each row of the table."""
    connection.execute(f"SELECT bt_index_check('{index}', heapallindexed => true)")
    if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):  # it takes a lock that no standby gives
        connection.execute(f"SELECT bt_index_parent_check('{index}', heapallindexed => true, rootdescend => true)")
