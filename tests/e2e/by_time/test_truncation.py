"""An upgrade to comparisons that truncate times to ticks: conditions that are stored in a database keep their answers
consistent."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, of_types
from load import background
from plans import explain
from server import wait_until
from test_upgrade import each_earlier_release

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
