"""The extension scru_uuidv7, for columns of type `uuid`. The statements in docs/types.md about the server's `uuid`, and
about features of PostgreSQL 19.

CI draws 800,000 IDs from 8 connections. `UUIDS=10000000` in the environment draws that number.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import expect
from plans import analyze, estimate, explain, nodes
from server import Server, on_the_oldest, since
from test_estimates import DISTRIBUTIONS, END, FORMS, RANGES, ROWS, SQL, TABLES, conditions, create, is_close, ranges

# The rows of a burst in one tick, a quarter of a histogram bucket. The times of bursts are among the most common values
# of their column, and the IDs are not: a column of a core type has no statistics of ticks. The estimates may differ by
# one burst, whose size is estimated as well.
BURST = ROWS // 400


class Uuidv7:
    """What the functions of test_estimates read of an ID type."""

    name = "uuidv7"
    is_server_wide = False

    def __str__(self) -> str:
        return self.name


# The operands of these forms are two uuids, whose comparisons have the server's estimator.
OF_UUIDS = {"bounds", "keyset", "last page"}


PAGE = Path(__file__).parents[3] / "docs/uuid-and-bigint-columns.md"
CONNECTIONS = 8
IDS_EACH = int(os.environ.get("UUIDS", "800000")) // CONNECTIONS


@pytest.fixture
def uuids(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a new database with the extension."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    return connection


@since(18, "uuidv7()")
def test_a_version_7_uuid_keeps_its_bytes_order_and_time(connection):
    query = """
        SELECT bool_and(id::scru128::uuid = id AND scru128_timestamp(id::scru128) = uuid_extract_timestamp(id)),
               array_agg(id ORDER BY id) = array_agg(id ORDER BY id::scru128)
        FROM (SELECT uuidv7() AS id FROM generate_series(1, 1000)) AS ids
    """
    assert connection.execute(query).fetchone() == (True, True)


def test_a_uuid_has_no_minimum(connection):
    with pytest.raises(psycopg.errors.UndefinedFunction, match=r"function min\(uuid\) does not exist"):
        connection.execute("SELECT min(gen_random_uuid())")


# The aggregates of the server's development branch, for a server that lacks them.
OF_THE_SERVER = """
    SET allow_system_table_mods = on;
    CREATE FUNCTION pg_catalog.uuid_smaller(uuid, uuid) RETURNS uuid IMMUTABLE STRICT RETURN least($1, $2);
    CREATE FUNCTION pg_catalog.uuid_larger(uuid, uuid) RETURNS uuid IMMUTABLE STRICT RETURN greatest($1, $2);
    CREATE AGGREGATE pg_catalog.min(uuid) (SFUNC = uuid_smaller, STYPE = uuid, SORTOP = <);
    CREATE AGGREGATE pg_catalog.max(uuid) (SFUNC = uuid_larger, STYPE = uuid, SORTOP = >);
