"""The extension scru_uuidv7, for columns of type `uuid`. The statements in docs/types.md about the server's `uuid`, and
about features of PostgreSQL 19.
"""

from __future__ import annotations

import psycopg
import pytest

import expect
from server import Server, on_the_oldest, since


@pytest.fixture
def uuids(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a new database with the extension."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    return connection


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
