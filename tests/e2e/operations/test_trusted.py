"""The extensions are trusted: the owner of a database creates them, and their scripts run as superuser.

Neither the owner nor another user who may create objects in the same schema must gain anything by that. The tests
prepare a schema with objects that have the names in the scripts, before and during CREATE EXTENSION.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import expect
from catalog import create_decoys, create_decoys_of_contrib, everything, members
from conftest import Database
from idtypes import TYPES
from load import background
from server import pg_config, wait_until

ROOT = Path(__file__).parents[3]
EXTENSIONS = re.search(r"^EXTENSIONS=\((.*)\)$", (ROOT / "tools/lib/env.sh").read_text(), re.MULTILINE)[1].split()

# The blocks of the pages that change the database.
PAGES = {
    f"{page.stem}, {number}": block
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, block in enumerate(re.findall(r"^DO \$\$ BEGIN\s.*?\$\$;$", page.read_text(), re.MULTILINE | re.DOTALL))
}

# The body of a function that makes the attacker a superuser if a superuser calls it.
TAKE_OVER = "LANGUAGE plpgsql AS 'BEGIN ALTER ROLE plain_user SUPERUSER; RETURN NULL; END'"


@pytest.fixture
def owned(new_database, plain_user) -> Database:
    """A database that a role without privileges owns, as well as its schemas s and t."""
    database = new_database(extension=False, owner=plain_user)
    with database.connect(user=plain_user) as connection:
        connection.execute("CREATE SCHEMA s; CREATE SCHEMA t")
    return database


@pytest.fixture
def alice(owned, plain_user) -> Iterator[psycopg.Connection]:
    """A connection of the owner of the database."""
    with owned.connect(user=plain_user) as connection:
        yield connection
        gained = "SELECT rolsuper OR pg_has_role('postgres', 'member') FROM pg_roles WHERE rolname = current_user"
        assert connection.execute(gained).fetchone() == (False,)


@pytest.fixture
def assert_intact(alice, new_database) -> Callable[[str], None]:
    """Returns a function that asserts that an extension refers to the same objects as where nobody has attacked it."""

    def check(extension: str) -> None:
        installed = "SELECT extname, extnamespace::regnamespace FROM pg_extension WHERE extname ~ 'scru' ORDER BY 1"
        with new_database(extension=False).connect() as fresh:
            for name, schema in alice.execute(installed).fetchall():
                fresh.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; CREATE EXTENSION {name} SCHEMA {schema}")
            for session in alice, fresh:
                session.execute("RESET ALL; SET search_path = pg_catalog, pg_temp")
            attacked, expected = (everything(session, f"= '{extension}'") for session in (alice, fresh))
        for catalog, rows in expected.items():
            # With quote_all_identifiers, the search path of a function is quoted.
            found, unattacked = (sorted(row.replace('\\"', "") for row in each) for each in (attacked[catalog], rows))
            assert found == unattacked, catalog

    return check


# -------------------------------------------------------------------------------------------------- attacks, one by one


@pytest.mark.parametrize(("extension", "function"), [("scru", "scru_inspect(text)"), ("scru_uuidv7", "gen_uuidv7()")])
def test_another_session_changes_no_name_of_a_script(owned, alice, assert_intact, plain_user, extension, function):
    """While the script waits for a function that is never committed, its schema keeps its name, and a new domain is no
    operand. Otherwise, a script of scru would call a function of another schema as superuser."""
    if extension != "scru":
        alice.execute("CREATE EXTENSION scru SCHEMA s")
    with (
        owned.connect(user=plain_user) as creating,
        owned.connect(user=plain_user) as holding,
        owned.connect() as superuser,
    ):
        holding.execute("BEGIN")
        holding.execute(f"CREATE FUNCTION t.{function} RETURNS uuid LANGUAGE plpgsql AS 'BEGIN END'")
        waits = f"SELECT pg_backend_pid() = ANY (pg_blocking_pids({creating.info.backend_pid}))"
        with background(creating, f"CREATE EXTENSION {extension} SCHEMA t") as running:
            wait_until(lambda: running.done() or holding.execute(waits).fetchone()[0], "the script waits")
            assert not running.done(), running.exception()
            alice.execute("CREATE DOMAIN t.scru_tstzrange AS bigint; SET lock_timeout = '1s'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                alice.execute("ALTER SCHEMA t RENAME TO u")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                superuser.execute("SELECT FROM pg_namespace WHERE nspname = 't' FOR UPDATE NOWAIT")
            holding.execute("ROLLBACK")
            running.result(timeout=60)
    assert_intact(extension)


WEIRD = '"we""ird, name"'


@pytest.mark.parametrize("home", ["t", WEIRD])
def test_settings_of_the_owner_do_not_change_a_script(alice, assert_intact, home):
    """Neither how its statements are read, nor the settings that the library defines while a superuser loads it."""
    for setting in (
        *("quote_all_identifiers = on", "transform_null_equals = on", "row_security = off", "search_path = t, s"),
        *("plpgsql.extra_errors = 'all'", "default_transaction_isolation = 'repeatable read'"),
        *("scru.scru64_node = '9/8'", "scru.ulidflake_scalability = 3"),
    ):
        alice.execute(f"SET {setting}")
    alice.execute(f"CREATE SCHEMA {WEIRD}; CREATE EXTENSION scru SCHEMA {WEIRD}")
    for extension in EXTENSIONS[1:]:
        alice.execute(f"CREATE EXTENSION {extension} SCHEMA {home}")
    settings = "SELECT current_setting('scru.scru64_node'), current_setting('scru.ulidflake_scalability')"
    assert alice.execute(settings).fetchone() == ("0/4", "-1")
    for extension in EXTENSIONS:
        assert_intact(extension)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_schema_is_the_one_that_is_named(alice, extension):
    """In the search path, "$user" is the schema with the name of the user, here of the superuser who runs it."""
    if extension != "scru":
        alice.execute("CREATE EXTENSION scru SCHEMA s")
    alice.execute('CREATE SCHEMA "$user"; CREATE SCHEMA postgres')
    with expect.error("42939", 'unacceptable extension schema name "$user"'):
        alice.execute(f'CREATE EXTENSION {extension} SCHEMA "$user"')
    if extension == "scru_text":
        return  # It creates no object in its schema.
    alice.execute("CREATE TEMP TABLE temporary ()")
    [(temporary,)] = alice.execute("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
    with pytest.raises((psycopg.errors.ReservedName, psycopg.errors.UndefinedFunction)):
        alice.execute(f"CREATE EXTENSION {extension} SCHEMA {temporary}")


# -------------------------------------------------------------------------------------------------- decoys of all names

# Argument types that match better than those of the server's functions and operators, or as well.
ARGUMENTS = (
    *("text", "varchar", "name", "oid", "regclass", "anyelement", "anyarray", "text, text", "text, name", "oid, oid"),
    *("text, name, text", "text, text, text", "text, regoperator", "text, VARIADIC anyarray", "oid, oid, integer"),
    *("varchar, varchar, boolean", "text, uuid", "uuid, text", "uuid, tstzrange", "tstzrange, uuid", "anyarray, text"),
)
OPERANDS = (
    *("name, text", "text, name", "text, text", "name, varchar", "oid, integer", "oid, regclass", "regclass, oid"),
    *("uuid, text", "text, uuid", "uuid, tstzrange", "tstzrange, uuid", "integer, integer", "anyelement, anyelement"),
    *("anyarray, anyarray", "uuid, timestamp", "timestamp, uuid", "uuid, date", "bigint, integer"),
)


def script(extension: str) -> str:
    """Returns the scripts of an extension, without comments: those of all versions, and the upgrade scripts."""
    paths = Path(pg_config("--sharedir"), "extension").glob(f"{extension}--*.sql")
    return re.sub(r"^ *--.*\n", "", "".join(path.read_text() for path in sorted(paths)), flags=re.MULTILINE)


def names_to_take(connection: psycopg.Connection, extension: str) -> list[tuple[str, str, str]]:
    """Returns the members whose names a user can take: kind, name, and the arguments of functions and operators. Those
    with a type of the extension are free, and only superusers have functions of cstring or internal."""
    return connection.execute(
        f"""
        WITH members AS (SELECT objid FROM ({members(f"= '{extension}'")}) AS members)
        SELECT 'FUNCTION', proname, array_to_string(proargtypes::regtype[], ', ') FROM pg_proc
        WHERE oid IN (TABLE members) AND pronamespace <> 'scru_internal'::regnamespace AND NOT EXISTS (
            SELECT FROM pg_type WHERE oid = ANY (proargtypes) AND (oid >= 16384 OR typtype = 'p')
        )
        UNION ALL SELECT 'OPERATOR', oprname, concat_ws(', ', oprleft::regtype, oprright::regtype) FROM pg_operator
        WHERE oid IN (TABLE members) AND oprnamespace <> 'pg_catalog'::regnamespace
        UNION ALL SELECT 'TYPE', typname, '' FROM pg_type
        WHERE oid IN (TABLE members) AND typcategory <> 'A' AND typtype = 'b'
        ORDER BY 1, 2, 3
        """
    ).fetchall()


@pytest.fixture
def prepared(alice, extension) -> list[tuple[str, str, str]]:
    """The members of an extension, which can be created: its owner has created and dropped it."""
    for name in dict.fromkeys(["scru", extension]):
        alice.execute(f"CREATE EXTENSION {name} SCHEMA s")
    found = names_to_take(alice, extension)
    alice.execute(f"DROP EXTENSION {extension}")
    return found


VERSIONS = [path.stem.split("--") for path in ROOT.glob("sql/released/scru--*.sql")]


@pytest.mark.parametrize(("extension", "version"), [*((extension, "") for extension in EXTENSIONS), *VERSIONS])
def test_the_script_refers_to_no_decoy(alice, assert_intact, prepared, extension, version):
    """Nor does an update from a released version. Functions, operators, types, tables and casts of the owner have the
    names in the script, and match better than the server's. The owner has added what is possible to scru."""
    text = script(extension)
    types = [*map(str, TYPES), "scru_tstzrange"]
    words = set(re.findall(r"\b[a-z_][a-z0-9_]*\b", text))
    names = [[*words, "bool", "int4", "int8"]]
    server_types = alice.execute(
        "SELECT typname FROM pg_type WHERE oid < 16384 AND typname = ANY (%s)", names
    ).fetchall()
    tables = alice.execute("SELECT relname FROM pg_class WHERE oid < 16384 AND relname = ANY (%s)", names).fetchall()
    decoys = [f"CREATE TABLE {{schema}}.{name} ()" for (name,) in tables]
    decoys += [f'CREATE DOMAIN {{schema}}."{name}" AS pg_catalog.int8' for (name,) in {*server_types} - {*tables}]
    assert len(decoys) > (15 if extension == "scru_text" else 20)
    for schema in "t", "pg_temp":
        for decoy in decoys:
            alice.execute(decoy.format(schema=schema))
    for name in types:
        alice.execute(f"CREATE DOMAIN pg_temp.{name} AS pg_catalog.int8")
        if extension != "scru":
            alice.execute(f"CREATE DOMAIN t.{name} AS pg_catalog.int8; ALTER EXTENSION scru ADD DOMAIN t.{name}")
    alice.execute("SET search_path = pg_catalog, pg_temp")
    alice.execute("CREATE TYPE t.mood AS ENUM ('good')")
    for number, name in enumerate(["uuid", "tstzrange", "timestamptz", "text", "name", "oid", "regclass"]):
        for source, target in ("t.mood", name), (name, "t.mood"):
            alice.execute(
                f"CREATE FUNCTION t.cast_{number}({source}) RETURNS {target} {TAKE_OVER};"
                f"CREATE CAST ({source} AS {target}) WITH FUNCTION t.cast_{number}({source}) AS IMPLICIT"
            )
    names = {
        "functions": [*(set(re.findall(r"\b([a-z_][a-z0-9_]*)\(", text)) - {"any", "in", "values"})],
        "operators": [*(set(re.findall(r"[ .]([<>=@|*~&%+-]+)[ )]", text)) - {"=>", "--"})],
        "arguments": [*ARGUMENTS],
        "operands": [*OPERANDS],
    }
    assert ({"=", ">="} if extension == "scru_text" else {"=", "<", ">=", "@>"}) <= set(names["operators"])
    create_decoys(alice, "t", "BEGIN ALTER ROLE plain_user SUPERUSER; RETURN NULL; END", **names)
    for _, name, arguments in [member for member in prepared if member[0] == "FUNCTION"]:
        alice.execute(f"DROP FUNCTION IF EXISTS t.{name}({arguments})")
    count = "SELECT count(*) FROM pg_proc WHERE pronamespace = 't'::regnamespace"
    assert alice.execute(count).fetchone()[0] > 10 * len(names["functions"])
    if extension != "scru":
        alice.execute("ALTER EXTENSION scru ADD TYPE t.mood; ALTER EXTENSION scru ADD FUNCTION t.trap(text, text)")
    alice.execute(f"CREATE EXTENSION {extension} SCHEMA t" + f" VERSION '{version}'" * bool(version))
    alice.execute(f"ALTER EXTENSION {extension} UPDATE")
    assert_intact(extension)


