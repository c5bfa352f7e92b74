"""The rounds: every workload for every candidate in turn, in another order each round."""

from __future__ import annotations

import time

import psycopg

from bench.candidates import Candidate, candidates_of, yardstick
from bench.database import Database, check_plan, names_of
from bench.instructions import count_instructions
from bench.memory import memory
from bench.process import processor_time
from bench.progress import Progress
from bench.results import Results
from bench.server import Server, machine
from bench.sizes import sizes
from bench.targets import is_type
from bench.workloads import SIZES, WAL, WORKLOADS, Workload

MEMORY, INSTRUCTIONS = "memory", "instructions"
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
        self.with_instructions = not only or INSTRUCTIONS in only
        self.candidates = candidates_of(server.major)
        self.database = Database(server, self.candidates, rows)
        self.results = Results(
            {
                "server": {"version": server.version, "major": server.major, "settings": server.settings()},
                "machine": machine(),
                "rows": rows,
                "rounds": rounds,
                "workloads": {},
                "processor_time": {},
                "instructions": {},
                "memory": {},
            }
        )

    def run(self) -> None:
        """All but the counting."""
        self.database.make()
        progress = Progress(self.rounds * sum(workload.turns for workload in self.workloads))
        for number in range(self.rounds):
            self.database.move(number)
            with self.database.session() as connection:
                for workload in self.workloads:
                    for turn in range(workload.turns):
                        progress.step(f"round {number + 1} of {self.rounds}: {workload.title}")
                        self.measure_all(connection, workload, number * workload.turns + turn)
        self.results.add_ratios()
        self.results.processor_time.add_ratios()
        if self.with_sizes:
            progress.note("sizes")
            self.measure_sizes()
        if self.with_memory:
            progress.note(f"memory: {self.rows * MEMORY_SHARE:,} IDs of each type")
            self.measure_memory()
        progress.end()

    def count(self) -> None:
        """The instructions, last: afterwards the server has stopped."""
        if self.with_instructions:
            count_instructions(self.server, self.candidates, self.results.instructions)

    # -------------------------------------------------------------------------------------------------------- rounds

    def measure_all(self, connection: psycopg.Connection, workload: Workload, number: int) -> None:
        """One workload for all candidates, which have other neighbours each time."""
        rows = self.database.rows_of(workload)
        for candidate in self.database.measured_by(workload, number):
            connection.execute(names_of(candidate))
            for statement in workload.before:
                connection.execute(self.database.fill_in(statement, candidate, rows))
            if workload.clients:
                self.measure_clients(workload, candidate)
            else:
                self.measure(connection, workload, candidate)
            for statement in workload.after:
                connection.execute(self.database.fill_in(statement, candidate, rows))

    def measure(self, connection: psycopg.Connection, workload: Workload, candidate: Candidate) -> None:
        """Times a statement: by the clock and by what the backend spent on a processor, in milliseconds."""
        rows = self.database.rows_of(workload)
        statement = self.database.fill_in(workload.statement, candidate, rows)
        for setting in workload.settings_on():
            connection.execute(setting)
        check_plan(connection, statement, workload.plan)
        log_before = log_position(connection) if workload.counts_wal else 0
        pid = connection.info.backend_pid
        cpu_before, before = processor_time(pid), time.perf_counter_ns()
        connection.execute(statement)
        wall, cpu = time.perf_counter_ns() - before, processor_time(pid) - cpu_before
        self.results.add(workload.key, "ms", candidate.key, wall / 1e6)
        self.results.processor_time.add(workload.key, "ms", candidate.key, cpu / 1e6)
        if workload.counts_wal:
            self.results.add(WAL, "bytes", candidate.key, (log_position(connection) - log_before) / rows)
        for setting in workload.settings_off():
            connection.execute(setting)

    def measure_clients(self, workload: Workload, candidate: Candidate) -> None:
        """Times clients that run the statement side by side, in milliseconds."""
        rows = self.database.rows_of(workload)
        script = self.database.fill_in(workload.statement, candidate, rows)
        seconds = self.server.pgbench(script, candidate.key, workload.clients, rows)
        self.results.add(workload.key, "ms", candidate.key, seconds * 1000)

    # --------------------------------------------------------------------------------------------------------- after

    def measure_sizes(self) -> None:
        """Once: they are the same in every round."""
        with self.database.session() as connection:
            for candidate in self.candidates:
                if not candidate.type:
                    continue
                connection.execute(names_of(candidate))
                mine = sizes(connection, candidate.type, "id", self.rows)
                against = yardstick(candidate.key) if candidate.as_yardstick else None
                same = sizes(connection, against, candidate.as_yardstick, self.rows) if against else {}
                for what, size in mine.items():
                    self.results.add_size(what, candidate.key, size, against, same.get(what))

    def measure_memory(self) -> None:
        """Once for each type, in a session of its own."""
        for candidate in self.candidates:
            if is_type(candidate.key):
                with self.database.session() as connection:
                    kilobytes = memory(connection, candidate.generate, self.rows * MEMORY_SHARE)
                    self.results.data["memory"][candidate.key] = kilobytes


def log_position(connection: psycopg.Connection) -> int:
    """How many bytes the write-ahead log has had since the server was made."""
    return connection.execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").fetchone()[0]
