"""asyncpg. `id` is the first of the IDs. The others are in the table."""

import asyncio
import io
import os
import sys
from datetime import datetime, timezone

import asyncpg


async def main(id, ids, since):
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    # block 1 of python.md#asyncpg
    print("made", made)
    print("found", *[row["id"] for row in found])
    print("later", *[row["id"] for row in later])
    within = await connection.fetch("SELECT id FROM orders WHERE id <@ $1 ORDER BY id", asyncpg.Range(since, None))
    print("later_in_a_range", *[row["id"] for row in within])
    print("array", *await connection.fetchval("SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'"))
    # block 2 of python.md#asyncpg
    try:
        await connection.execute("INSERT INTO orders (id) VALUES ($1)", "!")
    except asyncpg.InvalidTextRepresentationError as error:
        print("malformed", error.sqlstate)
    # block 3 of python.md#asyncpg
    rows = await connection.fetch("DELETE FROM copied RETURNING id")
    await connection.copy_records_to_table("copied", columns=["id"], records=rows)
    print("bytes", *[row["id"].hex() for row in await connection.fetch("SELECT id FROM copied ORDER BY id")])
    await connection.close()


asyncio.run(main(sys.argv[1], sys.argv[1:], datetime(2026, 11, 1, tzinfo=timezone.utc)))
