"""The measurements: rounds of each workload for each candidate, in changing order."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from itertools import product
from pathlib import Path
from statistics import median

import psycopg

from bench import candidates, workloads
from bench.candidates import Candidate, rotated
from bench.results import NAMED, WHOLE, Results
from bench.server import SETTINGS, Server, machine, timed
from bench.workloads import Workload

DRAWN = 10_000
PLANNED_ROWS = 10_000
PLANNINGS = 200


@dataclass(frozen=True, kw_only=True)
class Mode:
    """The size of a run."""

    rows: int = 1_000_000
    rounds: int = 5
    scales: dict[int, int] = field(default_factory=lambda: {1_000_000: 5, 10_000_000: 3})
    """The number of rounds by number of rows."""
    clients: tuple[int, ...] = (1, 2, 4, 8, 16)
    client_rounds: int = 3
    seconds: int = 2


MODES = {
    "full": Mode(),
    "short": Mode(rows=100_000, rounds=3, scales={100_000: 3}, clients=(1, 4, 16), client_rounds=2, seconds=1),
    "long": Mode(scales={100_000_000: 1}),
}
Read = Callable[[psycopg.Connection, list[str], int], dict[str, float]]


def read_times(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the processor time and the elapsed time."""
    return dict(zip(("processor ms", "ms"), timed(connection, *statements), strict=True))


def read_costs(connection: psycopg.Connection, statements: list[str], rows: int) -> dict[str, float]:
    """Returns the times, and the bytes per row on disk and in the WAL."""
    query = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, pg_total_relation_size('events')"
    log_before, _ = connection.execute(query).fetchone()
    times = read_times(connection, statements, rows)
    log, size = connection.execute(query).fetchone()
    return {**times, "WAL bytes": (log - log_before) / rows, "bytes": size / rows}


def read_plan(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the planning time, the execution time and the number of pages touched, as reported by EXPLAIN."""
    explained = explain(connection, statements[0])
    assert "Seq Scan" not in str(explained), explained
    return {"ms": explained["Execution Time"], "planning ms": explained["Planning Time"], "pages": pages(explained)}


def explain(connection: psycopg.Connection, statement: str) -> dict:
    """Executes a statement, and returns its plan with the pages that it has touched."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {statement}")
    return plans[0]


def pages(explained: dict) -> int:
    """Returns the number of pages that a statement has touched."""
    return explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"]


@dataclass
class Session:
    """A connection that works in the schema of one candidate at a time."""

    connection: psycopg.Connection
    directory: Path

    def execute(self, statements: Iterable[str], candidate: Candidate, **values: object) -> None:
        """Executes statements in the candidate's schema, except those that are empty for the candidate."""
        schema = candidate.key
        for statement in f"CREATE SCHEMA IF NOT EXISTS {schema}", f"SET search_path = {schema}, public", *statements:
            if sql := self.fill_in(statement, candidate, **values):
                self.connection.execute(sql)

    def fill_in(self, statement: str, candidate: Candidate, **values: object) -> str:
        """Returns a statement with its placeholders replaced for a candidate."""
        return statement.format(directory=self.directory, **candidate.sql(), **values)

    def measure(
        self, workload: Workload, candidate: Candidate, rows: int, read: Read = read_times, **values: object
    ) -> dict[str, float]:
        """Measures a workload once, after its preparation and before its cleanup."""
        self.execute((*workload.before, *(f"SET enable_{node} = off" for node in workload.without)), candidate)
        statements = self.fill_in(workload.statement, candidate, rows=rows, **values).split("; ")
        self.check_plan(statements[0], workload.plan)
        measured = read(self.connection, statements, rows)
        self.execute((*workload.after, *(f"RESET enable_{node}" for node in workload.without)), candidate)
        return measured

    def check_plan(self, statement: str, node: str) -> None:
        """Fails unless the plan has the node. Planning also fills the catalog caches before the measurement."""
        if statement.startswith(("SELECT", "INSERT", "DELETE")):
            plan = "\n".join(line for (line,) in self.connection.execute(f"EXPLAIN {statement}"))
            assert node in plan, f"{statement} has no {node} in its plan:\n{plan}"


