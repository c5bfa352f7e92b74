"""Exact expected errors (SQLSTATE, message, DETAIL, HINT), and B-tree indexes that amcheck (contrib) accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

INVALID_TEXT = "22P02"
INVALID_BINARY = "22P03"
OUT_OF_RANGE = "22003"
INVALID_SETTING = "22023"
CLOCK_MOVED_BACK = "55000"
READ_ONLY = "25006"
EXHAUSTED = "2200H"
CANCELED = "57014"
CANNOT_CHANGE_NOW = "55P02"

# How messages of the extension name objects.
OBJECTS = {
    "table_name": r'(?:table "|sequence "scru_internal\.)([^"]*)"',
    "column_name": r'column "([^"]*)"',
    "constraint_name": r'trigger "([^"]*)"',
    "datatype_name": r"(?:for type|could not generate a|generation of|^the) (scru\d+|ulid(?:flake)?|uuid)\b",
}


@contextmanager
def error(sqlstate: str, message: str, detail: str | None = None, hint: str | None = None) -> Iterator[None]:
    """Asserts that the block raises exactly this error, whose fields name the objects that the message names."""
    with pytest.raises(psycopg.Error) as caught:
        yield
    diag = caught.value.diag
    got = (diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint)
    assert got == (sqlstate, message, detail, hint)
    # Of two tables, the server names the last one.
    objects = {field: named[-1] for field, pattern in OBJECTS.items() if (named := re.findall(pattern, message))}
    assert {field: getattr(diag, field) for field in objects} == objects
    assert diag.schema_name is not None or "table_name" not in objects


def has_amcheck(connection: psycopg.Connection) -> bool:
    """Returns whether the server has amcheck."""
    query = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck')"
    return connection.execute(query).fetchone() == (True,)


def install_amcheck(connection: psycopg.Connection) -> None:
    """Creates the extension, or skips the test if the server does not have it."""
    if not has_amcheck(connection):
        pytest.skip("this server has no amcheck (contrib)")
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")


def intact(connection: psycopg.Connection, index: str) -> None:
    """Checks the order of the tuples, the links between the pages, and that the index has all rows of the table."""
    connection.execute(f"SELECT bt_index_check('{index}', heapallindexed => true)")
    # bt_index_parent_check takes a lock that is not available during recovery.
    if connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
        connection.execute(f"SELECT bt_index_parent_check('{index}', heapallindexed => true, rootdescend => true)")
