"""A feed under load: readers in the order of IDs receive each committed row once, in order, and miss none.

With SCRU_FEED_ROWS, each type and scope gets that many rows (`make test-feed`). Readers then count them, and keep none.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from threading import Event
from time import monotonic, sleep

import psycopg
import pytest

from clock import Clock
from feed_load import Writers, end_all_prepared
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


def writers_of(server: Server, tables: list[str], scopes: list[str] = SCOPES) -> Writers:
    """Returns writers of these tables, in sessions of all scopes."""

    def insert(session: psycopg.Connection, dice: random.Random) -> None:
        table = dice.choice(tables)
        rows = dice.choice([1, 1, 1, 3, 200 if ROWS else 40])
        if dice.random() < 0.1:
            with session.cursor().copy(f"COPY {table} (note) FROM STDIN") as copy:
                copy.write("copied\n" * rows)
        else:
            session.execute(f"INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, {rows})")

    # Generators of server-wide types refuse if the clock is set back by more than 2 s.
    refused = psycopg.errors.ObjectNotInPrerequisiteState
    return Writers(server, insert, lambda dice: {"options": f"-c scru.generator_scope={dice.choice(scopes)}"}, refused)


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

    def run(self, server: Server, ended: Event) -> None:
        """Reads until the writers have ended, and then until the last row."""
        while True:
            # The server may stop and start again.
            with suppress(psycopg.OperationalError), server.connect() as session:
                if self.follow(session, ended):
                    return
            sleep(0.02)

    def follow(self, session: psycopg.Connection, ended: Event) -> bool:
        """As `run`. Returns false if the snapshot is too old, which the server may say when it has started."""
        if self.sequential:
            for kind in ("indexscan", "indexonlyscan", "bitmapscan"):
                session.execute(f"SET enable_{kind} = off")
        try:
            while not ended.is_set():
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
    tables = [f"{column.sql_type}_{layout}" for column in columns for layout in LAYOUTS]
    writers = writers_of(server, tables, scopes)
    disturbances = Disturbances(server, clock)
    with writers.beside(lambda reader: reader.run(server, writers.ended), readers + naive, WRITERS) as tasks:
        end = monotonic() + SECONDS
        try:
            while monotonic() < end or not all(reader.count > MANY for reader in readers):
                if any(task.done() for task in tasks):
                    break
                sleep(1)
                if is_disturbed:
                    disturbances.next()
        finally:
            disturbances.end()
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
