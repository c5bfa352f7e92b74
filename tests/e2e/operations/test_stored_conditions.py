"""Objects of users with conditions on time: a dump restores them, and plans use the indexes."""

from __future__ import annotations

import psycopg
import pytest

from idtypes import TYPES, IdType
from plans import explain

JANUARY = "tstzrange('2026-01-01 00:00+00', '2026-02-01 00:00+00')"
LITERAL = "'[2026-01-10 00:00+00, 2026-01-12 00:00+00)'"

# Objects that depend on the operators, in a schema of the type {t}. Orders are 20 minutes apart, from 2026-01-01 on.
OBJECTS = """
    CREATE SCHEMA {t};
    SET search_path = {t}, public;
    CREATE TABLE shifts (n int, during tstzrange);
    INSERT INTO shifts VALUES (1, '[2026-01-02 00:05+00, 2026-01-02 08:05+00)'), (2, 'empty'), (3, NULL);
    CREATE TABLE orders (
        id {t} PRIMARY KEY,
        n int,
        is_of_january boolean GENERATED ALWAYS AS (id <@ tstzrange '[2026-01-01 00:00+00, 2026-02-01 00:00+00)') STORED,
        CHECK (tstzrange '[2025-01-01 00:00+00,)' @> id)
    );
    CREATE TABLE log (n int);
    CREATE VIEW of_january AS SELECT n FROM orders WHERE id <@ {january};
    CREATE VIEW mirrored AS SELECT n FROM orders WHERE {literal}::tstzrange @> id;
    CREATE VIEW untyped AS SELECT n FROM orders WHERE id <@ {literal};
    CREATE VIEW of_any AS SELECT n FROM orders WHERE id <@ ANY (ARRAY[{january}, 'empty'::tstzrange]);
    CREATE VIEW by_shift AS SELECT orders.n FROM shifts JOIN orders ON id <@ during;
    CREATE VIEW as_case AS SELECT count(*) FILTER (WHERE CASE WHEN n > 5 THEN id <@ {january} END) FROM orders;
    CREATE VIEW by_name AS SELECT n FROM orders WHERE scru_internal.{t}_contained_by_range(id, {literal});
    CREATE MATERIALIZED VIEW stored AS SELECT n FROM orders WHERE id <@ {literal};
    CREATE RULE logging AS ON UPDATE TO orders WHERE NEW.id <@ {january} DO ALSO INSERT INTO log VALUES (NEW.n);
    CREATE FUNCTION number(during tstzrange) RETURNS bigint LANGUAGE sql STABLE
        BEGIN ATOMIC SELECT count(*) FROM orders WHERE id <@ during; END;
    CREATE FUNCTION as_text(during tstzrange) RETURNS bigint LANGUAGE sql STABLE SET search_path = {t}, public
        AS 'SELECT count(*) FROM orders WHERE during @> id';
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END';
    CREATE TRIGGER refusing BEFORE DELETE ON orders FOR EACH ROW WHEN (OLD.id <@ {literal}) EXECUTE FUNCTION refuse();
    CREATE TABLE secured AS SELECT * FROM orders;
    CREATE INDEX secured_id ON secured (id);
    ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
    CREATE POLICY january ON secured USING (id <@ {january});
    CREATE TABLE unkeyed AS SELECT id, n FROM orders;
    CREATE INDEX partial ON unkeyed (n) WHERE id <@ {literal};
    CREATE INDEX partial_mirrored ON unkeyed (n) WHERE tstzrange '[2026-01-20 00:00+00,)' @> id;
    CREATE INDEX expression ON unkeyed ((id <@ tstzrange {literal} AND n > 0));
    CREATE STATISTICS orders_statistics ON (id <@ tstzrange {literal}), n FROM orders;
    CREATE OPERATOR ~> (
        LEFTARG = {t}, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.{t}_contained_by_range);
    CREATE VIEW by_other_operator AS SELECT n FROM orders WHERE id ~> {literal}::tstzrange;
    GRANT USAGE ON SCHEMA {t} TO reader_of_january;
    GRANT SELECT ON ALL TABLES IN SCHEMA {t} TO reader_of_january;
    INSERT INTO orders
        SELECT {t}_lower('2026-01-01 00:00+00'::timestamptz + n * interval '20 minutes'), n
        FROM generate_series(1, 3000) AS n;
    INSERT INTO unkeyed SELECT id, n FROM orders;
    INSERT INTO secured SELECT id, n FROM orders;
    REFRESH MATERIALIZED VIEW stored;
    ANALYZE
"""

