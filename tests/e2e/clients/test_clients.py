"""Database clients: each in its usual installation and its own language, over TCP with a password.

The programs are the code blocks of the pages, with what a program needs around them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import expect
from clients import (
    INSTALLED,
    PACKAGE,
    PACKAGES,
    PROGRAMS,
    ROOT,
    block,
    blocks,
    copy,
    node,
    of_debian,
    python,
    reported,
    run,
)
from clients import server as server  # a fixture
from idtypes import SCRU128
from programs import missing
from server import on_the_oldest

on_one_version = on_the_oldest("the clients send the same statements to all versions")

YEAR_10000 = 253_402_300_800_000  # Python has no times after it
VALUES = [value for value in dict.fromkeys(SCRU128.samples(16)) if SCRU128.unix_milliseconds(value) < YEAR_10000]
IDS = [SCRU128.text(value) for value in VALUES]
IN_ORDER = [SCRU128.text(value) for value in sorted(VALUES)]
IN_BYTES = [SCRU128.binary(value).hex() for value in sorted(VALUES)]
LATER = "WHERE id::timestamptz >= '2026-11-01Z' ORDER BY id"


def java() -> list:
    """Returns the command that runs a single source file with Debian's driver."""
    driver = "/usr/share/java/postgresql.jar"
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", driver]
    return of_debian(command, f"javac -version && [ -e {driver} ]", "default-jdk-headless, libpostgresql-jdbc-java")


def go() -> list:
    """Returns the command that runs a single source file with Debian's driver, which Debian 12 does not have."""
    root = "/usr/share/gocode"
    if not shutil.which("go") or not Path(root, "src/github.com/jackc/pgx/v5").exists():
        pytest.skip("no Go (Debian: golang-go) or no pgx 5 (golang-github-jackc-pgx-v5-dev)")
    return ["env", f"GOPATH={root}", "GO111MODULE=off", "go", "run"]


def ruby() -> list:
    """Returns the command that runs a program with Debian's packages."""
    return of_debian(["ruby"], """ruby -e 'require "active_record"; require "pg"'""", "ruby-activerecord, ruby-pg")


def php() -> list:
    """Returns the command that runs a program with Debian's packages."""
    check = """php -r 'require "Doctrine/ORM/autoload.php"; new Symfony\\Component\\Cache\\Adapter\\ArrayAdapter;
        exit(extension_loaded("pdo_pgsql") ? 0 : 1);'"""
    return of_debian(["php"], check, "php-cli, php-pgsql, php-doctrine-orm, php-symfony-cache")


def rust(driver: str) -> list:
    """Returns the command that runs the compiled program."""
    program = INSTALLED / "rust" / "clients"
    if not program.exists():
        missing("the Rust clients are not built (tools/lib/clients.sh)")
    return [program, driver]


def column(connection, query: str) -> list[str]:
    """Returns a column as texts."""
    return [str(value) for (value,) in connection.execute(query)]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        pytest.param(python, "psycopg_client.py", marks=on_one_version),
        pytest.param(python, "asyncpg_client.py", marks=on_one_version),
        pytest.param(python, "sqlalchemy_client.py", marks=on_one_version),
        pytest.param(node, "node_postgres_client.mjs", marks=on_one_version),
        pytest.param(java, "Jdbc.java", marks=on_one_version),
        pytest.param(go, "pgx.go", marks=on_the_oldest("Debian 12 does not have Go's driver", 18)),
        pytest.param(lambda: rust("tokio-postgres"), "", marks=on_one_version),
        pytest.param(lambda: rust("sqlx"), "", marks=on_one_version),
    ],
    ids=["psycopg", "asyncpg", "SQLAlchemy", "node-postgres", "JDBC", "pgx", "tokio-postgres", "sqlx"],
)
def test_driver(new_database, tmp_path, command, program):
    """Text and bytes pass through the client unchanged. Malformed text raises the client's own error. Each program
    inserts a row, and the first ID. The others are in the table, or it inserts them."""
    database = new_database()
    arguments = [*command(), *([copy(PROGRAMS / program, tmp_path)] if program else [])]
    with database.connect() as connection:
        connection.execute(block("1 of clients.md#clients"))
        connection.execute("CREATE TABLE copied (id scru128)")
        connection.execute("INSERT INTO orders SELECT unnest(%s::text[])::scru128, 'given'", [IDS[1:]])
        found = reported(run(database, [*arguments, *IDS], tmp_path, PYTHONPATH=str(PACKAGE / "src")))
        later = column(connection, f"SELECT id FROM orders {LATER}")
        expected = {
            "made": column(connection, "SELECT id FROM orders WHERE note = 'made'"),
            "found": IN_ORDER,
            "later": later,
            "later_in_a_range": later,
            "later_in_text": later,
            "array": IN_ORDER,
            "in_text": IN_ORDER,
            "bytes": IN_BYTES,
            "bytes_found": IN_BYTES,
            "malformed": [expect.INVALID_TEXT],
            "first": IDS[:1],
            "uuids": ["1"],
        }
        copied = [] if program == "sqlalchemy_client.py" else IN_ORDER
        assert column(connection, "SELECT id FROM copied ORDER BY id") == copied
    assert found == {name: expected[name] for name in found}
    assert {"found", "later", "malformed"} <= found.keys()