"""


@on_the_oldest("the two servers have the same version")
def test_pg_upgrade_to_a_server_with_min_and_max():
    """Views keep the aggregates of the extension until they are created again, and queries use those of the server."""
    checksums = ("--data-checksums",)
    view = "CREATE OR REPLACE VIEW bounds AS SELECT min(id), max(id) FROM ids"
    with Server(initdb=checksums) as old:
        with old.connect() as connection:
            connection.execute("CREATE EXTENSION scru; CREATE EXTENSION scru_uuidv7")
            connection.execute("CREATE TABLE ids (id uuid PRIMARY KEY)")
            connection.execute("INSERT INTO ids SELECT gen_uuidv7() FROM generate_series(1, 1000)")
            connection.execute(view)
            before = connection.execute("TABLE bounds").fetchall()
        old.stop()
        new = Server(initdb=checksums)
        try:
            new.initialize()
            new.start()
            with new.connect() as connection:
                connection.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS true")
            with new.connect("template0") as connection:
                connection.execute(OF_THE_SERVER)
            with new.connect() as connection:
                connection.execute("ALTER DATABASE template0 ALLOW_CONNECTIONS false")
            new.stop()
            new.pg_upgrade(old)
            new.start()
            with new.connect() as connection:
                definition = "SELECT regexp_replace(pg_get_viewdef('bounds'), '\\s+', ' ', 'g')"
                of_extension, of_server = (f"SELECT {of}min" for of in ("public.", ""))
                assert connection.execute(definition).fetchone()[0].lstrip().startswith(of_extension)
                assert connection.execute("TABLE bounds").fetchall() == before
                assert connection.execute("SELECT min(id), max(id) FROM ids").fetchall() == before
                connection.execute(view)
                assert connection.execute(definition).fetchone()[0].lstrip().startswith(of_server)
                connection.execute("DROP EXTENSION scru_uuidv7")
                assert connection.execute("TABLE bounds").fetchall() == before
                with expect.error("42723", 'function "min" already exists with same argument types'):
                    connection.execute("CREATE EXTENSION scru_uuidv7 SCHEMA pg_catalog")
        finally:
            new.remove()


@since(19, "base32hex")
def test_base32hex_is_the_text_of_a_scru160(connection):
    query = """
        SELECT bool_and(encode(id::bytea, 'base32hex') = id::text AND decode(id::text, 'base32hex')::scru160 = id)
        FROM (SELECT gen_scru160() AS id FROM generate_series(1, 1000)) AS ids
    """
    assert connection.execute(query).fetchone() == (True,)


@since(19, "pg_get_dsm_registry_allocations()")
def test_the_server_lists_the_memory_of_generators(connection):
    connection.execute("SELECT gen_scru64()")
    query = "SELECT size FROM pg_get_dsm_registry_allocations() WHERE name = 'scru scru64 generator v2'"
    assert connection.execute(query).fetchone() == (64,)


# ----------------------------------------------------------------------------------------------------------- generation


@pytest.mark.parametrize("scope", ["session", "server"])
def test_ids_of_many_connections_are_different_and_in_order(database, scope):
    """The IDs of each connection are in order of creation. All are of version 7, and none is drawn twice."""
    with database.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7; CREATE UNLOGGED TABLE drawn (connection int, n int, id uuid)")

    def draw(number: int) -> None:
        with database.connect(options=f"-c scru.generator_scope={scope}") as connection:
            connection.execute(
                f"INSERT INTO drawn SELECT {number}, n, gen_uuidv7() FROM generate_series(1, {IDS_EACH}) AS n"
            )

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(draw, range(CONNECTIONS)))
    query = """
        SELECT count(DISTINCT id), bool_and(uuidv7_timestamp(id) IS NOT NULL), bool_and(ascending)
        FROM (SELECT id, id > lag(id, 1, uuidv7_lower('-infinity')) OVER of_connection AS ascending
              FROM drawn WINDOW of_connection AS (PARTITION BY connection ORDER BY n)) AS drawn
    """
    with database.connect() as connection:
        assert connection.execute(query).fetchone() == (CONNECTIONS * IDS_EACH, True, True)


def test_connections_draw_in_turns(new_database):
    """With generator_scope = server, each ID is greater than the last one of the other connection, to another
    database."""
    connections = []
    for _ in range(2):
        connections.append(new_database().connect(options="-c scru.generator_scope=server"))
        connections[-1].execute("CREATE EXTENSION scru_uuidv7")
    ids = []
    for turn in range(400):
        draw = f"SELECT gen_uuidv7()::text FROM generate_series(1, {turn % 3 + 1})"
        ids += [id_ for (id_,) in connections[turn % 2].execute(draw)]
    for connection in connections:
        connection.close()
    assert ids == sorted(set(ids))


def test_a_clock_that_is_set_back_is_refused_or_followed(new_server, clock):
    server = new_server(None, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE; SET scru.on_clock_rollback = error")
        connection.execute("SELECT gen_uuidv7()")
        clock.shift(-60)
        with pytest.raises(
            psycopg.errors.ObjectNotInPrerequisiteState, match="could not generate a uuidv7: the system"
        ):
            connection.execute("SELECT gen_uuidv7()")
        connection.execute("SET scru.on_clock_rollback = reset")
        time = "SELECT abs(extract(epoch FROM clock_timestamp() - uuidv7_timestamp(gen_uuidv7()))) < 10"
        assert connection.execute(time).fetchone() == (True,)


def test_the_order_across_connections_has_a_mark(uuids):
    """With generator_scope = server, a mark that is in the future refuses the generation until it is set back."""
    uuids.execute("SET scru.generator_scope = server")
    uuids.execute("SELECT scru_raise_mark(now() + interval '1 hour')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="could not generate a uuidv7: the system"):
        uuids.execute("SELECT gen_uuidv7()")
    uuids.execute("SELECT scru_set_mark(now())")
    uuids.execute("SELECT gen_uuidv7()")


# -------------------------------------------------------------------------------------------------------- the extension


def test_the_extension_can_be_created_dumped_and_dropped(new_database):
    database = new_database(extension=False)
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA more; CREATE EXTENSION scru_uuidv7 SCHEMA more CASCADE")
        connection.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT more.gen_uuidv7())")
        connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 1000)")
        condition = "id OPERATOR(more.>=) timestamptz '2026-01-01'"
        connection.execute(f"CREATE VIEW latest AS SELECT * FROM orders WHERE {condition}")
        connection.execute("SET enable_seqscan = off")
        assert "Index Cond: (id >= '019b7" in explain(connection, "SELECT * FROM latest")
    dump = database.server.pg_dump(database.name, "--format=custom")
    restored = new_database(extension=False)
    restored.server.pg_restore(restored.name, dump)
    with restored.connect() as connection:
        assert connection.execute("SELECT count(*) FROM latest").fetchone() == (1000,)
        connection.execute("INSERT INTO orders DEFAULT VALUES")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            connection.execute("DROP EXTENSION scru")
        connection.execute("DROP EXTENSION scru_uuidv7 CASCADE; DROP EXTENSION scru")
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (1001,)
        # The server's own functions have lower OIDs.
        left = "SELECT count(*) FROM pg_proc WHERE proname LIKE '%uuidv7%' AND oid >= 16384"
        assert connection.execute(left).fetchone() == (0,)


def test_a_database_with_its_own_gen_uuidv7(new_database):
    """Names that users have given to their own functions are in no other extension than scru_uuidv7."""
    with new_database(extension=False).connect() as connection:
        connection.execute("CREATE FUNCTION gen_uuidv7() RETURNS uuid LANGUAGE sql RETURN gen_random_uuid()")
        connection.execute("CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz LANGUAGE sql RETURN now()")
        connection.execute("CREATE EXTENSION scru")
        with pytest.raises(psycopg.errors.DuplicateFunction, match=r'function "gen_uuidv7" already exists'):
            connection.execute("CREATE EXTENSION scru_uuidv7")
        connection.execute("CREATE SCHEMA ids; CREATE EXTENSION scru_uuidv7 SCHEMA ids")
        query = "SELECT uuid_send(gen_uuidv7()) IS NOT NULL, ids.uuidv7_timestamp(ids.gen_uuidv7()) IS NOT NULL"
        assert connection.execute(query).fetchone() == (True, True)


def test_operators_of_users_are_not_taken_over(connection):
    """An existing operator would become the commutator or the negator of one of the extension's."""
    connection.execute(
        """
        CREATE FUNCTION after(timestamptz, uuid) RETURNS boolean LANGUAGE sql RETURN true;
        CREATE OPERATOR > (FUNCTION = after, LEFTARG = timestamptz, RIGHTARG = uuid)
        """
    )
    with pytest.raises(psycopg.errors.DuplicateFunction, match=r"operator >\(timestamp with time zone,uuid\) already"):
        connection.execute("CREATE EXTENSION scru_uuidv7")


