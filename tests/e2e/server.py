"""PostgreSQL servers of the tests' own.

Each has its data directory, unix socket and log in one temporary folder, listens on no port, and goes away with the
test. A cluster that is already on the machine is never touched. Linux only, for what the tests do to processes.
"""

from __future__ import annotations

import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import psycopg
import pytest

PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")

# PostgreSQL refuses to run as root: when root calls, its programs run as the user that Debian's package creates.
SERVER_USER = "postgres" if os.geteuid() == 0 else None

# Short, because a socket's path has 107 bytes at the most, and open to the server's user, as root's TMPDIR may not be.
TEMPORARY = "/tmp"

# What the tests need of any server. The data outlives no test, so that it need not outlive a power failure.
BASE_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "100",
    "lc_messages": "C",
    "timezone": "UTC",
    "log_line_prefix": "%m [%p] %d ",
}

SHUTDOWN_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


def pg_config(option: str, program: str = PG_CONFIG) -> str:
    """What pg_config answers to an option."""
    return subprocess.run([program, option], check=True, capture_output=True, text=True).stdout.strip()


def bindir_of(program: str) -> Path:
    """Where the programs of the server of this pg_config are."""
    return Path(pg_config("--bindir", program))


def major_of(program: str) -> int:
    """The major version of the server of this pg_config."""
    return int(re.match(r"PostgreSQL (\d+)", pg_config("--version", program))[1])


BINDIR = bindir_of(PG_CONFIG)
MAJOR = major_of(PG_CONFIG)


def since(major: int, what: str):
    """Marks a test of something that younger servers have: on an older one it shows as skipped, with the reason."""
    return pytest.mark.skipif(major > MAJOR, reason=f"{what} is there from PostgreSQL {major} on; this is {MAJOR}")


MAJORS = [
    int(major) for major in re.findall(r"^pg(\d+) = ", (Path(__file__).parents[2] / "Cargo.toml").read_text(), re.M)
]
"""The supported versions."""


def oldest_and_newest(what: str):
    """For tests that take long and depend little on the server's version."""
    return pytest.mark.skipif(
        MAJOR not in (min(MAJORS), max(MAJORS)), reason=f"{what} is tested on {min(MAJORS)} and {max(MAJORS)}"
    )


