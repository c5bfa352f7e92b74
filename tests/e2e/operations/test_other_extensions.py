"""Other extensions on columns of the types: postgres_fdw, and those that docs/tools.md describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import orders
from idtypes import SCRU128, IdType, each_form
from plans import analyze, explain, nodes
from programs import has_library, needs
from server import on_every_version

pytestmark = on_every_version

ROWS = 400


@pytest.fixture
def foreign(server, new_database, id_type) -> Iterator[psycopg.Connection]:
    """A connection to a database with foreign tables of another. postgres_fdw knows that both have the extension."""
    remote, local = new_database(), new_database()
    with remote.connect() as connection:
        orders.create(connection, id_type, rows=ROWS)
    with local.connect() as connection:
        if not connection.execute("SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw'").rowcount:
            pytest.skip("this server has no postgres_fdw (contrib)")
        connection.execute(
            f"""
            CREATE EXTENSION postgres_fdw;
            CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
                host '{server.directory}', dbname '{remote.name}', extensions 'scru', use_remote_estimate 'true');
            CREATE USER MAPPING FOR CURRENT_USER SERVER remote OPTIONS (user 'postgres');
            CREATE SCHEMA here;
            CREATE SCHEMA {id_type.name};
            IMPORT FOREIGN SCHEMA {id_type.name} FROM SERVER remote INTO {id_type.name};
            CREATE TABLE here.orders AS SELECT * FROM {id_type.name}.orders;
            """
        )
        yield connection


def remote_sql(connection: psycopg.Connection, query: str) -> str:
    """Returns the query that is sent to the other server, without schemas and aliases. No other node processes rows."""
    [node] = [node for node in nodes(analyze(connection, query)) if node.get("Parent Relationship") != "InitPlan"]
    assert node["Node Type"] == "Foreign Scan"
    return re.sub(r"\b(public|scru_internal|r1|r2)\.", "", node["Remote SQL"])


def queries(connection: psycopg.Connection, id_type: IdType) -> dict[str, str]:
    """Returns queries on the orders of a type, each with a text that the remote query must contain."""
    t = id_type.name
    [(low, middle, high)] = connection.execute(
        "SELECT ids[20], ids[200], ids[380] FROM (SELECT array_agg(id::text ORDER BY id) FROM here.orders) AS x(ids)"
    )
    [(since, until)] = connection.execute(
        f"SELECT {t}_timestamp(%s::{t})::text, ({t}_timestamp(%s::{t}) + interval '1 day')::text", [low, high]
    )
    between = f"id > '{low}' AND id <= '{high}'"
    return {
        f"SELECT id, note FROM orders WHERE id = '{middle}'": f"WHERE ((id = '{middle}'",
        f"SELECT id, note FROM orders WHERE {between}": f"WHERE ((id > '{low}'",
        # A constant range is pushed down as two bounds. From any other range, the other server derives the bounds.
        f"SELECT id, note FROM orders WHERE id <@ tstzrange('{since}', '{until}')": f"WHERE ((id >= '{low[:3]}",
        f"SELECT id, note FROM orders WHERE tstzrange('{since}', '{until}') @> id": f"WHERE ((id >= '{low[:3]}",
        f"SELECT id, note FROM orders WHERE id <@ (SELECT tstzrange('{since}', '{until}'))": "(id <@ $1::",
        f"SELECT id, note FROM orders WHERE {t}_timestamp(id) >= '{since}'": f"{t}_timestamp(id) >= ",
        "SELECT id, note FROM orders WHERE parent IS DISTINCT FROM id": "IS DISTINCT FROM",
        f"SELECT id, note FROM orders WHERE CASE id WHEN '{middle}' THEN true ELSE id > '{high}' END": "CASE id WHEN",
        "SELECT id, note FROM orders ORDER BY id LIMIT 7": "ORDER BY id ASC NULLS LAST LIMIT 7",
        "SELECT id, note FROM orders ORDER BY id DESC LIMIT 7": "ORDER BY id DESC NULLS FIRST LIMIT 7",
        "SELECT min(id), max(id), count(*) FROM orders": "min(id), ",
        "SELECT parent, count(*), max(id) FROM orders GROUP BY parent": "GROUP BY ",
        f"SELECT a.id, b.note FROM orders a JOIN orders b ON b.id = a.parent WHERE a.id > '{high}'": "INNER JOIN",
    }


@each_form
def test_push_down(foreign, id_type):
    """Comparisons, ranges of time, sorts, aggregates and joins are pushed down, and return the same rows as locally."""
    for query, pushed in queries(foreign, id_type).items():
        foreign.execute(f"SET search_path = {id_type.name}, public")
        assert pushed in remote_sql(foreign, query)
        there = foreign.execute(query).fetchall()
        foreign.execute("SET search_path = here, public")
        here = foreign.execute(query).fetchall()
        assert there == here if "ORDER BY" in query else sorted(there) == sorted(here)
        assert here


# ------------------------------------------------------------------------------------------- the extensions of the page

MADE = """SELECT scru128_lower(timestamptz '2026-11-01' + n * interval '1 min') AS id, n
    FROM generate_series(1, 10000) AS n"""
"""IDs, a minute apart."""
PAGE = (Path(__file__).parents[3] / "docs/tools.md").read_text().split("\n## Other extensions\n")[1]


@needs("pg_repack")
def test_pg_repack(connection, database):
    """The table is written anew in the order of its key, with the same rows."""
    connection.execute("CREATE EXTENSION pg_repack")
    connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), n serial)")
    connection.execute(f"INSERT INTO orders {MADE} ORDER BY n DESC")
    rows = "SELECT id::text, n FROM orders ORDER BY n"
    before = connection.execute(rows).fetchall()
    in_order = "SELECT array_agg(id ORDER BY ctid) = array_agg(id ORDER BY id) FROM orders"
    assert connection.execute(in_order).fetchone() == (False,)
    database.server.run("pg_repack", "--dbname", database.name, "--table", "orders", "--order-by", "id")
    assert connection.execute(in_order).fetchone() == (True,)
    assert connection.execute(rows).fetchall() == before
    connection.execute("INSERT INTO orders DEFAULT VALUES")


@needs("hypopg")
def test_hypopg(connection):
    """The planner uses a hypothetical index for comparisons of IDs and for conditions on time."""
    connection.execute(f"CREATE EXTENSION hypopg; CREATE TABLE orders AS {MADE}; ANALYZE orders")
    connection.execute("SELECT hypopg_create_index('CREATE INDEX ON orders (id)')")
    times = "id < timestamptz '2026-11-01 01:00'", "id <@ '[2026-11-02,2026-11-03)'", "id::timestamptz < '2026-11-02'"
    for condition in f"id = '{SCRU128.text(SCRU128.largest // 2)}'", *times:
        assert "btree_orders_id" in explain(connection, f"SELECT * FROM orders WHERE {condition}")
    assert "Sort" not in explain(connection, "SELECT * FROM orders ORDER BY id::timestamptz DESC LIMIT 3")


def test_pg_hint_plan(connection):
    """Hints choose the plans of a view of the time of an ID. Without hints, the plans are those without the module."""
    if not has_library("pg_hint_plan"):
        pytest.skip("this server has no pg_hint_plan, which Debian 13 has for 17")
    connection.execute(
        f"""
        CREATE TABLE orders (id scru128 PRIMARY KEY, n int);
        INSERT INTO orders {MADE};
        CREATE VIEW with_time AS SELECT *, id::timestamptz AS created_at FROM orders;
        ANALYZE orders
        """
    )
    queries = [
        "SELECT n FROM with_time WHERE created_at < '2026-11-01 00:04'",
        "SELECT n FROM with_time ORDER BY created_at DESC LIMIT 3",
    ]
    before = [(explain(connection, query), connection.execute(query).fetchall()) for query in queries]
    assert all("using orders_pkey" in plan and len(rows) == 3 for plan, rows in before)
    connection.execute("LOAD 'pg_hint_plan'")
    for query, (plan, rows) in zip(queries, before, strict=True):
        assert explain(connection, query) == plan
        # A hint for the scan of a table removes its paths in the order of time.
        for hint in "SeqScan", "IndexScan":
            hinted = f"/*+ {hint}(orders) */ {query}"
            is_by_index = hint == "IndexScan" and "WHERE" in query
            assert ("using orders_pkey" if is_by_index else "Seq Scan on orders") in explain(connection, hinted)
            assert connection.execute(hinted).fetchall() == rows


@needs("hll")
def test_hll(connection):
    """The expression of the page counts different IDs, with an error of a few percent."""
    # The same IDs, and the same error, in each run.
    connection.execute(f"CREATE EXTENSION hll; CREATE TABLE orders AS {MADE} UNION ALL {MADE}")
    [expression] = re.findall(r"`(#hll_add_agg\(.*?)`", PAGE)
    [count] = connection.execute(f"SELECT {expression} FROM orders").fetchone()
    assert 9_000 < count < 11_000