class Run:
    """A run of the benchmark."""

    def __init__(self, mode: str, suites: tuple[str, ...]):
        self.mode, self.is_long = MODES[mode], mode == "long"
        # A run of one of the suites that are named has its name.
        name = suites[0] if len(suites) == 1 and suites[0] in NAMED else mode
        self.is_whole = mode != "short" and (suites == WHOLE or name != mode)
        self.suites = ("scale",) if self.is_long else suites
        self.began = time.monotonic()
        load = round(os.getloadavg()[0], 1)
        about = {"mode": name, "date": date.today().isoformat(), "load": load, **machine(), **asdict(self.mode)}
        self.results = Results({**about, "settings": SETTINGS})

    def run(self) -> Results:
        """Measures the suites on one server."""
        with Server("bench", SETTINGS) as self.server:
            self.results.about |= self.server.about
            for suite in self.suites:
                getattr(self, suite)()
        self.results.about["minutes"] = round((time.monotonic() - self.began) / 60, 1)
        return self.results

    def measure(
        self, suite: str, group: list[Candidate], chosen: dict[str, Workload], prepare: tuple[str, ...] = (),
        tables: tuple[str, ...] = (), read: Read = read_times, rows: int = 0,
    ) -> None:  # fmt: skip
        """Measures workloads of all candidates, on the tables that the statements prepare."""
        group, rows = self.available(group), rows or self.mode.rows
        with self.tables(group, prepare, rows):
            for round_ in self.sessions(suite, self.mode.rounds, group, tables):
                self.add_all(suite, chosen, group, rows, round_, read)

    def events(self) -> None:
        """Measures the costs of inserting a row, with and without an index on created_at."""
        self.measure("events", candidates.EVENTS, {"events": workloads.INSERT}, read=read_costs)

    def types(self) -> None:
        """Measures operations on values of each type."""
        tables = ("keyed", "shuffled", "texts")
        self.measure("types", candidates.TYPES, workloads.TYPES, workloads.PREPARE_TYPES, tables)

    def encryption(self) -> None:
        """Measures the encryption of IDs, and the forms of docs/encryption.md."""
        self.measure("encryption", candidates.ENCRYPTION, workloads.ENCRYPTION, workloads.PREPARE_ENCRYPTION, ("ids",))

    def scale(self) -> None:
        """Measures costs by table size, and queries by time. In long mode, only one candidate has tables at a time."""
        group = self.available(candidates.LONG if self.is_long else candidates.SCALE)
        groups = [[candidate] for candidate in group] if self.is_long else [group]
        for (rows, rounds), group in product(self.mode.scales.items(), groups):
            with self.tables(group, workloads.PREPARE_SCALE, rows):
                for round_ in self.sessions(f"{rows:,} rows", rounds, group, ("events", "shuffled")):
                    self.add_all("time", workloads.TIME, group, rows, round_, read_plan)
                    self.add_all("scale", workloads.SCALE, group, rows, round_)

    def created_at(self) -> None:
        """Measures the bytes of a table with and without created_at, and the plans and the planning of queries for the
        last hour and for the newest rows."""
        with self.tables(candidates.CREATED_AT, workloads.RECENT, self.mode.rows):
            for _ in self.sessions("created_at", 1):
                for candidate in candidates.CREATED_AT:
                    self.session.execute((), candidate)
                    for what, expression in workloads.SIZES.items():
                        [(size,)] = self.session.connection.execute(f"SELECT {expression}")
                        self.results.add("created_at", what, self.mode.rows, "bytes", candidate.key, size)
                    since = self.session.fill_in(workloads.SINCE, candidate)
                    explained = explain(self.session.connection, since)
                    found = {"estimated rows": explained["Plan"]["Plan Rows"], "rows": explained["Plan"]["Actual Rows"]}
                    for unit, value in {**found, "pages": pages(explained)}.items():
                        self.results.add("created_at", "last_hour", self.mode.rows, unit, candidate.key, value)
                    newest = explain(self.session.connection, self.session.fill_in(workloads.NEWEST, candidate))
                    self.results.add("created_at", "newest", self.mode.rows, "pages", candidate.key, pages(newest))
        self.planning()

    def planning(self) -> None:
        """Measures the planning of queries by time, by a column, by the ID and by a view."""
        turns = 3
        with self.tables(candidates.PLANNING, workloads.RECENT, PLANNED_ROWS):
            for round_ in self.sessions("planning", self.mode.rounds):
                for (name, workload), turn in product(workloads.PLANNING.items(), range(turns)):
                    for candidate in rotated(candidates.PLANNING, turns * round_ + turn):
                        self.session.execute((), candidate)
                        query = f"EXPLAIN (SUMMARY, FORMAT JSON) {self.session.fill_in(workload.statement, candidate)}"
                        plans = [self.session.connection.execute(query).fetchone()[0][0] for _ in range(PLANNINGS)]
                        value = median(each["Planning Time"] for each in plans) * 1000
                        self.results.add("planning", name, PLANNED_ROWS, "planning µs", candidate.key, value)

    def clients(self) -> None:
        """Measures the throughput of concurrent clients."""
        self.inserts()
        self.draws()

    def inserts(self) -> None:
        """Measures clients that insert single rows, each in its own transaction."""
        for clients, candidate in self.turns_of_clients("inserts", candidates.CLIENTS):
            # One client measures how fast an idle processor wakes up for each message.
            if clients == 1:
                continue
            self.session.execute(workloads.INSERT.before, candidate)
            script, options = "INSERT INTO events DEFAULT VALUES", f"-c search_path={candidate.key},public"
            rate = self.server.pgbench(script, clients, self.mode.seconds, options)
            self.results.add("inserts", "inserts", clients, "rows/s", candidate.key, rate)
            self.session.execute(workloads.INSERT.after, candidate)

    def draws(self) -> None:
        """Measures sessions that only generate IDs."""
        for clients, candidate in self.turns_of_clients("draws", candidates.DRAWS):
            script = f"SELECT count({candidate.generate}) FROM generate_series(1, {DRAWN})"
            rate = self.server.pgbench(script, clients, self.mode.seconds, candidate.options) * DRAWN
            self.results.add("draws", "draws", clients, "IDs/s", candidate.key, rate)

    def turns_of_clients(self, suite: str, group: list[Candidate]) -> Iterator[tuple[int, Candidate]]:
        """Yields each number of clients with each candidate. The order of the candidates changes with each round."""
        for turn in self.sessions(suite, self.mode.client_rounds):
            yield from product(self.mode.clients, rotated(self.available(group), turn))

    def available(self, group: list[Candidate]) -> list[Candidate]:
        return candidates.available(group, self.results.about["major"])

    def sessions(
        self, what: str, rounds: int, group: Iterable[Candidate] = (), tables: Iterable[str] = ()
    ) -> Iterator[int]:
        """Yields the number of each round. Each begins with a restart of the server and a new `session` that reads all
        tables, so that no table keeps its place in memory for all rounds."""
        for round_ in range(rounds):
            self.say(f"{what}, round {round_ + 1} of {rounds}")
            self.server.restart()
            with self.server.connect() as connection:
                self.session = Session(connection, self.server.directory)
                for candidate, table in product(group, tables):
                    connection.execute(f"SELECT count(*) FROM {candidate.key}.{table}")
                # The first IDs after a start may be ahead of the clock: wait until it has passed them.
                connection.execute("SELECT gen_scru64(), gen_ulidflake(), pg_sleep(1)")
                yield round_

    @contextmanager
    def tables(self, group: list[Candidate], statements: tuple[str, ...], rows: int) -> Iterator[None]:
        """Creates the tables of all candidates, unlogged because WAL is not measured, and drops them at the end."""
        with self.server.connect() as connection:
            for candidate in group:
                if statements:
                    self.say(f"{rows:,} rows of {candidate.label}")
                Session(connection, self.server.directory).execute(statements, candidate, rows=rows)
        yield
        with self.server.connect() as connection:
            connection.execute(f"DROP SCHEMA {', '.join(candidate.key for candidate in group)} CASCADE")

    def add_all(
        self, suite: str, chosen: dict[str, Workload], group: list[Candidate], rows: int, round_: int, *read: Read
    ) -> None:
        """Measures workloads for all candidates, in the order of a round."""
        for name, workload in chosen.items():
            for turn in range(round_ * workload.turns, (round_ + 1) * workload.turns):
                for candidate in rotated(group, turn):
                    self.add(suite, name, candidate, rows, workload, *read, day=workloads.day(round_ + 1))

    def add(
        self, suite: str, name: str, candidate: Candidate, rows: int, workload: Workload, *read: Read, **values: str
    ) -> None:
        """Measures a workload once and adds the results."""
        for unit, value in self.session.measure(workload, candidate, rows, *read, **values).items():
            self.results.add(suite, name, rows, unit, candidate.key, value)

    def say(self, what: str) -> None:
        """Reports the progress of the run on standard error."""
        print(f"{(time.monotonic() - self.began) / 60:5.1f} min  {what}", file=sys.stderr, flush=True)
