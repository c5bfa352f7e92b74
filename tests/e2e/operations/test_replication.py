"""Physical replication to a standby that is promoted, logical replication, and the output plugins of logical decoding,
for change data capture. test_several_servers.py has servers that both write.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator

import psycopg
import pytest

import expect
import orders
from idtypes import SCRU64, SCRU128, IdType, each_form
from marks import create
from programs import needs
from server import MAJOR, Server, on_every_version, wait_until

pytestmark = on_every_version
# One passed by value, one by reference.
FORMS = [SCRU64, SCRU128]


def prepare(connection: psycopg.Connection, rows: int = 300) -> None:
    """Creates the orders of both types."""
    if expect.has_amcheck(connection):
        expect.install_amcheck(connection)
    for id_type in FORMS:
        orders.create(connection, id_type, rows=rows)


def write(connection: psycopg.Connection) -> dict[IdType, dict]:
    """Changes the orders of both types, each in a transaction, and returns their contents."""
    contents = {}
    for id_type in FORMS:
        orders.set_search_path(connection, id_type)
        with connection.transaction():
            connection.execute("INSERT INTO orders (note) SELECT 'streamed' FROM generate_series(1, 500)")
            connection.execute("UPDATE indexed SET n = -n WHERE n % 9 = 0; DELETE FROM ranges WHERE n % 5 = 0")
        contents[id_type] = orders.contents(connection)
    return contents


def check(connection: psycopg.Connection, contents: dict[IdType, dict]) -> None:
    """Checks that a server has these contents, and working indexes."""
    for id_type in FORMS:
        orders.set_search_path(connection, id_type)
        assert orders.contents(connection) == contents[id_type]
        orders.check_indexes(connection, id_type)


def test_a_promoted_standby_has_all_rows(new_server):
    """Both servers read by the method that is not the default."""
    primary = create(new_server({"io_method": "sync"} if MAJOR >= 18 else None))
    with primary.connect() as connection:
        prepare(connection)
        with primary.standby() as standby:
            contents = write(connection)
            standby.wait_until_replayed(primary)
            with standby.connect() as reader:
                check(reader, contents)
            primary.kill()
            standby.promote()
            with standby.connect() as promoted:
                check(promoted, contents)
                for id_type in FORMS:
                    orders.set_search_path(promoted, id_type)
                    orders.assert_new_ids_are_largest(promoted)
                    orders.check_indexes(promoted, id_type)


@pytest.mark.parametrize("binary", ["false", "true"], ids=["text", "binary"])
def test_a_subscriber_has_all_rows(new_server, binary):
    """It copies rows, applies a transaction while it runs, and finds rows by all columns. Its types have other OIDs."""
    logical = {"wal_level": "logical", "logical_decoding_work_mem": "64kB"}
    publisher, subscriber = create(new_server(logical)), new_server()
    with publisher.connect() as there, subscriber.connect() as here:
        here.execute("CREATE TYPE before AS ENUM ('takes', 'some', 'OIDs'); CREATE EXTENSION scru")
        prepare(there)
        prepare(here, rows=0)
        oids = [connection.execute("SELECT 'scru128'::regtype::oid").fetchone() for connection in (here, there)]
        assert oids[0] != oids[1]
        for id_type in FORMS:
            there.execute(f"ALTER TABLE {id_type}.indexed REPLICA IDENTITY FULL")
        there.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        address = f"host={publisher.directory} user=postgres dbname=postgres"
        options = f"binary = {binary}, streaming = {'parallel' if MAJOR >= 16 else 'true'}"
        here.execute(f"CREATE SUBSCRIPTION all_ CONNECTION '{address}' PUBLICATION everything WITH ({options})")
        synchronized = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
        wait_until(lambda: here.execute(synchronized).fetchone()[0], "the initial copy is complete")
        contents = write(there)
        [(written,)] = there.execute("SELECT pg_current_wal_insert_lsn()::text")
        applied = f"SELECT count(*) > 0 AND bool_and(replay_lsn >= '{written}') FROM pg_stat_replication"
        wait_until(lambda: there.execute(applied).fetchone()[0], f"the subscriber has applied {written}")
        check(here, contents)
        assert there.execute("SELECT sum(stream_txns) > 0 FROM pg_stat_replication_slots").fetchone() == (True,)


# ------------------------------------------------------------------------------------------------------- output plugins


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


@needs("wal2json")
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


@needs("decoderbufs")
def test_decoderbufs(connection, changes):
    """Debezium's plugin sends an ID as its text, and the name of its type. A deletion has the key of the row."""

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
