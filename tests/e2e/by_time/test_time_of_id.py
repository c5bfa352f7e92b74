"""Queries by the time of an ID are planned like those by a column of times."""

from __future__ import annotations

import re
import signal
import subprocess

import psycopg
import pytest

from plans import assert_costs, estimate, execution_time, explain, nodes
from server import BINDIR, Server, as_server_user, long, on_every_version

pytestmark = on_every_version

SETUP = """
    CREATE TABLE twin (id scru128 PRIMARY KEY, customer_id int, created_at timestamptz NOT NULL);
    INSERT INTO twin SELECT id, i % 100, id::timestamptz
        FROM generate_series(1, 50000) AS i, gen_scru128(timestamptz '2026-11-01 00:00+00' + i * interval '40 s') AS id;
    CREATE TABLE orders AS SELECT id, customer_id FROM twin;
    ALTER TABLE orders ADD PRIMARY KEY (id);
    CREATE INDEX ON orders (customer_id, id);
    CREATE INDEX ON twin (created_at);
    CREATE INDEX ON twin (customer_id, created_at);
    CREATE VIEW with_time AS SELECT *, id::timestamptz AS created_at FROM orders;
    VACUUM ANALYZE twin;
    VACUUM ANALYZE orders
"""
DAY = "created_at >= '2026-11-10 00:00+00' AND created_at < '2026-11-11 00:00+00'"
# The filter lists the columns in another order: for SELECT *, the server returns rows of a table as they are stored.
PLANNED = {
    "filter": f"SELECT created_at, id, customer_id FROM {{}} WHERE {DAY}",
    "count": f"SELECT count(*) FROM {{}} WHERE {DAY}",
    "order": "SELECT * FROM {} ORDER BY created_at DESC LIMIT 10",
    "customer": "SELECT * FROM {} WHERE customer_id = 5 ORDER BY created_at DESC LIMIT 10",
    "min": "SELECT min(created_at) FROM {}",
    "max": "SELECT max(created_at) FROM {}",
    "distinct": "SELECT DISTINCT created_at FROM {} LIMIT 10",
    "week": "SELECT date_trunc('day', created_at), count(*) FROM {} WHERE created_at >= '2026-11-17' GROUP BY 1",
}
# The values are unknown to the planner, which estimates two bounds of a range less than two conditions.
GENERIC = """
    PREPARE within_{0} (timestamptz, timestamptz) AS SELECT * FROM {0} WHERE created_at >= $1 AND created_at < $2;
    SET plan_cache_mode = force_generic_plan
"""


def prepare(connection: psycopg.Connection) -> None:
    """Creates both tables and the view."""
    for statement in SETUP.split(";"):
        connection.execute(statement)


