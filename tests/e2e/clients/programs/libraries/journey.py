"""What each program of a library does, by functions of its own."""

import os
import sys
from datetime import datetime, timedelta, timezone

URL = os.environ["DATABASE_URL"]
ON_PSYCOPG = URL.replace("postgresql:", "postgresql+psycopg:")
OLD, FIRST, *_ = sys.argv[1:]
SINCE = datetime.now(timezone.utc) - timedelta(hours=1)


def journey(insert, found, listed, since, joined, feed):
    """Inserts an order and an item, finds orders by ID, list, time and item, and polls the feed. Prints their notes."""
    made = insert()
    print("made", made)
    print("found", *found(made))
    print("listed", *listed([OLD, made]))
    print("since", *since(SINCE))
    print("joined", *joined(made))
    after, notes = OLD, []
    while "made" not in notes:
        for id, note in feed(after):
            after = id
            notes.append(note)
    print("feed", *notes)


def journey_in_sql(run, id="{}", ids="{}", time="{}", text="id", parameter="%s"):
    """The same by a function that runs a statement with one parameter. The other arguments are the casts it needs."""
    id, ids, time = (cast.format(parameter) for cast in (id, ids, time))
    joined = f"SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = {id}"

    def insert():
        [[made]] = run(f"INSERT INTO orders (note) VALUES ('made') RETURNING {text}")
        run(f"INSERT INTO items (order_id) VALUES ({id}) RETURNING 1", made)
        return made

    def notes(sql):
        return lambda value: [note for [note] in run(sql, value)]

    journey(
        insert,
        notes(f"SELECT note FROM orders WHERE id = {id}"),
        notes(f"SELECT note FROM orders WHERE id = ANY({ids}) ORDER BY id"),
        notes(f"SELECT note FROM orders WHERE id >= {time} ORDER BY id"),
        notes(joined),
        lambda after: run(
            f"SELECT {text}, note FROM orders WHERE id > {id} AND id < scru128_horizon() ORDER BY orders.id", after
        ),
    )
