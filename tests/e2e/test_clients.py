"""The clients that programs use: each in its usual installation, in its own language, over TCP with a password.

The programs are in `clients`. Those that are run from their source are written for scru128, as a user would write them,
and read so in docs/clients.md; for another type its name takes the place of that word. What a program needs is installed by
`tools/clients.sh` into target/clients (or the folder that SCRU_CLIENTS names); a client that is not there is skipped.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
import pytest

import expect
from idtypes import IdType, each_type
from server import Server, give_to_server_user

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "clients"
INSTALLED = Path(os.environ.get("SCRU_CLIENTS", ROOT / "target" / "clients"))
JDBC_DRIVER = Path("/usr/share/java/postgresql.jar")

PASSWORD = secrets.token_hex(16)

# ----------------------------------------------------------------------------------------------------- how they are run


def program_of(source: Path, id_type: IdType, folder: Path) -> Path:
    """A program for a type, in a folder of its own."""
    program = folder / source.name
    program.write_text(source.read_text().replace("scru128", id_type.name))
    return program


def python(needed: str) -> Callable[[Path, IdType, Path], list]:
    """Runs with the installed packages, or with the system's if those are as new as is needed."""

    @cache
    def interpreter() -> Path | None:
        for candidate in (INSTALLED / "python" / "bin" / "python", Path(sys.executable)):
            if candidate.exists() and not subprocess.run([candidate, "-c", needed], capture_output=True).returncode:
                return candidate
        return None

    def command(source: Path, id_type: IdType, folder: Path) -> list:
        if not interpreter():
            pytest.skip(f"no Python here can `{needed}`: tools/clients.sh has not installed it")
        return [interpreter(), program_of(source, id_type, folder)]

    return command


def node(source: Path, id_type: IdType, folder: Path) -> list:
    """Runs with the installed packages, which Node looks for beside the program."""
    packages = INSTALLED / "node" / "node_modules"
    if not shutil.which("node") or not packages.exists():
        pytest.skip("there is no Node.js, or tools/clients.sh has not installed its packages")
    (folder / "node_modules").symlink_to(packages)
    return ["node", program_of(source, id_type, folder)]


def java(source: Path, id_type: IdType, folder: Path) -> list:
    """Runs a single file of source with Debian's driver."""
    if not shutil.which("javac") or not JDBC_DRIVER.exists():
        pytest.skip("there is no JDK (Debian: default-jdk-headless) or no JDBC driver (libpostgresql-jdbc-java)")
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", JDBC_DRIVER, program_of(source, id_type, folder)]


def rust(driver: str) -> Callable[[Path, IdType, Path], list]:
    """Runs the one program of the Rust drivers, which is compiled for all types."""

    def command(_source: Path, id_type: IdType, _folder: Path) -> list:
        program = INSTALLED / "rust" / "clients"
        if not program.exists():
            pytest.skip("tools/clients.sh has not built the Rust clients")
        return [program, driver, id_type.name]

    return command


@dataclass(frozen=True)
class Client:
    """A client, and what its program does beyond what all do."""

    name: str
    source: str
    command: Callable[[Path, IdType, Path], list]
    also_reports: tuple[str, ...]
    also_inserts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def run(self, id_type: IdType, url: str, ids: list[str], folder: Path) -> dict[str, list[str]]:
        """What the program reports: by what it tried, the values that came of it."""
        command = [*self.command(PROGRAMS / self.source, id_type, folder), *ids]
        environment = {**os.environ, "DATABASE_URL": url}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{self} ended with {done.returncode}:\n{done.stderr}")
        return {name: values for name, *values in map(str.split, done.stdout.splitlines())}


