"""Tables on another server, through postgres_fdw: what is pushed down, and that the results are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

import orders
from conftest import Database
from idtypes import IdType, each_type
from plans import analyze, nodes
from server import Server

ROWS = 400


@pytest.fixture
def foreign(server, new_database, id_type) -> Iterator[psycopg.Connection]:
    """A connection to a database with foreign tables of another. postgres_fdw knows that both have the extension."""
    remote, local = new_database(), new_database()
    with remote.connect() as connection:
        orders.create(connection, id_type, rows=ROWS)
    with local.connect() as connection:
        connect_to(connection, server, remote)
        connection.execute(
            f"""
            CREATE SCHEMA {id_type.name};
            IMPORT FOREIGN SCHEMA {id_type.name} FROM SERVER remote INTO {id_type.name};
            CREATE TABLE here.orders AS SELECT * FROM {id_type.name}.orders;
            """
        )
        yield connection


def connect_to(connection: psycopg.Connection, server: Server, remote: Database) -> None:
    """Creates the foreign server for a database, and the schema `here`. Skips the test if there is no postgres_fdw."""
    if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'").fetchone():
        pytest.skip("this server has no postgres_fdw (contrib)")
    connection.execute(
        f"""
        CREATE EXTENSION postgres_fdw;
        CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (
                host '{server.directory}', dbname '{remote.name}', extensions 'scru', use_remote_estimate 'true'
            );
        CREATE USER MAPPING FOR CURRENT_USER SERVER remote OPTIONS (user 'postgres');
        CREATE SCHEMA here;
        """
    )


def remote_sql(connection: psycopg.Connection, query: str) -> str:
    """Returns the query that is sent to the other server. Asserts that no other node of the plan processes rows."""
    [node] = [node for node in nodes(analyze(connection, query)) if node.get("Parent Relationship") != "InitPlan"]
    assert node["Node Type"] == "Foreign Scan"
    return plain(node["Remote SQL"])


def plain(sql: str) -> str:
    """Removes the extension's schema and the table aliases of columns from SQL."""
    return re.sub(r"OPERATOR\(public\.(\S+)\)", r"\1", sql).replace("public.", "").replace("r1.", "").replace("r2.", "")


def queries(connection: psycopg.Connection, id_type: IdType) -> dict[str, str]:
    """Returns queries on the orders of a type, each with a text that the remote query must contain."""
    t = id_type.name
    [(low, middle, high)] = connection.execute(
        "SELECT ids[20], ids[200], ids[380] FROM (SELECT array_agg(id::text ORDER BY id) FROM here.orders) AS x(ids)"
    )
    [(since, until)] = connection.execute(
        f"SELECT {t}_timestamp(%s::{t})::text, ({t}_timestamp(%s::{t}) + interval '1 day')::text", [low, high]
    )
    between = f"id > '{low}' AND id <= '{high}'"
    return {
        f"SELECT id, note FROM orders WHERE id = '{middle}'": f"WHERE ((id = '{middle}'",
        f"SELECT id, note FROM orders WHERE {between}": f"WHERE ((id > '{low}'",
        # A constant range is pushed down as two bounds. From any other range, the other server derives the bounds.
        f"SELECT id, note FROM orders WHERE id <@ tstzrange('{since}', '{until}')": f"WHERE ((id >= '{low[:3]}",
        f"SELECT id, note FROM orders WHERE tstzrange('{since}', '{until}') @> id": f"WHERE ((id >= '{low[:3]}",
        f"SELECT id, note FROM orders WHERE id <@ (SELECT tstzrange('{since}', '{until}'))": "(id <@ $1::",
        f"SELECT id, note FROM orders WHERE {t}_timestamp(id) >= '{since}'": f"{t}_timestamp(id) >= ",
        "SELECT id, note FROM orders ORDER BY id LIMIT 7": "ORDER BY id ASC NULLS LAST LIMIT 7",
        "SELECT id, note FROM orders ORDER BY id DESC LIMIT 7": "ORDER BY id DESC NULLS FIRST LIMIT 7",
        "SELECT min(id), max(id), count(*) FROM orders": "min(id), ",
        f"SELECT count(*) FROM orders WHERE {between}": "count(*)",
        "SELECT parent, count(*), max(id) FROM orders GROUP BY parent": "GROUP BY ",
        f"SELECT a.id, b.note FROM orders a JOIN orders b ON b.id = a.parent WHERE a.id > '{high}'": "INNER JOIN",
    }


