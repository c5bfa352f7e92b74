"""Alice, who owns a database and is no superuser, and the values that she writes to its sequences."""

from __future__ import annotations

import time

import psycopg

from marks import SEQUENCES
from server import Server

SHOP = "shop"
DECADES = 70 * 365 * 24 * 3600


def create_shop(server: Server, *others: str) -> Server:
    """Creates the extension in Alice's database and in others, and returns the server."""
    with server.connect() as connection:
        connection.execute("CREATE ROLE alice LOGIN")
        connection.execute(f"CREATE DATABASE {SHOP} OWNER alice TEMPLATE template0")
        for other in others:
            connection.execute(f"CREATE DATABASE {other} TEMPLATE template0")
    for name, user in [(SHOP, "alice"), *((other, "postgres") for other in others)]:
        with server.connect(name, user=user) as connection:
            connection.execute("CREATE EXTENSION scru")
    return server


def alice(server: Server, **parameters: object) -> psycopg.Connection:
    """Returns a connection of Alice to her database, which waits for 20 s at most."""
    connection = server.connect(SHOP, user="alice", **parameters)
    connection.execute("SET statement_timeout = '20s'")
    return connection


def set_ahead(connection: psycopg.Connection, mark: str, seconds: float) -> None:
    """Lets the database carry a mark so many seconds ahead of the real time."""
    set_sequence(connection, mark, int((time.time() + seconds) * 1e6))


def set_sequence(connection: psycopg.Connection, mark: str, value: int) -> None:
    """Sets one of the sequences of the database."""
    connection.execute("SELECT setval(%s, %s)", [SEQUENCES[mark], value])
