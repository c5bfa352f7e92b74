"""Security: attacks by an ordinary user on a database with the extension, and row-level security."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import catalog
from conftest import Database
from idtypes import IdType, each_type
from plans import explain

RELEASED = [path.stem.removeprefix("scru--") for path in Path(__file__).parents[3].glob("sql/released/scru--*.sql")]

# ---------------------------------------------------------------------------------------------- installation and update


@pytest.fixture
def shared_database(new_database: Callable[..., Database]) -> Database:
    """A database without the extension, where every user may create objects in the schema public."""
    database = new_database(extension=False)
    with database.connect() as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    return database


def traps() -> list[str]:
    """Returns statements that create functions, operators and domains with names that the scripts use. Their argument
    types match at least as well as those of the server's functions and operators. A call by a superuser makes the
    attacker a superuser."""
    body = "LANGUAGE plpgsql AS 'BEGIN ALTER ROLE plain_user SUPERUSER; RETURN NULL; END'"
    result = []
    for argument in "text", "varchar", "name", "anyelement":
        result.append(f"CREATE FUNCTION public.current_setting({argument}) RETURNS text {body}")
    for number, (left, right) in enumerate([("integer", "integer"), ("text", "integer"), ("text", "text")]):
        result.append(f"CREATE FUNCTION public.trap_{number}({left}, {right}) RETURNS boolean {body}")
        for operator in "=", "<", "<=", ">", ">=", "<>":
            arguments = f"LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.trap_{number}"
            result.append(f"CREATE OPERATOR public.{operator} ({arguments})")
    for name in "tstzrange", "timestamptz", "bytea", "uuid", "numeric", "int4":
        result.append(f"CREATE DOMAIN public.{name} AS text CHECK (public.trap_2(VALUE, VALUE))")
    return result


@pytest.mark.parametrize("version", [None, *RELEASED])
def test_the_scripts_call_no_objects_of_users(shared_database, plain_user, version):
    """The scripts run as superuser with the extension's schema, and an attacker's objects in it, in the search path.
    Members depend only on other members and the server's objects. They are written in C, except for functions with a
    fixed search_path of pg_catalog, because other languages resolve names at run time."""
    with shared_database.connect(user=plain_user) as connection:
        for trap in traps():
            connection.execute(trap)
    with shared_database.connect() as connection:
        connection.execute("CREATE EXTENSION scru" + (f" VERSION '{version}'" if version else ""))
        connection.execute("ALTER EXTENSION scru UPDATE")
        [(is_superuser,)] = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [plain_user])
        assert not is_superuser
        needs = f"""
            WITH members AS ({catalog.MEMBERS})
            SELECT pg_describe_object(refclassid, refobjid, 0) FROM pg_depend
            WHERE (classid, objid) IN (SELECT * FROM members) AND (refclassid, refobjid) NOT IN (SELECT * FROM members)
                AND NOT (refclassid = 'pg_extension'::regclass AND deptype = 'e') AND refobjid >= 16384
        """
        assert {name for (name,) in connection.execute(needs)} <= {"schema public"}
        languages = f"""
            SELECT DISTINCT lanname FROM pg_proc JOIN pg_language AS l ON l.oid = prolang
            WHERE pg_proc.oid IN (SELECT objid FROM ({catalog.MEMBERS}) AS members) AND prokind = 'f'
                AND proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp']
        """
        assert connection.execute(languages).fetchall() == [("c",)]


@pytest.mark.parametrize(
    ("squatter", "error"),
    [
        ("DOMAIN public.scru128 AS text", psycopg.errors.DuplicateObject),
        ("FUNCTION public.gen_scru64() RETURNS bigint LANGUAGE sql AS 'SELECT 1'", psycopg.errors.DuplicateFunction),
        (
            "FUNCTION public.scru_inspect(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
            psycopg.errors.DuplicateFunction,
        ),
    ],
    ids=["type", "generator", "inspect"],
)
def test_existing_objects_are_not_adopted(shared_database, plain_user, squatter, error):
    """CREATE EXTENSION fails if a user's object has a member's name, because its owner could change it later."""
    with shared_database.connect(user=plain_user) as connection:
        connection.execute(f"CREATE {squatter}")
    with shared_database.connect() as connection:
        with pytest.raises(error):
            connection.execute("CREATE EXTENSION scru")
        assert connection.execute("SELECT FROM pg_extension WHERE extname = 'scru'").rowcount == 0


def test_only_a_superuser_can_change_members(shared_database, plain_user):
    """The user who created the extension may use and drop it, but not change its members."""
    with shared_database.connect() as connection:
        connection.execute(f"ALTER DATABASE {shared_database.name} OWNER TO {plain_user}")
    with shared_database.connect(user=plain_user) as connection:
        connection.execute("CREATE EXTENSION scru")
        for change in (
            "ALTER FUNCTION gen_scru128() SECURITY DEFINER",
            "DROP FUNCTION gen_scru128()",
            "ALTER TYPE scru128 RENAME TO other",
            "ALTER OPERATOR FAMILY scru128_ops USING btree DROP FUNCTION 1 (scru128, scru128)",
        ):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.DependentObjectsStillExist)):
                connection.execute(change)


# ------------------------------------------------------------------------------------------------------------------ use


@each_type
def test_row_level_security_holds_and_uses_the_index(connection, plain_user, id_type: IdType):
    """Comparisons are leakproof: they may be evaluated before a policy, so queries use the index. A function that is
    not leakproof, here one that raises a notice, sees only the user's own rows."""
    t = id_type.name
    values = list(dict.fromkeys(id_type.samples(1000)))
    mine = {id_type.text(value) for value in values[::10]}
    connection.execute(
        f"""
        CREATE TABLE orders (id {t} PRIMARY KEY, owner name);
        ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON orders USING (owner = current_user);
        GRANT SELECT ON orders TO {plain_user};
        CREATE FUNCTION tell({t}) RETURNS boolean COST 0.0001 LANGUAGE plpgsql
            AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END'
        """
    )
    with connection.cursor().copy("COPY orders FROM STDIN") as copy:
        for value in values:
            text = id_type.text(value)
            copy.write_row([text, plain_user if text in mine else "postgres"])
    connection.execute(f"ANALYZE orders; SET ROLE {plain_user}; SET enable_seqscan = off")

    some = id_type.text(values[10])
    for condition in (
        f"id = '{some}'",
        f"id > '{some}'",
        f"id = ANY ('{{{some}}}')",
        "id <@ tstzrange('2026-01-01', '2026-01-02')",
        "tstzrange('2026-01-01', NULL) @> id",
    ):
        assert "Index Cond:" in explain(connection, f"SELECT FROM orders WHERE {condition}"), condition
    assert "Index Cond:" not in explain(connection, f"SELECT FROM orders WHERE {t}_timestamp(id) > '2026-01-01'")

    told = set()
    connection.add_notice_handler(lambda notice: told.add(notice.message_primary))
    assert connection.execute("SELECT id::text FROM orders WHERE tell(id)").rowcount == len(mine)
    assert told == mine


