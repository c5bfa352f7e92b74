"""TimescaleDB: hypertables with a scru64, a ulidflake, a uuid or a bigint as time dimension, as docs/timescaledb.md
describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

import expect
import plans
from idtypes import SCRU64, SERVER_WIDE, of_types
from server import Server, since

PAGE = (Path(__file__).parents[3] / "docs/timescaledb.md").read_text()
DAY = {SCRU64: "24 * 60 * 60 * 1000 / 256 * (1::bigint << 24)"}
DAY |= {id_type: "24 * 60 * 60 * 1000 * (1::bigint << 20)" for id_type in SERVER_WIDE if id_type is not SCRU64}


@pytest.fixture(scope="module")
def timescale(server) -> Iterator[psycopg.Connection]:
    """A connection to a server that preloads TimescaleDB."""
    with server.connect() as connection:
        query = "SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'"
        if connection.execute(query).fetchone() == (0,):
            pytest.skip("this server has no TimescaleDB")
    settings = {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off"}
    with Server(settings) as timescale, timescale.connect() as connection:
        connection.execute("SET client_min_messages = warning; CREATE EXTENSION timescaledb; CREATE EXTENSION scru")
        yield connection


@of_types(SERVER_WIDE)
def test_hypertable(timescale, id_type):
    """Ten chunks of one day: a query by time scans only the chunks of its days, and returns all rows."""
    t, table = id_type.name, f"{id_type}_events"
    timescale.execute(
        f"""CREATE TABLE {table} (id {t} PRIMARY KEY DEFAULT gen_{t}(), n int);
            SELECT create_hypertable('{table}', by_range('id', {DAY[id_type]}));
            INSERT INTO {table} SELECT {t}_lower(timestamptz '2026-11-01' + n * interval '1 hour'), n
                FROM generate_series(0, 239) AS n;
            INSERT INTO {table} SELECT ({t}_lower(timestamptz '2026-11-03')::bigint + n)::{t}
                FROM generate_series(1, 9) AS n;
            CREATE TABLE {table}_plain AS TABLE {table}"""
    )
    assert timescale.execute(f"SELECT count(*) FROM show_chunks('{table}')").fetchone() == (10,)
    start = f"{t}_lower(timestamptz '2026-11-03')"
    neighbor = f"({start}::bigint + 5)::{t}"
    for condition, expected in {
        "id <@ tstzrange('2026-11-03', '2026-11-04')": 1,
        "id <@ tstzrange('2026-11-03 12:00', '2026-11-05 12:00')": 3,
        "id >= timestamptz '2026-11-03' AND id < timestamptz '2026-11-04'": 1,
        f"id >= {start} AND id < {t}_lower(timestamptz '2026-11-04')": 1,
        f"id >= {neighbor} AND id < {t}_lower(timestamptz '2026-11-04')": 1,
        f"id < {neighbor} AND id > {t}_lower(timestamptz '2026-11-02')": 2,
        f"id <= {neighbor}": 3,
        f"id > {neighbor}": 8,
        f"id = {neighbor}": 1,
    }.items():
        query = f"SELECT count(*), sum(n) FROM {table} WHERE {condition}"
        with timescale.transaction(force_rollback=True):
            timescale.execute(
                "SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;"
                " SET LOCAL enable_indexonlyscan = off"
            )
            plan = plans.explain(timescale, query)
        assert plan.count("Seq Scan on") == expected, condition
        plain = timescale.execute(f"SELECT count(*), sum(n) FROM {table}_plain WHERE {condition}").fetchone()
        assert timescale.execute(query).fetchone() == plain, condition
    # With a bound relative to now(), chunks are excluded at the start of execution.
    recent = f"SELECT * FROM {table} WHERE id <@ tstzrange(now() + interval '100 years', NULL)"
    assert "Chunks excluded during startup: 10" in plans.explain(timescale, recent)
    [(dropped,)] = timescale.execute(
        f"SELECT count(*) FROM drop_chunks('{table}', older_than => {t}_lower(timestamptz '2026-11-05'))"
    )
    assert dropped == 4
    assert timescale.execute(f"SELECT count(*) FROM {table}").fetchone() == (144,)
    assert timescale.execute(f"SELECT min({t}_timestamp(id)) = '2026-11-05' FROM {table}").fetchone() == (True,)


def statements(heading: str, table: str) -> list[str]:
    """Returns the statements below a heading of the page, for a table of this name."""
    [block] = re.findall(rf"## {heading}\n.*?```sql\n(.*?)```", PAGE, re.DOTALL)
    return [each.strip() for each in re.sub(r"\b\w+_events", table, re.sub(" *--.*", "", block)).split(";")[:-1]]


@since(18, "TimescaleDB 2.31, with which the page is tested")
@of_types(SERVER_WIDE)
def test_a_bigint_column(timescale, id_type):
    """The statements of the page: conditions exclude chunks, the function of the time is accepted, and old chunks are
    dropped."""
    t = id_type.name
    block = statements("A bigint column", f"{t}_numbers")
    block = (each.replace("24 * 60 * 60 * 1000 / 256 * (1::bigint << 24)", DAY[id_type]) for each in block)
    table, hypertable, function, now, recent, drop = (each.replace("scru64", t) for each in block)
    for statement in table, hypertable, function, now:
        timescale.execute(statement)
    timescale.execute(
        f"""INSERT INTO {t}_numbers SELECT {t}_lower(now() - n * interval '1 day' - interval '12 hours')::bigint, n
                FROM generate_series(0, 99) AS n;
            INSERT INTO {t}_numbers (what) VALUES ('new')"""
    )
    [excluded] = re.findall(r"Chunks excluded during startup: (\d+)", plans.explain(timescale, recent))
    assert int(excluded) >= 97
    assert {what for _, what in timescale.execute(recent)} == {"0", "new"}
    bounds = (f"{t}_floor(now() - interval '{days} days')::bigint" for days in (50, 49))
    of_a_day = "SELECT what FROM {}_numbers WHERE id >= {} AND id < {}".format(t, *bounds)
    assert timescale.execute(of_a_day).fetchall() == [("49",)]
    is_now = f"SELECT abs({t}_numbers_now() - max(id)) < {DAY[id_type]} / 24 FROM {t}_numbers"
    assert timescale.execute(is_now).fetchone() == (True,)
    # The chunk that contains the bound remains.
    assert len(timescale.execute(drop).fetchall()) in (9, 10)
    assert timescale.execute(f"SELECT count(*) FROM {t}_numbers").fetchone()[0] in (91, 92)


@since(18, "TimescaleDB 2.31, which accepts a uuid as dimension")
def test_a_uuid_column(timescale):
    """The statements of the page: queries by time return the rows of a plain table from the chunks of their days, and
    old chunks are dropped."""
    extension, table, hypertable, recent, of_range, of_bounds, by_hour, drop = statements("A uuid column", "uuids")
    for statement in extension, table, hypertable:
        timescale.execute(statement)
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
    conditions = {
        f"SELECT * FROM uuids WHERE {condition}": excluded
        for condition, excluded in {
            f"id > {day}": chunks - 2,
            f"id < {day}": 1,
            f"id <= {day}": 1,
            f"id <@ tstzrange({day}, NULL)": chunks - 2,
            f"id >= uuidv7_floor({day})": chunks - 2,
            "id <@ tstzrange(NULL, NULL)": None,
            "id >= timestamptz '-infinity' AND id < timestamptz 'infinity'": None,
            "id > timestamptz '2026-11-03' AND id <= timestamptz '2026-11-04'": None,
        }.items()
    }
    for query, excluded in {recent: chunks - 2, of_range: None, of_bounds: None, **conditions}.items():
        with timescale.transaction():
            plan = plans.explain(timescale, query)
            found, expected = (timescale.execute(f"{each} ORDER BY id").fetchall() for each in (query, plain(query)))
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
    old = "SELECT count(*) FROM uuids WHERE id < now() - interval '91 days'"
    assert timescale.execute(old).fetchone() == (0,)


def plain(query: str) -> str:
    """Returns the query of the table that is not a hypertable."""
    return query.replace("uuids", "plain_uuids")


def test_other_types_are_refused(timescale):
    """A type without a binary-coercible cast to bigint cannot be a dimension."""
    timescale.execute("CREATE TABLE events (id scru128 PRIMARY KEY)")
    with expect.error("42809", 'invalid type for dimension "id"', None, "Use an integer, timestamp, or date type."):
        timescale.execute("SELECT create_hypertable('events', by_range('id'))")


def test_a_partitioning_function_gives_wrong_rows(timescale):
    """Shows why the page advises against a partitioning function: TimescaleDB assumes that the function's result is
    as precise as the ID. If this test fails, TimescaleDB has changed, and the page may change as well."""
    first = "scru128_lower(timestamptz '2026-11-03')"
    neighbor = f"set_byte({first}::bytea, 15, 5)::scru128"
    timescale.execute(
        f"""CREATE TABLE partitioned (id scru128 PRIMARY KEY);
            SELECT create_hypertable(
                'partitioned', by_range('id', interval '1 day', partition_func => 'scru128_timestamp'));
            INSERT INTO partitioned SELECT set_byte({first}::bytea, 15, n)::scru128 FROM generate_series(1, 9) AS n"""
    )
    assert timescale.execute(
        "SELECT count(*) FROM partitioned WHERE id <@ tstzrange('2026-11-03', '2026-11-04')"
    ).fetchone() == (9,)
    assert timescale.execute(f"SELECT count(*) FROM partitioned WHERE id < {neighbor}").fetchone() != (4,)
