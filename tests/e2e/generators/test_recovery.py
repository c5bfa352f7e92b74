"""Restarts, crashes and failovers: committed IDs survive, and no server returns the same 64-bit ID twice.

The tests of the second part run under load, with a node that leaves four bits for the counter. Ticks overflow at once,
so that the IDs run ahead of the clock as far as permitted, and a generator that repeats a tick also repeats IDs.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack, contextmanager

import psycopg
import pytest

import expect
from faults import ENDS, bring_back
from idtypes import SCRU64, SCRU128, SERVER_WIDE, TYPES, ULIDFLAKE
from load import Load, assert_all_different, background, forever, wait_until_it_waits
from server import MAJOR, oldest_and_newest, send_signal, wait_until

# 15 and 16, 17 and 18, and 19 each allocate shared memory in their own way.
pytestmark = oldest_and_newest(
    "the mark depends on the version only in how src/pg/server.rs finds WAL records: in one way up to 18", 18
)

# -------------------------------------------------------------------------------------------------------- committed IDs


def create_orders(connection) -> None:
    """Creates for each type a table of IDs and row numbers."""
    connection.execute("CREATE EXTENSION scru")
    for id_type in TYPES:
        columns = f"id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n bigserial"
        connection.execute(f"CREATE TABLE {id_type.name}_orders ({columns})")


def insert(connection, count: int) -> None:
    """Inserts and commits `count` new orders of each type."""
    for id_type in TYPES:
        connection.execute(f"INSERT INTO {id_type.name}_orders SELECT FROM generate_series(1, %s)", [count])


def assert_all_are_there(server, count: int) -> None:
    """Checks that there are `count` orders of each type, and that the primary key's index returns them in order of
    creation."""
    with server.connect() as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        for id_type in TYPES:
            in_order = [n for (n,) in connection.execute(f"SELECT n FROM {id_type.name}_orders ORDER BY id")]
            assert len(in_order) == count
            assert in_order == sorted(in_order)


@pytest.mark.parametrize("end", ["kill", "immediate"])
def test_a_killed_server_recovers(new_server, end):
    server = new_server()
    with server.connect() as connection:
        expect.install_amcheck(connection)
        create_orders(connection)
        insert(connection, 5000)
        if end == "kill":
            server.kill()
        else:
            server.stop("immediate")
    server.start()
    assert "database system was not properly shut down" in server.log_text()
    with server.connect() as connection:
        insert(connection, 1000)
        for id_type in TYPES:
            expect.intact(connection, f"{id_type.name}_orders_pkey")
    assert_all_are_there(server, 6000)


def test_a_killed_backend_loses_no_committed_id(new_server):
    """The server terminates all sessions and recovers. No committed ID is lost, and new IDs are greater."""
    server = new_server()
    with server.connect() as connection:
        create_orders(connection)
        insert(connection, 5000)
        server.kill_backend(connection.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            insert(connection, 1)
    server.wait_until_ready()
    with server.connect() as connection:
        insert(connection, 5000)
    assert_all_are_there(server, 10_000)


def kill_an_inserting_backend(server, loads) -> None:
    """Kills one of the inserting sessions."""
    server.kill_backend(loads[0].pids[0])


def test_ids_committed_under_load_survive(new_server):
    """Sessions insert single rows, each in a transaction, and record the returned IDs. The test ends the server in each
    way of `ENDS`, and kills an inserting session three times. Afterwards, each recorded ID is in the table once. Covers
    all types, and both scopes of generators."""
    server = new_server()
    with server.connect() as connection:
        create_orders(connection)
    own = [id_type for id_type in TYPES if not id_type.is_server_wide]
    committed = {id_type: [] for id_type in TYPES}

    def load(id_type, scope: str, sessions: int) -> Load:
        query = f"INSERT INTO {id_type.name}_orders DEFAULT VALUES RETURNING id::text"
        return Load(lambda: server.connect(options=f"-c scru.generator_scope={scope}"), id_type, sessions, query=query)

    ends = [lambda loads, end=end: end(server) for end in ENDS.values()]
    for end in (*ends, *[lambda loads: kill_an_inserting_backend(server, loads)] * 3):
        with ExitStack() as stack:
            loads = [stack.enter_context(load(id_type, "server", 2)) for id_type in TYPES]
            loads += [stack.enter_context(load(id_type, "backend", 1)) for id_type in own]
            for drawing in loads:
                drawing.wait_for(100)
            end(loads)
            for drawing in loads:
                drawing.wait()
                committed[drawing.id_type] += drawing.ids
        bring_back(server)
    with server.connect() as connection:
        for id_type in TYPES:
            there = [id_ for (id_,) in connection.execute(f"SELECT id::text FROM {id_type.name}_orders")]
            assert_all_different(there)
            assert_all_different(committed[id_type])
            assert set(committed[id_type]) <= set(there)
            expect.intact_if_amcheck(connection, f"{id_type.name}_orders_pkey")


def test_a_standby_reads_and_takes_over(new_server):
    """A standby returns its primary's IDs. After its promotion it generates greater ones."""
    primary = new_server()
    with primary.connect() as connection:
        create_orders(connection)
        insert(connection, 5000)
    standby = primary.standby()
    try:
        with primary.connect() as connection:
            insert(connection, 5000)
        standby.wait_until_replayed(primary)
        assert standby.value("SELECT pg_is_in_recovery()") is True
        assert_all_are_there(standby, 10_000)
        primary.kill()
        standby.promote()
        with standby.connect() as connection:
            insert(connection, 5000)
        assert_all_are_there(standby, 15_000)
    finally:
        standby.remove()


