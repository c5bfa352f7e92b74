"""Projects that use Drizzle and Prisma. tools/clients.sh installs their packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import expect
from idtypes import SCRU128
from test_clients import INSTALLED, PASSWORD, PROGRAMS, ROOT, is_since_november, server  # noqa: F401  (a fixture)

PACKAGES = INSTALLED / "node" / "node_modules"
VALUES = list(dict.fromkeys(SCRU128.samples(12)))
IDS = [SCRU128.text(value) for value in VALUES]
IN_ORDER = [SCRU128.text(value) for value in sorted(VALUES)]
SINCE_NOVEMBER = [SCRU128.text(value) for value in sorted(VALUES) if is_since_november(SCRU128, value)]


def project(name: str, package: str, directory: Path, major: int) -> Path:
    """Copies a project to a writable directory, links its packages, and returns its path."""
    if not shutil.which("node") or not (PACKAGES / package).exists():
        pytest.skip("Node.js or its packages are not installed (tools/clients.sh)")
    version = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < major:
        pytest.skip(f"{name} requires Node.js {major}; this is {version}")
    shutil.copytree(PROGRAMS / name, directory / name)
    (directory / name / "node_modules").symlink_to(PACKAGES)
    (directory / "node_modules").symlink_to(PACKAGES)
    return directory / name


def run(directory: Path, database, *command: str, **environment: str) -> str:
    """Runs a program of a project, asserts that it succeeds, and returns its output."""
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    environment = {**os.environ, "DATABASE_URL": url, **environment}
    done = subprocess.run(
        ["node", *command], cwd=directory, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def reported(printed: str) -> dict[str, list[str]]:
    """Returns the values that the program reports, by the name of the operation."""
    return {name: values for name, *values in map(str.split, printed.splitlines())}


def test_drizzle(new_database, tmp_path):
    """The migrations are those that drizzle-kit generates, and make the database match the schema."""
    database = new_database(extension=False)
    directory = project("drizzle", "drizzle-kit", tmp_path, 18)
    kit = "node_modules/drizzle-kit/bin.cjs"
    assert "No schema changes" in run(directory, database, kit, "generate")
    run(directory, database, kit, "migrate")
    assert "No changes detected" in run(directory, database, kit, "push")
    found = reported(run(directory, database, "program.mjs", *IDS))
    [made], [item] = found["made"], found["item"]
    assert (len(made), len(item)) == (25, 26)
    assert found == {
        "made": [made],
        "found": IN_ORDER,
        "found_by_time": SINCE_NOVEMBER,
        "item": [item],
        "array": IDS,
        "joined": ["made"],
        "malformed": [expect.INVALID_TEXT],
    }


def test_prisma(new_database, tmp_path):
    """A uuid column has a scru128 as default. SQL creates the tables, so that no migration engine is downloaded."""
    database = new_database(extension=False)
    directory = project("prisma", "prisma", tmp_path, 20)
    run(directory, database, "node_modules/prisma/build/index.js", "generate", PRISMA_SCHEMA_ENGINE_BINARY="/bin/true")
    with database.connect() as connection:
        connection.execute((directory / "tables.sql").read_text())
        uuids = [str(uuid) for (uuid,) in connection.execute("SELECT unnest(%s::text[])::scru128::uuid", [IN_ORDER])]
        found = reported(run(directory, database, "program.mjs", *uuids))
        [made], [text], items = found["made"], found["text"], found["items"]
        since_november = uuids[-len(SINCE_NOVEMBER) :]
        query = "SELECT %s::uuid = %s::scru128::uuid, round(extract(epoch FROM scru128_timestamp(%s)) * 1000)::text"
        same, time = connection.execute(query, [made, text, text]).fetchone()
        assert (same, found) == (
            True,
            {
                "made": [made],
                "items": items,
                "found": uuids,
                "found_by_time": since_november,
                "text": [text],
                "time": [time],
            },
        )
        assert sorted(items) == items and len(items) == 2


@pytest.mark.parametrize("name", ["Drizzle", "Prisma"])
def test_the_page_shows_what_is_run(name):
    """Each line of a section's snippets is in its project, and the linked files exist."""
    [section] = re.findall(rf"\n## {name}\n(.*?)(?=\n## |\Z)", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL)
    directory = PROGRAMS / name.lower()
    project = "".join(path.read_text() for path in directory.rglob("*.*") if path.is_file())
    snippets = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
    assert snippets
    assert [line for snippet in snippets for line in snippet.splitlines() if line.strip() not in project] == []
    for link in re.findall(r"\(\.\./([^)]+)\)", section):
        assert (ROOT / link).exists()
