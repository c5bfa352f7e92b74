"""Generation: IDs of concurrent connections are all different, and those of each are in order of creation.

The generators of a server also keep the order across connections and databases, without preloading and without locks.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from threading import Barrier, Timer

import psycopg
import pytest

import expect
from conftest import Database
from idtypes import SCRU64, SCRU128, TYPES, ULIDFLAKE, each_server_wide_type, each_type, of_types
from load import Load, background, forever, wait_until_it_waits
from plans import analyze, explain, prefer_parallel_plans
from server import Server, wait_until

# ----------------------------------------------------------------------------------------------- concurrent connections


CONNECTIONS = 50
IDS_EACH = 20_000

# Each type with the shared state, and if possible with a state for each connection.
GENERATORS = [(id_type, "server") for id_type in TYPES]
GENERATORS += [(id_type, "session") for id_type in TYPES if not id_type.is_server_wide]


def at_once(database: Database, work, connections: int = CONNECTIONS) -> list:
    """Runs `work(connection, number)` on connections that open at the same time, and returns the results."""
    barrier = Barrier(connections, timeout=60)

    def run(number: int):
        barrier.wait()
        with database.connect() as connection:
            return work(connection, number)

    with ThreadPoolExecutor(connections) as pool:
        return list(pool.map(run, range(connections)))


@pytest.fixture(scope="module", params=["not preloaded", "preloaded"])
def any_database(request) -> Iterator[Database]:
    """A database of a server that loads the library on demand, and of one that preloads it.

    With preloading, all backends are forked from a process that has already loaded the library.
    """
    with Server({"shared_preload_libraries": "scru" if request.param == "preloaded" else ""}) as server:
        with server.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
        yield Database(server, "postgres")
        assert server.crashes() == []


@pytest.mark.parametrize(("id_type", "scope"), GENERATORS, ids=[f"{id_type}-{scope}" for id_type, scope in GENERATORS])
def test_many_ids_of_many_connections_are_all_different(database, id_type, scope):
    """The IDs of each connection are in order of creation."""
    connections, ids_each = 32, 100_000

    def draw(connection, number):
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
        assert set(at_once(database, draw, connections)) == {(0,)}
        connection.execute("SET work_mem = '256MB'")
        drawn = connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone()
    assert drawn == (connections * ids_each, connections * ids_each)


@of_types([SCRU128])
def test_fifty_connections_draw_no_duplicate(any_database, id_type):
    def draw(connection, number):
        connection.execute(
            f"INSERT INTO drawn SELECT %s, i, {id_type.generator} FROM generate_series(1, {IDS_EACH}) AS i", [number]
        )

    with any_database.connect() as connection:
        connection.execute(f"CREATE UNLOGGED TABLE drawn (drawer int, turn int, id {id_type.name})")
        at_once(any_database, draw)
        drawn = connection.execute("SELECT count(*), count(DISTINCT id), count(DISTINCT drawer) FROM drawn").fetchone()
        out_of_order = connection.execute(
            "SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY drawer ORDER BY turn) AS before FROM drawn)"
            " AS t WHERE id <= before"
        ).fetchone()
        connection.execute("DROP TABLE drawn")
    assert drawn == (CONNECTIONS * IDS_EACH, CONNECTIONS * IDS_EACH, CONNECTIONS)
    assert out_of_order == (0,)


@of_types([id_type for id_type in TYPES if not id_type.is_server_wide])
def test_concurrent_connections_share_no_randomness(any_database, id_type):
    """Each session seeds its own random numbers, neither from a common parent process nor from the clock.

    Two of 50 random 48-bit numbers are this close to each other once in 10^8 runs. A bit is the same in all 50 IDs once
    in 10^12 runs.
    """

    def first_id(connection, _number):
        [(binary,)] = connection.execute(f"SELECT {id_type.generator}::bytea")
        return int.from_bytes(binary, "big")

    bits = id_type.random_bits
    bodies = sorted(id_ % (1 << bits) for id_ in at_once(any_database, first_id))
    assert all((later >> bits - 48) - (earlier >> bits - 48) > 1000 for earlier, later in pairwise(bodies))
    assert all({body >> bit & 1 for body in bodies} == {0, 1} for bit in range(bits))


@pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])
def test_two_hundred_connections_at_once(new_server, preload):
    """All connections generate the server's first IDs, and initialize the shared state, at the same time."""
    connections, ids_each = 200, 500
    server = new_server({"shared_preload_libraries": preload, "max_connections": str(connections + 10)})
    database = Database(server, "postgres")
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        for id_type in TYPES:
            connection.execute(f"CREATE UNLOGGED TABLE {id_type.name}_drawn (drawer int, turn int, id {id_type.name})")

    def draw(connection, number):
        connection.execute("SET scru.generator_scope = server")
        for id_type in TYPES:
            ids = f"SELECT {number}, turn, {id_type.generator} FROM generate_series(1, {ids_each}) AS turn"
            connection.execute(f"INSERT INTO {id_type.name}_drawn {ids}")

    at_once(database, draw, connections)
    with server.connect() as connection:
        for id_type in TYPES:
            drawn = f"SELECT count(*), count(DISTINCT id), count(DISTINCT drawer) FROM {id_type.name}_drawn"
            assert connection.execute(drawn).fetchone() == (connections * ids_each, connections * ids_each, connections)
            before = "lag(id) OVER (PARTITION BY drawer ORDER BY turn) AS before"
            pairs = f"SELECT id, {before} FROM {id_type.name}_drawn"
            assert connection.execute(f"SELECT count(*) FROM ({pairs}) AS p WHERE id <= before").fetchone() == (0,)
    assert server.crashes() == []