@pytest.mark.parametrize("extension", ["scru", "scru_uuidv7"])
def test_a_taken_name_is_an_error(alice, prepared, extension):
    """CREATE EXTENSION fails if the owner, who could change it later, has an object like a member."""
    assert len(prepared) > 20
    taken = prepared[:: 5 if extension == "scru" else 1]
    # An operator that has been named as the commutator of another, and is not defined.
    taken += [("SHELL", name, arguments) for kind, name, arguments in taken if kind == "OPERATOR"]
    for kind, name, arguments in taken:
        left, _, right = arguments.partition(", ")
        create = {
            "FUNCTION": f"CREATE FUNCTION t.{name}({arguments}) RETURNS boolean {TAKE_OVER}",
            "OPERATOR": f"CREATE FUNCTION t.trap({arguments}) RETURNS boolean {TAKE_OVER};"
            f"CREATE OPERATOR t.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = t.trap)",
            "SHELL": f"CREATE FUNCTION t.trap({right}, {left}) RETURNS boolean {TAKE_OVER};"
            f"CREATE OPERATOR t.## (LEFTARG = {right}, RIGHTARG = {left}, FUNCTION = t.trap, "
            f"COMMUTATOR = OPERATOR(t.{name}))",
            "TYPE": f"CREATE DOMAIN t.{name} AS text",
        }[kind]
        alice.execute(create)
        error = psycopg.errors
        with pytest.raises((error.DuplicateObject, error.DuplicateFunction, error.UndefinedFunction)):
            alice.execute(f"CREATE EXTENSION {extension} SCHEMA t")
        alice.execute("DROP SCHEMA t CASCADE; CREATE SCHEMA t")


