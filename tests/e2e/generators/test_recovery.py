"""Recovery: committed IDs survive a kill of the server, a crash of one backend, and a failover to a standby."""

from __future__ import annotations

from contextlib import ExitStack

import psycopg
import pytest

import amcheck
from ends import ENDS, bring_back
from idtypes import TYPES
from load import Load, assert_all_different
from server import oldest_and_newest

pytestmark = oldest_and_newest(
    "the mark depends on the version only in how src/pg/server.rs finds WAL records: in one way up to 18"
)


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
        amcheck.install(connection)
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
            amcheck.check(connection, f"{id_type.name}_orders_pkey")
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
            amcheck.check_if_there(connection, f"{id_type.name}_orders_pkey")


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
