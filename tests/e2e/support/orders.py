"""Tables with IDs in every kind of column and index, for tests that dump, replicate or upgrade them."""

from __future__ import annotations

import warnings

import psycopg

import expect
from idtypes import TYPES, IdType
from plans import explain

ROWS = 1_000

# One column for each kind of index, so that a condition can use one index only. All columns of a row have the same ID.
INDEXES = {
    "in_btree": "btree (in_btree)",
    "in_hash": "hash (in_hash)",
    "in_minmax": "brin (in_minmax) WITH (pages_per_range = 1)",
    "in_multi": "brin (in_multi {type}_minmax_multi_ops (values_per_range = 16)) WITH (pages_per_range = 1)",
    "in_bloom": "brin (in_bloom {type}_bloom_ops) WITH (pages_per_range = 1)",
    "in_gist": "gist (in_gist)",
    "in_gin": "gin (in_gin)",
}
# Indexes that support ranges. Hash indexes and Bloom filters support equality only.
RANGES = ["in_btree", "in_minmax", "in_multi", "in_gist", "in_gin"]


def set_search_path(connection: psycopg.Connection, id_type: IdType, extension_schema: str = "public") -> None:
    """Sets the search path to the schema of the type's tables and that of the extension."""
    connection.execute(f"SET search_path = {id_type.name}, {extension_schema}")


def create(connection: psycopg.Connection, id_type: IdType, extension_schema: str = "public", rows: int = ROWS) -> None:
    """Creates the tables, in a schema with the name of the type.

    `orders` has the type wherever a dump has to restore it: in keys, arrays, constraints, defaults and indexes. `parts`
    is partitioned by hash, `ranges` by range, and `indexed` has every kind of index.
    """
    connection.execute(f"CREATE SCHEMA {id_type.name}")
    set_search_path(connection, id_type, extension_schema)
    columns = ", ".join(f"{column} {id_type.name}" for column in INDEXES)
    connection.execute(
        f"""
        CREATE TABLE orders (
            id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator},
            parent {id_type.name} REFERENCES orders,
            others {id_type.name}[],
            note text,
            CHECK (id > '{id_type.text(0)}')
        );
        CREATE INDEX orders_multi ON orders USING brin (id {id_type.name}_minmax_multi_ops (values_per_range = 16));
        CREATE INDEX orders_bloom ON orders USING brin (id {id_type.name}_bloom_ops);
        CREATE INDEX orders_parent ON orders (parent DESC NULLS LAST, id);
        CREATE TABLE parts (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n int) PARTITION BY HASH (id);
        CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
        CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
        CREATE TABLE parts_2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
        CREATE TABLE ranges (id {id_type.name} PRIMARY KEY, n int) PARTITION BY RANGE (id);
        CREATE TABLE ranges_0 PARTITION OF ranges FOR VALUES FROM (MINVALUE) TO ('{id_type.text(1 << 32)}');
        CREATE TABLE ranges_1 PARTITION OF ranges FOR VALUES FROM ('{id_type.text(1 << 32)}') TO (MAXVALUE);
        CREATE TABLE indexed (n int, {columns});
        CREATE VIEW newest AS SELECT max(id) AS id FROM orders;

        INSERT INTO orders (note) SELECT 'order ' || n FROM generate_series(1, {rows}) AS n;
        UPDATE orders SET parent = (SELECT min(id) FROM orders), others = ARRAY[id, NULL];
        INSERT INTO parts (n) SELECT n FROM generate_series(1, {rows}) AS n;
        """
    )
    # `ranges` and `indexed` have IDs from the whole range and both ends; `indexed` has some of them twice.
    samples = [id_type.text(value) for value in id_type.samples(rows)]
    numbered = f"SELECT n::int, id::{id_type.name} FROM unnest(%s::text[]) WITH ORDINALITY AS sample(id, n)"
    connection.execute(f"INSERT INTO ranges (n, id) {numbered} ON CONFLICT DO NOTHING", [samples])
    same = ", ".join(["sample.id"] * len(INDEXES))
    connection.execute(f"INSERT INTO indexed SELECT n, {same} FROM ({numbered}) AS sample", [samples])
    for column, definition in INDEXES.items():
        connection.execute(f"CREATE INDEX indexed_{column} ON indexed USING {definition.format(type=id_type.name)}")
    connection.execute("ANALYZE orders, parts, ranges, indexed")


def contents(connection: psycopg.Connection) -> dict[str, tuple]:
    """Returns the number of rows of each table, and a checksum of the texts of the rows and their partitions."""
    queries = {
        "orders": "SELECT t::text AS row FROM orders AS t ORDER BY id",
        "parts": "SELECT tableoid::regclass::text || t::text AS row FROM parts AS t ORDER BY id",
        "ranges": "SELECT tableoid::regclass::text || t::text AS row FROM ranges AS t ORDER BY id",
        "indexed": "SELECT t::text AS row FROM indexed AS t ORDER BY n",
        "newest": "SELECT t::text AS row FROM newest AS t",
    }
    digest = "SELECT count(*), md5(string_agg(row, E'\\n')) FROM ({}) AS rows"
    return {table: connection.execute(digest.format(query)).fetchone() for table, query in queries.items()}


