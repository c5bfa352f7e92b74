"""scru_postgres.asyncpg: IDs are instances of their class, in the binary format."""

import asyncio
import os
import sys

import asyncpg
from scru_postgres import Scru128


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    assert all(value is None or type(value) is Scru128 for value in values)
    print(name, *("NULL" if value is None else value for value in values))


async def main(texts):
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    # block 1 of README.md#asyncpg
    report("made", await connection.fetchval("INSERT INTO orders (note) VALUES ('made') RETURNING id"))
    await connection.close()
    async with asyncpg.create_pool(os.environ["DATABASE_URL"], init=register, min_size=1, max_size=1) as pool:
        ids = [Scru128(text) for text in texts]
        await pool.executemany("INSERT INTO orders (id, note) VALUES ($1, 'given')", [[id] for id in ids])
        select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id"
        found = [row["id"] for row in await pool.fetch(select, texts)]
        report("found_in_binary", *found)
        report("null", await pool.fetchval("INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id", None))
        report("array", *await pool.fetchval("INSERT INTO lists VALUES ($1) RETURNING ids", [None, *ids]))
        await pool.copy_records_to_table("copied_in_binary", columns=["id"], records=[[id] for id in found])
        report("copied_in_binary", *[row["id"] for row in await pool.fetch("SELECT id FROM copied_in_binary")])
        try:
            await pool.execute("INSERT INTO orders (id) VALUES ($1)", "!")
        except asyncpg.DataError as error:
            print("malformed", type(error.__cause__).__name__)


asyncio.run(main(sys.argv[1:]))
