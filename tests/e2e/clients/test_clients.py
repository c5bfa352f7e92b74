"""Database clients: each in its usual installation and its own language, over TCP with a password.

The programs are in `clients`. docs/clients.md shows parts of them. Programs that run from source are written for
scru128; for another type, the test replaces this name. `tools/lib/clients.sh` installs the clients into target/clients.
The environment variable SCRU_CLIENTS makes the tests use another directory. Clients that are not installed are skipped.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
import pytest

import expect
from idtypes import SCRU128, IdType, each_type
from programs import LOOPBACK, free_ports, missing
from server import Server, give_to_server_user

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
INSTALLED = Path(os.environ.get("SCRU_CLIENTS", ROOT / "target" / "clients"))
# The start of a command that runs a program in the root directory in which the clients are installed. The tests may run
# in a Debian of tools/lib/servers.sh, which has other versions of the languages.
WHERE_CLIENTS_ARE = ["chroot", os.environ["MACHINE_ROOT"]] if "MACHINE_ROOT" in os.environ else []
JDBC_DRIVER = Path("/usr/share/java/postgresql.jar")

PASSWORD = secrets.token_hex(16)

# ------------------------------------------------------------------------------------------------------------- commands


def program_of(source: Path, id_type: IdType, directory: Path) -> Path:
    """Writes the program for a type into the directory, and returns its path."""
    program = directory / source.name
    program.write_text(source.read_text().replace("scru128", id_type.name))
    return program


def python(needed: str) -> Callable[[Path, IdType, Path], list]:
    """Returns a function like `node`, for the installed Python, or the system's if only that can execute `needed`."""

    @cache
    def interpreter() -> Path | None:
        for candidate in (INSTALLED / "python" / "bin" / "python", Path(sys.executable)):
            if candidate.exists() and not subprocess.run([candidate, "-c", needed], capture_output=True).returncode:
                return candidate
        return None

    def command(source: Path, id_type: IdType, directory: Path) -> list:
        if not interpreter():
            missing(f"no Python can `{needed}`: not installed by tools/lib/clients.sh")
        return [interpreter(), program_of(source, id_type, directory)]

    return command


def node(source: Path, id_type: IdType, directory: Path) -> list:
    """Returns the command that runs a program. Node.js looks for the installed packages beside the program."""
    packages = INSTALLED / "node" / "node_modules"
    if not shutil.which("node") or not packages.exists():
        missing("Node.js or its packages are not installed (tools/lib/clients.sh)")
    (directory / "node_modules").symlink_to(packages)
    return ["node", program_of(source, id_type, directory)]


def java(source: Path, id_type: IdType, directory: Path) -> list:
    """Returns the command that runs a single source file with Debian's driver."""
    if not shutil.which("javac") or not JDBC_DRIVER.exists():
        missing("no JDK (Debian: default-jdk-headless) or no JDBC driver (libpostgresql-jdbc-java)")
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", JDBC_DRIVER, program_of(source, id_type, directory)]


def rust(driver: str) -> Callable[[Path, IdType, Path], list]:
    """Returns a function like `node`, for the compiled program of the Rust drivers, which supports all types."""

    def command(_source: Path, id_type: IdType, _directory: Path) -> list:
        program = INSTALLED / "rust" / "clients"
        if not program.exists():
            missing("the Rust clients are not built (tools/lib/clients.sh)")
        return [program, driver, id_type.name]

    return command


GO_PACKAGES = Path("/usr/share/gocode")


def go(source: Path, id_type: IdType, directory: Path) -> list:
    """Returns the command that runs a single source file with Debian's driver."""
    if not shutil.which("go") or not (GO_PACKAGES / "src/github.com/jackc/pgx/v5").exists():
        pytest.skip("no Go (Debian: golang-go) or no pgx 5 (golang-github-jackc-pgx-v5-dev)")
    return ["env", f"GOPATH={GO_PACKAGES}", "GO111MODULE=off", "go", "run", program_of(source, id_type, directory)]


@dataclass(frozen=True)
class Client:
    """A client, and the operations of its program beyond those that all programs have."""

    name: str
    source: str
    command: Callable[[Path, IdType, Path], list]
    also_reports: tuple[str, ...]
    also_inserts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def run(self, id_type: IdType, url: str, ids: list[str], directory: Path) -> dict[str, list[str]]:
        """Runs the program, and returns the values that it reports, by the name of the operation."""
        command = [*self.command(PROGRAMS / self.source, id_type, directory), *ids]
        environment = {**os.environ, "DATABASE_URL": url}
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self} ended with {done.returncode}:\n{done.stderr}")
        return {name: values for name, *values in map(str.split, done.stdout.splitlines())}


