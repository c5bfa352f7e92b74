"""The private server of the benchmark, which tools/server.sh starts and stops, and its sessions."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def running() -> Iterator[Path]:
    """Starts a server with the objects that the candidates need. Yields its directory, which is removed at the end."""
    printed = subprocess.check_output([SCRIPT, "start", "bench", *SETTINGS.split()], text=True)
    directory = Path(printed.splitlines()[-1])
    try:
        with connect(directory, "postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with connect(directory) as connection:
            connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE; CREATE SEQUENCE numbers")
        yield directory
    finally:
        subprocess.run([SCRIPT, "stop", "bench"], check=True, stderr=subprocess.DEVNULL)
        shutil.rmtree(directory)


def restart() -> None:
    """Restarts the server, which ends all sessions and empties shared buffers."""
    subprocess.run([SCRIPT, "restart", "bench"], check=True, stderr=subprocess.DEVNULL)


def connect(directory: Path, database: str = DATABASE) -> psycopg.Connection:
    """Returns a connection in autocommit mode that has loaded the library."""
    address = {"host": str(directory), "port": 5432, "dbname": database}
    connection = psycopg.connect(**address, autocommit=True, prepare_threshold=None)
    connection.execute("LOAD 'scru'")
    return connection
