"""ADBC: cast IDs to text, in both directions."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone

import adbc_driver_postgresql.dbapi

old = sys.argv[1]
connection = adbc_driver_postgresql.dbapi.connect(os.environ["DATABASE_URL"], autocommit=True)
cursor = connection.cursor()


def column(sql, *parameters):
    cursor.execute(sql, parameters)
    return cursor.fetch_arrow_table().column(0).to_pylist()


[made] = column("INSERT INTO orders (note) VALUES ('made') RETURNING id::text")
print("made", made)
cursor.execute("INSERT INTO items (order_id) VALUES ($1::text::scru128)", [made])
print("found", *column("SELECT note FROM orders WHERE id = $1::text::scru128", made))
listed = "SELECT note FROM orders WHERE id = ANY(string_to_array($1::text, ',')::scru128[]) ORDER BY id"
print("listed", *column(listed, f"{old},{made}"))
since = datetime.now(timezone.utc) - timedelta(hours=1)
print("since", *column("SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id", since))
joined = "SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = $1::text::scru128"
print("joined", *column(joined, made))

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    new = "SELECT id::text, note FROM orders WHERE id > $1::text::scru128 AND id < scru128_horizon() ORDER BY id"
    cursor.execute(new, [after])
    for row in cursor.fetchall():
        after = row[0]
        notes.append(row[1])
print("feed", *notes)