# ------------------------------------------------------------------------------------------------------------- restarts

NODE = {"scru.scru64_node": "5/20"}
# The scru64 IDs of about two seconds. The first of them exhaust the second that they may be ahead of the clock.
MANY = 60


@pytest.fixture(params=["", "scru"], ids=["not preloaded", "preloaded"])
def preload(request) -> dict[str, str]:
    """Settings with and without preloading of the library."""
    return {"shared_preload_libraries": request.param}


@pytest.fixture
def server_of_node_5(new_server, preload):
    """A server that generates scru64 IDs with a counter of four bits."""
    server = new_server({**NODE, **preload})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    return server


@contextmanager
def loads(server, after=("", "")):
    """Runs sessions that generate scru64 and ulidflake IDs."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(Load(server.connect, id_type, after=latest))
            for id_type, latest in zip(SERVER_WIDE, after, strict=True)
        ]


@pytest.mark.parametrize("end", ENDS)
def test_a_restarted_server_repeats_nothing(server_of_node_5, end):
    with loads(server_of_node_5) as before:
        for load in before:
            load.wait_for(MANY)
        ENDS[end](server_of_node_5)
        for load in before:
            load.wait()
    bring_back(server_of_node_5)
    with loads(server_of_node_5, after=[load.latest for load in before]) as after:
        for load in after:
            load.wait_for(MANY)
    for earlier, later in zip(before, after, strict=True):
        assert_all_different(earlier.ids, later.ids)


@pytest.mark.parametrize("end", ["a backend killed", "all killed"])
def test_a_restarted_server_waits_until_no_id_can_repeat(new_server, preload, clock, end):
    """The wait does not rely on a slow restart: the clock stops from the last ID to the next attempt."""
    if preload["shared_preload_libraries"] and end == "a backend killed" and MAJOR < 16:
        pytest.skip(
            "up to PostgreSQL 15 the postmaster restarts in a signal handler, where libfaketime returns the real time"
        )
    clock.freeze("2030-01-01 00:00:00")
    server = new_server({**NODE, **preload}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        for id_type in SERVER_WIDE:
            draw_until_it_waits(server, id_type)
        clock.freeze("2030-01-01 00:00:05")
        last = {id_type: draw_until_it_waits(server, id_type)[-1] for id_type in SERVER_WIDE}
        ENDS[end](server)
        wait_until_it_is_gone(connection)
    bring_back(server)
    for id_type in SERVER_WIDE:
        assert draw_until_it_waits(server, id_type) == []
    clock.freeze("2030-01-01 00:00:07.001")
    for id_type in SERVER_WIDE:
        assert draw_until_it_waits(server, id_type)[0] > last[id_type]


def draw_until_it_waits(server, id_type) -> list[str]:
    """Returns the IDs that a session generates until it waits for the clock. Notices send each ID at once."""
    ids = []
    with server.connect() as connection:
        connection.add_notice_handler(lambda notice: ids.append(notice.message_primary))
        with background(connection, f"DO $$ BEGIN LOOP RAISE NOTICE '%', {id_type.generator}; END LOOP; END $$"):
            wait_until_it_waits(server, connection)
    return ids


def wait_until_it_is_gone(connection) -> None:
    """Waits until the server has terminated a session."""
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT pg_sleep(60)")


def test_an_orphaned_session_keeps_a_new_server_away(new_server):
    """While a backend of a killed postmaster continues to generate IDs, no new server can start with new state."""
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    orphan = server.connect(options="-c scru.generator_scope=server")
    is_drawing = f"SELECT query LIKE 'DO %' FROM pg_stat_activity WHERE pid = {orphan.info.backend_pid}"
    with pytest.raises(psycopg.OperationalError), background(orphan, forever(SCRU128)) as future:
        wait_until(lambda: server.value(is_drawing), "the session generates IDs")
        server.process.kill()
        server.process.wait(timeout=60)
        try:
            with pytest.raises(RuntimeError, match=r"pre-existing shared memory block .* is still in use"):
                server.start()
            assert not future.done()
        finally:
            send_signal(orphan.info.backend_pid, signal.SIGKILL)
        future.result(timeout=60)
    server.start()
    assert server.value("SELECT gen_scru64() < gen_scru64()")


# ------------------------------------------------------------------------------------------------------------- settings


def test_a_change_of_the_node_and_back_repeats_nothing(server_of_node_5):
    """Under load, sessions notice the change one after another. The ulidflake scalability changes as well."""
    with loads(server_of_node_5) as (scru64, ulidflake):
        for node, number in ("9/20", "7"), ("0/4", "-1"), ("5/20", "31"), ("9/20", "7"), ("5/20", "-1"):
            server_of_node_5.reload(**{"scru.scru64_node": node, "scru.ulidflake_scalability": number})
            scru64.wait_for(MANY)
            ulidflake.wait_for(MANY)
    assert_all_different(scru64.ids)
    assert_all_different(ulidflake.ids)
    nodes = {(SCRU64.value(id_) & 0xFFFFFF) >> 4 for id_ in scru64.ids}
    assert {5, 9} < nodes and {node for node in nodes if node >= 1 << 16} == set()
    assert {7, 31} < {ULIDFLAKE.value(id_) & 31 for id_ in ulidflake.ids}


# -------------------------------------------------------------------------------------------------------------- standby


@pytest.fixture
def primary_and_standby(server_of_node_5):
    """An idle primary and its standby."""
    standby = server_of_node_5.standby()
    yield server_of_node_5, standby
    standby.remove()


def test_a_standby_generates_no_64_bit_ids(primary_and_standby):
    """A standby has its primary's node, so it generates no 64-bit IDs. It generates IDs of types without a node."""
    _, standby = primary_and_standby
    with standby.connect() as connection:
        for id_type in TYPES:
            if id_type.is_server_wide:
                for _ in range(2):
                    with expect.error(
                        expect.READ_ONLY,
                        f"cannot execute {id_type.generator} during recovery",
                        "A standby would generate the same IDs as its primary.",
                        "Generate the ID on the primary.",
                    ):
                        connection.execute(f"SELECT {id_type.generator}")
            else:
                for scope in "backend", "server":
                    connection.execute(f"SET scru.generator_scope = {scope}")
                    drawn = f"SELECT count(DISTINCT {id_type.generator}) FROM generate_series(1, 100)"
                    assert connection.execute(drawn).fetchone() == (100,)


