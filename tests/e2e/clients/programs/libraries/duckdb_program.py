"""DuckDB: the extension postgres reads and writes IDs as VARCHAR."""

import duckdb
from duckdb_extensions import import_extension
from journey import URL, journey

import_extension("postgres_scanner")
connection = duckdb.connect()
connection.execute("LOAD postgres_scanner")
connection.execute(f"ATTACH '{URL}' AS server (TYPE postgres)")


def run(sql, *parameters):
    rows = connection.execute(sql, parameters).fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]


def on_the_server(sql, value):
    return run(f"SELECT * FROM postgres_query('server', '{sql.format(value)}')")


def insert():
    run("INSERT INTO server.orders (note) VALUES ('made')")
    [made] = run("SELECT id FROM server.orders WHERE note = 'made'")
    run("INSERT INTO server.items (order_id) VALUES (?)", made)
    return made


later = "SELECT note FROM orders WHERE id >= timestamptz ''{}'' ORDER BY id"
new = "SELECT id, note FROM orders WHERE id > ''{}'' AND id < scru128_horizon() ORDER BY id"
joined = "SELECT note FROM server.orders AS o JOIN server.items AS i ON i.order_id = o.id WHERE o.id = ?"
journey(
    insert,
    lambda id: run("SELECT note FROM server.orders WHERE id = ?", id),
    lambda ids: run("SELECT note FROM server.orders WHERE id IN (?, ?) ORDER BY id", *ids),
    lambda since: on_the_server(later, since.isoformat()),
    lambda id: run(joined, id),
    lambda after: on_the_server(new, after),
)
