"""The server's own checker of B-tree indexes, from contrib."""

from __future__ import annotations

import psycopg
import pytest


def install(connection: psycopg.Connection) -> None:
    """Installs it, or skips the test where the server comes without it."""
    if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'amcheck'").fetchone():
        pytest.skip("this server comes without amcheck (contrib)")
    connection.execute("CREATE EXTENSION amcheck")


def check(connection: psycopg.Connection, index: str) -> None:
    """Compares each tuple with its neighbours, up and down the tree, finds each again, and each row of the table."""
    connection.execute(f"SELECT bt_index_check('{index}', heapallindexed => true)")
    connection.execute(f"SELECT bt_index_parent_check('{index}', heapallindexed => true, rootdescend => true)")
