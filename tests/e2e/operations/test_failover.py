"""Failover with Patroni: clients insert rows while the leader of three servers crashes, and during a switchover.

The cluster is on loopback: servers, each with its own Patroni, and one etcd. Patroni and etcd are Debian's. The times
are shorter than in production: the leader renews its lease every second, and loses it after six seconds.
"""

from __future__ import annotations

import json
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

import psycopg

import page
from idtypes import SCRU64, SCRU128, ULIDFLAKE
from load import assert_all_different
from programs import LOOPBACK, PATH, Program, free_ports, needs, path_of
from server import BINDIR, TEMPORARY, as_server_user, give_to_server_user, is_running, send_signal, wait_until

pytestmark = needs("patroni", "etcd")

# ---------------------------------------------------------------------------------------------------------- the cluster

TIMES = {"ttl": 6, "loop_wait": 1, "retry_timeout": 2}
SETTINGS = {"fsync": "off", "lc_messages": "C", "timezone": "UTC", "wal_keep_size": "64MB", "max_connections": "50"}


@dataclass
class Member:
    """A server of the cluster, and the Patroni that runs it."""

    name: str
    port: int
    api_port: int
    directory: Path
    patroni: Program

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def role(self) -> str:
        """The role that Patroni reports, or the state if the server is not running. "" if Patroni does not answer."""
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self.api_port}/patroni", timeout=5) as answer:
                status = json.load(answer)
        except OSError:
            return ""
        return status["role"] if status["state"] == "running" else status["state"]

    @property
    def postmaster(self) -> int | None:
        """The process ID of the postmaster; `None` if there is no postmaster.pid."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None

    def kill(self) -> None:
        """Kills Patroni and the postmaster. Neither can release the leader's lease."""
        self.patroni.kill()
        pid = self.postmaster
        send_signal(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid), f"the server of {self.name} has ended")

    def remove(self) -> None:
        """Kills Patroni, and shuts down its server in immediate mode."""
        self.patroni.kill()
        if (pid := self.postmaster) and is_running(pid):
            send_signal(pid, signal.SIGQUIT)
            wait_until(lambda: not is_running(pid), f"the server of {self.name} has ended")


