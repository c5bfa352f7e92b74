"""psycopg 3. IDs are strings, or bytes in the binary format."""

import os
import sys
from datetime import datetime, timezone

import psycopg
from psycopg.types import TypeInfo
from psycopg.types.range import Range


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    print(name, *("NULL" if value is None else value if isinstance(value, str) else value.hex() for value in values))


def query(connection, ids):
    [made] = connection.execute("INSERT INTO orders (note) VALUES ('made') RETURNING id").fetchone()
    for id in ids:
        connection.execute("INSERT INTO orders (id, note) VALUES (%s, 'given')", [id])
    select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY(%s) ORDER BY id"
    found = [id for [id] in connection.execute(select, [ids])]

    report("made", made)
    report("found", *found)


def nullable(connection, ids):
    insert = "INSERT INTO orders (id, note) VALUES (%s, 'null') RETURNING id"
    report("null", *connection.execute(insert, [None]).fetchone())

    TypeInfo.fetch(connection, "scru128").register(connection)
    [array] = connection.execute("INSERT INTO lists VALUES (%s) RETURNING ids", [[None, *ids]]).fetchone()
    report("array", *array)


def by_time(connection):
    since = datetime(2026, 11, 1, tzinfo=timezone.utc)
    select = "SELECT id FROM orders WHERE note = 'given' AND id >= %s ORDER BY id"
    found = [id for [id] in connection.execute(select, [since])]

    report("found_by_time", *found)


def in_range(connection):
    since = datetime(2026, 11, 1, tzinfo=timezone.utc)
    select = "SELECT id FROM orders WHERE note = 'given' AND id <@ %s ORDER BY id"
    found = [id for [id] in connection.execute(select, [Range(since, None)])]

    reserved = "SELECT count(*) FROM reservations WHERE during @> %s"
    [count] = connection.execute(reserved, [Range(since, since, "[]")]).fetchone()
    report("found_in_range", *found)
    report("reserved", str(count))


def copy(connection, ids):
    with connection.cursor().copy("COPY copied (id) FROM STDIN") as copy:
        for id in ids:
            copy.write_row([id])
    with connection.cursor().copy("COPY copied (id) TO STDOUT") as copy:
        copied = [id for [id] in copy.rows()]

    report("copied", *copied)


def malformed(connection):
    try:
        connection.execute("INSERT INTO orders (id) VALUES (%s)", ["!"])
    except psycopg.errors.InvalidTextRepresentation as error:
        report("malformed", error.sqlstate)


def in_binary(connection):
    cursor = connection.cursor(binary=True)
    ids = [id for [id] in cursor.execute("SELECT id FROM orders WHERE note = 'given' ORDER BY id")]
    for id in ids:
        cursor.execute("INSERT INTO orders (id, note) VALUES (%b::scru128, 'binary')", [id])
    select = "SELECT id FROM orders WHERE note = 'binary' AND id = ANY(%b::bytea[]::scru128[]) ORDER BY id"
    found = [id for [id] in cursor.execute(select, [ids])]
    [array] = cursor.execute("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'binary'").fetchone()

    with cursor.copy("COPY copied_in_binary (id) FROM STDIN (FORMAT binary)") as copy:
        for id in ids:
            copy.write_row([id])
    with cursor.copy("COPY copied_in_binary (id) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["scru128"])
        copied = [id for [id] in copy.rows()]

    report("found_in_binary", *found)
    report("array_in_binary", *array)
    report("copied_in_binary", *copied)


with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    query(connection, sys.argv[1:])
    nullable(connection, sys.argv[1:])
    by_time(connection)
    in_range(connection)
    copy(connection, sys.argv[1:])
    malformed(connection)
    in_binary(connection)
