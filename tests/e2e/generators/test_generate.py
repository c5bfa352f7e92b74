"""Generation: IDs of concurrent connections are all different, and those of each are in order of creation."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from threading import Barrier

import pytest

from conftest import Database
from idtypes import SCRU128, TYPES, each_type, of_types
from plans import analyze, explain, prefer_parallel_plans
from server import Server, oldest_and_newest

pytestmark = oldest_and_newest("the generators are in crates/ids, which does not depend on the server")

CONNECTIONS = 50
IDS_EACH = 20_000

# Each type with the shared state, and if possible with a state for each connection.
GENERATORS = [(id_type, "server") for id_type in TYPES]
GENERATORS += [(id_type, "backend") for id_type in TYPES if not id_type.is_server_wide]


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
