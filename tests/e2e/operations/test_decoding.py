"""Change data capture: IDs in the output of logical decoding plugins."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator

import psycopg
import pytest

from idtypes import IdType, each_type
from programs import has_library, skip_unless
from server import Server, oldest_and_newest

pytestmark = oldest_and_newest("plugins call the output functions, which test_io.py tests")


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
