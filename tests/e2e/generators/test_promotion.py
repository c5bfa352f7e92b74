"""Servers that take over the data of another one: promoted, started without standby.signal, and with any clock."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

import expect
from faults import take_shared_memory
from idtypes import SERVER_WIDE, TYPES
from marks import ALONE, assert_later, create, draw, draw_all, each_difference, insert
from server import MAJOR, Server

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


def promote_twice(primary: Server, standby: Server) -> None:
    """The first standby is promoted, and crashes before its first ID. Then its standby is promoted."""
    with primary.standby() as first:
        first.wait_until_replayed(primary)
        primary.kill()
        first.promote()
        with standby.connect() as connection:
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = 'host={first.directory} user=postgres'")
        standby.restart()
        standby.wait_until_replayed(first)
        first.kill()
        standby.promote()


def promote_after_a_restart(primary: Server, standby: Server) -> None:
    """The standby has replayed no commit since its own start."""
    primary.psql("postgres", b"CHECKPOINT")
    standby.wait_until_replayed(primary)
    standby.psql("postgres", b"CHECKPOINT")
    standby.restart()
    assert standby.value("SELECT pg_last_xact_replay_timestamp()") is None
    promote(primary, standby)


def start_without_its_signal(primary: Server, standby: Server) -> None:
    """The standby is not promoted: it is started without its standby.signal."""
    primary.kill()
    standby.stop()
    (standby.data / "standby.signal").unlink()
    standby.start()


WAYS = [promote_and_crash, promote_twice, promote_after_a_restart, start_without_its_signal]


@each_difference
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_server_that_takes_over_repeats_nothing(new_server, times, way: Callable, difference):
    """With generator_scope = server, IDs of all types are greater than all replayed ones."""
    primary = create(new_server({**ALONE, **AUTOVACUUM}, times.before.environment))
    with primary.standby(times.after.environment) as standby:
        times.stop(primary)
        before = insert(primary)
        standby.wait_until_replayed(primary)
        times.differ(difference)
        way(primary, standby)
        times.assert_takes_over(standby, before, difference)


@each_difference
def test_a_prepared_transaction_repeats_nothing(new_server, times, difference):
    """The IDs are in a prepared transaction, and nothing else was replayed. The library is preloaded."""
    primary = create(new_server({**ALONE, **AUTOVACUUM, **PREPARED}, times.before.environment))
    insert(primary, 0)
    with primary.standby(times.after.environment) as standby:
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


@pytest.mark.parametrize("library", ["", "scru"], ids=["not preloaded", "preloaded"])
def test_no_limit_of_a_standby_keeps_it_from_taking_over(new_server, library):
    """A standby without replication slots, worker processes and free shared memory starts, replays and is promoted.

    The primary has neither slots nor worker processes either.
    """
    primary = create(new_server({**ALONE, "shared_preload_libraries": library, "max_worker_processes": "0"}))
    with primary.connect() as connection:
        connection.execute(take_shared_memory(primary.directory))
    with primary.standby(max_replication_slots="0") as standby:
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


def test_a_standby_reads_nothing_of_the_mark(new_server):
    """Queries on a standby neither create the page nor change it. It generates no 64-bit ID."""
    primary = create(new_server(ALONE))
    with primary.standby() as standby:
        with standby.connect() as connection:
            for scope in "session", "server":
                connection.execute(f"SET scru.generator_scope = {scope}")
                for id_type in TYPES:
                    drawn = f"SELECT count(DISTINCT {id_type.generator}) FROM generate_series(1, 100)"
                    if id_type.is_server_wide:
                        with expect.error(
                            expect.READ_ONLY,
                            f"cannot execute {id_type.generator} during recovery",
                            "A standby would generate the same IDs as its primary.",
                            "Generate the ID on the primary.",
                        ):
                            connection.execute(drawn)
                    else:
                        assert connection.execute(drawn).fetchone() == (100,)
            connection.execute("SELECT * FROM scru_generators()")
        assert not (standby.data / "global/8672").exists()
        before = draw_all(primary)
        standby.wait_until_replayed(primary)
        promote(primary, standby)
        assert_later(before, draw_all(standby))