def check_indexes(connection: psycopg.Connection, id_type: IdType) -> None:
    """Checks all B-trees with amcheck, and that each kind of index finds the same rows as a sequential scan."""
    query = """SELECT indexrelid::regclass::text FROM pg_index
               JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
               WHERE relnamespace = %s::regnamespace AND relkind = 'i' AND indisvalid AND amname = 'btree'"""
    btrees = [index for (index,) in connection.execute(query, [id_type.name])]
    assert len(btrees) == 2 + 3 + 2 + 1
    if expect.has_amcheck(connection):
        for index in btrees:
            expect.intact(connection, index)
    else:
        warnings.warn("this server has no amcheck (contrib): B-trees are queried but not checked", stacklevel=2)
    for column in INDEXES:
        equal = f"SELECT {column} FROM indexed WHERE n % 9 = 0 UNION ALL SELECT id FROM orders WHERE note LIKE '%7'"
        compare_with_all_rows(
            connection,
            f"SELECT n FROM ({equal}) AS wanted(id) JOIN indexed ON {column} = wanted.id",
            f"indexed_{column}",
        )
    bounds = sorted(id_type.samples(24, seed=7))
    for column in RANGES:
        for low, high in zip(bounds[::2], bounds[1::2], strict=True):
            condition = f"{column} > '{id_type.text(low)}' AND {column} <= '{id_type.text(high)}'"
            compare_with_all_rows(connection, f"SELECT n FROM indexed WHERE {condition}", f"indexed_{column}")


# JIT is off, because the estimated cost of a disabled node would trigger it.
BY_INDEX = ("jit", "enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_material")
BY_ALL_ROWS = ("jit", "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")


def compare_with_all_rows(connection: psycopg.Connection, query: str, index: str) -> None:
    """Asserts that the query returns the same rows with the index and without any index."""
    found = []
    for disabled in BY_INDEX, BY_ALL_ROWS:
        with connection.transaction(force_rollback=True):
            for setting in disabled:
                connection.execute(f"SET LOCAL {setting} = off")
            assert (index in explain(connection, query)) == (disabled == BY_INDEX)
            found.append(sorted(connection.execute(query).fetchall()))
    assert found[0] == found[1]


def assert_new_ids_are_largest(connection: psycopg.Connection) -> None:
    """Inserts rows, and asserts that each new ID is the largest."""
    for _ in range(20):
        [(largest,)] = connection.execute("SELECT id::text FROM newest")
        [(new,)] = connection.execute("INSERT INTO orders DEFAULT VALUES RETURNING id::text")
        assert new > largest
        assert connection.execute("SELECT id::text FROM newest").fetchone() == (new,)


# ---------------------------------------------------------------------------------------------- BRIN indexes on domains

BRIN_CLASSES = ("minmax", "minmax_multi", "bloom")
START = "'2025-01-01 00:00+00'::timestamptz"


def create_brin_on_domains(connection: psycopg.Connection) -> None:
    """Creates a domain over each type, and a table with an index of each operator class, in the schema `brin`."""
    connection.execute("CREATE SCHEMA brin; SET search_path = brin, public")
    for t in TYPES:
        connection.execute(
            f"""
            CREATE DOMAIN {t}_key AS {t};
            CREATE DOMAIN {t}_order_key AS {t}_key CHECK (VALUE > '{t.text(0)}');
            CREATE TABLE {t}_orders (n int, {", ".join(f"{name} {t}_order_key" for name in BRIN_CLASSES)});
            """
        )
        for name in BRIN_CLASSES:
            columns = f"{name} {t}_{name}_ops, n) WITH (pages_per_range = 1"
            connection.execute(f"CREATE INDEX {t}_{name} ON {t}_orders USING brin ({columns})")
    connection.execute("SET search_path = public")


def fill_brin_on_domains(connection: psycopg.Connection, rows: int = 2000) -> None:
    """Adds rows, an hour apart."""
    for t in TYPES:
        connection.execute(
            f"""
            INSERT INTO brin.{t}_orders SELECT n, id, id, id
            FROM (SELECT coalesce(max(n), 0) FROM brin.{t}_orders) AS last (number),
                generate_series(number + 1, number + {rows}) AS n, {t}_lower({START} + n * interval '1 hour') AS id
            """
        )


def check_brin_on_domains(connection: psycopg.Connection) -> None:
    """Adds rows before and after each index is summarized, and checks that the index finds the right ones."""
    indexes = [(t, name) for t in TYPES for name in BRIN_CLASSES]
    fill_brin_on_domains(connection)
    for t, name in indexes:
        connection.execute(f"SELECT brin_summarize_new_values('brin.{t}_{name}')")
    fill_brin_on_domains(connection)
    for t, name in indexes:
        conditions = {f"{name} = {t}_lower({START} + interval '1500 hours')": [(1500,)]}
        if name != "bloom":
            conditions |= {
                f"{name} < {t}_lower({START} + interval '4 hours')": [(1,), (2,), (3,)],
                f"{name} < timestamptz '2025-01-01 03:00+00'": [(1,), (2,)],
                f"{name} <@ '[2025-01-02 00:00+00,2025-01-02 02:00+00)'": [(24,), (25,)],
            }
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL enable_seqscan = off")
            for condition, rows in conditions.items():
                query = f"SELECT DISTINCT n FROM brin.{t}_orders WHERE {condition} ORDER BY n"
                assert f"Bitmap Index Scan on {t}_{name}" in explain(connection, query)
                assert connection.execute(query).fetchall() == rows, query
