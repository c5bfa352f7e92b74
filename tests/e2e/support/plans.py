"""Query plans, as text or as nodes."""

from __future__ import annotations

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


def create_planning_times(connection: psycopg.Connection) -> None:
    """Creates a function that plans each query `repetitions` times in a row, in `turns` rounds.

    It returns a row for each round: the milliseconds of each query.
    """
    connection.execute(
        """CREATE OR REPLACE FUNCTION planning_times(queries text[], turns integer, repetitions integer)
        RETURNS SETOF float[] LANGUAGE plpgsql AS $$
        DECLARE
            plan json;
            times float[];
        BEGIN
            FOR turn IN 1 .. turns LOOP
                times := array_fill(0::float, ARRAY[cardinality(queries)]);
                FOR number IN 1 .. cardinality(queries) LOOP
                    FOR repetition IN 1 .. repetitions LOOP
                        EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || queries[number] INTO plan;
                        times[number] := times[number] + (plan -> 0 ->> 'Planning Time')::float;
                    END LOOP;
                END LOOP;
                RETURN NEXT times;
            END LOOP;
        END $$"""
    )
