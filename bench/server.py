"""The private servers of the benchmark, which tools/server.sh starts and stops, and the machine's properties."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg

SCRIPT = Path(__file__).parent.parent / "tools" / "server.sh"
DATABASE = "bench"

# With these settings, the work of one backend is measured: no disk waits, no autovacuum, no parallel workers.
SETTINGS = (
    "shared_buffers=2GB work_mem=1GB maintenance_work_mem=1GB fsync=off synchronous_commit=off max_wal_size=16GB"
    " checkpoint_timeout=1d wal_recycle=off wal_init_zero=off autovacuum=off jit=off"
    " max_parallel_workers_per_gather=0 max_parallel_maintenance_workers=0 synchronize_seqscans=off"
)


class Server:
    """A server in its own directory, which is removed when the `with` block ends."""

    def __init__(self, name: str, settings: str):
        self.name = name
        self.settings = settings
        self.about: dict[str, object] = {}

    def __enter__(self) -> Server:
        command = [SCRIPT, "start", self.name, *self.settings.split()]
        started = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        self.directory = Path(started.stdout.splitlines()[-1])
        with ExitStack() as stack:
            stack.push(self)
            self.make_database()
            stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([SCRIPT, "stop", self.name], check=True, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory)

    def make_database(self) -> None:
        """Creates the database with the extension and the objects that the candidates need."""
        with self.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with self.connect() as connection:
            connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE; CREATE SEQUENCE numbers")
            version = connection.info.parameter_status("server_version")
            self.about = {"version": version, "major": int(version[:2])}

    def restart(self) -> None:
        """Restarts the server, which ends all sessions and empties shared buffers."""
        subprocess.run([SCRIPT, "restart", self.name], check=True, stderr=subprocess.DEVNULL)

    def connect(self, database: str = DATABASE) -> psycopg.Connection:
        """Returns a connection in autocommit mode. In the benchmark database, first loads the library."""
        address = {"host": str(self.directory), "port": 5432, "dbname": database}
        connection = psycopg.connect(**address, autocommit=True, prepare_threshold=None)
        if database == DATABASE:
            connection.execute("LOAD 'scru'")
        return connection

    def pgbench(self, script: str, clients: int, seconds: float, options: str) -> float:
        """Runs pgbench and returns the transactions per second."""
        path = self.directory / "script.sql"
        path.write_text(script)
        bindir = subprocess.check_output([os.environ["PG_CONFIG"], "--bindir"], text=True).strip()
        jobs = min(clients, os.cpu_count() or 1)
        command = [f"{bindir}/pgbench", "--no-vacuum", "--protocol=prepared", f"--file={path}", f"--time={seconds}"]
        environment = {"PGHOST": str(self.directory), "PGPORT": "5432", "PGOPTIONS": options, "LC_ALL": "C"}
        output = subprocess.run(
            [*command, f"--client={clients}", f"--jobs={jobs}", DATABASE],
            env={**os.environ, **environment}, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        return float(re.search(r"^tps = ([\d.]+)", output, re.MULTILINE)[1])


def processor_time(pid: int) -> int:
    """Returns the processor time of a session's process in nanoseconds, from the clock of clock_getcpuclockid(3).

    Waits until the process sleeps: the clock of a running one can be late by the time between two ticks of the kernel.
    """
    status = Path(f"/proc/{pid}/stat")
    while status.read_text().rpartition(") ")[2][0] != "S":
        time.sleep(0)
    return time.clock_gettime_ns(~pid << 3 | 2)


def timed(connection: psycopg.Connection, *statements: str) -> tuple[float, float]:
    """Executes statements and returns the backend's processor time and the elapsed time, in milliseconds."""
    pid = connection.info.backend_pid
    processor, clock = processor_time(pid), time.perf_counter_ns()
    for statement in statements:
        connection.execute(statement)
    elapsed = time.perf_counter_ns() - clock
    return (processor_time(pid) - processor) / 1e6, elapsed / 1e6


def machine() -> dict[str, object]:
    """Returns the processor model and the number of cores."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {"cpu": model[1] if model else os.uname().machine, "cores": os.cpu_count()}
