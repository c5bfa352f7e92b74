"""On a disk whose writes take long, an INSERT waits for about as many writes as one with a bigint identity."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from faults import SlowDisk
from server import Server

each_delay = pytest.mark.parametrize("delay", [0.8, 1.6, 5] if os.environ.get("ALL_DELAYS") else [0.8])

INSERT = "INSERT INTO {} DEFAULT VALUES"


@pytest.fixture
def disk() -> Iterator[SlowDisk]:
    """A disk for a server of this test."""
    with SlowDisk() as disk:
        yield disk


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


@each_delay
def test_an_insert_waits_for_at_most_three_writes(slow_server, disk, delay, measured):
    """One of a number waits for one write."""
    syncs: dict[str, list[int]] = {"numbers": [], "ids": []}
    with slow_server.connect() as connection:
        disk.delay(delay)
        for table, counts in list(syncs.items()) * 6:
            before = disk.syncs()
            connection.execute(INSERT.format(table))
            counts.append(disk.syncs() - before)
    measured(f"disk with {delay} s per write: an INSERT waits for {syncs['ids']}, of a bigint {syncs['numbers']}")
    assert syncs["numbers"] == [1] * 6
    # A mark may end while it is written. Then a second one follows, and the row.
    assert max(syncs["ids"]) <= 3


@each_delay
def test_twenty_clients_wait_for_at_most_three_times_the_writes(slow_server, disk, delay, measured):
    """Each inserts the same number of rows."""
    syncs = {}
    with ExitStack() as stack:
        connections = [stack.enter_context(slow_server.connect()) for _ in range(20)]
        pool = stack.enter_context(ThreadPoolExecutor(len(connections)))
        disk.delay(delay)
        for table in "numbers", "ids":
            before, insert = disk.syncs(), INSERT.format(table)
            list(pool.map(lambda each: [each.execute(insert) for _ in range(4)], connections))  # noqa: B023
            syncs[table] = disk.syncs() - before
    measured(f"disk with {delay} s per write: 80 INSERTs of 20 clients wait for {syncs}")
    assert syncs["ids"] <= 3 * syncs["numbers"]
    assert slow_server.rows("SELECT count(*), count(DISTINCT id) FROM ids") == [(80, 80)]
