"""An upgrade of the library while sessions are connected.

Connected sessions keep the old library, later ones load the new one, and both use the same state in shared memory.
`tools/old-library.sh 0.1.0` builds the old library from the commit of the release.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from idtypes import TYPES
from load import assert_all_different
from server import MAJOR, Server, bindir_of, pg_config, wait_until

ROOT = Path(__file__).parents[2]
OLD_VERSION = "0.1.0"
OLD = ROOT / f"target/compare/{MAJOR}-{OLD_VERSION}/scru.so"
NEW = Path(pg_config("--pkglibdir")) / "scru.so"

pytestmark = pytest.mark.skipif(
    not OLD.exists(), reason=f"tools/old-library.sh {OLD_VERSION} has not built the library"
)


class UpgradedServer(Server):
    """A server with its own copy of the programs, so that a test can replace the library while the server runs."""

    def __init__(self):
        copy = [ROOT / "tools/server.sh", "copy", "mixed"]
        environment = {**os.environ, "PG_MAJOR": str(MAJOR)}
        copied = subprocess.run(copy, check=True, capture_output=True, text=True, env=environment)
        self.program = copied.stdout.strip()
        self.library = Path(pg_config("--pkglibdir", self.program)) / "scru.so"
        super().__init__({"scru.scru64_node": "5/8"}, bindir=bindir_of(self.program))

    def install(self, library: Path) -> None:
        """Replaces the library as an installation does: processes that have loaded the old library keep it."""
        self.library.unlink(missing_ok=True)
        shutil.copy(library, self.library)
        self.library.chmod(0o755)

    def has_loaded_the_installed_one(self, connection: psycopg.Connection) -> bool:
        """Returns whether a session has loaded the installed library, not a replaced one."""
        mapped = Path(f"/proc/{connection.info.backend_pid}/maps").read_text().splitlines()
        [inode] = {int(line.split()[4]) for line in mapped if str(self.library) in line}
        return inode == self.library.stat().st_ino


@pytest.fixture
def server():
    server = UpgradedServer()
    server.install(OLD)
    with server:
        yield server
        assert server.crashes() == []


def test_sessions_of_two_libraries_share_their_state(server):
    """IDs generated in turns are increasing, concurrent ones are unique, and none is repeated after a crash."""

    def connect() -> psycopg.Connection:
        connection = server.connect(options="-c scru.generator_scope=server")
        for id_type in TYPES:
            connection.execute(f"SELECT {id_type.generator}")
        return connection

    with server.connect() as connection:
        connection.execute(f"CREATE EXTENSION scru VERSION '{OLD_VERSION}'")
    with ExitStack() as stack:
        old = [stack.enter_context(connect()) for _ in range(3)]
        server.install(NEW)
        new = [stack.enter_context(connect()) for _ in range(3)]
        assert [server.has_loaded_the_installed_one(session) for session in old + new] == [False] * 3 + [True] * 3

        drawn = {id_type: draw_in_turns(old[0], new[0], id_type) for id_type in TYPES}
        new[0].execute("ALTER EXTENSION scru UPDATE")
        for id_type in TYPES:
            drawn[id_type] += draw_in_turns(old[0], new[0], id_type)
            drawn[id_type] += draw_at_once(old, new, id_type)
            assert_all_different(drawn[id_type])
    server.kill()
    server.start()
    with connect() as connection:
        for id_type in (id_type for id_type in TYPES if id_type.is_server_wide):
            [(after,)] = connection.execute(f"SELECT {id_type.generator}::text").fetchall()
            assert after > max(drawn[id_type])


def draw_in_turns(first: psycopg.Connection, second: psycopg.Connection, id_type) -> list[str]:
    """Generates IDs in two sessions alternately, and checks that each is greater than the one before."""
    query = f"SELECT {id_type.generator}::text"
    ids = [session.execute(query).fetchone()[0] for _ in range(50) for session in (first, second)]
    assert ids == sorted(set(ids))
    return ids


def draw_at_once(old: list[psycopg.Connection], new: list[psycopg.Connection], id_type) -> list[str]:
    """Generates IDs in sessions of both libraries concurrently; repeats until their times overlap."""
    query = f"SELECT {id_type.generator}::text FROM generate_series(1, 20000)"
    ids = []
    with ThreadPoolExecutor(len(old + new)) as pool:

        def is_interleaved() -> bool:
            drawn = list(pool.map(lambda session: [id_ for (id_,) in session.execute(query)], old + new))
            for of_session in drawn:
                assert of_session == sorted(set(of_session))
                ids.extend(of_session)
            return any(a[0] < b[-1] and b[0] < a[-1] for a in drawn[: len(old)] for b in drawn[len(old) :])

        wait_until(is_interleaved, "sessions of both libraries have generated IDs at the same time")
    return ids
