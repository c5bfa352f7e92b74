"""The statistics that ANALYZE collects of the ticks in a column: a burst of IDs in one tick is a common time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from idtypes import SCRU128, IdType, each_type
from plans import estimate
from server import since

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=7)
ROWS = 10_000
BURST = 50
BURSTS = (2_000, 4_000, 9_000)

# The kinds of the slots in pg_statistic.
COMMON_TICKS = 15280
OTHER_IDS = 15281


def moment(number: float) -> str:
    return f"timestamptz '{BEGIN + STEP * number}'"


def ids(id_type: IdType) -> str:
    """Returns a query for 10,000 IDs, one every seven minutes, and half a histogram bucket more in each of three ticks.
    ANALYZE samples all of them."""
    time = f"{moment(0)} + n * interval '{STEP.total_seconds()} s'"
    burst = f"SELECT n, i FROM unnest(ARRAY{list(BURSTS)}) AS n, generate_series(2, {BURST}) AS i"
    rows = f"SELECT n, 1 AS i FROM generate_series(0, {ROWS - 1}) AS n UNION ALL {burst}"
    return f"SELECT {nth_of_tick(id_type, time, 'i')} AS id FROM ({rows}) AS rows"


def nth_of_tick(id_type: IdType, time: str, number: str) -> str:
    """Returns an expression for an ID: the largest ones of a tick, downwards."""
    if id_type.is_server_wide:
        return f"({id_type}_upper({time})::bigint - {number})::{id_type}"
    return f"gen_{id_type}({time})"


def slots(connection: psycopg.Connection, relation: str, inherited: bool = False) -> dict[int, tuple[str, list[float]]]:
    """Returns the values and the numbers of each kind of statistics of a relation's first column."""
    of_slots = ", ".join(f"(stakind{n}, stavalues{n}::text, stanumbers{n})" for n in range(1, 6))
    query = f"""SELECT slot.* FROM pg_statistic, LATERAL (VALUES {of_slots}) AS slot (kind, "values", numbers)
        WHERE starelid = '{relation}'::regclass AND staattnum = 1 AND stainherit = {inherited} AND kind <> 0"""
    return {kind: (values, numbers) for kind, values, numbers in connection.execute(query)}


@each_type
def test_the_common_ticks_and_a_histogram_of_the_other_ids(connection, id_type):
    connection.execute(f"CREATE TABLE own AS {ids(id_type)}; ANALYZE own")
    found = slots(connection, "own")
    values, fractions = found[COMMON_TICKS]
    firsts = [connection.execute(f"SELECT {id_type}_floor({moment(n)})::text").fetchone()[0] for n in BURSTS]
    assert values == "{" + ",".join(firsts) + "}"
    of_all = BURST / (ROWS + len(BURSTS) * (BURST - 1))
    assert fractions == pytest.approx([of_all] * len(BURSTS))
    bounds = f"SELECT {id_type}_timestamp(id) FROM unnest('{found[OTHER_IDS][0]}'::{id_type}[]) AS id"
    times = [time for (time,) in connection.execute(bounds)]
    assert len(times) == 101
    assert times == sorted(times)
    numbers = [round((time - BEGIN) / STEP) for time in times]
    assert (numbers[0], numbers[-1]) == (0, ROWS - 1)
    assert not set(numbers) & set(BURSTS)
    # The statistics of the server are complete, and its views do not show others.
    assert {1, 2, 3} & set(found) == {2, 3}
    view = "SELECT cardinality(histogram_bounds::text::text[]), most_common_vals, correlation IS NULL FROM pg_stats"
    assert connection.execute(f"{view} WHERE tablename = 'own'").fetchone() == (101, None, False)


COLUMNS = {
    "column": "CREATE TABLE own AS {ids}",
    "NULLs": "CREATE TABLE own AS {ids} UNION ALL SELECT NULL FROM generate_series(1, 5000)",
    "domain": "CREATE DOMAIN order_id AS {t}; CREATE TABLE own (id order_id); INSERT INTO own {ids}",
    "expression": "CREATE TABLE own AS {ids}; CREATE INDEX own_greatest ON own (greatest(id))",
    "child": "CREATE TABLE own (id {t}); CREATE TABLE child () INHERITS (own); INSERT INTO child {ids}",
    "partition": "CREATE TABLE own (id {t}) PARTITION BY HASH (id);"
    "CREATE TABLE child PARTITION OF own FOR VALUES WITH (MODULUS 1, REMAINDER 0); INSERT INTO own {ids}",
    "many statistics": "CREATE TABLE own AS {ids}; ALTER TABLE own ALTER id SET STATISTICS 10000",
}


