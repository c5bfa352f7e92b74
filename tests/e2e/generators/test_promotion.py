"""Servers that take over the data of another one: promoted, started without standby.signal, and with any clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import expect
from faults import take_shared_memory
from idtypes import SERVER_WIDE, TYPES
from load import background
from marks import ALONE, HOUR, assert_later, create, draw, draw_all, each_difference, insert
from server import MAJOR, Server, oldest_and_newest, wait_until

# 15 and 16, 17 and 18, and 19 each allocate shared memory in their own way.
pytestmark = oldest_and_newest("the mark is a page of the log, which all versions replay alike", 18)

PREPARED = {"shared_preload_libraries": "scru", "max_prepared_transactions": "2"}
AUTOVACUUM = {"autovacuum": "off"}


def promote(primary: Server, standby: Server) -> None:
    """The primary is killed, and the standby is promoted."""
    primary.kill()
    standby.promote()


def promote_and_crash(primary: Server, standby: Server) -> None:
    """The promoted standby crashes before its first ID."""
    promote(primary, standby)
    standby.kill()
    standby.start()


def promote_with_a_checkpoint_alone(primary: Server, standby: Server) -> None:
    """A checkpoint is alone in the last segment of the promoted server's log. It crashes before its first ID."""
    promote(primary, standby)
    with standby.connect() as connection:
        connection.execute("SELECT pg_switch_wal()")
        connection.execute("CHECKPOINT")
    standby.kill()
    standby.start()


def promote_twice(primary: Server, standby: Server) -> None:
    """The first standby is promoted, and crashes before its first ID. Then its standby is promoted."""
    first = primary.standby()
    try:
        first.wait_until_replayed(primary)
        primary.kill()
        first.promote()
        with standby.connect() as connection:
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = 'host={first.directory} user=postgres'")
        standby.restart()
        standby.wait_until_replayed(first)
        first.kill()
        standby.promote()
    finally:
        first.remove()


def promote_after_a_restart(primary: Server, standby: Server) -> None:
    """The standby has replayed no commit since its own start."""
    with primary.connect() as connection:
        connection.execute("CHECKPOINT")
    standby.wait_until_replayed(primary)
    with standby.connect() as connection:
        connection.execute("CHECKPOINT")
    standby.restart()
    assert standby.value("SELECT pg_last_xact_replay_timestamp()") is None
    promote(primary, standby)


def start_without_its_signal(primary: Server, standby: Server) -> None:
    """The standby is not promoted: it is started without its standby.signal."""
    primary.kill()
    standby.stop()
    (standby.data / "standby.signal").unlink()
    standby.start()


def crash_and_start_without_its_signal(primary: Server, standby: Server) -> None:
    """The standby is killed, and started without its standby.signal."""
    primary.kill()
    standby.kill()
    (standby.data / "standby.signal").unlink()
    standby.start()


WAYS = [
    promote,
    promote_and_crash,
    promote_with_a_checkpoint_alone,
    promote_twice,
    promote_after_a_restart,
    start_without_its_signal,
    crash_and_start_without_its_signal,
]


@each_difference
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_server_that_takes_over_repeats_nothing(new_server, times, way: Callable, difference):
    """With generator_scope = server, IDs of all types are greater than all replayed ones."""
    primary = create(new_server({**ALONE, **AUTOVACUUM}, times.before.environment))
    standby = primary.standby(times.after.environment)
    try:
        times.stop(primary)
        before = insert(primary)
        standby.wait_until_replayed(primary)
        times.differ(difference)
        way(primary, standby)
        times.assert_takes_over(standby, before, difference)
    finally:
        standby.remove()


@each_difference
def test_a_prepared_transaction_repeats_nothing(new_server, times, difference):
    """The IDs are in a prepared transaction, and nothing else was replayed. The library is preloaded."""
    primary = create(new_server({**ALONE, **AUTOVACUUM, **PREPARED}, times.before.environment))
    with primary.connect() as connection:
        for id_type in TYPES:
            connection.execute(f"CREATE TABLE {id_type}_orders (id {id_type} PRIMARY KEY DEFAULT {id_type.generator})")
    standby = primary.standby(times.after.environment)
    try:
        times.stop(primary)
        with primary.connect(options="-c scru.generator_scope=server") as connection:
            inserts = [f"INSERT INTO {t}_orders SELECT FROM generate_series(1, 20)" for t in TYPES]
            connection.execute("; ".join(["BEGIN", *inserts, "PREPARE TRANSACTION 'prepared'"]))
        standby.wait_until_replayed(primary)
        times.differ(difference)
        promote(primary, standby)
        times.assert_takes_over(standby, {id_type: [""] for id_type in TYPES}, difference)
        with standby.connect() as connection:
            # Fails if one of the IDs was generated again.
            connection.execute("COMMIT PREPARED 'prepared'")
            for id_type in TYPES:
                rows = connection.execute(f"SELECT id::text FROM {id_type}_orders ORDER BY xmin::text::int, id")
                ids = [id_ for (id_,) in rows]
                assert len(ids) > 20 and ids == sorted(ids)
    finally:
        standby.remove()


