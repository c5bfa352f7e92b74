"""psycopg2: a list needs a cast, a datetime does not."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone

import psycopg2

old = sys.argv[1]
connection = psycopg2.connect(os.environ["DATABASE_URL"])
connection.autocommit = True
cursor = connection.cursor()

cursor.execute("INSERT INTO orders (note) VALUES ('made') RETURNING id")
[made] = cursor.fetchone()
print("made", made)
cursor.execute("INSERT INTO items (order_id) VALUES (%s)", [made])
cursor.execute("SELECT note FROM orders WHERE id = %s", [made])
print("found", *cursor.fetchone())
cursor.execute("SELECT note FROM orders WHERE id = ANY(%s::scru128[]) ORDER BY id", [[old, made]])
print("listed", *[note for [note] in cursor])
since = datetime.now(timezone.utc) - timedelta(hours=1)
cursor.execute("SELECT note FROM orders WHERE id >= %s ORDER BY id", [since])
print("since", *[note for [note] in cursor])
cursor.execute("SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = %s", [made])
print("joined", *cursor.fetchone())

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    cursor.execute("SELECT id, note FROM orders WHERE id > %s AND id < scru128_horizon() ORDER BY id", [after])
    for row in cursor.fetchall():
        after = row[0]
        notes.append(row[1])
print("feed", *notes)
