"""What each program of a library does."""

import os
import sys
from datetime import datetime, timedelta, timezone

URL = os.environ["DATABASE_URL"]
OLD, FIRST, *_ = sys.argv[1:]
SINCE = datetime.now(timezone.utc) - timedelta(hours=1)


def journey(run, id="{}", ids="{}", time="{}", text="id", parameter="%s"):
    """Inserts an order and an item, finds orders by ID, list, time and item, and polls the feed. Prints their notes.

    `run` runs a statement with one parameter. The other arguments are the casts that a program needs.
    """
    id, ids, time = (cast.format(parameter) for cast in (id, ids, time))
    [[made]] = run(f"INSERT INTO orders (note) VALUES ('made') RETURNING {text}")
    run(f"INSERT INTO items (order_id) VALUES ({id}) RETURNING 1", made)
    print("made", made)
    for name, condition, value in (
        ("found", f"id = {id}", made),
        ("listed", f"id = ANY({ids})", [OLD, made]),
        ("since", f"id >= {time}", SINCE),
        ("joined", f"id IN (SELECT order_id FROM items WHERE order_id = {id})", made),
    ):
        print(name, *(note for [note] in run(f"SELECT note FROM orders WHERE {condition} ORDER BY id", value)))
    new = f"SELECT {text}, note FROM orders WHERE id > {id} AND id < scru128_horizon() ORDER BY orders.id"
    print("feed", *feed(lambda after: run(new, after)))


def feed(read):
    """Returns the notes of a feed up to the new order, which is read after the horizon has passed it."""
    rows = [(OLD, "old")]
    while rows[-1][1] != "made":
        rows += read(rows[-1][0])
    return [note for _, note in rows[1:]]
