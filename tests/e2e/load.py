"""Sessions that draw IDs one by one, as applications do, and keep what they got.

Only what has reached its client has been given out: this is what must never come again.
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
    """Sessions that draw until the server ends them or the block is left: `with Load(connect, id_type) as load:`.

    Each ID has to be greater than all that any of the sessions had received before it was asked for. Instead of mere
    drawing they may run some other `query` for an ID, such as an INSERT that returns it.
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
        """The greatest ID so far. Texts are in the order of their IDs."""
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
        """The sessions' processes."""
        return [connection.info.backend_pid for connection in self._connections]

    def wait(self) -> None:
        """Waits until all sessions have ended, and fails if one of them has."""
        for session in self._sessions:
            session.result(timeout=60)

    def wait_for(self, count: int) -> None:
        """Waits until so many more IDs have been given out."""
        enough = len(self.ids) + count
        wait_until(
            lambda: len(self.ids) >= enough or self._failed(), f"{count} more IDs of {self.id_type} are given out"
        )

    def _failed(self) -> bool:
        return any(session.done() and session.exception() for session in self._sessions)

    def _draw(self, connection: psycopg.Connection) -> None:
        # The server may end the session at any moment, but nothing else may go wrong.
        with suppress(psycopg.OperationalError):
            while not self._stopped.is_set():
                before = self.latest
                # During recovery there are no IDs: they begin with the promotion.
                with suppress(psycopg.errors.ReadOnlySqlTransaction):
                    self._keep(before, *connection.execute(self._query).fetchone())

    def _keep(self, before: str, id_: str) -> None:
        with self._lock:
            self.ids.append(id_)
            self.latest = max(self.latest, id_)
        assert id_ > before, f"{id_} was drawn after {before} had been given out"


def forever(id_type: IdType) -> str:
    """The SQL that draws one ID after another without an end."""
    return f"DO $$ BEGIN LOOP PERFORM {id_type.generator}; END LOOP; END $$"


@contextmanager
def background(connection: psycopg.Connection, query: str) -> Iterator[Future]:
    """Runs a query while the block runs. It is cancelled if it goes on when the block is left; within ten seconds it ends."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(connection.execute, query)
    pool.shutdown(wait=False)
    try:
        yield future
    finally:
        if not future.done():
            connection.cancel()
            try:
                future.result(timeout=10)
            except psycopg.errors.QueryCanceled:
                pass
            except TimeoutError:
                hang_up(connection)
                raise


def hang_up(connection: psycopg.Connection) -> None:
    """Cuts a connection, for else whoever closes it would wait for the session without an end."""
    socket(fileno=os.dup(connection.fileno())).shutdown(SHUT_RDWR)


def wait_until_it_waits(server: Server, connection: psycopg.Connection) -> None:
    """Waits until the session waits for the clock, and for no lock."""
    query = f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
    wait_until(lambda: server.value(query) == "Extension", "the session waits for the clock")


def assert_all_different(*given_out: Iterable[str]) -> None:
    """No ID is there twice, neither in one of the lists nor in two of them."""
    all_ids = [id_ for ids in given_out for id_ in ids]
    assert len(all_ids) == len(set(all_ids))
