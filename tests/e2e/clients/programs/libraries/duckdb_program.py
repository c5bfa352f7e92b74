"""DuckDB: the extension postgres reads and writes IDs as VARCHAR."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone

import duckdb
from duckdb_extensions import import_extension

old = sys.argv[1]
import_extension("postgres_scanner")
connection = duckdb.connect()
connection.execute("LOAD postgres_scanner")
connection.execute(f"ATTACH '{os.environ['DATABASE_URL']}' AS server (TYPE postgres)")


def column(sql, *parameters):
    return [value for [value] in connection.execute(sql, parameters).fetchall()]


connection.execute("INSERT INTO server.orders (note) VALUES ('made')")
[made] = column("SELECT id FROM server.orders WHERE note = 'made'")
print("made", made)
connection.execute("INSERT INTO server.items (order_id) VALUES (?)", [made])
print("found", *column("SELECT note FROM server.orders WHERE id = ?", made))
print("listed", *column("SELECT note FROM server.orders WHERE id IN (?, ?) ORDER BY id", old, made))
since = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat()
later = f"SELECT note FROM orders WHERE id >= timestamptz ''{since}'' ORDER BY id"
print("since", *column(f"SELECT note FROM postgres_query('server', '{later}')"))
joined = "SELECT note FROM server.orders AS o JOIN server.items AS i ON i.order_id = o.id WHERE o.id = ?"
print("joined", *column(joined, made))

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    new = f"SELECT id, note FROM orders WHERE id > ''{after}'' AND id < scru128_horizon() ORDER BY id"
    for row in connection.execute(f"SELECT * FROM postgres_query('server', '{new}')").fetchall():
        after = row[0]
        notes.append(row[1])
print("feed", *notes)