# ------------------------------------------------------------------------------------------------- SQL that users run

# Statements that use a script of sql/contrib.
USES = {
    "fill_in_batches": [
        """CREATE TABLE orders AS SELECT n, NULL::scru128 AS new_id FROM generate_series(1, 10) AS n;
           CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
               'BEGIN NEW.new_id := coalesce(NEW.new_id, gen_scru128()); RETURN NEW; END';
           CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION fill()""",
        "CALL fill_in_batches('orders', 'new_id')",
        "DO 'BEGIN ASSERT NOT EXISTS (SELECT FROM orders WHERE new_id IS NULL); END'",
    ],
    "scru_uuid": [
        """SELECT scru_uuid.generate(now()), scru_uuid.lower(now()), scru_uuid.upper(now()),
               scru_uuid.from_scru128(scru_uuid.to_scru128(scru_uuid.generate())),
               scru_uuid.from_ulid(scru_uuid.to_ulid(scru_uuid.generate_increasing()));
           DO $$ BEGIN
               PERFORM scru_uuid.from_ulid('?');
               ASSERT false;
           EXCEPTION WHEN invalid_text_representation THEN
           END $$""",
    ],
}


@pytest.mark.parametrize("sql", [*USES, *PAGES])
def test_sql_of_the_project_calls_no_decoy(new_database, sql):
    """Another user's functions and operators in the search path match better than the server's."""
    with new_database().connect() as superuser:
        create_decoys_of_contrib(superuser)
        superuser.execute("SET search_path = public, decoys")
        with pytest.raises(psycopg.errors.RaiseException, match="decoy"):
            superuser.execute("SELECT format('%s', 1)")
        if sql in PAGES:
            superuser.execute(PAGES[sql])
        else:
            superuser.execute("SET search_path = decoys, public, pg_catalog" * (sql == "fill_in_batches"))
            superuser.execute((ROOT / f"sql/contrib/{sql}.sql").read_text())
            for use in USES[sql]:
                superuser.execute(use)


