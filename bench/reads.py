"""What is measured of a workload, by its statements and the number of rows or clients: values by unit."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psycopg

Read = Callable[[psycopg.Connection, list[str], int], dict[str, float]]
PLANNINGS = 200


def processor_time(pid: int) -> int:
    """Returns the processor time of a session's process in nanoseconds, from the clock of clock_getcpuclockid(3).

    Waits until the process sleeps: the clock of a running one can be late by the time between two ticks of the kernel.
    """
    status = Path(f"/proc/{pid}/stat")
    while status.read_text().rpartition(") ")[2][0] != "S":
        time.sleep(0)
    return time.clock_gettime_ns(~pid << 3 | 2)


def timed(connection: psycopg.Connection, *statements: str) -> float:
    """Executes statements and returns the backend's processor time in milliseconds."""
    start = processor_time(connection.info.backend_pid)
    for statement in statements:
        connection.execute(statement)
    return (processor_time(connection.info.backend_pid) - start) / 1e6


def read_time(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the processor time."""
    return {"processor ms": timed(connection, *statements)}


def read_costs(connection: psycopg.Connection, statements: list[str], rows: int) -> dict[str, float]:
    """Returns the processor time, and the bytes per row on disk and in the WAL."""
    query = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, pg_total_relation_size('events')"
    log_before, _ = connection.execute(query).fetchone()
    time = timed(connection, *statements)
    log, size = connection.execute(query).fetchone()
    return {"processor ms": time, "WAL bytes": (log - log_before) / rows, "bytes": size / rows}


def read_size(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the bytes that a query returns."""
    return {"bytes": connection.execute(statements[0]).fetchone()[0]}


def explain(connection: psycopg.Connection, options: str, statement: str) -> dict:
    """Returns the output of EXPLAIN for a statement."""
    [(plans,)] = connection.execute(f"EXPLAIN ({options}, FORMAT JSON) {statement}")
    return plans[0]


def read_plan(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the times of planning and execution, the rows, and the number of pages touched, by EXPLAIN."""
    explained = explain(connection, "ANALYZE, BUFFERS, TIMING OFF", statements[0])
    plan = explained["Plan"]
    assert "Seq Scan" not in str(plan), plan
    return {
        "ms": explained["Execution Time"],
        "planning ms": explained["Planning Time"],
        "estimated rows": plan["Plan Rows"],
        "rows": plan["Actual Rows"],
        "pages": plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
    }


def read_planning(connection: psycopg.Connection, statements: list[str], _: int) -> dict[str, float]:
    """Returns the median planning time."""
    plannings = [explain(connection, "SUMMARY", statements[0])["Planning Time"] for _ in range(PLANNINGS)]
    return {"planning µs": median(plannings) * 1000}


def rate(connection: psycopg.Connection, statements: list[str], clients: int) -> float:
    """Returns the number of times in a second that clients of pgbench execute the statements."""
    [(bindir,)] = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
    command = [f"{bindir}/pgbench", "--no-vacuum", "--protocol=prepared", "--file=-", "--time=2"]
    command += [f"--client={clients}", f"--jobs={min(clients, os.cpu_count() or 1)}", connection.info.dbname]
    environment = {**os.environ, "PGHOST": connection.info.host, "PGPORT": "5432", "LC_ALL": "C"}
    script = ";\n".join(statements)
    done = subprocess.run(command, input=script, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return float(re.search(r"^tps = ([\d.]+)", done.stdout, re.MULTILINE)[1])
