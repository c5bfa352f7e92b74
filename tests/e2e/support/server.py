"""Private PostgreSQL servers for the tests.

Each has its data directory, Unix-domain socket and log in one temporary directory. By default, it listens on no port.
It is removed after its test. Existing clusters of the machine are never touched. Requires Linux, for /proc and
`setpriv`.
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

# PostgreSQL refuses to run as root. If root runs the tests, the server runs as the user that Debian's package creates.
SERVER_USER = "postgres" if os.geteuid() == 0 else None


def temporary_directory() -> str:
    """Returns the directory of all servers and programs: in memory if there is room, otherwise /tmp.

    The file system of a disk takes most of the processor time of tests that create and drop databases. The path is
    short, because that of a socket has at most 107 bytes. The server's user may have no access to root's TMPDIR.
    """
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 8 << 30
    return str(memory) if has_room else "/tmp"


TEMPORARY = temporary_directory()

# The settings of every server. fsync is off, because the data of a test need not survive a loss of power. A checkpoint
# must not remove WAL that a standby has not fetched yet.
BASE_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "wal_keep_size": "256MB",
    "max_connections": "100",
    "lc_messages": "C",
    "timezone": "UTC",
    "log_line_prefix": "%m [%p] %d ",
}

SHUTDOWN_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


def pg_config(option: str, program: str = PG_CONFIG) -> str:
    """Returns the output of pg_config for an option."""
    return subprocess.run([program, option], check=True, capture_output=True, text=True).stdout.strip()


def bindir_of(program: str) -> Path:
    """Returns the directory of a server's programs, as its pg_config reports it."""
    return Path(pg_config("--bindir", program))


def major_of(program: str) -> int:
    """Returns a server's major version, as its pg_config reports it."""
    return int(re.match(r"PostgreSQL (\d+)", pg_config("--version", program))[1])


BINDIR = bindir_of(PG_CONFIG)
MAJOR = major_of(PG_CONFIG)
# The programs of an older server that has the extension, or those of this server.
OLD_BINDIR = bindir_of(os.environ.get("OLD_PG_CONFIG", PG_CONFIG))

MAJORS = [
    int(major) for major in re.findall(r"^pg(\d+) = ", (Path(__file__).parents[3] / "Cargo.toml").read_text(), re.M)
]
"""The supported major versions."""

since = pytest.mark.since
"""A mark `since(17, "what")` for tests of a feature that older servers do not have."""

SHARES_TESTS = "TEST_ALL" in os.environ
"""Whether the tests run on all versions, by tools/test-all.sh. Only then does a test run on some versions only.

By default these are the oldest version, by `make test`, and the newest one. A test marked with `since` also runs on the
version that introduced its feature.
"""

on_every_version = pytest.mark.on_every_version
"""A mark for tests of what depends on the version, or whose promise is worth a run on each."""

on_the_oldest = pytest.mark.on_the_oldest
"""A mark `on_the_oldest("why", 18)` for tests that `make test-all` runs on the oldest version, and on 18 only.

`why` is why their result is the same on all other versions.
"""

IS_LONG = "TEST_LONG" in os.environ
long = pytest.mark.skipif(not IS_LONG, reason="takes long: make test-long")
"""A mark for tests that only `make test-long` runs, which sets TEST_LONG."""


def reason_to_skip(item: pytest.Item) -> str | None:
    """Returns why a test does not run on this version; `None` if it runs."""
    oldest, newest = min(MAJORS), max(MAJORS)
    features = [mark.args for mark in item.iter_markers("since")]
    for introduced, what in features:
        if introduced > MAJOR:
            return f"requires PostgreSQL {introduced} ({what})"
    if not SHARES_TESTS or MAJOR in [introduced for introduced, _ in features]:
        return None
    for mark in item.iter_markers("on_the_oldest"):
        why, *also = mark.args
        versions = (oldest, *also)
        return None if MAJOR in versions else f"runs on {' and '.join(map(str, versions))} only: {why}"
    if oldest != MAJOR and item.get_closest_marker("alone"):
        return f"runs on {oldest} only: compares times"
    if MAJOR not in (oldest, newest) and not item.get_closest_marker("on_every_version"):
        return f"runs on {oldest} and {newest} only: does not depend on the version"
    return None


