"""What outlives the server: IDs after a kill, a crash of one backend, and on a standby that takes over."""

from __future__ import annotations

import psycopg
import pytest

import amcheck
from idtypes import each_type


def create_orders(connection, id_type) -> None:
    """A table of IDs, in order of creation by its number."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS scru")
    connection.execute(f"CREATE TABLE orders (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n bigserial)")


def insert(connection, count: int) -> None:
    """So many new orders, in one transaction that is committed."""
    connection.execute("INSERT INTO orders SELECT FROM generate_series(1, %s)", [count])


def assert_all_is_there(server, count: int) -> None:
    """So many orders, by the primary key's index in order of creation."""
    with server.connect() as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        in_order = [n for (n,) in connection.execute("SELECT n FROM orders ORDER BY id")]
        assert len(in_order) == count and in_order == sorted(in_order)


@each_type
@pytest.mark.parametrize("end", ["kill", "immediate"])
def test_a_killed_server_recovers(new_server, id_type, end):
    server = new_server()
    with server.connect() as connection:
        amcheck.install(connection)
        create_orders(connection, id_type)
        insert(connection, 20_000)
        if end == "kill":
            server.kill()
        else:
            server.stop("immediate")
    server.start()
    assert "database system was not properly shut down" in server.log_text()
    with server.connect() as connection:
        insert(connection, 1000)
        amcheck.check(connection, "orders_pkey")
    assert_all_is_there(server, 21_000)


@each_type
def test_a_killed_backend_takes_no_id_along(new_server, id_type):
    """The server ends all sessions and recovers by itself; then IDs go on, and none that was committed is lost."""
    server = new_server()
    with server.connect() as connection:
        create_orders(connection, id_type)
        insert(connection, 5000)
        server.kill_backend(connection.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            insert(connection, 1)
    server.wait_until_ready()
    with server.connect() as connection:
        insert(connection, 5000)
    assert_all_is_there(server, 10_000)


@each_type
def test_a_standby_reads_and_takes_over(new_server, id_type):
    """A standby has the same IDs and finds them; promoted, it generates the next."""
    primary = new_server()
    with primary.connect() as connection:
        create_orders(connection, id_type)
        insert(connection, 5000)
    standby = primary.standby()
    try:
        with primary.connect() as connection:
            insert(connection, 5000)
            [(newest,)] = connection.execute("SELECT max(id)::text FROM orders")
        standby.wait_until_replayed(primary)
        assert standby.value("SELECT pg_is_in_recovery()") is True
        assert_all_is_there(standby, 10_000)
        primary.kill()
        standby.promote()
        with standby.connect() as connection:
            insert(connection, 5000)
            [(greater,)] = connection.execute("SELECT count(*) FROM orders WHERE id > %s", [newest])
        assert greater == 5000
        assert_all_is_there(standby, 15_000)
    finally:
        standby.remove()
