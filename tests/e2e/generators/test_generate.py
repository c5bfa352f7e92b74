"""Generation: IDs of concurrent connections are all different, and those of each are in order of creation.

The generators of a server also keep the order across connections and databases, without preloading and without locks.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, TYPES, each_form
from load import Load, assert_all_different, background, wait_until_it_waits
from marks import create
from server import Server, wait_until

preloaded_or_not = pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])


def at_once(server: Server, work: Callable, connections: int, dbname: str = "postgres") -> list:
    """Runs `work(connection, number)` on connections that open at the same time, and returns the results."""
    barrier = Barrier(connections, timeout=60)

    def run(number: int):
        barrier.wait()
        with server.connect(dbname) as connection:
            return work(connection, number)

    with ThreadPoolExecutor(connections) as pool:
        return list(pool.map(run, range(connections)))


@pytest.mark.parametrize(("id_type", "scope"), [(SCRU64, "server"), (SCRU128, "server"), (SCRU128, "session")], ids=str)
def test_many_ids_of_many_connections_are_all_different(database, id_type, scope):
    """The IDs of each connection are in order of creation."""
    connections, ids_each = 32, 100_000

    def draw(connection: psycopg.Connection, number: int) -> tuple:
        connection.execute(f"SET scru.generator_scope = {scope}")
        connection.execute(f"INSERT INTO drawn_{number} SELECT {id_type.generator} FROM generate_series(1, {ids_each})")
        # A sequential scan returns the rows of a single writer in the order of insertion.
        pairs = f"SELECT id, lag(id) OVER () AS before FROM drawn_{number}"
        return connection.execute(f"SELECT count(*) FROM ({pairs}) AS pairs WHERE id <= before").fetchone()

    with database.connect() as connection:
        connection.execute("LOAD 'scru'")
        connection.execute(f"CREATE TABLE drawn (id {id_type.name})")
        for number in range(connections):
            connection.execute(f"CREATE UNLOGGED TABLE drawn_{number} () INHERITS (drawn)")
        assert set(at_once(database.server, draw, connections, database.name)) == {(0,)}
        connection.execute("SET work_mem = '256MB'")
        drawn = connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone()
    assert drawn == (connections * ids_each, connections * ids_each)


@preloaded_or_not
def test_concurrent_connections_share_no_randomness(new_server, preload):
    """Each session seeds its own random numbers, neither from a common parent process nor from the clock.

    Two of 50 random 48-bit numbers are this close to each other once in 10^8 runs. A bit is the same in all 50 IDs once
    in 10^12 runs.
    """
    server = create(new_server({"shared_preload_libraries": preload}))
    for id_type in TYPES:
        if id_type.is_server_wide:
            continue
        query, bits = f"SELECT {id_type.generator}::text", id_type.random_bits
        first = at_once(server, lambda connection, _: connection.execute(query).fetchone()[0], 50)  # noqa: B023
        bodies = sorted(id_type.value(id_) % (1 << bits) for id_ in first)
        assert all((later >> bits - 48) - (earlier >> bits - 48) > 1000 for earlier, later in pairwise(bodies))
        assert all({body >> bit & 1 for body in bodies} == {0, 1} for bit in range(bits))


@preloaded_or_not
def test_two_hundred_connections_at_once(new_server, preload):
    """All connections generate the server's first IDs, and initialize the shared state, at the same time."""
    connections, ids_each = 200, 500
    server = create(new_server({"shared_preload_libraries": preload, "max_connections": str(connections + 10)}))

    def draw(connection: psycopg.Connection, _: int) -> list[list[str]]:
        connection.execute("SET scru.generator_scope = server")
        queries = [f"SELECT {id_type.generator}::text FROM generate_series(1, {ids_each})" for id_type in TYPES]
        return [[id_ for (id_,) in connection.execute(query)] for query in queries]

    for of_type in zip(*at_once(server, draw, connections), strict=True):
        assert_all_different(*of_type)
        assert all(ids == sorted(ids) and len(ids) == ids_each for ids in of_type)
    assert server.crashes() == []


@each_form
def test_connections_draw_at_once(new_database, id_type):
    """Each ID is greater than all IDs that any connection to any database had received before the request."""
    turns = iter([new_database(), new_database()] * 6)
    with Load(lambda: next(turns).connect(options="-c scru.generator_scope=server"), id_type, sessions=12) as load:
        load.wait_for(5000)
    assert_all_different(load.ids)


def test_a_new_server_waits_even_where_overflow_is_an_error(new_server, clock):
    """The wait lasts for the second that an earlier run may have been ahead, and the rest of the millisecond. A session
    that wakes within this millisecond continues to wait."""
    server = create(new_server({"scru.ulidflake_on_overflow": "error"}, clock.environment))
    with server.connect() as connection:
        clock.freeze("2030-01-01 00:00:00")
        with background(connection, "SELECT gen_ulidflake()") as first:
            wait_until_it_waits(server, connection)
            clock.freeze("2030-01-01 00:00:01.000500")
            event = f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
            wait_until(lambda: server.value(event) != "Extension", "the session is awake")
            assert not first.done()
            clock.freeze("2030-01-01 00:00:01.002")
            assert first.result(timeout=60).fetchone()
