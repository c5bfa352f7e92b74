"""A feed under load: readers in the order of IDs receive each committed row once, in order, and miss none.

SCRU_FEED_ROWS sets the number of rows of each type and scope for readers in SQL (`make test-feed`). Without it, three
of them get few rows.
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

# ----------------------------------------------------------------------------------------- a reader beside disturbances

SECONDS = 12
MANY = 50
WRITERS = 12
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
        default = self.of(f"gen_{self.system}()")
        columns = f"(id {name} PRIMARY KEY DEFAULT {default}, note text)"
        connection.execute(f"CREATE TABLE {name}_plain {columns}")
        connection.execute(f"CREATE TABLE {name}_range {columns} PARTITION BY RANGE (id)")
        connection.execute(f"CREATE TABLE {name}_range_default PARTITION OF {name}_range DEFAULT")
        start = "date_trunc('second', now())"
        for part in range(4):
            times = [f"{start} + interval '{3 * p} s'" for p in (part, part + 1)]
            low, high = [self.of(f"{self.system}_lower({time})") for time in times]
            bounds = f"FOR VALUES FROM ({low}) TO ({high})"
            connection.execute(f"CREATE TABLE {name}_range_{part} PARTITION OF {name}_range {bounds}")
        connection.execute(f"CREATE TABLE {name}_hash {columns} PARTITION BY HASH (id)")
        for part in range(4):
            bounds = f"FOR VALUES WITH (MODULUS 4, REMAINDER {part})"
            connection.execute(f"CREATE TABLE {name}_hash_{part} PARTITION OF {name}_hash {bounds}")


COLUMNS = {name: Column(name, name, "0" * id_type.text_length) for name, id_type in BY_NAME.items()}
COLUMNS["uuid"] = Column("uuid", "uuidv7", "00000000-0000-0000-0000-000000000000")
COLUMNS["bigint"] = Column("bigint", "scru64", "0")


class Writers:
    """Sessions that insert rows, and commit late, roll back, prepare or die."""

    def __init__(self, server: Server, columns: list[Column]):
        self.server = server
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
        return self.server.connect(options=f"-c scru.generator_scope={dice.choice(SCOPES)}")

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
        rows = dice.choice([1, 1, 1, 3, 40])
        if dice.random() < 0.1:
            with session.cursor().copy(f"COPY {table} (note) FROM STDIN") as copy:
                copy.write("copied\n" * rows)
        else:
            session.execute(f"INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, {rows})")


def end_prepared(session: psycopg.Connection, name: str, is_kept: bool) -> None:
    """Ends a prepared transaction, unless another session has ended it."""
    with suppress(psycopg.errors.UndefinedObject):
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
        self.received += [row for (row,) in rows]
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
        kind = self.dice.choice(["none", "none", "shutdown", "kill"])
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


SYSTEMS = {"preloaded": ["scru64", "scru128", "bigint"], "disturbed": ["ulidflake", "ulid", "uuid"]}


@pytest.mark.parametrize("kind", ["preloaded", "disturbed"])
def test_a_reader_misses_nothing_under_load(new_server, clock, measured, kind):
    """Writers of all types and both scopes commit late, roll back, prepare and die. Each reader receives exactly the
    committed rows in their order. Readers without the horizon miss rows.

    The library is preloaded in a server that is left alone, and not in one with a clock that is set in both directions
    and with crashes.
    """
    is_disturbed = kind == "disturbed"
    settings = {
        "shared_preload_libraries": "" if is_disturbed else "scru",
        "max_prepared_transactions": "50",
        "max_connections": "130",
    }
    server = new_server(settings, clock.environment if is_disturbed else None)
    columns = [COLUMNS[name] for name in SYSTEMS[kind]]
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
    writers = Writers(server, columns)
    disturbances = Disturbances(server, clock)
    with running(lambda reader: reader.run(server), readers + naive) as reading:
        try:
            with running(writers.run, list(range(WRITERS))):
                end = monotonic() + SECONDS
                rows = [f"SELECT count(*) > {MANY} FROM {table}" for table in writers.tables]
                try:
                    while monotonic() < end or not all(map(server.value, rows)):
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
    rows = missed_without = 0
    with server.connect() as connection:
        for reader in readers + naive:
            committed = [row for (row,) in connection.execute(f"SELECT id::text FROM {reader.table} ORDER BY id")]
            missed = set(committed) - set(reader.received)
            if reader in naive:
                missed_without += len(missed)
                continue
            assert len(committed) > MANY
            assert (reader.table, sorted(missed)) == (reader.table, [])
            assert reader.received == committed
            rows += len(committed)
    assert missed_without > 0
    refusals = [reader.refusals for reader in readers]
    assert max(refusals) <= disturbances.crashes
    measured(
        f"feed, {kind}: {rows:,} rows read, {missed_without:,} missed without a horizon,"
        f" {disturbances.crashes} crashes, {sum(refusals)} snapshots too old"
    )
    assert is_disturbed or server.crashes() == []


# ------------------------------------------------------------------------------------------------------------ many rows

ROWS = int(os.environ.get("SCRU_FEED_ROWS", "0"))
ARE_MANY = bool(ROWS)
CASES = [
    (COLUMNS[name], scope)
    for name in COLUMNS
    for scope in (["server"] if name in ("scru64", "ulidflake", "bigint") else SCOPES)
]
"""The columns, each with the scopes that its generator has."""
if not ROWS:
    ROWS = 5000
    CASES = CASES[::4]

TRANSACTION = """
\\set rows random(1, 200)
\\set pause random(1, 1000)
\\set ending random(1, 100)
BEGIN;
INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, :rows);
SAVEPOINT s;
INSERT INTO {table} (note) VALUES ('later');
ROLLBACK TO s;
\\if :pause <= 20
SELECT pg_sleep(:pause / 10.0);
\\endif
\\if :ending <= 4
PREPARE TRANSACTION 'p:client_id';
COMMIT PREPARED 'p:client_id';
\\elif :ending <= 8
COPY {table} (note) FROM '{copied}';
COMMIT;
\\elif :ending <= 40
COMMIT;
\\else
ROLLBACK;
\\endif
"""
"""What a session of pgbench repeats. Of 1,000 transactions, 20 wait for up to 2 s before they end."""

FOLLOW = """
CREATE TABLE positions (reader text PRIMARY KEY, after {type}, received bigint NOT NULL DEFAULT 0);
CREATE TABLE writing ();
CREATE PROCEDURE follow(name text, query text) LANGUAGE plpgsql AS $$
DECLARE
    is_last boolean := false;
    rows bigint;
    id {type};
