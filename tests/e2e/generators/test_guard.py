"""IDs generated elsewhere: what is timely, and what the guard refuses."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import psycopg
import pytest

import expect
from faults import Pauses
from server import MAJOR, wait_until

AHEAD = "Correct the clock of the machine that generated the ID."
AGAIN = "Generate a new ID and insert the row again, or give the guard and all readers a longer lag."
MISUSED = (
    "scru_feed_guard() must be called as a trigger AFTER INSERT OR UPDATE FOR EACH ROW with two or three arguments",
    "The trigger must have neither a list of columns nor a condition, and the table must not be a foreign one.",
)


def guard(table: str, arguments: str = "'id', '5 s'", name: str = "guard") -> str:
    """Returns the statement that guards a table."""
    return (
        f"CREATE TRIGGER {name} AFTER INSERT OR UPDATE ON {table} FOR EACH ROW"
        f" EXECUTE FUNCTION scru_feed_guard({arguments})"
    )


def made(age: str) -> str:
    """Returns the expression for a UUID that was made an interval ago."""
    return f"gen_uuidv7(clock_timestamp() - interval '{age}')"


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a guarded table."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE EXTENSION scru_uuidv7")
    connection.execute("CREATE TABLE events (id uuid PRIMARY KEY, note text)")
    connection.execute(guard("events"))
    return connection


def count(feed: psycopg.Connection, table: str = "events") -> int:
    return feed.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


each_system = pytest.mark.parametrize("system", ["scru64", "scru128", "uuidv7"])


@each_system
def test_an_id_is_timely_from_the_lag_before_the_transaction_to_a_second_after_the_lag(connection, system):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    connection.execute(f"CREATE TABLE guarded (id {'uuid' if system == 'uuidv7' else system})")
    connection.execute(guard("guarded"))
    # The first ID of the tick that begins after a time can be of a tick later.
    for age, remedy in (("0 s", None), ("4 s", None), ("6 s", AGAIN), ("-5 s", None), ("-8 s", AHEAD)):
        insert = f"INSERT INTO guarded VALUES ({system}_lower(clock_timestamp() - interval '{age}'))"
        if remedy is None:
            connection.execute(insert)
        else:
            with pytest.raises(psycopg.errors.CheckViolation) as caught:
                connection.execute(insert)
            assert caught.value.diag.message_hint == remedy
    connection.execute(f"INSERT INTO guarded VALUES (gen_{system}())")


def test_a_transaction_publishes_at_its_first_guarded_row(feed, database):
    with database.connect() as writer:
        writer.execute("BEGIN")
        writer.execute("INSERT INTO events VALUES (%s)", feed.execute(f"SELECT {made('1 s')}").fetchone())
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(writer.info.backend_pid,)]
        writer.execute("ROLLBACK")


def test_the_lag_of_a_horizon_is_neither_null_nor_negative(feed):
    with expect.error("22004", "the lag of a feed must not be null"):
        feed.execute("SELECT uuidv7_horizon(gen_uuidv7(), NULL)")
    with expect.error("22023", "the lag of a feed must not be negative"):
        feed.execute("SELECT uuidv7_horizon(gen_uuidv7(), interval '-1 us')")


@each_system
def test_a_horizon_with_a_lag_is_that_much_earlier(connection, system):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    horizon = f"{system}_timestamp({system}_horizon({system}_lower('-infinity')"
    query = f"SELECT {horizon})) - {horizon}, '1 min'))"
    assert abs(connection.execute(query).fetchone()[0].total_seconds() - 60) <= 0.256


def test_the_guard_refuses_old_ids_and_names_table_column_time_and_remedy(feed):
    feed.execute(f"INSERT INTO events VALUES ({made('4 s')}), ({made('0 s')})")
    with pytest.raises(psycopg.errors.CheckViolation) as caught:
        feed.execute(f"INSERT INTO events VALUES ({made('6 s')})")
    diag = caught.value.diag
    assert diag.message_primary == 'the ID in column "id" of table "events" is too old for a feed'
    assert (diag.schema_name, diag.table_name, diag.column_name) == ("public", "events", "id")
    assert diag.constraint_name == "guard"
    assert diag.message_hint == AGAIN
    detail = r"Readers may have passed it: this transaction can insert IDs from (.*) on\."
    [first] = re.fullmatch(detail, diag.message_detail).groups()
    age = feed.execute("SELECT clock_timestamp() - %s::timestamptz", [first]).fetchone()[0].total_seconds()
    assert 5 <= age < 15
    assert count(feed) == 2


def test_the_guard_refuses_ids_of_the_future_null_and_other_versions(feed):
    with pytest.raises(psycopg.errors.CheckViolation, match="is too far ahead of the clock"):
        feed.execute(f"INSERT INTO events VALUES ({made('-10 s')})")
    feed.execute("ALTER TABLE events DROP CONSTRAINT events_pkey, ALTER id DROP NOT NULL")
    for value in ("NULL", "gen_random_uuid()"):
        with expect.error(
            "23514",
            'the value in column "id" of table "events" is not a uuidv7',
            "Readers of a feed receive rows in the order of their IDs.",
            "Insert the row with an ID, or let the default of the column generate it.",
        ):
            feed.execute(f"INSERT INTO events VALUES ({value})")
    assert count(feed) == 0


def test_the_guard_checks_the_stored_row_and_changed_keys(feed):
    feed.execute(f"INSERT INTO events VALUES ({made('4 s')})")
    feed.execute("UPDATE events SET note = 'kept', id = id")
    with pytest.raises(psycopg.errors.CheckViolation, match="too old"):
        feed.execute(f"UPDATE events SET id = {made('1 min')}")
    feed.execute(
        "CREATE FUNCTION older() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN NEW.id := {made('1 min')}; RETURN NEW; END $$"
    )
    feed.execute("CREATE TRIGGER zz BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION older()")
    with pytest.raises(psycopg.errors.CheckViolation, match="too old"):
        feed.execute("INSERT INTO events VALUES (gen_uuidv7())")


def test_the_guard_compares_with_what_was_loaded_after_publishing(new_server):
    """A writer pauses between its clock and its bound, while a reader passes the ID, which is after the bound."""
    with Pauses() as pauses:
        server = new_server(None, pauses.environment)
        with server.connect() as reader, server.connect() as writer, ThreadPoolExecutor(1) as pool:
            reader.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
            reader.execute("CREATE TABLE events (id uuid PRIMARY KEY)")
            reader.execute(guard("events", "'id', '0'"))
            pid = writer.info.backend_pid
            # Each reads the floor first.
            for session in (reader, writer):
                session.execute("SELECT gen_uuidv7(), uuidv7_horizon()")
            writer.execute("BEGIN")
            [late] = reader.execute("SELECT uuidv7_lower(clock_timestamp() + interval '2 s')").fetchone()
            pauses.begin(pid)
            try:
                insert = pool.submit(writer.execute, "INSERT INTO events VALUES (%s)", [late])
                pauses.wait_until_reached(pid)
                passed = "SELECT uuidv7_horizon() > %s"
                wait_until(lambda: reader.execute(passed, [late]).fetchone()[0], "the reader passes the ID")
            finally:
                pauses.end(pid)
            with pytest.raises(psycopg.errors.CheckViolation, match="is too old for a feed"):
                insert.result(timeout=60)


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


def test_a_deferred_guard_checks_at_the_commit(feed):
    feed.execute("CREATE TABLE plain (id uuid, note text)")
    feed.execute(guard("plain").replace("TRIGGER", "CONSTRAINT TRIGGER").replace("FOR EACH", "DEFERRABLE FOR EACH"))
    feed.execute("BEGIN; SET CONSTRAINTS ALL DEFERRED")
    feed.execute(f"INSERT INTO plain VALUES ({made('6 s')})")
    with pytest.raises(psycopg.errors.CheckViolation, match="too old"):
        feed.execute("COMMIT")


def test_the_guard_remembers_its_column_by_number(feed):
    """An ID in a new column with the old name is no reason to accept one in the key that was renamed."""
    feed.execute("INSERT INTO events VALUES (gen_uuidv7())")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        feed.execute("ALTER TABLE events DROP id")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="used in a trigger definition"):
        feed.execute("ALTER TABLE events ALTER id TYPE scru128 USING id::scru128")
    feed.execute("ALTER TABLE events RENAME id TO key")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        feed.execute("INSERT INTO events VALUES (gen_uuidv7())")
    feed.execute("ALTER TABLE events ADD id uuid DEFAULT gen_uuidv7()")
    with expect.error(
        "55000",
        'trigger "guard" of table "events" has guarded another column than "id"',
        "The column that it has guarded has been renamed, and another one now has its name.",
        "Drop the trigger, and create it for the column with the IDs.",
    ):
        feed.execute(f"INSERT INTO events (key) VALUES ({made('1 hour')})")
    feed.execute("DROP TRIGGER guard ON events")
    feed.execute(guard("events", "'key', '5 s'"))
    feed.execute("INSERT INTO events (key) VALUES (gen_uuidv7())")
    assert count(feed) == 2


def test_copy_in_a_transaction_that_has_begun_with_an_id_of_the_server(feed):
    """COPY collects rows before triggers run, so that the guard sees them late."""

    def load(first: str) -> None:
        with feed.transaction():
            feed.execute(first)
            [fresh] = feed.execute("SELECT gen_uuidv7(clock_timestamp() - interval '4.5 s')::text").fetchone()
            with feed.cursor().copy("COPY events (id) FROM STDIN") as copy:
                copy.write_row([fresh])
                sleep(0.7)

    with pytest.raises(psycopg.errors.CheckViolation, match="too old"):
        load("SELECT")
    load("SELECT gen_uuidv7()")
    assert count(feed) == 1


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
    connection.execute(guard("guarded", arguments))
    connection.execute("INSERT INTO guarded DEFAULT VALUES")
    [old] = connection.execute("SELECT id FROM guarded").fetchone()
    name = system or {"uuid": "uuidv7"}.get(column, column)
    passed = f"SELECT {name}_horizon()::{column} > %s"
    wait_until(lambda: connection.execute(passed, [old]).fetchone()[0], "the horizon passes the row")
    with pytest.raises(psycopg.errors.CheckViolation, match='of table "part" is too old'):
        connection.execute("INSERT INTO guarded VALUES (%s)", [old])
    assert count(connection, "guarded") == 1


SHAPES = [
    "BEFORE INSERT OR UPDATE ON {} FOR EACH ROW",
    "AFTER INSERT ON {} FOR EACH ROW",
    "AFTER UPDATE ON {} FOR EACH ROW",
    'AFTER INSERT OR UPDATE OF "Key" ON {} FOR EACH ROW',
    "AFTER INSERT OR UPDATE ON {} FOR EACH ROW WHEN (true)",
    "AFTER INSERT OR UPDATE ON {} FOR EACH STATEMENT",
    "AFTER INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW",
    "BEFORE TRUNCATE ON {} FOR EACH STATEMENT",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_another_shape_raises_39p01_with_the_statement_to_write(feed, shape):
    """The search path has another table with the name events."""
    table = '"My s".events'
    feed.execute(f'CREATE SCHEMA "My s"; CREATE TABLE {table} ("Key" bigint, note text)')
    feed.execute(f"INSERT INTO {table} VALUES (1)")
    arguments = "'Key', '5 s''', 'scru64'"
    feed.execute(f"CREATE TRIGGER g {shape.format(table)} EXECUTE FUNCTION scru_feed_guard({arguments})")
    hint = guard(table, arguments, "g") + ";"
    for statement in (f"INSERT INTO {table} VALUES (2)", f'UPDATE {table} SET "Key" = 3', f"TRUNCATE {table}"):
        if statement.split()[0] in shape:
            with expect.error("39P01", *MISUSED, hint):
                feed.execute(statement)
    feed.execute(f"DROP TRIGGER g ON {table}; {hint}")


def test_a_wrong_argument_is_an_error(feed):
    """A wrong number of arguments, or a column without IDs."""
    feed.execute("CREATE TABLE odd (id bigint, gone bigint); ALTER TABLE odd DROP gone")
    for arguments in "", "id", "id, '0', uuidv7, more":
        feed.execute(guard("odd", arguments))
        with pytest.raises(psycopg.errors.TriggerProtocolViolated):
            feed.execute("INSERT INTO odd VALUES (1)")
        feed.execute("DROP TRIGGER guard ON odd")
    for arguments in "id, '0'", "id, '0', scru128", "id, '0', int8", "gone, '0', scru64", "ctid, '0'":
        feed.execute(guard("odd", arguments))
        with expect.error(
            "42703",
            f'column "{arguments.split(",")[0]}" is not a stored column of an ID type of scru',
            hint="For a column of type uuid or bigint, name the ID system in a third argument of the trigger.",
        ):
            feed.execute("INSERT INTO odd VALUES (1)")
        feed.execute("DROP TRIGGER guard ON odd")


def test_a_generated_column_and_a_bad_lag(feed):
    feed.execute("CREATE TABLE odd (made uuid, id uuid GENERATED ALWAYS AS (made) STORED)")
    feed.execute(guard("odd"))
    feed.execute("INSERT INTO odd VALUES (gen_uuidv7())")
    with pytest.raises(psycopg.errors.CheckViolation, match="too old"):
        feed.execute(f"INSERT INTO odd VALUES ({made('6 s')})")
    for lag, sqlstate in (("soon", "22007"), ("-1 s", "22023"), ("infinity", None)):
        feed.execute("DROP TRIGGER guard ON odd")
        feed.execute(guard("odd", f"id, '{lag}'"))
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