# ------------------------------------------------------------------------------------- the check at the end of a script

OPERATOR = "OPERATOR t.## (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION"
# Objects with the foreign one that they refer to; `None` if they are permitted.
CHECKED = {
    "FUNCTION t.f(s.scru128)": None,
    "FUNCTION t.f(s.scru128[])": None,
    "FUNCTION t.f(scru_internal.scru_tstzrange, jsonb[])": None,
    "FUNCTION scru_internal.f(s.scru128)": None,
    "FUNCTION t.f(s.scru128 DEFAULT s.gen_scru128())": None,
    "FUNCTION t.f(s.of_alice)": "type s.of_alice",
    "FUNCTION t.f(s.of_alice[])": "type s.of_alice[]",
    "FUNCTION t.f(t.of_alice)": "type t.of_alice",
    "FUNCTION t.f() RETURNS s.of_alice": "type s.of_alice",
    "FUNCTION t.f(bigint DEFAULT s.one())": "function s.one()",
    "FUNCTION u.f()": "schema u",
    "DOMAIN t.f AS s.of_alice": "type s.of_alice",
    "AGGREGATE t.f(bigint) (SFUNC = s.plus, STYPE = bigint)": "function s.plus(bigint,bigint)",
    f"{OPERATOR} = s.plus)": "function s.plus(bigint,bigint)",
    f"{OPERATOR} = int8eq, COMMUTATOR = OPERATOR(s.##))": "operator s.##(bigint,bigint)",
    f"{OPERATOR} = int8eq, NEGATOR = OPERATOR(s.##))": "operator s.##(bigint,bigint)",
    "OPERATOR CLASS t.f FOR TYPE bigint USING btree AS OPERATOR 1 s.##": "operator s.##(bigint,bigint)",
}


