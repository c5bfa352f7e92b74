"""The rounds: every workload for every candidate in turn, in another order each round."""

from __future__ import annotations

import random
import sys
import time

import psycopg

from bench.candidates import Candidate, candidates_of, yardstick
from bench.memory import memory
from bench.process import processor_time
from bench.results import Results
from bench.server import Server, machine
from bench.sizes import sizes
from bench.targets import is_type
from bench.workloads import CLIENT_SHARE, SIZES, WAL, WORKLOADS, Workload, preparations

MEMORY = "memory"
# Of the rows: a hundred million IDs for a million rows.
MEMORY_SHARE = 100


class Runner:
    """A run of the benchmark."""

    def __init__(self, server: Server, rows: int, rounds: int, only: list[str]):
        self.server = server
        self.rows = rows
        self.rounds = rounds
        self.workloads = [workload for workload in WORKLOADS if not only or workload.key in only]
        self.with_sizes = not only or bool(set(only) & set(SIZES))
        self.with_memory = not only or MEMORY in only
        self.candidates = candidates_of(server.major)
        self.results = Results(
            {
                "server": {"version": server.version, "major": server.major, "settings": server.settings()},
                "machine": machine(),
                "rows": rows,
                "rounds": rounds,
                "workloads": {},
                "processor_time": {},
                "memory": {},
            }
        )

    def run(self) -> Results:
        """All of it."""
        self.prepare()
        progress = Progress(self.rounds * len(self.workloads))
        for number in range(self.rounds):
            with self.session() as connection:
                for workload in self.workloads:
                    progress.step(f"round {number + 1} of {self.rounds}: {workload.title}")
                    self.measure_all(connection, workload, number)
        self.results.add_ratios()
        self.results.processor_time.add_ratios()
        if self.with_sizes:
            progress.note("sizes")
            self.measure_sizes()
        if self.with_memory:
            progress.note(f"memory: {self.rows * MEMORY_SHARE:,} IDs of each type")
            self.measure_memory()
        progress.end()
        return self.results

    # ------------------------------------------------------------------------------------------------------- before

    def prepare(self) -> None:
        """Makes the tables of all candidates."""
        with self.server.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute("CREATE SEQUENCE numbers")
            connection.execute("CREATE FUNCTION noop() RETURNS int LANGUAGE internal VOLATILE AS 'pg_backend_pid'")
            noop16 = "noop16(interval) RETURNS interval LANGUAGE internal VOLATILE STRICT AS 'interval_um'"
            connection.execute(f"CREATE FUNCTION {noop16}")
            connection.execute("CREATE UNLOGGED TABLE rows_without_columns ()")
            connection.execute(f"INSERT INTO rows_without_columns SELECT FROM generate_series(1, {self.rows})")
            connection.execute("VACUUM (FREEZE, ANALYZE) rows_without_columns")
        progress = Progress(len(self.candidates))
        with self.session() as connection:
            for candidate in self.candidates:
                progress.step(f"tables of {candidate.label}")
                connection.execute(f"CREATE SCHEMA {candidate.key}")
                self.take_turn(connection, candidate)
                for statement in preparations(candidate) if candidate.type else []:
                    connection.execute(self.fill_in(statement, candidate))
                check_shuffled(connection, candidate.key)
            connection.execute("CHECKPOINT")
        progress.end()

    def session(self) -> psycopg.Connection:
        """A session that has loaded the library, so that the first to use it does not pay for that."""
        connection = self.server.connect()
        connection.execute("LOAD 'scru'")
        return connection

    def take_turn(self, connection: psycopg.Connection, candidate: Candidate) -> None:
        """From now on names are those of the candidate's tables."""
        connection.execute(f"SET search_path = {candidate.key}, public")

    def fill_in(self, statement: str, candidate: Candidate) -> str:
        """The statement for one candidate."""
        once = {"type": candidate.type, "rows": self.rows, "folder": self.server.folder, "candidate": candidate.key}
        return statement.format(generate=candidate.generate, **once)

    # -------------------------------------------------------------------------------------------------------- rounds

    def measure_all(self, connection: psycopg.Connection, workload: Workload, number: int) -> None:
        """One workload for all candidates, which have other neighbours in each round."""
        candidates = [candidate for candidate in self.candidates if workload.measures(candidate)]
        for candidate in shuffled(candidates, number):
            self.take_turn(connection, candidate)
            for statement in workload.before:
                connection.execute(self.fill_in(statement, candidate))
            if workload.clients:
                self.measure_clients(workload, candidate)
            else:
                self.measure(connection, workload, candidate)
            for statement in workload.after:
                connection.execute(self.fill_in(statement, candidate))

    def measure(self, connection: psycopg.Connection, workload: Workload, candidate: Candidate) -> None:
        """Times a statement: by the clock and by what the backend spent on a processor, in milliseconds."""
        statement = self.fill_in(workload.statement, candidate)
        for name, value in workload.settings.items():
            connection.execute(f"SET {name} = {value}")
        check_plan(connection, statement, workload.plan)
        log_before = log_position(connection) if workload.counts_wal else 0
        pid = connection.info.backend_pid
        cpu_before, before = processor_time(pid), time.perf_counter_ns()
        connection.execute(statement)
        wall, cpu = time.perf_counter_ns() - before, processor_time(pid) - cpu_before
        self.results.add(workload.key, "ms", candidate.key, wall / 1e6)
        self.results.processor_time.add(workload.key, "ms", candidate.key, cpu / 1e6)
        if workload.counts_wal:
            self.results.add(WAL, "bytes", candidate.key, (log_position(connection) - log_before) / self.rows)
        for name in workload.settings:
            connection.execute(f"RESET {name}")

    def measure_clients(self, workload: Workload, candidate: Candidate) -> None:
        """Times clients that run the statement side by side, in milliseconds."""
        script = self.fill_in(workload.statement, candidate)
        seconds = self.server.pgbench(script, candidate.key, workload.clients, self.rows // CLIENT_SHARE)
        self.results.add(workload.key, "ms", candidate.key, seconds * 1000)

    # --------------------------------------------------------------------------------------------------------- after

    def measure_sizes(self) -> None:
        """Once: they are the same in every round."""
        with self.session() as connection:
            for candidate in self.candidates:
                if not candidate.type:
                    continue
                self.take_turn(connection, candidate)
                mine = sizes(connection, candidate.type, "id", self.rows)
                against = yardstick(candidate.key) if candidate.as_yardstick else None
                same = sizes(connection, against, candidate.as_yardstick, self.rows) if against else {}
                for what, size in mine.items():
                    self.results.add_size(what, candidate.key, size, against, same.get(what))

    def measure_memory(self) -> None:
        """Once for each type, in a session of its own."""
        for candidate in self.candidates:
            if is_type(candidate.key):
                with self.session() as connection:
                    kilobytes = memory(connection, candidate.generate, self.rows * MEMORY_SHARE)
                    self.results.data["memory"][candidate.key] = kilobytes


def shuffled(candidates: list[Candidate], number: int) -> list[Candidate]:
    """The candidates in the order of a round, which is the same in every run."""
    return random.Random(number).sample(candidates, len(candidates))


def check_shuffled(connection: psycopg.Connection, schema: str) -> None:
    """Fails if the rows of a table that is to be sorted are in some order already."""
    query = """
        SELECT tablename, correlation FROM pg_stats
        WHERE schemaname = %s AND tablename IN ('bulk', 'spread') AND abs(correlation) > 0.1
    """
    ordered = connection.execute(query, [schema]).fetchall()
    assert not ordered, f"{schema}: {ordered}"


def check_plan(connection: psycopg.Connection, statement: str, nodes: list[str]) -> None:
    """Fails unless the plan has the nodes. It also reads the catalogs, so that what is timed needs not."""
    if statement.startswith(("SELECT", "INSERT")):
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {statement}"))
        missing = [node for node in nodes if node not in plan]
        assert not missing, f"{statement} has no {missing} in its plan:\n{plan}"


def log_position(connection: psycopg.Connection) -> int:
    """How many bytes the write-ahead log has had since the server was made."""
    return connection.execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchone()[0]


class Progress:
    """One line on the terminal that says where the run is and how long it may still take; in a log, a line a step."""

    def __init__(self, steps: int):
        self.steps = steps
        self.done = 0
        self.began = time.monotonic()

    def step(self, what: str) -> None:
        """Another step begins."""
        left = ""
        if self.done:
            minutes = (time.monotonic() - self.began) / self.done * (self.steps - self.done) / 60
            left = f", some {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left"
        self.note(f"{what}{left}")
        self.done += 1

    def note(self, what: str) -> None:
        """Shows what is being done."""
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)
        else:
            print(what, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leaves the line to others."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
