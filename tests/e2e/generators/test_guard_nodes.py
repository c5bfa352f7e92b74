"""Feeds whose rows lie on other nodes. No horizon knows the transactions of another node.

A database stands for a node. In test_guard_load.py, nodes are servers under load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import psycopg
import pytest

import expect
from page import text
from server import wait_until

FIRST = "00000000-0000-7000-8000-000000000000"
GUARD = (
    "CREATE TRIGGER guard AFTER INSERT OR UPDATE ON events FOR EACH ROW EXECUTE FUNCTION scru_feed_guard('id', '2 s')"
)
HORIZON = f"uuidv7_horizon('{FIRST}', '2 s')"
# The first statement of the recipe, what each node runs for it, and the same statement with the results as parameters.
[RECIPE] = re.findall(r"SELECT min\(result\) FROM run_command.*?(?=;\n)", text("citus"), re.DOTALL)
OF_NODE = re.search(r"\$\$(.*)\$\$", RECIPE)[1].replace("5 s", "2 s")
FROM_NODES = "FROM unnest(%s::bool[], %s::text[]) AS of_nodes (success, result)"
MINIMUM = re.sub(r"FROM run_command_on_all_nodes\(.*\$\$\)", FROM_NODES, RECIPE, flags=re.DOTALL)


def create(node: psycopg.Connection) -> None:
    node.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
    node.execute("CREATE TABLE events (id uuid PRIMARY KEY)")
    node.execute(GUARD)


def insert(node: psycopg.Connection) -> str:
    """Inserts a row with an ID of a later millisecond than those before: the order within one is by chance."""
    node.execute("SELECT pg_sleep(0.005)")
    return node.execute("INSERT INTO events VALUES (gen_uuidv7()) RETURNING id::text").fetchone()[0]


def wait_until_below(node: psycopg.Connection, row: str, horizon: str) -> None:
    """Waits until the horizon of a node is above a row."""
    below = f"SELECT {horizon} > %s"
    wait_until(lambda: node.execute(below, [row]).fetchone()[0], "the horizon passes the row")


def minimum(coordinator: psycopg.Connection, nodes: Sequence[psycopg.Connection]) -> str | None:
    """Returns the result of the first statement of the recipe; `None` if a node has failed."""
    results = []
    for node in nodes:
        try:
            results.append((True, str(node.execute(OF_NODE).fetchone()[0])))
        except psycopg.Error as error:
            results.append((False, str(error)))
    row = coordinator.execute(MINIMUM, [list(column) for column in zip(*results, strict=True)]).fetchone()
    return row[0] if row else None


def read(nodes: list[psycopg.Connection], after: str, ends: list[str]) -> list[str]:
    """Returns the rows of all nodes after a position, each up to an end."""
    query = "SELECT id::text FROM events WHERE id > %s AND id < %s"
    rows = (node.execute(query, [after, end]) for node, end in zip(nodes, ends, strict=True))
    return sorted(row for found in rows for (row,) in found)


@pytest.fixture
def nodes(connection, new_database):
    """Three nodes: a coordinator and two workers with a part of the table each."""
    with new_database().connect() as one, new_database().connect() as two:
        connection.execute("CREATE EXTENSION scru_uuidv7")
        create(one)
        create(two)
        yield connection, one, two


@contextmanager
def held_writer(nodes) -> Iterator[tuple[psycopg.Connection, str, str]]:
    """An open transaction on the second node, its ID, and a later one of the first node, which other horizons pass."""
    coordinator, one, two = nodes
    with psycopg.connect(two.info.dsn, autocommit=True) as writer:
        writer.execute("BEGIN")
        late, seen = insert(writer), insert(one)
        wait_until_below(one, seen, HORIZON)
        wait_until_below(coordinator, seen, HORIZON)
        yield writer, late, seen


def test_of_several_nodes_only_the_minimum_misses_nothing(nodes):
    """A transaction on both nodes is committed on one, and still open on the other. Other horizons pass its row."""
    coordinator, *workers = nodes
    with held_writer(nodes) as (writer, late, seen):
        assert read(workers, FIRST, [minimum(coordinator, nodes)] * 2) == []
        writer.execute("COMMIT")
        wait_until_below(workers[1], seen, HORIZON)
        assert read(workers, FIRST, [minimum(coordinator, nodes)] * 2) == [late, seen]


def test_the_guard_of_a_node_refuses_ids_that_the_minimum_has_passed(nodes):
    """The coordinator has generated the ID, and its row arrives late."""
    coordinator, one, two = nodes
    [late] = coordinator.execute("SELECT gen_uuidv7()::text").fetchone()
    seen = insert(one)
    wait_until(lambda: minimum(coordinator, nodes) > seen, "the minimum passes the row")
    with pytest.raises(psycopg.errors.CheckViolation, match="too old for a feed"):
        two.execute("INSERT INTO events VALUES (%s)", [late])
    assert read([one, two], FIRST, [minimum(coordinator, nodes)] * 2) == [seen]


def test_there_is_no_minimum_if_a_node_has_failed(nodes):
    """The minimum over the others would pass its open transactions."""
    coordinator, _, two = nodes
    two.execute("SET application_name = 'citus_internal gpid=1'")  # So it raises 0A000.
    assert minimum(coordinator, nodes) is None
    two.execute("RESET application_name")
    assert minimum(coordinator, nodes) is not None


def test_of_several_origins_only_the_lowest_heartbeat_misses_nothing(new_server):
    """A transaction of one origin is open when a later row of the other one arrives."""
    origins, subscriber = new_server({"wal_level": "logical"}), new_server({"wal_level": "logical"})
    with subscriber.connect() as reader, ExitStack() as stack:

        def create_tables(session: psycopg.Connection) -> None:
            session.execute("CREATE EXTENSION scru_uuidv7 CASCADE; CREATE TABLE events (id uuid PRIMARY KEY)")
            session.execute("CREATE TABLE heartbeat (origin text PRIMARY KEY, horizon uuid NOT NULL)")

        create_tables(reader)
        sessions = {}
        for name in ("a", "b"):
            origins.psql("postgres", f"CREATE DATABASE {name}".encode())
            origin = sessions[name] = stack.enter_context(origins.connect(name))
            create_tables(origin)
            origin.execute("CREATE PUBLICATION feed FOR TABLE events, heartbeat")
            # Before the first row of the origin.
            origin.execute("INSERT INTO heartbeat VALUES (%s, %s)", [name, FIRST])
            address = f"host={origins.directory} port={origins.port} user=postgres dbname={name}"
            reader.execute(f"CREATE SUBSCRIPTION {name} CONNECTION '{address}' PUBLICATION feed")
        ready = "SELECT count(*) = 4 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel"
        wait_until(lambda: reader.execute(ready).fetchone()[0], "the tables are copied")

        def page() -> list[str]:
            """Returns the rows below the lowest heartbeat, after that of each origin has arrived."""
            for name, origin in sessions.items():
                update = "UPDATE heartbeat SET horizon = uuidv7_horizon() RETURNING horizon::text"
                [sent] = origin.execute(update).fetchone()
                arrived = "SELECT horizon >= %s FROM heartbeat WHERE origin = %s"
                wait_until(lambda: reader.execute(arrived, [sent, name]).fetchone()[0], "the heartbeat arrives")  # noqa: B023
            lowest = "(SELECT min(horizon::text)::uuid FROM heartbeat)"
            return [row for (row,) in reader.execute(f"SELECT id::text FROM events WHERE id < {lowest} ORDER BY id")]

        with origins.connect("a") as writer:
            writer.execute("BEGIN")
            late, seen = insert(writer), insert(sessions["b"])
            wait_until_below(sessions["b"], seen, "uuidv7_horizon()")
            assert page() == []
            writer.execute("COMMIT")
        wait_until_below(sessions["a"], seen, "uuidv7_horizon()")
        assert page() == [late, seen]


@pytest.fixture
def foreign(nodes):
    """Two nodes. The first one has foreign tables on the table of the second one, and on a view of it."""
    local, remote, _ = nodes
    if not local.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'").fetchone():
        pytest.skip("this server has no postgres_fdw (contrib)")
    info = remote.info
    local.execute("CREATE EXTENSION postgres_fdw")
    options = f"host '{info.host}', port '{info.port}', dbname '{info.dbname}'"
    local.execute(f"CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({options})")
    local.execute("CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user 'postgres')")
    remote.execute(f"CREATE VIEW readable AS SELECT * FROM events WHERE id < {HORIZON}")
    for name in ("events", "readable"):
        local.execute(f"CREATE FOREIGN TABLE {name} (id uuid) SERVER remote")
    # Loads the library, whose hook sees the conditions.
    local.execute("SELECT gen_uuidv7()")
    return local, remote


def test_the_condition_belongs_to_the_server_that_has_the_rows(foreign):
    """A horizon of the local server would pass the row."""
    local, remote = foreign
    query = "SELECT id::text FROM readable ORDER BY id"
    with psycopg.connect(remote.info.dsn, autocommit=True) as writer:
        writer.execute("BEGIN")
        late, seen = insert(writer), insert(remote)
        wait_until_below(local, seen, HORIZON)
        assert local.execute(query).fetchall() == []
        writer.execute("COMMIT")
    wait_until_below(remote, seen, HORIZON)
    assert local.execute(query).fetchall() == [(late,), (seen,)]
    # The remote guard refuses rows that are written through the foreign table too late.
    with pytest.raises(psycopg.errors.CheckViolation, match="too old for a feed"):
        local.execute("INSERT INTO events VALUES (gen_uuidv7(now() - interval '1 min'))")
    local.execute(GUARD)
    with pytest.raises(psycopg.errors.TriggerProtocolViolated):
        local.execute("INSERT INTO events VALUES (gen_uuidv7())")


DETAIL = "A server does not know which transactions run on the servers with the rows."
ELSEWHERE = [
    "SELECT FROM {} WHERE id < uuidv7_horizon()",
    f"SELECT FROM {{}} WHERE {HORIZON} > id",
    "SELECT FROM {} WHERE id < (SELECT uuidv7_horizon())",
    "WITH h AS (SELECT uuidv7_horizon() AS h) SELECT FROM {}, h WHERE id < h.h",
    "INSERT INTO own SELECT id FROM {} WHERE id < uuidv7_horizon()",
    "UPDATE own SET id = other.id FROM {} AS other WHERE own.id = other.id AND other.id < uuidv7_horizon()",
]
HARMLESS = [
    "SELECT FROM own LEFT JOIN {} AS other USING (id) WHERE own.id < uuidv7_horizon()",
    "SELECT FROM own WHERE id < uuidv7_horizon() AND id NOT IN (SELECT id FROM {})",
    "SELECT uuidv7_horizon() FROM {}",
    "SELECT FROM {} WHERE id < (SELECT max(id::text)::uuid FROM own WHERE id < uuidv7_horizon())",
    "SELECT FROM {} WHERE id < uuidv7_horizon(1)",
    f"SELECT FROM {{}} WHERE uuidv7_horizon() > '{FIRST}'",
    # Not seen, as the page says.
    "WITH h AS MATERIALIZED (SELECT uuidv7_horizon() AS h) SELECT FROM {}, h WHERE id < h.h",
    "SELECT FROM {} WHERE id < uuidv7_horizon(2)",
]


def refuses_a_horizon(session: psycopg.Connection, kind: str, table: str, hint: str) -> None:
    session.execute("CREATE TABLE own (id uuid)")
    session.execute(
        "CREATE FUNCTION uuidv7_horizon(n int) RETURNS uuid STABLE LANGUAGE plpgsql"
        " AS $$ BEGIN RETURN CASE n WHEN 2 THEN uuidv7_horizon() END; END $$"
    )
    for query in ELSEWHERE:
        with expect.error("0A000", f'cannot apply uuidv7_horizon() to {kind} table "{table}"', DETAIL, hint):
            session.execute(query.format(table))
    for query in HARMLESS:
        session.execute(query.format(table))
    # $1 is a parameter, and has the number of a subquery.
    query = "SELECT (SELECT 1), (SELECT uuidv7_horizon()) FROM {} WHERE id > $1"
    session.execute("SET plan_cache_mode = force_generic_plan")
    session.execute(f"PREPARE page AS {query.format(table)}; EXECUTE page ('{FIRST}')")
    session.execute("RESET plan_cache_mode")


def test_a_horizon_is_refused_for_a_foreign_table(foreign):
    hint = "Create a view with the condition on the foreign server, and a foreign table on that view."
    local, _ = foreign
    refuses_a_horizon(local, "foreign", "events", hint)
    # The first statement of a session is planned without the library, unless that is preloaded.
    query = "SELECT FROM events WHERE id < (SELECT uuidv7_horizon())"
    for options, count in (("", 1), ("-c session_preload_libraries=scru", 0)):
        with psycopg.connect(local.info.dsn, options=options, autocommit=True) as session:
            for _ in range(count):
                session.execute(query)
            with pytest.raises(psycopg.errors.FeatureNotSupported):
                session.execute(query)
    # A column of another type of IDs.
    local.execute("CREATE FOREIGN TABLE numbers (id bigint) SERVER remote")
    with expect.error("0A000", 'cannot apply scru64_horizon() to foreign table "numbers"', DETAIL, hint):
        local.execute("SELECT FROM numbers WHERE id < scru64_horizon()::bigint")
    # Partitions with old rows can be elsewhere.
    local.execute("CREATE TABLE feed (id uuid) PARTITION BY RANGE (id); CREATE TABLE feed_2 PARTITION OF feed DEFAULT")
    old = f"FOR VALUES FROM (MINVALUE) TO ('{FIRST}') SERVER remote OPTIONS (table_name 'events')"
    local.execute(f"CREATE FOREIGN TABLE feed_1 PARTITION OF feed {old}")
    local.execute("SELECT FROM feed WHERE id < uuidv7_horizon()")


def test_a_horizon_is_refused_for_a_table_that_citus_distributes(connection, database):
    """Without Citus: a setting and a table stand in for those of Citus."""
    connection.execute("CREATE EXTENSION scru_uuidv7; CREATE TABLE events (id uuid)")
    connection.execute("SELECT gen_uuidv7()")
    query = "SELECT FROM events WHERE id < uuidv7_horizon()"
    connection.execute(query)
    with database.connect(options="-c citus.shard_count=8") as node:
        node.prepare_threshold = None
        node.execute(query)
        node.execute("SET allow_system_table_mods = on")
        columns = '(logicalrelid regclass, partmethod "char", colocationid int, repmodel "char")'
        node.execute(f"CREATE TABLE pg_catalog.pg_dist_partition {columns}")
        node.execute(query)
        node.execute("INSERT INTO pg_dist_partition VALUES ('events', 'h', 1, 's')")
        hint = "Compute the minimum of the horizons of all nodes first, and pass it as a parameter."
        refuses_a_horizon(node, "distributed", "events", hint)
        # A reference table, a table of this node only, and a table of a distributed schema.
        for facts, is_refused in (("'n', 5, 't'", False), ("'n', 0, 's'", False), ("'n', 7, 's'", True)):
            node.execute(f"UPDATE pg_dist_partition SET (partmethod, colocationid, repmodel) = ({facts})")
            if is_refused:
                with pytest.raises(psycopg.errors.FeatureNotSupported):
                    node.execute(query)
            else:
                node.execute(query)
        else:
            connection.execute(query)
