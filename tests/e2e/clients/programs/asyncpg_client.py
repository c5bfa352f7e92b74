"""asyncpg. IDs are strings, or bytes in the binary format."""

import asyncio
import io
import os
import sys
from datetime import datetime, timezone

import asyncpg


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    print(name, *("NULL" if value is None else value if isinstance(value, str) else value.hex() for value in values))


async def query(connection, ids):
    made = await connection.fetchval("INSERT INTO orders (note) VALUES ('made') RETURNING id")
    for id in ids:
        await connection.execute("INSERT INTO orders (id, note) VALUES ($1, 'given')", id)
    select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id"
    found = [row["id"] for row in await connection.fetch(select, ids)]

    report("made", made)
    report("found", *found)


async def nullable(connection, ids):
    report("null", await connection.fetchval("INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id", None))
    report("array", *await connection.fetchval("INSERT INTO lists VALUES ($1) RETURNING ids", [None, *ids]))


async def by_time(connection):
    since = datetime(2026, 11, 1, tzinfo=timezone.utc)
    select = "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id"
    found = [row["id"] for row in await connection.fetch(select, since)]

    report("found_by_time", *found)


async def in_range(connection):
    since = datetime(2026, 11, 1, tzinfo=timezone.utc)
    select = "SELECT id FROM orders WHERE note = 'given' AND id <@ $1 ORDER BY id"
    found = [row["id"] for row in await connection.fetch(select, asyncpg.Range(since, None))]

    reserved = "SELECT count(*) FROM reservations WHERE during @> $1"
    count = await connection.fetchval(reserved, asyncpg.Range(since, since, upper_inc=True))
    report("found_in_range", *found)
    report("reserved", str(count))


async def copy(connection, ids):
    lines = io.BytesIO("".join(f"{id}\n" for id in ids).encode())
    await connection.copy_to_table("copied", columns=["id"], source=lines)

    lines = io.BytesIO()
    await connection.copy_from_table("copied", columns=["id"], output=lines)
    report("copied", *lines.getvalue().decode().split())


async def malformed(connection):
    try:
        await connection.execute("INSERT INTO orders (id) VALUES ($1)", "!")
    except asyncpg.InvalidTextRepresentationError as error:
        report("malformed", error.sqlstate)


async def in_binary(connection):
    await connection.set_type_codec("scru128", encoder=bytes, decoder=bytes, format="binary")

    ids = [row["id"] for row in await connection.fetch("SELECT id FROM orders WHERE note = 'given' ORDER BY id")]
    for id in ids:
        await connection.execute("INSERT INTO orders (id, note) VALUES ($1, 'binary')", id)
    select = "SELECT id FROM orders WHERE note = 'binary' AND id = ANY($1) ORDER BY id"
    found = [row["id"] for row in await connection.fetch(select, ids)]
    array = await connection.fetchval("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'binary'")

    await connection.copy_records_to_table("copied_in_binary", columns=["id"], records=[[id] for id in ids])
    copied = [row["id"] for row in await connection.fetch("SELECT id FROM copied_in_binary")]

    report("found_in_binary", *found)
    report("array_in_binary", *array)
    report("copied_in_binary", *copied)


async def main(ids):
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    await query(connection, ids)
    await nullable(connection, ids)
    await by_time(connection)
    await in_range(connection)
    await copy(connection, ids)
    await malformed(connection)
    await in_binary(connection)
    await connection.close()


asyncio.run(main(sys.argv[1:]))
