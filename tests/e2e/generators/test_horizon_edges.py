"""The horizon at its edges: open transactions, wrappers, positions of other servers, and costs that must not remain."""

from __future__ import annotations

import re
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import psycopg
import pytest

import expect
from idtypes import each_form
from load import background, wait_until_it_waits
from marks import create
from plans import prefer_parallel_plans
from server import wait_until

PREPARED = {"max_prepared_transactions": "250", "shared_preload_libraries": ""}


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table."""
    connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)")
    return connection


def test_a_transaction_that_remains_open_reads_the_last_row(feed, database):
    """Its statements have equal snapshots."""
    read = "SELECT id::text FROM events WHERE id < scru64_horizon()"
    with database.connect(autocommit=False) as consumer:
        feed.execute("INSERT INTO events DEFAULT VALUES")
        assert consumer.execute("SELECT count(*) FROM events WHERE id < scru64_horizon()").fetchone()[0] <= 1
        wait_until(lambda: len(consumer.execute(read).fetchall()) == 1, "the transaction reads the row", 20)


LOOP = (
    "CREATE FUNCTION horizon() RETURNS scru64 STABLE LANGUAGE plpgsql AS $$ DECLARE h scru64; BEGIN"
    " FOR h IN SELECT scru64_horizon() LOOP PERFORM pg_sleep(0.1); RETURN h; END LOOP; END $$"
)
"""Each loop of the function opens a cursor of its own."""


@pytest.mark.parametrize(("horizon", "step"), [("scru64_horizon()", 0), ("scru64_horizon()", -2), ("horizon()", 0)])
def test_a_cursor_keeps_its_horizon_beside_later_statements(new_server, clock, horizon, step):
    """Also if the snapshots are equal, if many statements have run since, and if the clock is set back."""
    server = new_server({}, clock.environment)
    with server.connect() as feed, server.connect(autocommit=False) as consumer:
        feed.execute("CREATE EXTENSION scru; CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
        feed.execute(LOOP)
        feed.execute("INSERT INTO events SELECT FROM generate_series(1, 3)")
        consumer.execute(f"DECLARE c CURSOR FOR SELECT {horizon}::text FROM events")
        [(first,)] = consumer.execute("FETCH 1 FROM c").fetchall()
        later = "SELECT scru64_horizon()::text > %s"
        wait_until(lambda: consumer.execute(later, [first]).fetchone()[0], "a later statement has a later horizon", 20)
        for _ in range(200):
            consumer.execute("SELECT scru64_horizon()")
        clock.shift(step)
        assert consumer.execute("FETCH ALL FROM c").fetchall() == [(first,)] * 2


def test_a_function_has_one_horizon_however_it_reads_it(feed):
    """Its loops are in one statement of the client."""
    feed.execute(LOOP)
    feed.execute("INSERT INTO events SELECT FROM generate_series(1, 8)")
    assert feed.execute("SELECT count(DISTINCT horizon()) FROM events").fetchone() == (1,)


def message(kind: bytes, content: bytes = b"") -> bytes:
    """Returns a message of the protocol."""
    return kind + struct.pack("!i", len(content) + 4) + content


def rows(replies: BinaryIO, last: bytes) -> list[bytes]:
    """Returns the rows in the server's messages, up to one of the type `last`."""
    found, kind = [], b""
    while kind != last:
        kind, length = struct.unpack("!ci", replies.read(5))
        content = replies.read(length - 4)
        found += [content] if kind == b"D" else []
    return found


def test_a_portal_without_a_name_keeps_its_horizon_between_two_executes(feed, database, server):
    """Drivers that fetch a number of rows at a time execute the portal without a name again."""
    feed.execute("INSERT INTO events SELECT FROM generate_series(1, 3)")
    query = b"\0SELECT scru64_horizon()::text FROM events\0" + bytes(2)
    with socket.socket(socket.AF_UNIX) as consumer:
        consumer.settimeout(60)
        consumer.connect(str(server.directory / f".s.PGSQL.{server.port}"))
        replies = consumer.makefile("rb")
        options = f"user\0postgres\0database\0{database.name}\0\0".encode()
        consumer.sendall(message(b"", struct.pack("!i", 3 << 16) + options))
        rows(replies, b"Z")
        first_row = message(b"E", struct.pack("!xi", 1))
        consumer.sendall(message(b"P", query) + message(b"B", bytes(8)) + first_row + message(b"H"))
        [first] = rows(replies, b"s")
        horizon = first[6:].decode()
        later = "SELECT scru64_horizon()::text > %s"
        wait_until(lambda: feed.execute(later, [horizon]).fetchone()[0], "another session has a later horizon", 20)
        consumer.sendall(message(b"E", struct.pack("!xi", 0)) + message(b"S"))
        assert rows(replies, b"Z") == [first] * 2


