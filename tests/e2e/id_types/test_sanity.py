"""CREATE EXTENSION changes nothing of the server: catalogs, the resolution of expressions, its own regression tests.

`make test-long` runs all of the server's tests.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tarfile
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path

import psycopg
import pytest

from idtypes import TYPES
from server import IS_LONG, MAJOR, SERVER_USER, Server, pg_config

# ---------------------------------------------------------------------------------------- the resolution of expressions

# Returns the operators and functions of an expression, or the error. They are in the stored form of a view, by their
# OIDs. An expression with a parameter is only prepared: the result is the type of the parameter.
RESOLUTION = r"""
CREATE FUNCTION pg_temp.resolution(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    IF expression LIKE '%$1%' THEN
        EXECUTE 'PREPARE resolved AS SELECT ' || expression;
        SELECT parameter_types::text INTO result FROM pg_prepared_statements WHERE name = 'resolved';
        DEALLOCATE resolved;
        RETURN result;
    END IF;
    EXECUTE 'CREATE TEMP VIEW resolved AS SELECT ' || expression;
    SELECT string_agg(
        CASE name[1] WHEN 'opno' THEN name[2]::regoperator::text ELSE name[2]::regprocedure::text END, ' '
    ) INTO result
    FROM pg_rewrite, regexp_matches(ev_action::text, ':(opno|funcid|aggfnoid) (\d+)', 'g') AS name
    WHERE ev_class = 'pg_temp.resolved'::regclass;
    -- Undoes the view.
    RAISE EXCEPTION USING ERRCODE = 'ZZZZZ', MESSAGE = coalesce(result, 'neither');
EXCEPTION
    WHEN SQLSTATE 'ZZZZZ' THEN
        RETURN SQLERRM;
    WHEN OTHERS THEN
        RETURN SQLSTATE || ' ' || SQLERRM;
END $$
"""

# Types of users that resemble those of the extension's operators.
OTHER_TYPES = """
CREATE TYPE period AS RANGE (subtype = timestamptz);
CREATE DOMAIN during AS tstzrange;
CREATE DOMAIN since AS timestamptz NOT NULL;
CREATE DOMAIN key AS uuid;
CREATE TYPE color AS ENUM ('red', 'green')
"""

# Operands without a type, and operands of the types that the extension's operators and casts refer to.
PARTNERS = ("'x'", "NULL", "$1", *(f"NULL::{name}" for name in ("tstzrange", "timestamptz", "uuid", "bigint", "bytea")))


def names(connection: psycopg.Connection) -> tuple[list[str], list[str]]:
    """Returns the names of the extension's operators and functions that operators and functions of the server have."""
    connection.execute("BEGIN; CREATE EXTENSION IF NOT EXISTS scru")
    of_members = """
        SELECT DISTINCT {name} FROM {catalog} AS ours JOIN pg_depend ON objid = ours.oid AND deptype = 'e'
        JOIN pg_extension AS e ON refobjid = e.oid AND extname = 'scru'
        WHERE {name} IN (SELECT {name} FROM {catalog} WHERE oid < 16384) ORDER BY 1
    """
    operators = connection.execute(of_members.format(name="oprname", catalog="pg_operator")).fetchall()
    functions = connection.execute(of_members.format(name="proname", catalog="pg_proc")).fetchall()
    connection.execute("ROLLBACK")
    return [name for (name,) in operators], [name for (name,) in functions]


def expressions(connection: psycopg.Connection) -> list[str]:
    """Returns all expressions of a name of the extension and operands of other types."""
    operators, functions = names(connection)
    assert {"<@", "@>", "="} <= set(operators)
    assert functions == ["max", "min"]
    types = """
        SELECT t.oid::regtype::text, t.typcategory = 'A'
        FROM pg_type AS t LEFT JOIN pg_type AS element ON element.oid = t.typelem
        WHERE t.typtype IN ('b', 'd', 'e', 'r', 'm') AND coalesce(element.typtype, 'b') <> 'c'
            AND t.typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) ORDER BY 1
    """
    typed = {f"NULL::{name}": PARTNERS[:3] if is_array else PARTNERS for name, is_array in connection.execute(types)}
    untyped = PARTNERS[:3]
    return [
        *(f"{one} {operator} {other}" for operator in operators for one in typed for other in typed[one]),
        *(f"{other} {operator} {one}" for operator in operators for one in typed for other in typed[one]),
        *(f"{one} {operator} ANY ({other})" for operator in operators for one in typed for other in untyped),
        *(f"{one} {operator} {other}" for operator in operators for one in untyped for other in untyped),
        *(f"{function}({one})" for function in functions for one in (*typed, *untyped)),
    ]


def resolutions(connection: psycopg.Connection, expressions: list[str]) -> dict[str, str]:
    """Returns what each expression resolves to."""
    query = "SELECT expression, pg_temp.resolution(expression) FROM unnest(%s::text[]) AS expression"
    return dict(connection.execute(query, [expressions]).fetchall())


@pytest.fixture
def bare(new_database) -> psycopg.Connection:
    """A connection to a database without the extension, with types of users."""
    with new_database(extension=False).connect() as connection:
        connection.execute(OTHER_TYPES)
        connection.execute(RESOLUTION)
        yield connection


def test_create_extension_changes_no_resolution(bare):
    """The names of the extension's operators and functions resolve as before. One operand has a type of the server or a
    user, and the other has no type, or one that the extension refers to."""
    tried = expressions(bare)
    before = resolutions(bare, tried)
    assert len(before) > 10_000
    assert {"<@(anyelement,anyrange)", "@>(anyrange,anyelement)"} <= set(before.values())
    bare.execute("CREATE EXTENSION scru")
    after = resolutions(bare, tried)
    assert {tried: (before[tried], after[tried]) for tried in before if before[tried] != after[tried]} == {}


def test_operators_on_uuid_change_only_errors(bare):
    """CREATE EXTENSION scru_uuidv7 changes only min and max of a uuid, and pairs of a uuid with a time, with a range of
    times or, for <@, with an operand without a type. They were errors."""
    bare.execute("CREATE EXTENSION scru; CREATE TYPE keys AS RANGE (subtype = uuid)")
    tried = expressions(bare)
    before = resolutions(bare, tried)
    bare.execute("CREATE EXTENSION scru_uuidv7")
    after = resolutions(bare, tried)
    changed = [expression for expression in tried if before[expression] != after[expression]]
    assert {before[expression].split()[0] for expression in changed} == {"42883", "42725"}
    times = {"timestamptz", "timestamp with time zone", "timestamp without time zone", "date", "since"}
    ranges = {"tstzrange", "scru_internal.scru_tstzrange", "during"}
    aggregates = {f"{name}({uuid})" for name in ("min", "max") for uuid in ("NULL::uuid", "NULL::key")}
    assert aggregates <= set(changed)
    for expression in set(changed) - aggregates:
        one, operator, other = re.fullmatch(r"(.*) ([<>]=?|<@|@>) (.*)", expression).groups()
        others = {one, other} - {"NULL::uuid", "NULL::key"}
        assert len(others) == 1, expression
        if operator in ("<@", "@>"):
            untyped = {*PARTNERS[:3], *(f"ANY ({partner})" for partner in PARTNERS[:3])}
            assert others <= {*(f"NULL::{name}" for name in ranges), *untyped}, expression
        else:
            assert others <= {f"NULL::{name}" for name in times}, expression


def test_ids_resolve_to_the_operators_of_their_type(bare):
    """The range may be a tstzrange, a domain over it, or a literal, NULL or parameter without a type."""
    bare.execute("CREATE EXTENSION scru")
    operand = "scru_internal.scru_tstzrange"
    ranges = ("'[2026-01-01,)'", "NULL", "tstzrange(NULL, NULL)", "NULL::during", f"NULL::{operand}")
    for t in TYPES:
        within = resolutions(bare, [f"NULL::{t} <@ {range_}" for range_ in ranges])
        contains = resolutions(bare, [f"{range_} @> NULL::{t}" for range_ in ranges])
        assert {found.split()[0] for found in within.values()} <= {f"<@({t},{operand})", "tstzrange(timestamp"}
        assert {found.split()[0] for found in contains.values()} <= {f"@>({operand},{t})", "tstzrange(timestamp"}
        assert set(resolutions(bare, [f"NULL::{t} <@ $1", f"$1 @> NULL::{t}"]).values()) == {f"{{{operand}}}"}


# ---------------------------------------------------------------------------------------- the server's regression tests

# They print the same in a database with the extensions as in one without them. They are in the server's source only,
# which `tools/lib/server-source.sh` downloads. If that fails, the test is skipped: a mirror may have no sources of a
# version. The server of 16 is from a wheel: it runs the tests of 15, which Debian 12 has.

ROOT = Path(__file__).parents[3]
# The tests of the types that the extension's operators and casts refer to, and those that look for inconsistent
# catalogs. They run after test_setup, which creates tables and types. `make test-long` runs the whole schedule.
TESTS = (
    "test_setup",
    "rangetypes",
    "multirangetypes",
    "timestamptz",
    "uuid",
    "date",
    "timestamp",
    "int8",
    "opr_sanity",
    "type_sanity",
)

# What opr_sanity lists in addition to the server's own objects.
LISTED = {
    # Casts without a function in one direction only: every ID is a bigint, but not every bigint is an ID.
    *(f"+ {t.name:17} | bigint            |        0 | a" for t in TYPES if t.length == 8),
    # The operators of the operator classes for GIN.
    "+       2742 |            1 | <",
    "+       2742 |            2 | <=",
    "+       2742 |            3 | =",
    "+       2742 |            4 | >=",
    "+       2742 |            5 | >",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Path:
    """The directory of the tests, with the libraries that they load."""
    found = subprocess.run(
        [ROOT / "tools/lib/server-source.sh", "15" if MAJOR == 16 else str(MAJOR)], capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(f"no source of PostgreSQL (apt, deb-src): {found.stderr.strip()[-200:]}")
    parent = tmp_path_factory.mktemp("suite")
    # Not with tar, which runs bzip2: a machine may not have it.
    with tarfile.open(found.stdout.strip()) as archive:
        archive.extractall(parent, [member for member in archive if "/src/test/regress/" in member.name])
    (suite,) = parent.glob("*/src/test/regress")
    headers = pg_config("--includedir-server")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{headers}", "-o", "regress.so", "regress.c"], check=True, cwd=suite)
    for library in "refint.so", "autoinc.so":
        shutil.copy(Path(pg_config("--pkglibdir"), library), suite)
    return suite


def outputs(suite: Path, *extensions: str) -> dict[str, list[str]]:
    """Returns the lines that each test prints on a new server whose database has these extensions."""
    tests = ["--max-concurrent-tests=20", "--schedule=parallel_schedule"] if IS_LONG else TESTS
    options = ["--dlpath=.", *(f"--load-extension={extension}" for extension in extensions)]
    with Server({"max_prepared_transactions": "2", "autovacuum": "off"}) as server:
        directory = server.directory / "suite"
        shutil.copytree(suite, directory)
        subprocess.run(["chown", "-R", SERVER_USER or "", directory], check=True)
        regress = Path(pg_config("--pkglibdir"), "pgxs/src/test/regress/pg_regress")
        # On a newer minor version than that of the source, some tests print something else than what is expected.
        with suppress(RuntimeError):
            server.run(regress, f"--bindir={server.bindir}", *options, *tests, as_server=True, cwd=directory)
        assert server.crashes() == []
        return {path.stem: path.read_text(errors="replace").splitlines() for path in directory.glob("results/*.out")}


def test_the_tests_of_the_server_print_the_same(suite):
    signal.alarm(1800)
    without = outputs(suite)
    with_extensions = outputs(suite, "scru", "scru_uuidv7", "scru_text")
    assert set(TESTS) <= without.keys() == with_extensions.keys()
    differences = {}
    for name, before in without.items():
        difference = unified_diff(before, with_extensions[name], lineterm="", n=0)
        differences[name] = {line for line in difference if not line.startswith(("---", "+++", "@@"))}
    rows = {line for line in differences["opr_sanity"] if re.fullmatch(r"[+-]\(\d+ rows\)", line)}
    assert differences.pop("opr_sanity") == LISTED | rows
    # The numbers of rows of both lists, without the extensions and with them.
    assert sum(int(line[0] + line[2:].split()[0]) for line in rows) == len(LISTED)
    assert {name: lines for name, lines in differences.items() if lines} == {}
