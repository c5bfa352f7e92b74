"""Row estimates of conditions on an ID, compared with those of the same conditions on a `timestamptz` column."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from plans import assert_costs, estimate, nodes, planning_time
from server import Server

RANGES = 12
ROWS = 50_000
END = datetime.now(UTC).replace(microsecond=0)
SPAN = timedelta(days=90)

# Distributions of the times, as SQL expressions of the row number n, from 0 to 1 within SPAN.
DISTRIBUTIONS = {
    "uniform": (ROWS, "n / {rows}.0"),
    # A tenth of the rows is in 40 bursts in one tick, each a quarter of a histogram bucket.
    "bursty": (ROWS, "CASE WHEN n % 10 = 0 THEN (n::bigint * 40 / {rows}) / 40.0 ELSE n / {rows}.0 END"),
    "gap": (ROWS, "CASE WHEN n * 2 < {rows} THEN n * 0.5 / {rows} ELSE 0.5 + n * 0.5 / {rows} END"),
    "small": (1_000, "n / {rows}.0"),
}

# Conditions: by the ID, by the column. {a} and {b} are timestamptz literals, {ago_a} and {ago_b} intervals before END.
FORMS = {
    "since": ("id >= {a}", "at >= {a}"),
    "until": ("id <= {b}", "at <= {b}"),
    "two": ("id >= {a} AND id < {b}", "at >= {a} AND at < {b}"),
    "exclusive": ("{b} >= id AND {a} < id", "{b} >= at AND {a} < at"),
    "between": ("id BETWEEN {a} AND {b}", "at BETWEEN {a} AND {b}"),
    "not": ("NOT id >= {a}", "NOT at >= {a}"),
    "looser bounds": ("id > {a} AND id < {b} AND id > {z} AND id < now()", "at > {a} AND at < {b}"),
    "range": ("id <@ tstzrange({a}, {b})", "at >= {a} AND at < {b}"),
    "range by the clock": ("id <@ tstzrange(now() - {ago_a}, now() - {ago_b})", "at >= {a} AND at < {b}"),
    "two ranges": ("id <@ tstzrange({a}, NULL) AND id <@ tstzrange(NULL, {b})", "at >= {a} AND at < {b}"),
    "range and comparison": ("id <@ tstzrange({a}, NULL) AND id < {b}", "at >= {a} AND at < {b}"),
    "bounds": ("id >= {t}_lower({a}) AND id <= {t}_upper({b})", "at >= {a} AND at <= {b}"),
    "keyset": ("id > '{id_a}' AND id < '{id_b}'", "at > {a} AND at < {b}"),
    "last page": ("id > '{id_a}'", "at > {a}"),
    "clock": ("id >= now() - {ago_a} AND id < now() - {ago_b}", "at >= now() - {ago_a} AND at < now() - {ago_b}"),
    "setting": ("id >= {stable_a} AND id < {stable_b}", "at >= {stable_a} AND at < {stable_b}"),
    "subquery": ("id >= (SELECT {a}) AND id < (SELECT {b})", "at >= (SELECT {a}) AND at < (SELECT {b})"),
    "or": ("id >= {a} AND id < {b} OR n = 7", "at >= {a} AND at < {b} OR n = 7"),
    "any": ("id < {b} AND id >= ANY (ARRAY[{a}, {b}])", "at < {b} AND at >= ANY (ARRAY[{a}, {b}])"),
    "all": ("id < {b} AND id >= ALL (ARRAY[{z}, {a}])", "at < {b} AND at >= ALL (ARRAY[{z}, {a}])"),
    "or within": ("(id >= {a} OR n = 7) AND id < {b}", "(at >= {a} OR n = 7) AND at < {b}"),
}
# Queries with several tables or a partitioned one: the tables and columns for a condition on x.
TABLES = {
    "outer join": "{table} AS o LEFT JOIN {table} AS p ON p.n = o.n AND {condition} WHERE p.n IS NULL",
    "join": "{table} AS o JOIN {table} AS p USING (n) WHERE {condition} AND {condition_of_p}",
    "partitions": "{table}_parts AS o WHERE {condition}",
    "no statistics": "{table}_new AS o WHERE {condition}",
}
SQL = "SELECT * FROM {table} AS o WHERE {condition}"

# A type passed by value, whose tick has 256 ms, one passed by reference, and a type of the server.
SYSTEMS = ["scru64", "scru128", "uuidv7"]
each_system = pytest.mark.parametrize("system", SYSTEMS)
each_type = pytest.mark.parametrize("system", SYSTEMS[:2])


@pytest.fixture(scope="module")
def orders() -> Iterator[psycopg.Connection]:
    """For each system and distribution, a table with an ID, its time and a number."""
    with Server({"autovacuum": "off"}) as server, server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        for system in SYSTEMS:
            for name, (rows, position) in DISTRIBUTIONS.items():
                create(connection, system, f"{system}_{name}", rows, position)
        yield connection


def nth_of_tick(system: str, time: str, number: str) -> str:
    """Returns an expression for an ID: the largest ones of a tick, downwards, or random ones."""
    return f"(scru64_upper({time})::bigint - ({number}))::scru64" if system == "scru64" else f"gen_{system}({time})"


def create(connection: psycopg.Connection, system: str, table: str, rows: int, position: str) -> None:
    """Creates a table, a copy partitioned by hash, and a copy without statistics."""
    moment = f"timestamptz '{END - SPAN}' + interval '{SPAN.total_seconds()} s' * ({position.format(rows=rows)})"
    connection.execute(
        f"""
        CREATE UNLOGGED TABLE {table} AS
            SELECT {nth_of_tick(system, "at", "n")} AS id, at, n
            FROM generate_series(0, {rows - 1}) AS n, CAST({moment} AS timestamptz) AS at;
        CREATE INDEX ON {table} (id);
        CREATE INDEX ON {table} (at);
        ANALYZE {table}
        """
    )
    if rows > 1_000:
        return
    connection.execute(
        f"""
        CREATE TABLE {table}_new AS TABLE {table};
        CREATE TABLE {table}_parts (LIKE {table}) PARTITION BY HASH (n);
        CREATE TABLE {table}_part_0 PARTITION OF {table}_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE {table}_part_1 PARTITION OF {table}_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        INSERT INTO {table}_parts TABLE {table};
        ANALYZE {table}_parts, {table}_part_0, {table}_part_1
        """
    )


def conditions(connection: psycopg.Connection, system: str, form: str, a: datetime, b: datetime) -> tuple[str, str]:
    """Returns a form of a condition for a range of time, by the ID and by the column. Sets what the form refers to."""
    connection.execute("SELECT set_config('test.a', %s, false), set_config('test.b', %s, false)", [str(a), str(b)])
    [(now,)] = connection.execute("SELECT now()")
    values = {
        "t": system,
        "a": f"timestamptz '{a}'",
        "b": f"timestamptz '{b}'",
        "z": f"timestamptz '{END - 2 * SPAN}'",
        "ago_a": f"interval '{(now - a) / timedelta(microseconds=1):.0f} microseconds'",
        "ago_b": f"interval '{(now - b) / timedelta(microseconds=1):.0f} microseconds'",
        "stable_a": "current_setting('test.a')::timestamptz",
        "stable_b": "current_setting('test.b')::timestamptz",
    }
    bounds = f"SELECT {system}_lower({values['a']})::text, {system}_lower({values['b']})::text"
    [(values["id_a"], values["id_b"])] = connection.execute(bounds)
    return tuple(condition.format(**values) for condition in FORMS[form])


def ranges(source: random.Random, count: int) -> Iterator[tuple[datetime, datetime]]:
    """Returns random ranges of time. Their widths are from a millisecond to the whole table, on a logarithmic scale."""
    for _ in range(count):
        width = timedelta(milliseconds=(SPAN / timedelta(milliseconds=1)) ** source.random())
        start = END - SPAN + (SPAN - width) * source.random()
        yield start, start + width


def is_close(by_id: float, by_time: float) -> bool:
    """Returns whether two estimates are within a factor of 1.5 of each other, or within 5 rows."""
    return abs(by_id - by_time) <= 5 or max(by_id, by_time) <= 1.5 * min(by_id, by_time)


def differences(
    orders: psycopg.Connection, system: str, forms: list[str], count: int, rows: Callable[[str], float]
) -> list[tuple]:
    """Returns the conditions for which `rows` has a different number by the ID than by the column, and both numbers."""
    source, found = random.Random(f"{system} {forms}"), []
    with orders.transaction():
        for form in forms:
            for a, b in ranges(source, count):
                of_both = [rows(condition) for condition in conditions(orders, system, form, a, b)]
                if not is_close(*of_both):
                    found.append((form, a, b, *of_both))
    return found


# The operands of these forms are two uuids, whose comparisons have the server's estimator.
OF_UUIDS = {"bounds", "keyset", "last page"}


# A column of a core type has no statistics of ticks: its estimates of bursts are the server's.
@pytest.mark.parametrize(
    ("system", "distribution"),
    [pair for pair in itertools.product(SYSTEMS, DISTRIBUTIONS) if pair != ("uuidv7", "bursty")],
)
def test_estimates_are_as_good_as_those_of_times(orders, system, distribution):
    table = f"{system}_{distribution}"
    forms = [form for form in FORMS if system != "uuidv7" or form not in OF_UUIDS]
    different = differences(
        orders, system, forms, RANGES, lambda condition: estimate(orders, SQL.format(table=table, condition=condition))
    )
    assert different == []


@pytest.mark.parametrize(
    ("system", "tables"),
    [pair for pair in itertools.product(SYSTEMS, TABLES) if pair != ("uuidv7", "partitions")],
)
def test_estimates_of_other_tables(orders, system, tables):
    """Partitioned parents, joins, and tables without statistics."""
    forms = ["since", "two", "between", "clock", "setting"]
    forms += ["keyset"] if system != "uuidv7" else []
    forms += ["range"] if tables != "no statistics" else []

    def rows(condition: str) -> int:
        of_o, of_p = (re.sub(r"\b(id|at) ", rf"{alias}.\1 ", condition) for alias in "op")
        query = TABLES[tables].format(table=f"{system}_small", condition=of_o, condition_of_p=of_p)
        return estimate(orders, f"SELECT * FROM {query}")

    assert differences(orders, system, forms, RANGES // 4, rows) == []


@pytest.mark.parametrize("times", [("$1", "$1", "$2"), ("now()", "now()", "transaction_timestamp()")])
def test_two_conditions_with_one_time(orders, times):
    """The index conditions that the planner derives from both are told apart."""
    first, *others = times
    costs = set()
    for other in others:
        query = f"SELECT FROM scru128_uniform WHERE id >= {first} AND id < {other} AND $1 < $2"
        with orders.transaction(force_rollback=True):
            orders.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            orders.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
            orders.execute(f"PREPARE of_day (timestamptz, timestamptz) AS {query}")
            costs.add(orders.execute("EXPLAIN EXECUTE of_day (now(), now())").fetchone())
            orders.execute("DEALLOCATE of_day")
    assert len(costs) == 1


@each_type
@pytest.mark.parametrize("access_method", ["btree", "brin"])
def test_estimates_of_index_conditions(orders, system, access_method):
    """The index conditions that the planner derives from a condition have its estimate."""
    table = f"{system}_uniform"

    def rows(condition: str) -> int:
        [(plans,)] = orders.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {table} WHERE {condition}")
        [scan] = [node for node in nodes(plans[0]["Plan"]) if node["Node Type"] == "Bitmap Index Scan"]
        return scan["Plan Rows"]

    with orders.transaction(force_rollback=True):
        if access_method == "brin":
            orders.execute(f"DROP INDEX {table}_id_idx, {table}_at_idx")
            orders.execute(f"CREATE INDEX ON {table} USING brin (id); CREATE INDEX ON {table} USING brin (at)")
        orders.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        orders.execute("SET LOCAL enable_indexonlyscan = off")
        forms = ["two", "between", "range", "range by the clock", "range and comparison", "clock", "setting"]
        different = differences(orders, system, forms, RANGES, rows)
    # BRIN counts rows of whole block ranges, but none for a range that begins and ends in one tick.
    tick = timedelta(milliseconds=256 if system == "scru64" else 1)
    assert [each for each in different if each[3] != 1 or each[2] - each[1] >= tick] == []


@pytest.mark.alone
@pytest.mark.parametrize("count", [1, 2, 10, 400])
def test_planning_takes_no_longer_than_for_times(orders, measured, count):
    """The planning time grows linearly with the number of conditions. Compares alternating runs."""
    moments = [f"timestamptz '{END - SPAN + SPAN * number / 1000}'" for number in range(count)]
    queries = []
    for column in ("id", "at"):
        tests = [f"{column} {'<' if number % 2 else '>='} {moment}" for number, moment in enumerate(moments)]
        queries.append(f"SELECT * FROM scru128_uniform WHERE {' AND '.join(tests)}")
    turns = 1_000 if count < 100 else 60
    assert_costs(measured, orders.info.dsn, {f"planning {count} conditions": queries}, planning_time, 1.25, turns)


@each_system
@pytest.mark.parametrize("key", ["RANGE (id)", "RANGE (n)", "LIST (n)", "HASH (id)"])
def test_a_join_with_a_range(connection, system, key):
    """The estimate of a join is that of a range of another table with a time, whatever the partitions are."""
    part = "DEFAULT" if "HASH" not in key else "FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
    connection.execute(
        f"""
        CREATE EXTENSION scru_uuidv7;
        CREATE TABLE own (id {"uuid" if system == "uuidv7" else system}, at timestamptz, n int) PARTITION BY {key};
        CREATE TABLE part PARTITION OF own {part};
        INSERT INTO own SELECT {system}_lower(now()), now(), n FROM generate_series(1, 10000) AS n;
        CREATE TABLE ranges AS SELECT tstzrange(now(), now() + interval '1 hour') AS r FROM generate_series(1, 1000);
        ANALYZE own, part, ranges
        """
    )
    for by_id, by_time in ("id <@ r", "at <@ r"), ("r @> id", "r @> at"), ("id >= lower(r)", "at >= lower(r)"):
        found = [estimate(connection, f"SELECT FROM ranges JOIN own ON {each}") for each in (by_id, by_time)]
        assert is_close(*found), (by_id, found)


BY_CLOCK = "at >= now() - interval '{n} min 1 s' AND at < now() - interval '{n} min'"
TEN = " AND ".join(f"n <> {-number}" for number in range(1, 11))
# Arms of an OR: by the ID, by the column, their number, and the rest of the query. {a} and {b} are times, {n} is the
# number of the arm.
OR_FORMS = {
    "constants": ("id >= {a} AND id < {b}", "at >= {a} AND at < {b}", 16_000, "{}"),
    "ten conditions": ("id >= {a} AND id < {b}", "at >= {a} AND at < {b}", 4_000, f"{TEN} AND ({{}})"),
    "clock": ("id <@ tstzrange(now() - interval '{n} min 1 s', now() - interval '{n} min')", BY_CLOCK, 4_000, "{}"),
    "two comparisons with the clock": (BY_CLOCK.replace("at ", "id "), BY_CLOCK, 4_000, "{}"),
}
OF_LONG_ORS = "SET max_stack_depth = '6MB'; SET jit = off"


def condition_of(arm: str, count: int, rest: str) -> str:
    """Returns an OR with that many arms, and the rest of the condition."""
    times = [f"timestamptz '{END - SPAN + SPAN * n / (2 * count)}'" for n in range(2 * count)]
    parts = (arm.format(a=times[2 * n], b=times[2 * n + 1], n=n) for n in range(count))
    return rest.format(" OR ".join(parts))


@pytest.mark.alone
@pytest.mark.parametrize("form", OR_FORMS)
def test_planning_of_a_long_or_is_linear(orders, measured, form):
    """Planning an OR of thousands of ranges takes at most twice the time that it takes for a column of times."""
    *arms, count, rest = OR_FORMS[form]
    queries = [f"SELECT FROM scru128_uniform WHERE {condition_of(arm, count, rest)}" for arm in arms]
    pairs = {f"planning an OR of {count} ranges, {form}": queries}
    assert_costs(measured, orders.info.dsn, pairs, planning_time, 2, turns=5, setup=OF_LONG_ORS)


@pytest.mark.parametrize("form", OR_FORMS)
def test_the_memory_of_a_long_or(orders, measured, form):
    """Planning an OR of thousands of ranges takes at most twice the memory that it takes for a column of times."""
    by_id, by_time, arms, rest = OR_FORMS[form]
    # The query and its plan are in this context, with all that the planner has not freed.
    context = "SELECT total_bytes FROM pg_backend_memory_contexts WHERE name = 'MessageContext'"
    with psycopg.connect(orders.info.dsn, autocommit=True) as session:
        session.execute(OF_LONG_ORS)

        def megabytes(arm: str) -> float:
            exists = f"EXISTS (SELECT FROM scru128_uniform WHERE {condition_of(arm, arms, rest)})"
            return session.execute(f"SELECT ({context}), {exists}").fetchone()[0] / 1e6

        of_id, of_time = megabytes(by_id), megabytes(by_time)
    measured(f"memory of an OR of {arms} ranges, {form}: {of_id:.0f} MB, of a column of times {of_time:.0f} MB")
    assert of_id <= 2 * of_time


@each_system
@pytest.mark.parametrize("form", ["clock", "two comparisons with the clock"])
def test_the_estimate_of_many_short_ranges(orders, system, form):
    """The estimate of each range is less than a row, and so must be its error."""
    *arms, _, rest = OR_FORMS[form]
    queries = (f"SELECT FROM {system}_uniform WHERE {condition_of(arm, 2_000, rest)}" for arm in arms)
    found = [estimate(orders, query) for query in queries]
    assert is_close(*found), found


def test_planning_calls_a_stable_function_once(connection):
    """Whether there are several indexes, an OR or a join."""
    connection.execute(
        """
        CREATE SEQUENCE calls;
        CREATE FUNCTION moment(hours integer) RETURNS timestamptz LANGUAGE plpgsql STABLE
            AS $$ BEGIN PERFORM nextval('calls'); RETURN now() - hours * interval '1 hour'; END $$;
        CREATE FUNCTION since(hours integer) RETURNS tstzrange LANGUAGE plpgsql STABLE
            AS $$ BEGIN RETURN tstzrange(moment(hours), NULL); END $$;
        CREATE TABLE own AS
            SELECT scru128_lower(now() - n * interval '1 min') AS id, n FROM generate_series(1, 10000) AS n;
        CREATE INDEX ON own (id);
        CREATE INDEX ON own (n, id);
        CREATE INDEX ON own USING brin (id);
        CREATE INDEX ON own ((greatest(id)));
        ANALYZE own
        """
    )

    def calls(condition: str, tables: str = "own") -> int:
        connection.execute("ALTER SEQUENCE calls RESTART")
        connection.execute(f"EXPLAIN SELECT FROM {tables} WHERE {condition}")
        return connection.execute("SELECT last_value FROM calls WHERE is_called UNION ALL SELECT 0").fetchone()[0]

    for condition in "{} >= moment(%s)", "moment(%s) > {}", "{} <@ since(%s)", "since(%s) @> {}":
        for conjunction in (" AND ", " OR ", " AND n < 7 AND ", " AND n < 7 OR "):
            ten = conjunction.join(condition % hours for hours in range(10))
            assert [calls(ten.format(*[id_] * 10)) for id_ in ("id", "greatest(id)")] == [10, 10], ten
        two = f"(n = 3 OR {condition % 1}) AND (n = 4 OR {condition % 2}) AND {condition % 3}"
        assert calls(two.format(*["id"] * 3)) == 3
        assert calls(condition.format("a.id") % 1, "own AS a JOIN own AS b USING (n)") == 1
        of_join = f"own AS a LEFT JOIN own AS b ON a.n = b.n AND {condition.format('b.id') % 1}"
        assert calls("true", of_join) == 1
    assert calls("scru_internal.scru128_contained_by_range(id, since(1))") == 1
    # Two comparisons let the server skip partitions. As with a column of times, planning calls the function once for
    # each partition, and the start of the executor once for each comparison.
    bound = "scru128_lower(now() - interval '2 days')"
    connection.execute(
        f"""
        CREATE TABLE parts (LIKE own) PARTITION BY RANGE (id);
        CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ({bound});
        CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM ({bound}) TO (MAXVALUE);
        CREATE INDEX ON parts (id);
        INSERT INTO parts SELECT * FROM own;
        ANALYZE parts
        """
    )
    assert calls("id >= moment(1)", "parts") == 2 + 1
    assert calls("id <@ since(1)", "parts") == 2 + 2
    assert calls("id <@ since(1) AND id <@ since(2)", "parts") == 2 * (2 + 2)
    # A plan with parameters is made anew, and evaluates the function again.
    connection.execute("SET plan_cache_mode = force_custom_plan")
    connection.execute("PREPARE of_range (integer) AS SELECT FROM own WHERE id <@ since($1)")
    for hours in (1, 200, 1):
        rows = estimate(connection, f"EXECUTE of_range ({hours})")
        assert rows == pytest.approx(min(60 * hours, 10_000), rel=0.1)


def test_planning_thousands_of_ranges_can_be_canceled(orders):
    """Ranges relative to the clock stay operators, whose index conditions the planner estimates one by one."""
    ranges = " AND ".join(f"id <@ tstzrange(now() - interval '{second} s', NULL)" for second in range(1, 3201))
    begun = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled), orders.transaction():
        orders.execute("SET LOCAL statement_timeout = '100ms'")
        orders.execute(f"EXPLAIN SELECT FROM scru128_small WHERE {ranges}")
    # Without a check for interrupts, planning takes minutes.
    assert time.monotonic() - begun < 30
