"""Generation: IDs from many connections at once are all different, and each connection's are in order of creation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import pytest

from conftest import Database
from idtypes import each_type
from plans import analyze, explain, prefer_parallel_plans

CONNECTIONS = 50
IDS_EACH = 20_000


def at_once(database: Database, work, connections: int = CONNECTIONS) -> list:
    """What `work(connection, number)` returns on so many connections that open, and then work, all in one instant."""
    barrier = Barrier(connections, timeout=60)

    def run(number: int):
        barrier.wait()
        with database.connect() as connection:
            return work(connection, number)

    with ThreadPoolExecutor(connections) as pool:
        return list(pool.map(run, range(connections)))


@pytest.fixture(params=["not preloaded", "preloaded"])
def any_database(request, new_server) -> Database:
    """A database of a server that loads the library when a session needs it; and of one on which it is preloaded, so
    that all sessions' processes are forked from one that has it loaded."""
    preload = "scru" if request.param == "preloaded" else ""
    server = new_server({"shared_preload_libraries": preload})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    return Database(server, "postgres")


@each_type
def test_concurrent_connections_draw_no_duplicate(any_database, id_type):
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
    assert drawn == (CONNECTIONS * IDS_EACH, CONNECTIONS * IDS_EACH, CONNECTIONS)
    assert out_of_order == (0,)


def test_connections_of_one_instant_share_nothing(any_database):
    """Each seeds its random numbers by itself: nothing is left from a common parent process, or taken from the clock.

    Two of 50 honest 48-bit counters lie so close to each other once in 10^8 runs; two of their 32-bit entropies are the
    same once in 10^6.
    """

    def first_id(connection, _number):
        return connection.execute(
            "SELECT scru128_counter_hi(id), scru128_counter_lo(id), scru128_entropy(id) FROM gen_scru128() AS id"
        ).fetchone()

    firsts = at_once(any_database, first_id)
    counters = sorted(hi << 24 | lo for hi, lo, _ in firsts)
    assert all(later - earlier > 1000 for earlier, later in pairwise(counters))
    assert len({entropy for _, _, entropy in firsts}) == CONNECTIONS
    # Each field is random by itself, in its whole range: both of its halves occur.
    for field, bits in zip(zip(*firsts, strict=True), (24, 24, 32), strict=True):
        assert {value >> (bits - 1) for value in field} == {0, 1}


@each_type
def test_index_order_is_order_of_creation(connection, id_type):
    connection.execute(
        f"CREATE TABLE orders (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, seq bigserial, note text)"
    )
    # As bulk loads, as many rows in one statement, and as one row at a time, each in its transaction.
    connection.execute("INSERT INTO orders (note) SELECT 'bulk' FROM generate_series(1, 100000)")
    for _ in range(98):
        connection.execute("INSERT INTO orders (note) SELECT 'batch' FROM generate_series(1, 1000)")
    for _ in range(2000):
        connection.execute("INSERT INTO orders (note) VALUES ('single')")
    connection.execute("VACUUM ANALYZE orders")

    connection.execute("SET enable_sort = off")
    for direction, query in (1, "SELECT seq FROM orders ORDER BY id"), (-1, "SELECT seq FROM orders ORDER BY id DESC"):
        assert "using orders_pkey on orders" in explain(connection, query)
        in_index_order = [seq for (seq,) in connection.execute(query)]
        assert in_index_order == list(range(1, 200_001))[::direction]


@each_type
def test_ids_bear_the_time_of_their_creation(connection, id_type):
    before, (id_time,), after = (
        connection.execute(query).fetchone()
        for query in (
            "SELECT date_trunc('milliseconds', clock_timestamp())",
            f"SELECT {id_type.name}_timestamp({id_type.generator})",
            "SELECT clock_timestamp()",
        )
    )
    assert before[0] <= id_time <= after[0]


def test_parallel_workers_draw_no_duplicate(connection):
    """gen_scru128() is PARALLEL SAFE, and means it: workers, each with a state of its own, generate at one time."""
    prefer_parallel_plans(connection)
    connection.execute("SET parallel_leader_participation = off")
    connection.execute("CREATE UNLOGGED TABLE rows AS SELECT generate_series(1, 300000) AS n")
    connection.execute("ANALYZE rows")
    create = "CREATE UNLOGGED TABLE drawn AS SELECT n, gen_scru128() AS id FROM rows"
    plan = analyze(connection, create)
    assert plan["Node Type"] == "Gather" and plan["Workers Launched"] >= 2
    # The workers generated, and not the leader on what they handed over.
    [scan] = plan["Plans"]
    assert "gen_scru128()" in scan["Output"]
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone() == (300_000, 300_000)


def test_insert_select_under_parallel_settings_draws_no_duplicate(connection):
    prefer_parallel_plans(connection)
    connection.execute("CREATE TABLE drawn (id scru128 PRIMARY KEY DEFAULT gen_scru128(), n int)")
    connection.execute("INSERT INTO drawn SELECT gen_scru128(), n FROM generate_series(1, 100000) AS n")
    connection.execute("INSERT INTO drawn (n) SELECT n FROM drawn")
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM drawn").fetchone() == (200_000, 200_000)