def test_a_transaction_forgets_the_horizons_of_its_statements(new_server):
    """Each snapshot has the numbers of 200 transactions."""
    with create(new_server(PREPARED)).connect() as connection:
        status = Path(f"/proc/{connection.info.backend_pid}/status")
        for number in range(200):
            connection.execute("BEGIN; SELECT pg_current_xact_id()")
            connection.execute(f"PREPARE TRANSACTION 'p{number}'")
        # A snapshot lists those before the last one that has ended.
        connection.execute("SELECT pg_current_xact_id()")
        sizes = []
        connection.execute("BEGIN")
        for _ in range(2):
            with connection.pipeline():
                for _ in range(6000):
                    connection.execute("SELECT scru64_horizon()")
            sizes.append(int(re.search(r"RssAnon:\s+(\d+) kB", status.read_text())[1]))
    assert sizes[1] - sizes[0] < 1500, sizes


@pytest.mark.parametrize(("volatility", "is_covered"), [("STABLE", True), ("VOLATILE", False)])
def test_a_wrapper_has_the_horizon_of_its_statement_if_it_is_stable(feed, database, volatility, is_covered):
    """A row is committed when the statement has its snapshot. A volatile function takes a later one."""
    feed.execute(
        f"CREATE FUNCTION horizon() RETURNS scru64 {volatility} LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_advisory_lock(7), pg_advisory_unlock(7); RETURN scru64_horizon(); END $$"
    )
    with database.connect() as writer, database.connect() as reader, ThreadPoolExecutor(1) as pool:
        feed.execute("SELECT pg_advisory_lock(7)")
        writer.execute("BEGIN")
        row = writer.execute("INSERT INTO events DEFAULT VALUES RETURNING id::text").fetchone()[0]
        statement = pool.submit(reader.execute, "SELECT horizon() <= %s, (SELECT count(*) FROM events)", [row])
        wait_until_it_waits(database.server, reader, "advisory")
        writer.execute("COMMIT")
        passed = "SELECT scru64_horizon() > %s"
        wait_until(lambda: writer.execute(passed, [row]).fetchone()[0], "the horizon passes the row", 20)
        feed.execute("SELECT pg_advisory_unlock(7)")
        assert statement.result(timeout=60).fetchone() == (is_covered, 0)


def above_all(system: str):
    """Expects the refusal of a position."""
    return expect.error(
        "22023",
        f"the {system} is above all that this server knows",
        "The server may have lost transactions in a failover, and may generate IDs below this one.",
        "If no ID has been generated since, first call scru_raise_mark() with the time of this ID."
        " Otherwise, read the table again from a position that all its readers have passed.",
    )


@each_form
def test_the_last_id_is_a_position_after_a_burst(new_server, id_type):
    """Each can be ahead of the clock."""
    name = id_type.name
    with create(new_server({"shared_preload_libraries": ""})).connect() as connection:
        connection.execute(f"CREATE TABLE events (id {name} PRIMARY KEY DEFAULT gen_{name}())")
        for count in 1, 100_000:
            connection.execute(f"INSERT INTO events SELECT FROM generate_series(1, {count})")
            connection.execute(f"SELECT {name}_horizon(max(id)) FROM events")


