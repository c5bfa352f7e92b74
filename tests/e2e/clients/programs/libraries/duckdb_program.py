"""DuckDB: the extension postgres reads and writes IDs as VARCHAR. A time and the horizon are in `postgres_query`."""

import duckdb
from duckdb_extensions import import_extension
from journey import OLD, SINCE, URL, feed

import_extension("postgres_scanner")
connection = duckdb.connect()
connection.execute("LOAD postgres_scanner")
connection.execute(f"ATTACH '{URL}' AS server (TYPE postgres); USE server")


def report(name, sql, *parameters):
    print(name, *(note for [note] in connection.execute(sql, parameters).fetchall()))


def on_the_server(sql, value):
    return f"SELECT * FROM postgres_query('server', '{sql.format(value)} ORDER BY id')"


connection.execute("INSERT INTO orders (note) VALUES ('made')")
[[made]] = connection.execute("SELECT id FROM orders WHERE note = 'made'").fetchall()
connection.execute("INSERT INTO items (order_id) VALUES (?)", [made])
print("made", made)
report("found", "SELECT note FROM orders WHERE id = ?", made)
report("listed", "SELECT note FROM orders WHERE id IN (?, ?) ORDER BY id", OLD, made)
report("since", on_the_server("SELECT note FROM orders WHERE id >= timestamptz ''{}''", SINCE.isoformat()))
report("joined", "SELECT note FROM orders AS o JOIN items AS i ON i.order_id = o.id WHERE o.id = ?", made)
new = "SELECT id, note FROM orders WHERE id > ''{}'' AND id < scru128_horizon()"
print("feed", *feed(lambda after: connection.execute(on_the_server(new, after)).fetchall()))