@on_one_version
def test_activerecord(new_database, tmp_path):
    """A migration creates the tables, whose schema.rb creates the same ones. IDs of fixtures come from their labels."""
    database = new_database(extension=False)
    program = copy(PROGRAMS / "activerecord", tmp_path) / "program.rb"
    found = reported(run(database, [*ruby(), program, *IDS], tmp_path))
    with database.connect() as connection:
        made = column(connection, "SELECT id FROM kept WHERE note = 'made'")
        later = column(connection, f"SELECT id FROM kept {LATER}")
    assert found == {
        "fixture": ["fixture", "00000000000000000000000000973RIP", "000000548q55", "0000000973VJS"],
        "made": made,
        "found": IN_ORDER,
        "later": later,
        "item": found["item"],
        "array": IN_ORDER,
        "joined": ["made"],
        "malformed": [expect.INVALID_TEXT],
        "same": ["true"],
    }
    assert [len(text) for text in found["item"]] == [26, 32, 12, 13]
    schema = (tmp_path / "schema.rb").read_text()
    for line in (
        'enable_extension "scru"',
        'create_table "orders", id: :scru128, default: -> { "gen_scru128()" }, force: :cascade do |t|',
        't.ulid "parent"',
        't.scru128 "order_id", null: false',
        't.scru128 "others", array: true',
    ):
        assert line in schema


@on_one_version
@pytest.mark.parametrize(
    ("command", "program"),
    [(node, "typeorm.mjs"), (node, "kysely.mjs"), (php, "doctrine.php")],
    ids=["TypeORM", "Kysely", "Doctrine"],
)
def test_uuid(new_database, tmp_path, command, program):
    """A feed and a condition on the time find the row that the program inserts, and not the one of 2025."""
    found = reported(run(new_database(extension=False), [*command(), copy(PROGRAMS / program, tmp_path)], tmp_path))
    assert found == dict.fromkeys(("made", "later", "feed"), found["made"]) and len(found["made"]) == 1


DRIZZLE = "node_modules/drizzle-kit/bin.cjs"
OLD_KEYS = """
CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL);
INSERT INTO old (created_at) SELECT now() - n * interval '1 s' FROM generate_series(1, 9) AS n;
"""
CONVERT_OLD_KEYS = """
SELECT pg_temp.convert_key('old', 'id', 'scru128', 'created_at');
DO $$ BEGIN ASSERT 9 = (SELECT count(*) FROM old WHERE created_at - id::timestamptz < interval '1 ms'); END $$;
DROP TABLE old, old_old_id;
"""


def events(connection) -> tuple[str, list[str]]:
    """Inserts an event of 2025 and two of now, and returns the first ID, and the others."""
    insert = "INSERT INTO events (id, note) SELECT gen_uuidv7({}), 'x' FROM generate_series(1, {}) RETURNING id"
    [after] = column(connection, insert.format("'2025-01-01'", 1))
    return after, sorted(column(connection, insert.format("", 2)))


@on_one_version
def test_drizzle(new_database, tmp_path):
    """The migrations that drizzle-kit generates make the database match the schema."""
    database = new_database(extension=False)
    drizzle = copy(PROGRAMS / "drizzle", tmp_path)

    def kit(*command: str) -> str:
        return run(database, [*node(18), *command], drizzle)

    migrations = drizzle / "migrations"
    kit(DRIZZLE, "generate", "--custom", "--name=extension")
    [extension] = re.findall(r"`(CREATE EXTENSION.*?;)`", (ROOT / "docs/javascript.md").read_text().replace("\n", " "))
    (migrations / "0000_extension.sql").write_text(f"{extension}\nCREATE EXTENSION scru_uuidv7;\n")
    kit(DRIZZLE, "generate", "--name=tables")
    tables = (migrations / "0001_tables.sql").read_text()
    for written in (
        '"id" "scru128" PRIMARY KEY DEFAULT gen_scru128() NOT NULL',
        '"id" "ulid" PRIMARY KEY DEFAULT gen_ulid() NOT NULL',
        '"others" "scru128"[]',
        '"id" uuid PRIMARY KEY DEFAULT gen_uuidv7() NOT NULL',
    ):
        assert written in tables
    assert "No schema changes" in kit(DRIZZLE, "generate")
    kit(DRIZZLE, "generate", "--custom", "--name=convert")
    convert = (ROOT / "clients/python/src/scru_postgres/convert_key.sql").read_text()
    (migrations / "0002_convert.sql").write_text(f"{OLD_KEYS}{convert}{CONVERT_OLD_KEYS}")
    kit(DRIZZLE, "migrate")
    assert "No changes detected" in kit(DRIZZLE, "push")
    with database.connect() as connection:
        after, waiting = events(connection)
        found = reported(kit("program.mjs", after, *IDS))
        assert found == {
            "made": column(connection, "SELECT id FROM orders WHERE note = 'made'"),
            "found": IN_ORDER,
            "later": column(connection, f"SELECT id FROM orders {LATER}"),
            "array": IN_ORDER,
            "joined": ["made"],
            "malformed": [expect.INVALID_TEXT],
            "feed": waiting,
        }


