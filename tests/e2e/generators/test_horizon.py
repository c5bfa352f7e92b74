"""The horizon: what holds it, what it promises of snapshots and clocks, and its errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import sleep

import psycopg
import pytest

import expect
from idtypes import each_form
from load import wait_until_it_waits
from marks import create
from plans import prefer_parallel_plans
from server import on_every_version, wait_until

pytestmark = on_every_version


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table."""
    connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)")
    return connection


def wait_until_passed(connection: psycopg.Connection, row: str) -> None:
    """Waits until the horizon is above an ID."""
    has_passed = "SELECT scru64_horizon() > %s"
    wait_until(lambda: connection.execute(has_passed, [row]).fetchone()[0], "the horizon passes the row")


def insert(connection: psycopg.Connection) -> str:
    """Inserts a row, and returns its ID."""
    return connection.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]


def assert_moves_on(connection: psycopg.Connection) -> None:
    """Asserts that the horizon passes a row that is inserted now."""
    wait_until_passed(connection, insert(connection))


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK", "pg_terminate_backend"])
def test_a_transaction_that_has_generated_an_id_holds_the_horizon_until_its_end(feed, database, end):
    with database.connect() as idle:
        pid = idle.info.backend_pid
        idle.execute("BEGIN")
        row = insert(idle)
        insert(feed)
        sleep(1.5)
        assert feed.execute("SELECT scru64_horizon() <= %s", [row]).fetchone() == (True,)
        assert feed.execute("SELECT * FROM events WHERE id < scru64_horizon()").fetchall() == []
        holders = "SELECT pid, first_time <= scru64_timestamp(%s) + interval '256 ms' FROM scru_horizon_holders()"
        assert feed.execute(holders, [row]).fetchall() == [(pid, True)]
        if end == "pg_terminate_backend":
            feed.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
            idle.close()
        else:
            idle.execute(end)
        assert feed.execute(holders, [row]).fetchall() == []
        assert_moves_on(feed)


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
        row = insert(feed)
        wait_until_passed(feed, row)
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []
        # Nor do those whose end a snapshot does not see.
        late = stack.enter_context(database.connect())
        late.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT")
        other.execute("COMMIT")
        assert late.execute("SELECT scru64_horizon() > %s", [row]).fetchone() == (True,)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_snapshot_has_one_horizon(feed, database, level):
    """A transaction that the snapshot does not see holds the horizon of the snapshot even after its end."""
    with database.connect() as reader, database.connect() as writer:
        writer.execute("BEGIN")
        row = insert(writer)
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


def test_each_transaction_has_its_own_horizon(feed):
    """Also if the snapshots are equal."""

    def horizon() -> str:
        cursor = feed.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT scru128_horizon()::text; COMMIT")
        cursor.nextset()
        return cursor.fetchone()[0]

    first = horizon()
    wait_until(lambda: horizon() > first, "a later transaction has a later horizon")


def test_a_parallel_worker_has_no_horizon(feed):
    feed.execute(
        "CREATE FUNCTION horizon() RETURNS scru64 STABLE PARALLEL SAFE LANGUAGE plpgsql"
        " AS 'BEGIN RETURN scru64_horizon(); END'; CREATE TABLE source AS SELECT FROM generate_series(1, 10000)"
    )
    prefer_parallel_plans(feed)
    feed.execute("SET parallel_leader_participation = off")
    hint = "Declare the function that calls it as PARALLEL RESTRICTED."
    with expect.error("25000", "cannot read a horizon in a parallel worker", None, hint):
        feed.execute("SELECT count(horizon()) FROM source")


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
    server = create(new_server({"max_prepared_transactions": "2", "shared_preload_libraries": ""}))
    with server.connect() as connection:
        connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
        connection.execute("BEGIN")
        row = insert(connection)
        connection.execute("PREPARE TRANSACTION 'p'")
    for stop in (None, "fast", "immediate"):
        if stop:
            server.restart(stop)
        with server.connect() as connection:
            sleep(0.6)
            connection.execute("SELECT pg_advisory_unlock_all()")
            for _ in ("before the first horizon since the start", "after it"):
                assert connection.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(None,)]
                assert connection.execute("SELECT scru64_horizon() <= %s", [row]).fetchone() == (True,)
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


def expect_too_old():
    """Expects the error of a snapshot whose horizon is not known."""
    return expect.error(
        "40001",
        "the snapshot is too old for a horizon",
        "A transaction that the snapshot does not see has committed, and its first ID is no longer known: the server"
        " has just started, or a transaction whose number is higher by a multiple of 65536 has also generated IDs.",
        "Retry in a new transaction, and call the function first in it.",
    )


