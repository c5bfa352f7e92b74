"""GiST indexes on IDs: their size compared with btree_gist, their results after random changes, and temporal keys. GIN
indexes with a column of another type."""

from __future__ import annotations

import random
import re
from pathlib import Path

import psycopg
import pytest

import expect
import plans
from idtypes import TYPES, IdType, each_type, of_types
from server import since

ROWS = 10_000
PAGE = (Path(__file__).parents[3] / "docs/gist-and-windows.md").read_text()


# ---------------------------------------------------------------------------------------------------------------- sizes


def sizes(connection: psycopg.Connection, *indexes: str) -> list[int]:
    return [connection.execute("SELECT pg_relation_size(%s)", [index]).fetchone()[0] for index in indexes]


@of_types([id_type for id_type in TYPES if id_type.baseline])
@pytest.mark.parametrize("order", ["in order", "at random"])
def test_no_larger_than_btree_gist(connection, id_type, order):
    """Compares indexes with those of btree_gist on the same values of the server's own type. They are built by default,
    built with buffering, or grown by insertions. An index is at most 2 % larger."""
    if connection.execute("SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'").fetchone() == (0,):
        pytest.skip("this server has no btree_gist (contrib)")
    name, baseline = id_type.name, id_type.baseline
    connection.execute(f"CREATE EXTENSION btree_gist; CREATE TABLE ids (id {name})")
    if order == "in order":
        connection.execute(f"INSERT INTO ids SELECT {id_type.generator} FROM generate_series(1, {ROWS})")
    else:
        source = random.Random(f"{id_type} sizes")
        texts = [id_type.text(source.randrange(id_type.largest)) for _ in range(ROWS)]
        connection.execute(f"INSERT INTO ids SELECT unnest(%s::text[])::{name}", [texts])
    connection.execute(
        f"""CREATE INDEX ours ON ids USING gist (id);
            CREATE INDEX theirs ON ids USING gist ((id::{baseline}));
            CREATE INDEX ours_one_by_one ON ids USING gist (id) WITH (buffering = on);
            CREATE INDEX theirs_one_by_one ON ids USING gist ((id::{baseline})) WITH (buffering = on);
            CREATE TABLE growing (id {name}, same {baseline});
            CREATE INDEX ours_growing ON growing USING gist (id);
            CREATE INDEX theirs_growing ON growing USING gist (same);
            INSERT INTO growing SELECT id, id::{baseline} FROM ids"""
    )
    for ours, theirs in (
        ("ours", "theirs"),
        ("ours_one_by_one", "theirs_one_by_one"),
        ("ours_growing", "theirs_growing"),
    ):
        size, limit = sizes(connection, ours, theirs)
        assert size <= limit * 1.02, ours


# -------------------------------------------------------------------------------------------------------------- results


def conditions(id_type: IdType, source: random.Random) -> list[str]:
    """Returns conditions with each operator and IDs from the whole range."""
    low, high = sorted(id_type.text(value) for value in id_type.samples(2, source.randrange(1 << 30)))
    start, end = sorted(source.randrange(0, 4_000_000_000) for _ in range(2))
    return [
        *(f"id {operator} '{low}'" for operator in ("=", "<>", "<", "<=", ">", ">=")),
        f"id >= '{low}' AND id < '{high}'",
        f"id <@ tstzrange(to_timestamp({start}), to_timestamp({end}), '(]')",
        "id IS NULL",
    ]


def rows(connection: psycopg.Connection, condition: str, by_index: bool) -> tuple:
    """Returns the number and the checksums of the rows of a condition, with the index or without it."""
    query = f"SELECT count(*), sum(n), md5(string_agg(id::text, ' ' ORDER BY id)) FROM history WHERE {condition}"
    with connection.transaction(force_rollback=True):
        off = ["enable_seqscan"] if by_index else ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"]
        for setting in off:
            connection.execute(f"SET LOCAL {setting} = off")
        assert ("history_id" in plans.explain(connection, query)) == by_index, condition
        return connection.execute(query).fetchone()


