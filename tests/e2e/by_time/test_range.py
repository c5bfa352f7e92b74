"""Queries by time, and errors of the server in such queries.

The table has ten million rows. A query returns one hour out of a hundred days, by the primary key.
"""

from __future__ import annotations

import pytest

import expect
from plans import estimate, nodes
from server import oldest_and_newest

pytestmark = oldest_and_newest("the regression test `range` compares the plans on every version")

ROWS = 10_000_000
HOUR = "'[2026-02-20 02:00+00,2026-02-20 03:00+00)'"
BY_RANGE = f"SELECT * FROM orders WHERE id <@ tstzrange {HOUR}"
BY_HAND = f"SELECT * FROM orders WHERE id BETWEEN scru128_range_lower({HOUR}) AND scru128_range_upper({HOUR})"


@pytest.fixture
def orders(connection):
    """A table of ten million orders, one every 0.864 s."""
    moment = "timestamptz '2026-01-01 00:00+00' + n * interval '0.864 s'"
    orders = f"SELECT gen_scru128({moment}) AS id, n FROM generate_series(0, {ROWS - 1}) AS n"
    connection.execute(f"CREATE UNLOGGED TABLE orders AS {orders}")
    connection.execute("ALTER TABLE orders ADD PRIMARY KEY (id)")
    connection.execute("VACUUM (FREEZE, ANALYZE) orders")
    return connection


def buffers(connection, query: str) -> tuple[int, int]:
    """Returns how many rows a query returns and how many pages it touches, in an index scan without a filter."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {query}")
    [node] = nodes(plans[0]["Plan"])
    assert (node["Node Type"], "Filter" in node) == ("Index Scan", False)
    return node["Actual Rows"], node["Shared Hit Blocks"] + node["Shared Read Blocks"]


def test_one_hour_of_ten_million_rows(orders, measured):
    """A range touches no more pages than bounds written by hand. The planner estimates its rows within a factor of two,
    although the range has far fewer rows than a histogram bucket."""
    by_range, by_hand = buffers(orders, BY_RANGE), buffers(orders, BY_HAND)
    expected = estimate(orders, BY_RANGE)
    measured(f"one hour: {by_range[0]} rows, {expected} expected; pages touched: {by_range[1]}, by hand: {by_hand[1]}")
    rows = sum(50 * 24 + 2 <= n * 0.864 / 3600 < 50 * 24 + 3 for n in range(ROWS))
    assert by_range == by_hand
    assert by_range[0] == rows
    assert rows / 2 < expected < rows * 2


def test_an_error_of_the_server_is_unchanged(new_server):
    """An error of a server function that the extension calls is unchanged, even with Rust backtraces enabled."""
    server = new_server({}, {"RUST_BACKTRACE": "1"})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE TABLE orders (id scru128 PRIMARY KEY)")
        with expect.error("22000", "range lower bound must be less than or equal to range upper bound"):
            connection.execute("EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(now(), now() - interval '1 day')")
        with expect.error("22008", "timestamp out of range"):
            connection.execute("EXPLAIN SELECT * FROM orders WHERE id >= now() + interval '300000 years'")
