"""Queries by time, errors of the server in such queries, and what replaces a column `created_at`.

A query for one hour of a hundred days touches as many pages as one with bounds written by hand. Its planning takes at
most a quarter longer than for a column of times. If the hour depends on the clock, the limit is an eighth longer than
with bounds written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import psycopg
import pytest

import expect
from plans import create_planning_times, estimate, nodes
from server import Server

# ------------------------------------------------------------------------------------------- one hour of a million rows


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
    create_planning_times(orders)
    for _ in range(3):
        with psycopg.connect(orders.info.dsn, autocommit=True) as session:
            rounds = [times for (times,) in session.execute("SELECT planning_times(%s, 1000, 10)", [list(queries)])]
        by_column, by_time, by_hand = (100 * median(times) for times in zip(*rounds, strict=True))
        ratio = median(by_time / (by_column if is_constant else by_hand) for by_column, by_time, by_hand in rounds)
        measured(
            f"planning one hour: {by_time:.1f} µs, of a column of times {by_column:.1f} µs, of bounds by hand"
            f" {by_hand:.1f} µs; ratio to {name} {ratio:.3f}"
        )
        if ratio <= bound:
            break
    assert ratio <= bound


# ----------------------------------------------------------------------------------------- one hour of ten million rows


TEN_MILLION = 10_000_000
HOUR = "'[2026-02-20 02:00+00,2026-02-20 03:00+00)'"
BY_RANGE = f"SELECT * FROM orders WHERE id <@ tstzrange {HOUR}"
BOUNDS = " AND ".join(f"scru_internal.scru128_range_{bound}({HOUR})" for bound in ("lower", "upper"))
BY_RANGE_BY_HAND = f"SELECT * FROM orders WHERE id BETWEEN {BOUNDS}"


@pytest.fixture
def ten_million_orders(connection):
    """A table of ten million orders, one every 0.864 s."""
    moment = "timestamptz '2026-01-01 00:00+00' + n * interval '0.864 s'"
    query = f"SELECT gen_scru128({moment}) AS id, n FROM generate_series(0, {TEN_MILLION - 1}) AS n"
    connection.execute(f"CREATE UNLOGGED TABLE orders AS {query}")
    connection.execute("ALTER TABLE orders ADD PRIMARY KEY (id)")
    connection.execute("VACUUM (FREEZE, ANALYZE) orders")
    return connection


def buffers(connection, query: str) -> tuple[int, int]:
    """Returns the same as `touched`, for a plan whose only node is the index scan."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {query}")
    [node] = nodes(plans[0]["Plan"])
    assert (node["Node Type"], "Filter" in node) == ("Index Scan", False)
    return node["Actual Rows"], node["Shared Hit Blocks"] + node["Shared Read Blocks"]


def test_one_hour_of_ten_million_rows(ten_million_orders, measured):
    """A range touches no more pages than bounds written by hand. The planner estimates its rows within a factor of two,
    although the range has far fewer rows than a histogram bucket."""
    by_range, by_hand = buffers(ten_million_orders, BY_RANGE), buffers(ten_million_orders, BY_RANGE_BY_HAND)
    expected = estimate(ten_million_orders, BY_RANGE)
    measured(f"one hour: {by_range[0]} rows, {expected} expected; pages touched: {by_range[1]}, by hand: {by_hand[1]}")
    rows = sum(50 * 24 + 2 <= n * 0.864 / 3600 < 50 * 24 + 3 for n in range(TEN_MILLION))
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


# ----------------------------------------------------------------------------------------------- in place of created_at

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def orders_with_created_at(connection: psycopg.Connection) -> psycopg.Connection:
    """A table of 10,000 orders, one a minute, with a column `created_at`."""
    connection.execute(
        """CREATE TABLE orders (id scru128 PRIMARY KEY, note text, created_at timestamptz);
           INSERT INTO orders
               SELECT gen_scru128(at), 'note ' || n, at
               FROM generate_series(1, 10000) AS n,
                    CAST(timestamptz '2026-11-01' + n * interval '1 min' AS timestamptz) AS at;
           ANALYZE orders"""
    )
    return connection


def rows_of_table(page: str, heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without markup."""
    section = (DOCS / page).read_text().split(f"\n{heading}\n")[1]
    rows = re.findall(r"^\| (.*) \|$", section.split("\n## ")[0], re.MULTILINE)[1:]
    return [row.split(" | ") for row in rows]


def code(cell: str) -> list[str]:
    """Returns the pieces of code in a cell."""
    return re.findall(r"`([^`]*)`", cell)


def test_expressions_in_place_of_created_at(orders_with_created_at):
    """The expressions of the page return the same as those with the column."""
    rows = rows_of_table("query-by-time.md", "## In place of created_at")
    assert len(rows) == 6
    for by_column, by_id in rows:
        found = []
        for cell in by_column, by_id:
            expression = re.sub(r"\bt\b", "timestamptz '2026-11-03'", re.search("`([^`]*)`", cell)[1])
            if expression.startswith("ORDER BY"):
                query = f"SELECT note FROM orders {expression}"
            elif expression.startswith("max"):
                query = f"SELECT {expression} FROM orders"
            else:
                query = f"SELECT note, {expression} FROM orders ORDER BY note"
            found.append(query)
        with orders_with_created_at.transaction():
            by_column, by_id = (orders_with_created_at.execute(query).fetchall() for query in found)
        assert by_column == by_id, found


def test_expressions_without_an_operator(orders_with_created_at):
    """The expressions on the left of the page raise 42883, and those on the right do not."""
    rows = rows_of_table("errors.md", "## Operators and functions that do not exist")
    assert len(rows) == 8
    wrong = [text for cells in rows for text in code(cells[0])]
    right = [text for cells in rows for text in code(cells[1])]
    for text in wrong:
        if "$1" in text:
            text = f"(SELECT {text.replace('$1', 'NULL::interval')})"
        text = text.replace("…", "00000000-0000-0000-0000-000000000000")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            orders_with_created_at.execute(f"SELECT {text} FROM orders")
    for text in right:
        table = "(SELECT scru64_lower(created_at) AS id FROM orders) AS o" if "scru64" in text else "orders"
        text = text.replace("$1", "now()").replace("…", "00000000-0000-0000-0000-000000000000")
        text = re.sub(r"\b(t|a|b)\b(?= AND|$|\s)", "now()", text)
        orders_with_created_at.execute(f"SELECT {text} FROM {table}")