OF_ALL = ("made", "found", "found_by_time", "null", "array", "malformed")
IN_BINARY = ("found_in_binary", "array_in_binary", "copied_in_binary")
BY_CAST = ("cast", "found_by_cast")
IN_RANGE = ("found_in_range", "reserved")
SQLALCHEMY = "import psycopg; from sqlalchemy.orm import DeclarativeBase"
CLIENTS = [
    Client("psycopg", "psycopg_client.py", python("import psycopg"), ("copied", *IN_BINARY, *IN_RANGE), ("binary",)),
    Client("asyncpg", "asyncpg_client.py", python("import asyncpg"), ("copied", *IN_BINARY, *IN_RANGE), ("binary",)),
    Client("SQLAlchemy", "sqlalchemy_client.py", python(SQLALCHEMY), ("found_by_any",)),
    Client("node-postgres", "node_postgres_client.mjs", node, ("copied", "found_in_binary"), ("binary",)),
    Client("JDBC", "Jdbc.java", java, ("copied", *IN_RANGE), ("cast", "unspecified")),
    Client("pgx", "pgx.go", go, ("copied", *IN_BINARY, *IN_RANGE), ("binary",)),
    Client(
        "tokio-postgres",
        "rust/src/with_tokio_postgres.rs",
        rust("tokio-postgres"),
        ("copied", *BY_CAST, *IN_RANGE),
        ("cast",),
    ),
    Client("sqlx", "rust/src/with_sqlx.rs", rust("sqlx"), ("copied", "found_in_text", *BY_CAST, *IN_RANGE), ("cast",)),
]

# ------------------------------------------------------------------------------------------------------------ the tests


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that clients reach over TCP with a password."""
    [port] = free_ports(1)
    server = Server({"listen_addresses": LOOPBACK, "port": str(port)})
    rules = server.directory / "pg_hba.conf"
    rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    give_to_server_user(rules)
    server.settings["hba_file"] = str(rules)
    with server:
        with server.connect() as connection:
            connection.execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
        yield server
        assert server.crashes() == []


def make_tables(connection: psycopg.Connection, id_type: IdType) -> None:
    """Creates the tables that the programs use."""
    connection.execute(f"CREATE TABLE orders (id {id_type.name} DEFAULT {id_type.generator}, note text)")
    connection.execute(
        "CREATE TABLE reservations AS SELECT tstzrange '[2026-10-31 00:00Z,2026-11-02 00:00Z)' AS during"
    )
    connection.execute(f"CREATE TABLE lists (ids {id_type.name}[])")
    connection.execute(f"CREATE TABLE copied (id {id_type.name})")
    connection.execute(f"CREATE TABLE copied_in_binary (id {id_type.name})")


def ids_in(connection: psycopg.Connection, table: str) -> list[str]:
    """Returns the IDs in a table, in the order of insertion."""
    return [id for (id,) in connection.execute(f"SELECT id::text FROM {table} ORDER BY ctid")]


def is_since_november(id_type: IdType, value: int) -> bool:
    """Returns whether the time of an ID is at or after 2026-11-01 00:00 UTC, the bound in the programs."""
    return id_type.unix_milliseconds(value) >= 1_793_491_200_000


@each_type
@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_client(database, connection, client, id_type, tmp_path):
    """Text and bytes pass through the client unchanged. Malformed text raises the client's own error."""
    values = list(dict.fromkeys(id_type.samples(12)))
    ids = [id_type.text(value) for value in values]
    in_order = [id_type.text(value) for value in sorted(values)]
    in_binary = [id_type.binary(value).hex() for value in sorted(values)]
    make_tables(connection, id_type)

    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    reported = client.run(id_type, url, ids, tmp_path)

    [made] = ids_in(connection, "orders WHERE note = 'made'")
    for note in ("given", *client.also_inserts):
        assert sorted(ids_in(connection, f"orders WHERE note = '{note}'")) == in_order
    assert ids_in(connection, "orders WHERE note = 'null'") == [None]
    assert connection.execute("SELECT ids::text[] FROM lists").fetchall() == [([None, *ids],)]
    assert ids_in(connection, "copied") == (ids if "copied" in client.also_reports else [])
    assert ids_in(connection, "copied_in_binary") == (in_order if "copied_in_binary" in client.also_reports else [])

    expected = {
        "made": [made],
        "found": in_order,
        "found_by_time": [id_type.text(value) for value in sorted(values) if is_since_november(id_type, value)],
        "found_in_range": [id_type.text(value) for value in sorted(values) if is_since_november(id_type, value)],
        "reserved": ["1"],
        "null": ["NULL"],
        "array": ["NULL", *ids],
        "malformed": [expect.INVALID_TEXT],
        "copied": ids,
        "cast": ids,
        "found_by_cast": in_order,
        "found_by_any": in_order,
        "found_in_text": in_order,
        "found_in_binary": in_binary,
        "array_in_binary": in_binary,
        "copied_in_binary": in_binary,
    }
    assert reported == {name: expected[name] for name in (*OF_ALL, *client.also_reports)}


