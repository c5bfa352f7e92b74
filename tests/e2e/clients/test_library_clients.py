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
from pathlib import Path

import pytest

from programs import missing
from server import on_the_oldest
from test_clients import PASSWORD, PROGRAMS, ROOT
from test_clients import server as server  # a fixture
from test_javascript import PACKAGES, node
from test_python_package import PYTHON
from test_python_package import installed as installed  # a fixture

pytestmark = on_the_oldest("the programs are on the machine, and the other servers in a Debian without them")

LIBRARIES = PROGRAMS / "libraries"
SOURCES = sorted([*LIBRARIES.glob("*.py"), *LIBRARIES.glob("*.mjs")])
TABLES = """
    CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text NOT NULL);
    CREATE TABLE items (
        id scru128 PRIMARY KEY DEFAULT gen_scru128(), order_id scru128 NOT NULL REFERENCES orders
    );
"""
[VIEW] = re.findall(r"^CREATE VIEW orders_as_text .*?;$", (ROOT / "docs/core-types.md").read_text(), re.M | re.S)
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
        if not PYTHON.exists():
            missing("tools/lib/clients.sh has not installed the Python clients")
        return [PYTHON, source]
    if not node(20) or not (PACKAGES / "knex").exists():
        missing("Node.js 20 or its packages are not installed (tools/lib/clients.sh)")
    (directory / "node_modules").symlink_to(PACKAGES)
    return [node(20), shutil.copy(source, directory)]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem.removesuffix("_program"))
def test_library(installed, database, connection, source, tmp_path):
    """A program reads the rows that it and others have written, and receives each row of the feed once."""
    connection.execute(TABLES)
    connection.execute(VIEW)
    connection.execute("INSERT INTO orders VALUES (gen_scru128('2025-01-01'), 'old')")
    connection.execute("INSERT INTO orders (note) VALUES ('a'), ('b')")
    ids = [id for (id,) in connection.execute("SELECT id::text FROM orders ORDER BY id")]
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    done = subprocess.run(
        [*command(source, tmp_path), *ids],
        cwd=tmp_path,
        env={**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(installed), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    reported = {name: values for name, *values in map(str.split, done.stdout.splitlines()) if name.isalpha()}
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


def test_the_page_lists_what_is_run():
    """The table of docs/clients.md has each program with its pinned version, and no others."""
    page = (ROOT / "docs/clients.md").read_text()
    versions = dict(re.findall(r"^\| \[([^]]+)\]\[\] \| ([\d.]+) \|", page, re.MULTILINE))
    programs = dict(re.findall(r"^\[([^]]+)\]: \.\./tests/e2e/clients/programs/libraries/(\S+)$", page, re.MULTILINE))
    assert versions.keys() == programs.keys()
    pinned = dict(line.split("==") for line in (PROGRAMS / "requirements.txt").read_text().split())
    pinned |= json.loads((PROGRAMS / "package.json").read_text())["dependencies"]
    names = {source.name: source.stem.removesuffix("_program") for source in SOURCES}
    assert {programs[name]: version for name, version in versions.items()} == {
        file: pinned[PACKAGES_OF.get(name, name.replace("_", "-"))] for file, name in names.items()
    }
