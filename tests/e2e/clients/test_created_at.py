"""Programs with a `created_at` that the database fills run unchanged on the view that replaces the table.

docs/migrate.md has the statements that rename the table and create the view.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
import pytest

from idtypes import SCRU128
from migration import Run, blocks
from server import on_the_oldest
from test_clients import PASSWORD, PROGRAMS, python, ruby, server  # noqa: F401 (fixtures)

pytestmark = on_the_oldest("ORMs send the same statements to all versions")

SQLALCHEMY = "import psycopg; from sqlalchemy.orm import DeclarativeBase"
REPORTED = {
    "has_time": ["true"],
    "since": ["three", "two", "one"],
    "latest": ["three", "two"],
    "is_largest": ["true"],
    "changed": ["changed"],
    "deleted": ["0"],
    "left": ["old", "changed", "three"],
}
TABLE = """
    CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE TRIGGER pause AFTER INSERT ON orders EXECUTE FUNCTION pause();
    INSERT INTO orders (note) VALUES ('old')
"""
# The time of an ID is in whole milliseconds: no two INSERTs are in the same one.
PAUSE = """
    CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.002); RETURN NULL; END $$
"""


def ruby_command(source: Path, _id_type, _directory: Path) -> list:
    return ["ruby", source]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        (python(SQLALCHEMY), "sqlalchemy_program.py"),
        (ruby_command, "activerecord.rb"),
    ],
    ids=["SQLAlchemy", "ActiveRecord"],
)
def test_a_program_runs_on_the_table_and_on_the_view(new_database, tmp_path, request, command, program):
    if program.endswith(".rb"):
        request.getfixturevalue("ruby")
    database = new_database()
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"
    arguments = command(PROGRAMS / "created_at" / program, SCRU128, tmp_path)
    with database.connect() as connection:
        connection.execute(PAUSE)
        for is_view in (False, True):
            connection.execute(f"DROP TABLE IF EXISTS orders; {TABLE}")
            if is_view:
                _, change, _ = blocks("Without created_at")
                Run(connection)(change)
            done = subprocess.run(arguments, env={**os.environ, "DATABASE_URL": url}, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
            assert {name: values for name, *values in map(str.split, done.stdout.splitlines())} == REPORTED
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("INSERT INTO orders (note, created_at) VALUES ('sent', now())")