TYPED = """
import { customType, pgTable } from "drizzle-orm/pg-core";
const scru128 = COLUMN;
const orders = pgTable("orders", { id: scru128("id").primaryKey() });
export const id = (order: typeof orders.$inferSelect): string => order.id;
"""


@on_one_version
def test_drizzle_in_typescript(tmp_path):
    """The values of a column have the type that the page names. Without it, the compiler has the error of the page."""
    [typed] = re.findall(r"`(customType<.*?)`", (ROOT / "docs/javascript.md").read_text(), re.DOTALL)
    command = [*node(18), PACKAGES / "typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck"]
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    for type_, errors in (typed, 0), (typed.replace("<{ data: string }>", ""), 1):
        (tmp_path / "schema.ts").write_text(TYPED.replace("COLUMN", type_))
        command += ["--module", "nodenext", "schema.ts"] if "schema.ts" not in command else []
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        found = re.findall(r"error (.*)\.", done.stdout)
        assert len(found) == errors, done.stdout
        assert all(f"`{error}`" in (ROOT / "docs/clients.md").read_text() for error in found)


# The SQL that `prisma migrate` would write, after statements for the extensions.
PRISMA_TABLES = """
CREATE EXTENSION scru_uuidv7;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT gen_uuidv7(), note text NOT NULL);
CREATE TABLE "orders" ("id" UUID NOT NULL DEFAULT (gen_scru128())::uuid PRIMARY KEY, "note" TEXT);
CREATE TABLE "items" (
    "id" UUID NOT NULL DEFAULT (gen_scru128())::uuid PRIMARY KEY, "order_id" UUID NOT NULL REFERENCES "orders"
);
"""


@on_one_version
def test_prisma(new_database, tmp_path):
    """SQL creates the tables, so that no migration engine is downloaded."""
    database = new_database()
    prisma = copy(PROGRAMS / "prisma", tmp_path)
    run(database, [*node(), "node_modules/prisma/build/index.js", "generate"], prisma)
    with database.connect() as connection:
        connection.execute(PRISMA_TABLES)
        uuids = column(connection, f"SELECT id::scru128::uuid FROM unnest(ARRAY{IN_ORDER}) AS id")
        after, waiting = events(connection)
        found = reported(run(database, [*node(), "program.mjs", after, *uuids], prisma))
        assert found == {
            "made": column(connection, "SELECT id FROM orders WHERE note = 'made'"),
            "found": uuids,
            "later": column(connection, f"SELECT id FROM orders {LATER.replace('id::', 'id::scru128::')}"),
            "feed": waiting,
            "events": waiting,
            "event": column(connection, "SELECT id FROM events WHERE note = 'made'"),
        }


# ------------------------------------------------------------------------------------------------------------ the pages


PAGES = ("README", "clients", "python", "django", "javascript", "java", "go", "rust", "ruby", "tools", "paging")


@on_the_oldest("compares the pages with the programs")
def test_each_block_is_run():
    """Each block of the pages is named in a program, or in a test."""
    files = [*PROGRAMS.rglob("*.*"), *Path(__file__).parents[1].rglob("test_*.py")]
    texts = "".join(path.read_text() for path in files if path.is_file() and path.suffix not in (".pyc", ".json"))
    named = set(re.findall(r"\b\d+ of [\w-]+\.md#[\w-]+", texts))
    shown = {
        f"{number} of {page}.md#{anchor}"
        for page in PAGES
        for anchor, found in blocks(f"{page}.md").items()
        for number in range(1, len(found) + 1)
    }
    assert shown - named == set()


@on_the_oldest("compares the page with the pins")
def test_the_versions_are_the_pinned_ones():
    """The table of docs/clients.md has the versions of requirements.txt, package.json and Cargo.toml."""
    listed = re.findall(r"^\| (.*?) \| in CI, ([\d.]+) \|", (ROOT / "docs/clients.md").read_text(), re.MULTILINE)
    pins = "".join((PROGRAMS / name).read_text() for name in ("requirements.txt", "package.json", "rust/Cargo.toml"))
    is_of_debian = re.compile("JDBC|pgx|ActiveRecord|Doctrine").search
    assert len(listed) > 30
    for name, version in listed:
        assert is_of_debian(name) or re.search(rf'(==|"){re.escape(version)}["\n]', pins), name