logs: set[Path] = set()
"""The logs of the servers and programs that the tests have started and not ended."""


def last_lines() -> str:
    """Returns the last lines of these logs."""
    tails = {log: log.read_text(errors="replace").splitlines()[-15:] for log in sorted(logs) if log.exists()}
    return "".join(f"\n--- {log}\n" + "\n".join(lines) for log, lines in tails.items())


def wait_until(condition: Callable[[], object], what: str, seconds: float = 200) -> object:
    """Polls until the condition holds, and returns its value.

    After `seconds`, raises TimeoutError with `what` and the last lines of the running programs' logs. The default is
    more than the 3 minutes after which PostgreSQL restarts a worker of logical replication whose end it has missed.
    """
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"timed out after {seconds} s, waiting until {what}{last_lines()}")
        time.sleep(0.01)
    return result


class Server:
    """A server with its own data directory. As a context manager, it is initialized, started, and finally removed."""

    def __init__(
        self,
        settings: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        bindir: Path = BINDIR,
        initdb: tuple[str, ...] = (),
    ):
        self.bindir = bindir
        self.initdb = initdb
        self.directory = Path(tempfile.mkdtemp(prefix="scru-", dir=TEMPORARY))
        give_to_server_user(self.directory)
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        self.environment = environment or {}
        self.settings = {**BASE_SETTINGS, "unix_socket_directories": str(self.directory), **(settings or {})}
        self.process: subprocess.Popen | None = None
        self.generation = 0

    def __enter__(self) -> Server:
        if not self.process:  # a standby runs already
            try:
                self.initialize()
                self.start()
            except BaseException:
                self.remove()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    # --------------------------------------------------------------------------------------------------- start and stop

    def initialize(self) -> None:
        """Creates the data directory by copying one that initdb creates once per run."""
        subprocess.run(
            as_server_user("cp", "-R", str(new_data_directory(self.bindir, *self.initdb)), str(self.data)), check=True
        )
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write("include 'tests.conf'\n")
        self._write_settings()

    def start(self) -> None:
        """Starts the server, and waits until it accepts connections."""
        self._write_settings()
        # `env` sets the variables after `setpriv` has run. Otherwise LD_PRELOAD would load a library into `setpriv`, as
        # root.
        environment = [f"{name}={value}" for name, value in self.environment.items()]
        logs.add(self.log)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                as_server_user("env", "LC_ALL=C", *environment, str(self.bindir / "postgres"), "-D", str(self.data)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C reaches pytest only, which then stops the server
            )
        self.wait_until_ready()

    def stop(self, mode: str = "fast") -> None:
        """Stops the server in smart, fast or immediate mode. After immediate mode, it recovers as after a crash."""
        self.process.send_signal(SHUTDOWN_SIGNALS[mode])
        self.process.wait(timeout=60)
        self.process = None

    def restart(self, mode: str = "fast", **settings: str) -> None:
        """Stops the server, and starts it with changed settings."""
        self.stop(mode)
        self.settings.update(settings)
        self.start()

    def kill(self) -> None:
        """Kills all processes of the server with SIGKILL. At the next `start`, it recovers."""
        children = list(children_of(self.process.pid))
        self.process.kill()
        self.process.wait(timeout=60)
        self.process = None
        for pid in children:
            send_signal(pid, signal.SIGKILL)
        wait_until(lambda: not any(is_running(pid) for pid in children), "all processes of the server have ended")

    def kill_backend(self, pid: int) -> None:
        """Kills one process of this server with SIGKILL. The server then terminates all sessions and recovers."""
        assert pid in children_of(self.process.pid), f"process {pid} does not belong to this server"
        send_signal(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), f"process {pid} has ended")

    def wait_until_ready(self) -> None:
        """Waits until the server accepts connections, after its start or its crash recovery."""
        wait_until(self._accepts_connections, "the server accepts connections")

    def remove(self) -> None:
        """Stops the server if it is running, and deletes its directory."""
        if self.process:
            self.stop("immediate")
        logs.discard(self.log)
        shutil.rmtree(self.directory, ignore_errors=True)

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

        A reload is asynchronous. The setting tests.generation, which numbers the reloads, shows when it has finished.
        """
        self.settings.update(settings)
        self._write_settings()
        self.process.send_signal(signal.SIGHUP)
        loaded = "SELECT current_setting('tests.generation')::int"
        wait_until(lambda: self.value(loaded) == self.generation, "the server has reloaded its settings")

    def _write_settings(self) -> None:
        self.generation += 1
        settings = {**self.settings, "tests.generation": str(self.generation)}
        path = self.data / "tests.conf"
        escaped = {name: str(value).replace("'", "''") for name, value in settings.items()}
        path.write_text("".join(f"{name} = '{value}'\n" for name, value in escaped.items()))
        give_to_server_user(path)

    # ------------------------------------------------------------------------------------------------------ connections

    @property
    def port(self) -> str:
        """The port number, which is part of the socket's name. It is also the TCP port if the server listens on TCP."""
        return self.settings.get("port", "5432")

    def connect(self, dbname: str = "postgres", autocommit: bool = True, **parameters: object) -> psycopg.Connection:
        """Returns a new connection, by default in autocommit mode."""
        defaults = {"host": str(self.directory), "port": self.port, "user": "postgres", "connect_timeout": 60}
        return psycopg.connect(dbname=dbname, autocommit=autocommit, **{**defaults, **parameters})

    def rows(self, query: str, dbname: str = "postgres") -> list[tuple]:
        """Returns the rows of a query on a new connection."""
        with self.connect(dbname) as connection:
            return connection.execute(query).fetchall()

    def value(self, query: str, dbname: str = "postgres") -> object:
        """Returns the only value of a query on a new connection."""
        [(value,)] = self.rows(query, dbname)
        return value

    # --------------------------------------------------------------------------------------------------------- programs

    def run(self, program: str, *arguments: object, as_server: bool = False, **options) -> subprocess.CompletedProcess:
        """Runs one of PostgreSQL's programs on this server. If it fails, raises RuntimeError with its output."""
        command = [str(self.bindir / program), *map(str, arguments)]
        if as_server:
            command = as_server_user(*command)
        environment = {"LC_ALL": "C", "PGHOST": str(self.directory), "PGPORT": self.port, "PGUSER": "postgres"}
        options = {"cwd": "/", **options}
        done = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, **options)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}:\n{os.fsdecode(done.stdout + done.stderr)}")
        return done

    def psql(self, dbname: str, script: bytes) -> bytes:
        """Runs a script in psql, which stops at the first error, and returns its output."""
        return self.run("psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", dbname, input=script).stdout

    def pg_dump(self, dbname: str, *options: str) -> bytes:
        """Returns a dump of a database."""
        return self.run("pg_dump", *options, dbname).stdout

    def pg_restore(self, dbname: str, dump: bytes, *options: str) -> None:
        """Restores a dump that is not plain SQL."""
        self.run("pg_restore", "--exit-on-error", "-d", dbname, *options, input=dump)

    def pg_upgrade(self, old: Server, *options: str) -> None:
        """Migrates the data of another server into this one, which is initialized. Both are stopped."""
        forget_column_versions(old, self.bindir)
        directories = ["-b", old.bindir, "-B", self.bindir, "-d", old.data, "-D", self.data, "-s", self.directory]
        try:
            self.run("pg_upgrade", *options, *directories, "-U", "postgres", as_server=True, cwd=self.directory)
        except RuntimeError as error:
            logs = self.data.glob("pg_upgrade_output.d/**/*.log")
            raise RuntimeError("\n".join([str(error), *(log.read_text()[-2000:] for log in logs)])) from error

    # ---------------------------------------------------------------------------------------------------------- standby

    def standby(self, environment: dict[str, str] | None = None, **settings: str) -> Server:
        """Starts a hot standby of this server. The caller must `remove()` it, or use it as a context manager."""
        standby = Server({**self.settings, **settings}, environment or self.environment, self.bindir)
        standby.settings["unix_socket_directories"] = str(standby.directory)
        try:
            options = ["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"]
            self.run("pg_basebackup", *options, "--pgdata", standby.data, as_server=True)
            standby.start()
        except BaseException:
            standby.remove()
            raise
        return standby

    def wait_until_replayed(self, primary: Server) -> None:
        """Waits until this standby has replayed all WAL that the primary has written so far."""
        written = primary.value("SELECT pg_current_wal_lsn()::text")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn"
        wait_until(lambda: self.value(query), f"the standby has replayed {written}")

    def promote(self) -> None:
        """Promotes this standby, and waits for the end of the promotion."""
        assert self.value("SELECT pg_promote(wait => true, wait_seconds => 60)")

    # -------------------------------------------------------------------------------------------------------------- log

    def log_text(self) -> str:
        """Returns the server's log so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def crashes(self) -> list[str]:
        """Returns the lines of the log that report a crash. Only a test that kills processes may cause one."""
        crash = re.compile(r"PANIC:|TRAP:|terminated by signal|panicked at")
        return [line for line in self.log_text().splitlines() if crash.search(line)]


@cache
def new_data_directory(bindir: Path, *more: str) -> Path:
    """Returns a new data directory with encoding UTF-8 and locale C, to be copied."""
    directory = Path(tempfile.mkdtemp(prefix="scru-initdb-", dir=TEMPORARY))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    give_to_server_user(directory)
    options = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", *more]
    command = as_server_user(str(bindir / "initdb"), *options, str(directory / "data"))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
    return directory / "data"


def as_server_user(*command: str, death_signal: str = "QUIT") -> list[str]:
    """Returns a command that runs another command as the server's user.

    `setpriv` executes the other command in its own process, so that the caller has its process ID. If the test run
    aborts, the process gets the signal `death_signal`. SIGQUIT makes a server shut down in immediate mode.
    """
    user = [f"--reuid={SERVER_USER}", f"--regid={SERVER_USER}", "--init-groups"] if SERVER_USER else []
    return ["setpriv", *user, f"--pdeathsig={death_signal}", "--", *command]


def forget_column_versions(old: Server, new_bindir: Path) -> None:
    """Removes an option of columns that the programs in `new_bindir` do not know.

    The minor releases of November 2026 add pg_attver to the options of each column. Earlier minor releases of the next
    major version refuse it, so that pg_upgrade to them fails with tables of any type.
    """
    if b"pg_attver" in (new_bindir / "postgres").read_bytes():
        return
    old.start()
    for (database,) in old.rows("SELECT datname FROM pg_database WHERE datallowconn"):
        with old.connect(database) as connection:
            connection.execute("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}'")
    old.stop()


def give_to_server_user(path: Path) -> None:
    """Makes the server's user the owner of a file."""
    if SERVER_USER is not None:
        user = pwd.getpwnam(SERVER_USER)
        os.chown(path, user.pw_uid, user.pw_gid)


def children_of(pid: int) -> Iterator[int]:
    """Yields the child processes of a process. Reads /proc, because a small system may have no `ps`."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        if parent_and_state(stat)[0] == pid:
            yield int(stat.parent.name)


def is_running(pid: int) -> bool:
    """Returns whether a process exists and is not a zombie."""
    return parent_and_state(Path(f"/proc/{pid}/stat"))[1] not in "ZX"


def parent_and_state(stat: Path) -> tuple[int, str]:
    """Returns the parent and the state in a file /proc/*/stat. A missing process counts as dead, with parent 0."""
    try:
        state, parent, *_ = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0, "X"
    return int(parent), state


def send_signal(pid: int, number: int) -> None:
    """Sends a signal to a process, which may already have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
