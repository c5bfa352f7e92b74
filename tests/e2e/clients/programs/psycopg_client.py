"""psycopg 3, without scru_postgres and with it."""

import psycopg
from common import IDS, SINCE, URL, report
from psycopg.types import TypeInfo
from psycopg.types.range import Range
from scru_postgres import Scru128


def copied(connection, table, format, ids):
    with connection.cursor().copy(f"COPY {table} (id) FROM STDIN (FORMAT {format})") as copy:
        copy.set_types(["scru128"])
        for id in ids:
            copy.write_row([id])
    with connection.cursor().copy(f"COPY {table} (id) TO STDOUT (FORMAT {format})") as copy:
        copy.set_types(["scru128"])
        return [id for [id] in copy.rows()]


id, *_ = ids = IDS
since = SINCE
with psycopg.connect(URL, autocommit=True) as connection:
    # block 1 of python.md#psycopg-3
    print("found", *[id for id, _ in found])
    print("later", *[id for id, _ in later])
    within = connection.execute("SELECT id FROM orders WHERE id <@ %s ORDER BY id", [Range(since, None)])
    print("later_in_a_range", *[id for [id] in within])
    [during] = connection.execute("SELECT %s @> %s", [Range(since, None), since]).fetchone()
    assert during
    # block 2 of python.md#psycopg-3
    [array] = connection.execute("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'").fetchone()
    print("array", *array)
    # block 3 of python.md#psycopg-3
    print("bytes", *[id.hex() for id in binary])
    print("bytes_found", *[id.hex() for [id] in found_in_binary])
    try:
        connection.execute("INSERT INTO orders (id) VALUES (%s)", ["!"])
    except psycopg.errors.InvalidTextRepresentation as error:
        print("malformed", error.sqlstate)

with psycopg.connect(URL, autocommit=True) as connection:
    # block 1 of README.md#psycopg-3
    ids = [Scru128(text) for text in ids]
    report("made", *connection.execute("SELECT id FROM orders WHERE note = 'made'").fetchone())
    connection.execute("DELETE FROM orders WHERE note = 'given'")
    connection.cursor().executemany("INSERT INTO orders (id, note) VALUES (%s, 'given')", [[id] for id in ids])
    select = "SELECT id FROM orders WHERE id = ANY(%s) ORDER BY id"
    report("found_by_class", *[id for [id] in connection.execute(select, [ids])])
    [array] = connection.execute("INSERT INTO lists VALUES (%s) RETURNING ids", [[None, *ids]]).fetchone()
    report("array_of_null", *array)
    report("null", *connection.execute("SELECT %s::scru128", [None]).fetchone())
    report("copied_in_text", *copied(connection, "copied_in_text", "text", ids))

    connection.execute("CREATE TABLE audit (ref text)")
    connection.execute("INSERT INTO audit VALUES (%s)", [ids[0]])
    found = connection.execute("SELECT ref FROM audit WHERE ref = %s AND ref = ANY(%s)", [ids[0], ids]).fetchone()
    report("first", Scru128(*found))

    cursor = connection.cursor(binary=True)
    found = [id for [id] in cursor.execute("SELECT id FROM orders WHERE id = ANY(%b) ORDER BY id", [ids])]
    report("found_in_binary", *found)
    [array] = cursor.execute("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'").fetchone()
    report("array_in_binary", *array)
    report("copied_in_binary", *copied(connection, "copied_in_binary", "binary", found))
