"""Sessions that generate IDs one by one, as applications do, and record them.

An ID counts as given out once its client has received it. It must never be generated again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from threading import Event, Lock

import psycopg

from idtypes import IdType
from server import Server, wait_until


class Load:
    """Sessions that generate IDs until the server terminates them or the block ends: `with Load(connect, id_type)`.

    Each ID has to be greater than `after`, and than all IDs that any of the sessions had received when it was
    requested. `query`, for example an INSERT with RETURNING, replaces the default query for an ID.
    """

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection],
        id_type: IdType,
        sessions: int = 4,
        after: str = "",
        query: str = "",
    ):
        self.id_type = id_type
        self._query = query or f"SELECT {id_type.generator}::text"
        self.ids: list[str] = []
        self.latest = after
        """The greatest ID so far. Texts sort as their IDs do."""
        self._connections = [connect() for _ in range(sessions)]
        self._lock = Lock()
        self._stopped = Event()

    def __enter__(self) -> Load:
        pool = ThreadPoolExecutor(len(self._connections))
        self._sessions = [pool.submit(self._draw, connection) for connection in self._connections]
        pool.shutdown(wait=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.wait()
        for connection in self._connections:
            connection.close()

    @property
    def pids(self) -> list[int]:
        """The process IDs of the sessions."""
        return [connection.info.backend_pid for connection in self._connections]

    def wait(self) -> None:
        """Waits until all sessions have ended, and raises the exception of one that failed."""
        for session in self._sessions:
            session.result(timeout=60)

    def wait_for(self, count: int) -> None:
        """Waits until `count` more IDs have been received, or a session has failed."""
        enough = len(self.ids) + count
        wait_until(
            lambda: len(self.ids) >= enough or self._failed(), f"{count} more IDs of {self.id_type} are received"
        )

    def _failed(self) -> bool:
        return any(session.done() and session.exception() for session in self._sessions)

    def _draw(self, connection: psycopg.Connection) -> None:
        # The server may terminate the session at any moment. Every other error is a failure.
        with suppress(psycopg.OperationalError):
            while not self._stopped.is_set():
                before = self.latest
                # A standby generates no 64-bit IDs before its promotion.
                with suppress(psycopg.errors.ReadOnlySqlTransaction):
                    self._keep(before, *connection.execute(self._query).fetchone())

    def _keep(self, before: str, id_: str) -> None:
        with self._lock:
            self.ids.append(id_)
            self.latest = max(self.latest, id_)
        assert id_ > before, f"{id_} was requested after {before} was received, but is not greater"


def forever(id_type: IdType) -> str:
    """Returns the SQL that generates IDs in an endless loop."""
    return f"DO $$ BEGIN LOOP PERFORM {id_type.generator}; END LOOP; END $$"


@contextmanager
def background(connection: psycopg.Connection, query: str) -> Iterator[Future]:
    """Runs a query in another thread. Cancels it at the end of the block; it then has a minute to end."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(connection.execute, query)
    pool.shutdown(wait=False)
    try:
        yield future
    finally:
        if not future.done():
            connection.cancel()
            try:
                future.result(timeout=60)
            except psycopg.errors.QueryCanceled:
                pass
            except TimeoutError:
                hang_up(connection)
                raise


def hang_up(connection: psycopg.Connection) -> None:
    """Shuts down the socket of a connection. Otherwise closing the connection would wait for the session forever."""
    socket(fileno=os.dup(connection.fileno())).shutdown(SHUT_RDWR)


def wait_until_it_waits(server: Server, connection: psycopg.Connection, *events: str) -> None:
    """Waits until the session is waiting for one of these events, or events of these types; by default for the clock,
    not for a lock."""
    names = {event.lower() for event in events or ["Extension"]}
    of_session = f"FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
    query = f"SELECT ARRAY[lower(wait_event_type), lower(wait_event)] {of_session}"
    wait_until(lambda: names & {*server.value(query)}, f"the session is waiting for {names}")


def assert_all_different(*given_out: Iterable[str]) -> None:
    """Asserts that no ID occurs twice, in one of the arguments or across them."""
    all_ids = [id_ for ids in given_out for id_ in ids]
    assert len(all_ids) == len(set(all_ids))