@each_type
@pytest.mark.parametrize("column", COLUMNS)
def test_the_estimate_of_a_burst(connection, id_type, column):
    connection.execute(COLUMNS[column].format(t=id_type, ids=ids(id_type)))
    is_parent = column in ("child", "partition")
    connection.execute(f"ANALYZE own{', child' if is_parent else ''}")
    id_ = "greatest(id)" if column == "expression" else "id"

    def rows(low: float, high: float) -> int:
        return estimate(connection, f"SELECT FROM own WHERE {id_} >= {moment(low)} AND {id_} < {moment(high)}")

    # A single row before, the burst and its successor, and a day that ends before the burst.
    for burst in BURSTS:
        assert rows(burst - 1, burst) <= 5
        assert rows(burst - 0.5, burst + 0.5) == pytest.approx(BURST, abs=5)
        assert rows(burst - 200, burst) == pytest.approx(200, abs=5)
    assert rows(1_000, 9_500) == pytest.approx(8_500 + 3 * (BURST - 1), abs=10)
    relation = "own_greatest" if column == "expression" else "own"
    assert COMMON_TICKS in slots(connection, relation, inherited=is_parent)


@each_type
def test_an_id_within_a_common_tick_divides_its_rows(connection, id_type):
    """As for the next page of an import that has one time. A column of times has only a whole number of bursts."""
    within = nth_of_tick(id_type, moment(5_000), "n")
    connection.execute(
        f"""
        CREATE TABLE own AS {ids(id_type)} UNION ALL SELECT {within} FROM generate_series(1, 10000) AS n;
        ANALYZE own
        """
    )
    for part in 0.2, 0.5, 0.8:
        query = f"SELECT percentile_disc({part}) WITHIN GROUP (ORDER BY id)::text, count(*) FROM own"
        [(last, count)] = connection.execute(f"{query} WHERE id >= {moment(5_000)} AND id < {moment(5_000.5)}")
        actual = connection.execute(f"SELECT count(*) FROM own WHERE id > '{last}'").fetchone()[0]
        assert estimate(connection, f"SELECT FROM own WHERE id > '{last}'") == pytest.approx(actual, abs=count / 50)


@each_type
def test_few_ticks_are_all_common(connection, id_type):
    """An import of dates: each bound is estimated exactly."""
    time = f"{moment(0)} + n % 90 * interval '1 day'"
    connection.execute(
        f"CREATE TABLE own AS SELECT {nth_of_tick(id_type, time, 'n')} AS id FROM generate_series(1, 9000) AS n"
    )
    connection.execute("ANALYZE own")
    days = f"id >= {moment(0)} + interval '30 days' AND id < {moment(0)} + interval '37 days'"
    assert estimate(connection, f"SELECT FROM own WHERE {days}") == 700


@pytest.mark.parametrize(
    ("rows", "target"),
    [
        pytest.param("SELECT id FROM ids LIMIT 1000", 100, id="no two IDs in a tick"),
        pytest.param("SELECT id FROM ids, generate_series(1, 50) WHERE id < {early}", 100, id="common IDs"),
        pytest.param("SELECT NULL::scru128 AS id FROM ids", 100, id="only NULLs"),
        pytest.param("SELECT id FROM ids WHERE false", 100, id="no rows"),
        pytest.param("SELECT id FROM ids", 0, id="no statistics"),
    ],
)
def test_no_statistics_of_ticks(connection, rows, target):
    connection.execute(f"CREATE TEMP TABLE ids AS {ids(SCRU128)}")
    connection.execute(f"CREATE TABLE own AS {rows.format(early=moment(50))}")
    connection.execute(f"ALTER TABLE own ALTER id SET STATISTICS {target}")
    connection.execute("ANALYZE own")
    assert not {COMMON_TICKS, OTHER_IDS} & set(slots(connection, "own"))
    assert estimate(connection, f"SELECT FROM own WHERE id >= {moment(0)} AND id < {moment(1)}") >= 1


@each_type
def test_an_upgrade_changes_columns_and_domains(new_database, id_type):
    with new_database(extension=False).connect() as connection:
        connection.execute("CREATE EXTENSION scru VERSION '0.2.0'")
        connection.execute(f"CREATE DOMAIN order_id AS {id_type}; CREATE TABLE own (id order_id)")
        connection.execute(f"ALTER EXTENSION scru UPDATE; INSERT INTO own {ids(id_type)}; ANALYZE own")
        assert COMMON_TICKS in slots(connection, "own")


@since(18, "pg_dump --statistics")
def test_a_dump_of_statistics_has_those_of_the_server(server, new_database):
    """Estimates are those of the histogram until ANALYZE."""
    source, target = new_database(), new_database(extension=False)
    with source.connect() as connection:
        connection.execute(f"CREATE TABLE own AS {ids(SCRU128)}; ANALYZE own")
    server.psql(target.name, server.pg_dump(source.name, "--statistics"))
    with target.connect() as connection:
        assert set(slots(connection, "own")) == {2, 3}
        half = f"SELECT FROM own WHERE id < {moment(ROWS / 2)}"
        # The table has more pages after the restore, and the server assumes more rows in them.
        rows = estimate(connection, "SELECT FROM own")
        assert estimate(connection, half) == pytest.approx(rows / 2, rel=0.02)
        connection.execute("ANALYZE own")
        assert set(slots(connection, "own")) == {2, 3, COMMON_TICKS, OTHER_IDS}
