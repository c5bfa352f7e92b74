"""A program with a `created_at` that the database fills runs unchanged on the view that replaces the table.

docs/migrate.md has the statements that rename the table and create the view.
"""

from __future__ import annotations

from clients import PROGRAMS, copy, python, reported, run
from clients import server as server  # a fixture
from migration import Run, blocks
from server import on_the_oldest

pytestmark = on_the_oldest("ORMs send the same statements to all versions")

TABLE = """
    DROP TABLE IF EXISTS orders;
    CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp());
    INSERT INTO orders (note) VALUES ('old')
"""


def test_a_program_runs_on_the_table_and_on_the_view(new_database, tmp_path):
    database = new_database()
    program = copy(PROGRAMS / "created_at.py", tmp_path)
    with database.connect() as connection:
        for is_view in (False, True):
            connection.execute(TABLE)
            if is_view:
                _, change = blocks("Without created_at")
                Run(connection)(change)
            assert reported(run(database, [*python(), program], tmp_path)) == {
                "since": ["three", "two", "one"],
                "latest": ["three", "two"],
                "left": ["changed", "old"],
            }
