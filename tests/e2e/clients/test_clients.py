"""Database clients: each in its usual installation and its own language, over TCP with a password.

The programs are the code blocks of the pages, with what a program needs around them. Those of `programs/libraries` are
of libraries and programs that users bring: docs/clients.md lists them with what each needs.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import expect
from clients import INSTALLED, PACKAGE, PROGRAMS, ROOT, block, copy, node, python, reported
from clients import run as run_in
from clients import server as server  # a fixture
from idtypes import SCRU128
from migration import Run, blocks
from plans import explain
from programs import missing
from server import on_the_oldest

on_one_version = on_the_oldest("the clients send the same statements to all versions")

# November of 2026 and 2027, and the last millisecond that Python has.
TIMES = (1_793_491_200_000, 1_825_027_200_000, 253_402_300_799_999)
SMALL = [value for value in dict.fromkeys(SCRU128.samples(16)) if SCRU128.unix_milliseconds(value) < TIMES[0]]
VALUES = [*SMALL, *(time << SCRU128.body_bits for time in TIMES)]
IDS = [SCRU128.text(value) for value in VALUES]
IN_ORDER = [SCRU128.text(value) for value in sorted(VALUES)]
IN_BYTES = [SCRU128.binary(value).hex() for value in sorted(VALUES)]


JDBC, GOPATH = "/usr/share/java/postgresql.jar", "/usr/share/gocode"
DOCTRINE = """require "Doctrine/ORM/autoload.php"; new Symfony\\Component\\Cache\\Adapter\\ArrayAdapter;
    exit(extension_loaded("pdo_pgsql") ? 0 : 1);"""
# The commands that run a source file with Debian's packages, a check in the shell for each, and the packages.
OF_DEBIAN = {
    ".java": (
        ["java", "-XX:TieredStopAtLevel=1", "-cp", JDBC],
        f"javac -version && [ -e {JDBC} ]",
        "default-jdk-headless, libpostgresql-jdbc-java",
    ),
    ".go": (
        ["env", f"GOPATH={GOPATH}", "GO111MODULE=off", "go", "run"],
        f"go version && [ -e {GOPATH}/src/github.com/jackc/pgx/v5 ]",
        "golang-go, golang-github-jackc-pgx-v5-dev",
    ),
    ".rb": (["ruby"], """ruby -e 'require "active_record"; require "pg"'""", "ruby-activerecord, ruby-pg"),
    ".php": (["php"], f"php -r '{DOCTRINE}'", "php-cli, php-pgsql, php-doctrine-orm, php-symfony-cache"),
}


def command_of(suffix: str) -> list:
    """Returns the command that runs a program. Skips the test if it is not installed."""
    if suffix not in OF_DEBIAN:
        return {".py": python, ".mjs": node}[suffix]()
    command, check, packages = OF_DEBIAN[suffix]
    if subprocess.run(["sh", "-c", check], capture_output=True).returncode:
        # Debian 12 does not have Go's driver.
        (pytest.skip if suffix == ".go" else missing)(f"not installed: {packages}")
    return command


def run(directory: Path, database, program: str, *arguments: str, **environment: str) -> dict:
    """Runs a copy of a program with the package scru-postgres, or a driver in the compiled program, and returns what it
    reports."""
    source = PROGRAMS / program
    if source.suffix:
        # A program in a folder needs its other files.
        copied = copy(source if source.parent == PROGRAMS else source.parent, directory)
        directory = copied.parent if copied.is_file() else copied
        command = [*command_of(source.suffix), directory / source.name]
    else:
        command = [INSTALLED / "rust/clients", program]
        if not command[0].exists():
            missing("the Rust clients are not built (tools/lib/clients.sh)")
    environment |= {"PYTHONPATH": f"{PACKAGE / 'src'}:{PROGRAMS}", "HOME": str(directory)}
    return reported(run_in(database, [*command, *arguments], directory, **environment))


def column(connection, query: str) -> list[str]:
    """Returns a column as texts."""
    return [str(value) for (value,) in connection.execute(query)]


COLUMNS = (ROOT / "docs/uuid-and-bigint-columns.md").read_text()
[VIEW] = re.findall(r"^CREATE VIEW orders_as_text .*?;$", COLUMNS, re.MULTILINE | re.DOTALL)
TABLES = f"""
    {block("1 of clients.md#clients")}
    {VIEW}
    CREATE TABLE items (id scru128 PRIMARY KEY DEFAULT gen_scru128(), order_id scru128 NOT NULL REFERENCES orders);
    CREATE TABLE copied (id scru128);
    CREATE TABLE copied_in_text (id scru128);
    CREATE TABLE copied_in_binary (id scru128);
    CREATE TABLE lists (ids scru128[]);
    CREATE EXTENSION scru_uuidv7;
    CREATE TABLE events (id uuid PRIMARY KEY DEFAULT gen_uuidv7(), note text NOT NULL);
    INSERT INTO events VALUES (gen_uuidv7('2025-01-01'), 'old');
    INSERT INTO events (note) VALUES ('a'), ('b');