class Cluster:
    """A cluster that has an etcd and, at first, no members. `start` adds a member."""

    def __init__(self, **parameters: str) -> None:
        self._parameters = {**SETTINGS, **parameters}
        self.directory = Path(tempfile.mkdtemp(prefix="scru-patroni-", dir=TEMPORARY))
        give_to_server_user(self.directory)
        self.password = secrets.token_hex(16)
        self.members: list[Member] = []
        self._ports = iter(free_ports(8))
        self._etcd_port = next(self._ports)
        self._etcd = Program(self.directory / "etcd.log", path_of("etcd"), *self._etcd_options())

    def __enter__(self) -> Cluster:
        try:
            self._etcd.start()
            self._etcd.wait_until_it_listens(self._etcd_port)
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Ends all programs, and deletes their files."""
        for member in self.members:
            member.remove()
        self._etcd.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _etcd_options(self) -> list[str]:
        clients, peers = (f"http://{LOOPBACK}:{port}" for port in (self._etcd_port, next(self._ports)))
        return [
            f"--data-dir={self.directory / 'etcd'}",
            # As for the servers, fsync is off: other tests that write to the disk must not delay etcd.
            "--unsafe-no-fsync",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--log-level=warn",
        ]

    # ---------------------------------------------------------------------------------------------------------- members

    def start(self, environment: dict[str, str] | None = None) -> Member:
        """Starts another member. The first initializes the cluster, and the others copy it.

        The environment is that of the server, not of Patroni.
        """
        name = f"member{len(self.members) + 1}"
        directory = self.directory / name
        directory.mkdir()
        give_to_server_user(directory)
        port, api_port = next(self._ports), next(self._ports)
        configuration = directory / "patroni.yml"
        configuration.write_text(
            json.dumps(self._configuration(name, directory, port, api_port, programs(directory, environment)))
        )
        give_to_server_user(configuration)
        patroni = Program(directory / "patroni.log", path_of("patroni"), configuration)
        member = Member(name, port, api_port, directory, patroni)
        self.members.append(member)
        patroni.start()
        return member

    def _configuration(self, name: str, directory: Path, port: int, api_port: int, bin_dir: Path) -> dict:
        """Returns the content of patroni.yml. JSON is valid YAML."""
        users = {"superuser": "postgres", "replication": "replicator", "rewind": "rewinder"}
        return {
            "scope": "scru",
            "name": name,
            "restapi": {"listen": f"{LOOPBACK}:{api_port}", "connect_address": f"{LOOPBACK}:{api_port}"},
            "etcd3": {"host": f"{LOOPBACK}:{self._etcd_port}"},
            "bootstrap": {
                "dcs": {**TIMES, "postgresql": {"use_pg_rewind": True, "parameters": self._parameters}},
                "initdb": [
                    {"encoding": "UTF8"},
                    {"locale": "C"},
                    {"auth": "scram-sha-256"},
                    "data-checksums",
                    "no-sync",
                ],
            },
            "postgresql": {
                "listen": f"{LOOPBACK}:{port}",
                "connect_address": f"{LOOPBACK}:{port}",
                "data_dir": str(directory / "data"),
                "bin_dir": str(bin_dir),
                "pgpass": str(directory / "pgpass"),
                "authentication": {who: {"username": user, "password": self.password} for who, user in users.items()},
                "parameters": {"unix_socket_directories": str(directory)},
                "pg_hba": [
                    f"host all all {LOOPBACK}/32 scram-sha-256",
                    f"host replication all {LOOPBACK}/32 scram-sha-256",
                ],
                "basebackup": [{"checkpoint": "fast"}, "no-sync"],
            },
        }

    def wait_for_leader(self, *but: Member) -> Member:
        """Waits until a member other than these is the leader, which Patroni 4 calls primary, and returns it."""
        others = [member for member in self.members if member not in but]
        leading = lambda: next((member for member in others if member.role in ("master", "primary")), None)  # noqa: E731
        return wait_until(leading, "a member is the leader")

    def wait_for_replicas(self, leader: Member) -> None:
        """Waits until all other running members follow the leader, and their Patroni reports them as replicas."""
        query = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'"
        others = [member for member in self.members if member is not leader and member.patroni.is_running]

        def follow() -> bool:
            try:
                with self.connect() as connection:
                    following = {name for (name,) in connection.execute(query)}
            except psycopg.OperationalError:  # the leader is changing
                return False
            return all(member.name in following and member.role == "replica" for member in others)

        wait_until(follow, f"{len(others)} members follow {leader.name}")

    def switch_over(self, candidate: Member) -> None:
        """Switches over from the leader to the candidate."""
        said = self._patronictl("switchover", "scru", "--candidate", candidate.name, "--force")
        assert "Successfully switched over" in said, said

    def configure(self, changes: str) -> None:
        """Applies a piece of YAML to the configuration of all members."""
        said = self._patronictl("edit-config", "scru", "--apply", "-", "--force", given=changes)
        assert "Configuration changed" in said, said

    def _patronictl(self, *arguments: str, given: str = "") -> str:
        """Runs patronictl, and returns its output."""
        command = [path_of("patronictl"), "-c", str(self.members[0].directory / "patroni.yml"), *arguments]
        return subprocess.run(
            as_server_user("env", f"PATH={PATH}", "LC_ALL=C.UTF-8", *command),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            timeout=60,
        ).stdout

    # ------------------------------------------------------------------------------------------------------ connections

    def connect(self, *members: Member, **parameters: object) -> psycopg.Connection:
        """Returns a connection to one of these members; without members, to the leader, which libpq finds among all."""
        addresses = members or self.members
        return psycopg.connect(
            host=",".join(LOOPBACK for _ in addresses),
            port=",".join(str(member.port) for member in addresses),
            target_session_attrs="any" if members else "read-write",
            dbname="postgres",
            user="postgres",
            password=self.password,
            connect_timeout=5,
            autocommit=True,
            **parameters,
        )


def programs(directory: Path, environment: dict[str, str] | None) -> Path:
    """Returns the directory of PostgreSQL's programs; with an environment, a copy whose `postgres` sets it."""
    if environment is None:
        return BINDIR
    bin_dir = directory / "bin"
    bin_dir.mkdir()
    for program in BINDIR.iterdir():
        (bin_dir / program.name).symlink_to(program)
    variables = [f"{name}={value}" for name, value in environment.items()]
    server = bin_dir / "postgres"
    server.unlink()
    server.write_text(f'#!/bin/sh\nexec env {shlex.join([*variables, str(BINDIR / "postgres")])} "$@"\n')
    server.chmod(0o755)
    return bin_dir


# -------------------------------------------------------------------------------------------------------------- clients

