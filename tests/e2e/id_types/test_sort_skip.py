"""Skip scans (PostgreSQL 18 and newer): a condition on n can use an index on (id, n)."""

from __future__ import annotations

import psycopg

import plans
from idtypes import IdType, each_server_wide_type
from server import since

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
    """Returns the texts of consecutive IDs and of both ends of the type's range, and numbers like these for bigint."""
    middle = id_type.largest // 2
    neighbors = range(middle, middle + 5)
    ids = [0, 1, *neighbors, id_type.largest - 1, id_type.largest]
    numbers = [-(2**63), 1 - 2**63, *neighbors, 2**63 - 2, 2**63 - 1]
    return [id_type.text(value) for value in ids], [str(number) for number in numbers]


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


@since(18, "skip support")
@each_server_wide_type
def test_without_its_support_a_skip_costs_more(database, id_type):
    """Without skip support a query needs more index searches, so the counts of the test above are meaningful."""
    texts, _ = texts_and_numbers(id_type)
    query = "SELECT n FROM orders WHERE id IS NOT NULL AND n = 777 ORDER BY id, n"
    with database.connect() as connection:
        create_table(connection, "orders", id_type.name, texts)
        with_support = searches(connection, query)
        name = id_type.name
        connection.execute(f"ALTER OPERATOR FAMILY {name}_ops USING btree DROP FUNCTION 6 ({name}, {name})")
    with database.connect() as connection:
        assert searches(connection, query) > with_support
