"""scru_postgres.psycopg: IDs are instances of their class, in the text and binary formats."""

import os
import sys

import psycopg
from scru_postgres import Scru128


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    assert all(value is None or type(value) is Scru128 for value in values)
    print(name, *("NULL" if value is None else value for value in values))


def copy(connection, table, format, ids):
    with connection.cursor().copy(f"COPY {table} (id) FROM STDIN (FORMAT {format})") as copy:
        copy.set_types(["scru128"])
        for id in ids:
            copy.write_row([id])
    with connection.cursor().copy(f"COPY {table} (id) TO STDOUT (FORMAT {format})") as copy:
        copy.set_types(["scru128"])
        return [id for [id] in copy.rows()]


with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    # block 1 of README.md#psycopg-3
    ids = [Scru128(text) for text in sys.argv[1:]]
    report("made", *connection.execute("INSERT INTO orders (note) VALUES ('made') RETURNING id").fetchone())
    connection.cursor().executemany("INSERT INTO orders (id, note) VALUES (%s, 'given')", [[id] for id in ids])
    select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY(%s) ORDER BY id"
    report("found", *[id for [id] in connection.execute(select, [ids])])
    report("null", *connection.execute("INSERT INTO orders (id, note) VALUES (NULL, 'null') RETURNING id").fetchone())
    report("array", *connection.execute("INSERT INTO lists VALUES (%s) RETURNING ids", [[None, *ids]]).fetchone()[0])
    report("copied", *copy(connection, "copied", "text", ids))

    connection.execute("CREATE TABLE audit (ref text)")
    connection.execute("INSERT INTO audit VALUES (%s)", [ids[0]])
    found = connection.execute("SELECT ref FROM audit WHERE ref = %s AND ref = ANY(%s)", [ids[0], ids]).fetchone()
    report("in_text", Scru128(*found))

    select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY(%b) ORDER BY id"
    cursor = connection.cursor(binary=True)
    found = [id for [id] in cursor.execute(select, [ids])]
    report("found_in_binary", *found)
    [array] = cursor.execute("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'").fetchone()
    report("array_in_binary", *array)
    report("copied_in_binary", *copy(connection, "copied_in_binary", "binary", found))
