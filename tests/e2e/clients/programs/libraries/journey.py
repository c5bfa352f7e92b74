"""What each program of a library does, by functions of its own, which may be coroutines."""

import asyncio
import inspect
import os
import sys
from datetime import datetime, timedelta, timezone

URL = os.environ["DATABASE_URL"]
ON_PSYCOPG = URL.replace("postgresql:", "postgresql+psycopg:")
OLD, FIRST, *_ = sys.argv[1:]
SINCE = datetime.now(timezone.utc) - timedelta(hours=1)


async def steps(insert, found, listed, since, joined, feed):
    """Inserts an order and an item, finds orders by ID, list, time and item, and polls the feed. Prints their notes."""

    async def call(function, *values):
        result = function(*values)
        return await result if inspect.isawaitable(result) else result

    made = await call(insert)
    print("made", made)
    print("found", *await call(found, made))
    print("listed", *await call(listed, [OLD, made]))
    print("since", *await call(since, SINCE))
    print("joined", *await call(joined, made))
    after, notes = OLD, []
    while "made" not in notes:
        for id, note in await call(feed, after):
            after = id
            notes.append(note)
    print("feed", *notes)


def journey(*functions):
    asyncio.run(steps(*functions))


def journey_in_sql(run, id="{}", ids="{}", time="{}", text="id", parameter="%s"):
    """The same by a function that runs a statement with one parameter. The other arguments are the casts it needs."""
    id, ids, time = (cast.format(parameter) for cast in (id, ids, time))

    def insert():
        [[made]] = run(f"INSERT INTO orders (note) VALUES ('made') RETURNING {text}")
        run(f"INSERT INTO items (order_id) VALUES ({id}) RETURNING 1", made)
        return made

    def notes(condition):
        select = f"SELECT note FROM orders WHERE {condition} ORDER BY id"
        return lambda value: [note for [note] in run(select, value)]

    new = f"SELECT {text}, note FROM orders WHERE id > {id} AND id < scru128_horizon() ORDER BY orders.id"
    journey(
        insert,
        notes(f"id = {id}"),
        notes(f"id = ANY({ids})"),
        notes(f"id >= {time}"),
        notes(f"id IN (SELECT order_id FROM items WHERE order_id = {id})"),
        lambda after: run(new, after),
    )