"""
# A migration from an old key, for programs whose migrations create the tables.
CONVERT = """
    CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL);
    INSERT INTO old (created_at) SELECT now() - n * interval '1 s' FROM generate_series(1, 9) AS n;
    {}
    SELECT pg_temp.convert_key('old', 'id', 'scru128', 'created_at');
    DO $$ BEGIN ASSERT 9 = (SELECT count(*) FROM old WHERE created_at - id::timestamptz < interval '1 ms'); END $$;
    DROP TABLE old, old_old_id;
""".format((PACKAGE / "src/scru_postgres/convert_key.sql").read_text())
WITH_IDS = {"made", "found", "later", "malformed"}
WITH_COPY = WITH_IDS | {"copied"}
WITH_THE_PACKAGE = {"array", "array_of_null", "null", "found_in_binary"}
WITH_BINARY = WITH_COPY | WITH_THE_PACKAGE | {"later_in_a_range", "bytes", "copied_in_binary"}
WITH_UUIDS = {"event", "events", "feed"}
# What each program reports.
CLIENTS = {
    "psycopg_client.py": WITH_BINARY | {"bytes_found", "found_by_class", "first", "array_in_binary", "copied_in_text"},
    "asyncpg_client.py": WITH_BINARY,
    "sqlalchemy_client.py": WITH_IDS | WITH_THE_PACKAGE | {"array_in_text", "later_in_text"},
    "node_postgres_client.mjs": WITH_COPY | {"array", "bytes"},
    "Jdbc.java": WITH_COPY - {"made"} | {"later_in_a_range", "first", "feed"},
    "pgx.go": WITH_COPY | {"bytes"},
    "tokio-postgres": WITH_COPY | {"later_in_a_range", "array", "first"},
    "sqlx": WITH_COPY | {"array", "in_text"},
    "activerecord/program.rb": WITH_IDS | {"array", "joined", "fixture", "lengths", "same"},
    "drizzle/program.mjs": WITH_IDS | {"array", "joined", "feed"},
    "prisma/program.mjs": WITH_UUIDS,
    "typeorm.mjs": WITH_UUIDS,
    "kysely.mjs": WITH_UUIDS,
    "doctrine.php": WITH_UUIDS,
}
MIGRATE = ("activerecord/program.rb", "drizzle/program.mjs")
on_18 = on_the_oldest("Debian 12 does not have Go's driver", 18)


@pytest.mark.parametrize(
    "program", [pytest.param(program, marks=on_18 if program == "pgx.go" else on_one_version) for program in CLIENTS]
)
def test_client(new_database, tmp_path, program):
    """Text and bytes pass through the client unchanged. Malformed text raises the client's own error. Conditions on the
    time and feeds find the rows of now, and not those of 2025."""
    database = new_database(extension=program not in MIGRATE)
    environment = {"CONVERT": CONVERT}
    with database.connect() as connection:
        if program not in MIGRATE:
            connection.execute(TABLES)
            # The program inserts the first ID.
            connection.execute("INSERT INTO orders SELECT unnest(%s::text[])::scru128, 'given'", [IDS[1:]])
            [environment["AFTER"]] = column(connection, "SELECT id FROM events WHERE note = 'old'")
        found = run(tmp_path, database, program, *IDS, **environment)
        # By default, the IDs in their order.
        expected = dict.fromkeys(CLIENTS[program], IN_ORDER) | {
            "copied_in_text": IDS,
            "null": ["None"],
            "array_of_null": ["None", *IDS],
            **dict.fromkeys(("bytes", "bytes_found"), IN_BYTES),
            "malformed": [expect.INVALID_TEXT],
            "first": IDS[:1],
            "joined": ["made"],
            "fixture": ["fixture", "00000000000000000000000000973RIP", "000000548q55", "0000000973VJS"],
            "lengths": ["26", "32", "12", "13"],
            "same": ["true"],
        }
        if "made" in found:
            expected["made"] = column(connection, "SELECT id FROM orders WHERE note = 'made'")
        if "later" in found:
            later = column(connection, "SELECT id FROM orders WHERE id::timestamptz >= '2026-11-01Z' ORDER BY id")
            expected |= dict.fromkeys(("later", "later_in_a_range", "later_in_text"), later)
        if "copied" in CLIENTS[program]:
            found["copied"] = column(connection, "SELECT id FROM copied ORDER BY id")
        if "feed" in found:
            feed = column(connection, "SELECT id FROM events WHERE note <= 'b' ORDER BY id")
            made = column(connection, "SELECT id FROM events WHERE note = 'made'")
            expected |= {"feed": feed, "events": feed, "event": made}
    assert found == {name: expected[name] for name in CLIENTS[program]}


# What a program of a library reports that inserts a row, and one that only reads.
NEW = ["a", "b", "made"]
WRITES = {"found": ["made"], "listed": ["old", "made"], "since": NEW, "joined": ["made"], "feed": NEW}
READS = {"found": ["a"], "listed": ["old", "a"], "since": ["a", "b"]}
LIBRARIES = sorted(file.name for file in (PROGRAMS / "libraries").glob("*.*") if file.stem != "journey")


@on_one_version
@pytest.mark.parametrize("program", LIBRARIES)
def test_library(database, tmp_path, program):
    """A program reads the rows that it and others have written, and receives each row of the feed once."""
    with database.connect() as connection:
        connection.execute(TABLES)
        connection.execute("INSERT INTO orders VALUES (gen_scru128('2025-01-01'), 'old')")
        connection.execute("INSERT INTO orders (note) VALUES ('a'), ('b')")
        ids = column(connection, "SELECT id FROM orders ORDER BY id")
        found = run(tmp_path, database, f"libraries/{program}", *ids)
        made = column(connection, "SELECT id FROM orders WHERE note = 'made'")
    expected = {"made": made, **WRITES} if made else READS
    assert "found" in found and found == {name: expected[name] for name in found}


CREATED_AT = """
    DROP TABLE IF EXISTS orders;
    CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp());
    INSERT INTO orders (note) VALUES ('old')
"""


@on_one_version
def test_a_program_runs_on_the_table_and_on_the_view(database, tmp_path):
    """On a column `created_at` that the database fills, and on the view that replaces the table."""
    with database.connect() as connection:
        for is_view in False, True:
            connection.execute(CREATED_AT)
            if is_view:
                Run(connection)(blocks("Without created_at")[1])
            found = run(tmp_path, database, "created_at.py")
            assert found == {"since": ["three", "two", "one"], "latest": ["three", "two"], "left": ["changed", "old"]}


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


@on_one_version
def test_dashboards(connection):
    """The query of the page and those of the programs find the rows of a day by the index."""
    connection.execute(block("1 of clients.md#clients"))
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
