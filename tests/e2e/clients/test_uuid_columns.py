"""Clients on a column of type `uuid`: generation, feeds, time and prefixes without any client code of this project.

The programs are in `programs/uuid`, and those that also use the types of the extension in `programs`. docs/clients.md
shows parts of them. Each prepares its table in its usual way, and then reports the same values.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from programs import missing
from server import on_the_oldest, wait_until
from test_clients import INSTALLED, JDBC_DRIVER, PASSWORD, PROGRAMS, ROOT, server  # noqa: F401  (a fixture)
from test_javascript import DRIZZLE, PACKAGES, PRISMA, copy_project, node, section_of, write_drizzle_extensions

pytestmark = on_the_oldest("the clients use what test_uuidv7.py tests on all versions")

PYTHON = INSTALLED / "python" / "bin" / "python"
OLD_ROWS = 1000
SECTION = section_of("Columns of type uuid")
[TABLES] = re.findall(r"```sql\n(.*?)```", SECTION, re.DOTALL)
# The operations that the project adds to Django's first migration.
DJANGO_EXTENSIONS = """
CreateExtension("scru"),
CreateExtension("scru_uuidv7"),
"""


def python() -> list:
    """Returns the command that runs a program with the installed packages."""
    if not PYTHON.exists():
        missing("tools/lib/clients.sh has not installed the Python clients")
    return [PYTHON]


def node_20() -> list:
    """Returns the command that runs a program with Node.js 20 or later."""
    if not node(20) or not (PACKAGES / "typeorm").exists():
        missing("Node.js 20 or its packages are not installed (tools/lib/clients.sh)")
    return [node(20)]


def java() -> list:
    """Returns the command that runs a single source file with Debian's driver."""
    if not shutil.which("javac") or not JDBC_DRIVER.exists():
        missing("no JDK (Debian: default-jdk-headless) or no JDBC driver (libpostgresql-jdbc-java)")
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", JDBC_DRIVER]


def php() -> list:
    """Returns the command that runs a program with Debian's packages."""
    required = r"""
        require 'Doctrine/ORM/autoload.php';
        new Symfony\Component\Cache\Adapter\ArrayAdapter;
        exit(extension_loaded('pdo_pgsql') ? 0 : 1);"""
    if not shutil.which("php") or subprocess.run(["php", "-r", required], capture_output=True).returncode:
        missing("Doctrine is not installed (Debian: php-cli, php-pgsql, php-doctrine-orm, php-symfony-cache)")
    return ["php"]


def write_django_extensions(project: Path) -> None:
    """Adds operations that create the extensions to the migration that Django has written."""
    migration = project / "events" / "migrations" / "0001_initial.py"
    first, others = migration.read_text().split("operations = [")
    imports = "from django.contrib.postgres.operations import CreateExtension\n"
    migration.write_text(f"{imports}{first}operations = [{DJANGO_EXTENSIONS}{others}")


@dataclass(frozen=True)
class Client:
    """A client, its program, the commands and changes of files that prepare the table, the command that uses the table,
    and the SQL of a table that no command creates."""

    name: str
    program: str
    interpreter: Callable[[], list]
    prepare: tuple[str | Callable[[Path], None], ...]
    run: str
    tables: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def source(self) -> Path:
        """The directory of the program."""
        return PROGRAMS / self.program


CLIENTS = [
    Client(
        "Django",
        "uuid/django",
        python,
        (
            "program.py makemigrations events",
            write_django_extensions,
            "program.py migrate",
            "program.py makemigrations --check",
        ),
        "program.py run",
    ),
    Client("Prisma", "prisma", node_20, (f"{PRISMA} generate",), "program.mjs events", TABLES),
    Client(
        "Drizzle",
        "drizzle",
        node_20,
        (
            f"{DRIZZLE} generate --custom --name=extension",
            write_drizzle_extensions,
            f"{DRIZZLE} generate",
            f"{DRIZZLE} migrate",
        ),
        "program.mjs events",
    ),
    Client("TypeORM", "uuid/typeorm", node_20, ("program.mjs migrate",), "program.mjs run"),
    Client("Kysely", "uuid/kysely", node_20, ("program.mjs migrate",), "program.mjs run"),
    Client("Doctrine", "uuid/doctrine", php, ("program.php migrate",), "program.php run"),
    Client("JDBC", "uuid/jdbc", java, (), "Jdbc.java", TABLES),
]


