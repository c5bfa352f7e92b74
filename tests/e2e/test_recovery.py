"""What outlives the server: IDs after a kill, a crash of one backend, and on a standby that takes over."""

from __future__ import annotations

import psycopg
import pytest

import amcheck
from idtypes import TYPES


def create_orders(connection) -> None:
    """For each type a table of IDs and the numbers of their rows."""
    connection.execute("CREATE EXTENSION scru")
    for id_type in TYPES:
        columns = f"id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n bigserial"
        connection.execute(f"CREATE TABLE {id_type.name}_orders ({columns})")


def insert(connection, count: int) -> None:
    """So many new orders of each type, in transactions that are committed."""
    for id_type in TYPES:
        connection.execute(f"INSERT INTO {id_type.name}_orders SELECT FROM generate_series(1, %s)", [count])


def assert_all_are_there(server, count: int) -> None:
    """So many orders of each type, by the primary key's index in order of creation."""
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


def test_a_killed_backend_takes_no_id_along(new_server):
    """The server ends all sessions and recovers by itself; then IDs go on, and none that was committed is lost."""
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


def test_a_standby_reads_and_takes_over(new_server):
    """A standby has the same IDs and finds them; promoted, it generates the next."""
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