@each_type
def test_a_query_calls_no_function_that_the_user_may_not_execute(connection, plain_user, id_type):
    """The planner puts functions in place of a comparison only if the user may execute them. Otherwise the operator
    remains, and returns the same rows."""
    t = id_type.name
    connection.execute(
        f"""
        CREATE TABLE orders (id {t} PRIMARY KEY);
        INSERT INTO orders SELECT {t}_lower(now() + n * interval '1 hour') FROM generate_series(-100, 99) AS n;
        CREATE TABLE parts (id {t} PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parts DEFAULT;
        INSERT INTO parts SELECT id FROM orders;
        GRANT SELECT ON orders, parts TO {plain_user};
        """
    )
    helpers = """
        SELECT oid::regprocedure::text FROM pg_proc
        WHERE proname ~ %s AND pronamespace = 'public'::regnamespace
    """
    pattern = f"^{t}_(lower|upper|floor|range_lower|range_upper|time_bound|time_lower|time_upper|time_possible)"
    for (helper,) in connection.execute(helpers, [pattern]).fetchall():
        connection.execute(f"REVOKE EXECUTE ON FUNCTION {helper} FROM PUBLIC")
    time = "now() - interval '30 minutes'"
    setting = "current_setting('test.time')::timestamptz"
    connection.execute("SELECT set_config('test.time', now()::text, false)")
    connection.execute(f"SET ROLE {plain_user}")
    for table in "orders", "parts":
        for condition in (
            f"id >= {time}",
            f"id > {time}",
            f"id >= {setting}",
            f"{setting} <= id",
            f"id <@ tstzrange({time}, NULL)",
            f"tstzrange({setting}, NULL) @> id",
        ):
            assert len(connection.execute(f"SELECT id FROM {table} WHERE {condition}").fetchall()) in (99, 100)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SELECT {t}_lower(now())")


@each_type
def test_the_estimator_returns_a_default_for_other_operators(connection, id_type):
    """For a user's operator, the estimator returns a default. In recent minor releases, only superusers can create such
    an operator."""
    connection.execute(
        f"""
        CREATE OPERATOR ## (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4lt,
                            RESTRICT = {id_type.name}_ineqsel);
        CREATE FUNCTION is_like(integer, tstzrange) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
        CREATE OPERATOR ## (LEFTARG = integer, RIGHTARG = tstzrange, FUNCTION = is_like,
                            RESTRICT = {id_type.name}_ineqsel);
        CREATE TABLE numbers AS SELECT n FROM generate_series(1, 1000) AS n;
        ANALYZE numbers
        """
    )
    assert connection.execute("SELECT FROM numbers WHERE n ## 501").rowcount == 500
    assert connection.execute("SELECT FROM numbers WHERE n ## tstzrange(NULL, now())").rowcount == 1000


@each_type
def test_internal_functions_cannot_be_called_from_sql(connection, id_type):
    """Functions with an argument of type internal cannot be called from SQL. All others are strict."""
    functions = f"""
        SELECT proname, proargtypes::regtype[]::text[] FROM pg_proc
        WHERE oid IN (SELECT objid FROM ({catalog.MEMBERS}) AS members) AND prokind = 'f' AND pronargs > 0
            AND oid::regprocedure::text ~ '(?<![a-z0-9]){id_type.name}(?![a-z0-9])'
    """
    called = 0
    for name, types in connection.execute(functions).fetchall():
        call = f"SELECT {name}({', '.join(f'NULL::{each}' for each in types)})"
        if "internal" in types:
            # Newer minor releases refuse the cast; older ones call the input function of internal, which refuses.
            with pytest.raises((psycopg.errors.CannotCoerce, psycopg.errors.FeatureNotSupported), match="internal"):
                connection.execute(call)
        else:
            # A function that returns a set returns an empty one.
            assert connection.execute(call).fetchone() in [(None,), None], call
            called += 1
    assert called >= 25