NODE = 1
MANY = 500
# The seconds by which the clock of the first leader is ahead.
AHEAD = 8
# A row has one ID of each of TYPES. With scru.generator_scope = 'server', they are strictly increasing within a server.
TABLE = (
    "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), "
    "flake ulidflake UNIQUE DEFAULT gen_ulidflake(), wide scru128 UNIQUE DEFAULT gen_scru128())"
)
INSERT = "INSERT INTO orders DEFAULT VALUES RETURNING id::text, flake::text, wide::text"
TYPES = (SCRU64, ULIDFLAKE, SCRU128)


class Clients:
    """Threads that insert rows, and reconnect to the leader when disconnected: `with Clients(connect) as clients:`.

    Asserts that each ID is greater than all IDs that any thread received before this ID was requested.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], sessions: int = 4):
        self.rows: list[tuple[str, ...]] = []
        self.refusals: list[str] = []
        """The messages of errors with SQLSTATE 55000, which a server raises if it cannot generate an ID."""
        self._connect = connect
        self._latest = ("",) * len(TYPES)
        self._sessions = sessions
        self._lock = Lock()
        self._stopped = Event()

    def __enter__(self) -> Clients:
        pool = ThreadPoolExecutor(self._sessions)
        self._futures = [pool.submit(self._run) for _ in range(self._sessions)]
        pool.shutdown(wait=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for future in self._futures:
            future.result(timeout=60)

    def wait_for(self, count: int) -> None:
        """Waits until `count` more rows are committed, or a thread has ended because of an error."""
        enough = len(self.rows) + count
        wait_until(
            lambda: len(self.rows) >= enough or any(map(Future.done, self._futures)), f"{count} more rows are committed"
        )

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with self._connect() as connection:
                    while not self._stopped.is_set():
                        self._keep(self._latest, connection.execute(INSERT).fetchone())
            except psycopg.errors.ObjectNotInPrerequisiteState as refusal:
                self.refusals.append(str(refusal))
            except psycopg.Error:
                self._stopped.wait(0.05)  # there is no leader, or the connection is lost

    def _keep(self, before: tuple[str, ...], row: tuple[str, ...]) -> None:
        with self._lock:
            self.rows.append(row)
            self._latest = tuple(map(max, self._latest, row))
        for id_type, earlier, id_ in zip(TYPES, before, row, strict=True):
            assert id_ > earlier, f"{id_type} {id_} was requested after {earlier} was received, but is not greater"


def node_of(cluster: Cluster, member: Member) -> tuple[str, str] | None:
    """Returns the node settings of scru64 and ulidflake on a member; `None` if it accepts no connections."""
    query = "SELECT current_setting('scru.scru64_node', true), current_setting('scru.ulidflake_scalability', true)"
    with suppress(psycopg.OperationalError), cluster.connect(member) as connection:
        return connection.execute(query).fetchone()


def test_a_failover_and_a_switchover_repeat_nothing(clock):
    """Kills the leader, whose clock is ahead. It rejoins through pg_rewind. A switchover makes it the leader again."""
    clock.shift(AHEAD)

    with Cluster() as cluster:
        first = cluster.start(clock.environment)
        cluster.wait_for_leader()
        with cluster.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute(TABLE)
        for _ in range(2):
            cluster.start()
        cluster.wait_for_replicas(first)
        # The replicas exist already, so they receive these settings through replication only.
        with cluster.connect() as connection:
            connection.execute(page.sql("One server"))
            connection.execute("ALTER DATABASE postgres SET scru.generator_scope = 'server'")
        with Clients(cluster.connect) as clients:
            clients.wait_for(MANY)
            first.kill()
            second = cluster.wait_for_leader(first)
            clients.wait_for(MANY)
            first.patroni.start()
            cluster.wait_for_replicas(second)
            cluster.switch_over(first)
            clients.wait_for(MANY)
        with cluster.connect() as connection:
            committed = connection.execute("SELECT id::text, flake::text, wide::text FROM orders").fetchall()
            connection.execute("ALTER ROLE ALL RESET ALL")
        assert clients.refusals == []
        for rows in clients.rows, committed:
            check(rows)
        cluster.wait_for_replicas(first)
        cluster.configure(page.yaml("Standbys and failover"))
        for member in cluster.members:
            wait_until(
                lambda: node_of(cluster, member) == ("1/4", "1"),  # noqa: B023
                f"{member.name} is configured",
            )


def check(rows: list[tuple[str, ...]]) -> None:
    """Asserts that no ID occurs twice, and that all 64-bit IDs have the node NODE."""
    for ids in zip(*rows, strict=True):
        assert_all_different(ids)
    assert {SCRU64.value(id_) >> 20 & 15 for id_, _, _ in rows} == {NODE}
    assert {ULIDFLAKE.value(flake) & 31 for _, flake, _ in rows} == {NODE}
