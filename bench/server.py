"""The private server, which tools/bench.sh has started: its database, its sessions, and what machine it is on."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import psycopg

DATABASE = "bench"


class Server:
    """A server that is reached through its folder, with a database of the benchmark's own."""

    def __init__(self, folder: str, bindir: str):
        self.folder = folder
        self.bindir = Path(bindir)
        with self.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE}")
            self.version = connection.info.parameter_status("server_version")
            self.major = connection.info.server_version // 10000

    def connect(self, dbname: str = DATABASE) -> psycopg.Connection:
        """A new session, which commits each statement."""
        connection = psycopg.connect(host=self.folder, port=5432, dbname=dbname, autocommit=True)
        connection.prepare_threshold = None
        return connection

    def settings(self) -> dict[str, str]:
        """Those that the server was started with, but for where it is."""
        query = """
            SELECT name, current_setting(name) FROM pg_settings
            WHERE source = 'command line' AND context <> 'internal'
              AND name NOT IN ('config_file', 'data_directory', 'unix_socket_directories', 'listen_addresses', 'port')
            ORDER BY name
        """
        with self.connect() as connection:
            return dict(connection.execute(query).fetchall())

    def pgbench(self, script: str, schema: str, clients: int, transactions: int) -> float:
        """Runs a script so many times, and returns the seconds that it took once all clients were connected."""
        path = Path(self.folder) / "script.sql"
        path.write_text(script)
        each = max(1, transactions // clients)
        connection = {"PGHOST": self.folder, "PGPORT": "5432", "PGOPTIONS": f"-c search_path={schema},public"}
        options = ["--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=2", f"--file={path}"]
        run = subprocess.run(
            [self.bindir / "pgbench", *options, f"--transactions={each}", DATABASE],
            env={**os.environ, "LC_ALL": "C", **connection},
            check=True,
            capture_output=True,
            text=True,
        )
        [per_second] = re.findall(r"^tps = ([\d.]+) \(without initial", run.stdout, re.MULTILINE)
        return each * clients / float(per_second)


def machine() -> dict[str, object]:
    """What the figures depend on. Its name is nobody's business."""
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    return {"cpu": model[1] if model else os.uname().machine, "cores": os.cpu_count()}
