"""Failover with Patroni: clients insert rows while the leader of three servers crashes, and during a switchover.

The cluster is on loopback: servers, each with its own Patroni, and one etcd. The lease of the leader is so long that it
never expires on a slow machine: the test ends it after a crash.
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
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

import page
from idtypes import SCRU64, SCRU128, ULIDFLAKE
from load import Load, assert_all_different
from programs import LOOPBACK, PATH, Program, free_ports, needs, path_of
from server import BINDIR, TEMPORARY, as_server_user, give_to_server_user, is_running, send_signal, wait_until

pytestmark = needs("patroni", "etcd")

# ---------------------------------------------------------------------------------------------------------- the cluster

TIMES = {"ttl": 600, "loop_wait": 1, "retry_timeout": 100}
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
    def role(self) -> str:
        """The role that Patroni reports, or the state if the server is not running. "" if Patroni does not answer."""
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self.api_port}/patroni", timeout=5) as answer:
                status = json.load(answer)
        except OSError:
            return ""
        return status["role"] if status["state"] == "running" else status["state"]

    def end(self, number: int) -> None:
        """Kills Patroni, which cannot release the leader's lease, and sends a signal to the postmaster, if it runs."""
        self.patroni.kill()
        file = self.directory / "data/postmaster.pid"
        if file.exists():
            pid = int(file.read_text().split("\n", 1)[0])
            send_signal(pid, number)
            wait_until(lambda: not is_running(pid), f"the server of {self.name} has ended")


