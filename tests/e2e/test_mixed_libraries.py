"""An upgrade of the library while sessions are connected.

Connected sessions keep the old library, later ones load the new one, and both use the same state in shared memory.
`tools/old-library.sh --quick VERSION` builds an old library from the commit of its release.
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

from idtypes import SERVER_WIDE, TYPES
from load import Load, assert_all_different
from marks import HOUR, assert_behind_mark, draw
from server import MAJOR, Server, bindir_of, pg_config, wait_until

ROOT = Path(__file__).parents[2]
NEW = Path(pg_config("--pkglibdir")) / "scru.so"


class UpgradedServer(Server):
    """A server with its own copy of the programs, so that a test can replace the library while the server runs."""

    def __init__(self, version: str, environment: dict[str, str]):
        old = ROOT / f"target/compare/{MAJOR}-{version}/scru.so"
        if not old.exists():
            pytest.skip(f"tools/old-library.sh {version} has not built the library")
        # One copy for each process that runs tests in parallel.
        copy = [ROOT / "tools/server.sh", "copy", f"mixed-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"]
        variables = {**os.environ, "PG_MAJOR": str(MAJOR)}
        copied = subprocess.run(copy, check=True, capture_output=True, text=True, env=variables)
        self.program = copied.stdout.strip()
        self.library = Path(pg_config("--pkglibdir", self.program)) / "scru.so"
        super().__init__({"scru.scru64_node": "5/8"}, environment, bindir_of(self.program))
        self.version = version
        self.install(old)

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


@pytest.fixture(params=["0.1.0", "0.2.0"])
def server(request, clock):
    """A server with the library of a release, and with its SQL."""
    with UpgradedServer(request.param, clock.environment) as server:
        with server.connect() as connection:
            connection.execute(f"CREATE EXTENSION scru VERSION '{server.version}'")
        yield server
        assert server.crashes() == []


def test_sessions_of_two_libraries_share_their_state(server):
    """IDs generated in turns are increasing, concurrent ones are unique, and none is repeated after a crash."""

    def connect() -> psycopg.Connection:
        connection = server.connect(options="-c scru.generator_scope=server")
        for id_type in TYPES:
            connection.execute(f"SELECT {id_type.generator}")
        return connection

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


@pytest.mark.parametrize("update", [False, True], ids=["library", "extension"])
@pytest.mark.parametrize("behind", [3, HOUR])
def test_an_upgrade_under_load_repeats_nothing(server, clock, behind, update):
    """Sessions of both libraries generate IDs. Then all processes are killed, and the clock is set back.

    The files with the marks of 0.2.0 exist. The old sessions write more of them after the new ones have read them.
    """
    with ExitStack() as stack:
        old = [stack.enter_context(Load(server.connect, id_type, 2)) for id_type in SERVER_WIDE]
        for load in old:
            load.wait_for(100)
        assert len(list((server.data / "scru").glob("scru64-*"))) >= (server.version != "0.1.0")
        server.install(NEW)
        latest = {load.id_type: load.latest for load in old}
        new = [stack.enter_context(Load(server.connect, t, 2, after=latest[t])) for t in SERVER_WIDE]
        if update:
            with server.connect() as connection:
                connection.execute("ALTER EXTENSION scru UPDATE")
        for load in old + new:
            load.wait_for(300)
        server.kill()
    given_out = {id_type: [] for id_type in SERVER_WIDE}
    for load in old + new:
        given_out[load.id_type] += load.ids
    clock.shift(-behind)
    server.start()
    if behind == HOUR:
        for id_type in SERVER_WIDE:
            assert_behind_mark(server, id_type, HOUR)
        clock.shift(0)
    for id_type, ids in given_out.items():
        after = draw(server, id_type)
        assert_all_different(ids, after)
        assert max(ids) < min(after)
    # 0.2.0 leaves a file of this name if it is killed while it writes.
    assert {path.name.split("-")[0] for path in (server.data / "scru").glob("*")} <= {"tmp"}


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
