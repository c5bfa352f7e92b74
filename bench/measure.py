"""The measurements: rounds of each workload for each candidate, in changing order."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import product
from pathlib import Path

import psycopg

from bench import candidates, server, workloads
from bench.candidates import Candidate, available, rotated
from bench.results import Results
from bench.workloads import Workload


@dataclass(frozen=True)
class Suite:
    """Workloads that are measured for several candidates, with the rounds by number of rows, or of clients."""

    group: list[Candidate]
    workloads: dict[str, Workload]
    prepare: tuple[str, ...] = ()
    """The statements that create the tables of a candidate."""
    full: dict[int, int] = field(default_factory=lambda: {1_000_000: 5})
    short: dict[int, int] = field(default_factory=lambda: {100_000: 3})
    long: dict[int, int] = field(default_factory=dict)


OF_SCALE = workloads.TIME | workloads.SCALE
SUITES = {
    "events": Suite(candidates.EVENTS, workloads.EVENTS),
    "types": Suite(candidates.TYPES, workloads.TYPES, workloads.PREPARE_TYPES),
    "scale": Suite(
        candidates.SCALE, OF_SCALE, workloads.PREPARE_SCALE, {1_000_000: 5, 10_000_000: 3}, long={100_000_000: 1}
    ),
    # One client that inserts would measure how fast an idle processor wakes up for each message.
    "inserts": Suite(candidates.INSERTS, workloads.INSERTS, full={2: 3, 4: 3, 8: 3, 16: 3}, short={4: 2}),
    "draws": Suite(candidates.DRAWS, workloads.DRAWS, full={1: 3, 2: 3, 4: 3, 8: 3, 16: 3}, short={1: 2, 4: 2}),
    "created_at": Suite(candidates.CREATED_AT, workloads.CREATED_AT, workloads.RECENT),
    "planning": Suite(candidates.PLANNING, workloads.PLANNING, workloads.RECENT, {10_000: 5}, {10_000: 3}),
    "encryption": Suite(candidates.ENCRYPTION, workloads.ENCRYPTION, workloads.PREPARE_ENCRYPTION),
}


def fill_in(connection: psycopg.Connection, statement: str, candidate: Candidate, **values: int) -> str:
    """Returns a statement with its placeholders replaced for a candidate."""
    return statement.format(directory=connection.info.host, **candidate.sql(), **values)


def execute(connection: psycopg.Connection, candidate: Candidate, *statements: str, **values: int) -> None:
    """Executes statements in the candidate's schema, except those that are empty for the candidate."""
    for statement in "CREATE SCHEMA IF NOT EXISTS {key}", "SET search_path = {key}, public", *statements:
        if sql := fill_in(connection, statement, candidate, **values):
            connection.execute(sql)


def measure(
    connection: psycopg.Connection, workload: Workload, candidate: Candidate, rows: int, turn: int = 0
) -> dict[str, float]:
    """Measures a workload once, after its preparation and before its cleanup."""
    execute(connection, candidate, *workload.before, *(f"SET enable_{node} = off" for node in workload.without))
    statements = fill_in(connection, workload.statement, candidate, rows=rows, turn=turn).split("; ")
    check_plan(connection, statements[0], workload.plan)
    measured = workload.read(connection, statements, rows)
    execute(connection, candidate, *workload.after, *(f"RESET enable_{node}" for node in workload.without))
    return measured


def check_plan(connection: psycopg.Connection, statement: str, node: str) -> None:
    """Fails unless the plan has the node. Planning also fills the catalog caches before the measurement."""
    if statement.startswith(("SELECT", "INSERT", "DELETE")):
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {statement}"))
        assert node in plan, f"{statement} has no {node} in its plan:\n{plan}"


def rounds(directory: Path, number: int, group: list[Candidate]) -> Iterator[tuple[int, psycopg.Connection]]:
    """Yields the number of each round, and a connection. Each begins with a restart of the server, and reads all
    tables, so that no table keeps its place in memory for all rounds."""
    for round_ in range(number):
        server.restart()
        with server.connect(directory) as connection:
            query = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname = ANY (%s)"
            for (table,) in connection.execute(query, [[candidate.key for candidate in group]]).fetchall():
                connection.execute(f"SELECT count(*) FROM {table}")
            # The first IDs after a start may be ahead of the clock: wait until it has passed them.
            connection.execute("SELECT gen_scru64(), gen_ulidflake(), pg_sleep(1)")
            yield round_, connection


def measure_all(directory: Path, group: list[Candidate], suite: Suite, rows: int, number: int) -> Iterator[tuple]:
    """Yields the workload, the candidate and the values of each measurement, in a number of rounds."""
    with server.connect(directory) as connection:
        for candidate in group:
            execute(connection, candidate, *suite.prepare, rows=rows)
    for round_, connection in rounds(directory, number, group):
        for name, workload in suite.workloads.items():
            for turn in range(round_ * workload.turns, (round_ + 1) * workload.turns):
                for candidate in rotated(group, turn):
                    yield name, candidate.key, measure(connection, workload, candidate, rows, turn)
    with server.connect(directory) as connection:
        connection.execute(f"DROP SCHEMA {', '.join(candidate.key for candidate in group)} CASCADE")


def run(mode: str, only: list[str] | None) -> Results:
    """Measures all suites, or some. In long mode, only one candidate has tables at a time, to save disk space."""
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    about = {"mode": "-".join(only or [mode]), "date": date.today().isoformat(), "load": round(os.getloadavg()[0], 1)}
    about |= {"cpu": cpu[1] if cpu else os.uname().machine, "cores": os.cpu_count(), "settings": server.SETTINGS}
    with server.running() as directory:
        with server.connect(directory) as connection:
            version = connection.info.parameter_status("server_version")
        results = Results({**about, "version": version, "major": int(version[:2])})
        for name in only or SUITES:
            suite = SUITES[name]
            group = available(suite.group, results.about["major"])
            groups = [[candidate] for candidate in group] if mode == "long" else [group]
            for (rows, number), part in product(getattr(suite, mode).items(), groups):
                print(f"{time.strftime('%X')} {name}: {rows:,}", flush=True)
                for workload, candidate, values in measure_all(directory, part, suite, rows, number):
                    results.add(name, workload, rows, candidate, values)
    return results
