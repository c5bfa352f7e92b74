"""The extension as a whole: who can create it, its schema, what DROP EXTENSION leaves, and attacks by a user."""

from __future__ import annotations

import re
import subprocess

import psycopg
import pytest

import catalog
import expect
import orders
from idtypes import SCRU64, SCRU128, TYPES
from marks import create
from plans import explain
from programs import needs, path_of
from server import long, on_every_version

pytestmark = on_every_version

# ------------------------------------------------------------------------------------------------- creation and removal

CATALOGS = [*catalog.PARTS, "pg_depend", "pg_description", "pg_extension", "pg_init_privs"]


def snapshot(connection) -> dict[str, set]:
    """Returns all rows of the catalogs as text."""
    return {name: set(connection.execute(f"SELECT t::text FROM {name} AS t")) for name in CATALOGS}


def test_the_types_are_those_of_the_tests(connection):
    """The extension agrees with the facts in tests/vectors, from which the other tests compute IDs."""
    columns = "type, bytes, digits, extract(epoch FROM tick) * 1000, details->>'smallest', details->>'largest'"
    rows = connection.execute(f"SELECT {columns} FROM scru_types() ORDER BY type").fetchall()
    assert rows == [(t.name, t.length, t.text_length, t.tick, t.text(0), t.text(t.largest)) for t in TYPES]


def test_drop_leaves_nothing_and_spares_columns_in_use(new_database):
    with new_database(extension=False).connect() as connection:
        before = snapshot(connection)
        connection.execute("CREATE EXTENSION scru; CREATE EXTENSION scru_uuidv7; CREATE EXTENSION scru_text")
        assert len(snapshot(connection)["pg_proc"]) > len(before["pg_proc"]) + 20
        connection.execute("CREATE TABLE orders (id scru128)")
        for _ in range(2):
            with pytest.raises(psycopg.errors.DependentObjectsStillExist):
                connection.execute("DROP EXTENSION scru")
            connection.execute("DROP EXTENSION IF EXISTS scru_uuidv7, scru_text")
        connection.execute("DROP TABLE orders; DROP EXTENSION scru")
        assert snapshot(connection) == before
        connection.execute("CREATE EXTENSION scru")


def test_the_places_of_the_members(new_database):
    """Operators are in pg_catalog. The schema is chosen once."""
    with new_database(extension=False).connect() as connection:
        connection.execute("CREATE SCHEMA ids; CREATE EXTENSION scru SCHEMA ids; CREATE SCHEMA other")
        places = f"SELECT DISTINCT (pg_identify_object(classid, objid, 0)).schema FROM ({catalog.members()}) AS members"
        assert {place for (place,) in connection.execute(places)} == {None, "ids", "pg_catalog", "scru_internal"}
        with pytest.raises(psycopg.errors.FeatureNotSupported, match='extension "scru" does not support SET SCHEMA'):
            connection.execute("ALTER EXTENSION scru SET SCHEMA other")


def test_an_existing_schema_is_not_adopted(new_database, plain_user):
    """Whoever owns it could change the functions of the operators of others."""
    with new_database(extension=False, owner=plain_user).connect(user=plain_user) as connection:
        connection.execute("CREATE SCHEMA scru_internal")
        with expect.error("42P06", 'schema "scru_internal" already exists'):
            connection.execute("CREATE EXTENSION scru")
        connection.execute("DROP SCHEMA scru_internal; CREATE EXTENSION scru")
        # Her objects in the extension have no effect on those that the operators use.
        connection.execute(
            f"""
            CREATE FUNCTION scru_before(timestamptz) RETURNS timestamptz {RAISE};
            CREATE FUNCTION scru128_time_bound(timestamptz, text) RETURNS scru128 {RAISE};
            ALTER EXTENSION scru ADD FUNCTION scru_before(timestamptz);
            ALTER EXTENSION scru ADD FUNCTION scru128_time_bound(timestamptz, text);
            CREATE TABLE orders (id scru128 PRIMARY KEY);
            SET enable_seqscan = off
            """
        )
        query = "SELECT FROM orders WHERE id::timestamptz < (SELECT now()) AND id > (SELECT now())"
        assert connection.execute(query).rowcount == 0
        assert "Index Cond: ((id <= scru_internal." in explain(connection, query)


RAISE = "LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END'"