def test_with_synchronous_replication_only_unconfirmed_ids_are_unknown(new_server, times):
    """The clock of the primary is 3 s ahead for the confirmed rows, and an hour for IDs that never reach the standby.

    These are those of a transaction whose commit is not confirmed, and one that was generated without a commit.
    """
    primary = create(new_server(ALONE, times.before.environment))
    standby = primary.standby(times.after.environment)
    try:
        primary.reload(synchronous_standby_names="*")
        replication = "SELECT array_agg(sync_state) FROM pg_stat_replication"
        wait_until(lambda: primary.value(replication) == ["sync"], "the standby is synchronous")
        times.before.shift(3)
        confirmed = insert(primary, 5, SERVER_WIDE)
        with standby.connect() as connection:
            connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
        standby.reload()
        wait_until(lambda: primary.value(replication) is None, "the standby has disconnected")
        times.before.shift(HOUR)
        unconfirmed = draw_all(primary)
        with primary.connect() as connection:
            with background(connection, "INSERT INTO scru64_orders DEFAULT VALUES") as inserting:
                event = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
                wait_until(lambda: primary.value(event) == "SyncRep", "the commit waits for the standby")
                primary.kill()
                with pytest.raises(psycopg.OperationalError):
                    inserting.result(timeout=60)
        standby.promote()
        after = draw_all(standby)
        assert_later(confirmed, after)
        for id_type, ids in after.items():
            assert max(ids) < min(unconfirmed[id_type])
    finally:
        standby.remove()


# --------------------------------------------------------------------------------------------- limits of a standby


@pytest.fixture
def taker(new_server) -> str:
    """The SQL that creates a function, which allocates all free shared memory."""
    return take_shared_memory(new_server().directory)


@pytest.mark.parametrize("library", ["", "scru"], ids=["not preloaded", "preloaded"])
def test_no_limit_of_a_standby_keeps_it_from_taking_over(new_server, taker, library):
    """A standby without replication slots, worker processes and free shared memory starts, replays and is promoted.

    The primary has neither slots nor worker processes either.
    """
    primary = create(new_server({**ALONE, "shared_preload_libraries": library, "max_worker_processes": "0"}))
    with primary.connect() as connection:
        connection.execute(taker)
    standby = primary.standby(max_replication_slots="0")
    try:
        primary.restart(max_replication_slots="0")
        assert standby.value("SELECT take_shared_memory()") > 0
        before = insert(primary)
        standby.wait_until_replayed(primary)
        promote(primary, standby)
        assert standby.value("SELECT take_shared_memory()") == 0
        if library or MAJOR >= 17:
            assert_later(before, insert(standby, 5))
        else:
            for id_type in SERVER_WIDE:
                with pytest.raises(psycopg.errors.OutOfMemory, match="out of shared memory for the state"):
                    draw(standby, id_type)
            standby.restart()
            assert_later(before, insert(standby, 5))
        assert standby.crashes() == []
    finally:
        standby.remove()


def test_a_standby_reads_nothing_of_the_mark(new_server):
    """Queries on a standby neither create the page nor change it. It generates no 64-bit ID."""
    primary = create(new_server(ALONE))
    standby = primary.standby()
    try:
        file = standby.data / "global/8672"
        assert not file.exists()
        for id_type in TYPES:
            query = f"SELECT {id_type.generator} FROM generate_series(1, 10)"
            with standby.connect(options="-c scru.generator_scope=server") as connection:
                if id_type.is_server_wide:
                    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                        connection.execute(query)
                else:
                    connection.execute(query)
                connection.execute("SELECT * FROM scru_generators()")
        assert not file.exists()
        before = draw_all(primary)
        standby.wait_until_replayed(primary)
        promote(primary, standby)
        assert_later(before, draw_all(standby))
    finally:
        standby.remove()


def test_much_wal_does_not_delay_the_first_id(new_server):
    """After a promotion, 256 MB of log are written without a commit. The first use of the library reads none of it."""
    primary = create(new_server(ALONE))
    before = draw_all(primary)
    standby = primary.standby()
    try:
        standby.wait_until_replayed(primary)
        promote(primary, standby)
        with standby.connect() as connection, standby.connect(options="-c statement_timeout=60s") as first:
            message = "pg_logical_emit_message(false, 'test', repeat('x', 1000000))"
            connection.execute(f"SELECT count({message}) FROM generate_series(1, 256)")
            input_output = Path(f"/proc/{first.info.backend_pid}/io")

            def read() -> int:
                return int(input_output.read_text().split()[1])

            start = read()
            after = {t: [first.execute(f"SELECT {t.generator}::text").fetchone()[0]] for t in SERVER_WIDE}
            assert read() - start < 32 * 2**20
        assert_later(before, after)
    finally:
        standby.remove()


def test_a_timeout_ends_a_wait_after_a_promotion(new_server, times):
    """The clock of the promoted server is 9 s behind. A canceled session blocks no other one."""
    primary = create(new_server(ALONE, times.before.environment))
    standby = primary.standby(times.after.environment)
    try:
        times.stop(primary)
        before = draw_all(primary)
        standby.wait_until_replayed(primary)
        promote(primary, standby)
        for id_type in SERVER_WIDE:
            times.run(-9)
            with standby.connect(options="-c statement_timeout=200ms") as connection:
                with expect.error(expect.CANCELED, "canceling statement due to statement timeout"):
                    connection.execute(f"SELECT {id_type.generator}")
        times.run(0)
        assert_later(before, draw_all(standby))
    finally:
        standby.remove()
