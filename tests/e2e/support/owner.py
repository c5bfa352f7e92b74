"""Alice, who owns a database and is no superuser, and the values that she writes to its sequences."""

from __future__ import annotations

import time

import psycopg

from idtypes import SCRU64, ULIDFLAKE, IdType
from server import Server

CODE_BITS = {SCRU64: 24, ULIDFLAKE: 6}
"""The number of bits of the node in the value of the sequence of a type."""
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


def mark(id_type: IdType, seconds: float, code: int = 1) -> int:
    """Returns the value of a sequence for a mark so many seconds ahead of the real time."""
    tick = (int((time.time() + seconds) * 1000) - id_type.epoch) // id_type.tick
    return tick << CODE_BITS[id_type] | code


def set_mark(connection: psycopg.Connection, id_type: IdType, seconds: float, code: int = 1) -> None:
    """Lets the database carry a mark so many seconds ahead of the real time."""
    connection.execute(f"SELECT setval('{id_type}_mark', {mark(id_type, seconds, code)})")


def set_horizon(connection: psycopg.Connection, seconds: float) -> None:
    """Lets the database carry a horizon so many seconds ahead of the real time."""
    connection.execute(f"SELECT setval('scru_horizon_mark', {int((time.time() + seconds) * 1e6)})")