@each_type
def test_index_order_is_order_of_creation(connection, id_type):
    connection.execute(
        f"CREATE TABLE orders (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, seq bigserial, note text)"
    )
    # One bulk load, batches, and single rows. Each statement is a transaction.
    connection.execute("INSERT INTO orders (note) SELECT 'bulk' FROM generate_series(1, 50000)")
    for _ in range(49):
        connection.execute("INSERT INTO orders (note) SELECT 'batch' FROM generate_series(1, 1000)")
    for _ in range(1000):
        connection.execute("INSERT INTO orders (note) VALUES ('single')")
    connection.execute("VACUUM ANALYZE orders")

    connection.execute("SET enable_sort = off")
    for direction, query in (1, "SELECT seq FROM orders ORDER BY id"), (-1, "SELECT seq FROM orders ORDER BY id DESC"):
        assert "using orders_pkey on orders" in explain(connection, query)
        in_index_order = [seq for (seq,) in connection.execute(query)]
        assert in_index_order == list(range(1, 100_001))[::direction]


@each_type
def test_ids_bear_the_time_of_their_creation(connection, id_type):
    """The times are exact to the tick. IDs of a shared state may be ahead of the clock by up to a second."""
    query = f"SELECT clock_timestamp(), {id_type.name}_timestamp({id_type.generator}), clock_timestamp()"
    before, id_time, after = connection.execute(query).fetchone()
    ahead = timedelta(seconds=1 if id_type.is_server_wide else 0)
    assert before - timedelta(milliseconds=id_type.tick) < id_time <= after + ahead


@each_type
def test_parallel_workers_draw_no_duplicate(connection, id_type):
    """The generator is PARALLEL SAFE: several workers generate IDs at the same time."""
    prefer_parallel_plans(connection)
    connection.execute("SET parallel_leader_participation = off")
    connection.execute("CREATE UNLOGGED TABLE rows AS SELECT generate_series(1, 300000) AS n")
    connection.execute("ANALYZE rows")
    plan = analyze(connection, f"CREATE UNLOGGED TABLE drawn AS SELECT n, {id_type.generator} AS id FROM rows")
    assert plan["Node Type"] == "Gather"
    assert plan["Workers Launched"] >= 2
    # The workers, not the leader, call the generator.
    [scan] = plan["Plans"]
    assert id_type.generator in scan["Output"]
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone() == (300_000, 300_000)


@each_type
def test_insert_select_under_parallel_settings_draws_no_duplicate(connection, id_type):
    prefer_parallel_plans(connection)
    connection.execute(f"CREATE TABLE drawn (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n int)")
    connection.execute(f"INSERT INTO drawn SELECT {id_type.generator}, n FROM generate_series(1, 50000) AS n")
    connection.execute("INSERT INTO drawn (n) SELECT n FROM drawn")
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone() == (100_000, 100_000)


# ------------------------------------------------------------------------------------------- the generators of a server


def draw(connection, id_type, count: int = 1) -> list[str]:
    """Generates `count` IDs in one statement."""
    return [id_ for (id_,) in connection.execute(f"SELECT {id_type.generator}::text FROM generate_series(1, {count})")]


# ---------------------------------------------------------------------------------------------------------------- order


@each_type
def test_connections_draw_in_turns(new_database, id_type):
    """Two connections to different databases of a server: each ID is greater than the other connection's last one."""
    with ExitStack() as stack:
        options = "-c scru.generator_scope=server"
        connections = [stack.enter_context(new_database().connect(options=options)) for _ in range(2)]
        ids = [id_ for turn in range(400) for id_ in draw(connections[turn % 2], id_type, turn % 3 + 1)]
    assert ids == sorted(set(ids))


