"""asyncpg, without scru_postgres and with it."""

import asyncio
import io

import asyncpg
from common import IDS, SINCE, URL, report
from scru_postgres import Scru128


async def without_the_package(id, ids, since):
    connection = await asyncpg.connect(URL)
    # block 1 of python.md#asyncpg
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


async def with_the_package(ids):
    connection = await asyncpg.connect(URL)
    # block 1 of README.md#asyncpg
    report("made", await connection.fetchval("SELECT id FROM orders WHERE note = 'made'"))
    await connection.close()
    async with asyncpg.create_pool(URL, init=register, min_size=1, max_size=1) as pool:
        await pool.execute("DELETE FROM orders WHERE note = 'given'")
        await pool.executemany("INSERT INTO orders (id, note) VALUES ($1, 'given')", [[id] for id in ids])
        found = await pool.fetch("SELECT id FROM orders WHERE id = ANY($1) ORDER BY id", [*map(str, ids)])
        report("found_in_binary", *[row["id"] for row in found])
        report("null", await pool.fetchval("SELECT $1::scru128", None))
        report("array_of_null", *await pool.fetchval("INSERT INTO lists VALUES ($1) RETURNING ids", [None, *ids]))
        await pool.copy_records_to_table("copied_in_binary", columns=["id"], records=found)
        report("copied_in_binary", *[row["id"] for row in await pool.fetch("SELECT id FROM copied_in_binary")])
        try:
            await pool.execute("INSERT INTO orders (id) VALUES ($1)", "!")
        except asyncpg.DataError as error:
            assert type(error.__cause__) is ValueError


asyncio.run(without_the_package(IDS[0], IDS, SINCE))
asyncio.run(with_the_package([Scru128(text) for text in IDS]))
