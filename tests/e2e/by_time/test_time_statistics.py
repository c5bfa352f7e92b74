"""The statistics of times that ANALYZE collects of a column of IDs, where a burst of IDs in one tick is a common time,
and the estimates that they give."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from plans import estimate
from test_estimates import each_type, nth_of_tick

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=7)
BURST = 50
BURSTS = (2_000, 4_000, 9_000)

# The kinds of the slots in pg_statistic.
COMMON_TIMES = 15282
TIMES = 15283


def moment(number: float) -> str:
    return f"timestamptz '{BEGIN + STEP * number}'"


def ids(system: str) -> str:
    """Returns a query for 10,000 IDs, one every seven minutes, and half a histogram bucket more in each of three ticks.
    ANALYZE samples all of them."""
    time = f"{moment(0)} + n * interval '{STEP.total_seconds()} s'"
    burst = f"SELECT n, i FROM unnest(ARRAY{list(BURSTS)}) AS n, generate_series(2, {BURST}) AS i"
    rows = f"SELECT n, 1 AS i FROM generate_series(0, 9999) AS n UNION ALL {burst}"
    return f"SELECT {nth_of_tick(system, time, 'i')} AS id FROM ({rows}) AS rows"


def slots(connection: psycopg.Connection, relation: str, inherited: bool = False) -> dict[int, tuple[str, list[float]]]:
    """Returns the values and the numbers of each kind of statistics of a relation's first column."""
    of_slots = ", ".join(f"(stakind{n}, stavalues{n}::text, stanumbers{n})" for n in range(1, 6))
    query = f"""SELECT slot.* FROM pg_statistic, LATERAL (VALUES {of_slots}) AS slot (kind, "values", numbers)
        WHERE starelid = '{relation}'::regclass AND staattnum = 1 AND stainherit = {inherited} AND kind <> 0"""
    return {kind: (values, numbers) for kind, values, numbers in connection.execute(query)}


@each_type
def test_the_statistics_of_the_times_are_those_of_a_column(connection, system):
    connection.execute(f"CREATE TABLE own AS {ids(system)}; ALTER TABLE own ADD at timestamptz")
    connection.execute("UPDATE own SET at = id::timestamptz; ANALYZE own")
    found = slots(connection, "own")
    columns = "most_common_vals::text, most_common_freqs, histogram_bounds::text, n_distinct"
    [twin] = connection.execute(f"SELECT {columns} FROM pg_stats WHERE tablename = 'own' AND attname = 'at'")
    assert (*found[COMMON_TIMES], found[TIMES][0], *found[TIMES][1]) == twin
    assert len(twin[1]) == len(BURSTS)
    # The statistics of the server are complete, and its views do not show others.
    assert {1, 2, 3} & set(found) == {2, 3}
    view = "SELECT cardinality(histogram_bounds::text::text[]), most_common_vals, correlation IS NULL FROM pg_stats"
    assert connection.execute(f"{view} WHERE tablename = 'own' AND attname = 'id'").fetchone() == (101, None, False)


# Rows in equal batches, each a whole number of ticks after the other: the number of batches, and of rows. ANALYZE
# samples about 150 rows of the smallest repeated ones: fewer than 60 in one of 10^17 runs.
BATCH = "interval '64 min'"
BATCHES = {"few": (50, 240_000), "more": (120, 240_000), "many": (200, 240_000), "single rows": (50_000, 50_000)}
# Conditions and joins on the times, and what they find: {t} is one of the times.
EQUAL = {
    "constant": "SELECT FROM v WHERE created_at = {t}",
    "clock": "SELECT FROM v WHERE created_at = now() - (now() - {t})",
    "parameter": "EXECUTE one ({t})",
    "date": "SELECT FROM v WHERE created_at = ({t} AT TIME ZONE current_setting('timezone'))",
    "IN": "SELECT FROM v WHERE created_at IN ({t}, {t} + {batch})",
    "IS TRUE": "SELECT FROM v WHERE (created_at = {t}) IS TRUE",
    "ALL": "SELECT FROM v WHERE created_at > ALL (ARRAY[{t}])",
    "join": "SELECT FROM v JOIN v AS o USING (created_at)",
    "join of one": "SELECT FROM v JOIN v AS o USING (created_at) WHERE v.created_at = {t}",
    "groups": "SELECT FROM v GROUP BY created_at",
}


