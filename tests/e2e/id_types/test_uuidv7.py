"""The extension scru_uuidv7, for columns of type `uuid`. The statements in docs/types.md about the server's `uuid`, and
about features of PostgreSQL 19.
"""

from __future__ import annotations

import psycopg
import pytest

import expect
from plans import explain
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
