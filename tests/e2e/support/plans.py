"""Query plans, as text or as nodes, and their costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median

import psycopg


def explain(connection: psycopg.Connection, query: str) -> str:
    """Returns the plan of a query as text."""
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN (COSTS OFF) {query}"))


def analyze(connection: psycopg.Connection, query: str) -> dict:
    """Executes a query, and returns its plan with the actual row counts."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, FORMAT JSON) {query}")
    return plans[0]["Plan"]


def estimate(connection: psycopg.Connection, query: str) -> int:
    """Returns the planner's estimate of the number of rows of a query."""
    [(plans,)] = connection.execute(f"EXPLAIN (FORMAT JSON) {query}")
    return plans[0]["Plan"]["Plan Rows"]


def nodes(plan: dict) -> list[dict]:
    """Returns all nodes of a plan, parents before their children."""
    return [plan, *(node for child in plan.get("Plans", []) for node in nodes(child))]


def prefer_parallel_plans(connection: psycopg.Connection) -> None:
    """Makes the planner assume that parallel workers cost nothing, and allows four of them."""
    for setting in "parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size":
        connection.execute(f"SET {setting} = 0")
    connection.execute("SET max_parallel_workers_per_gather = 4")


def planning_time(connection: psycopg.Connection, query: str) -> float:
    """Returns the time in which a query is planned, in milliseconds."""
    return connection.execute(f"EXPLAIN (SUMMARY, FORMAT JSON) {query}").fetchone()[0][0]["Planning Time"]


def execution_time(connection: psycopg.Connection, query: str) -> float:
    """Returns the time in which a query is executed, in milliseconds."""
    explain = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)"
    return connection.execute(f"{explain} {query}").fetchone()[0][0]["Execution Time"]


def assert_costs(
    measured: Callable[[str], None],
    dsn: str,
    pairs: dict[str, tuple[str, str]],
    cost: Callable[[psycopg.Connection, str], float],
    limit: float,
    turns: int,
    setup: str = "RESET ALL",
) -> None:
    """Asserts that the query by ID of each pair costs at most `limit` times as much as that by a column of times.

    Compares alternating runs. Repeats slow pairs in a new session, because the speed also depends on the addresses of
    its memory.
    """
    ratios = dict.fromkeys(pairs, math.inf)
    for _ in range(3):
        with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as session:
            session.execute(setup)
            for name in [name for name, ratio in ratios.items() if ratio > limit]:
                costs = [[cost(session, query) for query in pairs[name]] for _ in range(turns)]
                ratios[name] = median(by_id / by_time for by_id, by_time in costs)
    slowest = max(ratios, key=ratios.get)
    measured(f"{slowest}: {ratios[slowest]:.3f} of the cost with a column of times")
    assert ratios[slowest] <= limit
