"""Failover with Patroni: clients insert rows while the leader of three servers crashes, and during a switchover."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock

import psycopg

import page
from idtypes import SCRU64, SCRU128, ULIDFLAKE
from load import assert_all_different
from patroni_cluster import Cluster, Member
from programs import needs
from server import wait_until

pytestmark = needs("patroni", "etcd")

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
            cluster.switch_over(second, first)
            clients.wait_for(MANY)
        with cluster.connect() as connection:
            committed = connection.execute("SELECT id::text, flake::text, wide::text FROM orders").fetchall()
            connection.execute("ALTER ROLE ALL RESET ALL")
        assert clients.refusals == []
        for rows in clients.rows, committed:
            check(rows)
        cluster.wait_for_replicas(first)
        cluster.configure(page.yaml("Patroni"))
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
