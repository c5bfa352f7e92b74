"""Partitions by ID, also of pg_partman and TimescaleDB: what queries by time scan, and the cost of their filters."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import pytest

import orders
import page
import plans
from bench.reads import timed
from clock import Clock
from idtypes import TYPES, IdType, each_form
from programs import has_library
from server import IS_LONG, MAJOR, Server, on_every_version, since

pytestmark = on_every_version

# A type passed by value, one passed by reference, and a type of the server, for each system.
SYSTEMS = {"scru64": "scru64", "scru128": "scru128", "uuidv7": "uuid"}

# ----------------------------------------------------------------------------------------------------------- pg_partman

# The tests move the server's clock forward. pg_partman recognizes a column's type by its name, so the columns are of a
# domain named `text`; docs/query-by-time.md describes this.

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def days(first: int, last: int) -> list[str]:
    """Returns the names of the default partition and of the partitions of these days."""
    return ["events_default", *(f"events_p203001{day:02}" for day in range(first, last + 1))]


@each_form
def test_days_come_and_go(server, new_server, clock, id_type):
    """`events` has a partition for each day, from five days ago on."""
    available = server.rows("SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'")
    if not available or [int(part) for part in available[0][0].split(".")] < [5, 2]:
        pytest.skip("this server has no pg_partman 5.2 or newer, which supports encoders")
    clock.shift(NOON.timestamp() - time.time())
    with new_server(None, clock.environment).connect() as connection:
        check_days(connection, clock, id_type)


def check_days(connection: psycopg.Connection, clock: Clock, id_type: IdType) -> None:
    """Checks the partitions, the rows in them and the queries while days pass."""
    t, new = id_type.name, "INSERT INTO events VALUES (DEFAULT, now())"
    connection.execute(
        f"""
        CREATE SCHEMA ids; CREATE EXTENSION scru SCHEMA ids;
        CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
        SET search_path = public, ids;
        CREATE DOMAIN ids.text AS ids.{t};
        CREATE TABLE events (id ids.text PRIMARY KEY DEFAULT gen_{t}(), at timestamptz) PARTITION BY RANGE (id);
        SELECT partman.create_parent(
            p_parent_table := 'public.events', p_control := 'id', p_interval := '1 day', p_type := 'range',
            p_premake := 2, p_start_partition := '{NOON - 5 * DAY}',
            p_time_encoder := 'ids.{t}_time_encoder', p_time_decoder := 'ids.{t}_time_decoder')
        """
    )

    def add(*moments: datetime) -> None:
        """Inserts rows with the first and the last ID of each time."""
        insert = f"INSERT INTO events SELECT unnest(ARRAY[{t}_lower(at), {t}_upper(at)]), at FROM unnest(%s) AS at"
        connection.execute(insert, [list(moments)])

    def partitions() -> list[str]:
        query = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1"
        return [name for (name,) in connection.execute(query)]

    def rows() -> list[str]:
        """Returns the partition of each row, in the order of the times."""
        return [name for (name,) in connection.execute("SELECT tableoid::regclass::text FROM events ORDER BY at, id")]

    # A row with a new ID, and rows with older IDs around midnight and at noon.
    assert partitions() == days(5, 12)
    connection.execute(new)
    midnight = datetime(2030, 1, 7, tzinfo=UTC)
    add(midnight - timedelta(milliseconds=id_type.tick), midnight, NOON - 2 * DAY)
    assert rows() == [f"events_p203001{day:02}" for day in (6, 6, 7, 7, 8, 8, 10)]

    # With the operator <@, and by the time of the ID, only the partition with the result is scanned.
    by_range = "id <@ '[2030-01-07,2030-01-08)'"
    by_time = "id::timestamptz >= '2030-01-07' AND id::timestamptz < '2030-01-08'"
    for query in (f"SELECT id FROM events WHERE {condition}" for condition in (by_range, by_time)):
        scanned = plans.nodes(plans.analyze(connection, query))
        assert {node["Relation Name"] for node in scanned if "Relation Name" in node} == {"events_p20300107"}
        assert len(connection.execute(query).fetchall()) == 2

    # After two days, there are two more partitions. Retention then drops partitions older than three days.
    clock.shift((NOON + 2 * DAY).timestamp() - time.time())
    connection.execute(new)
    maintain = "SELECT partman.run_maintenance('public.events')"
    connection.execute(maintain)
    assert partitions() == days(5, 14)
    connection.execute("UPDATE partman.part_config SET retention = '3 days', retention_keep_table = false")
    connection.execute(maintain)
    assert partitions() == days(9, 14)
    assert rows() == ["events_p20300110", "events_p20300112"]

    # Rows are moved from the default partition.
    if MAJOR >= 18:  # pg_partman 5.5, which the page describes
        add(NOON - 3 * DAY, NOON - 2 * DAY)
        assert rows()[:4] == ["events_default"] * 4
        move = "SELECT partman.partition_data_time('public.events', p_batch_count := 5)"
        assert [connection.execute(move).fetchone() for _ in range(2)] == [(4,), (0,)]
        assert rows()[:4] == [f"events_p2030010{day}" for day in (7, 7, 8, 8)]


def test_domains_have_brin_indexes(connection):
    """Each operator class indexes a domain over each type, before and after its index is summarized."""
    orders.create_brin_on_domains(connection)
    orders.check_brin_on_domains(connection)
    connection.execute("CREATE INDEX built ON brin.scru128_orders USING brin (minmax)")
    connection.execute("SELECT brin_summarize_new_values('brin.built')")


# -------------------------------------------------------------------------------------------------- the cost of filters

# How a table is partitioned. All rows are in one partition or child.
KEYS = ["heap", "inheritance", "RANGE ({})", "RANGE (n)", "LIST (n)", "HASH ({})"]
# Conditions on an ID or on a column of times, and the calls of functions for each row: as many as there are comparisons
# with a time, and one more for a bound by the clock.
FILTERS = {
    "{} >= now() - interval '15000 seconds'": 2,
    "{} >= $1": 1,
    "{} < $1": 1,
    "NOT {} >= $1 AND {} <= $2": 2,
    "{} > $1 AND {} < $2": 2,
    "{} <@ tstzrange($1, $2)": 1,
}
# The rows are one second apart, and the last one is new.
SECONDS = 30_000
MODES = ["custom", "generic"]


def create_seconds(connection, table: str, column: str, value: str, key: str) -> None:
    """Creates a table with a child, which has a row for each second. `value` is an expression of its time, `at`."""
    columns = f"({column}, n int)"
    children = {
        "heap": f"CREATE TABLE {table}_child {columns}; CREATE VIEW {table} AS TABLE {table}_child",
        "inheritance": f"CREATE TABLE {table} {columns}; CREATE TABLE {table}_child () INHERITS ({table})",
    }
    part = "FOR VALUES WITH (MODULUS 1, REMAINDER 0)" if "HASH" in key else "DEFAULT"
    partitions = f"""CREATE TABLE {table} {columns} PARTITION BY {key.format(column.split()[0])};
        CREATE TABLE {table}_child PARTITION OF {table} {part}"""
    connection.execute(
        f"""
        {children.get(key, partitions)};
        INSERT INTO {table}_child SELECT {value}, n FROM generate_series(1, {SECONDS}) AS n,
            CAST(now() - ({SECONDS} - n) * interval '1 second' AS timestamptz) AS at;
        ANALYZE {table}_child
        """
    )


def create_ids(connection, system: str, key: str) -> None:
    """Creates such a table with IDs, whose name is that of the system."""
    create_seconds(connection, f"{system}s", f"id {SYSTEMS.get(system, system)}", f"{system}_upper(at)", key)


def prepare(table: str, column: str) -> str:
    """Returns the statements that prepare the filters of a table, which `execute` executes."""
    start = "PREPARE {0}_{1} (timestamptz, timestamptz) AS SELECT count(*) FROM {0} WHERE {2}"
    return ";".join(start.format(table, n, form.replace("{}", column)) for n, form in enumerate(FILTERS))


def execute(table: str, number: int) -> str:
    """Returns the query of a filter, for the tenth of the rows after the first half."""
    return f"EXECUTE {table}_{number} (now() - interval '15000 seconds', now() - interval '12000 seconds')"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_calls_of_a_filter(connection, system, key):
    """The statistics of functions count the calls of those of the extension."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    create_ids(connection, system, key)
    connection.execute("SET track_functions = 'all'; SET max_parallel_workers_per_gather = 0")
    connection.execute(prepare(f"{system}s", "id"))
    counts = "SELECT coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions"
    for mode, (number, condition) in itertools.product(MODES, enumerate(FILTERS)):
        connection.execute(f"SET plan_cache_mode = force_{mode}_plan")
        with connection.transaction():
            [(before,)] = connection.execute(counts)
            connection.execute(execute(f"{system}s", number))
            [(after,)] = connection.execute(counts)
        # A constant range becomes two comparisons.
        most = 2 if mode == "custom" and "<@" in condition else FILTERS[condition]
        # uuid's own functions are not counted. Planning and pruning call functions as well, a few times.
        assert after - before <= most * SECONDS + 20, (mode, condition)


