"""Query plans: what a test asks of the planner, and what it got."""

from __future__ import annotations

import psycopg


def explain(connection: psycopg.Connection, query: str) -> str:
    """The plan of a query, as text."""
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN (COSTS OFF) {query}"))


def analyze(connection: psycopg.Connection, query: str) -> dict:
    """The plan of a query that has been run, with what its nodes came to."""
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, FORMAT JSON) {query}")
    return plans[0]["Plan"]


def estimate(connection: psycopg.Connection, query: str) -> int:
    """How many rows the planner expects of a query."""
    [(plans,)] = connection.execute(f"EXPLAIN (FORMAT JSON) {query}")
    return plans[0]["Plan"]["Plan Rows"]


def nodes(plan: dict) -> list[dict]:
    """All nodes of a plan, from the top."""
    return [plan, *(node for child in plan.get("Plans", []) for node in nodes(child))]


def prefer_parallel_plans(connection: psycopg.Connection) -> None:
    """Makes parallel workers cost nothing."""
    for setting in "parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size":
        connection.execute(f"SET {setting} = 0")
    connection.execute("SET max_parallel_workers_per_gather = 4")
