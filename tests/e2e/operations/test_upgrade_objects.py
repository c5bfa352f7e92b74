"""Upgrades of the extension keep the objects of users: stored conditions stay consistent, and plans use the indexes."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import orders
from idtypes import SCRU64, SCRU128, TYPES, IdType, of_types
from load import background
from plans import explain
from server import oldest_and_newest, wait_until
from test_upgrade import each_earlier_release

# ------------------------------------------------------------------------------------------------------- ranges of time

# The objects use the operators <@ and @>, whose range operand became a domain in 0.3.0.

of_catalogs = oldest_and_newest("the changes of the catalogs are the same on all servers")

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
    CREATE VIEW by_name AS SELECT n FROM orders WHERE {t}_contained_by_range(id, {literal});
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
    CREATE OPERATOR ~> (LEFTARG = {t}, RIGHTARG = {operand}, FUNCTION = {t}_contained_by_range);
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


@of_catalogs
@each_earlier_release
def test_objects_with_ranges_of_time_survive(server, new_database, plain_user, version):
    """The owner of the database, who is no superuser, upgrades the extension. All objects give the same results as
    before, with the same indexes, in another session as well. They can be dumped and restored."""
    with server.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader_of_january; CREATE ROLE reader_of_january")
        connection.execute(f"GRANT reader_of_january TO {plain_user}")
    source, target = new_database(extension=False, owner=plain_user), new_database(extension=False)
    with source.connect(user=plain_user) as connection:
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        for id_type in TYPES:
            connection.execute(OBJECTS.format(t=id_type, january=JANUARY, literal=LITERAL, operand="tstzrange"))
        before = results(connection)
        assert len(before["SELECT * FROM untyped", "scru64"]) == 144
        assert all(rows for (query, _), rows in before.items() if "log" not in query)
        for id_type in TYPES:
            check_plans(connection, id_type)

        with source.connect(user=plain_user) as other:
            other.execute("ALTER EXTENSION scru UPDATE")
            for session in other, connection:
                assert results(session) == before
                for id_type in TYPES:
                    check_plans(session, id_type)
                    check_changes(session, id_type)

    server.psql(target.name, server.pg_dump(source.name))
    with target.connect() as restored:
        assert results(restored) == before
        for id_type in TYPES:
            check_plans(restored, id_type)
            check_changes(restored, id_type)
    with server.connect() as connection:
        connection.execute(f"REVOKE reader_of_january FROM {plain_user}")


@of_catalogs
@each_earlier_release
def test_an_old_dump_with_an_operator_of_a_user_is_restored_with_its_version(server, new_database, version):
    """The dump names the type of the operand, which is another one in the current version. Restored into the version
    of the dump and then updated, the operator and a view on it have the same result and use the index."""
    source, target, remedied = (new_database(extension=False) for _ in range(3))
    with source.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader_of_january; CREATE ROLE reader_of_january")
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        for id_type in TYPES:
            connection.execute(OBJECTS.format(t=id_type, january=JANUARY, literal=LITERAL, operand="tstzrange"))
        before = results(connection)
    dump = server.pg_dump(source.name)
    with pytest.raises(RuntimeError, match=r"function public\.\w+_contained_by_range\(.*, tstzrange\) does not exist"):
        server.psql(target.name, dump)
    with remedied.connect() as connection:
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        server.psql(remedied.name, dump)
        connection.execute("ALTER EXTENSION scru UPDATE")
        assert results(connection) == before
        for id_type in TYPES:
            check_plans(connection, id_type)


# ----------------------------------------------------------------------------- comparisons that truncate times to ticks

# Within a tick of every type, and of scru64 also without the fraction of a second.
BOUND = "timestamptz '2026-01-01 01:00:00.0005+00'"
OPERATIONS = (Path(__file__).parents[3] / "docs/operations.md").read_text()
[LIST_INDEXES] = re.findall(r"^To list the indexes before the update:\n\n```sql\n(.*?)^```$", OPERATIONS, re.M | re.S)
CHANGED = "compares an ID with a time, which is by tick now"


def count(connection: psycopg.Connection, condition: str) -> int:
    """Returns the number of rows that satisfy a condition."""
    return connection.execute(f"SELECT count(*) FROM orders WHERE n > 0 AND {condition}").fetchone()[0]


def create(connection: psycopg.Connection, t: str, has_comparisons: bool) -> dict[str, str]:
    """Creates a table with four rows in each of 200 ticks, one of which contains BOUND, and objects with conditions on
    BOUND. Returns the indexes with their conditions."""
    after, before = f"id <@ tstzrange({BOUND}, NULL)", f"tstzrange(NULL, {BOUND}) @> id"
    indexes = {"after_in_range": after, "before_in_range": before}
    if has_comparisons:
        between = f"id BETWEEN {BOUND} AND timestamptz 'infinity'"
        indexes |= {"after": f"id >= {BOUND}", "before": f"{BOUND} > id", "within": between}
    id_ = f"({t}_upper(at)::bigint - n % 4)::{t}" if t == "scru64" else f"gen_{t}(at)"
    connection.execute(
        f"""
        CREATE TABLE orders (
            id {t}, n integer, is_after boolean GENERATED ALWAYS AS ({after}) STORED,
            CONSTRAINT not_much_earlier CHECK (id <@ tstzrange({BOUND} - interval '1 day', NULL))
        );
        INSERT INTO orders
            SELECT {id_}, n FROM generate_series(1, 800) AS n,
                CAST({BOUND} + ((n - 1) / 4 - 100) * interval '{256 if t == "scru64" else 1} ms' AS timestamptz) AS at;
        CREATE FUNCTION is_after({t}) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN $1 <@ tstzrange({BOUND}, NULL);
        CREATE TABLE copies AS SELECT id, n FROM orders;
        CREATE INDEX by_function ON copies (is_after(id));
        CREATE INDEX by_expression ON copies (({after}));
        CREATE INDEX unrelated ON orders (n) WHERE id > '{"0" * (12 if t == "scru64" else 25)}';
        CREATE POLICY recent ON orders USING ({after});
        CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER late BEFORE UPDATE ON orders FOR EACH ROW WHEN ({after.replace("id", "NEW.id", 1)})
            EXECUTE FUNCTION nothing();
        CREATE DOMAIN recent_id AS {t} CHECK ({after.replace("id", "VALUE", 1)});
        CREATE MATERIALIZED VIEW recent_orders AS SELECT n FROM orders WHERE {after};
        CREATE VIEW all_recent AS SELECT n FROM orders WHERE {after}
        """
    )
    for name, condition in indexes.items():
        connection.execute(f'CREATE INDEX "{name}" ON orders (n) WHERE {condition}')
    connection.execute("ANALYZE orders")
    return indexes


@of_types([SCRU64, SCRU128])
@each_earlier_release
def test_stored_conditions_after_an_upgrade(new_database, version, id_type):
    """Before the upgrade, the new library compares exact times. After it, indexes give the same answers as sequential
    scans, also in a session that has used them before. The update names what depends on a changed comparison."""
    t = id_type.name
    database = new_database(extension=False)
    with database.connect() as connection, database.connect() as other:
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        indexes = create(connection, t, has_comparisons=version != "0.1.0")
        [(exact,)] = connection.execute(f"SELECT count(*) FROM orders WHERE {t}_timestamp(id) >= {BOUND}")
        tick = f"{t}_timestamp({t}_upper({BOUND}))"
        [(by_tick,)] = connection.execute(f"SELECT count(*) FROM orders WHERE {t}_timestamp(id) >= {tick}")
        assert by_tick == exact + 4
        for session in connection, other:
            session.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
            session.execute("SET plan_cache_mode = force_generic_plan")
            for name, condition in indexes.items():
                assert name in explain(session, f"SELECT FROM orders WHERE n > 0 AND {condition}")
                assert count(session, condition) == (800 - exact if name.startswith("before") else exact)
            session.execute(f"PREPARE after AS SELECT count(*) FROM orders WHERE {indexes['after_in_range']}")
            assert session.execute("EXECUTE after").fetchone() == (exact,)

        listed = connection.execute(LIST_INDEXES.replace("objid::regclass", "objid::regclass::text", 1)).fetchall()
        assert {name for (name,) in listed} == {*indexes, "by_expression", "by_function"}

        told = []
        connection.add_notice_handler(
            lambda notice: told.append((notice.severity, notice.message_primary, notice.message_hint))
        )
        connection.execute("ALTER EXTENSION scru UPDATE")
        rebuilt = [f"index {name} has been rebuilt" for name in (*indexes, "by_expression", "by_function")]
        rebuilt = {re.sub("index (after|before|within)", r"index public.\1", text) for text in rebuilt}
        rebuilt = {text.replace("index by", "index public.by") for text in rebuilt}
        warned = {
            "constraint not_much_earlier on table public.orders",
            "constraint recent_id_check on domain public.recent_id",
            "default value for column is_after of table public.orders",
            "policy recent on table public.orders",
            "rule _RETURN on materialized view public.recent_orders",
            "trigger late on table public.orders",
        }
        assert {text for severity, text, _ in told if severity == "INFO"} == rebuilt
        warnings = {text: hint for severity, text, hint in told if severity == "WARNING"}
        assert warnings.keys() == {f"{name} {CHANGED}" for name in warned}
        assert all(warnings.values()), "each warning has a HINT"

        for session in connection, other:
            assert session.execute("EXECUTE after").fetchone() == (by_tick,)
            for name, condition in indexes.items():
                expected = 800 - by_tick if name.startswith("before") else by_tick
                assert "Seq Scan" not in explain(session, f"SELECT FROM orders WHERE n > 0 AND {condition}")
                assert count(session, condition) == expected
                # Several indexes can have equivalent predicates now.
                with session.transaction(force_rollback=True):
                    session.execute(f"DROP INDEX {', '.join(other for other in indexes if other != name)}")
                    assert name in explain(session, f"SELECT FROM orders WHERE n > 0 AND {condition}")
                    assert count(session, condition) == expected
                with session.transaction(force_rollback=True):
                    session.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off")
                    assert "Seq Scan" in explain(session, f"SELECT FROM orders WHERE n > 0 AND {condition}")
                    assert count(session, condition) == expected
            for index, expression in ("by_function", "is_after(id)"), ("by_expression", indexes["after_in_range"]):
                query = f"SELECT count(*) FROM copies WHERE ({expression}) = true"
                with session.transaction(force_rollback=True):
                    session.execute(f"DROP INDEX {'by_expression' if index == 'by_function' else 'by_function'}")
                    assert index in explain(session, query)
                    assert session.execute(query).fetchone() == (by_tick,)
        connection.execute("UPDATE orders SET id = id; REFRESH MATERIALIZED VIEW recent_orders")
        assert count(connection, "is_after") == by_tick
        assert connection.execute("SELECT count(*) FROM recent_orders").fetchone() == (by_tick,)


def test_the_upgrade_locks_tables_and_does_not_look_into_text(new_database):
    """Reads and writes wait while an index is rebuilt. REINDEX corrects an index on a function in PL/pgSQL."""
    database = new_database(extension=False)
    with database.connect() as connection, database.connect() as writer, database.connect() as reader:
        connection.execute(
            f"""CREATE EXTENSION scru VERSION '0.2.0';
                CREATE TABLE orders (id scru64);
                INSERT INTO orders SELECT scru64_upper({BOUND}) FROM generate_series(1, 3);
                CREATE INDEX rebuilt ON orders (id) WHERE id >= {BOUND};
                CREATE FUNCTION is_after(scru64) RETURNS boolean IMMUTABLE LANGUAGE plpgsql
                    SET search_path = public AS $$ BEGIN RETURN $1 >= {BOUND}; END $$;
                CREATE INDEX in_text ON orders (is_after(id));
                CREATE TABLE others (id scru64)"""
        )
        told = []
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        connection.execute("BEGIN; ALTER EXTENSION scru UPDATE")
        assert told == ["index public.rebuilt has been rebuilt"]
        with ExitStack() as stack:
            waiting = []
            for session, statement in (writer, "INSERT INTO {} VALUES (NULL)"), (reader, "SELECT count(*) FROM {}"):
                session.execute(statement.format("others"))
                waiting.append(stack.enter_context(background(session, statement.format("orders"))))
                event = f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {session.info.backend_pid}"
                wait_until(lambda event=event: database.server.value(event) == "Lock", "the session waits")
            connection.execute("COMMIT")
            for result in waiting:
                result.result(timeout=60)
    with database.connect() as connection:
        connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        query = "SELECT count(*) FROM orders WHERE is_after(id)"
        assert "in_text" in explain(connection, query)
        assert connection.execute(query).fetchone() == (0,)
        connection.execute("REINDEX INDEX in_text")
        assert connection.execute(query).fetchone() == (3,)


@of_types([SCRU64, SCRU128])
def test_a_unique_index_that_would_get_duplicates_prevents_the_upgrade(new_database, id_type):
    """The error is that of REINDEX, and names the index and the key. Nothing is changed."""
    t = id_type.name
    with new_database(extension=False).connect() as connection:
        connection.execute(
            f"""CREATE EXTENSION scru VERSION '0.2.0';
                CREATE TABLE orders (id {t}, n integer);
                INSERT INTO orders SELECT {t}_upper({BOUND}), 7 FROM generate_series(1, 2);
                CREATE UNIQUE INDEX one ON orders (n) WHERE id >= {BOUND}"""
        )
        with pytest.raises(psycopg.errors.UniqueViolation, match='could not create unique index "one"'):
            connection.execute("ALTER EXTENSION scru UPDATE")
        assert connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'scru'").fetchone() == ("0.2.0",)
        assert connection.execute(f"SELECT count(*) FROM orders WHERE id >= {BOUND}").fetchone() == (0,)


# ---------------------------------------------------------------------------------------------- BRIN indexes on domains

# pg_partman's recipe in docs/ask-by-time.md creates them.

of_operator_classes = oldest_and_newest("the catalogs of operator classes are the same on all servers")


@of_operator_classes
def test_domains_have_brin_indexes(connection):
    """Each operator class indexes a domain over each type, before and after its index is summarized."""
    orders.create_brin_on_domains(connection)
    orders.check_brin_on_domains(connection)
    connection.execute("CREATE INDEX built ON brin.scru128_orders USING brin (minmax)")
    connection.execute("SELECT brin_summarize_new_values('brin.built')")


@of_operator_classes
@each_earlier_release
def test_an_upgrade_repairs_brin_indexes_on_domains(new_database, version):
    """With the SQL of an older version, an INSERT into a column of a domain fails if it has a BRIN index. The upgrade
    repairs existing indexes."""
    with new_database(extension=False).connect() as connection:
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        orders.create_brin_on_domains(connection)
        for t in TYPES:
            with pytest.raises(psycopg.errors.InternalError_, match="missing operator 1"):
                for hour in range(1, 3):
                    connection.execute(
                        f"INSERT INTO brin.{t}_orders (minmax) VALUES (timestamptz '2026-01-01 0{hour}:00+00'::{t})"
                    )
        connection.execute("ALTER EXTENSION scru UPDATE")
        orders.check_brin_on_domains(connection)
