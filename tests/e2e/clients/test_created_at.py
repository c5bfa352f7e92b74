"""Programs with a `created_at` that the database fills run unchanged on the view that replaces the table.

docs/migrate.md has the statements that rename the table and create the view.
"""

from __future__ import annotations

import psycopg
import pytest

from clients import PROGRAMS, python, reported, run
from clients import server as server  # a fixture
from migration import Run, blocks
from server import on_the_oldest
from test_clients import ruby

pytestmark = on_the_oldest("ORMs send the same statements to all versions")

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


@pytest.mark.parametrize(
    ("command", "program"),
    [(python, "sqlalchemy_program.py"), (ruby, "activerecord.rb")],
    ids=["SQLAlchemy", "ActiveRecord"],
)
def test_a_program_runs_on_the_table_and_on_the_view(new_database, tmp_path, command, program):
    database = new_database()
    with database.connect() as connection:
        connection.execute(PAUSE)
        for is_view in (False, True):
            connection.execute(f"DROP TABLE IF EXISTS orders; {TABLE}")
            if is_view:
                _, change = blocks("Without created_at")
                Run(connection)(change)
            assert reported(run(database, [*command(), PROGRAMS / "created_at" / program], tmp_path)) == REPORTED
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("INSERT INTO orders (note, created_at) VALUES ('sent', now())")
