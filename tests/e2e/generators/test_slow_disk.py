"""On a disk whose writes take long, an INSERT waits for about as many writes as one with a bigint identity."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import psycopg
import pytest

from faults import SlowDisk
from server import Server

ALL_DELAYS = bool(os.environ.get("ALL_DELAYS"))
"""Whether the slowest disk is tested as well, which takes minutes."""

DELAYS = [0.8, 1.6, pytest.param(5, marks=pytest.mark.skipif(not ALL_DELAYS, reason="ALL_DELAYS is not set"))]
each_delay = pytest.mark.parametrize("delay", DELAYS)

INSERT = "INSERT INTO {} DEFAULT VALUES"


@pytest.fixture
def disk() -> Iterator[SlowDisk]:
    """A disk for a server of this test."""
    disk = SlowDisk()
    yield disk
    disk.remove()


@pytest.fixture
def slow_server(new_server, disk) -> Iterator[Server]:
    """A server with a table of each kind. It has its real speed, and writes nothing by itself while a test counts: on
    higher levels of WAL, it writes its running transactions every 15 s."""
    settings = {
        "fsync": "on",
        "scru.scru64_node": "5/8",
        "autovacuum": "off",
        "checkpoint_timeout": "1d",
        "max_wal_size": "10GB",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "wal_writer_delay": "10s",
    }
    server = new_server(settings, disk.environment)
    with server.connect() as connection:
        connection.execute(
            """CREATE EXTENSION scru;
               CREATE TABLE numbers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
               CREATE TABLE ids (id scru64 DEFAULT gen_scru64() PRIMARY KEY);
               SELECT scru_raise_mark('2025-01-01'); -- creates the page of the marks, once for the data
               CHECKPOINT"""
        )
    yield server
    # The shutdown writes to the disk.
    disk.delay(0)


@contextmanager
def slow(disk: SlowDisk, seconds: float) -> Iterator[None]:
    """Makes the disk slow for the block."""
    disk.delay(seconds)
    try:
        yield
    finally:
        disk.delay(0)


@each_delay
def test_an_insert_waits_for_at_most_three_writes(slow_server, disk, delay, measured):
    """One of a number waits for one write."""
    syncs: dict[str, list[int]] = {"numbers": [], "ids": []}
    with slow_server.connect() as connection, slow(disk, delay):
        connection.execute(f"SET statement_timeout = '{20 * delay} s'")
        for table, counts in list(syncs.items()) * 6:
            before = disk.syncs()
            connection.execute(INSERT.format(table))
            counts.append(disk.syncs() - before)
    measured(f"disk with {delay} s per write: an INSERT waits for {syncs['ids']}, of a bigint {syncs['numbers']}")
    assert syncs["numbers"] == [1] * 6
    # A mark may end while it is written. Then a second one follows, and the row.
    assert max(syncs["ids"]) <= 3


@each_delay
def test_every_one_of_twenty_clients_inserts(slow_server, disk, delay, measured):
    """Every client makes progress. With each write they insert at least a third as many rows as with a bigint."""
    rows, syncs = {}, {}
    with ExitStack() as stack:
        connections = [stack.enter_context(slow_server.connect()) for _ in range(20)]
        for connection in connections:
            connection.execute(f"SET statement_timeout = '{20 * delay} s'")
        for table in "numbers", "ids":
            before = disk.syncs()
            with slow(disk, delay):
                end = time.monotonic() + max(8, 6 * delay)

                def insert(connection: psycopg.Connection, table: str = table, end: float = end) -> int:
                    count = 0
                    while time.monotonic() < end:
                        connection.execute(INSERT.format(table))
                        count += 1
                    return count

                with ThreadPoolExecutor(len(connections)) as pool:
                    rows[table] = list(pool.map(insert, connections))
            syncs[table] = disk.syncs() - before
    each = {table: sum(rows[table]) / syncs[table] for table in rows}
    measured(
        f"disk with {delay} s per write, 20 clients: {min(rows['ids'])} to {max(rows['ids'])} INSERTs each,"
        f" {each['ids']:.1f} with a write; of a bigint {min(rows['numbers'])} to {max(rows['numbers'])},"
        f" {each['numbers']:.1f}"
    )
    assert min(rows["ids"]) >= 1
    assert 3 * each["ids"] >= each["numbers"]
    assert slow_server.rows("SELECT count(*), count(DISTINCT id) FROM ids") == [(sum(rows["ids"]),) * 2]
