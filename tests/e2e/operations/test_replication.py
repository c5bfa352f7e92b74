"""Physical and logical replication, and the output plugins of logical decoding. Servers that both write are in
test_several_servers.py."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import psycopg
import pytest

import expect
import orders
from idtypes import SCRU64, SCRU128, TYPES, IdType, each_form
from marks import HOUR, NODE, assert_all_behind_mark, assert_later, create, draw_all, insert
from programs import needs
from server import MAJOR, Server, on_every_version, since, wait_until

pytestmark = on_every_version
# One passed by value, one by reference.
FORMS = [SCRU64, SCRU128]
SYNCHRONIZED = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"


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
        wait_until(lambda: here.execute(SYNCHRONIZED).fetchone()[0], "the initial copy is complete")
        contents = write(there)
        [(written,)] = there.execute("SELECT pg_current_wal_insert_lsn()::text")
        applied = f"SELECT count(*) > 0 AND bool_and(replay_lsn >= '{written}') FROM pg_stat_replication"
        wait_until(lambda: there.execute(applied).fetchone()[0], f"the subscriber has applied {written}")
        check(here, contents)
        assert there.execute("SELECT sum(stream_txns) > 0 FROM pg_stat_replication_slots").fetchone() == (True,)


@since(17, "failover slots")
def test_a_subscriber_continues_with_a_promoted_standby(new_server, clock):
    """The standby has its slot, and a clock that is behind. Each ID arrives once, and the new ones are largest."""
    clock.shift(3)
    logical = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
    primary, subscriber = create(new_server(logical, clock.environment)), create(new_server(logical))
    for server in primary, subscriber:
        insert(server, 0)
    address = "user=postgres dbname=postgres host="
    with primary.connect() as there, subscriber.connect() as here:
        there.execute("CREATE PUBLICATION all_ FOR ALL TABLES")
        there.execute("SELECT pg_create_physical_replication_slot('standby', true)")
        primary.reload(synchronized_standby_slots="standby")
        with primary.standby({"TZ": "UTC"}, primary_slot_name="standby", synchronized_standby_slots="") as standby:
            # The address that pg_basebackup has stored names no database.
            standby.psql("postgres", f"ALTER SYSTEM SET primary_conninfo = '{address}{primary.directory}'".encode())
            standby.reload(hot_standby_feedback="on", sync_replication_slots="on")
            connection = f"CONNECTION '{address}{primary.directory}'"
            here.execute(f"CREATE SUBSCRIPTION failing {connection} PUBLICATION all_ WITH (failover)")

            def is_synchronized() -> bool:
                there.execute("SELECT pg_log_standby_snapshot()")
                return standby.value("SELECT bool_or(synced AND NOT temporary) FROM pg_replication_slots")

            def wait_for(ids: dict) -> None:
                for id_type in TYPES:
                    query = f"SELECT array_agg(id::text ORDER BY id) FROM {id_type}_orders"
                    arrived = lambda: here.execute(query).fetchone() == (sorted(ids[id_type]),)  # noqa: B023, E731
                    wait_until(arrived, f"the rows of {id_type} arrive")

            wait_until(is_synchronized, "the slot is synchronized")
            before = insert(primary)
            wait_for(before)
            standby.wait_until_replayed(primary)
            primary.kill()
            standby.promote()
            here.execute(f"ALTER SUBSCRIPTION failing CONNECTION '{address}{standby.directory}'")
            after = insert(standby)
            assert_later(before, after)
            wait_for({id_type: before[id_type] + after[id_type] for id_type in TYPES})


@since(19, "publications of all sequences")
def test_a_subscription_to_all_sequences_carries_the_mark(new_server, clock):
    """The clock of the subscriber is behind: it draws nothing below what the publisher has drawn."""
    publisher = create(new_server({**NODE, "wal_level": "logical"}))
    subscriber = create(new_server(NODE, clock.environment))
    before = draw_all(publisher)
    clock.shift(-HOUR)
    with publisher.connect() as there, subscriber.connect() as here:
        there.execute("CREATE PUBLICATION everything FOR ALL SEQUENCES")
        address = f"host={publisher.directory} user=postgres dbname=postgres"
        here.execute(f"CREATE SUBSCRIPTION everything CONNECTION '{address}' PUBLICATION everything")
        wait_until(lambda: here.execute(SYNCHRONIZED).fetchone()[0], "the sequences are copied")
    assert_all_behind_mark(subscriber, HOUR)
    clock.shift(0)
    assert_later(before, draw_all(subscriber))


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


def value(kind: bytes, content: bytes) -> bytes:
    """Returns a value of pgoutput: a text (kind `t`), or binary (`b`)."""
    return kind + struct.pack("!I", len(content)) + content


PGOUTPUT = ", 'proto_version', '1', 'publication_names', 'orders', 'binary', '{}'"


@each_form
@pytest.mark.parametrize(
    ("plugin", "options"),
    [
        ("pgoutput", PGOUTPUT.format("false")),
        ("pgoutput", PGOUTPUT.format("true")),
        pytest.param("wal2json", ", 'format-version', '2'", marks=needs("wal2json")),
        pytest.param("decoderbufs", "", marks=needs("decoderbufs")),
    ],
)
def test_an_output_plugin_sends_what_the_page_says(connection, id_type, plugin, options):
    """The type's name, and the ID as text, or as bytes if the consumer of pgoutput requests binary."""
    t = id_type.name
    connection.execute(f"CREATE TABLE orders (id {t} PRIMARY KEY DEFAULT {id_type.generator}, ids {t}[])")
    connection.execute("CREATE PUBLICATION orders FOR TABLE orders")
    connection.execute("SELECT pg_create_logical_replication_slot('changes', %s)", [plugin])
    [id_] = connection.execute("INSERT INTO orders VALUES (DEFAULT) RETURNING id::text").fetchone()
    connection.execute("UPDATE orders SET ids = ARRAY[id, NULL]")
    connection.execute("DELETE FROM orders")
    query = "SELECT string_agg(data, '') FROM pg_logical_slot_get_binary_changes('changes', NULL, NULL{})"
    [sent] = connection.execute(query.format(options)).fetchone()
    connection.execute("SELECT pg_drop_replication_slot('changes')")
    [oid] = connection.execute(f"SELECT '{t}'::regtype::oid::int").fetchone()
    array = f"{{{id_},NULL}}"
    if plugin == "wal2json":
        # An update repeats the key.
        column = '{{"name":"{}","type":"{}","value":"{}"}}'
        expected = {column.format("id", t, id_).encode(): 4, column.format("ids", f"{t}[]", array).encode(): 1}
    elif plugin == "decoderbufs":
        # Fields in the encoding of Protocol Buffers: a number and a length. A deletion has no names of types.
        expected = {b"\x4a%c%b" % (len(text), text.encode()): number for text, number in ((id_, 3), (array, 1))}
        expected |= {b"\x0a%c%b" % (len(name), name.encode()): 2 for name in (t, f"{t}[]")}
    else:
        expected = {value(b"t", id_.encode()): 3, value(b"t", array.encode()): 1}
        if "true" in options:
            binary = id_type.binary(id_type.value(id_))
            array = struct.pack("!6I", 1, 1, oid, 2, 1, len(binary)) + binary + b"\xff\xff\xff\xff"
            expected = {value(b"b", binary): 3, value(b"b", array): 1}
        expected |= {f"public\0{of}\0".encode(): 1 for of in (t, f"_{t}")}
    assert {form: sent.count(form) for form in expected} == expected
