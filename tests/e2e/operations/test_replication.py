"""Physical replication to a standby that is promoted, and logical replication between two servers that both write."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

import amcheck
import orders
from idtypes import SERVER_WIDE, TYPES
from server import since, wait_until

# ------------------------------------------------------------------------------------------------------------- physical


def test_a_promoted_standby_has_all_rows(new_server):
    """The standby has the same rows and working indexes. It generates no 64-bit IDs until it is promoted."""
    primary = new_server()
    with primary.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        if amcheck.is_available(connection):
            amcheck.install(connection)
        for id_type in TYPES:
            orders.create(connection, id_type)
    standby = primary.standby()
    try:
        with primary.connect() as connection:
            before = {}
            for id_type in TYPES:
                orders.set_search_path(connection, id_type)
                connection.execute("INSERT INTO orders (note) SELECT 'streamed' FROM generate_series(1, 500)")
                connection.execute("UPDATE indexed SET n = -n WHERE n % 3 = 0; DELETE FROM ranges WHERE n % 5 = 0")
                before[id_type] = orders.contents(connection)
        standby.wait_until_replayed(primary)
        with standby.connect() as connection:
            for id_type in TYPES:
                orders.set_search_path(connection, id_type)
                assert orders.contents(connection) == before[id_type]
                orders.check_indexes(connection, id_type)
            for id_type in SERVER_WIDE:
                with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                    connection.execute(f"SELECT {id_type.generator}")
        primary.kill()
        standby.promote()
        with standby.connect() as connection:
            for id_type in TYPES:
                orders.set_search_path(connection, id_type)
                assert orders.contents(connection) == before[id_type]
                orders.assert_new_ids_are_largest(connection)
                orders.check_indexes(connection, id_type)
    finally:
        standby.remove()


# -------------------------------------------------------------------------------------------------------------- logical

# Two nodes of the same size, so that the servers' IDs are different.
NODES = [
    {"wal_level": "logical", "scru.scru64_node": "1/4", "scru.ulidflake_scalability": "1"},
    {"wal_level": "logical", "scru.scru64_node": "2/4", "scru.ulidflake_scalability": "2"},
]


@pytest.fixture
def nodes(new_server) -> Iterator[list[psycopg.Connection]]:
    """Connections to two servers with the extension. Its types have different OIDs on them."""
    servers = [new_server(settings) for settings in NODES]
    connections = [server.connect() for server in servers]
    connections[1].execute("CREATE TYPE before AS ENUM ('takes', 'some', 'OIDs'); DROP TYPE before")
    for connection in connections:
        connection.execute("CREATE EXTENSION scru")
    oids = [connection.execute("SELECT 'scru128'::regtype::oid").fetchone() for connection in connections]
    assert oids[0] != oids[1]
    yield connections
    for connection in connections:
        connection.close()


def create(connection: psycopg.Connection, name: str) -> None:
    """Creates for each type a table of this name, in a schema named like the type."""
    for id_type in TYPES:
        t = id_type.name
        connection.execute(
            f"""
            CREATE SCHEMA IF NOT EXISTS {t};
            CREATE TABLE {t}.{name} (id {t} PRIMARY KEY DEFAULT {id_type.generator}, n int, parent {t}, others {t}[]);
            CREATE INDEX ON {t}.{name} USING hash (id);
            CREATE INDEX ON {t}.{name} USING brin (id);
            """
        )


def write(connection: psycopg.Connection, name: str, writer: int) -> None:
    """Inserts rows of a writer, updates some of them, and deletes others."""
    for id_type in TYPES:
        table = f"{id_type.name}.{name}"
        connection.execute(f"INSERT INTO {table} (n) SELECT {writer} FROM generate_series(1, 300)")
        own = f"SELECT id, row_number() OVER (ORDER BY id) AS nth FROM {table} WHERE n = {writer}"
        connection.execute(
            f"""
            UPDATE {table} AS t SET parent = t.id, others = ARRAY[t.id, NULL, '{id_type.text(id_type.largest)}']
                FROM ({own}) AS own WHERE own.id = t.id AND nth % 3 = 0;
            DELETE FROM {table} AS t USING ({own}) AS own WHERE own.id = t.id AND nth % 4 = 0;
            """
        )


def contents(connection: psycopg.Connection, name: str) -> list[list[tuple]]:
    """Returns all rows of the tables of this name."""
    return [connection.execute(f"SELECT t::text FROM {t.name}.{name} AS t ORDER BY id").fetchall() for t in TYPES]


def publish(connection: psycopg.Connection, name: str) -> None:
    """Publishes the tables of this name."""
    tables = ", ".join(f"{id_type.name}.{name}" for id_type in TYPES)
    connection.execute(f"CREATE PUBLICATION {name} FOR TABLE {tables}")


def subscribe(
    connection: psycopg.Connection, to: psycopg.Connection, name: str, subscription: str, options: str
) -> None:
    """Subscribes to a publication of the other server, and waits for the initial copy."""
    other = f"host={to.info.host} dbname=postgres user=postgres"
    connection.execute(f"CREATE SUBSCRIPTION {subscription} CONNECTION '{other}' PUBLICATION {name} WITH ({options})")
    synchronized = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
    wait_until(lambda: connection.execute(synchronized).fetchone()[0], "the initial copy is complete")


def wait_until_sent(connection: psycopg.Connection) -> None:
    """Waits until the subscriber has applied everything that this server has written."""
    [(written,)] = connection.execute("SELECT pg_current_wal_insert_lsn()::text")
    sent = f"SELECT count(*) > 0 AND bool_and(replay_lsn >= '{written}'::pg_lsn) FROM pg_stat_replication"
    wait_until(lambda: connection.execute(sent).fetchone()[0], f"the other server has applied {written}")


def check_tables(connection: psycopg.Connection, name: str) -> None:
    """Checks that the indexes are valid and find each row."""
    if amcheck.is_available(connection):
        connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
    for id_type in TYPES:
        table = f"{id_type.name}.{name}"
        if amcheck.is_available(connection):
            amcheck.check(connection, f"{table}_pkey")
        indexes = {f"{name}_pkey": f"ALTER TABLE {table} DROP CONSTRAINT {name}_pkey"}
        indexes |= {index: f"DROP INDEX {id_type.name}.{index}" for index in (f"{name}_id_idx", f"{name}_id_idx1")}
        for index in indexes:
            with connection.transaction(force_rollback=True):
                # Tests one index at a time: drops the others in a transaction that is rolled back.
                for other in indexes.keys() - {index}:
                    connection.execute(indexes[other])
                # OFFSET 0 prevents PostgreSQL 18 from removing the self-join.
                ids = f"(SELECT id FROM {table} OFFSET 0) AS a"
                query = f"SELECT b.id::text, b.n FROM {ids} JOIN {table} AS b ON b.id = a.id"
                orders.compare_with_all_rows(connection, query, index)


@pytest.mark.parametrize("binary", ["false", "true"], ids=["text", "binary"])
def test_two_servers_send_each_other_what_they_write(nodes, binary):
    """Each server writes its own tables, before and after the other one subscribes to them."""
    names = ["first", "second"]
    for connection in nodes:
        for name in names:
            create(connection, name)
    for writer, name in enumerate(names):
        write(nodes[writer], name, writer)
        publish(nodes[writer], name)
    for writer, name in enumerate(names):
        subscribe(nodes[1 - writer], nodes[writer], name, f"of_{name}", f"binary = {binary}")
    for writer, name in enumerate(names):
        write(nodes[writer], name, writer)
    for connection in nodes:
        wait_until_sent(connection)
    for name in names:
        here, there = (contents(connection, name) for connection in nodes)
        assert here == there
        assert [len(rows) for rows in here] == [300 - 75 + (525 - 525 // 4) - 225] * len(TYPES)
        for connection in nodes:
            check_tables(connection, name)
    unsubscribe(nodes)


@since(16, "subscriptions with origin = none")
@pytest.mark.parametrize("binary", ["false", "true"], ids=["text", "binary"])
def test_two_servers_write_the_same_tables(nodes, binary):
    """Each server replicates its own writes to the other. 64-bit IDs differ because each server has its own node."""
    for connection in nodes:
        create(connection, "shared")
    write(nodes[0], "shared", 0)
    for connection in nodes:
        publish(connection, "shared")
    subscribe(nodes[1], nodes[0], "shared", "of_first", f"binary = {binary}, origin = none")
    subscribe(nodes[0], nodes[1], "shared", "of_second", f"binary = {binary}, origin = none, copy_data = false")
    for _ in range(3):
        for writer, connection in enumerate(nodes):
            write(connection, "shared", writer)
    for _ in range(2):  # each server must also have decoded, and skipped, the rows that it has applied
        for connection in nodes:
            wait_until_sent(connection)
    here, there = (contents(connection, "shared") for connection in nodes)
    assert here == there
    for id_type in TYPES:
        writers = f"SELECT n, count(*) > 100 FROM {id_type.name}.shared GROUP BY n ORDER BY n"
        assert nodes[0].execute(writers).fetchall() == [(0, True), (1, True)]
    for connection in nodes:
        check_tables(connection, "shared")
        errors = """
            SELECT coalesce(sum(value::bigint), 0)
            FROM pg_stat_subscription_stats AS stats, jsonb_each_text(to_jsonb(stats)) WHERE key LIKE '%error_count'
        """
        assert connection.execute(errors).fetchone() == (0,)
    unsubscribe(nodes)


def unsubscribe(nodes: list[psycopg.Connection]) -> None:
    """Drops the subscriptions, so that the servers can shut down without waiting for each other."""
    for connection, subscription in zip(nodes, ["of_second", "of_first"], strict=True):
        connection.execute(f"DROP SUBSCRIPTION {subscription}")
