"""Shutdowns and crashes of a server with active sessions, and its restart."""

from __future__ import annotations

import psycopg
import pytest

from idtypes import ULIDFLAKE
from load import background, forever
from server import Server, wait_until


def kill_a_drawing_backend(server: Server) -> None:
    """Kills a backend that is generating IDs. The server then terminates all sessions and recovers."""
    busy = server.connect()
    is_drawing = f"SELECT query LIKE 'DO %' FROM pg_stat_activity WHERE pid = {busy.info.backend_pid}"
    with pytest.raises(psycopg.OperationalError), background(busy, forever(ULIDFLAKE)) as future:
        wait_until(lambda: server.value(is_drawing), "the session generates IDs")
        server.kill_backend(busy.info.backend_pid)
        future.result(timeout=60)


# Functions that end a server, or all its sessions. `bring_back` undoes them.
ENDS = {
    "a backend killed": kill_a_drawing_backend,
    "immediate shutdown": lambda server: server.stop("immediate"),
    "all killed": lambda server: server.kill(),
    "fast shutdown": lambda server: server.stop("fast"),
}


def bring_back(server: Server) -> None:
    """Starts the server, unless it recovers by itself, and waits until it accepts connections."""
    if server.process:
        server.wait_until_ready()
    else:
        server.start()