def test_a_database_owner_creates_it_but_changes_no_member(new_database, plain_user):
    """The extension is trusted: creating, using and dropping it requires no superuser, but CREATE on the database."""
    connect = new_database(extension=False).connect
    with connect(user=plain_user) as other, pytest.raises(psycopg.errors.InsufficientPrivilege):
        other.execute("CREATE EXTENSION scru")
    with new_database(extension=False, owner=plain_user).connect(user=plain_user) as connection:
        for _ in range(2):
            connection.execute("DROP EXTENSION IF EXISTS scru; CREATE EXTENSION scru")
        connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128())")
        connection.execute("INSERT INTO orders DEFAULT VALUES")
        # Who has no right to grant gets a warning.
        connection.execute("GRANT CREATE ON SCHEMA scru_internal TO PUBLIC")
        for change in (
            "ALTER FUNCTION gen_scru128() SECURITY DEFINER",
            "DROP FUNCTION gen_scru128()",
            "ALTER TYPE scru128 RENAME TO other",
            "ALTER OPERATOR FAMILY scru128_ops USING btree DROP FUNCTION 1 (scru128, scru128)",
            "CREATE FUNCTION scru_internal.f() RETURNS int RETURN 1",
            "ALTER SCHEMA scru_internal RENAME TO mine",
            f"ALTER SCHEMA scru_internal OWNER TO {plain_user}",
            "ALTER EXTENSION scru DROP SCHEMA scru_internal",
            "ALTER EXTENSION scru DROP FUNCTION scru_internal.scru_before(timestamptz)",
            "DROP SCHEMA scru_internal CASCADE",
        ):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.DependentObjectsStillExist)):
                connection.execute(change)


# ------------------------------------------------------------------------------------------------------ security in use


@pytest.mark.parametrize("system", [SCRU64, SCRU128, "uuidv7"], ids=str)
@pytest.mark.parametrize("revoked", ["lt", "le", "ge", "gt", "bounds"])
def test_a_query_calls_no_function_that_the_user_may_not_execute(connection, plain_user, system, revoked):
    """The planner replaces a condition on time only by functions that the user may execute, with their negators."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    t = "uuid" if system == "uuidv7" else system.name
    connection.execute(
        f"""
        CREATE TABLE heap (id {t} PRIMARY KEY);
        INSERT INTO heap SELECT {system}_lower(now() + n * interval '1 hour') FROM generate_series(-100, 99) AS n;
        CREATE TABLE parts (id {t} PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parts DEFAULT;
        INSERT INTO parts SELECT id FROM heap;
        CREATE TABLE gist AS TABLE heap;
        CREATE TABLE ranges (r tstzrange);
        ANALYZE heap, parts, gist;
        GRANT SELECT ON ALL TABLES IN SCHEMA public TO {plain_user}
        """
    )
    if system != "uuidv7":
        connection.execute("CREATE INDEX ON gist USING gist (id)")
    schema = "pg_catalog" if t == "uuid" else "scru_internal"
    functions, call = [f"{schema}.{t}_{revoked}({t}, {t})"], f"{schema}.{t}_{revoked}(id, id)"
    if revoked == "bounds":
        call = f"{system}_lower(now())"
        bounds = f"SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^{system}_(range_)?(lower|upper|time_bound)'"
        functions = [name for (name,) in connection.execute(bounds)]
        assert len(functions) >= 4
    for function in functions:
        connection.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
    [(literal,)] = connection.execute("SELECT (now() - interval '30 minutes')::text")
    connection.execute(f"SET test.time = '{literal}'; SET ROLE {plain_user}")
    now, setting = "now() - interval '30 minutes'", "current_setting('test.time')::timestamptz"
    conditions = [f"id <@ '[{literal},)'", f"id > {now}", f"NOT id <= {now}", f"id <@ tstzrange({now}, NULL)"]
    for time in f"timestamptz '{literal}'", now, setting, f"(SELECT {now})":
        conditions += [f"id >= {time}", f"{time} <= id", f"NOT id < {time}", f"tstzrange({time}, NULL) @> id"]
    conditions += [f"id::timestamptz >= {now}"] * (t != "uuid")
    for seqscan in "on", "off":
        connection.execute(f"SET enable_seqscan = {seqscan}")
        for table in "heap", "parts", "gist":
            for condition in conditions:
                rows = connection.execute(f"SELECT id FROM {table} WHERE {condition}").fetchall()
                assert len(rows) == 100, condition
            joined = f"SELECT FROM ranges JOIN {table} ON id <@ r AND id >= lower(r)"
            assert connection.execute(joined).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SELECT {call} FROM heap")


@long
@needs("sqlsmith")
def test_random_queries_crash_nothing(new_server):
    """Those of sqlsmith call functions and operators with any values. An internal error of the server is not ours."""
    server = create(new_server({"log_error_verbosity": "verbose", "statement_timeout": "2s"}))
    with server.connect() as connection:
        connection.execute("CREATE ROLE smith LOGIN")
        for id_type in TYPES:
            orders.create(connection, id_type, rows=100)
            connection.execute(f"GRANT USAGE ON SCHEMA {id_type} TO smith")
            connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {id_type} TO smith")
    address = f"--target=host={server.directory} dbname=postgres user=smith"
    command = [path_of("sqlsmith"), address, "--exclude-catalog", "--max-queries=5000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, server.crashes()) == (0, []), done.stderr[-2000:]
    log = server.log_text()
    assert "scru" in log and not re.findall(r"(?: XX\d{3}: .*\n(?:(?!.*ERROR: ).*\n)*?.*LOCATION: .*\.rs:\d+)", log)
