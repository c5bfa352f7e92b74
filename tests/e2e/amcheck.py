"""The server's own checker of B-tree indexes, from contrib."""

from __future__ import annotations

import psycopg
import pytest


def install(connection: psycopg.Connection) -> None:
    """Installs it, or skips the test where the server comes without it."""
    if not is_there(connection):
        pytest.skip("this server comes without amcheck (contrib)")
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")


def is_there(connection: psycopg.Connection) -> bool:
    """Whether the server comes with it."""
    return bool(connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck'").fetchone())


def check_if_there(connection: psycopg.Connection, index: str) -> None:
    """As `check`, where the server comes with it: for tests that have more to say."""
    if is_there(connection):
        install(connection)
        check(connection, index)


def check(connection: psycopg.Connection, index: str) -> None:
    """Compares each tuple with its neighbours, up and down the tree, finds each again, and each row of the table."""
    connection.execute(f"SELECT bt_index_check('{index}', heapallindexed => true)")
    connection.execute(f"SELECT bt_index_parent_check('{index}', heapallindexed => true, rootdescend => true)")
