"""psycopg 3. `id` is the first of the IDs. The others are in the table."""

import os
import sys
from datetime import datetime, timezone

import psycopg
from psycopg.types import TypeInfo
from psycopg.types.range import Range

id, *_ = ids = sys.argv[1:]
since = datetime(2026, 11, 1, tzinfo=timezone.utc)
with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    # block 1 of python.md#psycopg-3
    print("made", made)
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
