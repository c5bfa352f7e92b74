"""An upgrade of the library while sessions are connected, and the steps of docs/operations.md for it.

Connected sessions keep the old library, later ones load the new one, and both use the same state in shared memory.
`tools/lib/old-library.sh --quick VERSION` builds an old library from the commit of its release.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest

import expect
from idtypes import SERVER_WIDE, TYPES
from load import Load, assert_all_different
from marks import HOUR, assert_behind_mark, draw
from programs import missing
from server import MAJOR, Server, bindir_of, pg_config, wait_until

ROOT = Path(__file__).parents[3]
NEW = Path(pg_config("--pkglibdir")) / "scru.so"
CURRENT = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
IN_LAST_HOUR = "<@ tstzrange(now() - interval '1 hour', now() + interval '1 hour')"


def old_library(version: str) -> Path:
    """Returns the library of a release."""
    library = ROOT / f"target/compare/{MAJOR}-{version}/scru.so"
    if not library.exists():
        missing(f"tools/lib/old-library.sh {version} has not built the library")
    return library


class UpgradedServer(Server):
    """A server with its own copy of the programs, so that a test can replace the library while the server runs.

    The servers of one test have the same copy: a new library is then installed on all of them.
    """

    def __init__(self, version: str, environment: dict[str, str], settings: dict[str, str] | None = None):
        old = old_library(version)
        # One copy for each process that runs tests in parallel.
        copy = [ROOT / "tools/server.sh", "copy", f"mixed-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"]
        variables = {**os.environ, "PG_MAJOR": str(MAJOR)}
        copied = subprocess.run(copy, check=True, capture_output=True, text=True, env=variables)
        self.program = copied.stdout.strip()
        self.library = Path(pg_config("--pkglibdir", self.program)) / "scru.so"
        super().__init__({"scru.scru64_node": "5/8", **(settings or {})}, environment, bindir_of(self.program))
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
        with expect.error("55000", TOO_OLD, KEPT, RECONNECT):
            old[0].execute("ALTER EXTENSION scru UPDATE")
        new[0].execute("ALTER EXTENSION scru UPDATE")
        for session, error in (old[0], "42883"), (new[0], None):
            assert sqlstate_of(session, f"SELECT gen_scru64() {IN_LAST_HOUR}") == error
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


def sqlstate_of(connection: psycopg.Connection, statement: str) -> str | None:
    """Returns the SQLSTATE of the error that a statement raises; `None` if it succeeds."""
    try:
        connection.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate
    return None


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


# ----------------------------------------------------------------------------------------- the steps of the operator

OPERATIONS = (ROOT / "docs/operations.md").read_text()
[OF_VERSION, RESTART_WORKERS, OLD_SESSIONS, _] = re.findall(
    r"^ *```sql\n(.*?)^ *```$", OPERATIONS.partition("## Upgrade")[2].partition("### Conditions")[0], re.M | re.S
)
TOO_OLD = "the library of scru that this session has loaded is older than 0.3.0"
KEPT = "Sessions keep the library that they have loaded, and servers the one that they have preloaded."
RESTART = "Restart the server: shared_preload_libraries contains scru."
RECONNECT = "Reconnect, and repeat the command."


def version_in_a_new_session(server: Server) -> str | None:
    """Returns the version of the library that new sessions load; `None` for a version before 0.3.0."""
    with server.connect() as connection:
        connection.execute("LOAD 'scru'")
        [(version,)] = connection.execute(OF_VERSION.partition(";")[2])
    return version


def old_sessions(server: Server) -> list[int]:
    """Returns the process IDs that the query of the page finds. Repeats the query if a process ends meanwhile."""
    while True:
        with suppress(psycopg.errors.InternalError_):
            return [row[0] for row in server.rows(OLD_SESSIONS)]


class Client:
    """A client that repeats a query until the block ends, and records the error that ends it earlier."""

    def __init__(self, server: Server, query: str):
        self._server = server
        self._query = query
        self._turns = count()
        self.turns = 0
        self._reconnect = Event()
        self._stopped = Event()
        self.error: Exception | None = None
        self._thread = Thread(target=self._run)

    def __enter__(self) -> Client:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(60)

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                self._reconnect.clear()
                with self._server.connect() as connection:
                    while not (self._stopped.is_set() or self._reconnect.is_set()):
                        connection.execute(self._query, prepare=True)
                        self.turns = next(self._turns)
        except Exception as error:
            self.error = error

    def reconnect(self) -> None:
        """Lets the client close its connection after its current query, and open another."""
        self._reconnect.set()

    def wait_for_a_few_turns(self) -> None:
        """Waits until the client has executed its query a few times, or has failed."""
        enough = self.turns + 5
        wait_until(lambda: self.error or self.turns >= enough, f"{self._query} is executed")
        assert self.error is None, f"{self._query}: {self.error}"


@pytest.mark.parametrize("preload", ["", "scru"], ids=["loaded by sessions", "preloaded"])
def test_a_rolling_upgrade_by_the_steps_of_the_page(preload):
    """From 0.1.0 to 0.2.0 and to this version, with a standby and a logical subscriber.

    Clients insert and query by time on all servers. No client receives an error, except that a restart ends sessions.
    """
    settings = {"wal_level": "logical", "shared_preload_libraries": preload, "scru.scru64_node": "5/8"}
    with ExitStack() as stack:
        primary = stack.enter_context(UpgradedServer("0.1.0", {}, settings))
        subscriber = stack.enter_context(UpgradedServer("0.1.0", {}, {**settings, "scru.scru64_node": "6/8"}))
        tables = f"""
            CREATE EXTENSION scru VERSION '0.1.0';
            CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), parent ulidflake DEFAULT gen_ulidflake());
            CREATE VIEW recent AS SELECT * FROM orders WHERE id {IN_LAST_HOUR}"""
        for server in primary, subscriber:
            server.psql("postgres", tables.encode())
        primary.psql("postgres", b"CREATE PUBLICATION orders FOR TABLE orders")
        subscriber.psql(
            "postgres",
            f"""CREATE SUBSCRIPTION orders CONNECTION 'host={primary.directory} user=postgres dbname=postgres'
                PUBLICATION orders""".encode(),
        )
        standby = primary.standby()
        stack.callback(standby.remove)
        servers = [standby, subscriber, primary]
        insert = "INSERT INTO orders DEFAULT VALUES"
        reads = [f"SELECT count(*) FROM orders WHERE id {IN_LAST_HOUR}", "SELECT max(id) FROM recent"]

        def clients(stack: ExitStack) -> list[Client]:
            queries = [(primary, insert), *((server, read) for server in servers for read in reads)]
            return [stack.enter_context(Client(*client)) for client in queries]

        def assert_undisturbed(clients: list[Client]) -> None:
            for client in clients:
                client.wait_for_a_few_turns()

        for version, library in ("0.2.0", old_library("0.2.0")), (CURRENT, NEW):
            with ExitStack() as load:
                running = clients(load)
                assert_undisturbed(running)
                early = load.enter_context(primary.connect())
                early.execute("SELECT gen_scru64()")
                primary.install(library)
                assert_undisturbed(running)
                assert all(old_sessions(server) for server in servers)
                if version == CURRENT:
                    with expect.error("55000", TOO_OLD, KEPT, RESTART if preload else RECONNECT):
                        early.execute("ALTER EXTENSION scru UPDATE")
            if preload:
                assert [version_in_a_new_session(server) for server in servers] == [None] * 3
                for server in servers:
                    server.restart()
            with ExitStack() as load:
                running = clients(load)
                assert_undisturbed(running)
                for client in running:
                    client.reconnect()
                assert_undisturbed(running)
                subscriber.psql("postgres", RESTART_WORKERS.encode())
                for server in servers:
                    wait_until(lambda server=server: not old_sessions(server), "no session has an old library")
                expected = CURRENT if version == CURRENT else None
                assert [version_in_a_new_session(server) for server in servers] == [expected] * 3
                for server in primary, subscriber:
                    server.psql("postgres", f"ALTER EXTENSION scru UPDATE TO '{version}'".encode())
                standby.wait_until_replayed(primary)
                assert_undisturbed(running)
            rows = "SELECT count(*), max(id)::text FROM orders"
            wait_until(lambda: subscriber.rows(rows) == primary.rows(rows), "the subscriber has all rows")  # noqa: B023
            standby.wait_until_replayed(primary)
            assert standby.rows(rows) == primary.rows(rows)
