"""Feeds whose rows lie on other nodes. A database stands for a node: no horizon knows the transactions of another one.

In each test, a writer is held, so that the wrong way misses its row in any case.
"""

from __future__ import annotations

import psycopg
import pytest

from server import oldest_and_newest, wait_until

pytestmark = oldest_and_newest("the horizon of a node does not depend on the version")

FIRST = "00000000-0000-7000-8000-000000000000"
GUARD = (
    "CREATE TRIGGER guard AFTER INSERT ON events FOR EACH ROW WHEN (NOT uuidv7_is_timely(NEW.id, '2 s'))"
    " EXECUTE FUNCTION scru_feed_guard('id', '2 s')"
)
HORIZON = f"uuidv7_horizon('{FIRST}', '2 s')"


def create(node: psycopg.Connection) -> None:
    node.execute("CREATE EXTENSION scru_uuidv7")
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


@pytest.fixture
def nodes(connection, new_database):
    """Three nodes: a coordinator and two workers with a part of the table each."""
    with new_database().connect() as one, new_database().connect() as two:
        connection.execute("CREATE EXTENSION scru_uuidv7")
        create(one)
        create(two)
        yield connection, one, two


@pytest.mark.parametrize("way", ["minimum over the nodes", "of each node", "of the coordinator"])
def test_of_several_nodes_only_the_minimum_misses_nothing(nodes, way):
    """A transaction on both nodes is committed on one, and still open on the other."""
    coordinator, one, two = nodes
    two.execute("BEGIN")
    late = insert(two)
    seen = insert(one)
    wait_until_below(one, seen, HORIZON)
    wait_until_below(coordinator, seen, HORIZON)
    with psycopg.connect(two.info.dsn, autocommit=True) as reader:
        workers = (one, reader)

        def page(after: str) -> list[str]:
            """Returns the rows of both nodes after a position."""
            ends = [node.execute(f"SELECT {HORIZON}").fetchone()[0] for node in workers]
            if way == "minimum over the nodes":
                ends = [min(ends)] * 2
            elif way == "of the coordinator":
                ends = [coordinator.execute(f"SELECT {HORIZON}").fetchone()[0]] * 2
            query = "SELECT id::text FROM events WHERE id > %s AND id < %s"
            rows = (node.execute(query, [after, end]) for node, end in zip(workers, ends, strict=True))
            return sorted(row for found in rows for (row,) in found)

        received = page(FIRST)
        two.execute("COMMIT")
        wait_until_below(reader, seen, HORIZON)
        received += page(received[-1] if received else FIRST)
    assert received == ([late, seen] if way == "minimum over the nodes" else [seen])


@pytest.mark.parametrize("table", ["readable", "events"])
def test_the_condition_belongs_to_the_server_that_has_the_rows(nodes, table):
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
    condition = f"AND id < {HORIZON}" if table == "events" else ""

    def page(after: str) -> list[str]:
        query = f"SELECT id::text FROM {table} WHERE id > %s {condition} ORDER BY id"
        return [row for (row,) in local.execute(query, [after])]

    with psycopg.connect(remote.info.dsn, autocommit=True) as writer:
        writer.execute("BEGIN")
        late = insert(writer)
        seen = insert(remote)
        wait_until_below(local, seen, HORIZON)
        received = page(FIRST)
        writer.execute("COMMIT")
    wait_until_below(remote, seen, HORIZON)
    received += page(received[-1] if received else FIRST)
    assert received == ([late, seen] if table == "readable" else [seen])
    # The remote guard refuses rows that are written through the foreign table too late.
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too old for a feed"):
        local.execute("INSERT INTO events VALUES (gen_uuidv7(now() - interval '1 min'))")
    local.execute(
        "CREATE TRIGGER guard AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION scru_feed_guard('id', '2 s')"
    )
    with pytest.raises(psycopg.errors.TriggerProtocolViolated):
        local.execute("INSERT INTO events VALUES (gen_uuidv7())")