def insert(connection: psycopg.Connection, ids: str, rows: int) -> list[str]:
    """Inserts rows whose IDs an expression generates, and returns the IDs in order."""
    query = f"INSERT INTO events (id, note) SELECT {ids}, 'inserted' FROM generate_series(1, {rows}) RETURNING id::text"
    return sorted(id for (id,) in connection.execute(query))


def rows_read(connection: psycopg.Connection) -> int:
    """Returns how many rows scans of the table have read so far, after the end of all other connections."""
    others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    wait_until(lambda: not connection.execute(others).fetchall(), "the program has disconnected")
    [(read,)] = connection.execute("""
        SELECT seq_tup_read + idx_tup_read FROM pg_stat_user_tables t
        JOIN (SELECT relid, sum(idx_tup_read) AS idx_tup_read FROM pg_stat_user_indexes GROUP BY relid) i USING (relid)
        WHERE relname = 'events'""")
    return int(read)


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_client(new_database, tmp_path, client):
    """Feeds and conditions on time read few rows: they are on the index of the primary key."""
    database = new_database(extension=False)
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    directory = tmp_path / client.name.lower()
    copy_project(client.source, directory)

    def run(command: str, *arguments: str) -> str:
        done = subprocess.run(
            [*client.interpreter(), *command.split(), *arguments],
            cwd=directory,
            env={**os.environ, "DATABASE_URL": url, "PRISMA_SCHEMA_ENGINE_BINARY": "/bin/true"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for step in client.prepare:
        if callable(step):
            step(directory)
        else:
            run(step)
    with database.connect() as connection:
        connection.execute(f"ALTER DATABASE {database.name} SET enable_seqscan = off")
        connection.execute(client.tables)
        *_, after = insert(connection, "gen_uuidv7('2025-01-01 12:00+00')", OLD_ROWS)
        waiting = insert(connection, "gen_uuidv7()", 3)
        before = rows_read(connection)
        reported = {name: values for name, *values in map(str.split, run(client.run, after).splitlines())}
        assert rows_read(connection) - before < 20
        [made] = reported["made"]
        typeid = connection.execute("SELECT uuidv7_prefixed('event', %s)", [made]).fetchone()
        assert connection.execute("SELECT id::text FROM events WHERE note = 'made'").fetchall() == [(made,)]
    assert UUID(made).version == 7
    assert reported == {
        "feed": waiting,
        "made": [made],
        "found_by_time": [*waiting, made],
        "created_at": [str(UUID(made).int >> 80)],
        "typeid": list(typeid),
    }


def test_the_page_shows_what_is_run():
    """Each line of the section's snippets is in one of the programs, and the section names each client."""
    programs = DJANGO_EXTENSIONS + "".join(
        path.read_text() for client in CLIENTS for path in sorted(client.source.rglob("*.*")) if path.is_file()
    )
    snippets = re.findall(r"```(?!sql)\w+\n(.*?)```", SECTION, re.DOTALL)
    assert len(snippets) >= len(CLIENTS)
    assert [line for snippet in snippets for line in snippet.splitlines() if line.strip() not in programs] == []
    links = re.findall(r"\(\.\./([^)]+)\)", SECTION)
    assert {str(client.source.relative_to(ROOT)) for client in CLIENTS} <= set(links)
    assert [link for link in links if not (ROOT / link).exists()] == []