@each_type
def test_connections_draw_at_once(new_database, id_type):
    """Each ID is greater than all IDs that any connection to any database had received before the request."""
    databases = [new_database(), new_database()]
    turns = iter(databases * 6)

    def connect() -> psycopg.Connection:
        return next(turns).connect(options="-c scru.generator_scope=server")

    with Load(connect, id_type, sessions=12) as load:
        load.wait_for(5000)
    assert len(load.ids) == len(set(load.ids))


# --------------------------------------------------------------------------------------------------- without preloading


def test_it_works_without_preloading(new_server, clock):
    """Server-wide generation works right after CREATE EXTENSION, while the clock stands still. Only the first ID of a
    64-bit type waits: IDs of an earlier run of the server may have been ahead of the clock."""
    clock.freeze("2030-01-01 00:00:00")
    server = new_server({"shared_preload_libraries": ""}, clock.environment)
    with server.connect() as first, server.connect() as second:
        first.execute("CREATE EXTENSION scru")
        for connection in first, second:
            connection.execute("SET scru.generator_scope = server")
        for id_type in TYPES:
            if not id_type.is_server_wide:
                draw(first, id_type)
        for id_type, later in (ULIDFLAKE, "00:00:05"), (SCRU64, "00:00:10"):
            with background(first, f"SELECT {id_type.generator}") as drawn:
                wait_until_it_waits(server, first)
                clock.freeze(f"2030-01-01 {later}")
                drawn.result(timeout=60)
        for connection in first, second:
            for id_type in TYPES:
                draw(connection, id_type)


# --------------------------------------------------------------------------------------------------- ahead of the clock


# Four bits of each scru64 are its counter: a server generates a few dozen scru64 IDs per second.
SMALL_COUNTER = {"scru.scru64_node": "5/20"}


def test_scru64_is_at_most_a_second_ahead(new_server):
    with new_server(SMALL_COUNTER).connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        rows = connection.execute(
            "SELECT extract(epoch FROM scru64_timestamp(id) - clock_timestamp())::float8"
            " FROM (SELECT gen_scru64() AS id FROM generate_series(1, 150) OFFSET 0) AS drawn"
        )
        ahead = [seconds for (seconds,) in rows]
    assert max(ahead) <= 1
    # The IDs do run ahead, so that the test reaches the limit.
    assert max(ahead) > 0.7


def test_ulidflake_is_never_ahead(connection):
    ahead = (
        "SELECT count(*) FROM (SELECT gen_ulidflake() AS id FROM generate_series(1, 100000) OFFSET 0) AS drawn"
        " WHERE ulidflake_timestamp(id) > clock_timestamp()"
    )
    assert connection.execute(ahead).fetchone() == (0,)


