"""Generation on a disk whose writes take long: an INSERT takes about as long as one with a bigint identity."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from statistics import median

import psycopg
import pytest

from faults import SlowDisk
from server import Server

ALL_DELAYS = bool(os.environ.get("ALL_DELAYS"))
"""Whether the slowest disk is tested as well, which takes minutes."""

DELAYS = [0.8, 1.6, pytest.param(5, marks=pytest.mark.skipif(not ALL_DELAYS, reason="ALL_DELAYS is not set"))]
each_delay = pytest.mark.parametrize("delay", DELAYS)

INSERT = "INSERT INTO {} DEFAULT VALUES"
TIME_OF_STATEMENT = 0.3
"""The time in seconds that an INSERT takes at most, even on a busy machine, apart from its writes."""


@pytest.fixture
def disk() -> Iterator[SlowDisk]:
    """A disk for a server of this test."""
    disk = SlowDisk()
    yield disk
    disk.remove()


@pytest.fixture
def slow_server(new_server, disk) -> Iterator[Server]:
    """A server with a table of each kind. It has its real speed, and writes nothing by itself while a test measures: on
    higher levels of WAL, it writes its running transactions every 15 s."""
    settings = {
        "fsync": "on",
        "scru.scru64_node": "5/8",
        "autovacuum": "off",
        "checkpoint_timeout": "1d",
        "max_wal_size": "10GB",
        "wal_level": "minimal",
        "max_wal_senders": "0",
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


def seconds_of(connection: psycopg.Connection, table: str) -> float:
    """Inserts a row, and returns the time that it takes."""
    begin = time.monotonic()
    connection.execute(INSERT.format(table))
    return time.monotonic() - begin


@each_delay
def test_an_insert_takes_at_most_three_times_one_of_a_number(slow_server, disk, delay, measured):
    """The first INSERT of a session, and the median of further ones."""
    with slow_server.connect() as connection, slow(disk, delay):
        connection.execute(f"SET statement_timeout = '{20 * delay} s'")
        # The first row of a table also reserves: values of the sequence, or IDs.
        first = {table: seconds_of(connection, table) for table in ("numbers", "ids")}
        times: dict[str, list[float]] = {"numbers": [], "ids": []}
        for _ in range(5):
            for table in times:
                times[table].append(seconds_of(connection, table))
    medians = {table: median(seconds) for table, seconds in times.items()}
    measured(
        f"disk with {delay} s per write: first INSERT {first['ids']:.2f} s, further ones {medians['ids']:.2f} s;"
        f" of a bigint {first['numbers']:.2f} s and {medians['numbers']:.2f} s"
    )
    assert medians["numbers"] >= delay * 0.9
    # The first mark may end while it is written. Then a second one follows, and the row: three writes of equal length.
    assert first["ids"] <= 3 * first["numbers"] + TIME_OF_STATEMENT
    assert medians["ids"] <= 3 * medians["numbers"]


@each_delay
def test_every_one_of_twenty_clients_inserts(slow_server, disk, delay, measured):
    """Every client makes progress. Together they insert at least a third as many rows as with a bigint."""
    rows = {}
    with ExitStack() as stack:
        connections = [stack.enter_context(slow_server.connect()) for _ in range(20)]
        for connection in connections:
            connection.execute(f"SET statement_timeout = '{20 * delay} s'")
        for table in "numbers", "ids":
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
    measured(
        f"disk with {delay} s per write, 20 clients: {min(rows['ids'])} to {max(rows['ids'])} INSERTs each;"
        f" of a bigint {min(rows['numbers'])} to {max(rows['numbers'])}"
    )
    assert min(rows["ids"]) >= 1
    assert 3 * sum(rows["ids"]) >= sum(rows["numbers"])
    assert slow_server.rows("SELECT count(*), count(DISTINCT id) FROM ids") == [(sum(rows["ids"]),) * 2]