@pytest.mark.alone
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("key", KEYS)
def test_a_filter_costs_little_more_than_that_of_a_column(connection, measured, key, mode):
    """Compares the processor time of the session, which other processes hardly change."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    create_seconds(connection, "twin", "at timestamptz", "at", key)
    setup = f"SET max_parallel_workers_per_gather = 0; SET plan_cache_mode = force_{mode}_plan; {prepare('twin', 'at')}"
    pairs = {}
    for system in [*map(str, TYPES), "uuidv7"] if IS_LONG else ["scru64", "scru128"]:
        create_ids(connection, system, key)
        setup += f";{prepare(f'{system}s', 'id')}"
        for number, condition in enumerate(FILTERS):
            name = f"filter {condition.replace('{}', 'id')} of {system}, {mode} plan, {key.format('id')}"
            pairs[name] = [execute(table, number) for table in (f"{system}s", "twin")]
    plans.assert_costs(measured, connection.info.dsn, pairs, timed, 1.15, 21, setup)


# Conditions on a table with a partition for each of ten days, and the number of partitions that are scanned. The
# parameters and the row of `days` are from the start of the third day to that of the fifth.
SKIPS = {
    "SELECT FROM own WHERE id >= $1 AND id < $2": 2,
    "SELECT FROM own WHERE id <@ tstzrange($1, $2)": 2,
    "SELECT FROM own WHERE id < $1 OR id > $2 AND n > 0": 8,
    "SELECT FROM own WHERE (id < $1 OR id <@ tstzrange($2, NULL)) AND NOT id < $1": 6,
    "SELECT id FROM own WHERE id >= $1 AND id < $2 ORDER BY id": 2,
    "SELECT max(id) FROM own WHERE id < $1 AND id >= $1 - interval '1 day'": 1,
    "SELECT FROM own WHERE id <@ (SELECT during FROM days)": 2,
    "SELECT FROM own WHERE id >= (SELECT first FROM days) AND id < (SELECT after FROM days)": 2,
    "SELECT FROM days JOIN own ON id >= first AND id < after": 2,
    "SELECT FROM days JOIN own ON id <@ during": 2,
    "SELECT FROM days LEFT JOIN own ON during @> id AND n > 0": 2,
    "SELECT FROM (SELECT id FROM own UNION ALL SELECT id FROM own) AS twice WHERE id <@ tstzrange($1, $2)": 4,
    "UPDATE own SET n = 0 WHERE id >= $1 AND id < $2": 2,
}
# The same of a table whose partition key has another column first.
# Without a join condition on the first column alone: newer servers skip nothing by it and the condition on time.
SKIPS_OF_TWO_COLUMNS = {
    "SELECT FROM own WHERE id >= $1 AND id < $2 AND k = (SELECT 1)": 2,
    "SELECT FROM own WHERE id <@ tstzrange($1, $2) AND k = 1": 2,
    "SELECT FROM own WHERE k = 1 AND id < $1 OR k = 2": 2,
    "SELECT FROM own WHERE (n < 9 OR n > 99) AND k = 1 AND (id < $1 OR n > 0) AND id < $2": 4,
    "SELECT FROM days JOIN own ON id >= first AND id < after WHERE k = 1": 2,
    "SELECT FROM days LEFT JOIN own ON id >= first AND id < after AND k = one": 2,
    "SELECT FROM (SELECT k, id FROM own UNION ALL SELECT k, id FROM own) AS twice WHERE k = 1 AND id < $1": 4,
}
LEVELS = {
    "one": "PARTITION BY RANGE (id)",
    "two columns": "PARTITION BY RANGE (k, id)",
    "three": "PARTITION BY LIST (n); CREATE TABLE a PARTITION OF own DEFAULT PARTITION BY RANGE (n);"
    " CREATE TABLE b (k int, n int, id {type}) PARTITION BY RANGE (id); ALTER TABLE a ATTACH PARTITION b DEFAULT",
}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_partitions_are_skipped_during_the_execution(connection, system, levels):
    """The values of a generic plan and those of another table are unknown to the planner."""
    connection.execute("CREATE EXTENSION scru_uuidv7; SET timezone = 'UTC'")
    begin = "timestamptz '2026-01-01'"
    id_type = SYSTEMS[system]
    columns, partitions = f"id {id_type}, n int, k int DEFAULT 1", LEVELS[levels].format(type=id_type)
    connection.execute(f"CREATE TABLE own ({columns}) {partitions}")
    parent = "b" if levels == "three" else "own"
    first = "1, " if levels == "two columns" else ""
    for day in range(10):
        bounds = (f"({first}{system}_lower({begin} + interval '{each} days'))" for each in (day, day + 1))
        connection.execute("CREATE TABLE day_{} PARTITION OF {} FOR VALUES FROM {} TO {}".format(day, parent, *bounds))
    connection.execute(
        f"""
        INSERT INTO own SELECT {system}_lower({begin} + n * interval '1 hour'), n FROM generate_series(0, 239) AS n;
        CREATE INDEX ON own (id);
        ANALYZE own;
        CREATE TABLE days AS SELECT {begin} + interval '2 days' AS first, {begin} + interval '4 days' AS after,
            tstzrange({begin} + interval '2 days', {begin} + interval '4 days') AS during, 1 AS one;
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
        """
    )
    for query, scanned in (SKIPS_OF_TWO_COLUMNS if first else SKIPS).items():
        connection.execute(f"PREPARE own (timestamptz, timestamptz) AS {query}")
        execute = f"EXECUTE own ({begin} + interval '2 days', {begin} + interval '4 days')"
        nodes = plans.nodes(plans.analyze(connection, execute))
        connection.execute("DEALLOCATE own")
        used = [node for node in nodes if node.get("Relation Name", "").startswith("day_") and node["Actual Loops"]]
        assert len([node for node in used if node["Node Type"] != "ModifyTable"]) == scanned, query


# ---------------------------------------------------------------------------------------------------------- TimescaleDB

# Hypertables with a scru64, a uuid or a bigint as time dimension, as docs/timescaledb.md describes.

DAY_OF_SCRU64 = "24 * 60 * 60 * 1000 / 256 * (1::bigint << 24)"


@pytest.fixture(scope="module")
def timescale() -> Iterator[psycopg.Connection]:
    """A connection to a server that preloads TimescaleDB."""
    if not has_library("timescaledb"):
        pytest.skip("this server has no TimescaleDB")
    settings = {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off"}
    with Server(settings) as timescale, timescale.connect() as connection:
        connection.execute("SET client_min_messages = warning; CREATE EXTENSION timescaledb; CREATE EXTENSION scru")
        yield connection


def test_hypertable(timescale):
    """Ten chunks of one day: a query by time scans only the chunks of its days, and returns all rows."""
    timescale.execute(
        f"""CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64(), n int);
            SELECT create_hypertable('events', by_range('id', {DAY_OF_SCRU64}));
            INSERT INTO events SELECT scru64_lower(timestamptz '2026-11-01' + n * interval '1 hour'), n
                FROM generate_series(0, 239) AS n;
            INSERT INTO events SELECT (scru64_lower(timestamptz '2026-11-03')::bigint + n)::scru64
                FROM generate_series(1, 9) AS n;
            CREATE TABLE plain_events AS TABLE events"""
    )
    assert timescale.execute("SELECT count(*) FROM show_chunks('events')").fetchone() == (10,)
    start, end = (f"scru64_lower(timestamptz '2026-11-0{day}')" for day in (3, 4))
    neighbor = f"({start}::bigint + 5)::scru64"
    for condition, expected in {
        "id <@ tstzrange('2026-11-03', '2026-11-04')": 1,
        "id <@ tstzrange('2026-11-03 12:00', '2026-11-05 12:00')": 3,
        "id >= timestamptz '2026-11-03' AND id < timestamptz '2026-11-04'": 1,
        f"id >= {neighbor} AND id < {end}": 1,
        f"id < {neighbor} AND id > scru64_lower(timestamptz '2026-11-02')": 2,
        f"id <= {neighbor}": 3,
        f"id = {neighbor}": 1,
    }.items():
        query = f"SELECT count(*), sum(n) FROM events WHERE {condition}"
        with timescale.transaction(force_rollback=True):
            for setting in "indexscan", "bitmapscan", "indexonlyscan":
                timescale.execute(f"SET LOCAL enable_{setting} = off")
            plan = plans.explain(timescale, query)
        assert plan.count("Seq Scan on") == expected, condition
        plain = timescale.execute(query.replace("events", "plain_events")).fetchone()
        assert timescale.execute(query).fetchone() == plain, condition
    # With the hooks of TimescaleDB, conditions on the time of an ID and its order use the index of a table.
    timescale.execute("ALTER TABLE plain_events ADD PRIMARY KEY (id)")
    by_time = "SELECT n FROM {} WHERE id::timestamptz >= '2026-11-04' AND id::timestamptz < '2026-11-06'"
    in_order = "SELECT n FROM {} ORDER BY id::timestamptz DESC LIMIT 3"
    timescale.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    plan = plans.explain(timescale, by_time.format("plain_events"))
    assert "Index Cond: ((id" in plan and "Filter" not in plan
    assert "Sort" not in plans.explain(timescale, in_order.format("plain_events"))
    timescale.execute("RESET enable_seqscan; RESET enable_bitmapscan")
    for table in "events", "plain_events":
        assert timescale.execute(in_order.format(table)).fetchall() == [(239,), (238,), (237,)]
        assert sorted(timescale.execute(by_time.format(table)).fetchall()) == [(n,) for n in range(72, 120)]
    # With a bound relative to now(), chunks are excluded at the start of execution.
    recent = "SELECT * FROM events WHERE id <@ tstzrange(now() + interval '100 years', NULL)"
    assert "Chunks excluded during startup: 10" in plans.explain(timescale, recent)
    drop = "SELECT count(*) FROM drop_chunks('events', older_than => scru64_lower(timestamptz '2026-11-05'))"
    assert timescale.execute(drop).fetchone() == (4,)
    assert timescale.execute("SELECT count(*), min(n) FROM events").fetchone() == (144, 96)


def statements(heading: str, table: str) -> list[str]:
    """Returns the statements below a heading of the page, for a table of this name."""
    block = re.sub(" *--.*", "", page.sql(heading, 0, "timescaledb"))
    return [each.strip() for each in re.sub(r"\b\w+_events", table, block).split(";")[:-1]]


@since(18, "TimescaleDB 2.31, with which the page is tested")
def test_a_bigint_column(timescale):
    """The statements of the page: conditions exclude chunks, the function of the time is accepted, and old chunks are
    dropped."""
    table, hypertable, function, now, recent, drop = statements("A bigint column", "numbers")
    for statement in table, hypertable, function, now:
        timescale.execute(statement)
    timescale.execute(
        """INSERT INTO numbers SELECT scru64_lower(now() - n * interval '1 day' - interval '12 hours')::bigint, n
                FROM generate_series(0, 99) AS n;
            INSERT INTO numbers (what) VALUES ('new')"""
    )
    [excluded] = re.findall(r"Chunks excluded during startup: (\d+)", plans.explain(timescale, recent))
    assert int(excluded) >= 97
    assert {what for _, what in timescale.execute(recent)} == {"0", "new"}
    bounds = (f"scru64_lower(now() - interval '{days} days')::bigint" for days in (50, 49))
    of_a_day = "SELECT what FROM numbers WHERE id >= {} AND id < {}".format(*bounds)
    assert timescale.execute(of_a_day).fetchall() == [("49",)]
    is_now = f"SELECT abs(numbers_now() - max(id)) < {DAY_OF_SCRU64} / 24 FROM numbers"
    assert timescale.execute(is_now).fetchone() == (True,)
    # The chunk that contains the bound remains.
    assert len(timescale.execute(drop).fetchall()) in (9, 10)
    assert timescale.execute("SELECT count(*) FROM numbers").fetchone()[0] in (91, 92)


@since(18, "TimescaleDB 2.31, which accepts a uuid as dimension")
def test_a_uuid_column(timescale):
    """The statements of the page: queries by time return the rows of a plain table from the chunks of their days, and
    old chunks are dropped."""
    extension, table, hypertable, recent, of_range, by_hour, drop = statements("A uuid column", "uuids")
    for statement in extension, table, hypertable:
        timescale.execute(statement)
    # The chunks are those of days, which must be the same for all queries below.
    timescale.execute("SELECT pg_sleep(61) WHERE now()::time >= '23:59'")
    timescale.execute(
        """INSERT INTO uuids SELECT uuidv7_lower(time), 'first ' || n
                FROM generate_series(0, 99) AS n, CAST(now() - n * interval '1 day' AS timestamptz) AS time;
            INSERT INTO uuids SELECT uuidv7_upper(timestamptz '2026-11-02' + n * interval '1 day'), 'last ' || n
                FROM generate_series(0, 3) AS n;
            INSERT INTO uuids SELECT uuidv7_lower(timestamptz '2026-11-02' + n * interval '1 day'), 'midnight ' || n
                FROM generate_series(0, 3) AS n;
            INSERT INTO uuids (what) VALUES ('new');
            CREATE TABLE plain_uuids AS TABLE uuids"""
    )
    [chunks] = timescale.execute("SELECT count(*) FROM show_chunks('uuids')").fetchone()
    assert chunks >= 100
    day = "now() - interval '1 day'"
    select = "SELECT * FROM uuids WHERE"
    of_bounds = f"{select} id >= uuidv7_lower('2026-11-03') AND id < uuidv7_lower('2026-11-04')"
    queries = {
        recent: chunks - 2,
        of_range: None,
        of_bounds: None,
        f"{select} id > {day}": chunks - 2,
        f"{select} id < {day}": 1,
        f"{select} id <= {day}": 1,
        f"{select} id <@ tstzrange({day}, NULL)": chunks - 2,
        f"{select} id >= uuidv7_lower({day})": chunks - 2,
        f"{select} id <@ tstzrange(NULL, NULL)": None,
        f"{select} id >= timestamptz '-infinity' AND id < timestamptz 'infinity'": None,
        f"{select} id > timestamptz '2026-11-03' AND id <= timestamptz '2026-11-04'": None,
    }
    for query, excluded in queries.items():
        with timescale.transaction():
            plan = plans.explain(timescale, query)
            plain = query.replace("uuids", "plain_uuids")
            found, expected = (timescale.execute(f"{each} ORDER BY id").fetchall() for each in (query, plain))
        assert found == expected != [], query
        assert ("Chunks excluded" not in plan) if excluded is None else f"startup: {excluded}" in plan, query
    for query in of_range, of_bounds:
        assert len(set(re.findall(r"_hyper_\d+_\d+_chunk\b", plans.explain(timescale, query)))) == 1, query
    assert sum(count for _, count in timescale.execute(by_hour)) == 109
    for wrong in "INSERT INTO uuids VALUES (gen_random_uuid())", f"SELECT FROM uuids WHERE id > '{UUID(int=0)}'":
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="is not a version 7 UUID"):
            timescale.execute(wrong)
    # The chunk that contains the bound remains.
    assert len(timescale.execute(drop).fetchall()) >= 9
