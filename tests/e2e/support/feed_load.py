"""Sessions that write the rows of a feed, for tests of its readers."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from threading import Event
from time import sleep

import psycopg

from server import Server


class Writers:
    """Sessions that insert rows, and commit late, roll back, prepare or die. They go on after a crash of the server.

    `insert` inserts rows, and `parameters` returns those of a connection; both may throw the dice. The server may
    refuse a statement by the error `refused`.
    """

    def __init__(
        self,
        server: Server,
        insert: Callable[[psycopg.Connection, random.Random], object],
        parameters: Callable[[random.Random], dict],
        refused: type[psycopg.Error],
    ):
        self.server, self.insert, self.parameters, self.refused = server, insert, parameters, refused
        self.stopped, self.ended = Event(), Event()
        self.names = count()

    @contextmanager
    def beside(self, read: Callable, readers: Sequence, number: int) -> Iterator[list[Future]]:
        """Runs the writers until the end of the block. A reader ends when it has the last row after `ended`."""
        with running(read, readers) as reading:
            try:
                with running(self.run, range(number)) as writing:
                    try:
                        yield reading + writing
                    finally:
                        self.stopped.set()
                end_all_prepared(self.server, random.Random(1))
            finally:
                self.ended.set()

    def run(self, seed: int) -> None:
        """Runs transactions until the writers are stopped."""
        dice = random.Random(seed)
        while not self.stopped.is_set():
            # A session that has ended with its server, or that was terminated, connects again.
            with suppress(psycopg.OperationalError), self.server.connect(**self.parameters(dice)) as session:
                while not self.stopped.is_set():
                    with suppress(self.refused):
                        self.transact(session, dice)
                    session.execute("ROLLBACK")

    def transact(self, session: psycopg.Connection, dice: random.Random) -> None:
        """Runs one transaction."""
        session.execute("BEGIN")
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            self.insert(session, dice)
        if dice.random() < 0.2:
            session.execute("SAVEPOINT s")
            self.insert(session, dice)
            session.execute(dice.choice(["ROLLBACK TO s", "RELEASE s"]))
        # Most commit at once. Few commit very late.
        sleep(dice.choice([0, 0, 0, 0.002, 0.01, 0.05, 0.4]))
        is_kept = dice.random() < 0.4
        if dice.random() < 0.15:
            name = f"{os.getpid()}-{next(self.names)}"
            session.execute(f"PREPARE TRANSACTION '{name}'")
            sleep(dice.choice([0, 0.01, 0.1]))
            end_prepared(session, name, is_kept)
        elif dice.random() < 0.02:
            session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        else:
            session.execute("COMMIT" if is_kept else "ROLLBACK")


@contextmanager
def running(target: Callable, arguments: Sequence) -> Iterator[list[Future]]:
    """Runs a function in one thread for each argument, and raises its error at the end."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        futures = [pool.submit(target, argument) for argument in arguments]
        yield futures
        for future in futures:
            future.result(timeout=120)


def end_prepared(session: psycopg.Connection, name: str, is_kept: bool) -> None:
    """Ends a prepared transaction, unless another session has ended it, or is about to."""
    with suppress(psycopg.errors.UndefinedObject, psycopg.errors.ObjectNotInPrerequisiteState):
        session.execute(f"{'COMMIT' if is_kept else 'ROLLBACK'} PREPARED '{name}'")


def end_all_prepared(server: Server, dice: random.Random) -> None:
    """Ends the prepared transactions of sessions that are gone. Those of others may be among them."""
    with server.connect() as connection:
        for (name,) in connection.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
            end_prepared(connection, name, dice.random() < 0.4)
