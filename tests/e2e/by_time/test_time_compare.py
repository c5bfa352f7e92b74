"""Comparison of IDs with times on a table of a million rows.

A query for one hour of a hundred days touches as many pages as one with bounds written by hand. Its planning takes at
most a quarter longer than for a column of times. If the hour depends on the clock, the limit is an eighth longer than
with bounds written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg
import pytest

from plans import nodes
from server import Server, oldest_and_newest

pytestmark = oldest_and_newest("the regression test `time_compare` compares the plans on every version")

ROWS = 1_000_000
STEP = timedelta(seconds=8.64)
START = datetime.now(UTC).replace(microsecond=0) - ROWS * STEP


def time_of(hours: int) -> str:
    """Returns a timestamptz literal for a number of hours after the start."""
    return f"timestamptz '{START + timedelta(hours=hours)}'"


FROM, TO = time_of(50 * 24 + 2), time_of(50 * 24 + 3)
ROWS_OF_THE_HOUR = sum(50 * 24 + 2 <= n * STEP / timedelta(hours=1) < 50 * 24 + 3 for n in range(ROWS))
BY_TIME = f"SELECT * FROM orders WHERE id >= {FROM} AND id < {TO}"
BY_HAND = f"SELECT * FROM orders WHERE id >= scru128_lower({FROM}) AND id < scru128_lower({TO})"
BY_COLUMN = f"SELECT * FROM orders_with_time WHERE created_at >= {FROM} AND created_at < {TO}"
# The same hour, computed at the start of execution.
HOURS = "(date_part('hour', clock_timestamp() - now()) * interval '1 hour')"
BY_VARIABLE = f"SELECT * FROM orders WHERE id >= (SELECT {FROM} + {HOURS}) AND id < (SELECT {TO} + {HOURS})"
# An hour relative to now().
CLOCK_FROM, CLOCK_TO = "now() - interval '50 days 1 hour'", "now() - interval '50 days'"
BY_CLOCK = f"SELECT * FROM orders WHERE id >= {CLOCK_FROM} AND id < {CLOCK_TO}"
BY_CLOCK_BY_HAND = f"SELECT * FROM orders WHERE id >= scru128_lower({CLOCK_FROM}) AND id < scru128_lower({CLOCK_TO})"
BY_CLOCK_OF_COLUMN = f"SELECT * FROM orders_with_time WHERE created_at >= {CLOCK_FROM} AND created_at < {CLOCK_TO}"


@pytest.fixture(scope="module")
def orders() -> Iterator[psycopg.Connection]:
    """A table of a million orders, one every 8.64 s until now, and a table with their times instead of IDs."""
    moment = f"{time_of(0)} + n * interval '{STEP.total_seconds()} s'"
    with Server({"autovacuum": "off"}) as server, server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        numbers = f"generate_series(0, {ROWS - 1}) AS n"
        connection.execute(f"CREATE UNLOGGED TABLE orders AS SELECT gen_scru128({moment}) AS id, n FROM {numbers}")
        connection.execute(
            "CREATE UNLOGGED TABLE orders_with_time AS SELECT id::timestamptz AS created_at, n FROM orders"
        )
        connection.execute("ALTER TABLE orders ADD PRIMARY KEY (id)")
        connection.execute("ALTER TABLE orders_with_time ADD PRIMARY KEY (created_at)")
        connection.execute("VACUUM (FREEZE, ANALYZE) orders, orders_with_time")
        yield connection


def touched(connection: psycopg.Connection, query: str) -> tuple[int, int]:
    """Returns how many rows a query returns and how many pages it touches, in an index scan without a filter."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {query}")
    node = nodes(plans[0]["Plan"])[0]
    assert (node["Node Type"], "Filter" in node) == ("Index Scan", False)
    return node["Actual Rows"], node["Shared Hit Blocks"] + node["Shared Read Blocks"]


@pytest.mark.parametrize("query", [BY_TIME, BY_VARIABLE], ids=["constants", "variables"])
def test_one_hour_touches_the_pages_that_bounds_touch(orders, measured, query):
    by_time, by_hand = touched(orders, query), touched(orders, BY_HAND)
    measured(f"one hour: {by_time[0]} rows; pages touched: {by_time[1]}, by hand: {by_hand[1]}")
    assert by_time == by_hand
    assert by_time[0] == ROWS_OF_THE_HOUR


def test_one_hour_by_the_clock_touches_the_pages_that_bounds_touch(orders):
    with orders.transaction():
        assert touched(orders, BY_CLOCK) == touched(orders, BY_CLOCK_BY_HAND)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("queries", "is_constant"),
    [((BY_COLUMN, BY_TIME, BY_HAND), True), ((BY_CLOCK_OF_COLUMN, BY_CLOCK, BY_CLOCK_BY_HAND), False)],
    ids=["constants", "clock"],
)
def test_planning_takes_little_longer(orders, measured, queries, is_constant):
    """Compares alternating runs of ten plans each. Such a short run is seldom interrupted.

    The times of a session also depend on the addresses of its memory, so up to three sessions measure them.
    """
    name, bound = ("column of times", 1.25) if is_constant else ("bounds by hand", 1.125)
    orders.execute(
        """CREATE OR REPLACE FUNCTION planning_times(queries text[], turns integer) RETURNS SETOF float[]
        LANGUAGE plpgsql AS $$
        DECLARE
            plan json;
            times float[];
        BEGIN
            FOR turn IN 1 .. turns LOOP
                times := array_fill(0::float, ARRAY[cardinality(queries)]);
                FOR number IN 1 .. cardinality(queries) LOOP
                    FOR repetition IN 1 .. 10 LOOP
                        EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || queries[number] INTO plan;
                        times[number] := times[number] + (plan -> 0 ->> 'Planning Time')::float;
                    END LOOP;
                END LOOP;
                RETURN NEXT times;
            END LOOP;
        END $$"""
    )
    for _ in range(3):
        with psycopg.connect(orders.info.dsn, autocommit=True) as session:
            rounds = [times for (times,) in session.execute("SELECT planning_times(%s, 1000)", [list(queries)])]
        by_column, by_time, by_hand = (100 * median(times) for times in zip(*rounds, strict=True))
        ratio = median(by_time / (by_column if is_constant else by_hand) for by_column, by_time, by_hand in rounds)
        measured(
            f"planning one hour: {by_time:.1f} µs, of a column of times {by_column:.1f} µs, of bounds by hand"
            f" {by_hand:.1f} µs; ratio to {name} {ratio:.3f}"
        )
        if ratio <= bound:
            break
    assert ratio <= bound
