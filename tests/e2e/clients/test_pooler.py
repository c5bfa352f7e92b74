"""PgBouncer in transaction mode, where each transaction of a client may run on a different server connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime

import psycopg
import pytest

import page
from clock import Clock
from idtypes import TYPES
from pooler import CLIENT, pgbouncer
from programs import needs
from server import Server

pytestmark = needs("pgbouncer")

# The types to which scru.generator_scope applies.
SCOPED = [f"SELECT {id_type.generator}::text" for id_type in TYPES if not id_type.is_server_wide]
DATABASE = "shop"
MANY = 20


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with a database for the pool. Its clock stands still: the order of IDs depends only on generators."""
    with Clock() as clock, Server(None, clock.environment) as server:
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with server.connect(DATABASE) as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text)")
        clock.freeze(f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        yield server


@pytest.fixture
def connect(server) -> Iterator[Callable[..., psycopg.Connection]]:
    """Connects to the server through PgBouncer, which has two connections to it."""

    def connect(dbname: str = DATABASE, **parameters: object) -> psycopg.Connection:
        return server.connect(dbname, **CLIENT, **parameters)

    with pgbouncer(server, DATABASE):
        open_both(connect)
        yield connect


def open_both(connect: Callable[..., psycopg.Connection]) -> None:
    """Runs two transactions at once, so that PgBouncer opens both of its connections."""
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(autocommit=False)) for _ in range(2)]
        pids = {client.execute("SELECT pg_backend_pid()").fetchone() for client in clients}
        assert len(pids) == 2


def draw(connection: psycopg.Connection, query: str, before: str = "SELECT") -> list[str]:
    """Returns IDs, one per transaction. Executes the statement `before` first in each transaction."""
    ids = []
    for _ in range(MANY):
        with connection.transaction():
            connection.execute(before)
            ids += connection.execute(query).fetchone()
    return ids


def is_increasing(ids: list[str]) -> bool:
    """Returns whether each ID is greater than the one before."""
    return ids == sorted(set(ids))


def test_the_scope_of_a_transaction(connect):
    """With a stopped clock, each server connection counts up from its own start, so one of the two is always ahead."""
    local = page.inline("SET LOCAL scru.generator_scope")
    with connect() as client:
        for query in "INSERT INTO orders (note) VALUES ('in order') RETURNING id", *SCOPED:
            assert is_increasing(draw(client, query, local))
            assert not is_increasing(draw(client, query)), "SET LOCAL outlives its transaction"


def test_the_scope_of_a_database(connect, server):
    """Open connections keep the old scope, until RECONNECT makes PgBouncer replace them."""
    with connect() as client, connect("pgbouncer") as console:
        with server.connect() as administrator:
            administrator.execute(page.inline("ALTER DATABASE shop"))
        assert not is_increasing(draw(client, SCOPED[0]))
        console.execute("RECONNECT")
        open_both(connect)
        for query in SCOPED:
            assert is_increasing(draw(client, query))
    with server.connect() as administrator:
        administrator.execute(f"ALTER DATABASE {DATABASE} RESET scru.generator_scope")