@each_type
def test_random_histories(connection, id_type):
    """After each of many random changes, the index finds the same rows as a sequential scan."""
    source = random.Random(f"{id_type} histories")
    name = id_type.name
    connection.execute(
        f"CREATE TABLE history (id {name}, n serial); CREATE INDEX history_id ON history USING gist (id)"
    )

    def insert(values: list[int]) -> None:
        texts = [id_type.text(value) for value in values]
        connection.execute(f"INSERT INTO history (id) SELECT unnest(%s::text[])::{name}", [texts])

    start = source.randrange(id_type.largest // 2)
    changes = [
        lambda: insert(id_type.samples(500, source.randrange(1 << 30))),
        lambda: insert(range(start, start + 3000, 3)),
        lambda: insert(range(start + 3000, start, -7)),
        lambda: insert([start + 5] * 700),
        lambda: connection.execute("INSERT INTO history (id) SELECT NULL FROM generate_series(1, 50)"),
        lambda: connection.execute(
            f"INSERT INTO history (id) SELECT {id_type.generator} FROM generate_series(1, 1000)"
        ),
        lambda: connection.execute("DELETE FROM history WHERE n % 3 = 1"),
        lambda: connection.execute(
            "UPDATE history SET id = (SELECT max(id) FROM history AS h WHERE h.n < 100) WHERE n % 7 = 1"
        ),
        lambda: connection.execute("VACUUM history"),
        lambda: connection.execute("REINDEX INDEX history_id"),
        lambda: connection.execute(
            "ALTER INDEX history_id SET (buffering = on, fillfactor = 50); REINDEX INDEX history_id"
        ),
    ]
    compared = 0
    for _ in range(3):
        source.shuffle(changes)
        for change in changes:
            change()
            for condition in conditions(id_type, source):
                by_index = rows(connection, condition, by_index=True)
                assert by_index == rows(connection, condition, by_index=False), condition
                compared += by_index[0]
    assert compared > 10_000


# -------------------------------------------------------------------------------------------------------- temporal keys


@since(18, "WITHOUT OVERLAPS")
@each_type
def test_temporal_keys(connection, id_type):
    """A primary key and a foreign key over periods, without btree_gist."""
    name, (a, b) = id_type.name, [id_type.text(value) for value in (7, 8)]
    connection.execute(
        f"""CREATE TABLE prices (id {name}, valid daterange, price int, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
            CREATE TABLE sales (
                item {name}, during daterange, UNIQUE (item, during WITHOUT OVERLAPS),
                FOREIGN KEY (item, PERIOD during) REFERENCES prices (id, PERIOD valid)
            );
            INSERT INTO prices VALUES ('{a}', '[2026-01-01,2026-02-01)', 1), ('{a}', '[2026-02-01,2026-03-01)', 2);
            INSERT INTO prices VALUES ('{b}', '[2026-01-15,2026-02-15)', 3);
            INSERT INTO sales VALUES ('{a}', '[2026-01-20,2026-02-20)')"""
    )
    with expect.error(
        "23P01",
        'conflicting key value violates exclusion constraint "prices_pkey"',
        f"Key (id, valid)=({a}, [2026-02-27,2026-03-05)) conflicts with existing key"
        f" (id, valid)=({a}, [2026-02-01,2026-03-01)).",
    ):
        connection.execute(f"INSERT INTO prices VALUES ('{a}', '[2026-02-27,2026-03-05)', 4)")
    for item, during in (b, "[2026-02-01,2026-03-01)"), (id_type.text(9), "[2026-01-20,2026-01-21)"):
        with expect.error(
            "23503",
            'insert or update on table "sales" violates foreign key constraint "sales_item_during_fkey"',
            f'Key (item, during)=({item}, {during}) is not present in table "prices".',
        ):
            connection.execute(f"INSERT INTO sales VALUES ('{item}', '{during}')")
    with expect.error(
        "23503",
        'update or delete on table "prices" violates foreign key constraint "sales_item_during_fkey" on table "sales"',
        f'Key (id, valid)=({a}, [2026-02-01,2026-03-01)) is still referenced from table "sales".',
    ):
        connection.execute(f"DELETE FROM prices WHERE id = '{a}' AND price = 2")
    connection.execute(f"DELETE FROM prices WHERE id = '{b}'")


# ------------------------------------------------------------------------------------------------------------------ GIN


@each_type
def test_an_id_and_jsonb_in_one_gin_index(connection, id_type):
    """The statements of the page. The query reads only the rows of one tenant with the status."""
    table, query = re.search(r"## GIN\n.*?```sql\n(.*?;)\n(SELECT .*?;)", PAGE, re.DOTALL).groups()
    connection.execute(table.replace("scru128", id_type.name))
    tenants = [id_type.text(value) for value in id_type.samples(20, 7)]
    connection.execute(
        f"""INSERT INTO reports (tenant_id, doc)
            SELECT t::{id_type.name}, jsonb_build_object('status', CASE WHEN n %% 10 = 0 THEN 'paid' ELSE 'open' END)
            FROM unnest(%s::text[]) AS t, generate_series(1, 500) AS n""",
        [tenants],
    )
    connection.execute("VACUUM ANALYZE reports")
    query = re.sub("'03.*?'", f"'{tenants[3]}'", query)
    connection.execute("SET enable_seqscan = off")
    plan = plans.explain(connection, query)
    assert "Bitmap Index Scan on reports_doc" in plan
    assert f"Index Cond: ((tenant_id = '{tenants[3]}'::{id_type.name}) AND (doc @> " in plan
    found = connection.execute(query).fetchall()
    assert len(found) == 50
    assert {row[1] for row in found} == {tenants[3]}


@since(18, "gin_index_check of amcheck")
@each_type
def test_gin_indexes_are_consistent(connection, id_type):
    """amcheck finds no error in an index that has been built, nor in one that has been filled row by row. The rows
    include NULLs, and many have the same ID."""
    expect.install_amcheck(connection)
    connection.execute(f"CREATE TABLE ids (id {id_type.name}); CREATE INDEX filled ON ids USING gin (id)")
    texts = [id_type.text(value) for value in id_type.samples(5000, 8)]
    insert = f"INSERT INTO ids SELECT t::{id_type.name} FROM unnest(%s::text[]) AS t"
    for values in texts, texts[:1] * 5000, [None] * 100:
        connection.execute(insert, [values])
    connection.execute("SELECT gin_clean_pending_list('filled')")
    connection.execute("CREATE INDEX built ON ids USING gin (id)")
    for index in "filled", "built":
        connection.execute("SELECT gin_index_check(%s)", [index])
