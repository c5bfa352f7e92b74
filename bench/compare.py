"""Compares two builds of the extension: runs the same statements on two servers in turn.

Times are processor times of the backend. The ratio of a round is the time of this tree divided by that of the base.
The order of the two servers alternates. The output is the median of the ratios with their quartiles, and a control,
which compares the base with itself: its ratio shows the noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median, quantiles

import psycopg

from bench.candidates import SCRU64, SCRU128, SCRU160, ULID, ULIDFLAKE
from bench.measure import execute, measure
from bench.server import connect
from bench.workloads import INSERT, PREPARE_TYPES, TYPES

WORKLOADS = {"insert": INSERT, **TYPES}
CANDIDATES = (SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE)
ROUNDS_OF_TABLES = 3


def prepared(directory: Path, rows: int) -> psycopg.Connection:
    """Returns a session with new tables, whose IDs differ between the two servers but are in the same order."""
    connection = connect(directory, "postgres")
    connection.execute("DROP EXTENSION IF EXISTS scru CASCADE; CREATE EXTENSION scru")
    for candidate in CANDIDATES:
        connection.execute(f"DROP SCHEMA IF EXISTS {candidate.key} CASCADE")
        execute(connection, candidate, *PREPARE_TYPES, rows=rows)
    return connection


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-compare", description=__doc__)
    parser.add_argument("directories", type=Path, nargs=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", choices=WORKLOADS, nargs="+", default=list(WORKLOADS))
    arguments = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    # The first round is a warm-up.
    for number in range(arguments.rounds + 1):
        # The place of a table in memory affects look-ups, so the tables are built anew after several rounds.
        if number % ROUNDS_OF_TABLES == 0:
            base, new = (prepared(directory, arguments.rows) for directory in arguments.directories)
        for name in arguments.only:
            for candidate in (*CANDIDATES, None):
                # The control compares the base with itself.
                first, second = (base, base) if candidate is None else (base, new) if number % 2 else (new, base)
                workload, key = WORKLOADS[name], candidate or SCRU128
                times = [measure(session, workload, key, arguments.rows)["processor ms"] for session in (first, second)]
                ratio = times[1] / times[0]
                label = f"{name} {candidate.label if candidate else 'control'}"
                ratios.setdefault(label, []).append(1 / ratio if first is new else ratio)
    print(f"{'this tree to the base':24} median  quartiles, {arguments.rounds} rounds")
    for label, (_, *values) in ratios.items():
        low, _, high = quantiles(values, n=4)
        print(f"{label:24} {median(values):6.3f}  {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