@each_type
@pytest.mark.parametrize("batches", BATCHES)
def test_estimates_of_equal_times(connection, system, batches):
    """As dates that are migrated without a time: within a factor of 3 of the true number."""
    count, rows = BATCHES[batches]
    time = f"{moment(0)} + n % {count} * {BATCH}"
    query = f"SELECT {nth_of_tick(system, time, f'n / {count}')} AS id FROM generate_series(1, {rows}) AS n"
    connection.execute(f"CREATE TABLE own AS {query}; CREATE INDEX ON own (id); ANALYZE own")
    connection.execute("CREATE VIEW v AS SELECT id, id::timestamptz AS created_at FROM own")
    connection.execute("PREPARE one (timestamptz) AS SELECT FROM v WHERE created_at = $1")
    connection.execute("SET plan_cache_mode = force_generic_plan")
    each = rows / count
    true = {"IN": 2 * each, "ALL": (count - 31) * each, "join": each * rows, "join of one": each**2, "groups": count}
    for name, text in EQUAL.items():
        found = estimate(connection, text.format(t=f"({moment(0)} + 30 * {BATCH})", batch=BATCH))
        assert true.get(name, each) / 3 <= found <= true.get(name, each) * 3, name
    # If all ticks are common, so are the rows of several.
    if batches == "few":
        week = f"id >= {moment(0)} + 7 * {BATCH} AND id < {moment(0)} + 14 * {BATCH}"
        assert estimate(connection, f"SELECT FROM own WHERE {week}") == pytest.approx(7 * each, rel=0.1)


COLUMNS = {
    "column": "CREATE TABLE own AS {ids}",
    "NULLs": "CREATE TABLE own AS {ids} UNION ALL SELECT NULL FROM generate_series(1, 5000)",
    "domain": "CREATE DOMAIN order_id AS {t}; CREATE TABLE own (id order_id); INSERT INTO own {ids}",
    "expression": "CREATE TABLE own AS {ids}; CREATE INDEX own_greatest ON own (greatest(id))",
    "child": "CREATE TABLE own (id {t}); CREATE TABLE child () INHERITS (own); INSERT INTO child {ids}",
    "partition": "CREATE TABLE own (id {t}) PARTITION BY HASH (id);"
    "CREATE TABLE child PARTITION OF own FOR VALUES WITH (MODULUS 1, REMAINDER 0); INSERT INTO own {ids}",
    # The most common IDs, each 200 times, are the first ten.
    "foreign key": "CREATE TABLE own AS {ids}"
    " UNION ALL (SELECT id FROM ({ids}) AS ids, generate_series(1, 199) ORDER BY id LIMIT 1990)",
    "many statistics": "CREATE TABLE own AS {ids}; ALTER TABLE own ALTER id SET STATISTICS 10000",
}


@each_type
@pytest.mark.parametrize("column", COLUMNS)
def test_the_estimate_of_a_burst(connection, system, column):
    connection.execute(COLUMNS[column].format(t=system, ids=ids(system)))
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
    found = slots(connection, "own_greatest" if column == "expression" else "own", inherited=is_parent)
    assert COMMON_TIMES in found
    if column == "foreign key":
        assert 1 in found
        for first, last in (0, 10), (4, 7):
            assert rows(first, last) == pytest.approx(200 * (last - first), rel=0.02)


@each_type
def test_an_id_within_a_common_tick_divides_its_rows(connection, system):
    """As for the next page of an import that has one time. A column of times has only a whole number of bursts."""
    within = nth_of_tick(system, moment(5_000), "n")
    query = f"{ids(system)} UNION ALL SELECT {within} FROM generate_series(1, 10000) AS n"
    connection.execute(f"CREATE TABLE own AS {query}; ANALYZE own")
    for part in 0.2, 0.5, 0.8:
        query = f"SELECT percentile_disc({part}) WITHIN GROUP (ORDER BY id)::text, count(*) FROM own"
        [(last, count)] = connection.execute(f"{query} WHERE id >= {moment(5_000)} AND id < {moment(5_000.5)}")
        actual = connection.execute(f"SELECT count(*) FROM own WHERE id > '{last}'").fetchone()[0]
        assert estimate(connection, f"SELECT FROM own WHERE id > '{last}'") == pytest.approx(actual, abs=count / 50)


@pytest.mark.parametrize(
    ("rows", "target"), [("SELECT NULL::scru128 AS id FROM ids", 100), ("TABLE ids LIMIT 0", 100), ("TABLE ids", 0)]
)
def test_no_statistics_of_times(connection, rows, target):
    """Of a column with NULLs only, of an empty table, and without a statistics target."""
    connection.execute(
        f"""CREATE TEMP TABLE ids AS {ids("scru128")}; CREATE TABLE own AS {rows};
            ALTER TABLE own ALTER id SET STATISTICS {target}; ANALYZE own"""
    )
    assert not {COMMON_TIMES, TIMES} & set(slots(connection, "own"))
    assert estimate(connection, f"SELECT FROM own WHERE id >= {moment(0)} AND id < {moment(1)}") >= 1
