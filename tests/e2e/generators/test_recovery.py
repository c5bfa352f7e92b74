"""Restarts, crashes and failovers: committed IDs survive, and no server returns the same 64-bit ID twice.

They run under load, with a node that leaves four bits for the counter. Ticks overflow at once, so that the IDs run
ahead of the clock as far as permitted, and a generator that repeats a tick also repeats IDs.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack, contextmanager

import psycopg
import pytest

from faults import ENDS, bring_back
from idtypes import SCRU64, SCRU128, SERVER_WIDE, TYPES, ULIDFLAKE
from load import Load, assert_all_different, background, forever, wait_until_it_waits
from marks import NODE, create, insert
from server import MAJOR, on_every_version, send_signal, wait_until
from test_resources import assert_are_there

pytestmark = on_every_version

# The scru64 IDs of about two seconds. The first of them exhaust the second that they may be ahead of the clock.
MANY = 60


def test_ids_committed_under_load_survive(new_server):
    """Sessions insert single rows, each in a transaction, and record the returned IDs. The test ends the server in each
    way of `ENDS`, and kills an inserting session. Afterwards, each recorded ID is in the table once, and all later ones
    are greater. Covers all types, and both scopes of generators."""
    server = create(new_server({**NODE, "shared_preload_libraries": ""}))
    insert(server, 0)
    committed = {id_type: [] for id_type in TYPES}
    latest = dict.fromkeys(TYPES, "")

    def load(id_type, scope: str, sessions: int) -> Load:
        query = f"INSERT INTO {id_type.name}_orders DEFAULT VALUES RETURNING id::text"
        after = latest[id_type] if scope == "server" else ""
        return Load(lambda: server.connect(options=f"-c scru.generator_scope={scope}"), id_type, sessions, after, query)

    ends = [lambda loads, end=end: end(server) for end in ENDS.values()]
    for end in (*ends, lambda loads: server.kill_backend(loads[0].pids[0])):
        with ExitStack() as stack:
            loads = [stack.enter_context(load(id_type, "server", 2)) for id_type in TYPES]
            loads += [stack.enter_context(load(t, "session", 1)) for t in TYPES if not t.is_server_wide]
            for drawing in loads:
                drawing.wait_for(MANY)
            end(loads)
            for drawing in loads:
                drawing.wait()
                committed[drawing.id_type] += drawing.ids
            latest |= {drawing.id_type: drawing.latest for drawing in loads[: len(TYPES)]}
        bring_back(server)
    with server.connect() as connection:
        for id_type in TYPES:
            assert_are_there(connection, id_type, committed[id_type], more=True)


@contextmanager
def loads(server):
    """Runs sessions that generate scru64 and ulidflake IDs."""
    with ExitStack() as stack:
        yield [stack.enter_context(Load(server.connect, id_type)) for id_type in SERVER_WIDE]


@pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])
@pytest.mark.parametrize("end", ["a backend killed", "all killed"])
def test_a_restarted_server_waits_until_no_id_can_repeat(new_server, clock, end, preload):
    """The wait does not rely on a slow restart: the clock stops from the last ID to the next attempt. A scru64 is
    generated 1.1 s after the last one, and a ulidflake 2 s. Then, too, none is more than 1 s ahead of the clock."""
    if preload and end == "a backend killed" and MAJOR < 16:
        pytest.skip(
            "up to PostgreSQL 15 the postmaster restarts in a signal handler, where libfaketime returns the real time"
        )
    clock.freeze("2030-01-01 00:00:00")
    server = create(new_server({**NODE, "shared_preload_libraries": preload}, clock.environment))
    with server.connect() as connection:
        for id_type in SERVER_WIDE:
            draw_until_it_waits(server, id_type)
        clock.freeze("2030-01-01 00:00:05")
        last = {id_type: draw_until_it_waits(server, id_type)[-1] for id_type in SERVER_WIDE}
        ENDS[end](server)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(60)")
    bring_back(server)
    for id_type in SERVER_WIDE:
        assert draw_until_it_waits(server, id_type) == []
    for id_type, time in (SCRU64, "00:00:06.1"), (ULIDFLAKE, "00:00:07.001"):
        clock.freeze(f"2030-01-01 {time}")
        burst = draw_until_it_waits(server, id_type)
        assert burst[0] > last[id_type]
        assert server.value(f"SELECT {id_type}_timestamp('{burst[-1]}') <= clock_timestamp() + interval '1 s'")


def draw_until_it_waits(server, id_type) -> list[str]:
    """Returns the IDs that a session generates until it waits for the clock. Notices send each ID at once."""
    ids = []
    with server.connect() as connection:
        connection.add_notice_handler(lambda notice: ids.append(notice.message_primary))
        with background(connection, f"DO $$ BEGIN LOOP RAISE NOTICE '%', {id_type.generator}; END LOOP; END $$"):
            wait_until_it_waits(server, connection)
    return ids


def test_an_orphaned_session_keeps_a_new_server_away(new_server):
    """While a backend of a killed postmaster continues to generate IDs, no new server can start with new state."""
    server = create(new_server())
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


def test_a_change_of_the_node_and_back_repeats_nothing(new_server):
    """Under load, sessions notice the change one after another. The ulidflake scalability changes as well."""
    server = create(new_server(NODE))
    with loads(server) as (scru64, ulidflake):
        for node, number in ("9/20", "7"), ("0/4", "-1"), ("5/20", "31"), ("9/20", "7"), ("5/20", "-1"):
            server.reload(**{"scru.scru64_node": node, "scru.ulidflake_scalability": number})
            scru64.wait_for(MANY)
            ulidflake.wait_for(MANY)
    assert_all_different(scru64.ids)
    assert_all_different(ulidflake.ids)
    nodes = {(SCRU64.value(id_) & 0xFFFFFF) >> 4 for id_ in scru64.ids}
    assert {5, 9} < nodes and {node for node in nodes if node >= 1 << 16} == set()
    assert {7, 31} < {ULIDFLAKE.value(id_) & 31 for id_ in ulidflake.ids}


def test_a_promoted_standby_repeats_nothing(new_server):
    """The primary is killed under load. The standby, where sessions already request IDs, is promoted at once."""
    primary = create(new_server({**NODE, "shared_preload_libraries": "scru"}))
    with primary.standby() as standby, loads(primary) as before:
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