OF_ALL = ("made", "found", "found_by_time", "null", "array", "malformed")
IN_BINARY = ("found_in_binary", "array_in_binary", "copied_in_binary")
BY_CAST = ("cast", "found_by_cast")
SQLALCHEMY = "import psycopg; from sqlalchemy.orm import DeclarativeBase"
CLIENTS = [
    Client("psycopg", "psycopg_client.py", python("import psycopg"), ("copied", *IN_BINARY), ("binary",)),
    Client("asyncpg", "asyncpg_client.py", python("import asyncpg"), ("copied", *IN_BINARY), ("binary",)),
    Client("SQLAlchemy", "sqlalchemy_client.py", python(SQLALCHEMY), ("found_by_any",)),
    Client("node-postgres", "node_postgres_client.mjs", node, ("copied", "found_in_binary"), ("binary",)),
    Client("JDBC", "Jdbc.java", java, ("copied",), ("cast", "unspecified")),
    Client(
        "tokio-postgres", "rust/src/with_tokio_postgres.rs", rust("tokio-postgres"), ("copied", *BY_CAST), ("cast",)
    ),
    Client("sqlx", "rust/src/with_sqlx.rs", rust("sqlx"), ("copied", "found_in_text", *BY_CAST), ("cast",)),
]

# -------------------------------------------------------------------------------------------------------- what they find


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server as clients find one: on a port of this machine, with a password."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Server({"listen_addresses": "127.0.0.1", "port": str(port)})
    rules = server.folder / "pg_hba.conf"
    rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    give_to_server_user(rules)
    server.settings["hba_file"] = str(rules)
    with server:
        with server.connect() as connection:
            connection.execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
        yield server
        assert server.crashes() == []


def make_tables(connection: psycopg.Connection, id_type: IdType) -> None:
    """The tables that the programs know."""
    connection.execute(f"CREATE TABLE orders (id {id_type.name} DEFAULT {id_type.generator}, note text)")
    connection.execute(f"CREATE TABLE lists (ids {id_type.name}[])")
    connection.execute(f"CREATE TABLE copied (id {id_type.name})")
    connection.execute(f"CREATE TABLE copied_in_binary (id {id_type.name})")


def ids_in(connection: psycopg.Connection, table: str) -> list[str]:
    """The IDs that the server has in a table, in the order in which they came."""
    return [id for (id,) in connection.execute(f"SELECT id::text FROM {table} ORDER BY ctid")]


def is_since_november(id_type: IdType, value: int) -> bool:
    """Whether the time of an ID is at or after 2026-11-01 00:00 UTC, which the programs ask by."""
    return id_type.unix_milliseconds(value) >= 1_793_491_200_000


@each_type
@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_client(database, connection, client, id_type, tmp_path):
    """All that goes in and comes out is exactly what the server writes, and malformed text is the client's own error."""
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


# --------------------------------------------------------------------------------------------------- what the pages say


def without_indentation(text: str) -> str:
    """The lines of a text, without what stands before them."""
    return "".join(f"{line.strip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_the_page_shows_what_is_run(client):
    """docs/clients.md has a section for each client, which links to its program, and each snippet is a part of that."""
    [section] = re.findall(
        rf"\n## [^\n]+\n\n\[The program\]\(\.\./tests/e2e/clients/{client.source}\)(.*?)(?=\n## |\Z)",
        (ROOT / "docs" / "clients.md").read_text(),
        re.DOTALL,
    )
    snippets = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
    program = without_indentation((PROGRAMS / client.source).read_text())
    assert len(snippets) >= 3
    assert [snippet for snippet in snippets if without_indentation(snippet) not in program] == []


def test_the_readme_lists_what_is_run():
    """The table of clients has these and no others, in the versions that are pinned. JDBC's is Debian's."""
    rows = re.findall(
        r"^\| \[([^]]+)\]\(docs/clients\.md#[a-z0-9-]+\) \| ([\d.]+)", (ROOT / "README.md").read_text(), re.M
    )
    requirements, packages = (PROGRAMS / name for name in ("requirements.txt", "package.json"))
    crates = PROGRAMS / "rust" / "Cargo.toml"
    pinned = dict(line.split("==") for line in requirements.read_text().split())
    pinned |= {"node-postgres": json.loads(packages.read_text())["dependencies"]["pg"]}
    pinned |= dict(re.findall(r'^(tokio-postgres|sqlx) = .*"(\d[\d.]*)"', crates.read_text(), re.M))
    assert [name for name, _ in rows] == [client.name for client in CLIENTS]
    assert {name: version for name, version in rows if name != "JDBC"} == {
        client.name: pinned[client.name] for client in CLIENTS if client.name != "JDBC"
    }
