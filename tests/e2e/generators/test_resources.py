"""Insufficient resources: a full disk, no free shared memory, and no memory.

Committed rows stay, errors have a HINT that helps, other sessions are not affected, and work continues once there is
space.
"""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import DiskFull

import expect
from faults import NoMemory, small_disk, take_shared_memory
from idtypes import TYPES, IdType
from load import Load, assert_all_different
from marks import create, insert
from server import MAJOR, Server, as_server_user, on_every_version, since

pytestmark = on_every_version


# From PostgreSQL 16 on, the message may name a function. If only half a page fits, PostgreSQL 15 writes that half.
NO_ROOM_FOR_A_PAGE = (
    r'could not extend file "pg_tblspc/[^"]*"( with FileFallocate\(\))?: '
    r"(No space left on device|wrote only \d+ of 8192 bytes at block \d+)"
)


def assert_are_there(connection: psycopg.Connection, id_type: IdType, committed: list[str], more: bool = False) -> None:
    """Asserts that the table and its index have exactly these IDs. With `more`, unconfirmed IDs are permitted."""
    there = [id_ for (id_,) in connection.execute(f"SELECT id::text FROM {id_type.name}_orders")]
    assert_all_different(there)
    assert_all_different(committed)
    assert set(committed) <= set(there)
    assert more or len(committed) == len(there)
    if expect.has_amcheck(connection):
        expect.install_amcheck(connection)
        expect.intact(connection, f"{id_type.name}_orders_pkey")


def test_a_full_tablespace():
    """In every session, the statement that runs out of space fails. With more space, the same sessions continue."""
    with ExitStack() as stack:
        # The server is removed before its disk.
        disk = stack.enter_context(small_disk(8))
        server = create(stack.enter_context(Server()))
        server.psql("postgres", f"CREATE TABLESPACE small LOCATION '{disk.path}'".encode())
        server.psql("postgres", b"ALTER DATABASE postgres SET default_tablespace = small")
        insert(server, 0)
        sessions = {id_type: stack.enter_context(server.connect()) for id_type in TYPES}
        committed = {id_type: [] for id_type in TYPES}

        def insert_many(id_type: IdType) -> None:
            ids = f"SELECT {id_type.generator} FROM generate_series(1, 500)"
            returning = sessions[id_type].execute(f"INSERT INTO {id_type.name}_orders {ids} RETURNING id::text")
            committed[id_type] += [id_ for (id_,) in returning]

        for id_type in TYPES:
            with pytest.raises(DiskFull) as caught:
                while True:
                    insert_many(id_type)
            assert re.fullmatch(NO_ROOM_FOR_A_PAGE, caught.value.diag.message_primary)
            assert (caught.value.sqlstate, caught.value.diag.message_hint) == ("53100", "Check free disk space.")
        disk.resize(16)
        for id_type, session in sessions.items():
            assert_are_there(session, id_type, committed[id_type])
            insert_many(id_type)
            assert_are_there(session, id_type, committed[id_type])
        assert server.crashes() == []