@each_type
def test_push_down(foreign, id_type):
    """Comparisons, ranges of time, sorts, aggregates and joins are pushed down, and return the same rows as locally."""
    for query, pushed in queries(foreign, id_type).items():
        foreign.execute(f"SET search_path = {id_type.name}, public")
        assert pushed in remote_sql(foreign, query)
        there = foreign.execute(query).fetchall()
        foreign.execute("SET search_path = here, public")
        here = foreign.execute(query).fetchall()
        assert there == here if "ORDER BY" in query else sorted(there) == sorted(here)
        assert here


@each_type
def test_without_the_option_nothing_is_pushed_down(foreign, id_type):
    """As a control: without the option `extensions`, conditions, sorts and aggregates are not pushed down."""
    expected = queries(foreign, id_type)
    foreign.execute("ALTER SERVER remote OPTIONS (DROP extensions)")
    foreign.execute(f"SET search_path = {id_type.name}, public")
    asked = [node["Remote SQL"] for q in expected for node in nodes(analyze(foreign, q)) if "Remote SQL" in node]
    assert len(asked) >= len(expected)
    assert not any(word in sql for sql in asked for word in (" WHERE ", "ORDER BY", "min("))


def test_a_condition_that_an_older_version_does_not_have(server, new_database):
    """The foreign server has the extension in 0.1.0, which compares no ID with a time. Its upgrade solves this."""
    remote, local = new_database(extension=False), new_database()
    with remote.connect() as connection:
        connection.execute("CREATE EXTENSION scru VERSION '0.1.0'; CREATE TABLE orders AS SELECT gen_scru128() AS id")
    with local.connect() as connection:
        connect_to(connection, server, remote)
        connection.execute("IMPORT FOREIGN SCHEMA public LIMIT TO (orders) FROM SERVER remote INTO here")
        query = "SELECT count(*) FROM here.orders WHERE id < (SELECT now() + interval '1 min')"
        with pytest.raises(psycopg.errors.UndefinedFunction, match=r"public\.scru128 public\.< timestamp"):
            connection.execute(query)
        with remote.connect() as upgrading:
            upgrading.execute("ALTER EXTENSION scru UPDATE")
        assert connection.execute(query).fetchone() == (1,)


@each_type
def test_is_distinct_from_is_rejected_by_the_foreign_server(foreign, id_type):
    """The remote query does not name the schema of the operator, which is not in the search path of postgres_fdw."""
    foreign.execute(f"SET search_path = {id_type.name}, public")
    foreign.execute("ALTER SERVER remote OPTIONS (SET use_remote_estimate 'false')")
    with pytest.raises(psycopg.errors.UndefinedFunction, match=f"operator does not exist: public.{id_type} = public"):
        foreign.execute("SELECT id FROM orders WHERE parent IS DISTINCT FROM id")
    instead = "coalesce(id <> parent, (id IS NULL) <> (parent IS NULL))"
    assert foreign.execute(f"SELECT id FROM orders WHERE {instead}").rowcount == ROWS - 1


@each_type
def test_changes_are_pushed_down(foreign, id_type):
    """The local default generates the IDs of new rows. Updates and deletions by ID are pushed down."""
    t = id_type.name
    foreign.execute(f"ALTER FOREIGN TABLE {t}.orders ALTER id SET DEFAULT {id_type.generator}")
    new = foreign.execute(f"INSERT INTO {t}.orders (note) SELECT 'new' FROM generate_series(1, 50) RETURNING id::text")
    ids = [id_ for (id_,) in new]
    assert len(set(ids)) == 50
    first = f"id >= '{ids[0]}' AND id <@ tstzrange('-infinity', NULL)"
    update, delete = f"UPDATE {t}.orders SET note = 'changed' WHERE {first}", f"DELETE FROM {t}.orders WHERE {first}"
    for query, count in (update, 50), (delete, 50):
        plan = plain("\n".join(line for (line,) in foreign.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query}")))
        assert "Foreign Update on" in plan or "Foreign Delete on" in plan
        assert f"WHERE ((id >= '{ids[0]}')" in plan
        assert foreign.execute(query).rowcount == count
    count = f"SELECT count(*), count(*) FILTER (WHERE note LIKE 'order %') FROM {t}.orders"
    assert foreign.execute(count).fetchone() == (ROWS, ROWS)