def test_an_overflow_of_ulidflake_waits_or_fails(new_server, clock):
    """A millisecond has room for a few thousand IDs. Here the clock stops within one."""
    server = new_server(None, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        draw(connection, ULIDFLAKE)
        clock.freeze("2030-01-01 00:00:00")
        with background(connection, forever(ULIDFLAKE)):
            wait_until_it_waits(server, connection)
        connection.execute("SET scru.ulidflake_on_overflow = error")
        with expect.error(
            expect.EXHAUSTED,
            "could not generate a ulidflake: its random part overflows",
            "There is no greater ID within this millisecond.",
            "Try again: the next millisecond begins with a new random number.",
        ):
            draw(connection, ULIDFLAKE, 10_000)
        clock.freeze("2030-01-01 00:00:00.001")
        assert draw(connection, ULIDFLAKE)


def test_a_new_server_waits_even_where_overflow_is_an_error(new_server, clock):
    """The wait lasts for the second that an earlier run may have been ahead, and the rest of the millisecond. A session
    that wakes within this millisecond continues to wait."""
    server = new_server({"scru.ulidflake_on_overflow": "error"}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        clock.freeze("2030-01-01 00:00:00")
        with background(connection, "SELECT gen_ulidflake()") as first:
            wait_until_it_waits(server, connection)
            clock.freeze("2030-01-01 00:00:01.000500")
            event = f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
            wait_until(lambda: server.value(event) != "Extension", "the session is awake")
            assert not first.done()
            clock.freeze("2030-01-01 00:00:01.002")
            assert first.result(timeout=60).fetchone()


# -------------------------------------------------------------------------------------------------------------- waiting


def test_a_timeout_ends_the_wait(new_server):
    """The generation of a server's first ulidflake waits for a second. The timeout ends this wait.

    A clock that stands still would also stop the timeout. A busy machine can delay a single run.
    """
    for _ in range(3):
        server = new_server({"shared_preload_libraries": ""})
        with server.connect() as connection:
            connection.execute("CREATE EXTENSION scru; SET statement_timeout = '300ms'")
            with expect.error(expect.CANCELED, "canceling statement due to statement timeout"):
                draw(connection, ULIDFLAKE)
            if server.value("SELECT draw FROM scru_generators() WHERE type = 'ulidflake'") == "wait":
                return
    pytest.fail("the wait ended by itself")


CANCELED = (expect.CANCELED, "canceling statement due to user request")
CANCELS = {"pg_cancel_backend": CANCELED, "Ctrl-C": CANCELED}


@pytest.mark.parametrize("end", [*CANCELS, "pg_terminate_backend"])
def test_a_cancel_ends_the_wait(new_server, clock, end):
    """The clock stands still, so that the wait does not end by itself. The next ID follows those of the session."""
    server = new_server(SMALL_COUNTER, clock.environment)
    with server.connect() as connection, server.connect() as other:
        other.execute("CREATE EXTENSION scru")
        [before] = draw(other, SCRU64)
        clock.freeze("2030-01-01 00:00:00")
        with background(connection, forever(SCRU64)) as waiting:
            wait_until_it_waits(server, connection)
            if end == "Ctrl-C":
                connection.cancel()
            else:
                assert server.value(f"SELECT {end}({connection.info.backend_pid})")
            with expect.error(*CANCELS[end]) if end in CANCELS else pytest.raises(psycopg.OperationalError):
                waiting.result(timeout=60)
        # The session has used all ticks up to a second ahead. If its state were lost, the next ID would be in an
        # earlier tick.
        clock.freeze("2030-01-01 00:00:00.256")
        [after] = draw(other, SCRU64)
    assert before < after
    assert SCRU64.unix_milliseconds(SCRU64.value(after)) > 1_893_456_001_000


def test_a_waiting_session_blocks_no_other_session(new_server, clock):
    """The waiting session locks only its virtual transaction ID. The clock stands still: other sessions generate IDs of
    other types, and wait only for the clock."""
    server = new_server(SMALL_COUNTER, clock.environment)
    with server.connect() as connection, server.connect() as other:
        other.execute("CREATE EXTENSION scru")
        for id_type in TYPES:
            draw(other, id_type)
        clock.freeze(f"{datetime.now(UTC) + timedelta(seconds=2):%Y-%m-%d %H:%M:%S}")
        with background(connection, forever(SCRU64)):
            wait_until_it_waits(server, connection)
            locks = f"SELECT DISTINCT locktype FROM pg_locks WHERE pid = {connection.info.backend_pid}"
            assert server.rows(locks) == [("virtualxid",)]
            for id_type in TYPES:
                if id_type is not SCRU64:
                    draw(other, id_type)
            # The waiting session generates most of the IDs, but not all.
            clock.shift(2)
            ids = [id_ for _ in range(5) for id_ in draw(other, SCRU64)]
    assert ids == sorted(set(ids))


@each_server_wide_type
def test_a_suspended_session_blocks_no_other_session(connection, database, id_type):
    """A session holds no lock while it generates IDs: when it is stopped, other sessions continue.

    It holds one when it draws for the first time, which happens before the first stop, and for microseconds about once
    a second, while it writes the mark to the log: one stop may hit it then. A wait for the log cannot be canceled, so
    each stop ends after a while. A draw follows it, so that the lock is released before the next one.
    """
    blocked = 0
    with database.connect() as busy:
        for each in (connection, busy):
            draw(each, id_type)
        connection.execute("SET statement_timeout = '10s'")
        with background(busy, forever(id_type)):
            pid = busy.info.backend_pid
            for _ in range(20):
                os.kill(pid, signal.SIGSTOP)
                end_of_stop = Timer(20, os.kill, (pid, signal.SIGCONT))
                end_of_stop.start()
                try:
                    ids = draw(connection, id_type, 5000)
                    assert ids == sorted(set(ids))
                except psycopg.errors.QueryCanceled:
                    blocked += 1
                finally:
                    end_of_stop.cancel()
                    os.kill(pid, signal.SIGCONT)
                    draw(connection, id_type)
    assert blocked <= 1


# ----------------------------------------------------------------------------------------------------------------- bulk


@each_server_wide_type
def test_a_million_rows_at_once(connection, id_type):
    connection.execute("CREATE TABLE source AS SELECT n FROM generate_series(1, 1000000) AS n")
    connection.execute(f"CREATE TABLE orders (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n int)")
    connection.execute("INSERT INTO orders (n) SELECT n FROM source")
    assert connection.execute("SELECT count(DISTINCT id) FROM orders").fetchone() == (1_000_000,)
