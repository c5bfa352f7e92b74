"""Order across parallel workers: sorts, index builds and aggregates. The regression test `sort` has one process.

Skip scans (PostgreSQL 18 and newer) use that order: a condition on n can use an index on (id, n).
"""

from __future__ import annotations

import random

import psycopg

import expect
import plans
from idtypes import IdType, each_form, each_server_wide_type
from plans import analyze, explain, prefer_parallel_plans
from server import since

# ---------------------------------------------------------------------------------------------------------------- sorts


def crowded(id_type: IdType, count: int) -> list[int]:
    """Returns values that are hard to sort by abbreviated keys: random ones, and few timestamps, each with long runs of
    values in small or large steps, as bulk loads generate them."""
    source = random.Random(7)
    values = id_type.samples(count // 10, seed=8)
    while len(values) < count:
        timestamp = source.choice([0, 1, source.randrange(1 << 20), id_type.largest >> id_type.body_bits])
        base = timestamp << id_type.body_bits | source.randrange(1 << id_type.body_bits)
        step = 1 << source.choice([0, 8, id_type.body_bits * 2 // 5])
        run = (base + i * step for i in range(source.randrange(1, 2000)))
        values += [value for value in run if value <= id_type.largest]
    values = values[:count]
    # Sorted, reversed and unsorted parts: the first values decide whether the sort keeps abbreviated keys.
    third = count // 3
    values[:third] = sorted(values[:third])
    values[third : 2 * third] = sorted(values[third : 2 * third], reverse=True)
    return values


def load(connection, id_type: IdType, values: list[int]) -> None:
    """Creates a table with these values in this order, and two NULLs."""
    connection.execute(f"CREATE UNLOGGED TABLE ids (id {id_type.name})")
    with connection.cursor().copy("COPY ids FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["bytea"])
        for row in None, *map(id_type.binary, values), None:
            copy.write_row([row])
    connection.execute("ANALYZE ids")


def check_order(connection, id_type: IdType, values: list[int]) -> None:
    """Checks that the server returns the IDs in the order of their bytes, and NULLs after them."""
    ids = connection.execute("SELECT id::bytea FROM (SELECT id FROM ids ORDER BY id) AS t").fetchall()
    assert [id_ for (id_,) in ids] == [*map(id_type.binary, sorted(values)), None, None]


@each_form
def test_order_across_parallel_workers(connection, id_type):
    """Each worker sorts its part, and the leader merges the parts."""
    values = crowded(id_type, 100_000)
    load(connection, id_type, values)
    prefer_parallel_plans(connection)
    connection.execute("SET parallel_leader_participation = off")
    plan = analyze(connection, "SELECT id FROM ids ORDER BY id")
    assert plan["Node Type"] == "Gather Merge" and plan["Workers Launched"] >= 2
    check_order(connection, id_type, values)


@each_form
def test_an_index_is_in_order_whoever_builds_it(connection, id_type):
    """Builds indexes with several processes, each of which sorts a part of the table."""
    expect.install_amcheck(connection)
    values = crowded(id_type, 100_000)
    load(connection, id_type, values)
    connection.execute("SET max_parallel_maintenance_workers = 4; SET min_parallel_table_scan_size = 0")
    connection.execute("SET maintenance_work_mem = '256MB'")
    connection.execute("CREATE INDEX ids_id ON ids (id)")
    connection.execute("CREATE INDEX ids_desc ON ids (id DESC NULLS LAST)")
    for index in "ids_id", "ids_desc":
        expect.intact(connection, index)
    connection.execute("VACUUM ANALYZE ids")
    connection.execute("SET enable_seqscan = off; SET enable_sort = off")
    assert "Index Only Scan" in explain(connection, "SELECT id FROM ids ORDER BY id")
    check_order(connection, id_type, values)


# ----------------------------------------------------------------------------------------------------------- skip scans

ROWS = 20_000


def create_table(connection: psycopg.Connection, name: str, column: str, ids: list[str]) -> None:
    """Creates a table with few IDs and many values of n, and its index."""
    connection.execute(f"CREATE TABLE {name} (id {column}, n int)")
    connection.execute(
        f"INSERT INTO {name} SELECT ids[1 + n %% %s], n"
        f" FROM generate_series(1, {ROWS}) AS n, (SELECT %s::{column}[] AS ids)",
        [len(ids), ids],
    )
    connection.execute(f"INSERT INTO {name} SELECT NULL, n FROM generate_series(1, {ROWS}, 10) AS n")
    connection.execute(f"CREATE INDEX {name}_id_n ON {name} (id, n)")
    connection.execute(f"VACUUM ANALYZE {name}")


def searches(connection: psycopg.Connection, query: str) -> int:
    """Returns the number of index searches of a query, which must use an index-only scan."""
    scans = [node for node in plans.nodes(plans.analyze(connection, query)) if "Index Searches" in node]
    assert [scan["Node Type"] for scan in scans] == ["Index Only Scan"]
    return scans[0]["Index Searches"]


def texts_and_numbers(id_type: IdType) -> tuple[list[str], list[str]]:
    """Returns the texts of consecutive IDs and of both ends of the type's range, and their numbers for bigint."""
    middle = id_type.largest // 2
    values = [0, 1, *range(middle, middle + 5), id_type.largest - 1, id_type.largest]
    return [*map(id_type.text, values)], [*map(str, values)]


# Conditions for the queries on both tables. The placeholders stand for two IDs or two numbers.
CONDITIONS = (
    "n = 777",
    "n IN (777, 1777, 19777)",
    "n BETWEEN 777 AND 780",
    "id >= '{first}' AND n = 777",
    "id > '{first}' AND id < '{last}' AND n = 777",
    "id <= '{last}' AND n < 20",
    "id IS NOT NULL AND n = 777",
)


@since(18, "skip support")
@each_server_wide_type
def test_an_index_skips_ids_as_it_does_numbers(connection, id_type):
    texts, numbers = texts_and_numbers(id_type)
    create_table(connection, "orders", id_type.name, texts)
    create_table(connection, "baseline", "bigint", numbers)
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0")
    for condition in CONDITIONS:
        for order in "ASC", "DESC":
            query = f"SELECT n FROM {{}} WHERE {condition} ORDER BY id {order}, n {order}"
            asked = query.format("orders", first=texts[2], last=texts[-2])
            of_baseline = query.format("baseline", first=numbers[2], last=numbers[-2])
            assert searches(connection, asked) == searches(connection, of_baseline), asked
            assert connection.execute(asked).fetchall() == connection.execute(of_baseline).fetchall()