def test_a_snapshot_that_is_too_old_has_no_horizon(feed, database):
    with database.connect() as early, database.connect() as late, database.connect() as long:
        for reader in (early, late):
            reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT count(*) FROM events")
        kept = early.execute("SELECT scru64_horizon()::text").fetchone()[0]
        long.execute("BEGIN")
        number = long.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()[0]
        feed.execute("INSERT INTO events DEFAULT VALUES")
        # Each block with an exception handler takes a transaction ID.
        feed.execute(
            "DO $$ BEGIN FOR i IN 1..65500 LOOP BEGIN INSERT INTO events VALUES (DEFAULT, 'x');"
            " EXCEPTION WHEN unique_violation THEN END; END LOOP; END $$"
        )
        # The 65536th after `long` takes its entry.
        insert = "INSERT INTO events DEFAULT VALUES RETURNING pg_current_xact_id()::text::bigint"
        while feed.execute(insert).fetchone()[0] < number + 65540:
            pass
        with expect_too_old():
            late.execute("SELECT scru64_horizon()")
        assert early.execute("SELECT scru64_horizon()::text").fetchone()[0] == kept
        # A transaction that has run all the time does not make new snapshots too old, unless it commits after them.
        assert_moves_on(feed)
        late.execute("ROLLBACK")
        late.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        late.execute("SELECT")
        long.execute("COMMIT")
        with expect_too_old():
            late.execute("SELECT scru64_horizon()")
        assert_moves_on(feed)


def test_subtransactions_of_an_open_transaction_leave_the_horizon_to_others(feed, database):
    """They have numbers of their own: more of them than the table has entries."""
    with database.connect() as early, database.connect() as loop:
        early.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        early.execute("SELECT")
        row = insert(feed)
        loop.execute(
            "BEGIN; CREATE TEMP TABLE other (n int);"
            " DO $$ BEGIN FOR i IN 1..70000 LOOP BEGIN INSERT INTO other VALUES (i);"
            " EXCEPTION WHEN unique_violation THEN END; END LOOP; END $$"
        )
        wait_until_passed(feed, row)
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []
        # The bound of the transaction that this snapshot does not see is still known.
        assert early.execute("SELECT scru64_horizon() <= %s", [row]).fetchone() == (True,)
        held = insert(loop)
        assert feed.execute("SELECT scru64_horizon() <= %s", [held]).fetchone() == (True,)
        loop.execute("COMMIT")
    assert_moves_on(feed)


def test_ids_of_parallel_workers_belong_to_the_leader(feed, database):
    """A worker generates the IDs, and has ended when the leader still has not committed."""
    feed.execute("CREATE TABLE source AS SELECT FROM generate_series(1, 10000)")
    with database.connect() as leader:
        prefer_parallel_plans(leader)
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


@each_form
def test_ids_are_above_the_horizon_whatever_the_clock_does(new_server, clock, id_type):
    """The clock steps back, and the server starts again."""
    server = create(new_server({}, clock.environment))
    name = id_type.name
    with server.connect() as connection, server.connect() as session:
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


def test_a_standby_has_no_horizon(new_server):
    server = create(new_server())
    with server.standby() as standby:
        standby.wait_until_replayed(server)
        with standby.connect() as connection:
            with expect.error(
                "25006",
                "cannot execute scru128_horizon() during recovery",
                "A standby does not know which transactions run on its primary.",
                "Read the rows on the primary, or up to a horizon in a row that the primary has written.",
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


def test_a_procedure_with_commit_publishes_each_of_its_transactions(feed, database):
    feed.execute(
        "CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events DEFAULT VALUES; COMMIT;"
        " INSERT INTO events DEFAULT VALUES; PERFORM pg_advisory_lock(7); END $$"
    )
    with database.connect() as caller, ThreadPoolExecutor(1) as pool:
        feed.execute("SELECT pg_advisory_lock(7)")
        call = pool.submit(caller.execute, "CALL fill()")
        wait_until_it_waits(database.server, caller, "Lock")
        assert feed.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == [(caller.info.backend_pid,)]
        sleep(0.6)
        assert feed.execute("SELECT count(*) FROM events WHERE id < scru64_horizon()").fetchone()[0] <= 1
        feed.execute("SELECT pg_advisory_unlock(7)")
        call.result(timeout=60)
    assert_moves_on(feed)
