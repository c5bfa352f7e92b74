"""A feed under load: readers in the order of IDs receive each committed row once, in order, and miss none.

With SCRU_FEED_ROWS, each type and scope gets that many rows (`make test-feed`). Readers then count them, and keep none.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from threading import Event
from time import monotonic, sleep

import psycopg
import pytest

from clock import Clock
from idtypes import BY_NAME
from server import Server, wait_until

ROWS = int(os.environ.get("SCRU_FEED_ROWS", "0"))
SECONDS = 12
MANY = ROWS // 3 or 50
WRITERS = 32 if ROWS else 12
SCOPES = ["session", "server"]
LAYOUTS = ["plain", "range", "hash"]


@dataclass(frozen=True)
class Column:
    """A key of a feed: its type, and the ID system whose IDs it has."""

    sql_type: str
    system: str
    smallest: str

    def of(self, value: str) -> str:
        """Returns the SQL expression for an ID in the type of the column."""
        return f"{value}::{self.sql_type}"

    @property
    def horizon(self) -> str:
        return self.of(f"{self.system}_horizon()")

    def create(self, connection: psycopg.Connection) -> None:
        """Creates a plain, a range-partitioned and a hash-partitioned table."""
        name = self.sql_type
        columns = f"(id {name} PRIMARY KEY DEFAULT {self.of(f'gen_{self.system}()')}, note text)"
        connection.execute(
            f"""CREATE TABLE {name}_plain {columns};
                CREATE TABLE {name}_range {columns} PARTITION BY RANGE (id);
                CREATE TABLE {name}_range_default PARTITION OF {name}_range DEFAULT;
                CREATE TABLE {name}_hash {columns} PARTITION BY HASH (id)"""
        )
        for part in range(4):
            times = [f"date_trunc('second', now()) + interval '{3 * p} s'" for p in (part, part + 1)]
            low, high = [self.of(f"{self.system}_lower({time})") for time in times]
            connection.execute(
                f"""CREATE TABLE {name}_range_{part} PARTITION OF {name}_range FOR VALUES FROM ({low}) TO ({high});
                    CREATE TABLE {name}_hash_{part} PARTITION OF {name}_hash
                    FOR VALUES WITH (MODULUS 4, REMAINDER {part})"""
            )


COLUMNS = {name: Column(name, name, "0" * id_type.text_length) for name, id_type in BY_NAME.items()}
COLUMNS["uuid"] = Column("uuid", "uuidv7", "00000000-0000-0000-0000-000000000000")
COLUMNS["bigint"] = Column("bigint", "scru64", "0")


class Writers:
    """Sessions that insert rows, and commit late, roll back, prepare or die."""

    def __init__(self, server: Server, columns: list[Column], scopes: list[str] = SCOPES):
        self.server = server
        self.scopes = scopes
        self.tables = [f"{column.sql_type}_{layout}" for column in columns for layout in LAYOUTS]
        self.stopped = Event()
        self.names = count()

    def run(self, seed: int) -> None:
        """Runs transactions until the writers are stopped."""
        dice = random.Random(seed)
        while not self.stopped.is_set():
            # A session that has ended with its server, or that was terminated, connects again.
            with suppress(psycopg.OperationalError), self.connect(dice) as session:
                while not self.stopped.is_set():
                    # Generators of server-wide types refuse if the clock is set back by more than 2 s.
                    with suppress(psycopg.errors.ObjectNotInPrerequisiteState):
                        self.transact(session, dice)
                    session.execute("ROLLBACK")

    def connect(self, dice: random.Random) -> psycopg.Connection:
        return self.server.connect(options=f"-c scru.generator_scope={dice.choice(self.scopes)}")

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

    def insert(self, session: psycopg.Connection, dice: random.Random) -> None:
        table = dice.choice(self.tables)
        rows = dice.choice([1, 1, 1, 3, 200 if ROWS else 40])
        if dice.random() < 0.1:
            with session.cursor().copy(f"COPY {table} (note) FROM STDIN") as copy:
                copy.write("copied\n" * rows)
        else:
            session.execute(f"INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, {rows})")


def end_prepared(session: psycopg.Connection, name: str, is_kept: bool) -> None:
    """Ends a prepared transaction, unless another session has ended it, or is about to."""
    with suppress(psycopg.errors.UndefinedObject, psycopg.errors.ObjectNotInPrerequisiteState):
        session.execute(f"{'COMMIT' if is_kept else 'ROLLBACK'} PREPARED '{name}'")


def end_all_prepared(server: Server, dice: random.Random) -> None:
    """Ends the prepared transactions of sessions that are gone. Those of others may be among them."""
    with server.connect() as connection:
        for (name,) in connection.execute("SELECT gid FROM pg_prepared_xacts").fetchall():
            end_prepared(connection, name, dice.random() < 0.4)


class Reader:
    """A session that reads a table with the one statement."""

    def __init__(self, column: Column, layout: str, condition: str, sequential: bool, level: str = "READ COMMITTED"):
        self.table = f"{column.sql_type}_{layout}"
        self.smallest = column.smallest
        self.level = level
        self.sequential = sequential
        self.query = f"SELECT id::text FROM {self.table} WHERE id > %s {condition} ORDER BY id LIMIT 1000"
        self.received: list[str] = []
        self.count = 0
        self.refusals = 0
        self.stopped = Event()

    def read(self, session: psycopg.Connection) -> int:
        """Reads the rows after the position, and returns their number."""
        after = self.received[-1] if self.received else self.smallest
        with session.transaction() if self.level != "READ COMMITTED" else nullcontext():
            if self.level != "READ COMMITTED":
                session.execute(f"SET TRANSACTION ISOLATION LEVEL {self.level}")
                session.execute("SELECT")
            rows = session.execute(self.query, [after]).fetchall()
        if ROWS and rows:
            self.received = []
        self.received += [row for (row,) in rows]
        self.count += len(rows)
        return len(rows)

    def run(self, server: Server) -> None:
        """Reads until the reader is stopped, and then until the last row."""
        while True:
            # The server may stop and start again.
            with suppress(psycopg.OperationalError), server.connect() as session:
                if self.follow(session):
                    return
            sleep(0.02)

    def follow(self, session: psycopg.Connection) -> bool:
        """As `run`. Returns false if the snapshot is too old, which the server may say when it has started."""
        if self.sequential:
            for kind in ("indexscan", "indexonlyscan", "bitmapscan"):
                session.execute(f"SET enable_{kind} = off")
        try:
            while not self.stopped.is_set():
                self.read(session)
        except psycopg.errors.SerializationFailure:
            self.refusals += 1
            return False
        # Until the horizon has passed all rows.
        last = session.execute(f"SELECT max(id::text) FROM (TABLE {self.table} ORDER BY id DESC LIMIT 1) AS last")
        [last] = last.fetchone()
        wait_until(
            lambda: not self.read(session) and self.received[-1:] == [last], f"{self.table} is read up to {last}"
        )
        return True


@contextmanager
def running(target: object, arguments: list) -> Iterator[list[Future]]:
    """Runs a function in one thread for each argument, and raises its error at the end."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        futures = [pool.submit(target, argument) for argument in arguments]
        yield futures
        for future in futures:
            future.result(timeout=120)


