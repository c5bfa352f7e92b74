"""The fixtures: one server that the tests share, a new database for each test, and servers for a single test.

Run by `make test`, or by hand with the extension installed: `/usr/bin/python3 -m pytest tests/e2e`. The environment
variable PG_CONFIG names the server's pg_config.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import count

import psycopg
import pytest

# The caller's connection settings must not apply to the servers of the tests.
for name in [name for name in os.environ if name.startswith("PG") and name != "PG_CONFIG"]:
    del os.environ[name]

from clock import Clock  # noqa: E402
from marks import Times  # noqa: E402
from server import Server, last_lines, reason_to_skip  # noqa: E402

# Enough parallel workers for every test that uses them.
SHARED_SETTINGS = {"max_worker_processes": "16", "max_parallel_workers": "8", "autovacuum": "off"}

MEASUREMENTS = pytest.StashKey[list]()


class Database:
    """A database of a server."""

    def __init__(self, server: Server, name: str):
        self.server = server
        self.name = name

    def connect(self, **parameters: object) -> psycopg.Connection:
        """Returns a new connection to this database."""
        return self.server.connect(self.name, **parameters)


@cache
def with_extension(server: Server) -> str:
    """Returns the name of a database with the extension, to be copied: that is faster than CREATE EXTENSION."""
    with server.connect() as connection:
        connection.execute("CREATE DATABASE with_extension TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    with server.connect("with_extension") as connection:
        connection.execute("CREATE EXTENSION scru")
    return "with_extension"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests that do not run on this version."""
    for item in items:
        if reason := reason_to_skip(item):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """Raises an error in a test that takes longer than five minutes. The traceback shows where it hangs."""

    def fail(*_: object) -> None:
        raise TimeoutError(f"the test took longer than five minutes{last_lines()}")

    signal.signal(signal.SIGALRM, fail)
    signal.alarm(300)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server that is shared by all tests that neither restart nor crash it. It preloads no library."""
    with Server(SHARED_SETTINGS) as server:
        yield server
        assert server.crashes() == []


@pytest.fixture(scope="session")
def database_names() -> Iterator[str]:
    """Names of new databases."""
    return (f"test_{number}" for number in count(1))


@pytest.fixture(scope="session")
def plain_user(server: Server) -> str:
    """A role without privileges that can log in."""
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
            is_copy = extension and (encoding, owner) == ("UTF8", "postgres")
            template = with_extension(server) if is_copy else "template0"
            # The other strategy, which writes the database to the WAL, takes several times as long.
            run(
                f"CREATE DATABASE {database.name} TEMPLATE {template} STRATEGY file_copy"
                f" ENCODING '{encoding}' LOCALE 'C' OWNER {owner}"
            )
            stack.callback(run, f"DROP DATABASE {database.name} WITH (FORCE)")
            if extension and not is_copy:
                with database.connect() as connection:
                    connection.execute("CREATE EXTENSION scru")
            return database

        yield create


@pytest.fixture
def database(new_database: Callable[..., Database]) -> Database:
    """A new database with the extension."""
    return new_database()


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection]:
    """A connection to a new database with the extension."""
    with database.connect() as connection:
        yield connection


@pytest.fixture
def new_server() -> Iterator[Callable[..., Server]]:
    """Starts servers for this test: new_server({'setting': 'value'}, environment)."""
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(Server(*arguments))


@pytest.fixture
def clock() -> Iterator[Clock]:
    """A clock for a server of this test: new_server(None, clock.environment)."""
    with Clock() as clock:
        yield clock


@pytest.fixture
def times() -> Iterator[Times]:
    """The clocks of a server and of its successor."""
    times = Times()
    yield times
    times.remove()


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Returns a function that adds a line to the measurements, which every run shows at its end."""
    return request.config.stash.setdefault(MEASUREMENTS, []).append


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a parallel run, sends a worker's measurements to the process that shows them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["measured"] = session.config.stash.get(MEASUREMENTS, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Receives the measurements of a worker. A worker that has crashed sends none."""
    lines = getattr(node, "workeroutput", {}).get("measured", [])
    node.config.stash.setdefault(MEASUREMENTS, []).extend(lines)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows the measurements."""
    lines = terminalreporter.config.stash.get(MEASUREMENTS, [])
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
