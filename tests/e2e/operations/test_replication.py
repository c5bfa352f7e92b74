"""Physical replication to a standby that is promoted, logical replication between two servers that both write, and the
output plugins of logical decoding, for change data capture.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator

import psycopg
import pytest

import expect
import orders
from idtypes import SERVER_WIDE, TYPES, IdType, each_type
from programs import has_library, skip_unless
from server import Server, on_every_version, since, wait_until

pytestmark = on_every_version

# ------------------------------------------------------------------------------------------------------------- physical


def test_a_promoted_standby_has_all_rows(new_server):
    """The standby has the same rows and working indexes. It generates no 64-bit IDs until it is promoted."""
    primary = new_server()
    with primary.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        if expect.has_amcheck(connection):
            expect.install_amcheck(connection)
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
    if expect.has_amcheck(connection):
        connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
    for id_type in TYPES:
        table = f"{id_type.name}.{name}"
        if expect.has_amcheck(connection):
            expect.intact(connection, f"{table}_pkey")
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


# ------------------------------------------------------------------------------------------------------- output plugins


def needs_plugin(name: str):
    """Returns a mark that skips tests unless the server has the plugin."""
    return skip_unless(has_library(name), f"this server has no {name} (Debian: postgresql-NN-{name})")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with logical decoding."""
    with Server({"wal_level": "logical", "max_replication_slots": "10"}) as server:
        # Minor releases of 2026 have a list of permitted plugins.
        for (libraries,) in server.rows("SELECT setting FROM pg_settings WHERE name = 'output_plugin_libraries'"):
            server.reload(output_plugin_libraries=f"{libraries}, wal2json, decoderbufs".removeprefix(", "))
        yield server
        assert server.crashes() == []


@pytest.fixture
def changes(connection: psycopg.Connection, database) -> Iterator[Callable[..., list]]:
    """Returns the output of a plugin: changes(query, *arguments). Drops the replication slots after the test."""
    yield lambda query, *arguments: [data for (data,) in connection.execute(query, arguments)]
    connection.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")


def change(connection: psycopg.Connection, id_type: IdType, plugin: str) -> str:
    """Creates a slot for the plugin; inserts, updates and deletes a row. Returns the text of its ID."""
    connection.execute(
        f"CREATE TABLE orders (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, ids {id_type.name}[],"
        " note text)"
    )
    connection.execute("CREATE PUBLICATION orders FOR TABLE orders")
    connection.execute("SELECT pg_create_logical_replication_slot('changes', %s)", [plugin])
    [text] = connection.execute("INSERT INTO orders VALUES (DEFAULT, NULL, 'made') RETURNING id::text").fetchone()
    connection.execute("UPDATE orders SET ids = ARRAY[id, NULL]")
    connection.execute("DELETE FROM orders")
    return text


def of_pgoutput(messages: list[bytes]) -> Iterator[tuple]:
    """Yields the types and the rows in messages of the protocol. A row has the kind and the value of each column."""

    def string(data: bytes) -> tuple[str, bytes]:
        text, _, rest = data.partition(b"\0")
        return text.decode(), rest

    def row(data: bytes) -> list[tuple[str, bytes | None]]:
        (count,), data, values = struct.unpack("!H", data[:2]), data[2:], []
        for _ in range(count):
            kind, data, value = data[:1].decode(), data[1:], None
            if kind in "tb":
                length = struct.unpack("!I", data[:4])[0]
                value, data = data[4 : 4 + length], data[4 + length :]
            values.append((kind, value))
        return values

    for message in messages:
        match message[:1]:
            case b"Y":
                schema, rest = string(message[5:])
                yield "type", struct.unpack("!I", message[1:5])[0], schema, string(rest)[0]
            case b"I" | b"U" | b"D":
                yield message[:1].decode(), row(message[6:])


@each_type
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_pgoutput(connection, changes, id_type, binary):
    """The type appears by its name, and an ID as its text, or as its bytes if the consumer requests binary."""
    text = change(connection, id_type, "pgoutput")
    query = """SELECT data FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL,
               'proto_version', '1', 'publication_names', 'orders', 'binary', %s)"""
    messages = list(of_pgoutput(changes(query, str(binary).lower())))

    oid, array_oid = connection.execute(
        f"SELECT '{id_type}'::regtype::oid::int, '{id_type}[]'::regtype::oid::int"
    ).fetchone()
    if binary:
        value = "b", id_type.binary(id_type.value(text))
        item = struct.pack("!I", id_type.length) + value[1]
        array = "b", struct.pack("!IIIII", 1, 1, oid, 2, 1) + item + b"\xff\xff\xff\xff"
        note = "b", b"made"
    else:
        value, array, note = ("t", text.encode()), ("t", f"{{{text},NULL}}".encode()), ("t", b"made")
    none = ("n", None)
    assert {m for m in messages if m[0] == "type"} == {
        ("type", oid, "public", id_type.name),
        ("type", array_oid, "public", f"_{id_type}"),
    }
    assert [m for m in messages if m[0] != "type"] == [
        ("I", [value, none, note]),
        ("U", [value, array, note]),
        ("D", [value, none, none]),
    ]


@each_type
@needs_plugin("wal2json")
def test_wal2json(connection, changes, id_type):
    """The type appears by its name, and an ID as its text."""
    text = change(connection, id_type, "wal2json")
    query = """SELECT data FROM pg_logical_slot_get_changes('changes', NULL, NULL,
               'format-version', '2', 'include-transaction', 'false')"""
    inserted, updated, deleted = map(json.loads, changes(query))
    id = {"name": "id", "type": id_type.name, "value": text}
    assert inserted["columns"][0] == id
    assert updated["columns"][:2] == [id, {"name": "ids", "type": f"{id_type}[]", "value": f"{{{text},NULL}}"}]
    assert (updated["identity"], deleted["identity"]) == ([id], [id])


def of_protobuf(message: bytes) -> dict[int, list]:
    """Returns the values of a message of Protocol Buffers by their field numbers: integers, or bytes."""

    def number() -> int:
        nonlocal message
        value = shift = 0
        while True:
            byte, message = message[0], message[1:]
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    fields: dict[int, list] = {}
    while message:
        field, wire_type = divmod(number(), 8)
        value = number()
        if wire_type == 2:
            value, message = message[:value], message[value:]
        fields.setdefault(field, []).append(value)
    return fields


@each_type
@needs_plugin("decoderbufs")
def test_decoderbufs(connection, changes, id_type):
    """Debezium's plugin sends an ID as the bytes of its text, and the name of its type. An update and a delete have the
    key of the row."""
    text = change(connection, id_type, "decoderbufs").encode()
    [oid] = connection.execute(f"SELECT '{id_type}'::regtype::oid::int").fetchone()
    messages = changes("SELECT data FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL)")
    operation, new, old, types = 4, 5, 6, 7
    inserted, updated, deleted = (row for row in map(of_protobuf, messages) if row[operation][0] < 3)
    name, column_type, datum_string, datum_bytes = 1, 2, 8, 9
    id = {name: [b"id"], column_type: [oid], datum_bytes: [text]}
    assert [of_protobuf(column) for column in inserted[new]][::2] == [
        id,
        {name: [b"note"], column_type: [25], datum_string: [b"made"]},
    ]
    assert [of_protobuf(info)[1] for info in inserted[types]] == [
        [type_name.encode()] for type_name in (id_type.name, f"{id_type}[]", "text")
    ]
    assert of_protobuf(updated[new][0]) == id
    assert of_protobuf(updated[new][1])[datum_bytes] == [b"{%b,NULL}" % text]
    assert of_protobuf(deleted[old][0]) == id