A_WRITER = "SELECT max(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT%'"


class Disturbances:
    """Steps of the clock in both directions, and crashes of the server: immediate shutdowns, and kills of a backend."""

    def __init__(self, server: Server, clock: Clock):
        self.server = server
        self.clock = clock
        self.dice = random.Random(2)
        self.crashes = 0

    def next(self) -> None:
        """Causes one of them. The clock is often behind that of the last IDs when the server starts."""
        self.clock.shift(self.dice.uniform(-1.5, 1.5))
        kind = self.dice.choice([*["none"] * (20 if ROWS else 2), "shutdown", "kill"])
        if kind == "none":
            return
        self.crashes += 1
        if kind == "shutdown":
            self.server.restart("immediate")
        else:
            # The process may have ended by now.
            with suppress(AssertionError):
                self.server.kill_backend(self.server.value(A_WRITER))
            self.server.wait_until_ready()
        end_all_prepared(self.server, self.dice)

    def end(self) -> None:
        self.clock.shift(0)


CASES = [("preloaded", ["scru64", "scru128", "bigint"], SCOPES), ("disturbed", ["ulidflake", "ulid", "uuid"], SCOPES)]
if ROWS:
    SHARED = ("scru64", "ulidflake", "bigint")
    CASES = [("disturbed", [n], [s]) for n in COLUMNS for s in SCOPES if s == "server" or n not in SHARED]


@pytest.mark.parametrize(("kind", "names", "scopes"), CASES, ids=str)
def test_a_reader_misses_nothing_under_load(new_server, clock, measured, kind, names, scopes):
    """Writers of all types and both scopes commit late, roll back, prepare and die. Each reader receives exactly the
    committed rows in their order. Readers without the horizon miss rows.

    The library is preloaded in a server that is left alone, and not in one with a clock that is set in both directions
    and with crashes.
    """
    signal.alarm(300 + ROWS // 1000)
    is_disturbed = kind == "disturbed"
    settings = {
        "shared_preload_libraries": "" if is_disturbed else "scru",
        "max_prepared_transactions": "50",
        "max_connections": "130",
    }
    server = new_server(settings, clock.environment if is_disturbed else None)
    columns = [COLUMNS[name] for name in names]
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        for column in columns:
            column.create(connection)
    dice = random.Random(1)
    readers = [
        Reader(column, layout, f"AND id < {column.horizon}", dice.random() < 0.5, level)
        for column in columns
        for layout, level in zip(LAYOUTS, ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"], strict=True)
    ]
    readers += [Reader(column, "hash", f"AND id < {column.horizon}", True) for column in columns]
    naive = [Reader(column, "plain", "", False) for column in columns]
    writers = Writers(server, columns, scopes)
    disturbances = Disturbances(server, clock)
    with running(lambda reader: reader.run(server), readers + naive) as reading:
        try:
            with running(writers.run, list(range(WRITERS))):
                end = monotonic() + SECONDS
                try:
                    while monotonic() < end or not all(reader.count > MANY for reader in readers):
                        if any(future.done() for future in reading):
                            break
                        sleep(1)
                        if is_disturbed:
                            disturbances.next()
                finally:
                    disturbances.end()
                    writers.stopped.set()
            end_all_prepared(server, dice)
        finally:
            for reader in readers + naive:
                reader.stopped.set()
    for reader in readers:
        assert (reader.table, reader.count) == (reader.table, server.value(f"SELECT count(*) FROM {reader.table}"))
        if not ROWS:
            committed = [row for (row,) in server.rows(f"SELECT id::text FROM {reader.table} ORDER BY id")]
            assert (reader.table, sorted(set(committed) - set(reader.received))) == (reader.table, [])
            assert reader.received == committed
    missed = sum(server.value(f"SELECT count(*) FROM {reader.table}") - reader.count for reader in naive)
    assert missed > 0
    refusals = [reader.refusals for reader in readers]
    assert max(refusals) <= disturbances.crashes
    measured(
        f"feed of {', '.join(names)}: {sum(reader.count for reader in readers):,} rows read, {missed:,} missed without"
        f" a horizon, {disturbances.crashes} crashes, {sum(refusals)} snapshots too old"
    )
    assert is_disturbed or server.crashes() == []
