"""The horizon: a reader in the order of IDs receives each committed row once, in order, and misses none.

SCRU_FEED_SECONDS and SCRU_FEED_WRITERS set the size of the load (`make test-feed`).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from threading import Event
from time import sleep

import psycopg
import pytest

import expect
from idtypes import TYPES
from server import Server, wait_until

SECONDS = float(os.environ.get("SCRU_FEED_SECONDS", "12"))
WRITERS = int(os.environ.get("SCRU_FEED_WRITERS", "12"))
SCOPES = ["backend", "server"]
TOO_OLD = "the snapshot is too old for a horizon"


def create_tables(connection: psycopg.Connection, name: str) -> list[str]:
    """Creates a plain, a range-partitioned and a hash-partitioned table of a type."""
    columns = f"(id {name} PRIMARY KEY DEFAULT gen_{name}(), note text)"
    connection.execute(f"CREATE TABLE {name}_plain {columns}")
    connection.execute(f"CREATE TABLE {name}_range {columns} PARTITION BY RANGE (id)")
    connection.execute(f"CREATE TABLE {name}_range_default PARTITION OF {name}_range DEFAULT")
    for part in range(4):
        bounds = [f"{name}_lower(date_trunc('second', now()) + interval '{3 * p} s')" for p in (part, part + 1)]
        connection.execute(
            f"CREATE TABLE {name}_range_{part} PARTITION OF {name}_range FOR VALUES FROM ({bounds[0]}) TO ({bounds[1]})"
        )
    connection.execute(f"CREATE TABLE {name}_hash {columns} PARTITION BY HASH (id)")
    for part in range(4):
        connection.execute(
            f"CREATE TABLE {name}_hash_{part} PARTITION OF {name}_hash FOR VALUES WITH (MODULUS 4, REMAINDER {part})"
        )
    return [f"{name}_{layout}" for layout in ("plain", "range", "hash")]


class Writers:
    """Sessions that insert rows, and commit late, roll back, prepare or die."""

    def __init__(self, server: Server, tables: list[str]):
        self.server = server
        self.tables = tables
        self.stopped = Event()
        self.names = count()

    def run(self, seed: int) -> None:
        """Runs transactions until the writers are stopped."""
        dice = random.Random(seed)
        while not self.stopped.is_set():
            # A killed session connects again.
            with suppress(psycopg.OperationalError), self.connect(dice) as session:
                while not self.stopped.is_set():
                    self.transact(session, dice)

    def connect(self, dice: random.Random) -> psycopg.Connection:
        return self.server.connect(options=f"-c scru.generator_scope={dice.choice(SCOPES)}")

    def transact(self, session: psycopg.Connection, dice: random.Random) -> None:
        """Runs one transaction."""
        session.execute("BEGIN")
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            self.insert(session, dice)
        if dice.random() < 0.2:
            session.execute("SAVEPOINT s")
            self.insert(session, dice)
            session.execute(dice.choice(["ROLLBACK TO s", "RELEASE s"]))
        # Most commit at once. Few commit very late.
        sleep(dice.choice([0, 0, 0, 0.002, 0.01, 0.05, 0.4 if SECONDS < 60 else 2]))
        is_kept = dice.random() < 0.4
        if dice.random() < 0.15:
            name = f"'{os.getpid()}-{next(self.names)}'"
            session.execute(f"PREPARE TRANSACTION {name}")
            sleep(dice.choice([0, 0.01, 0.1]))
            # Another session can end it.
            session.execute(f"{'COMMIT' if is_kept else 'ROLLBACK'} PREPARED {name}")
        elif dice.random() < 0.02:
            session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        else:
            session.execute("COMMIT" if is_kept else "ROLLBACK")

    def insert(self, session: psycopg.Connection, dice: random.Random) -> None:
        table = dice.choice(self.tables)
        rows = dice.choice([1, 1, 1, 3, 40])
        if dice.random() < 0.1:
            with session.cursor().copy(f"COPY {table} (note) FROM STDIN") as copy:
                copy.write("copied\n" * rows)
        else:
            session.execute(f"INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, {rows})")


class Reader:
    """A session that reads a table with the one statement."""

    def __init__(self, table: str, condition: str, sequential: bool, isolation: str = "READ COMMITTED"):
        self.table = table
        self.isolation = isolation
        self.sequential = sequential
        self.query = f"SELECT id::text FROM {table} WHERE id > %s {condition} ORDER BY id LIMIT 1000"
        self.received: list[str] = []
        self.stopped = Event()

    def read(self, session: psycopg.Connection) -> int:
        """Reads the rows after the position, and returns their number."""
        after = self.received[-1] if self.received else "0" * TEXT_LENGTHS[self.table.split("_")[0]]
        if self.isolation != "READ COMMITTED":
            session.execute(f"BEGIN ISOLATION LEVEL {self.isolation}")
            session.execute("SELECT")
        rows = session.execute(self.query, [after]).fetchall()
        if self.isolation != "READ COMMITTED":
            session.execute("COMMIT")
        self.received += [row for (row,) in rows]
        return len(rows)

    def run(self, server: Server) -> None:
        with server.connect() as session:
            if self.sequential:
                for kind in ("indexscan", "indexonlyscan", "bitmapscan"):
                    session.execute(f"SET enable_{kind} = off")
            while not self.stopped.is_set():
                self.read(session)
            # Until the horizon has passed all rows.
            last = session.execute(f"SELECT max(id)::text FROM {self.table}").fetchone()[0]
            wait_until(
                lambda: not self.read(session) and self.received[-1:] == [last], f"{self.table} is read up to {last}"
            )


TEXT_LENGTHS = {id_type.name: id_type.text_length for id_type in TYPES}


@contextmanager
def running(target: object, arguments: list) -> Iterator[list]:
    """Runs a function in one thread for each argument, and raises its error at the end."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        futures = [pool.submit(target, argument) for argument in arguments]
        yield futures
        for future in futures:
            future.result(timeout=120)