def wait_until(condition: Callable[[], object], what: str, seconds: float = 60) -> object:
    """Polls until the condition holds, and returns what it came to; after the deadline fails, saying what it was."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s in vain until {what}")
        time.sleep(0.01)
    return result


class Server:
    """A server with its own data directory. As a context manager it is initialised, started, and at last removed."""

    def __init__(
        self,
        settings: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        bindir: Path = BINDIR,
        initdb: tuple[str, ...] = (),
    ):
        self.bindir = bindir
        self.initdb = initdb
        self.folder = Path(tempfile.mkdtemp(prefix="scru-", dir=TEMPORARY))
        give_to_server_user(self.folder)
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.environment = environment or {}
        self.settings = {**BASE_SETTINGS, "unix_socket_directories": str(self.folder), **(settings or {})}
        self.process: subprocess.Popen | None = None
        self.generation = 0

    def __enter__(self) -> Server:
        try:
            self.initialise()
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    # --------------------------------------------------------------------------------------------------- life and death

    def initialise(self) -> None:
        """Creates the data directory: a copy of one that initdb makes once in a run."""
        subprocess.run(
            as_server_user("cp", "-R", str(new_data_directory(self.bindir, *self.initdb)), str(self.data)), check=True
        )
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write("include 'tests.conf'\n")
        self._write_settings()

    def start(self) -> None:
        """Starts the server, and waits until it accepts connections."""
        self._write_settings()
        # Set by `env` and not for `setpriv`: a preloaded library would otherwise begin its life there, as root.
        environment = [f"{name}={value}" for name, value in self.environment.items()]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                as_server_user("env", "LC_ALL=C", *environment, str(self.bindir / "postgres"), "-D", str(self.data)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for pytest, which then stops the server itself
            )
        self.wait_until_ready()

    def stop(self, mode: str = "fast") -> None:
        """Stops the server: smart, fast, or immediate, which leaves it to recover as from a crash."""
        self.process.send_signal(SHUTDOWN_SIGNALS[mode])
        self.process.wait(timeout=60)
        self.process = None

    def restart(self, mode: str = "fast", **settings: str) -> None:
        """Stops and starts the server, with settings that then apply."""
        self.stop(mode)
        self.settings.update(settings)
        self.start()

    def kill(self) -> None:
        """Kills the whole server with SIGKILL, as a machine that dies. `start` then recovers."""
        backends = list(children_of(self.process.pid))
        self.process.kill()
        self.process.wait(timeout=60)
        self.process = None
        for pid in backends:
            send_signal(pid, signal.SIGKILL)
        wait_until(lambda: not any(is_running(pid) for pid in backends), "the killed server's processes are gone")

    def kill_backend(self, pid: int) -> None:
        """Kills one process of this server with SIGKILL: the server then ends all sessions and recovers."""
        assert pid in children_of(self.process.pid), f"process {pid} is none of this server's"
        send_signal(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), f"process {pid} is gone")

    def wait_until_ready(self) -> None:
        """Waits until the server accepts connections, as after its start or its recovery from a crash."""
        wait_until(self._accepts_connections, "the server accepts connections")

    def remove(self) -> None:
        """Ends the server, if it runs, and deletes its folder."""
        if self.process:
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accepts_connections(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the server ended with {self.process.returncode}:\n{self.log_text()[-4000:]}")
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    # --------------------------------------------------------------------------------------------------------- settings

    def reload(self, **settings: str) -> None:
        """Changes settings of the running server, and waits until new connections have them.

        Every writing of the settings bears a number that a connection can ask for: only this tells when a reload, which
        is asynchronous, has been done.
        """
        self.settings.update(settings)
        self._write_settings()
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self._loaded_generation() == self.generation, "the server has reloaded its settings")

    def _write_settings(self) -> None:
        self.generation += 1
        settings = {**self.settings, "tests.generation": str(self.generation)}
        path = self.data / "tests.conf"
        path.write_text("".join(f"{name} = {quoted(value)}\n" for name, value in settings.items()))
        give_to_server_user(path)

    def _loaded_generation(self) -> int:
        return int(self.value("SELECT current_setting('tests.generation')"))

    # ------------------------------------------------------------------------------------------------------ connections

    @property
    def port(self) -> str:
        """The number in the socket's name, and the port where the settings ask for one."""
        return self.settings.get("port", "5432")

    def connect(self, dbname: str = "postgres", autocommit: bool = True, **parameters: object) -> psycopg.Connection:
        """A new connection. It commits each statement, unless told otherwise."""
        defaults = {"host": str(self.folder), "port": self.port, "user": "postgres", "connect_timeout": 60}
        return psycopg.connect(dbname=dbname, autocommit=autocommit, **{**defaults, **parameters})

    def rows(self, query: str, dbname: str = "postgres") -> list[tuple]:
        """The rows of a query on a connection of its own."""
        with self.connect(dbname) as connection:
            return connection.execute(query).fetchall()

    def value(self, query: str, dbname: str = "postgres") -> object:
        """The one value of a query on a connection of its own."""
        [(value,)] = self.rows(query, dbname)
        return value

    # --------------------------------------------------------------------------------------------------------- programs

    def run(self, program: str, *arguments: object, as_server: bool = False, **options) -> subprocess.CompletedProcess:
        """Runs one of PostgreSQL's programs on this server; fails with what it says if it fails."""
        command = [str(self.bindir / program), *map(str, arguments)]
        if as_server:
            command = as_server_user(*command)
        environment = {"LC_ALL": "C", "PGHOST": str(self.folder), "PGPORT": self.port, "PGUSER": "postgres"}
        options = {"cwd": "/", **options}
        done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, **options)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}:\n{os.fsdecode(done.stdout + done.stderr)}")
        return done

    def psql(self, dbname: str, script: bytes) -> bytes:
        """What psql prints for a script, which ends at its first error."""
        return self.run("psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", dbname, input=script).stdout

    def pg_dump(self, dbname: str, *options: str) -> bytes:
        """A dump of a database."""
        return self.run("pg_dump", *options, dbname).stdout

    def pg_restore(self, dbname: str, dump: bytes, *options: str) -> None:
        """Restores a dump that is no plain SQL."""
        self.run("pg_restore", "--exit-on-error", "-d", dbname, *options, input=dump)

    # ---------------------------------------------------------------------------------------------------------- standby

    def standby(self, environment: dict[str, str] | None = None, **settings: str) -> Server:
        """A hot standby of this server, started. It is the caller's to `remove()`."""
        standby = Server({**self.settings, **settings}, environment or self.environment)
        standby.settings["unix_socket_directories"] = str(standby.folder)
        try:
            options = ["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"]
            self.run("pg_basebackup", *options, "--pgdata", standby.data, as_server=True)
            standby.start()
        except BaseException:
            standby.remove()
            raise
        return standby

    def wait_until_replayed(self, primary: Server) -> None:
        """On a standby: waits until all that the primary has written so far can be read here."""
        written = primary.value("SELECT pg_current_wal_lsn()::text")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn"
        wait_until(lambda: self.value(query), f"the standby has replayed {written}")

    def promote(self) -> None:
        """On a standby: makes it a server that takes writes, and waits until it is."""
        assert self.value("SELECT pg_promote(wait => true, wait_seconds => 60)")

    # -------------------------------------------------------------------------------------------------------------- log

    def log_text(self) -> str:
        """The server's log so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def crashes(self) -> list[str]:
        """The log's lines that tell of a crash: what no test may cause but by killing."""
        crash = re.compile(r"PANIC:|TRAP:|terminated by signal|panicked at")
        return [line for line in self.log_text().splitlines() if crash.search(line)]


