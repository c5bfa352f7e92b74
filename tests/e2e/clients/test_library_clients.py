"""Libraries and programs that users bring: each writes and reads IDs in its own way.

Each program of `programs/libraries` inserts a row, reads its key back, filters by key, by list and by time, joins, and
polls the feed, as far as its library can. docs/clients.md lists them with what each needs.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clients import PROGRAMS, ROOT, block, copy, node, python, reported
from clients import installed as installed  # a fixture
from clients import run as run_in
from clients import server as server  # a fixture
from plans import explain
from server import on_the_oldest

pytestmark = on_the_oldest("the programs send the same statements to all versions")

LIBRARIES = PROGRAMS / "libraries"
SOURCES = sorted({*LIBRARIES.glob("*.*")} - {*LIBRARIES.glob("journey.*")})
TABLES = """
    CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text NOT NULL);
    CREATE TABLE items (
        id scru128 PRIMARY KEY DEFAULT gen_scru128(), order_id scru128 NOT NULL REFERENCES orders
    );
"""
COLUMNS = (ROOT / "docs/uuid-and-bigint-columns.md").read_text()
[VIEW] = re.findall(r"^CREATE VIEW orders_as_text .*?;$", COLUMNS, re.M | re.S)
# What a program reports that inserts a row, and one that only reads the text view.
WRITES = {
    "found": ["made"],
    "listed": ["old", "made"],
    "since": ["a", "b", "made"],
    "joined": ["made"],
    "feed": ["a", "b", "made"],
}
READS = {"found": ["a"], "listed": ["old", "a"], "since": ["a", "b"]}
# Programs that report less.
SOME = {
    "kanel.mjs": {"found": ["a"]},
    "dlt_program.py": {"found": ["a"]},
    "postgraphile.mjs": {name: WRITES[name] for name in ("found", "listed", "joined")},
    "polars_program.py": READS,
    "connectorx_program.py": READS,
}


def run(database, source: Path, directory: Path, installed: Path, *arguments: str) -> str:
    """Runs a program with the package scru-postgres, and returns its output."""
    command = python() if source.suffix == ".py" else node()
    copy(LIBRARIES / f"journey{source.suffix}", directory)
    variables = {"PYTHONPATH": str(installed), "HOME": str(directory)}
    return run_in(database, [*command, copy(source, directory), *arguments], directory, **variables)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem.removesuffix("_program"))
def test_library(installed, database, connection, source, tmp_path):
    """A program reads the rows that it and others have written, and receives each row of the feed once."""
    connection.execute(TABLES)
    connection.execute(VIEW)
    connection.execute("INSERT INTO orders VALUES (gen_scru128('2025-01-01'), 'old')")
    connection.execute("INSERT INTO orders (note) VALUES ('a'), ('b')")
    ids = [id for (id,) in connection.execute("SELECT id::text FROM orders ORDER BY id")]
    printed = run(database, source, tmp_path, installed, *ids)
    expected = SOME.get(source.name, WRITES)
    if expected.get("found") == ["made"]:
        [(made,)] = connection.execute("SELECT id::text FROM orders WHERE note = 'made'").fetchall()
        expected = {"made": [made], **expected}
    assert reported(printed) == expected


# The errors of docs/clients.md, and the attempts of programs/errors that raise them.
ERRORS = {
    'type "scru128" does not exist': {"without_the_extension"},
    "operator does not exist: scru128 > character varying": {"tuples_with_sqlalchemy"},
    "function scru128_horizon(character varying) does not exist": {"horizon_with_sqlalchemy"},
    "function pg_catalog.extract(unknown, scru128) does not exist": {"group_by_the_id"},
    'unrecognized configuration parameter "scru.scru64_node"': {"show_a_setting"},
    "operator does not exist: scru128 = text": {"list_with_psycopg2", "filter_with_adbc"},
    "operator does not exist: scru128 = character varying": {"insert_with_sqlmodel", "find_with_sqlmodel"},
    'column "id" is of type scru128 but expression is of type …': {"append_with_pandas"},
    'invalid input syntax for type scru128: "2026-…"': {"time_with_psycopg", "time_with_pg8000"},
    "to an unrecognized field type Scru128Field": {"filter_with_django"},
    "not implemented: scru128": {"read_with_connectorx", "read_with_polars"},
    "incorrect binary data format for type scru128": {"ingest_with_adbc"},
    "extension<arrow.opaque[… type_name=scru128, …": {"read_with_adbc"},
}


def test_the_page_has_the_errors_that_users_see(installed, database, connection, tmp_path):
    """The error of SQLModel comes after the commit."""
    connection.execute(TABLES)
    connection.execute("INSERT INTO orders (note) VALUES ('a')")
    [(id,)] = connection.execute("SELECT id::text FROM orders").fetchall()
    printed = run(database, PROGRAMS / "errors" / "error_texts.py", tmp_path, installed, id)
    lines = dict(line.split(" ", 1) for line in printed.splitlines())
    page = (ROOT / "docs/clients.md").read_text().partition("## What an error means")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)) - ERRORS.keys() == NOT_RUN
    for text, attempts in ERRORS.items():
        assert f"| `{text}` |" in page
        pattern = re.escape(text).replace("…", ".*")
        assert attempts == {attempt for attempt, line in lines.items() if re.search(pattern, line)}, text
    assert connection.execute("SELECT note FROM orders WHERE note <> 'a'").fetchall() == [("sqlmodel",)]


# Errors of programs that were run by hand, or that other tests raise.
NOT_RUN = {
    "Postgres type 'scru128' is not supported by mapping",
    "Can't generate DDL for NullType()",
    'null value in column "order_id"',
    "TS2322: Type 'unknown' is not assignable to type 'string'",
}
# What the macros of Grafana, and the filters and groups of Metabase and Superset, become in SQL.
GRAFANA = {
    r"\$__timeGroup\((.*?), '1h'\)": r"floor(extract(epoch from \1)/3600)*3600",
    r"\$__timeFilter\((.*?)\)": r"\1 BETWEEN '2026-11-01T00:00:00Z' AND '2026-11-02T00:00:00Z'",
}
BUILT = """
    SELECT DATE_TRUNC('hour', "public"."orders_by_time"."created_at") AS "created_at", COUNT(*) AS "count"
    FROM "public"."orders_by_time"
    WHERE "public"."orders_by_time"."created_at" >= timestamp with time zone '2026-11-01 00:00:00.000Z'
        AND created_at < TO_TIMESTAMP('2026-11-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
    GROUP BY 1 ORDER BY 1
"""


def test_dashboards(connection):
    """The query of the page and those of the programs find the rows of a day by the index."""
    connection.execute(TABLES)
    connection.execute("SET TIME ZONE 'UTC'; SET enable_seqscan = off")
    for time in "2026-10-31 23:59Z", "2026-11-01 10:05Z", "2026-11-01 10:55Z", "2026-11-02 00:01Z":
        connection.execute("INSERT INTO orders VALUES (gen_scru128(%s), 'x')", [time])
    grafana = block("1 of tools.md#dashboards")
    for macro, text in GRAFANA.items():
        grafana = re.sub(macro, text, grafana)
    connection.execute(block("2 of tools.md#dashboards"))
    for query, first in (grafana, 1_793_527_200), (BUILT, datetime(2026, 11, 1, 10, tzinfo=UTC)):
        assert connection.execute(query).fetchall() == [(first, 2)]
        assert "Index Cond" in explain(connection, query.rstrip().rstrip(";"))