@each_form
def test_an_operator_raises_the_mark_to_a_position(new_server, clock, id_type):
    """The position is that of a consumer of the lost server, whose clock was ahead. It then misses no row."""
    name = id_type.name
    server = create(new_server({"shared_preload_libraries": ""}, clock.environment))
    position, insert = f"SELECT {name}_horizon(%s)", "INSERT INTO events DEFAULT VALUES RETURNING id::text"
    with server.connect() as connection:
        connection.execute(f"CREATE TABLE events (id {name} PRIMARY KEY DEFAULT gen_{name}())")
        after = connection.execute(f"SELECT {name}_upper(clock_timestamp() + interval '30 s')::text").fetchone()[0]
        with above_all(name):
            connection.execute(position, [after])
        connection.execute(f"SELECT scru_raise_mark(%s::{name}::timestamptz)", [after])
        connection.execute(position, [after])
        rows = []
        if id_type.is_server_wide:
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                connection.execute(insert)
        else:
            rows = connection.execute(insert).fetchall()
    server.restart("immediate")
    clock.shift(29.5)
    with server.connect() as connection:
        connection.execute(position, [after])
        rows += connection.execute(insert).fetchall()
        read = f"SELECT id::text FROM events WHERE id > %s AND id < {name}_horizon(%s) ORDER BY id"
        wait_until(lambda: connection.execute(read, [after, after]).fetchall() == rows, "the consumer reads all", 20)


def test_a_mark_that_was_raised_to_the_last_time_can_be_set_back(new_server):
    server = create(new_server({"shared_preload_libraries": ""}))
    with server.connect() as connection:
        connection.execute("SELECT scru_raise_mark(scru128_timestamp(scru128_upper('infinity')))")
        with expect.error(
            "22008",
            "timestamp out of range for type scru128",
            "The system clock reads a time for which there are no IDs.",
            "Correct the clock.",
        ):
            connection.execute("SELECT gen_scru128()")
        assert connection.execute("SELECT scru128_horizon() IS NOT NULL").fetchone() == (True,)
        connection.execute("SELECT scru_set_mark(now())")
    with server.connect() as connection:
        is_near = "SELECT gen_scru128() < scru128_lower(now() + interval '1 minute')"
        assert connection.execute(is_near).fetchone() == (True,)


def test_a_parallel_query_without_ids_allocates_nothing(new_server):
    """A transaction that writes rows after a parallel query looks for what its workers have published."""
    settings = {"dynamic_shared_memory_type": "mmap", "max_parallel_workers": "8"}
    server = create(new_server({**settings, **PREPARED}))
    with server.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT FROM generate_series(1, 10000); CREATE TABLE written ()")
        prefer_parallel_plans(connection)
        connection.execute("SET parallel_leader_participation = off; LOAD 'scru'")
        connection.execute("SELECT count(*) FROM source")
        segments = {*(server.data / "pg_dynshmem").iterdir()}
        connection.execute("BEGIN; INSERT INTO written DEFAULT VALUES; COMMIT")
        assert {*(server.data / "pg_dynshmem").iterdir()} == segments
        # Nor does it hold the horizon if it is prepared, where an earlier one of its session has published.
        connection.execute("SELECT gen_scru64()")
        connection.execute("BEGIN; SELECT count(*) FROM source; INSERT INTO written DEFAULT VALUES")
        connection.execute("PREPARE TRANSACTION 'p'")
        assert connection.execute("SELECT pid FROM scru_horizon_holders()").fetchall() == []


def test_a_commit_that_waits_for_a_standby_does_not_make_a_snapshot_too_old(new_server):
    """It is logged, and has begun before the first horizon since the start, so that its bound is not known."""
    server = create(new_server({"shared_preload_libraries": ""}))
    with server.connect() as writer, server.connect(options="-c synchronous_commit=off") as reader:
        reader.execute("CREATE TABLE written ()")
        server.reload(synchronous_standby_names="nobody")
        with background(writer, "INSERT INTO written DEFAULT VALUES"):
            wait_until_it_waits(server, writer, "SyncRep")
            assert reader.execute("SELECT scru64_horizon() IS NOT NULL").fetchone() == (True,)


def test_ids_far_above_the_clock_do_not_wait_for_it(new_server):
    """A tick has 65,536 scru160s."""
    with create(new_server({"shared_preload_libraries": ""})).connect() as connection:
        connection.execute("SELECT scru_raise_mark(now() + interval '1 hour')")
        count = "SELECT count(DISTINCT gen_scru160()) FROM generate_series(1, 200000)"
        assert connection.execute(count).fetchone() == (200_000,)