def scan(connection: psycopg.Connection, query: str) -> tuple[str, float, int]:
    """Returns the only scan of the second execution: the node, the estimated rows, and the blocks that it reads."""
    connection.execute(query)
    [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {query}")
    [found] = (node for node in nodes(plans[0]["Plan"]) if "Relation Name" in node)
    return found["Node Type"], found["Plan Rows"], found["Shared Hit Blocks"]


def test_estimates_and_plans_are_those_of_the_column(connection):
    prepare(connection)
    for table in ("twin", "with_time"):
        connection.execute(GENERIC.format(table))
    generic = "EXECUTE within_{} ('2026-11-10 00:00+00', '2026-11-11 00:00+00')"
    for name, query in {**PLANNED, "generic": generic}.items():
        (of_column, rows, blocks), (of_id, rows_of_id, blocks_of_id) = (
            scan(connection, query.format(table)) for table in ("twin", "with_time")
        )
        # The key has all columns of the index on the customer.
        assert of_id.replace(" Only", "") == of_column.replace(" Only", ""), name
        assert rows / 1.5 <= rows_of_id <= rows * 1.5, name
        # The index on the ID is twice as large as that on a timestamptz.
        assert blocks_of_id <= blocks * 2.5 + 5, name
    row = "SELECT * FROM {} WHERE (created_at, customer_id) > (timestamptz '2026-11-20', 5)"
    of_column, of_id = (estimate(connection, row.format(table)) for table in ("twin", "with_time"))
    assert of_id == pytest.approx(of_column, rel=0.1)


def test_a_function_that_the_planner_calls_can_plan_such_a_query(connection):
    """The planner calls functions also between the simplification of a query and the look at its tables."""
    prepare(connection)
    since = "SELECT max(created_at) - interval '2 hours' FROM with_time"
    connection.execute(
        f"""
        CREATE VIEW few AS SELECT *, id::timestamptz AS created_at FROM orders WHERE customer_id = 5;
        CREATE FUNCTION planned() RETURNS timestamptz STABLE SECURITY DEFINER LANGUAGE sql RETURN ({since});
        CREATE FUNCTION folded(OUT since timestamptz) IMMUTABLE LANGUAGE plpgsql
            AS $$BEGIN EXECUTE $q${since}$q$ INTO since; RETURN; END$$;
        CREATE FUNCTION number() RETURNS bigint STABLE LANGUAGE sql RETURN (SELECT count(*) FROM few) % 9
        """
    )
    for query in (
        "SELECT * FROM with_time WHERE created_at > planned()",
        "SELECT * FROM with_time WHERE created_at > planned() ORDER BY created_at DESC LIMIT 5",
        "SELECT max(customer_id) FROM with_time WHERE created_at > planned()",
        "SELECT min(created_at), max(created_at) FROM with_time WHERE created_at > planned()",
        "SELECT * FROM with_time WHERE created_at > folded()",
        "SELECT * FROM with_time WHERE created_at > '2026-11-23 12:00+00' LIMIT number()",
        """SELECT * FROM with_time WHERE created_at > '2026-11-23 12:00+00'
           AND customer_id = (SELECT customer_id FROM few WHERE created_at > planned() LIMIT 1)""",
    ):
        plan = explain(connection, query)
        assert re.search("Index Cond: .*id >", plan) and not re.search(r"Filter: \(\(id\)|Seq Scan|Sort", plan), query


PARTITIONS = """
    CREATE TABLE p (id scru128 PRIMARY KEY, n int) PARTITION BY RANGE (id);
    DO $$ BEGIN FOR day IN 0 .. 999 LOOP
        EXECUTE format('CREATE TABLE p_%s PARTITION OF p FOR VALUES FROM (%L) TO (%L)', day,
            scru128_lower(date_trunc('day', now(), 'UTC') - (day - 1) * interval '24 hours'),
            scru128_lower(date_trunc('day', now(), 'UTC') - (day - 2) * interval '24 hours'));
    END LOOP; END $$;
    INSERT INTO p SELECT gen_scru128(now() - n * interval '1 h'), n FROM generate_series(1, 23000) AS n;
    CREATE VIEW days AS SELECT *, id::timestamptz AS created_at FROM p;
    CREATE TABLE calendar AS SELECT current_date - n AS day FROM generate_series(1, 3) AS n;
    PREPARE since (date) AS SELECT * FROM days WHERE created_at >= $1 AND created_at < $1 + 1;
    SET plan_cache_mode = force_generic_plan
"""
# Queries, and the largest number of partitions that they read.
OF_DAYS = {
    "SELECT * FROM days WHERE created_at >= current_date - 2": 5,
    "SELECT * FROM days WHERE created_at >= current_date - interval '2 days'": 5,
    "SELECT * FROM days WHERE created_at >= (SELECT max(day) FROM calendar) AND created_at < 'infinity'::date": 4,
    "EXECUTE since (current_date - 7)": 3,
    "SELECT * FROM days WHERE created_at IN (now() - interval '7 days', now() - interval '9 days')": 2,
    "SELECT * FROM days ORDER BY created_at DESC LIMIT 5": 3,
    "SELECT created_at, n FROM days ORDER BY created_at DESC, id DESC LIMIT 5": 3,
    "SELECT max(created_at) FROM days": 3,
}


def test_a_thousand_partitions_by_the_id_are_those_by_the_time(connection):
    """Dates skip them, and the order by the time reads one after the other."""
    connection.execute("SET max_parallel_workers_per_gather = 0; SET enable_bitmapscan = off; SET timezone = 'UTC'")
    connection.execute(PARTITIONS)
    connection.execute("VACUUM ANALYZE p")
    for query, most in OF_DAYS.items():
        [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}")
        plan = plans[0]["Plan"]
        scans = [node for node in nodes(plan) if node.get("Relation Name", "").startswith("p_")]
        assert sum(node["Actual Loops"] > 0 for node in scans) <= most, query
        if "LIMIT" in query or "max" in query:
            assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= 10, query


@pytest.mark.alone
def test_a_view_is_read_as_fast_as_a_column(connection, measured):
    prepare(connection)
    pairs = {f"time of an ID, {name}": (of.format("with_time"), of.format("twin")) for name, of in PLANNED.items()}
    assert_costs(measured, connection.info.dsn, pairs, execution_time, 1.5, turns=20)


def test_a_session_without_the_extension_and_one_that_drops_it(connection):
    """The hooks of a session outlive the extension, and forget its functions."""
    query = "SELECT id::timestamptz FROM t WHERE id::timestamptz >= '2026-11-01' ORDER BY 1"
    for _ in range(2):
        connection.execute("CREATE TABLE t (id scru128 PRIMARY KEY DEFAULT gen_scru128())")
        connection.execute("INSERT INTO t DEFAULT VALUES")
        assert len(connection.execute(query).fetchall()) == 1
        plan = explain(connection, query)
        assert "Index Cond: (id >=" in plan
        assert "Sort" not in plan
        connection.execute("DROP EXTENSION scru CASCADE; DROP TABLE t")
        connection.execute("CREATE TABLE u (t timestamptz PRIMARY KEY)")
        connection.execute("SELECT * FROM u WHERE t > now() ORDER BY t")
        connection.execute("DROP TABLE u")
        connection.execute("CREATE EXTENSION scru")
    with connection.transaction(force_rollback=True):
        connection.execute("DROP EXTENSION scru")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute(query)


def test_a_session_notices_that_a_type_has_lost_its_operator_family(connection):
    """A session remembers the operators of a type. Another session drops their family, but not the operators."""
    connection.execute("CREATE TABLE t (id scru128)")
    query = "SELECT FROM t WHERE id > timestamptz '2026-11-01'"
    assert "::scru128)" in explain(connection, query)
    with psycopg.connect(connection.info.dsn, autocommit=True) as session:
        session.execute(
            """
            ALTER EXTENSION scru DROP OPERATOR FAMILY scru128_ops USING btree;
            ALTER EXTENSION scru DROP OPERATOR CLASS scru128_ops USING btree;
            DROP OPERATOR FAMILY scru128_ops USING btree CASCADE
            """
        )
    assert "Filter: (id > '2026-11-01 00:00:00+00'::timestamp with time zone)" in explain(connection, query)


# ------------------------------------------------------------------------------------------------------ instructions

PLANNINGS = 300
ORDERED = "EXPLAIN SELECT FROM {} WHERE created_at > now() ORDER BY created_at;"
LEARN = ORDERED.format("with_time")
OFF = "SET scru.enable_time_of_id = off;"
UNRELATED = "SELECT * FROM unrelated WHERE n = 5"
IN_ORDER = "SELECT * FROM unrelated WHERE at >= now() - interval '1 day' AND n = 5 ORDER BY at"
BY_ID = "SELECT * FROM orders WHERE id >= timestamptz '2026-11-10 00:00+00'"
BY_TIME = "SELECT * FROM {} WHERE created_at >= timestamptz '2026-11-10 00:00+00'"
BY_CLOCK = "SELECT * FROM {} WHERE created_at >= now() - interval '1 day'"
# A twin with two bounds, as an index on IDs needs them, and equality: of one time, and of ten.
BOUNDS_OF_TIME = "created_at >= '{0}' AND created_at <= '{0}'"
EQUAL = "created_at = '{0}'"
OF_TIMES = [(BOUNDS_OF_TIME, "with_column"), (EQUAL, "with_time")]


def of_times(form: str, table: str, count: int) -> str:
    """Returns a query for some times, each in a form."""
    times = (form.format(f"2026-11-10 00:00:{second:02}+00") for second in range(count))
    return f"SELECT * FROM {table} WHERE {' OR '.join(times)}"


def instructions(server: Server, query: str, *before: str, function: str = "planner") -> float:
    """Returns the number of instructions in the planner for a query, or in another function of the server, in a session
    that has executed other statements.

    Counts those of two sessions that plan it a different number of times.
    """
    counts = []
    statement, number = (f"EXPLAIN {query}", PLANNINGS) if function == "planner" else (query, 1)
    for count in (number, 2 * number):
        loop = f"DO $$ BEGIN FOR i IN 1 .. {count} LOOP EXECUTE $q${statement}$q$; END LOOP; END $$;"
        valgrind = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--callgrind-out-file=/dev/null"]
        postgres = [str(BINDIR / "postgres"), "--single", "-D", str(server.data), "postgres"]
        statements = "\n".join([*before, loop, ""])
        command = as_server_user(*valgrind, *postgres)
        done = subprocess.run(command, input=statements, capture_output=True, text=True, check=True, cwd="/")
        assert "ERROR" not in done.stderr, done.stderr
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
    return (counts[1] - counts[0]) / number


@long
@pytest.mark.alone
def test_the_instructions_of_planning(new_server, measured):
    """Queries without a time of an ID are planned as fast as without the hooks, and those of a view nearly as fast as
    those of a view of a column."""
    signal.alarm(1_800)
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE TABLE unrelated (n int, at timestamptz PRIMARY KEY)")
        prepare(connection)
        connection.execute("CREATE VIEW with_column AS SELECT * FROM twin")
        # Each row has its own time, or one of 120.
        connection.execute("CREATE TABLE ids AS SELECT id FROM twin; CREATE TABLE times AS SELECT created_at FROM twin")
        time = "timestamptz '2026-01-01' + n % 120 * interval '1 day'"
        ids = f"SELECT gen_scru128({time}) AS id FROM generate_series(1, 50000) AS n"
        connection.execute(f"CREATE TABLE batch_ids AS {ids}")
        connection.execute("CREATE TABLE batch_times AS SELECT id::timestamptz FROM batch_ids")
        # The first to read a row also marks it as visible.
        connection.execute("VACUUM ids, times, batch_ids, batch_times")
    server.stop()
    # Without and with the hooks, and how much more the second may be: a number, or a share of the first.
    pairs = {
        "no ID": ([(UNRELATED, (ORDERED.format("with_column"),)), (UNRELATED, (LEARN,))], 200, 0),
        "no ID, in order": ([(IN_ORDER, (ORDERED.format("with_column"),)), (IN_ORDER, (LEARN,))], 200, 0),
        "an ID": ([(BY_ID, (LEARN, OFF)), (BY_ID, (LEARN,))], 0, 0.03),
        "a view": ([(BY_TIME.format(table), (LEARN,)) for table in ("with_column", "with_time")], 0, 0.2),
        "one time": ([(of_times(form, table, 1), (LEARN,)) for form, table in OF_TIMES], 0, 0.3),
        "ten times": ([(of_times(form, table, 10), (LEARN,)) for form, table in OF_TIMES], 0, 0.3),
        "a view by the clock": ([(BY_CLOCK.format(table), (LEARN,)) for table in ("with_column", "with_time")], 0, 0.2),
    }
    for name, (pair, most, share) in pairs.items():
        without, with_hooks = (instructions(server, query, *before) for query, before in pair)
        measured(f"instructions of planning {name}: {without:.0f}, with the hooks {with_hooks:.0f}")
        assert with_hooks - without <= most + share * without, name
    for rows in "", "batch_":
        of_both = (f"ANALYZE {rows}{of}" for of in ("times", "ids"))
        of_time, of_id = (instructions(server, query, function="analyze_rel") for query in of_both)
        measured(f"instructions of ANALYZE: {of_time:.0f} for {rows}times, {of_id:.0f} for {rows}ids")
        assert of_id <= 1.3 * of_time
