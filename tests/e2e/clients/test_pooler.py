"""PgBouncer in transaction mode, where each transaction of a client may run on a different server connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime

import psycopg
import pytest

import page
from clock import Clock
from idtypes import SCRU128, SCRU160, SERVER_WIDE, ULID
from pooler import CLIENT, pgbouncer
from programs import needs
from server import Server

pytestmark = needs("pgbouncer")

SCOPED = (SCRU128, ULID, SCRU160)  # the types to which scru.generator_scope applies
DATABASE = "shop"
MANY = 20


@pytest.fixture(scope="module")
def clock() -> Iterator[Clock]:
    """The clock of the server."""
    clock = Clock()
    yield clock
    clock.remove()


@pytest.fixture(scope="module")
def server(clock) -> Iterator[Server]:
    """A server with a database for the pool."""
    with Server(None, clock.environment) as server:
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with server.connect(DATABASE) as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text)")
        yield server


@pytest.fixture
def stopped_clock(clock) -> Iterator[None]:
    """Stops the clock, so that the order of IDs depends only on their generators."""
    clock.freeze(f"{datetime.now():%Y-%m-%d %H:%M:%S}")
    yield
    clock.shift(0)


@pytest.fixture
def connect(server, request) -> Iterator[Callable[..., psycopg.Connection]]:
    """Connects to the server through PgBouncer, which has two connections to it. A parameter adds settings."""

    def connect(dbname: str = DATABASE, **parameters: object) -> psycopg.Connection:
        return server.connect(dbname, **CLIENT, **parameters)

    with pgbouncer(server, DATABASE, **getattr(request, "param", {})):
        open_both(connect)
        yield connect


def open_both(connect: Callable[..., psycopg.Connection]) -> None:
    """Runs two transactions at once, so that PgBouncer opens both of its connections."""
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(autocommit=False)) for _ in range(2)]
        pids = {client.execute("SELECT pg_backend_pid()").fetchone() for client in clients}
        assert len(pids) == 2


def draw(connection: psycopg.Connection, id_type, before: str = "") -> list[str]:
    """Generates IDs, one per transaction. Executes the statements `before` first in each transaction."""
    ids = []
    for _ in range(MANY):
        with connection.transaction():
            if before:
                connection.execute(before)
            ids += connection.execute(f"SELECT {id_type.generator}::text").fetchone()
    return ids


def is_increasing(ids: list[str]) -> bool:
    """Returns whether each ID is greater than the one before."""
    return ids == sorted(set(ids))


def test_ids_of_successive_transactions_are_out_of_order_by_default(connect, stopped_clock):
    """With a stopped clock, each server connection counts up from its own start, so one of the two is always ahead."""
    with connect() as client:
        for id_type in SCOPED:
            ids = draw(client, id_type)
            assert not is_increasing(ids)
            assert is_increasing(ids[::2]) and is_increasing(ids[1::2]), "the connections do not alternate"
            with client.transaction():
                ids = [client.execute(f"SELECT {id_type.generator}::text").fetchone()[0] for _ in range(MANY)]
            assert is_increasing(ids), "a transaction uses one connection"


def test_server_wide_ids_of_a_client_are_in_order(connect):
    with connect() as client:
        for id_type in SERVER_WIDE:
            assert is_increasing(draw(client, id_type))


def test_the_scope_of_a_transaction(connect, stopped_clock):
    local = page.inline("SET LOCAL scru.generator_scope")
    with connect() as client:
        ids = []
        for _ in range(MANY):
            with client.transaction():
                client.execute(local)
                ids += client.execute("INSERT INTO orders (note) VALUES ('in order') RETURNING id").fetchone()
        assert is_increasing(ids)
        for id_type in SCOPED:
            assert is_increasing(draw(client, id_type, local))
        assert not is_increasing(draw(client, SCRU128)), "SET LOCAL outlives its transaction"


def test_the_scope_of_a_database(connect, server, stopped_clock):
    """Open connections keep the old scope, until RECONNECT makes PgBouncer replace them."""
    with connect() as client, connect("pgbouncer") as console:
        with server.connect() as administrator:
            administrator.execute(page.inline("ALTER DATABASE shop"))
        assert not is_increasing(draw(client, SCRU128))
        console.execute("RECONNECT")
        open_both(connect)
        for id_type in SCOPED:
            assert is_increasing(draw(client, id_type))
    with server.connect() as administrator:
        administrator.execute(f"ALTER DATABASE {DATABASE} RESET scru.generator_scope")


def test_set_applies_to_the_server_connection(connect):
    """After SET, the value is in effect for every client's transactions on that connection, and on no other."""
    with connect() as client, connect() as other:
        draw(client, SCRU128)  # loads the library on both connections
        client.execute("SET scru.generator_scope = 'server'")
        scopes = {other.execute("SHOW scru.generator_scope").fetchone()[0] for _ in range(2)}
        assert scopes == {"session", "server"}


OPTIONS = "-c scru.generator_scope=server"


def test_options_of_a_client_are_refused(connect):
    with pytest.raises(psycopg.OperationalError, match=r"unsupported startup parameter(: options| in options: scru)"):
        connect(options=OPTIONS)


@pytest.mark.parametrize("connect", [{"ignore_startup_parameters": "options"}], indirect=True)
def test_options_of_a_client_are_ignored(connect, server):
    """Without PgBouncer, the server has the value."""
    scopes = {}
    for name, connection in ("pooled", connect(options=OPTIONS)), ("direct", server.connect(DATABASE, options=OPTIONS)):
        with connection, connection.transaction():
            connection.execute("SELECT gen_scru128()")
            [scopes[name]] = connection.execute("SHOW scru.generator_scope").fetchone()
    assert scopes == {"pooled": "session", "direct": "server"}