def test_no_space_for_the_wal():
    """Without space for WAL, the server terminates all sessions. Restarted with space, it has all confirmed rows."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(200))
        server = Server()
        server.data = disk.path / "data"
        insert(create(stack.enter_context(server)), 0)
        with running(server) as before:
            disk.leave(10)  # less than a WAL segment
            with pytest.raises(psycopg.OperationalError), server.connect() as connection:
                while True:
                    connection.execute("SELECT pg_switch_wal()")
            for load in before:
                load.wait()
        no_room = r'PANIC:  could not write to file "pg_wal/xlogtemp\.\d+": No space left on device'
        assert re.search(no_room, server.log_text())
        server.stop("immediate")
        disk.resize(400)
        server.start()
        with running(server) as after:
            pass
        with server.connect() as connection:
            for earlier, later in zip(before, after, strict=True):
                assert_are_there(connection, earlier.id_type, earlier.ids + later.ids, more=True)


@contextmanager
def running(server: Server) -> Iterator[list[Load]]:
    """Runs a load for each type, whose sessions insert each row in a separate transaction. The block starts when each
    has received 100 IDs."""

    def connect() -> psycopg.Connection:
        return server.connect(options="-c scru.generator_scope=server")

    insert = "INSERT INTO {0}_orders DEFAULT VALUES RETURNING id::text"
    with ExitStack() as stack:
        loads = [
            stack.enter_context(Load(connect, id_type, sessions=2, query=insert.format(id_type.name)))
            for id_type in TYPES
        ]
        for load in loads:
            load.wait_for(100)
        yield loads


@pytest.mark.skipif(MAJOR >= 17, reason="from PostgreSQL 17 on, the state is in dynamic shared memory")
def test_no_shared_memory_is_left(new_server):
    server = create(new_server({"shared_preload_libraries": ""}))
    with server.connect() as connection:
        connection.execute(take_shared_memory(server.directory))
        assert connection.execute("SELECT take_shared_memory()").fetchone()[0] > 0
        connection.execute("CREATE TABLE kept (id scru128)")
        connection.execute("SET scru.generator_scope = server")
        with connection.transaction():
            connection.execute("INSERT INTO kept VALUES ('0372ijojuxuhjsfkeryi2mrtm')")
            for query in *(f"SELECT {id_type.generator}" for id_type in TYPES), "SELECT * FROM scru_generators()":
                for _ in range(2):
                    assert_no_memory(connection, query)
            # Everything that does not need the shared state works in the same session.
            connection.execute("SET scru.generator_scope = session")
            connection.execute("INSERT INTO kept SELECT gen_scru128() FROM generate_series(1, 9)")
        assert connection.execute("SELECT count(DISTINCT id) FROM kept").fetchone() == (10,)
    server.restart(shared_preload_libraries="scru")
    with server.connect() as connection:
        assert connection.execute("SELECT take_shared_memory()").fetchone()[0] > 0
        connection.execute("SET scru.generator_scope = server")
        for id_type in TYPES:
            drawn = f"SELECT count(DISTINCT {id_type.generator}) FROM generate_series(1, 1000)"
            assert connection.execute(drawn).fetchone() == (1000,)
    assert server.crashes() == []


@since(17, "dynamic shared memory that the server allocates on request")
@pytest.mark.parametrize("query", ["SELECT gen_ulidflake()", "SELECT gen_scru128()", "SELECT * FROM scru_generators()"])
def test_a_failed_allocation_blocks_no_session(new_server, query):
    """After a failed allocation, the session and others can generate IDs: the server has released its locks."""
    server = create(new_server())
    with server.connect() as other:
        # Creates the server's registry of allocations.
        other.execute("SELECT gen_ulidflake()")
        with server.connect(options="-c scru.generator_scope=server") as connection:
            connection.execute("LOAD 'scru'")
            # That of the files that the backend can write, and so of its allocations.
            limit(connection, "fsize", "1")
            for _ in range(2):
                assert_no_memory(connection, query.replace("ulidflake", "scru64"))
            other.execute("SELECT gen_scru64(), count(*) FROM scru_generators()")
            limit(connection, "fsize", "unlimited")
            connection.execute(query)


LARGE_ARGUMENTS = [
    "SELECT scru_bigint_encrypt(1, t::bytea) FROM large",
    "SELECT scru128_decrypt(gen_random_uuid(), t::bytea) FROM large",
    "SELECT t::scru128 FROM large",
    "SELECT scru128_time_decoder(t) FROM large",
    "SELECT scru128_unprefixed('order', t) FROM large",
    "SELECT scru128_unprefixed('order', 'order_' || t) FROM large",
    "SELECT scru128_prefixed(t, gen_scru128()) FROM large",
    "SELECT scru64_nodes_collide(t, t) FROM large",
    "SELECT * FROM large, scru_inspect(t)",
    "SELECT set_config('scru.scru64_node', t, false) FROM large",
    "SELECT set_config('scru.generator_scope', t, false) FROM large",
]


def test_a_large_argument_does_not_end_the_server_where_memory_is_limited(new_server):
    """The allocator of Rust would abort: the memory of a value must be the server's."""
    server = new_server()
    with server.connect() as other:
        other.execute("CREATE EXTENSION scru_text CASCADE; CREATE TABLE large (t text)")
        other.execute("ALTER TABLE large ALTER t SET STORAGE EXTERNAL")
        other.execute("INSERT INTO large SELECT repeat('z', 20 * 1024 * 1024)")
        for query in LARGE_ARGUMENTS:
            with server.connect() as connection:
                connection.execute("SELECT gen_scru64()")
                pid = connection.info.backend_pid
                size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
                # One after another, each allocation is the one that fails.
                for more in range(10, 130, 10):
                    limit(connection, "as", str(size + more * 1024 * 1024))
                    with suppress(psycopg.errors.InternalError, psycopg.errors.DataError, psycopg.errors.OutOfMemory):
                        connection.execute(query)
                    assert other.execute("SELECT 1").fetchone() == (1,)
                assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_call_fails_where_the_system_has_no_memory_for_it():
    with NoMemory() as memory, Server({}, memory.environment) as server, server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_text CASCADE")
        query = "SELECT scru128_unprefixed('order', scru128_prefixed('order', id)) = id FROM gen_scru128() AS id"
        detail = "The system has no memory left for the library of the extension."
        for _ in range(2):
            memory.file.touch()
            with expect.error("53200", "out of memory", detail):
                connection.execute(query)
            memory.file.unlink()
            assert connection.execute(query).fetchone() == (True,)


def limit(connection: psycopg.Connection, name: str, value: str) -> None:
    """Limits a resource of a backend. Runs as the server's user, which has the privilege."""
    prlimit = ["prlimit", f"--pid={connection.info.backend_pid}", f"--{name}={value}:"]
    subprocess.run(as_server_user(*prlimit), check=True)


def assert_no_memory(connection: psycopg.Connection, query: str) -> None:
    with (
        expect.error(
            "53200",
            "out of shared memory for the state of the ID generators",
            None,
            'Add "scru" to shared_preload_libraries and restart the server: that reserves the memory.',
        ),
        connection.transaction(),
    ):
        connection.execute(query)
