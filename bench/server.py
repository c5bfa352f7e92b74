"""The private server, which tools/bench.sh has started: its database, its sessions, and what machine it is on."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import psycopg

NAME = DATABASE = "bench"
SCRIPT = Path(__file__).parent.parent / "tools" / "server.sh"


class Server:
    """A server that is reached through its folder, and started and stopped through its script."""

    def __init__(self, folder: str, bindir: str):
        self.folder = folder
        self.bindir = Path(bindir)
        with self.connect("postgres") as connection:
            self.version = connection.info.parameter_status("server_version")
            self.major = connection.info.server_version // 10000

    def make_database(self) -> None:
        """A new one, empty."""
        with self.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE}")

    def connect(self, dbname: str = DATABASE) -> psycopg.Connection:
        """A new session, which commits each statement."""
        connection = psycopg.connect(host=self.folder, port=5432, dbname=dbname, autocommit=True)
        connection.prepare_threshold = None
        return connection

    def restart(self) -> None:
        """Ends all sessions. What the server had in memory, it reads anew, and into other memory."""
        subprocess.run([SCRIPT, "restart", NAME], check=True)

    def stop(self) -> None:
        """For `single`, which wants the data for itself."""
        subprocess.run([SCRIPT, "stop", NAME], check=True, stderr=subprocess.DEVNULL)

    def single(self, program: list[str], statements: list[str]) -> str:
        """Runs the server as one process under a program, with statements of one line each; what they both print."""
        return subprocess.run(
            [SCRIPT, "single", NAME, DATABASE, *program],
            input="".join(f"{statement}\n" for statement in statements),
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ).stdout

    def settings(self) -> dict[str, str]:
        """Those that the server was started with, but for where it is."""
        query = """
            SELECT name, current_setting(name) FROM pg_settings
            WHERE source = 'command line' AND context <> 'internal'
              AND name NOT IN ('config_file', 'data_directory', 'unix_socket_directories', 'listen_addresses', 'port')
            ORDER BY name
        """
        with self.connect("postgres") as connection:
            return dict(connection.execute(query).fetchall())

    def settings_of_sessions(self) -> dict[str, str]:
        """Those of them that a session can set for itself."""
        with self.connect("postgres") as connection:
            query = "SELECT name FROM pg_settings WHERE context IN ('user', 'superuser')"
            names = {name for (name,) in connection.execute(query)}
        return {name: value for name, value in self.settings().items() if name in names}

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