# The index that must be in the plan; None if there is no such index.
QUERIES = {
    "SELECT * FROM of_january": "orders_pkey",
    "SELECT * FROM mirrored": "orders_pkey",
    "SELECT * FROM untyped": "orders_pkey",
    "SELECT * FROM of_any": None,
    "SELECT * FROM by_shift": "orders_pkey",
    "SELECT * FROM as_case": None,
    "SELECT * FROM by_name": "orders_pkey",
    "SELECT * FROM stored": None,
    "SELECT * FROM by_other_operator": "orders_pkey",
    "SELECT * FROM secured": "secured_id",
    f"SELECT number({JANUARY})": None,
    f"SELECT as_text({JANUARY})": None,
    f"SELECT n FROM orders WHERE id <@ {LITERAL}": "orders_pkey",
    f"SELECT n FROM orders WHERE {LITERAL} @> id": "orders_pkey",
    f"SELECT n FROM unkeyed WHERE id <@ {LITERAL}": "partial",
    f"SELECT n FROM unkeyed WHERE id <@ {LITERAL}::tstzrange": "partial",
    "SELECT n FROM unkeyed WHERE tstzrange '[2026-01-20 00:00+00,)' @> id": "partial_mirrored",
    f"SELECT n FROM unkeyed WHERE (id <@ tstzrange {LITERAL} AND n > 0) IS TRUE": None,
    "SELECT n FROM orders WHERE is_of_january": None,
}


def results(connection: psycopg.Connection) -> dict[tuple[str, str], list]:
    """Returns the rows of each query for each type. Another role than the owner reads what the policy allows."""
    found = {}
    for id_type in TYPES:
        connection.execute(f"SET search_path = {id_type}, public; SET ROLE reader_of_january")
        for query in ("SELECT n FROM secured", "SELECT * FROM untyped"):
            found[f"{query} as reader", id_type.name] = sorted(connection.execute(query).fetchall())
        connection.execute("RESET ROLE")
        for query in QUERIES:
            found[query, id_type.name] = sorted(connection.execute(query).fetchall())
    return found


def check_plans(connection: psycopg.Connection, id_type: IdType) -> None:
    """Checks that each query uses its index."""
    connection.execute(f"SET search_path = {id_type}, public")
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL enable_seqscan = off")
        for query, index in QUERIES.items():
            if index == "secured_id":
                connection.execute("SET LOCAL ROLE reader_of_january")
            plan = explain(connection, query)
            connection.execute("SET LOCAL ROLE NONE")
            assert index is None or index in plan, f"{query}\n{plan}"


def check_changes(connection: psycopg.Connection, id_type: IdType) -> None:
    """Checks the rule, the trigger, the constraint and the generated column with new rows."""
    t = id_type.name
    connection.execute(f"SET search_path = {t}, public")
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE orders SET n = n WHERE n IN (10, 2999)")
        assert connection.execute("SELECT n FROM log").fetchall() == [(10,)]
        assert connection.execute("DELETE FROM orders WHERE n = 1").rowcount == 1
        insert = f"INSERT INTO orders VALUES ({t}_lower(%s), 0) RETURNING is_of_january"
        assert connection.execute(insert, ["2026-01-05 00:00:10+00"]).fetchone() == (True,)
        assert connection.execute(insert, ["2026-03-05 00:00:10+00"]).fetchone() == (False,)
        with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
            connection.execute(insert, ["2024-12-31 00:00:10+00"])
        with pytest.raises(psycopg.errors.RaiseException), connection.transaction():
            connection.execute("DELETE FROM orders")


def test_a_dump_restores_objects_with_conditions_on_time(server, new_database):
    """The restored objects give the same results as the dumped ones, with the same indexes."""
    source, target = new_database(), new_database(extension=False)
    with source.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader_of_january; CREATE ROLE reader_of_january")
        for id_type in TYPES:
            connection.execute(OBJECTS.format(t=id_type, january=JANUARY, literal=LITERAL))
        before = results(connection)
        assert len(before["SELECT * FROM untyped", "scru64"]) == 144
        assert all(before.values())
        for id_type in TYPES:
            check_plans(connection, id_type)
            check_changes(connection, id_type)
    server.psql(target.name, server.pg_dump(source.name))
    with target.connect() as restored:
        assert results(restored) == before
        for id_type in TYPES:
            check_plans(restored, id_type)
            check_changes(restored, id_type)
