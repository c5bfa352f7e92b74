"""BRIN indexes on columns of domains over the types."""

from __future__ import annotations

import psycopg

from idtypes import TYPES
from plans import explain

CLASSES = ("minmax", "minmax_multi", "bloom")


def create(connection: psycopg.Connection) -> None:
    """Creates a domain over each type, and a table with an index of each operator class, in the schema `brin`."""
    connection.execute("CREATE SCHEMA brin; SET search_path = brin, public")
    for t in TYPES:
        connection.execute(
            f"""
            CREATE DOMAIN {t}_key AS {t};
            CREATE DOMAIN {t}_order_key AS {t}_key CHECK (VALUE > '{t.text(0)}');
            CREATE TABLE {t}_orders (n int, {", ".join(f"{name} {t}_order_key" for name in CLASSES)});
            """
        )
        for name in CLASSES:
            columns = f"{name} {t}_{name}_ops, n) WITH (pages_per_range = 1"
            connection.execute(f"CREATE INDEX {t}_{name} ON {t}_orders USING brin ({columns})")
    connection.execute("SET search_path = public")


def fill(connection: psycopg.Connection, rows: int = 2000) -> None:
    """Adds rows, an hour apart."""
    for t in TYPES:
        start = connection.execute(f"SELECT coalesce(max(n), 0) FROM brin.{t}_orders").fetchone()[0]
        connection.execute(
            f"""
            INSERT INTO brin.{t}_orders SELECT n, id, id, id
            FROM generate_series({start + 1}, {start + rows}) AS n,
                LATERAL {t}_lower('2025-01-01 00:00+00'::timestamptz + n * interval '1 hour') AS id
            """
        )


def check(connection: psycopg.Connection) -> None:
    """Adds rows before and after each index is summarized, and checks that the index finds the right ones."""
    fill(connection)
    for t in TYPES:
        for name in CLASSES:
            connection.execute(f"SELECT brin_summarize_new_values('brin.{t}_{name}')")
    fill(connection)
    for t in TYPES:
        for name in CLASSES:
            at = f"{t}_lower('2025-01-01 00:00+00'::timestamptz + interval '{{}} hours')"
            conditions = {f"{name} = {at.format(1500)}": [(1500,)]}
            if name != "bloom":
                conditions |= {
                    f"{name} < {at.format(4)}": [(1,), (2,), (3,)],
                    f"{name} < timestamptz '2025-01-01 03:00+00'": [(1,), (2,)],
                    f"{name} <@ '[2025-01-02 00:00+00,2025-01-02 02:00+00)'": [(24,), (25,)],
                }
            with connection.transaction(force_rollback=True):
                connection.execute("SET LOCAL enable_seqscan = off")
                for condition, rows in conditions.items():
                    query = f"SELECT DISTINCT n FROM brin.{t}_orders WHERE {condition} ORDER BY n"
                    assert f"Bitmap Index Scan on {t}_{name}" in explain(connection, query)
                    assert connection.execute(query).fetchall() == rows, query
