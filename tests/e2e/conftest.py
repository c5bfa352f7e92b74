"""The fixtures: one server that the tests share, a fresh database for each test, and servers of a test's own.

Run by `make test`, or by hand with the extension installed: `/usr/bin/python3 -m pytest tests/e2e`. The environment
variable PG_CONFIG names the server's pg_config.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import psycopg
import pytest

# The caller's connection settings are for servers of the caller.
for name in [name for name in os.environ if name.startswith("PG") and name != "PG_CONFIG"]:
    del os.environ[name]

from clock import Clock  # noqa: E402
from server import MAJOR, MAJORS, Server  # noqa: E402

# Parallel workers are plentiful, so that a test that wants some gets them.
SHARED_SETTINGS = {"max_worker_processes": "16", "max_parallel_workers": "8", "autovacuum": "off"}

MEASUREMENTS = pytest.StashKey[list]()


class Database:
    """A database of a server."""

    def __init__(self, server: Server, name: str):
        self.server = server
        self.name = name

    def connect(self, **parameters: object) -> psycopg.Connection:
        """A new connection to this database."""
        return self.server.connect(self.name, **parameters)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that compare times run on the oldest server, which has the machine to itself."""
    for item in items:
        if min(MAJORS) != MAJOR and item.get_closest_marker("alone"):
            item.add_marker(pytest.mark.skip(reason=f"times are compared on PostgreSQL {min(MAJORS)}"))


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """Fails a test that hangs, with the place where it does."""

    def fail(*_: object) -> None:
        raise TimeoutError("the test took longer than five minutes")

    signal.signal(signal.SIGALRM, fail)
    signal.alarm(300)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server that all tests share that neither restart nor crash it. No library is preloaded."""
    with Server(SHARED_SETTINGS) as server:
        yield server
        assert server.crashes() == []


@pytest.fixture(scope="session")
def database_names() -> Iterator[str]:
    """Names that no database bears yet."""
    return (f"test_{number}" for number in count(1))


@pytest.fixture(scope="session")
def plain_user(server: Server) -> str:
    """A user with no privileges, who may log in."""
    with server.connect() as connection:
        connection.execute("CREATE ROLE plain_user LOGIN")
    return "plain_user"


@pytest.fixture
def new_database(server: Server, database_names: Iterator[str]) -> Iterator[Callable[..., Database]]:
    """Creates databases on the shared server: new_database(encoding='LATIN1', extension=False, owner=…)."""
    with ExitStack() as stack:

        def create(extension: bool = True, encoding: str = "UTF8", owner: str = "postgres") -> Database:
            database = Database(server, next(database_names))
            run = stack.enter_context(server.connect()).execute
            run(f"CREATE DATABASE {database.name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C' OWNER {owner}")
            stack.callback(run, f"DROP DATABASE {database.name} WITH (FORCE)")
            if extension:
                with database.connect() as connection:
                    connection.execute("CREATE EXTENSION scru")
            return database

        yield create


@pytest.fixture
def database(new_database: Callable[..., Database]) -> Database:
    """A fresh database with the extension."""
    return new_database()


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection]:
    """A connection to a fresh database with the extension."""
    with database.connect() as connection:
        yield connection


@pytest.fixture
def new_server() -> Iterator[Callable[..., Server]]:
    """Starts servers of the test's own: new_server({'setting': 'value'}, environment)."""
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(Server(*arguments))


@pytest.fixture
def clock() -> Iterator[Clock]:
    """A clock for a server of the test's own: new_server(None, clock.environment)."""
    clock = Clock()
    yield clock
    clock.remove()


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Takes lines about measurements, which the run shows at its end even if all is well."""
    return request.config.stash.setdefault(MEASUREMENTS, []).append


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where tests run side by side, each worker sends its measurements to the process that shows them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["measured"] = session.config.stash.get(MEASUREMENTS, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Takes the measurements of a worker, unless it died."""
    lines = getattr(node, "workeroutput", {}).get("measured", [])
    node.config.stash.setdefault(MEASUREMENTS, []).extend(lines)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows the measurements."""
    lines = terminalreporter.config.stash.get(MEASUREMENTS, [])
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
