"""pg8000: a time needs a cast."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import urlparse

import pg8000.native

old = sys.argv[1]
url = urlparse(os.environ["DATABASE_URL"])
connection = pg8000.native.Connection(
    url.username, host=url.hostname, port=url.port, database=url.path[1:], password=url.password
)

[[made]] = connection.run("INSERT INTO orders (note) VALUES ('made') RETURNING id")
print("made", made)
connection.run("INSERT INTO items (order_id) VALUES (:id)", id=made)
print("found", *connection.run("SELECT note FROM orders WHERE id = :id", id=made)[0])
select = "SELECT note FROM orders WHERE id = ANY(:ids) ORDER BY id"
print("listed", *[note for [note] in connection.run(select, ids=[old, made])])
since = datetime.now(timezone.utc) - timedelta(hours=1)
select = "SELECT note FROM orders WHERE id >= CAST(:since AS timestamptz) ORDER BY id"
print("since", *[note for [note] in connection.run(select, since=since)])
select = "SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = :id"
print("joined", *connection.run(select, id=made)[0])

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    select = "SELECT id, note FROM orders WHERE id > :after AND id < scru128_horizon() ORDER BY id"
    for row in connection.run(select, after=after):
        after = row[0]
        notes.append(row[1])
print("feed", *notes)
