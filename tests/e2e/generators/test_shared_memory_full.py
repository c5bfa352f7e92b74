"""Out of shared memory: generation fails with a HINT that helps, and other statements and sessions are not affected."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import expect
from idtypes import TYPES
from server import MAJOR, Server, as_server_user, pg_config, since

SOURCE = Path(__file__).with_name("take_shared_memory.c")


@pytest.fixture
def server(new_server) -> Iterator[Server]:
    """A server without the generators' shared state, and with a function that allocates all free shared memory."""
    server = new_server({"shared_preload_libraries": ""})
    library = server.directory / "take_shared_memory.so"
    command = ["cc", "-shared", "-fPIC", f"-I{pg_config('--includedir-server')}", "-o", str(library), str(SOURCE)]
    subprocess.run([*command], check=True)
    os.chmod(library, 0o755)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        connection.execute(
            f"CREATE FUNCTION take_shared_memory() RETURNS int LANGUAGE c AS '{library}', 'take_shared_memory'"
        )
    yield server
    assert server.crashes() == []


@pytest.mark.skipif(MAJOR >= 17, reason="from PostgreSQL 17 on, the state is in dynamic shared memory")
def test_no_shared_memory_is_left(server):
    with server.connect() as connection:
        assert connection.execute("SELECT take_shared_memory()").fetchone()[0] > 0
        connection.execute("CREATE TABLE kept (id scru128)")
        connection.execute("SET scru.generator_scope = server")
        with connection.transaction():
            connection.execute("INSERT INTO kept VALUES ('0372ijojuxuhjsfkeryi2mrtm')")
            for id_type in TYPES:
                for _ in range(2):
                    assert_no_memory(connection, f"SELECT {id_type.generator}")
            assert_no_memory(connection, "SELECT * FROM scru_generators()")
            # Everything that does not need the shared state works in the same session.
            connection.execute("SET scru.generator_scope = backend")
            connection.execute("INSERT INTO kept SELECT gen_scru128() FROM generate_series(1, 9)")
        assert connection.execute("SELECT count(DISTINCT id) FROM kept").fetchone() == (10,)
    server.restart(shared_preload_libraries="scru")
    with server.connect() as connection:
        assert connection.execute("SELECT take_shared_memory()").fetchone()[0] > 0
        connection.execute("SET scru.generator_scope = server")
        for id_type in TYPES:
            drawn = f"SELECT count(DISTINCT {id_type.generator}) FROM generate_series(1, 1000)"
            assert connection.execute(drawn).fetchone() == (1000,)


@since(17, "dynamic shared memory that the server allocates on request")
@pytest.mark.parametrize(
    "query", [*(f"SELECT {id_type.generator}" for id_type in TYPES), "SELECT * FROM scru_generators()"]
)
def test_a_failed_allocation_blocks_no_session(new_server, query):
    """After a failed allocation, the session and others can generate IDs: the server has released its locks."""
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    with server.connect() as other:
        # Creates the server's registry of allocations.
        other.execute("SELECT gen_ulidflake()")
        with server.connect(options="-c scru.generator_scope=server") as connection:
            connection.execute("LOAD 'scru'")
            limit_file_size(connection, "1")
            for _ in range(2):
                assert_no_memory(connection, query.replace("ulidflake", "scru64"))
            other.execute("SELECT gen_scru64(), count(*) FROM scru_generators()")
            limit_file_size(connection, "unlimited")
            connection.execute(query)


def limit_file_size(connection: psycopg.Connection, size: str) -> None:
    """Limits the size of the files that a backend can write, and so its allocations of shared memory. Runs as the
    server's user, which has the privilege."""
    prlimit = ["prlimit", f"--pid={connection.info.backend_pid}", f"--fsize={size}:"]
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