class Cluster:
    """A cluster that has an etcd and, at first, no members. `start` adds a member."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="scru-patroni-", dir=TEMPORARY))
        give_to_server_user(self.directory)
        self.password = secrets.token_hex(16)
        self.members: list[Member] = []
        self._ports = iter(free_ports(8))
        self._etcd_port = next(self._ports)
        clients, peers = (f"http://{LOOPBACK}:{port}" for port in (self._etcd_port, next(self._ports)))
        self._etcd = Program(
            self.directory / "etcd.log",
            path_of("etcd"),
            f"--data-dir={self.directory / 'etcd'}",
            # As for the servers, fsync is off: other tests that write to the disk must not delay etcd.
            "--unsafe-no-fsync",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--log-level=warn",
        )

    def __enter__(self) -> Cluster:
        self._etcd.start()
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.end(signal.SIGQUIT)
        self._etcd.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def end_lease(self) -> None:
        """Deletes the key of the leader, as etcd does when its lease expires."""
        key = json.dumps({"key": b64encode(b"/service/scru/leader").decode()}).encode()
        with urllib.request.urlopen(f"http://{LOOPBACK}:{self._etcd_port}/v3/kv/deleterange", key) as answer:
            assert json.load(answer)["deleted"] == "1"

    # ---------------------------------------------------------------------------------------------------------- members

    def start(self, environment: dict[str, str] | None = None) -> Member:
        """Starts another member, a copy of the first, with an environment for the server and not for Patroni."""
        if not self.members:
            self._etcd.wait_until_it_listens(self._etcd_port)
        name = f"member{len(self.members) + 1}"
        directory = self.directory / name
        directory.mkdir()
        give_to_server_user(directory)
        port, api_port = next(self._ports), next(self._ports)
        content = self._configuration(name, directory, port, api_port, programs(directory, environment))
        configuration = directory / "patroni.yml"
        configuration.write_text(json.dumps(content))
        give_to_server_user(configuration)
        patroni = Program(directory / "patroni.log", path_of("patroni"), configuration)
        member = Member(name, port, api_port, directory, patroni)
        self.members.append(member)
        patroni.start()
        return member

    def _configuration(self, name: str, directory: Path, port: int, api_port: int, bin_dir: Path) -> dict:
        """Returns the content of patroni.yml. JSON is valid YAML."""
        users = {"superuser": "postgres", "replication": "replicator", "rewind": "rewinder"}
        initdb = [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "scram-sha-256"}, "data-checksums", "no-sync"]
        return {
            "scope": "scru",
            "name": name,
            "restapi": {"listen": f"{LOOPBACK}:{api_port}", "connect_address": f"{LOOPBACK}:{api_port}"},
            "etcd3": {"host": f"{LOOPBACK}:{self._etcd_port}"},
            "bootstrap": {
                "dcs": {**TIMES, "postgresql": {"use_pg_rewind": True, "parameters": SETTINGS}},
                "initdb": initdb,
            },
            "postgresql": {
                "listen": f"{LOOPBACK}:{port}",
                "connect_address": f"{LOOPBACK}:{port}",
                "data_dir": str(directory / "data"),
                "bin_dir": str(bin_dir),
                "pgpass": str(directory / "pgpass"),
                "authentication": {who: {"username": user, "password": self.password} for who, user in users.items()},
                "parameters": {"unix_socket_directories": str(directory)},
                "pg_hba": [f"host {which} all {LOOPBACK}/32 scram-sha-256" for which in ("all", "replication")],
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
            with self.connect() as connection:
                following = {name for (name,) in connection.execute(query)}
            return all(member.name in following and member.role == "replica" for member in others)

        wait_until(follow, f"{len(others)} members follow {leader.name}")

    def patronictl(self, success: str, command: str, *options: str, given: str = "") -> None:
        """Runs patronictl, whose output must have the text `success`."""
        configuration = str(self.members[0].directory / "patroni.yml")
        command = [path_of("patronictl"), "-c", configuration, command, "scru", "--force", *options]
        said = subprocess.run(
            as_server_user("env", f"PATH={PATH}", "LC_ALL=C.UTF-8", *command),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
        ).stdout
        assert success in said, said

    # ------------------------------------------------------------------------------------------------------ connections

    def connect(self, member: Member | None = None) -> psycopg.Connection:
        """Returns a connection to a member, or to the leader, which libpq finds among all. Waits until it connects."""
        addresses = [member] if member else self.members

        def connected() -> psycopg.Connection | None:
            with suppress(psycopg.OperationalError):
                return psycopg.connect(
                    host=",".join(LOOPBACK for _ in addresses),
                    port=",".join(str(each.port) for each in addresses),
                    target_session_attrs="any" if member else "read-write",
                    dbname="postgres",
                    user="postgres",
                    password=self.password,
                    connect_timeout=5,
                    autocommit=True,
                )

        return wait_until(connected, "the server accepts connections")


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
MANY = 200
# The seconds by which the clock of the first leader is ahead.
AHEAD = 8
# With scru.generator_scope = 'server', the IDs of each column are strictly increasing within a server.
COLUMNS = {"id": SCRU64, "flake": ULIDFLAKE, "wide": SCRU128}
TABLE = (
    "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), "
    "flake ulidflake UNIQUE DEFAULT gen_ulidflake(), wide scru128 UNIQUE DEFAULT gen_scru128())"
)
NODE_SETTINGS = "SELECT current_setting('scru.scru64_node', true), current_setting('scru.ulidflake_scalability', true)"


def test_a_failover_and_a_switchover_repeat_nothing(clock):
    """Kills the leader, whose clock is ahead. It rejoins through pg_rewind. A switchover makes it the leader again."""
    clock.shift(AHEAD)
    ids: dict[str, list[str]] = {column: [] for column in COLUMNS}

    with Cluster() as cluster:

        @contextmanager
        def writing() -> Iterator[None]:
            """Inserts rows until the leader ends. Each ID is greater than all that were received before."""
            with ExitStack() as stack:
                loads = {}
                for column, id_type in COLUMNS.items():
                    query = f"INSERT INTO orders DEFAULT VALUES RETURNING {column}::text"
                    after = max(ids[column], default="")
                    loads[column] = stack.enter_context(Load(cluster.connect, id_type, 2, after, query))
                for load in loads.values():
                    load.wait_for(MANY)
                yield
            for column, load in loads.items():
                ids[column] += load.ids

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
        with writing():
            first.end(signal.SIGKILL)
            cluster.end_lease()
            second = cluster.wait_for_leader(first)
        with writing():
            first.patroni.start()
            cluster.wait_for_replicas(second)
            cluster.patronictl("Successfully switched over", "switchover", "--candidate", first.name)
        with writing():
            pass
        with cluster.connect() as connection:
            committed = connection.execute("SELECT id::text, flake::text, wide::text FROM orders").fetchall()
            connection.execute("ALTER ROLE ALL RESET ALL")
        for scru64s, flakes, wide in (ids.values(), zip(*committed, strict=True)):
            for drawn in scru64s, flakes, wide:
                assert_all_different(drawn)
            assert {SCRU64.value(id_) >> 20 & 15 for id_ in scru64s} == {NODE}
            assert {ULIDFLAKE.value(flake) & 31 for flake in flakes} == {NODE}
        cluster.wait_for_replicas(first)
        changes = page.yaml("Standbys and failover")
        cluster.patronictl("Configuration changed", "edit-config", "--apply", "-", given=changes)

        def is_configured(member: Member) -> bool:
            with cluster.connect(member) as connection:
                return connection.execute(NODE_SETTINGS).fetchone() == ("1/4", "1")

        wait_until(lambda: all(map(is_configured, cluster.members)), "all members are configured")
