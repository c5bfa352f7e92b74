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
from idtypes import SCRU128, SERVER_WIDE, TYPES, IdType, each_form
from programs import has_library, skip_unless
from server import Server, on_every_version, wait_until

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


def subscribe(connection: psycopg.Connection, to: psycopg.Connection, name: str, binary: str) -> None:
    """Subscribes to the tables of this name of the other server, and waits for the initial copy."""
    to.execute(f"CREATE PUBLICATION {name} FOR TABLE {', '.join(f'{id_type}.{name}' for id_type in TYPES)}")
    other = f"host={to.info.host} dbname=postgres user=postgres"
    options = f"binary = {binary}"
    connection.execute(f"CREATE SUBSCRIPTION of_{name} CONNECTION '{other}' PUBLICATION {name} WITH ({options})")
    synchronized = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
    wait_until(lambda: connection.execute(synchronized).fetchone()[0], "the initial copy is complete")


def wait_until_sent(connection: psycopg.Connection) -> None:
    """Waits until the subscriber has applied everything that this server has written."""
    [(written,)] = connection.execute("SELECT pg_current_wal_insert_lsn()::text")
    sent = f"SELECT count(*) > 0 AND bool_and(replay_lsn >= '{written}'::pg_lsn) FROM pg_stat_replication"
    wait_until(lambda: connection.execute(sent).fetchone()[0], f"the other server has applied {written}")


@pytest.mark.parametrize("binary", ["false", "true"], ids=["text", "binary"])
def test_two_servers_send_each_other_what_they_write(nodes, binary):
    """Each server writes its own tables, before and after the other one subscribes to them."""
    names = ["first", "second"]
    for connection in nodes:
        for name in names:
            create(connection, name)
    for writer, name in enumerate(names):
        write(nodes[writer], name, writer)
    for writer, name in enumerate(names):
        subscribe(nodes[1 - writer], nodes[writer], name, binary)
    for writer, name in enumerate(names):
        write(nodes[writer], name, writer)
    for connection in nodes:
        wait_until_sent(connection)
    for name in names:
        here, there = (contents(connection, name) for connection in nodes)
        assert here == there
        assert [len(rows) for rows in here] == [300 - 75 + (525 - 525 // 4) - 225] * len(TYPES)
    # Otherwise, the servers would wait for each other when they shut down.
    for connection, name in zip(nodes, reversed(names), strict=True):
        connection.execute(f"DROP SUBSCRIPTION of_{name}")


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


def row(kind: bytes, *values: bytes | None) -> bytes:
    """Returns a row of the protocol, whose values are texts (kind `t`) or binary (`b`)."""
    columns = [b"n" if value is None else kind + struct.pack("!I", len(value)) + value for value in values]
    return struct.pack("!H", len(values)) + b"".join(columns)


@each_form
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_pgoutput(connection, changes, id_type, binary):
    """The type appears by its name, and an ID as its text, or as its bytes if the consumer requests binary."""
    text = change(connection, id_type, "pgoutput")
    query = """SELECT data FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL,
               'proto_version', '1', 'publication_names', 'orders', 'binary', %s)"""
    messages = changes(query, str(binary).lower())
    oids = f"SELECT '{id_type}'::regtype::oid::int, '{id_type}[]'::regtype::oid::int"
    oid, array_oid = connection.execute(oids).fetchone()
    kind, value, array = b"t", text.encode(), f"{{{text},NULL}}".encode()
    if binary:
        kind, value = b"b", id_type.binary(id_type.value(text))
        array = struct.pack("!6I", 1, 1, oid, 2, 1, id_type.length) + value + b"\xff\xff\xff\xff"
    assert {message for message in messages if message.startswith(b"Y")} == {
        b"Y" + struct.pack("!I", oid) + f"public\0{id_type}\0".encode(),
        b"Y" + struct.pack("!I", array_oid) + f"public\0_{id_type}\0".encode(),
    }
    # Without the OID of the table, and the kind of the row.
    assert [message[:1] + message[6:] for message in messages if message[:1] in b"IUD"] == [
        b"I" + row(kind, value, None, b"made"),
        b"U" + row(kind, value, array, b"made"),
        b"D" + row(kind, value, None, None),
    ]


@needs_plugin("wal2json")
def test_wal2json(connection, changes):
    """The type appears by its name, and an ID as its text."""
    text = change(connection, SCRU128, "wal2json")
    query = """SELECT data FROM pg_logical_slot_get_changes('changes', NULL, NULL,
               'format-version', '2', 'include-transaction', 'false')"""
    inserted, updated, deleted = map(json.loads, changes(query))
    id = {"name": "id", "type": "scru128", "value": text}
    assert inserted["columns"][0] == id
    assert updated["columns"][:2] == [id, {"name": "ids", "type": "scru128[]", "value": f"{{{text},NULL}}"}]
    assert (updated["identity"], deleted["identity"]) == ([id], [id])


@needs_plugin("decoderbufs")
def test_decoderbufs(connection, changes):
    """Debezium's plugin sends an ID as the bytes of its text, and the name of its type. A deletion has the key of the
    row."""

    def field(number: int, value: bytes) -> bytes:
        """Returns a field in the encoding of Protocol Buffers."""
        return bytes([number << 3 | 2, len(value)]) + value

    text = change(connection, SCRU128, "decoderbufs").encode()
    rows = changes("SELECT data FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL)")
    inserted, updated, deleted = (each for each in rows if field(1, b"id") in each)
    name, datum_bytes = 1, 9
    for message in inserted, updated, deleted:
        assert field(datum_bytes, text) in message
    assert field(datum_bytes, b"{%b,NULL}" % text) in updated
    for type_name in b"scru128", b"scru128[]":
        assert field(name, type_name) in inserted
