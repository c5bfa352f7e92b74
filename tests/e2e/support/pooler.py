"""PgBouncer in transaction mode in front of a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from programs import Program, path_of
from server import Server, give_to_server_user

PORT = "6432"  # part of the name of PgBouncer's socket
# Two server connections, used alternately: successive transactions of a single client run on different connections.
SETTINGS = {
    "pool_mode": "transaction",
    "default_pool_size": "2",
    "server_round_robin": "1",
    "listen_port": PORT,
    "auth_type": "any",
    "admin_users": "postgres",
}
# Parameters of a client's connection. A prepared statement exists on one server connection only.
CLIENT = {"port": PORT, "prepare_threshold": None}


@contextmanager
def pgbouncer(server: Server, dbname: str, **settings: str) -> Iterator[None]:
    """Runs PgBouncer with a pool of connections to a database. Its clients connect to the server with `CLIENT`."""
    configuration = server.directory / "pgbouncer.ini"
    address = f"host={server.directory} port={server.port} user=postgres"
    settings = {**SETTINGS, "unix_socket_dir": str(server.directory), **settings}
    lines = "\n".join(f"{name} = {value}" for name, value in settings.items())
    configuration.write_text(f"[databases]\n{dbname} = {address}\n[pgbouncer]\n{lines}\n")
    give_to_server_user(configuration)
    program = Program(server.directory / "pgbouncer.log", path_of("pgbouncer"), configuration)
    program.start()
    try:
        program.wait_until_it_listens(server.directory / f".s.PGSQL.{PORT}")
        yield
    finally:
        program.stop()
