"""Size: tables and indexes of a type have as many bytes as those of the server's own type of the same length."""

from __future__ import annotations

from idtypes import TYPES, of_types
from server import oldest_and_newest

pytestmark = oldest_and_newest("tuples and pages have the same layout on all versions")

ROWS = 50_000

each_type_with_a_baseline = of_types([id_type for id_type in TYPES if id_type.baseline])


def sizes(connection, table: str) -> dict[str, int]:
    """Returns the sizes of a table and of its indexes, in bytes."""
    query = """
        SELECT substr(relname, length(%(table)s) + 1), pg_relation_size(c.oid)
        FROM pg_class AS c LEFT JOIN pg_index ON indexrelid = c.oid
        WHERE %(table)s::regclass IN (c.oid, indrelid)
    """
    return dict(connection.execute(query, {"table": table}).fetchall())


@each_type_with_a_baseline
def test_sizes_are_those_of_the_baseline(connection, id_type):
    """Compares tables and their indexes: grown or built at once, with one column or two, with tenfold duplicates."""
    values = f"SELECT {id_type.random_baseline} AS id FROM generate_series(1, {ROWS})"
    connection.execute(f"CREATE TEMPORARY TABLE same AS {values}")
    for table, type_ in ("_y", id_type.baseline), ("_t", id_type.name):
        connection.execute(f"CREATE UNLOGGED TABLE {table} (id {type_} PRIMARY KEY, flag boolean)")
        connection.execute(f"INSERT INTO {table} SELECT id::{type_}, true FROM same")
        connection.execute(f"CREATE INDEX {table}_built ON {table} (id)")
        connection.execute(f"CREATE INDEX {table}_two ON {table} (flag, id)")
        connection.execute(f"CREATE INDEX {table}_hash ON {table} USING hash (id)")

        duplicates = f"{table}_duplicates"
        connection.execute(f"CREATE UNLOGGED TABLE {duplicates} (id {type_})")
        connection.execute(f"CREATE INDEX {duplicates}_grown ON {duplicates} (id)")
        some = "same, generate_series(1, 10) WHERE same.ctid < '(250,0)'"
        connection.execute(f"INSERT INTO {duplicates} SELECT id::{type_} FROM {some}")
        connection.execute(f"CREATE INDEX {duplicates}_built ON {duplicates} (id)")
    ours, theirs = ({**sizes(connection, t), "duplicates": sizes(connection, f"{t}_duplicates")} for t in ("_t", "_y"))
    assert ours == theirs
    # Deduplication makes the index of tenfold duplicates much smaller than the table.
    assert ours["duplicates"]["_built"] < ours["duplicates"][""] / 3
