"""Memory and disk: a session that repeatedly sorts, fails or generates IDs does not grow, and tables and indexes have
as many bytes as those of the server's own type of the same length.
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from idtypes import TYPES, each_type, of_types

# --------------------------------------------------------------------------------------------------------------- memory


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


@each_type
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


@each_type
def test_an_error_releases_its_memory(session, id_type):
    """The error quotes the beginning of the text, which can be long."""
    text = id_type.digits[0] * 1_000_000

    def fail():
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            session.execute(f"SELECT %s::text::{id_type.name}", [text])

    assert growth(session, fail, 100) < 20 * MEGABYTE


def test_an_error_about_the_longest_text_releases_its_memory(session):
    """A message about a text of almost 1 GB would exceed the limit of the server if it quoted the whole text."""
    session.execute(
        """
        CREATE FUNCTION state_of_error() RETURNS text LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM repeat('x', 1073741810)::scru128;
        EXCEPTION WHEN OTHERS THEN
            RETURN SQLSTATE || ' ' || SQLERRM;
        END $$
        """
    )

    def fail():
        [(state,)] = session.execute("SELECT state_of_error()")
        assert state == f'22P02 invalid input syntax for type scru128: "{"x" * 64}..."'

    assert growth(session, fail, 1) < 20 * MEGABYTE


@each_type
@pytest.mark.parametrize(
    "expression",
    ["{generate}", "id::text::{t}", "id::bytea::{t}", "id::timestamptz::{t}", "greatest(id, {generate})"],
)
def test_a_row_releases_its_memory(session, id_type, expression):
    """Memory for one row of a query is released before the next row."""
    value = expression.format(t=id_type.name, generate=id_type.generator)
    query = f"SELECT max({value}) FROM {id_type.generator} AS id, generate_series(1, 300000)"
    assert growth(session, lambda: session.execute(query), 1) < 4 * MEGABYTE


# --------------------------------------------------------------------------------------------------- tables and indexes


ROWS = 50_000

each_type_with_a_baseline = of_types([id_type for id_type in TYPES if id_type.baseline])


def sizes(connection, table: str) -> dict[str, int]:
    """Returns the sizes of a table and of its indexes, in bytes."""
    query = """
        SELECT substr(relname, length(%(table)s) + 1), pg_relation_size(c.oid)
        FROM pg_class AS c LEFT JOIN pg_index ON indexrelid = c.oid
        WHERE %(table)s::regclass IN (c.oid, indrelid)
    """
    return dict(connection.execute(query, {"table": table}).fetchall())


@each_type_with_a_baseline
def test_sizes_are_those_of_the_baseline(connection, id_type):
    """Compares tables and their indexes: grown or built at once, with one column or two, with tenfold duplicates."""
    values = f"SELECT {id_type.random_baseline} AS id FROM generate_series(1, {ROWS})"
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"CREATE TEMPORARY TABLE same AS {values}")
    for table, type_ in ("_y", id_type.baseline), ("_t", id_type.name):
        connection.execute(f"CREATE UNLOGGED TABLE {table} (id {type_} PRIMARY KEY, flag boolean)")
        connection.execute(f"INSERT INTO {table} SELECT id::{type_}, true FROM same")
        connection.execute(f"CREATE INDEX {table}_built ON {table} (id)")
        connection.execute(f"CREATE INDEX {table}_two ON {table} (flag, id)")
        connection.execute(f"CREATE INDEX {table}_hash ON {table} USING hash (id)")

        duplicates = f"{table}_duplicates"
        connection.execute(f"CREATE UNLOGGED TABLE {duplicates} (id {type_})")
        connection.execute(f"CREATE INDEX {duplicates}_grown ON {duplicates} (id)")
        some = "same, generate_series(1, 10) WHERE same.ctid < '(250,0)'"
        connection.execute(f"INSERT INTO {duplicates} SELECT id::{type_} FROM {some}")
        connection.execute(f"CREATE INDEX {duplicates}_built ON {duplicates} (id)")
    ours, theirs = ({**sizes(connection, t), "duplicates": sizes(connection, f"{t}_duplicates")} for t in ("_t", "_y"))
    assert ours == theirs
    # Deduplication makes the index of tenfold duplicates much smaller than the table.
    assert ours["duplicates"]["_built"] < ours["duplicates"][""] / 3