# ------------------------------------------------------------------------------------------------------------- the page


def without_indentation(text: str) -> str:
    """Returns a text without the indentation of its lines."""
    return "".join(f"{line.strip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_the_page_shows_what_is_run(client):
    """docs/clients.md has a section for each client, which links to its program. The program contains each snippet."""
    [section] = re.findall(
        rf"\n## [^\n]+\n\n\[The program\]\(\.\./tests/e2e/clients/programs/{client.source}\)(.*?)(?=\n## |\Z)",
        (ROOT / "docs" / "clients.md").read_text(),
        re.DOTALL,
    )
    snippets = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
    program = without_indentation((PROGRAMS / client.source).read_text())
    assert len(snippets) >= 3
    assert [snippet for snippet in snippets if without_indentation(snippet) not in program] == []


def test_the_page_lists_what_is_run():
    """The table has all clients. Its versions are the pinned ones; those of Debian's clients are not compared."""
    rows = r"^\| \[([^]]+?)(?: 3)?\]\(#[a-z0-9-]+\) \| (?:in CI, )?([\d.]+) \|"
    listed = dict(re.findall(rows, (ROOT / "docs" / "clients.md").read_text(), re.M))
    requirements, packages = (PROGRAMS / name for name in ("requirements.txt", "package.json"))
    pinned = dict(line.split("==") for line in requirements.read_text().split())
    of_node = {"node-postgres": "pg", "Drizzle": "drizzle-orm", "Prisma": "prisma"}
    of_node |= {"TypeORM": "typeorm", "Kysely": "kysely"}
    dependencies = json.loads(packages.read_text())["dependencies"]
    pinned |= {name: dependencies[package] for name, package in of_node.items()}
    crates = (PROGRAMS / "rust" / "Cargo.toml").read_text()
    pinned |= dict(re.findall(r'^(tokio-postgres|sqlx) = .*"(\d[\d.]*)"', crates, re.M))
    pinned["Alembic"] = pinned["alembic"]
    assert {client.name for client in CLIENTS} <= listed.keys()
    assert listed == {name: pinned.get(name, version) for name, version in listed.items()}


# --------------------------------------------------------------------------------------------------------- ActiveRecord


@pytest.fixture(scope="module")
def ruby() -> None:
    """Skips the tests if the packages are missing."""
    if (
        not shutil.which("ruby")
        or subprocess.run(["ruby", "-e", 'require "active_record"; require "pg"'], capture_output=True).returncode
    ):
        missing("ActiveRecord is not installed (Debian: ruby-activerecord, ruby-pg)")


def test_activerecord(ruby, new_database, tmp_path):
    database = new_database(extension=False)
    values = list(dict.fromkeys(SCRU128.samples(12)))
    ids = [SCRU128.text(value) for value in values]
    in_order = [SCRU128.text(value) for value in sorted(values)]
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"

    command = ["ruby", PROGRAMS / "activerecord" / "program.rb", *ids]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "DATABASE_URL": url}, capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")
    reported = {name: texts for name, *texts in map(str.split, done.stdout.splitlines())}
    [made] = reported["made"]
    assert reported == {
        "fixture": ["fixture", "00000000000000000000000000973RIP", "000000548q55", "0000000973VJS"],
        "made": [made],
        "found": in_order,
        "found_by_time": [SCRU128.text(value) for value in sorted(values) if is_since_november(SCRU128, value)],
        "first": in_order[:1],
        "item": reported["item"],
        "array": ["NULL", *ids],
        "order": [made],
        "malformed": [expect.INVALID_TEXT],
        "same": ["true"],
    }
    assert [len(text) for text in (made, *reported["item"])] == [25, 26, 32, 12, 13]
    schema = (tmp_path / "schema.rb").read_text()
    for line in (
        'enable_extension "scru"',
        'create_table "orders", id: :scru128, default: -> { "gen_scru128()" }, force: :cascade do |t|',
        't.ulid "parent"',
        't.scru128 "order_id", null: false',
        't.scru160 "a", default: -> { "gen_scru160()" }',
        't.scru128 "others", array: true',
    ):
        assert line in schema


def test_the_page_shows_what_activerecord_runs():
    """Each line of the section's snippets is in one of the programs, and the linked files exist."""
    [section] = re.findall(r"\n## ActiveRecord\n(.*?)\n## ", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL)
    directory = PROGRAMS / "activerecord"
    programs = "".join(path.read_text() for path in sorted(directory.rglob("*.rb")))
    snippets = re.findall(r"```ruby\n(.*?)```", section, re.DOTALL)
    assert len(snippets) == 2
    assert [line for snippet in snippets for line in snippet.splitlines() if line.strip() not in programs] == []
    for link in re.findall(r"\(\.\./([^)]+)\)", section):
        assert Path(ROOT / link).exists()
