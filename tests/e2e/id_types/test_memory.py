"""Memory: a session that repeatedly sorts, fails or generates IDs does not grow."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

import psycopg
import pytest

import expect
from idtypes import each_form

MEGABYTE = 1024


@pytest.fixture
def session(connection):
    """A session without parallel workers."""
    connection.execute("SET max_parallel_workers_per_gather = 0")
    return connection


def private_memory(pid: int) -> int:
    """Returns the anonymous resident memory of a process in kilobytes."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon:")]
    return int(line.split()[1])


def growth(connection, work, times: int) -> int:
    """Returns the growth of the session's memory in kilobytes during `times` calls of `work`, after a first one."""
    work()
    before = private_memory(connection.info.backend_pid)
    for _ in range(times):
        work()
    return private_memory(connection.info.backend_pid) - before


@each_form
def test_a_sort_releases_its_memory(session, id_type):
    """Completed and aborted sorts release their memory. The IDs have many timestamps, which a sort may record."""
    session.execute(
        f"CREATE TABLE ids AS SELECT n, {id_type.name}_lower(timestamptz '2030-01-01' + n * interval '1 s') AS id"
        " FROM generate_series(1, 70000) AS n"
    )

    def sort():
        session.execute("SELECT id FROM ids ORDER BY id OFFSET 1000000")

    def fail():
        with pytest.raises(psycopg.errors.DivisionByZero):
            session.execute("SELECT id FROM ids WHERE 1 / (69999 - n) IS NOT NULL ORDER BY id")

    assert growth(session, sort, 20) < 4 * MEGABYTE
    assert growth(session, fail, 20) < 4 * MEGABYTE


@pytest.mark.parametrize(("kilobytes", "times"), [(1_000, 100), (1_073_741, 1)])
def test_an_error_releases_its_memory(session, kilobytes, times):
    """A message that quoted the whole of the longest text, almost 1 GB, would exceed the limit of the server."""

    def fail():
        with expect.error(expect.INVALID_TEXT, f'invalid input syntax for type scru128: "{"x" * 64}..."', ANY):
            session.execute(f"SELECT repeat(repeat('x', 1000), {kilobytes})::scru128")

    assert growth(session, fail, times) < 20 * MEGABYTE


@each_form
@pytest.mark.parametrize("value", ["gen_{t}()", "id::text::{t}", "id::bytea::{t}", "id::timestamptz::{t}"])
def test_a_row_releases_its_memory(session, id_type, value):
    """Memory for one row of a query is released before the next row."""
    query = f"SELECT max({value}) FROM gen_{{t}}() AS id, generate_series(1, 300000)".format(t=id_type)
    assert growth(session, lambda: session.execute(query), 1) < 4 * MEGABYTE


def test_a_statement_releases_its_memory(session):
    """What a function remembers of its last call is released with the statement."""
    query = "SELECT gen_scru128() <@ tstzrange(''2026-01-01'', NULL)"
    work = f"DO $$ BEGIN FOR n IN 1..60000 LOOP EXECUTE '{query}'; END LOOP; END $$"
    assert growth(session, lambda: session.execute(work), 1) < 2 * MEGABYTE
