"""IDs that were made elsewhere: what is timely, and what the guard refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

import expect
from faults import Pauses
from idtypes import TYPES
from server import MAJOR, oldest_and_newest, wait_until

pytestmark = oldest_and_newest("triggers have the same interface on all versions")

AGAIN = "Generate a new ID and insert the row again, or give the guard and all readers a longer lag."
MISUSED = (
    "scru_feed_guard() must be called as a trigger AFTER INSERT OR UPDATE FOR EACH ROW with one to three arguments"
)
WHEN = "WHEN (NOT uuidv7_is_timely(NEW.id, '5 s'))"
CHANGED = "WHEN (NEW.id IS DISTINCT FROM OLD.id AND NOT uuidv7_is_timely(NEW.id, '5 s'))"
EXECUTE = "EXECUTE FUNCTION scru_feed_guard('id', '5 s')"


def made(age: str) -> str:
    """Returns the expression for a UUID that was made an interval ago."""
    return f"gen_uuidv7(clock_timestamp() - interval '{age}')"


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a guarded table."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE EXTENSION scru_uuidv7")
    connection.execute("CREATE TABLE events (id uuid PRIMARY KEY, note text)")
    connection.execute(f"CREATE TRIGGER guard AFTER INSERT ON events FOR EACH ROW {WHEN} {EXECUTE}")
    connection.execute(f"CREATE TRIGGER guard_update AFTER UPDATE ON events FOR EACH ROW {CHANGED} {EXECUTE}")
    return connection


def count(feed: psycopg.Connection, table: str = "events") -> int:
    return feed.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


# ------------------------------------------------------------------------------------------------------------ is_timely


@pytest.mark.parametrize("system", [id_type.name for id_type in TYPES] + ["uuidv7"])
def test_an_id_is_timely_from_the_lag_before_the_transaction_to_a_second_after_the_lag(connection, system):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    ages = ["0 s", "4 s", "6 s", "-5 s", "-8 s"]
    ids = [f"{system}_is_timely({system}_lower(clock_timestamp() - interval '{age}'), '5 s')" for age in ages]
    query = f"SELECT {', '.join(ids)}, {system}_is_timely(gen_{system}()), {system}_is_timely(NULL)"
    # The first ID of the tick that begins after a time can be of a tick later.
    assert connection.execute(query).fetchone() == (True, True, False, True, False, True, False)


def test_a_transaction_publishes_when_it_asks(feed, database):
    with database.connect() as writer:
        writer.execute("BEGIN")
        assert writer.execute(f"SELECT uuidv7_is_timely({made('1 s')}, '5 s')").fetchone() == (True,)
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(writer.info.backend_pid,)]
        writer.execute("ROLLBACK")


def test_only_version_7_is_timely(feed):
    other = "overlay(gen_uuidv7()::text PLACING '4' FROM 15 FOR 1)::uuid"
    assert feed.execute(f"SELECT uuidv7_is_timely({other}, '1 year')").fetchone() == (False,)


def test_the_lag_is_neither_null_nor_negative(feed):
    for call in ("uuidv7_is_timely(gen_uuidv7(), {})", "uuidv7_horizon(gen_uuidv7(), {})"):
        with expect.error("22004", "the lag of a feed must not be null"):
            feed.execute("SELECT " + call.format("NULL"))
        with expect.error("22023", "the lag of a feed must not be negative"):
            feed.execute("SELECT " + call.format("interval '-1 us'"))


def test_own_ids_that_are_ahead_of_a_clock_that_was_set_back_are_refused(new_server, clock):
    """A session continues from its last ID. Those that are at most the lag and 1 s ahead are accepted."""
    with new_server(None, clock.environment).connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        for table, lag in (("strict", "0"), ("lenient", "5 s")):
            connection.execute(f"CREATE TABLE {table} (id uuid DEFAULT gen_uuidv7())")
            connection.execute(
                f"CREATE TRIGGER guard AFTER INSERT ON {table} FOR EACH ROW"
                f" WHEN (NOT uuidv7_is_timely(NEW.id, '{lag}')) EXECUTE FUNCTION scru_feed_guard(id, '{lag}')"
            )
        connection.execute("INSERT INTO strict DEFAULT VALUES")
        clock.shift(-5)
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="is too far ahead of the clock"):
            connection.execute("INSERT INTO strict DEFAULT VALUES")
        connection.execute("INSERT INTO lenient DEFAULT VALUES")
        clock.shift(0)
        connection.execute("INSERT INTO strict DEFAULT VALUES")
        assert (count(connection, "strict"), count(connection, "lenient")) == (2, 1)


@pytest.mark.parametrize("system", [id_type.name for id_type in TYPES] + ["uuidv7"])
def test_a_horizon_with_a_lag_is_that_much_earlier(connection, system):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    horizon = f"{system}_timestamp({system}_horizon({system}_lower('-infinity')"
    query = f"SELECT {horizon})) - {horizon}, '1 min'))"
    difference = connection.execute(query).fetchone()[0].total_seconds()
    assert abs(difference - 60) <= 0.256


# ---------------------------------------------------------------------------------------------------------------- guard


def test_the_guard_refuses_old_ids_and_names_table_column_time_and_remedy(feed):
    feed.execute(f"INSERT INTO events VALUES ({made('4 s')}), ({made('0 s')})")
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        feed.execute(f"INSERT INTO events VALUES ({made('6 s')})")
    diag = caught.value.diag
    assert diag.message_primary == 'the ID in column "id" of table "events" is too old for a feed'
    detail, hint = diag.message_detail, diag.message_hint
    start = "Readers may have passed it: this transaction can insert IDs from "
    assert detail.startswith(start)
    assert detail.endswith(" on.")
    assert hint == AGAIN
    first = detail.removeprefix(start).removesuffix(" on.")
    age = feed.execute("SELECT clock_timestamp() - %s::timestamptz", [first]).fetchone()[0].total_seconds()
    assert 5 <= age < 15
    assert count(feed) == 2


def test_the_guard_refuses_ids_of_the_future_null_and_other_versions(feed):
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="is too far ahead of the clock"):
        feed.execute(f"INSERT INTO events VALUES ({made('-10 s')})")
    feed.execute("ALTER TABLE events DROP CONSTRAINT events_pkey, ALTER id DROP NOT NULL")
    for value in ("NULL", "gen_random_uuid()"):
        with expect.error(
            "22023",
            'the value in column "id" of table "events" is not a uuidv7',
            "Readers of a feed receive rows in the order of their IDs.",
            "Insert the row with an ID, or let the default of the column generate it.",
        ):
            feed.execute(f"INSERT INTO events VALUES ({value})")
    assert count(feed) == 0


def test_the_guard_checks_the_stored_row_and_changed_keys(feed):
    feed.execute(f"INSERT INTO events VALUES ({made('4 s')})")
    feed.execute("UPDATE events SET note = 'kept', id = id")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too old"):
        feed.execute(f"UPDATE events SET id = {made('1 min')}")
    feed.execute(
        "CREATE FUNCTION older() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN NEW.id := {made('1 min')}; RETURN NEW; END $$"
    )
    feed.execute("CREATE TRIGGER zz BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION older()")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too old"):
        feed.execute("INSERT INTO events VALUES (gen_uuidv7())")


def test_the_guard_compares_with_what_was_loaded_after_publishing(new_server):
    """A writer pauses between its clock and its bound, while a reader passes the ID, which is after the bound."""
    pauses = Pauses()
    try:
        server = new_server(None, pauses.environment)
        with server.connect() as reader, server.connect() as writer, ThreadPoolExecutor(1) as pool:
            reader.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
            reader.execute("CREATE TABLE events (id uuid PRIMARY KEY)")
            reader.execute(
                "CREATE TRIGGER guard AFTER INSERT ON events FOR EACH ROW WHEN (NOT uuidv7_is_timely(NEW.id, '0'))"
                " EXECUTE FUNCTION scru_feed_guard('id', '0')"
            )
            pid = writer.info.backend_pid
            # Each reads the floor first.
            for session in (reader, writer):
                session.execute("SELECT gen_uuidv7(), uuidv7_horizon()")
            writer.execute("BEGIN")
            [late] = reader.execute("SELECT uuidv7_lower(clock_timestamp() + interval '2 s')").fetchone()
            pauses.begin(pid)
            try:
                is_timely = pool.submit(writer.execute, "SELECT uuidv7_is_timely(%s, '0')", [late])
                pauses.wait_until_reached(pid)
                passed = "SELECT uuidv7_horizon() > %s"
                wait_until(lambda: reader.execute(passed, [late]).fetchone()[0], "the reader passes the ID")
            finally:
                pauses.end(pid)
            assert is_timely.result(timeout=60).fetchone() == (False,)
            bound = "SELECT first_time < uuidv7_timestamp(%s) FROM scru_horizon_holders() WHERE pid = %s"
            assert reader.execute(bound, [late, pid]).fetchall() == [(True,)]
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="is too old for a feed"):
                writer.execute("INSERT INTO events VALUES (%s)", [late])
    finally:
        pauses.remove()


def test_idempotent_retries_are_accepted(feed):
    feed.execute("ALTER TABLE events DISABLE TRIGGER guard")
    [old] = feed.execute(f"INSERT INTO events VALUES ({made('1 min')}) RETURNING id").fetchone()
    feed.execute("ALTER TABLE events ENABLE TRIGGER guard")
    feed.execute("INSERT INTO events VALUES (%s) ON CONFLICT DO NOTHING", [old])
    feed.execute("INSERT INTO events VALUES (%s) ON CONFLICT (id) DO UPDATE SET note = 'again'", [old])
    feed.execute(
        "MERGE INTO events USING (SELECT %s::uuid AS id) AS new ON events.id = new.id"
        " WHEN MATCHED THEN UPDATE SET note = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (new.id)",
        [old],
    )
    assert feed.execute("TABLE events").fetchall() == [(old, "merged")]


def test_without_a_condition_the_guard_checks_by_itself(feed):
    feed.execute("CREATE TABLE plain (id uuid, note text)")
    feed.execute(f"CREATE TRIGGER guard AFTER INSERT OR UPDATE ON plain FOR EACH ROW {EXECUTE}")
    feed.execute(f"INSERT INTO plain VALUES ({made('4 s')}), ({made('0 s')})")
    feed.execute("UPDATE plain SET note = 'kept'")
    for statement in (f"INSERT INTO plain VALUES ({made('6 s')})", f"UPDATE plain SET id = {made('6 s')}"):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match='of table "plain" is too old'):
            feed.execute(statement)
    feed.execute("DROP TRIGGER guard ON plain")
    feed.execute(
        "CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON plain DEFERRABLE INITIALLY DEFERRED FOR EACH ROW " + EXECUTE
    )
    feed.execute("BEGIN")
    feed.execute(f"INSERT INTO plain VALUES ({made('6 s')})")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too old"):
        feed.execute("COMMIT")


@pytest.mark.parametrize(
    ("column", "system", "own"),
    [
        ("scru64", None, "gen_scru64()"),
        ("ulid", "ulid", "gen_ulid()"),
        ("uuid", None, "gen_uuidv7()"),
        ("uuid", "scru128", "gen_scru128()"),
        ("bigint", "ulidflake", "gen_ulidflake()"),
    ],
)
def test_the_guard_knows_the_ids_of_each_column(connection, column, system, own):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    connection.execute(f"CREATE DOMAIN key AS {column}")
    connection.execute(f"CREATE TABLE guarded (id key DEFAULT {own}::{column}, note text) PARTITION BY HASH (note)")
    connection.execute("CREATE TABLE part PARTITION OF guarded FOR VALUES WITH (MODULUS 1, REMAINDER 0)")
    arguments = "id, '0'" + (f", {system}" if system else "")
    execute = f"EXECUTE FUNCTION scru_feed_guard({arguments})"
    connection.execute(f"CREATE TRIGGER g AFTER INSERT ON guarded FOR EACH ROW {execute}")
    connection.execute("INSERT INTO guarded DEFAULT VALUES")
    [old] = connection.execute("SELECT id FROM guarded").fetchone()
    name = system or {"uuid": "uuidv7"}.get(column, column)
    passed = f"SELECT {name}_horizon()::{column} > %s"
    wait_until(lambda: connection.execute(passed, [old]).fetchone()[0], "the horizon passes the row")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match='of table "part" is too old'):
        connection.execute("INSERT INTO guarded VALUES (%s)", [old])
    assert count(connection, "guarded") == 1


SHAPES = [
    "BEFORE INSERT ON {} FOR EACH ROW",
    "BEFORE UPDATE ON {} FOR EACH ROW",
    "AFTER INSERT ON {} FOR EACH STATEMENT",
    "AFTER DELETE ON {} FOR EACH ROW",
    "AFTER DELETE ON {} FOR EACH STATEMENT",
    "BEFORE TRUNCATE ON {} FOR EACH STATEMENT",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_another_shape_raises_39p01_with_the_statement_to_write(feed, shape):
    feed.execute('CREATE TABLE "Odd" ("Key" bigint, note text)')
    feed.execute('INSERT INTO "Odd" VALUES (1)')
    shaped = shape.format('"Odd"')
    feed.execute(f"CREATE TRIGGER g {shaped} EXECUTE FUNCTION scru_feed_guard('Key', '5 s', 'scru64')")
    hint = (
        'CREATE TRIGGER guard AFTER INSERT ON public."Odd" FOR EACH ROW'
        """ WHEN (NOT scru64_is_timely(NEW."Key"::scru64, '5 s'))"""
        """ EXECUTE FUNCTION scru_feed_guard("Key", '5 s', scru64);"""
    )
    statements = ('INSERT INTO "Odd" VALUES (2)', 'UPDATE "Odd" SET note = 1', 'DELETE FROM "Odd"', 'TRUNCATE "Odd"')
    for statement in statements:
        if statement.split()[0] in shape:
            with expect.error("39P01", MISUSED, None, hint):
                feed.execute(statement)


def test_the_statement_to_write_names_the_schema_and_quotes_the_lag(feed):
    """The search path has another table with the name."""
    feed.execute('CREATE SCHEMA "My s"; CREATE TABLE "My s".events (id uuid)')
    shape = 'BEFORE INSERT ON "My s".events FOR EACH ROW'
    feed.execute(f"CREATE TRIGGER g {shape} EXECUTE FUNCTION scru_feed_guard(id, '5 s''')")
    hint = (
        'CREATE TRIGGER guard AFTER INSERT ON "My s".events FOR EACH ROW'
        " WHEN (NOT uuidv7_is_timely(NEW.id, '5 s''')) EXECUTE FUNCTION scru_feed_guard(id, '5 s''');"
    )
    with expect.error("39P01", MISUSED, None, hint):
        feed.execute('INSERT INTO "My s".events VALUES (gen_uuidv7())')
    feed.execute(f'DROP TRIGGER g ON "My s".events; {hint}')
    query = "SELECT tgrelid::regclass::text, tgargs FROM pg_trigger WHERE tgname = 'guard'"
    [created] = feed.execute(f"{query} AND tgrelid <> 'events'::regclass").fetchall()
    assert created == ('"My s".events', b"id\x005 s'\x00")


@pytest.mark.parametrize("arguments", ["", "id, '0', uuidv7, more"])
def test_a_wrong_number_of_arguments_raises_39p01(feed, arguments):
    feed.execute("CREATE TABLE odd (id uuid)")
    feed.execute(f"CREATE TRIGGER g AFTER INSERT ON odd FOR EACH ROW EXECUTE FUNCTION scru_feed_guard({arguments})")
    with pytest.raises(psycopg.errors.TriggerProtocolViolated):
        feed.execute("INSERT INTO odd VALUES (gen_uuidv7())")


NO_COLUMNS = ["id, '0'", "id, '0', scru128", "id, '0', int8", "gone, '0', scru64", "ctid, '0'"]


@pytest.mark.parametrize("arguments", NO_COLUMNS)
def test_a_column_without_ids_raises_42703(feed, arguments):
    feed.execute("CREATE TABLE odd (id bigint, gone bigint)")
    feed.execute("ALTER TABLE odd DROP gone")
    feed.execute(f"CREATE TRIGGER g AFTER INSERT ON odd FOR EACH ROW EXECUTE FUNCTION scru_feed_guard({arguments})")
    with expect.error(
        "42703",
        f'column "{arguments.split(",")[0]}" is not a stored column of an ID type of scru',
        hint="For a column of type uuid or bigint, name the ID system in a third argument of the trigger.",
    ):
        feed.execute("INSERT INTO odd VALUES (1)")


def test_a_generated_column_and_a_bad_lag(feed):
    feed.execute("CREATE TABLE odd (made uuid, id uuid GENERATED ALWAYS AS (made) STORED)")
    feed.execute(f"CREATE TRIGGER g AFTER INSERT ON odd FOR EACH ROW {EXECUTE}")
    feed.execute("INSERT INTO odd VALUES (gen_uuidv7())")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too old"):
        feed.execute(f"INSERT INTO odd VALUES ({made('6 s')})")
    for lag, sqlstate in (("soon", "22007"), ("-1 s", "22023"), ("infinity", None)):
        feed.execute("DROP TRIGGER g ON odd")
        feed.execute(f"CREATE TRIGGER g AFTER INSERT ON odd FOR EACH ROW EXECUTE FUNCTION scru_feed_guard(id, '{lag}')")
        if sqlstate or MAJOR < 17:
            with pytest.raises(psycopg.Error) as caught:
                feed.execute("INSERT INTO odd VALUES (gen_uuidv7())")
            assert caught.value.sqlstate == (sqlstate or "22007")
        else:
            feed.execute("INSERT INTO odd VALUES (gen_uuidv7())")


def test_a_session_of_citus_on_a_shard_has_no_horizon(feed):
    assert feed.execute("SELECT uuidv7_horizon() IS NOT NULL").fetchone() == (True,)
    feed.execute("SET application_name = 'citus_internal gpid=10000000123'")
    for call in ("uuidv7_horizon()", "uuidv7_horizon(gen_uuidv7(), '5 s')"):
        with expect.error(
            "0A000",
            "cannot execute uuidv7_horizon() on a shard of Citus",
            "A node does not know which transactions run on the other nodes.",
            "Compute the minimum of the horizons of all nodes first, and pass it as a parameter.",
        ):
            feed.execute(f"SELECT {call}")
    # The guard works there.
    feed.execute(f"INSERT INTO events VALUES ({made('4 s')})")
    feed.execute("SET application_name = 'citus_run_command gpid=10000000123'")
    assert feed.execute("SELECT uuidv7_horizon() IS NOT NULL").fetchone() == (True,)