def test_operators_in_the_schema_of_scru_do_not_matter(connection):
    """Whoever may create objects in the schema of scru cannot prevent CREATE EXTENSION in another schema."""
    connection.execute(
        """
        CREATE FUNCTION after(timestamptz, uuid) RETURNS boolean LANGUAGE sql RETURN true;
        CREATE OPERATOR > (FUNCTION = after, LEFTARG = timestamptz, RIGHTARG = uuid);
        CREATE FUNCTION has(scru_internal.scru_tstzrange, uuid) RETURNS boolean LANGUAGE sql RETURN true;
        CREATE OPERATOR @> (FUNCTION = has, LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = uuid);
        CREATE SCHEMA ids;
        CREATE EXTENSION scru_uuidv7 SCHEMA ids
        """
    )
    related = (
        "SELECT oprcom::regoperator::text, oprnegate::regoperator::text FROM pg_operator WHERE oid = %s::regoperator"
    )
    assert connection.execute(related, ["ids.<(uuid, timestamptz)"]).fetchone() == (
        "ids.>(timestamp with time zone,uuid)",
        "ids.>=(uuid,timestamp with time zone)",
    )
    commutator = connection.execute(related, ["ids.<@(uuid, scru_internal.scru_tstzrange)"]).fetchone()[0]
    assert commutator == "ids.@>(scru_internal.scru_tstzrange,uuid)"


def test_operators_refer_to_each_other(uuids):
    """Each operator's commutator and negator are the extension's, and none is an equality."""
    query = """
        SELECT oprname, oprcom <> 0, oprnegate <> 0 OR oprname IN ('<@', '@>'),
               (SELECT count(*) FROM pg_depend WHERE objid IN (oprcom, oprnegate) AND refobjid = extension.oid)
        FROM pg_operator AS o JOIN pg_depend AS d ON d.objid = o.oid AND d.classid = 'pg_operator'::regclass
        JOIN pg_extension AS extension ON extension.oid = d.refobjid AND extname = 'scru_uuidv7'
        ORDER BY oprname COLLATE "C"
    """
    members = 2
    assert uuids.execute(query).fetchall() == [
        ("<", True, True, members),
        ("<", True, True, members),
        ("<=", True, True, members),
        ("<=", True, True, members),
        ("<@", True, True, 1),
        (">", True, True, members),
        (">", True, True, members),
        (">=", True, True, members),
        (">=", True, True, members),
        ("@>", True, True, 1),
    ]


# ------------------------------------------------------------------------------------------------------------ estimates