BEGIN
    LOOP
        EXECUTE query INTO rows, id USING (SELECT after FROM positions WHERE reader = name);
        IF rows > 0 THEN
            UPDATE positions SET after = id, received = received + rows WHERE reader = name;
        ELSE
            EXIT WHEN is_last;
            PERFORM pg_sleep(0.01);
        END IF;
        COMMIT;
        is_last := to_regclass('writing') IS NULL;
    END LOOP;
END $$
"""
"""A reader, whose position is in a table. It ends when it finds no row after the table `writing` has been dropped."""

PAGE = """
SELECT count(*), (array_agg(id ORDER BY id DESC))[1]
FROM (SELECT id FROM {table} WHERE id > $1 {condition} ORDER BY id LIMIT {limit}) AS page
"""


class ManyReaders:
    """Procedures that read each table by its index, or by sequential scans."""

    def __init__(self, server: Server, column: Column):
        self.server = server
        self.refusals = 0
        horizon = f"AND id < {column.horizon}"
        self.queries = {layout: PAGE.format(table=layout, condition=horizon, limit=1000) for layout in LAYOUTS}
        # A sequential scan reads the whole table, so it returns all new rows at once.
        self.queries["sequential"] = PAGE.format(table="range", condition=horizon, limit="ALL")
        self.queries["repeatable read"] = self.queries["hash"]
        self.queries["naive"] = PAGE.format(table="plain", condition="", limit=1000)
        with server.connect() as connection:
            connection.execute(FOLLOW.format(type=column.sql_type))
            for reader in self.queries:
                connection.execute("INSERT INTO positions VALUES (%s, %s)", [reader, column.smallest])

    def run(self, reader: str) -> None:
        """Reads until the end. The server may stop and start again, or have started just before."""
        options = {
            "sequential": " ".join(f"-c enable_{kind}=off" for kind in ("indexscan", "indexonlyscan", "bitmapscan")),
            "repeatable read": r"-c default_transaction_isolation=repeatable\ read",
        }
        while True:
            try:
                with self.server.connect(options=options.get(reader, "")) as session:
                    session.execute("CALL follow(%s, %s)", [reader, self.queries[reader]])
                    return
            except psycopg.errors.SerializationFailure:
                self.refusals += 1
            except psycopg.OperationalError:
                sleep(0.02)

    def received(self) -> dict[str, int]:
        return dict(self.server.rows("SELECT reader, received FROM positions"))


def write(server: Server, seconds: int) -> None:
    """Runs 32 sessions of pgbench. Those that lose their connection, or whose generator refuses, end."""
    copied = server.directory / "copied"
    copied.write_text("copied\n" * 50)
    copied.chmod(0o644)
    scripts = []
    for layout in LAYOUTS:
        script = server.directory / f"{layout}.sql"
        script.write_text(TRANSACTION.format(table=layout, copied=copied))
        scripts.append(f"--file={script}")
    with suppress(RuntimeError):
        server.run("pgbench", "--no-vacuum", "--client=32", f"--time={seconds}", *scripts, "postgres")


@pytest.mark.parametrize(("column", "scope"), CASES, ids=[f"{column.sql_type}-{scope}" for column, scope in CASES])
def test_readers_receive_as_many_rows_as_were_committed(new_server, clock, measured, column, scope):
    """Each reader receives as many rows as were committed, in order of ID, and so each of them once."""
    signal.alarm(300 + ROWS // 1000)
    settings = {"max_prepared_transactions": "50", "max_connections": "60", "scru.generator_scope": scope}
    server = new_server({**settings, "shared_preload_libraries": "scru"}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        column.create(connection)
        for layout in LAYOUTS:
            connection.execute(f"ALTER TABLE {column.sql_type}_{layout} RENAME TO {layout}")
    readers = ManyReaders(server, column)
    disturbances = Disturbances(server, clock)
    with running(readers.run, list(readers.queries)):
        try:
            while sum(readers.received()[layout] for layout in LAYOUTS) < ROWS:
                with ThreadPoolExecutor(1) as pool:
                    writing = pool.submit(write, server, min(10, 1 + ROWS // 20_000))
                    while not writing.done():
                        sleep(0.5)
                        clock.shift(disturbances.dice.uniform(-1.5, 1.5))
                        with suppress(psycopg.OperationalError), server.connect() as connection:
                            connection.execute(f"SELECT pg_terminate_backend(({A_WRITER}))")
                disturbances.next()
            disturbances.end()
            end_all_prepared(server, disturbances.dice)
            for layout in LAYOUTS:
                passed = f"SELECT NOT EXISTS (SELECT FROM {layout} WHERE id >= {column.horizon})"
                wait_until(lambda: server.value(passed), "the horizon has passed all rows")  # noqa: B023
        finally:
            with server.connect() as connection:
                connection.execute("DROP TABLE writing")
    committed = {layout: server.value(f"SELECT count(*) FROM {layout}") for layout in LAYOUTS}
    received = readers.received()
    naive = received.pop("naive")
    assert received == {**committed, "sequential": committed["range"], "repeatable read": committed["hash"]}
    # Of few rows, a reader may be too slow to miss any.
    assert naive < committed["plain"] or not ARE_MANY
    assert readers.refusals <= disturbances.crashes * len(readers.queries)
    measured(
        f"feed of {column.sql_type}, scope {scope}: {sum(committed.values()):,} rows,"
        f" {committed['plain'] - naive:,} missed without a horizon, {disturbances.crashes} crashes"
    )
