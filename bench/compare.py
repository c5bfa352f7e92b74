"""Times the same statements on two servers, which differ in their build of the extension alone, in turn.

A time is what the server's process spends on the processor. The ratio of a round is the time of this build over that of the
base. Which of the two comes first alternates. Prints the median of the ratios with their quartiles, and a control, which runs
on the base alone: its ratio shows the noise.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median, quantiles

import psycopg

from bench.process import processor_time

TYPES = ("scru128", "ulid", "scru160", "scru64", "ulidflake")
ROUNDS_OF_TABLES = 3


@dataclass(frozen=True)
class Workload:
    """One thing to time: {T} is the type, {rows} how many."""

    statement: str
    before: str = ""
    after: str = ""
    types: tuple[str, ...] = TYPES


WORKLOADS = {
    "generate": Workload("SELECT count(gen_{T}()) FROM generate_series(1, {rows} * 3)"),
    "insert": Workload(
        "INSERT INTO target SELECT gen_{T}() FROM generate_series(1, {rows})",
        before="DROP TABLE IF EXISTS target; CREATE TABLE target (id {T} PRIMARY KEY); CHECKPOINT",
    ),
    "sort": Workload("SELECT count(*) FROM (SELECT id FROM shuffled_{T} ORDER BY id OFFSET 0) AS sorted"),
    "index": Workload("CREATE INDEX target_index ON shuffled_{T} (id)", after="DROP INDEX target_index"),
    "lookup": Workload("SELECT count(*) FROM shuffled_{T} JOIN keyed_{T} USING (id)"),
    "text": Workload("SELECT count(id::text::{T}) FROM keyed_{T}"),
}


class Server:
    """One of the two servers."""

    def __init__(self, folder: str):
        self.connection = psycopg.connect(host=folder, port=5432, dbname="postgres", autocommit=True)
        self.connection.prepare_threshold = None

    def prepare(self, rows: int) -> None:
        """The same tables in both: IDs differ, their order does not."""
        execute = self.connection.execute
        execute("DROP EXTENSION IF EXISTS scru CASCADE")
        execute("CREATE EXTENSION scru")
        # A join is then one look-up for each of the shuffled rows.
        execute("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off")
        for name in TYPES:
            execute(f"DROP TABLE IF EXISTS keyed_{name}, shuffled_{name}")
            execute(f"CREATE TABLE keyed_{name} (id {name} PRIMARY KEY)")
            execute(f"INSERT INTO keyed_{name} SELECT gen_{name}() FROM generate_series(1, {rows})")
            execute(f"CREATE TABLE shuffled_{name} AS SELECT id FROM keyed_{name} ORDER BY hashint8(row_number() OVER (ORDER BY id))")
            execute(f"VACUUM (FREEZE, ANALYZE) keyed_{name}, shuffled_{name}")

    def time(self, workload: Workload, name: str, rows: int) -> float:
        """The processor time that the statement takes."""
        pid = self.connection.info.backend_pid
        self.run(workload.before, name, rows)
        before = processor_time(pid)
        self.run(workload.statement, name, rows)
        spent = processor_time(pid) - before
        self.run(workload.after, name, rows)
        return spent

    def run(self, statements: str, name: str, rows: int) -> None:
        """Executes statements, each in a transaction of its own."""
        for statement in filter(None, statements.format(T=name, rows=rows).split("; ")):
            self.connection.execute(statement)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-compare", description=__doc__)
    parser.add_argument("folders", nargs=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(WORKLOADS))
    arguments = parser.parse_args()
    base, new = (Server(folder) for folder in arguments.folders)
    ratios: dict[str, list[float]] = {}
    for number in range(arguments.rounds + 1):
        # Where a table lies in memory changes its look-ups by a tenth: there are several, so that a median is of the builds.
        if number % ROUNDS_OF_TABLES == 0:
            for server in (base, new):
                server.prepare(arguments.rows)
        for key in arguments.only:
            for name in WORKLOADS[key].types:
                order = (base, new) if number % 2 else (new, base)
                times = {server: server.time(WORKLOADS[key], name, arguments.rows) for server in order}
                # The first round warms up.
                if number:
                    ratios.setdefault(f"{key} {name}", []).append(times[new] / times[base])
            if number:
                first, second = (base.time(WORKLOADS[key], "scru128", arguments.rows) for _ in range(2))
                ratios.setdefault(f"{key} control", []).append(second / first)
    print(f"{'this tree to the base':24} median  quartiles, {arguments.rounds} rounds")
    for label, values in ratios.items():
        low, _, high = quantiles(values, n=4)
        print(f"{label:24} {median(values):6.3f}  {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
