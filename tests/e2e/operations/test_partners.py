"""Other extensions on columns of the types, as docs/clients.md describes them."""

from __future__ import annotations

import re
from pathlib import Path

from idtypes import each_type
from plans import explain
from programs import needs

PAGE = (Path(__file__).parents[3] / "docs/clients.md").read_text().split("\n## Other extensions\n")[1]


@needs("pg_repack")
@each_type
def test_pg_repack(connection, database, id_type):
    """The table is written anew in the order of its key. It has the same rows and indexes, and the default."""
    name = id_type.name
    connection.execute("CREATE EXTENSION pg_repack")
    connection.execute(
        f"""CREATE TABLE orders (id {name} PRIMARY KEY DEFAULT {id_type.generator}, parent {name}, n serial);
            CREATE INDEX orders_parent ON orders (parent);
            CREATE INDEX orders_gin ON orders USING gin (parent)"""
    )
    insert = f"INSERT INTO orders (id, parent) SELECT t::{name}, t::{name} FROM unnest(%s::text[]) AS t"
    connection.execute(insert, [[id_type.text(value) for value in dict.fromkeys(id_type.samples(1000))]])
    connection.execute("DELETE FROM orders WHERE n % 2 = 0")
    rows = "SELECT id::text, parent::text, n FROM orders ORDER BY n"
    before, file = connection.execute(rows).fetchall(), "SELECT pg_relation_filenode('orders')"
    [old] = connection.execute(file).fetchone()
    database.server.run("pg_repack", "--dbname", database.name, "--table", "orders", "--order-by", "id")
    assert connection.execute(file).fetchone() != (old,)
    assert connection.execute(rows).fetchall() == before
    in_order = "SELECT array_agg(id ORDER BY ctid) = array_agg(id ORDER BY id) FROM orders"
    assert connection.execute(in_order).fetchone() == (True,)
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    middle = before[200][1]
    assert "Index Cond" in explain(connection, f"SELECT * FROM orders WHERE parent = '{middle}'")
    assert connection.execute(f"SELECT n FROM orders WHERE parent = '{middle}'").fetchall() == [(before[200][2],)]
    connection.execute("INSERT INTO orders DEFAULT VALUES")


@needs("hypopg")
@each_type
def test_hypopg(connection, id_type):
    """The planner uses a hypothetical index for comparisons of IDs and for conditions on time."""
    connection.execute("CREATE EXTENSION hypopg")
    connection.execute(f"CREATE TABLE orders (id {id_type.name})")
    insert = f"INSERT INTO orders SELECT {id_type.name}_lower(timestamptz '2026-11-01' + n * interval '1 min')"
    connection.execute(f"{insert} FROM generate_series(1, 10000) AS n")
    connection.execute("ANALYZE orders")
    connection.execute("SELECT hypopg_create_index('CREATE INDEX ON orders (id)')")
    text = id_type.text(id_type.largest // 2)
    conditions = [
        f"id = '{text}'",
        "id < timestamptz '2026-11-01 01:00'",
        "id <@ tstzrange('2026-11-02', '2026-11-02 01:00')",
    ]
    for condition in conditions:
        assert "btree_orders_id" in explain(connection, f"SELECT * FROM orders WHERE {condition}")


@needs("hll")
@each_type
def test_hll(connection, id_type):
    """The expression of the page counts different IDs, with an error of a few percent."""
    connection.execute(f"CREATE EXTENSION hll; CREATE TABLE orders (id {id_type.name})")
    connection.execute(f"INSERT INTO orders SELECT {id_type.generator} FROM generate_series(1, 10000)")
    connection.execute("INSERT INTO orders TABLE orders")
    [expression] = re.findall(r"`(#hll_add_agg\(.*?)`", PAGE)
    [count] = connection.execute(f"SELECT {expression} FROM orders").fetchone()
    assert 9_000 < count < 11_000


@needs("bloom")
@each_type
def test_bloom(connection, id_type):
    """With the operator class of the page, an index of the access method bloom finds all rows of an ID."""
    name = id_type.name
    connection.execute(f"CREATE TABLE orders (id {name}, note text)")
    texts = [id_type.text(value) for value in id_type.samples(2000)]
    connection.execute(f"INSERT INTO orders SELECT t::{name} FROM unnest(%s::text[]) AS t", [texts])
    [statements] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    connection.execute(statements.replace("scru128", name))
    assert connection.execute("SELECT amvalidate(oid) FROM pg_opclass WHERE opcname ~ 'in_bloom'").fetchone() == (True,)
    query = f"SELECT id::text FROM orders WHERE id = '{texts[700]}'"
    connection.execute("SET enable_seqscan = off")
    assert "Bitmap Index Scan on orders_id_note_idx" in explain(connection, query)
    assert connection.execute(query).fetchall() == [(text,) for text in texts if text == texts[700]]
