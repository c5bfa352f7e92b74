"""Dump and restore of tables."""

from __future__ import annotations

import pytest

import expect
import orders
import page
from idtypes import SCRU64, TYPES
from marks import HOUR, assert_behind_mark, carried, create
from server import on_every_version

pytestmark = on_every_version


def schema(server, dbname: str) -> list[bytes]:
    """Returns the definition of a database as pg_dump writes it, without the random keys of psql's restricted mode."""
    lines = server.pg_dump(dbname, "--schema-only").splitlines()
    return [line for line in lines if not line.startswith((b"\\restrict", b"\\unrestrict"))]


@pytest.mark.parametrize(
    ("home", "options"),
    [
        ("public", []),
        ("ids", ["--inserts"]),
        ("ids", ["--format=custom"]),
        # Loads the rows through the parent table, which routes each row to its partition again.
        ("public", ["--format=custom", "--load-via-partition-root"]),
    ],
)
def test_dump_and_restore(server, new_database, home, options):
    """If the extension is in another schema, the dump restores it there."""
    source, target = new_database(extension=False), new_database(extension=False)
    before = {}
    with source.connect() as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {home}; CREATE EXTENSION scru SCHEMA {home}")
        for id_type in TYPES:
            orders.create(connection, id_type, f"{home}, public")
            before[id_type] = orders.contents(connection)
    restore = server.pg_restore if "--format=custom" in options else server.psql
    restore(target.name, server.pg_dump(source.name, *options))
    assert schema(server, target.name) == schema(server, source.name)
    with target.connect() as connection:
        expect.install_amcheck(connection)
        home_of_extension = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'scru'"
        assert connection.execute(home_of_extension).fetchone() == (home,)
        for id_type in TYPES:
            orders.set_search_path(connection, id_type, f"{home}, public")
            assert orders.contents(connection) == before[id_type]
            assert connection.execute("SELECT count(*) FROM orders").fetchone() == (orders.ROWS,)
            orders.check_indexes(connection, id_type)
            orders.assert_new_ids_are_largest(connection)


def test_a_data_only_dump_restores_into_another_schema(server, new_database):
    """It does not name the schema of the types."""
    source, target = new_database(), new_database(extension=False)
    with source.connect() as here, target.connect() as there:
        expect.install_amcheck(there)
        there.execute("CREATE SCHEMA elsewhere; CREATE EXTENSION scru SCHEMA elsewhere")
        for id_type in TYPES:
            orders.create(here, id_type)
            orders.create(there, id_type, "elsewhere, public", rows=0)
        server.psql(target.name, server.pg_dump(source.name, "--data-only"))
        for id_type in TYPES:
            orders.set_search_path(here, id_type)
            orders.set_search_path(there, id_type, "elsewhere, public")
            assert orders.contents(there) == orders.contents(here)
            orders.check_indexes(there, id_type)
            orders.assert_new_ids_are_largest(there)


def test_a_partial_dump_and_the_documented_statement_repeat_nothing(new_server, clock):
    """The clock of the new server is an hour behind. The dump of one table carries no mark."""
    source, target = create(new_server()), create(new_server(None, clock.environment))
    with source.connect() as connection:
        connection.execute("CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
        connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 100)")
        connection.execute("SELECT scru128_horizon()")
    clock.shift(-HOUR)
    target.psql("postgres", source.pg_dump("postgres", "--table=orders"))
    assert carried(target) == 1
    target.psql("postgres", page.sql("Dumps", 0, "operations").encode())
    assert_behind_mark(target, SCRU64, HOUR)
    clock.shift(0)
    assert target.value("SELECT gen_scru64() > max(id) FROM orders")