def test_a_promoted_standby_repeats_nothing(primary_and_standby):
    """The primary is killed under load. The standby, where sessions already request IDs, is promoted at once."""
    primary, standby = primary_and_standby
    with loads(primary) as before:
        for load in before:
            load.wait_for(MANY)
        with loads(standby) as after:
            primary.kill()
            standby.promote()
            for load in after:
                load.wait_for(MANY)
        for load in before:
            load.wait()
    for earlier, later in zip(before, after, strict=True):
        assert_all_different(earlier.ids, later.ids)
        assert max(earlier.ids) < min(later.ids)


def test_a_promoted_standby_skips_the_tick_of_a_previous_id(primary_and_standby):
    """The primary may have generated further IDs of the known ID's tick, so the standby skips that tick."""
    _, standby = primary_and_standby
    standby.promote()
    with standby.connect() as connection:
        [(known,)] = connection.execute("SELECT scru64_lower(clock_timestamp() + '0.7 s')::text")
        standby.reload(**{"scru.scru64_node": f"{known}/20"})
        [(first, known_tick, node)] = connection.execute(
            "SELECT scru64_timestamp(id), scru64_timestamp(%s::scru64), scru64_node_id(id, 20) FROM gen_scru64() AS id",
            [known],
        )
    assert first > known_tick
    assert node == 0, "the node is not that of the known ID"