def check_of(extension: str) -> str:
    """Returns the last statement of a script."""
    return re.findall(r"^DO \$\$.*?^\$\$;", script(extension), re.MULTILINE | re.DOTALL)[-1]


def test_the_check_refuses_objects_of_others(owned, alice):
    """A user has added objects to scru. A superuser adds objects that refer to them to another extension."""
    alice.execute(
        f"""
        CREATE EXTENSION scru SCHEMA s; CREATE EXTENSION scru_uuidv7 SCHEMA t; CREATE SCHEMA u;
        ALTER EXTENSION scru ADD SCHEMA u;
        CREATE DOMAIN s.of_alice AS bigint;
        CREATE FUNCTION s.one() RETURNS bigint {TAKE_OVER};
        CREATE FUNCTION s.plus(bigint, bigint) RETURNS bigint {TAKE_OVER};
        CREATE FUNCTION s.is(bigint, bigint) RETURNS boolean {TAKE_OVER};
        CREATE OPERATOR s.## (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = s.is);
        ALTER EXTENSION scru ADD DOMAIN s.of_alice;
        CREATE DOMAIN t.of_alice AS bigint;
        ALTER EXTENSION scru_uuidv7 ADD DOMAIN t.of_alice;
        ALTER EXTENSION scru ADD FUNCTION s.one();
        ALTER EXTENSION scru ADD FUNCTION s.plus(bigint, bigint);
        ALTER EXTENSION scru ADD OPERATOR s.## (bigint, bigint)
        """
    )
    with owned.connect() as connection:
        for create, named in CHECKED.items():
            identity = re.sub(r" (RETURNS|AS|\(LEFTARG|\(SFUNC|DEFAULT [^)]*\)|FOR TYPE)( .*|(?=\)))", "", create)
            identity += "(bigint, bigint)" * ("OPERATOR t." in create) + " USING btree" * ("CLASS" in create)
            body = " RETURNS bigint" * ("RETURNS" not in create) + " LANGUAGE sql AS 'SELECT NULL::bigint'"
            with connection.transaction(force_rollback=True), ExitStack() as refused:
                connection.execute(f"CREATE {create}{body if create.startswith('FUNCTION') else ''}")
                connection.execute(f"ALTER EXTENSION scru_uuidv7 ADD {identity}")
                if "CLASS" in create:
                    connection.execute(f"ALTER EXTENSION scru_uuidv7 ADD {identity.replace('CLASS', 'FAMILY')}")
                if named:
                    message = f'^{re.escape(named)} is not part of the extension "scru_uuidv7"'
                    refused.enter_context(pytest.raises(psycopg.errors.DuplicateObject, match=message))
                connection.execute(check_of("scru_uuidv7"))


def test_the_check_permits_what_a_superuser_adds_to_a_family(connection, plain_user):
    """An update must not fail because of it. Another user's operator or function is refused there as anywhere."""
    connection.execute(
        f"""
        CREATE FUNCTION less(scru128, text) RETURNS boolean {TAKE_OVER};
        CREATE OPERATOR < (LEFTARG = scru128, RIGHTARG = text, FUNCTION = less);
        CREATE FUNCTION compare(scru128, text) RETURNS integer {TAKE_OVER};
        ALTER OPERATOR FAMILY scru128_ops USING btree
            ADD OPERATOR 1 < (scru128, text), FUNCTION 1 (scru128, text) compare(scru128, text);
        """
    )
    connection.execute(check_of("scru"))
    for added in "operator public.<(public.scru128,text)", "function public.compare(public.scru128,text)":
        message = f'^{re.escape(added)} is not part of the extension "scru"'
        with connection.transaction(force_rollback=True):
            connection.execute(f"ALTER {added} OWNER TO {plain_user}")
            with pytest.raises(psycopg.errors.DuplicateObject, match=message):
                connection.execute(check_of("scru"))