@pytest.fixture(scope="module")
def orders() -> Iterator[psycopg.Connection]:
    """For each distribution, a table with a uuid, its time and a number."""
    with Server({"autovacuum": "off"}) as server, server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        for name, (rows, position) in DISTRIBUTIONS.items():
            create(connection, Uuidv7(), f"uuidv7_{name}", rows, position)
        yield connection


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_estimates_are_as_good_as_those_of_times(orders, measured, distribution):
    """As for the types of scru, except for comparisons of two uuids."""
    table = f"uuidv7_{distribution}"
    source = random.Random(f"estimates of {table}")
    different, bursts, count = [], 0, 0
    with orders.transaction():
        for form in [form for form in FORMS if form not in OF_UUIDS]:
            for a, b in ranges(source, RANGES):
                by_id, by_time = (
                    estimate(orders, SQL.format(table=table, condition=condition))
                    for condition in conditions(orders, Uuidv7(), form, a, b)
                )
                count += 1
                if not is_close(by_id, by_time):
                    if distribution == "bursty" and abs(by_id - by_time) <= 1.25 * BURST:
                        bursts += 1
                    else:
                        different.append((form, str(a), str(b), by_id, by_time))
    measured(f"estimates: {table}: {count - len(different) - bursts} of {count} as by time")
    assert different == []
    assert bursts <= 0.03 * count


@pytest.mark.parametrize("tables", [tables for tables in TABLES if tables != "partitions"])
def test_estimates_of_other_tables(orders, tables):
    """Joins, and tables without statistics."""
    source = random.Random(f"{tables} of uuidv7")
    different = []
    with orders.transaction():
        for form in ("since", "two", "between", "clock", "setting", *(["range"] if "no" not in tables else [])):
            for a, b in ranges(source, RANGES // 4):
                found = []
                for condition, column in zip(conditions(orders, Uuidv7(), form, a, b), ("id", "at"), strict=True):
                    of_table = [condition.replace(f"{column} ", f"{alias}.{column} ") for alias in "op"]
                    query = TABLES[tables].format(
                        table="uuidv7_small", condition=of_table[0], condition_of_p=of_table[1]
                    )
                    found.append(estimate(orders, f"SELECT * FROM {query}"))
                if not is_close(*found):
                    different.append((form, str(a), str(b), *found))
    assert different == []


def test_a_condition_reads_its_rows_by_the_index_only(orders):
    """A scan of the primary key reads the rows of ten days, and no others. They are ten of the histogram's hundred
    buckets, so that a random sample of the table hardly changes the estimate."""
    days = f"id >= timestamptz '{END}' - interval '11 days' AND id < timestamptz '{END}' - interval '1 day'"
    [node] = nodes(analyze(orders, f"SELECT * FROM uuidv7_uniform WHERE {days}"))
    assert (node["Node Type"], "Filter" in node) == ("Index Scan", False)
    assert node["Plan Rows"] == pytest.approx(node["Actual Rows"], rel=0.06)


def test_the_server_s_statistics_limit_the_cost_of_an_index(orders, measured):
    """The cost of an index scan has the server's estimate of the comparison of uuids, which is no finer than a bucket
    of the histogram. With the statistics target of the page, it is close to the cost with a time."""

    def cost(column: str, days: int, width: str) -> float:
        end = f"timestamptz '{END}' - interval '{days} days'"
        query = f"SELECT * FROM uuidv7_uniform WHERE {column} >= {end} - interval '{width}' AND {column} < {end}"
        [(plans,)] = orders.execute(f"EXPLAIN (FORMAT JSON) {query}")
        assert plans[0]["Plan"]["Node Type"] == "Index Scan"
        return plans[0]["Plan"]["Total Cost"]

    def ratios() -> list[float]:
        """Returns the ratios to the costs with a time, in order, for times of several widths and distances."""
        widths = ("1 minute", "1 hour", "12 hours", "1 day", "3 days")
        times = [(days, width) for days in (3, 17, 30, 45, 71) for width in widths]
        return sorted(cost("id", *time) / cost("at", *time) for time in times)

    [target] = re.findall(r"SET STATISTICS (\d+)`", PAGE.read_text())
    before = ratios()
    orders.execute(f"ALTER TABLE uuidv7_uniform ALTER id SET STATISTICS {target}; ANALYZE uuidv7_uniform")
    after = ratios()
    orders.execute("ALTER TABLE uuidv7_uniform ALTER id SET STATISTICS -1; ANALYZE uuidv7_uniform")
    shown = (f"{low:.2f} to {high:.2f}" for low, *_, high in (before, after))
    measured("cost of a uuid index, as a ratio to that of a time: {}; with more statistics: {}".format(*shown))
    assert before[0] < after[0]
    assert after[0] > 1 / 2
    assert after[-1] < 2
