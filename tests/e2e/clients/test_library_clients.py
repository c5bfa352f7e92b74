"""Libraries and programs that users bring: each writes and reads IDs in its own way.

Each program of `programs/libraries` inserts a row, reads its key back, filters by key, by list and by time, joins, and
polls the feed, as far as its library can. docs/clients.md lists them with what each needs. tools/lib/clients.sh
installs them, in the versions of `programs/requirements.txt` and `programs/package.json`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plans import explain
from programs import missing
from server import on_the_oldest
from test_clients import PASSWORD, PROGRAMS, ROOT, WHERE_CLIENTS_ARE
from test_clients import server as server  # a fixture
from test_javascript import PACKAGES, node
from test_python_package import PYTHON
from test_python_package import installed as installed  # a fixture

of_servers = on_the_oldest("the programs send the same statements to all versions", 18)
of_pages = on_the_oldest("compares the page with the programs")

LIBRARIES = PROGRAMS / "libraries"
SOURCES = sorted([*LIBRARIES.glob("*.py"), *LIBRARIES.glob("*.mjs")])
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


def command(source: Path, directory: Path) -> list:
    """Returns the command that runs a program. Node.js looks for the installed packages beside the program."""
    if source.suffix == ".py":
        return [python(), source]
    if not node(20) or not (PACKAGES / "knex").exists():
        missing("Node.js 20 or its packages are not installed (tools/lib/clients.sh)")
    (directory / "node_modules").symlink_to(PACKAGES)
    return [node(20), shutil.copy(source, directory)]


def python() -> Path:
    """Returns the Python of the clients. Skips the test if it is missing, or cannot run on this machine."""
    if (
        not PYTHON.exists()
        or subprocess.run([*WHERE_CLIENTS_ARE, PYTHON, "-c", "import psycopg2"], capture_output=True).returncode
    ):
        missing("tools/lib/clients.sh has not installed the Python clients")
    return PYTHON


def run(database, source: Path, directory: Path, installed: Path, *arguments: str) -> str:
    """Runs a program, which must succeed, on the machine that has the programs, and returns its output."""
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    variables = {"DATABASE_URL": url, "PYTHONPATH": installed, "HOME": directory, "PATH": os.environ["PATH"]}
    environment = ["env", "--ignore-environment", f"--chdir={directory}"]
    environment += [f"{name}={value}" for name, value in variables.items()]
    line = [*WHERE_CLIENTS_ARE, *environment, *command(source, directory), *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@of_servers
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem.removesuffix("_program"))
def test_library(installed, database, connection, source, tmp_path):
    """A program reads the rows that it and others have written, and receives each row of the feed once."""
    connection.execute(TABLES)
    connection.execute(VIEW)
    connection.execute("INSERT INTO orders VALUES (gen_scru128('2025-01-01'), 'old')")
    connection.execute("INSERT INTO orders (note) VALUES ('a'), ('b')")
    ids = [id for (id,) in connection.execute("SELECT id::text FROM orders ORDER BY id")]
    printed = run(database, source, tmp_path, installed, *ids)
    reported = {name: values for name, *values in map(str.split, printed.splitlines()) if name.isalpha()}
    expected = SOME.get(source.name, WRITES)
    if expected.get("found") == ["made"]:
        [(made,)] = connection.execute("SELECT id::text FROM orders WHERE note = 'made'").fetchall()
        expected = {"made": [made], **expected}
    assert reported == expected


# The packages whose names are not those of the programs.
PACKAGES_OF = {
    "adbc": "adbc-driver-postgresql",
    "mikro_orm": "@mikro-orm/postgresql",
    "postgres_js": "postgres",
    "psycopg2": "psycopg2-binary",
    "tortoise": "tortoise-orm",
}


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


@of_pages
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


@of_pages
def test_dashboards(connection):
    """The query of the page and those of the programs find the rows of a day by the index."""
    connection.execute(TABLES)
    connection.execute("SET TIME ZONE 'UTC'; SET enable_seqscan = off")
    for time in "2026-10-31 23:59Z", "2026-11-01 10:05Z", "2026-11-01 10:55Z", "2026-11-02 00:01Z":
        connection.execute("INSERT INTO orders VALUES (gen_scru128(%s), 'x')", [time])
    page = (ROOT / "docs/clients.md").read_text().partition("## Dashboards")[2]
    grafana, view = re.findall(r"```(?:sql)?\n(.*?)```", page, re.DOTALL)[:2]
    for macro, text in GRAFANA.items():
        grafana = re.sub(macro, text, grafana)
    connection.execute(view)
    for query, first in (grafana, 1_793_527_200), (BUILT, datetime(2026, 11, 1, 10, tzinfo=UTC)):
        assert connection.execute(query).fetchall() == [(first, 2)]
        assert "Index Cond" in explain(connection, query.rstrip().rstrip(";"))


@of_pages
def test_the_page_lists_what_is_run():
    """The table of docs/clients.md has each program of the folder with its pinned version, and links to no others."""
    page = (ROOT / "docs/clients.md").read_text()
    versions = dict(re.findall(r"^\| \[([^]]+)\]\[\] \| in CI, ([\d.]+) \|", page, re.MULTILINE))
    programs = dict(re.findall(r"^\[([^]]+)\]: \.\./tests/e2e/clients/programs/libraries/(\S+)$", page, re.MULTILINE))
    assert versions.keys() == programs.keys()
    pinned = dict(line.split("==") for line in (PROGRAMS / "requirements.txt").read_text().split())
    pinned |= json.loads((PROGRAMS / "package.json").read_text())["dependencies"]
    names = {source.name: source.stem.removesuffix("_program") for source in SOURCES}
    assert {programs[name]: version for name, version in versions.items()} == {
        file: pinned[PACKAGES_OF.get(name, name.replace("_", "-"))] for file, name in names.items()
    }


@of_pages
def test_each_row_says_how_it_was_tested():
    """In CI, then the row links to a program or a section; or by hand with a version, then it has no link. The group of
    each row is above it."""
    page = (ROOT / "docs/clients.md").read_text()
    [table] = re.findall(r"\| program \| tested \|.*?\n(?=\n)", page, re.DOTALL)
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:] if not line.startswith("| **")]
    assert len(rows) > 50
    for program, tested, id, need in rows:
        assert id and need, program
        assert re.fullmatch(r"in CI(, [\d.]+)?" if program.startswith("[") else r"by hand, [\d.]+", tested), program