@pytest.mark.parametrize("preload", ["scru", ""], ids=["preloaded", "loaded"])
def test_a_reader_misses_nothing_under_load(new_server, preload):
    """Writers of all types and both scopes commit late, roll back, prepare and die. Each reader receives exactly the
    committed rows in their order. Readers without the horizon miss rows."""
    settings = {
        "shared_preload_libraries": preload,
        "max_prepared_transactions": "30",
        "max_connections": "80",
        "fsync": "off",
    }
    server = new_server(settings)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        kinds = ["scru64", "scru128", "ulidflake"] if SECONDS < 60 else [id_type.name for id_type in TYPES]
        tables = [table for name in kinds for table in create_tables(connection, name)]
    dice = random.Random(1)
    readers = [
        Reader(table, f"AND id < {table.split('_')[0]}_horizon()", dice.random() < 0.5, isolation)
        for table, isolation in zip(tables, ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"] * 9, strict=False)
    ]
    readers += [Reader(table, f"AND id < {table.split('_')[0]}_horizon()", True) for table in tables if "hash" in table]
    naive = [Reader(table, "", False) for table in tables if "plain" in table]
    writers = Writers(server, tables)
    with running(lambda reader: reader.run(server), readers + naive) as reading:
        try:
            with running(writers.run, list(range(WRITERS))):
                for _ in range(int(SECONDS * 10)):
                    sleep(0.1)
                    if any(future.done() for future in reading):
                        break
                writers.stopped.set()
            end_prepared(server)
        finally:
            writers.stopped.set()
            for reader in readers + naive:
                reader.stopped.set()
    with server.connect() as connection:
        for reader in readers:
            committed = [row for (row,) in connection.execute(f"SELECT id::text FROM {reader.table} ORDER BY id")]
            assert len(committed) > 50
            missed = sorted(set(committed) - set(reader.received))
            assert (reader.table, missed) == (reader.table, [])
            assert reader.received == committed
        missed_without = 0
        for reader in naive:
            committed = {row for (row,) in connection.execute(f"SELECT id::text FROM {reader.table}")}
            missed_without += len(committed - set(reader.received))
        assert missed_without > 0
    assert server.crashes() == []


def end_prepared(server: Server) -> None:
    """Rolls back the prepared transactions of sessions that were killed."""
    with server.connect() as connection:
        for (name,) in connection.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
            connection.execute(f"ROLLBACK PREPARED '{name}'")


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table."""
    connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)")
    return connection


def wait_until_passed(connection: psycopg.Connection, row: str) -> None:
    """Waits until the horizon is above an ID."""
    has_passed = "SELECT scru64_horizon() > %s"
    wait_until(lambda: connection.execute(has_passed, [row]).fetchone()[0], "the horizon passes the row", 20)


def assert_moves_on(connection: psycopg.Connection) -> None:
    """Asserts that the horizon passes a row that is inserted now."""
    row = connection.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]
    wait_until_passed(connection, row)


def test_an_open_transaction_that_has_generated_an_id_holds_the_horizon_and_is_named(feed, database):
    with database.connect() as idle:
        idle.execute("BEGIN")
        row = idle.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]
        feed.execute("INSERT INTO events DEFAULT VALUES")
        sleep(1.5)
        assert feed.execute("SELECT scru64_horizon() <= %s", [row]).fetchone() == (True,)
        assert feed.execute("SELECT * FROM events WHERE id < scru64_horizon()").fetchall() == []
        [(pid, time)] = feed.execute("SELECT pid, first_time FROM scru_horizon_holders()").fetchall()
        assert pid == idle.info.backend_pid
        assert feed.execute("SELECT %s <= scru64_timestamp(%s) + interval '256 ms'", [time, row]).fetchone() == (True,)
        idle.execute("COMMIT")
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []
        assert_moves_on(feed)


@pytest.mark.parametrize("end", ["ROLLBACK", "terminate"])
def test_a_transaction_that_has_ended_holds_nothing(feed, database, end):
    idle = database.connect()
    idle.execute("BEGIN")
    idle.execute("INSERT INTO events DEFAULT VALUES")
    if end == "terminate":
        feed.execute("SELECT pg_terminate_backend(%s, 10000)", [idle.info.backend_pid])
    else:
        idle.execute(end)
    assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []
    assert_moves_on(feed)
    idle.close()


def test_reports_and_other_databases_do_not_hold_the_horizon(feed, database, new_database):
    with ExitStack() as stack:
        report = stack.enter_context(database.connect())
        report.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        report.execute("SELECT count(*), scru64_horizon() FROM events")
        other = stack.enter_context(new_database().connect())
        other.execute("BEGIN")
        other.execute("CREATE TABLE t AS SELECT gen_scru64() AS id")
        writer = stack.enter_context(database.connect())
        writer.execute("BEGIN")
        writer.execute("CREATE TABLE without_ids AS SELECT 1")
        assert_moves_on(feed)
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_snapshot_has_one_horizon(feed, database, level):
    """A transaction that the snapshot does not see holds the horizon of the snapshot even after its end."""
    with database.connect() as reader, database.connect() as writer:
        writer.execute("BEGIN")
        row = writer.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]
        reader.execute(f"BEGIN ISOLATION LEVEL {level}")
        reader.execute("SELECT count(*) FROM events")
        writer.execute("COMMIT")
        feed.execute("INSERT INTO events DEFAULT VALUES")
        sleep(0.6)
        first = reader.execute("SELECT scru64_horizon()::text").fetchone()[0]
        assert first <= row
        sleep(0.6)
        assert reader.execute("SELECT scru64_horizon()::text").fetchone()[0] == first
        reader.execute("COMMIT")
        wait_until_passed(reader, row)


def test_a_statement_has_one_horizon_while_a_transaction_rolls_back(feed, database):
    """A cursor that was opened before the rollback keeps its horizon."""
    with database.connect() as writer:
        feed.execute("INSERT INTO events SELECT FROM generate_series(1, 3)")
        writer.execute("BEGIN")
        writer.execute("INSERT INTO events DEFAULT VALUES")
        feed.execute("INSERT INTO events SELECT FROM generate_series(1, 3)")
        feed.execute("BEGIN")
        feed.execute("DECLARE c SCROLL CURSOR FOR SELECT scru64_horizon()::text FROM events")
        [(first,)] = feed.execute("FETCH 1 FROM c").fetchall()
        writer.execute("ROLLBACK")
        sleep(0.6)
        assert set(feed.execute("FETCH ALL FROM c").fetchall()) == {(first,)}
        assert set(feed.execute("FETCH BACKWARD ALL FROM c").fetchall()) == {(first,)}
        # The next statement has a new snapshot.
        assert feed.execute("SELECT scru64_horizon()::text > %s", [first]).fetchone() == (True,)
        feed.execute("COMMIT")


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_prepared_transaction_holds_the_horizon_across_a_restart(new_server, end):
    server = new_server({"max_prepared_transactions": "2", "shared_preload_libraries": ""})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
        connection.execute("BEGIN")
        row = connection.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]
        connection.execute("PREPARE TRANSACTION 'p'")
    for stop in (None, "fast", "immediate"):
        if stop:
            server.restart(stop)
        with server.connect() as connection:
            sleep(0.6)
            connection.execute("SELECT pg_advisory_unlock_all()")
            assert connection.execute("SELECT scru64_horizon() <= %s", [row]).fetchone() == (True,)
            assert connection.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(None,)]
    with server.connect() as reader, server.connect() as connection:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT")
        connection.execute(f"{end} PREPARED 'p'")
        if end == "COMMIT":
            # The snapshot does not see the row, and the server has forgotten its bound.
            with expect_too_old():
                reader.execute("SELECT scru64_horizon()")
        else:
            assert reader.execute("SELECT scru64_horizon() > %s", [row]).fetchone() == (True,)
        wait_until_passed(connection, row)
        assert connection.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []


@contextmanager
def expect_too_old() -> Iterator[None]:
    with expect.error(
        "55000",
        TOO_OLD,
        "More than 65536 transactions have begun since the snapshot was taken, or the server has just started.",
        "Call the function first in the transaction, or retry in a new one.",
    ):
        yield


def test_a_snapshot_that_is_too_old_has_no_horizon(feed, database):
    with database.connect() as early, database.connect() as late, database.connect() as long:
        for reader in (early, late):
            reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT count(*) FROM events")
        kept = early.execute("SELECT scru64_horizon()::text").fetchone()[0]
        long.execute("BEGIN")
        long.execute("SELECT pg_current_xact_id()")
        feed.execute("INSERT INTO events DEFAULT VALUES")
        # Each block with an exception handler takes a transaction ID.
        feed.execute(
            "DO $$ BEGIN FOR i IN 1..66000 LOOP BEGIN INSERT INTO events VALUES (DEFAULT, 'x');"
            " EXCEPTION WHEN unique_violation THEN END; END LOOP; END $$"
        )
        with expect_too_old():
            late.execute("SELECT scru64_horizon()")
        assert early.execute("SELECT scru64_horizon()::text").fetchone()[0] == kept
        # A transaction that has run all the time does not make new snapshots too old.
        assert_moves_on(feed)


def test_ids_of_parallel_workers_belong_to_the_leader(feed, database):
    """A worker generates the IDs, and has ended when the leader still has not committed."""
    feed.execute("CREATE TABLE source AS SELECT FROM generate_series(1, 10000)")
    with database.connect() as leader:
        for name in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            leader.execute(f"SET {name} = 0")
        leader.execute("SET parallel_leader_participation = off")
        leader.execute("BEGIN")
        leader.execute("CREATE TABLE made AS SELECT gen_scru64() AS id FROM source")
        first = leader.execute("SELECT min(id)::text FROM made").fetchone()[0]
        sleep(1)
        assert feed.execute("SELECT scru64_horizon() <= %s", [first]).fetchone() == (True,)
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(leader.info.backend_pid,)]
        with database.connect() as reader:
            reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT")
            leader.execute("COMMIT")
            assert reader.execute("SELECT scru64_horizon() <= %s", [first]).fetchone() == (True,)


@pytest.mark.parametrize("id_type", TYPES, ids=str)
def test_ids_are_above_the_horizon_whatever_the_clock_does(new_server, clock, id_type):
    """The clock steps back, and the server starts again."""
    server = new_server({}, clock.environment)
    name = id_type.name
    with server.connect() as connection, server.connect() as session:
        connection.execute("CREATE EXTENSION scru")
        connection.execute(f"SELECT gen_{name}()")
        session.execute(f"SELECT gen_{name}()")
        horizon = connection.execute(f"SELECT {name}_horizon()::text").fetchone()[0]
        for step in (0, -0.5, -1):
            clock.shift(step)
            for each in (connection, session):
                assert each.execute(f"SELECT gen_{name}() >= %s", [horizon]).fetchone() == (True,)
        if not id_type.is_server_wide:
            clock.shift(-3600)
            assert session.execute(f"SELECT gen_{name}() >= %s", [horizon]).fetchone() == (True,)
            assert connection.execute(f"SELECT {name}_horizon(%s) >= %s", [horizon] * 2).fetchone() == (True,)
    for stop in ("fast", "immediate"):
        clock.shift(0 if id_type.is_server_wide else -7200)
        server.restart(stop)
        with server.connect() as connection:
            assert connection.execute(f"SELECT gen_{name}() >= %s", [horizon]).fetchone() == (True,)
            horizon = connection.execute(f"SELECT {name}_horizon(%s)::text", [horizon]).fetchone()[0]


def test_a_position_above_the_floor_is_refused(feed):
    feed.execute("SELECT scru64_horizon(scru64_horizon())")
    with expect.error(
        "55000",
        "the scru64 is above all that this server knows",
        "The server may have lost transactions in a failover, and may generate IDs below this one.",
        "Read the table again from a position that all its readers have passed.",
    ):
        feed.execute("SELECT scru64_horizon(scru64_lower(clock_timestamp() + interval '1 minute'))")


def test_a_standby_has_no_horizon(new_server):
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    with server.standby() as standby:
        standby.wait_until_replayed(server)
        with standby.connect() as connection:
            with expect.error(
                "25006",
                "cannot execute scru128_horizon() during recovery",
                "A standby does not know which transactions run on its primary.",
                "Read the horizon on the primary, or from a row that the primary writes.",
            ):
                connection.execute("SELECT scru128_horizon()")
            assert connection.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []
            connection.execute("SELECT gen_scru128()")
        with server.connect() as connection:
            horizon = connection.execute("SELECT scru128_horizon()::text").fetchone()[0]
        standby.wait_until_replayed(server)
        server.stop()
        standby.promote()
        with standby.connect() as connection:
            assert connection.execute("SELECT gen_scru128() >= %s", [horizon]).fetchone() == (True,)
            connection.execute("SELECT scru128_horizon(%s)", [horizon])


def test_the_guard_refuses_ids_of_other_transactions(feed):
    feed.execute("CREATE DOMAIN key AS scru64")
    feed.execute("CREATE TABLE guarded (id key DEFAULT gen_scru64(), note text) PARTITION BY HASH (note)")
    feed.execute("CREATE TABLE part PARTITION OF guarded FOR VALUES WITH (MODULUS 1, REMAINDER 0)")
    feed.execute("CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION scru_feed_guard('id')")
    feed.execute("INSERT INTO guarded DEFAULT VALUES")
    feed.execute("INSERT INTO guarded VALUES (NULL)")
    with feed.transaction():
        fetched = feed.execute("SELECT gen_scru64()::text").fetchone()[0]
        feed.execute("INSERT INTO guarded VALUES (%s)", [fetched])
    wait_until_passed(feed, fetched)
    for source in ("VALUES (%s)", "SELECT %s WHERE gen_scru64() IS NOT NULL"):
        with expect.error(
            "55000",
            'the ID in column "id" was not generated in this transaction',
            "A reader of the table may already have passed it.",
            "Let the column's default, or gen_scru64() in the same transaction, generate the ID.",
        ):
            feed.execute(f"INSERT INTO guarded {source}", [fetched])
    assert feed.execute("SELECT count(*) FROM guarded").fetchone() == (3,)


def test_sessions_that_may_have_an_older_library_prevent_a_horizon(new_database):
    database = new_database(extension=False)
    with database.connect() as old, database.connect() as other, database.connect() as connection:
        connection.execute("CREATE EXTENSION scru VERSION '0.2.0'")
        connection.execute("ALTER EXTENSION scru UPDATE")
        # A session that loads the present library is none of them.
        other.execute("SELECT gen_scru128()")
        with expect.error(
            "55000",
            "a session may use an older version of scru",
            f"The session with process ID {old.info.backend_pid} was connected when the extension was updated.",
            "End the session: it loads the installed version when it connects again.",
        ):
            connection.execute("SELECT scru128_horizon()")
        old.execute("BEGIN")
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", [old.info.backend_pid])
        connection.execute("SELECT scru128_horizon()")
        with suppress(psycopg.OperationalError):
            old.execute("COMMIT")


def test_a_procedure_with_commit_publishes_each_of_its_transactions(feed, database):
    feed.execute(
        "CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events DEFAULT VALUES; COMMIT;"
        " INSERT INTO events DEFAULT VALUES; PERFORM pg_advisory_lock(7); END $$"
    )
    with database.connect() as caller, ThreadPoolExecutor(1) as pool:
        feed.execute("SELECT pg_advisory_lock(7)")
        call = pool.submit(caller.execute, "CALL fill()")
        waiting = "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
        pid = caller.info.backend_pid
        wait_until(lambda: feed.execute(waiting, [pid]).fetchone()[0], "the procedure waits")
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(pid,)]
        sleep(0.6)
        assert feed.execute("SELECT count(*) FROM events WHERE id < scru64_horizon()").fetchone()[0] <= 1
        feed.execute("SELECT pg_advisory_unlock(7)")
        call.result(timeout=60)
    assert_moves_on(feed)


def test_the_horizon_can_be_a_condition_on_the_index(feed):
    feed.execute("CREATE VIEW readable AS SELECT * FROM events WHERE id < scru64_horizon()")
    feed.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    query = "SELECT * FROM readable WHERE id > '000000000000' ORDER BY id LIMIT 9"
    plan = [line for (line,) in feed.execute(f"EXPLAIN (COSTS off) {query}")]
    assert any("Index Cond" in line and "scru64_horizon()" in line for line in plan)
