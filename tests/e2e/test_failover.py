"""Failover with Patroni: clients write to three servers during a crash of the leader and during a switchover."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock

import psycopg

import page
from idtypes import SCRU64, SCRU128, ULIDFLAKE
from load import assert_all_different
from patroni_cluster import Cluster
from programs import needs
from server import wait_until

pytestmark = needs("patroni", "etcd")

NODE = 1
MANY = 500
# Seconds by which the first leader's clock is ahead.
AHEAD = 8
# The clients insert rows with an ID of each of TYPES. All of these are ordered within the server.
TABLE = (
    "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), "
    "flake ulidflake UNIQUE DEFAULT gen_ulidflake(), wide scru128 UNIQUE DEFAULT gen_scru128())"
)
INSERT = "INSERT INTO orders DEFAULT VALUES RETURNING id::text, flake::text, wide::text"
TYPES = (SCRU64, ULIDFLAKE, SCRU128)


class Clients:
    """Sessions that insert rows, and reconnect to the leader when disconnected: `with Clients(connect) as clients:`.

    Each ID has to be greater than all IDs that any of the sessions had received when it was requested.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], sessions: int = 4):
        self.rows: list[tuple[str, ...]] = []
        self.refusals: list[str] = []
        """The messages of refusals to generate an ID (55000)."""
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
        """Waits until `count` more rows have been committed, or a session has ended."""
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
                self._stopped.wait(0.05)  # there is no leader, or the session has lost it

    def _keep(self, before: tuple[str, ...], row: tuple[str, ...]) -> None:
        with self._lock:
            self.rows.append(row)
            self._latest = tuple(map(max, self._latest, row))
        for id_type, earlier, id_ in zip(TYPES, before, row, strict=True):
            assert id_ > earlier, f"{id_type} {id_} was generated after {earlier} had been received"


def node_of(connection: psycopg.Connection) -> tuple[str, str]:
    """Returns a session's values of the settings that decide uniqueness, and closes the connection."""
    with connection:
        query = "SELECT current_setting('scru.scru64_node', true), current_setting('scru.ulidflake_scalability', true)"
        return connection.execute(query).fetchone()


def test_a_failover_and_a_switchover_repeat_nothing(clock):
    """The leader is killed while its clock is ahead. It rejoins by pg_rewind, and becomes the leader again."""
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
        # After the replicas were copied, so that they get the settings by replication only.
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
        cluster.configure(page.yaml("Patroni"))
        for member in cluster.members:
            wait_until(
                lambda: node_of(cluster.connect(member)) == ("1/4", "1"),  # noqa: B023
                f"{member.name} is configured",
            )


def check(rows: list[tuple[str, ...]]) -> None:
    """Asserts that no ID occurs twice, and that all IDs have the node."""
    for ids in zip(*rows, strict=True):
        assert_all_different(ids)
    assert {SCRU64.value(id_) >> 20 & 15 for id_, _, _ in rows} == {NODE}
    assert {ULIDFLAKE.value(flake) & 31 for _, flake, _ in rows} == {NODE}
