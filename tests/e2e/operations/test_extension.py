"""The extension as a whole: who can create it, its schema, and what DROP EXTENSION leaves."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

import expect
from idtypes import TYPES, each_type

CATALOGS = (
    *("pg_aggregate", "pg_amop", "pg_amproc", "pg_cast", "pg_depend", "pg_description", "pg_extension"),
    *("pg_init_privs", "pg_opclass", "pg_operator", "pg_opfamily", "pg_proc", "pg_type"),
)

SQL = Path(__file__).parents[3] / "sql"


def snapshot(connection) -> dict[str, set]:
    """Returns all rows of the catalogs as text."""
    return {catalog: set(connection.execute(f"SELECT t::text FROM {catalog} AS t")) for catalog in CATALOGS}


def test_the_types_are_those_of_the_tests(connection):
    """The extension agrees with the facts in tests/vectors, from which the other tests compute IDs."""
    columns = "type, bytes, digits, extract(epoch FROM tick) * 1000, smallest, largest"
    rows = connection.execute(f"SELECT {columns} FROM scru_types() ORDER BY type").fetchall()
    assert rows == [(t.name, t.length, t.text_length, t.tick, t.text(0), t.text(t.largest)) for t in TYPES]


def test_the_scripts_are_ascii():
    """The server reads a script in the encoding of the database."""
    scripts = [*SQL.glob("scru--*.sql"), *SQL.glob("install/*.sql"), *SQL.glob("released/*.sql")]
    assert len(scripts) > 8
    assert [script.name for script in scripts if not script.read_bytes().isascii()] == []


def test_drop_leaves_nothing(new_database):
    with new_database(extension=False).connect() as connection:
        before = snapshot(connection)
        connection.execute("CREATE EXTENSION scru")
        assert len(snapshot(connection)["pg_proc"]) > len(before["pg_proc"]) + 20
        connection.execute("DROP EXTENSION scru")
        assert snapshot(connection) == before
        connection.execute("CREATE EXTENSION scru")


def test_drop_spares_columns_in_use(connection):
    connection.execute("CREATE TABLE orders (id scru128)")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        connection.execute("DROP EXTENSION scru")


def test_a_database_owner_creates_it(plain_user, new_database):
    """The extension is trusted: creating, using and dropping it requires no superuser."""
    with new_database(extension=False, owner=plain_user).connect(user=plain_user) as connection:
        connection.execute("CREATE EXTENSION scru")
        connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128())")
        connection.execute("INSERT INTO orders DEFAULT VALUES")
        connection.execute("DROP TABLE orders")
        connection.execute("DROP EXTENSION scru")
        connection.execute("CREATE EXTENSION scru")


def test_a_user_of_the_database_does_not_create_it(plain_user, new_database):
    connect = new_database(extension=False).connect
    with connect(user=plain_user) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("CREATE EXTENSION scru")


def test_it_requires_plpgsql(new_database):
    """The installation script uses plpgsql, which every database has unless it was dropped."""
    with new_database(extension=False).connect() as connection:
        connection.execute("DROP EXTENSION plpgsql")
        with expect.error(
            "42704",
            'required extension "plpgsql" is not installed',
            hint="Use CREATE EXTENSION ... CASCADE to install required extensions too.",
        ):
            connection.execute("CREATE EXTENSION scru")
        connection.execute("CREATE EXTENSION scru CASCADE")


@each_type
def test_relocation(new_database, id_type):
    """All members are in the extension's schema, move with it, and work if it is not in the search path."""
    t = id_type.name
    with new_database(extension=False).connect() as connection:
        connection.execute("CREATE SCHEMA first; CREATE SCHEMA second; CREATE EXTENSION scru SCHEMA first")
        assert schemas(connection) == {"first"}
        connection.execute(
            f"""
            CREATE TABLE orders (id first.{t} PRIMARY KEY DEFAULT first.gen_{t}(), n serial);
            CREATE INDEX ON orders USING hash (id);
            CREATE INDEX ON orders USING brin (id);
            CREATE VIEW newest AS SELECT first.max(id) AS id FROM orders;
            INSERT INTO orders SELECT FROM generate_series(1, 1000);
            """
        )
        connection.execute("ALTER EXTENSION scru SET SCHEMA second")
        assert schemas(connection) == {"second"}
        connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 1000)")
        connection.execute("SET enable_seqscan = off; ANALYZE orders")
        query = "SELECT n FROM orders WHERE id OPERATOR(second.=) (SELECT id FROM newest)"
        assert connection.execute(query).fetchone() == (2000,)
        query = f"SELECT second.{t}_timestamp('{id_type.text(1)}'::second.{t}) IS NOT NULL"
        assert connection.execute(query).fetchone() == (True,)
        in_order = "SELECT n FROM orders ORDER BY id"
        assert [n for (n,) in connection.execute(in_order)] == list(range(1, 2001))


def schemas(connection) -> set[str]:
    """Returns the schemas of the extension's members. Casts have no schema."""
    return {
        schema
        for (schema,) in connection.execute(
            """
            SELECT DISTINCT (pg_identify_object(classid, objid, 0)).schema FROM pg_depend
            WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND classid <> 'pg_cast'::regclass
              AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru')
            """
        )
    }


def test_two_databases_of_one_server(new_database):
    """Each database has its own extension. Dropping one does not affect the other."""
    one, other = new_database(), new_database()
    with one.connect() as first, other.connect() as second:
        first.execute("SELECT gen_scru128()")
        second.execute("SELECT gen_scru128()")
        first.execute("DROP EXTENSION scru")
        assert second.execute("SELECT count(DISTINCT gen_scru128()) FROM generate_series(1, 10)").fetchone() == (10,)