@cache
def new_data_directory(bindir: Path, *more: str) -> Path:
    """A data directory that no server has used: UTF-8, byte order for texts, and English messages."""
    folder = Path(tempfile.mkdtemp(prefix="scru-initdb-", dir=TEMPORARY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    give_to_server_user(folder)
    options = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", *more]
    command = as_server_user(str(bindir / "initdb"), *options, str(folder / "data"))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
    return folder / "data"


def as_server_user(*command: str, at_our_end: str = "QUIT") -> list[str]:
    """A command that runs another as the server's user.

    The other takes the place of `setpriv`, so that the process that was started is its own. And it ends with us, so
    that an aborted test run leaves no server behind: QUIT is to a server an immediate shutdown.
    """
    user = [f"--reuid={SERVER_USER}", f"--regid={SERVER_USER}", "--init-groups"] if SERVER_USER else []
    return ["setpriv", *user, f"--pdeathsig={at_our_end}", "--", *command]


def give_to_server_user(path: Path) -> None:
    """Makes the server's user the owner of a file of ours."""
    if SERVER_USER is not None:
        user = pwd.getpwnam(SERVER_USER)
        os.chown(path, user.pw_uid, user.pw_gid)


def quoted(value: str) -> str:
    """A value as postgresql.conf wants it."""
    return "'" + str(value).replace("'", "''") + "'"


def children_of(pid: int) -> Iterator[int]:
    """The processes that a process has started. Read from /proc, for a small system may have no `ps`."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        if parent_and_state(stat)[0] == pid:
            yield int(stat.parent.name)


def is_running(pid: int) -> bool:
    """Whether a process is there, and not only its exit status."""
    return parent_and_state(Path(f"/proc/{pid}/stat"))[1] not in "ZX"


def parent_and_state(stat: Path) -> tuple[int, str]:
    """From a /proc/*/stat file. A process that is gone counts as dead and without a parent."""
    try:
        state, parent, *_ = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0, "X"
    return int(parent), state


def send_signal(pid: int, number: int) -> None:
    """Sends a signal to a process that may have ended by itself."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
