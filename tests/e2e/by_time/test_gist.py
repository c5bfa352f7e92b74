"""GiST indexes on IDs: sizes compared with btree_gist, temporal keys. GIN indexes with a column of another type."""

from __future__ import annotations

import re

import psycopg
import pytest

import page
import plans
from idtypes import SCRU64, SCRU128, each_form, of_types
from server import since

ROWS = 10_000


@of_types([SCRU64, SCRU128])
@pytest.mark.parametrize("order", ["n", "md5(n::text)"], ids=["in order", "at random"])
def test_no_larger_than_btree_gist(connection, id_type, order):
    """Compares indexes with those of btree_gist on the same values of the server's own type. They are built by default,
    built with buffering, or grown by insertions. An index is at most 2 % larger, and smaller if it grows in order."""
    if connection.execute("SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'").fetchone() == (0,):
        pytest.skip("this server has no btree_gist (contrib)")
    name, baseline = id_type.name, id_type.baseline
    connection.execute(
        f"""CREATE EXTENSION btree_gist;
            CREATE TABLE ids AS
                SELECT {name}_lower(timestamptz '2026-01-01' + n * interval '1 h') AS id
                FROM generate_series(1, {ROWS}) AS n ORDER BY {order};
            CREATE INDEX ours ON ids USING gist (id);
            CREATE INDEX theirs ON ids USING gist ((id::{baseline}));
            CREATE INDEX ours_one_by_one ON ids USING gist (id) WITH (buffering = on);
            CREATE INDEX theirs_one_by_one ON ids USING gist ((id::{baseline})) WITH (buffering = on);
            CREATE TABLE growing (id {name}, same {baseline});
            CREATE INDEX ours_growing ON growing USING gist (id);
            CREATE INDEX theirs_growing ON growing USING gist (same);
            INSERT INTO growing SELECT id, id::{baseline} FROM ids"""
    )
    for suffix in "", "_one_by_one", "_growing":
        sizes = f"SELECT pg_relation_size('ours{suffix}'), pg_relation_size('theirs{suffix}')"
        size, limit = connection.execute(sizes).fetchone()
        assert size <= limit * (0.7 if (order, suffix) == ("n", "_growing") else 1.02), suffix


@since(18, "WITHOUT OVERLAPS")
@each_form
def test_temporal_keys(connection, id_type):
    """A primary key and a foreign key over periods, without btree_gist."""
    name, (a, b) = id_type.name, [id_type.text(value) for value in (7, 8)]
    connection.execute(
        f"""CREATE TABLE prices (id {name}, valid daterange, price int, PRIMARY KEY (id, valid WITHOUT OVERLAPS));
            CREATE TABLE sales (
                item {name}, during daterange, UNIQUE (item, during WITHOUT OVERLAPS),
                FOREIGN KEY (item, PERIOD during) REFERENCES prices (id, PERIOD valid)
            );
            INSERT INTO prices VALUES ('{a}', '[2026-01-01,2026-02-01)', 1), ('{a}', '[2026-02-01,2026-03-01)', 2),
                ('{b}', '[2026-01-15,2026-02-15)', 3);
            INSERT INTO sales VALUES ('{a}', '[2026-01-20,2026-02-20)')"""
    )
    with pytest.raises(psycopg.errors.ExclusionViolation, match='"prices_pkey"'):
        connection.execute(f"INSERT INTO prices VALUES ('{a}', '[2026-02-27,2026-03-05)', 4)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match='"sales_item_during_fkey"'):
        connection.execute(f"INSERT INTO sales VALUES ('{b}', '[2026-02-01,2026-03-01)')")
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match='on table "sales"'):
        connection.execute(f"DELETE FROM prices WHERE id = '{a}' AND price = 2")


# ------------------------------------------------------------------------------------------------------------------ GIN


@each_form
def test_an_id_and_jsonb_in_one_gin_index(connection, id_type):
    """The statements of the page. The query reads only the rows of one tenant with the status."""
    table, query = page.sql("GIN", 0, "gist-and-windows").split("SELECT")
    connection.execute(table.replace("scru128", id_type.name))
    tenants = [id_type.text(value) for value in id_type.samples(20, 7)]
    connection.execute(
        f"""INSERT INTO reports (tenant_id, doc)
            SELECT t::{id_type.name}, jsonb_build_object('status', CASE WHEN n %% 10 = 0 THEN 'paid' ELSE 'open' END)
            FROM unnest(%s::text[]) AS t, generate_series(1, 500) AS n""",
        [tenants],
    )
    connection.execute("VACUUM ANALYZE reports")
    query = re.sub("'03.*?'", f"'{tenants[3]}'", f"SELECT{query}")
    connection.execute("SET enable_seqscan = off")
    plan = plans.explain(connection, query)
    assert "Bitmap Index Scan on reports_doc" in plan
    assert f"Index Cond: ((tenant_id = '{tenants[3]}'::{id_type.name}) AND (doc @> " in plan
    found = connection.execute(query).fetchall()
    assert len(found) == 50
    assert {row[1] for row in found} == {tenants[3]}
