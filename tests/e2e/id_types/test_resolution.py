"""CREATE EXTENSION does not change the operators and functions that expressions of other types resolve to."""

from __future__ import annotations

import re

import psycopg
import pytest

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
    """CREATE EXTENSION scru_uuidv7 changes only pairs of a uuid with a time, with a range of times or, for <@, with an
    operand without a type. They were errors."""
    bare.execute("CREATE EXTENSION scru; CREATE TYPE keys AS RANGE (subtype = uuid)")
    tried = expressions(bare)
    before = resolutions(bare, tried)
    bare.execute("CREATE EXTENSION scru_uuidv7")
    after = resolutions(bare, tried)
    changed = [expression for expression in tried if before[expression] != after[expression]]
    assert {before[expression].split()[0] for expression in changed} == {"42883", "42725"}
    times = {"timestamptz", "timestamp with time zone", "timestamp without time zone", "date", "since"}
    ranges = {"tstzrange", "scru_tstzrange", "during"}
    for expression in changed:
        one, operator, other = re.fullmatch(r"(.*) ([<>]=?|<@|@>) (.*)", expression).groups()
        others = {one, other} - {"NULL::uuid", "NULL::key"}
        assert len(others) == 1, expression
        if operator in ("<@", "@>"):
            untyped = {*PARTNERS[:3], *(f"ANY ({partner})" for partner in PARTNERS[:3])}
            assert others <= {*(f"NULL::{name}" for name in ranges), *untyped}, expression
        else:
            assert others <= {f"NULL::{name}" for name in times}, expression


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0"])
def test_an_upgrade_restores_the_resolutions(bare, version):
    """Up to 0.2.0, CREATE EXTENSION made a tstzrange with an operand without a type ambiguous."""
    tried = [
        tried
        for tried in expressions(bare)
        if "tstzrange" in tried and ("<@" in tried or "@>" in tried) and "[]" not in tried
    ]
    before = resolutions(bare, tried)
    bare.execute(f"CREATE EXTENSION scru VERSION '{version}'")
    changed = resolutions(bare, tried)
    ambiguous = {expression: changed[expression] for expression in tried if changed[expression] != before[expression]}
    assert set(ambiguous) == {
        *(f"NULL::tstzrange @> {untyped}" for untyped in PARTNERS[:3]),
        *(f"{untyped} <@ NULL::tstzrange" for untyped in PARTNERS[:3]),
        *(f"NULL::tstzrange @> ANY ({untyped})" for untyped in PARTNERS[:3]),
    }
    assert {text.split(":")[0] for text in ambiguous.values()} == {"42725 operator is not unique"}
    bare.execute("ALTER EXTENSION scru UPDATE")
    assert resolutions(bare, tried) == before


def test_ids_resolve_to_the_operators_of_their_type(bare):
    """The range may be a tstzrange, a domain over it, or a literal, NULL or parameter without a type."""
    bare.execute("CREATE EXTENSION scru")
    ranges = ("'[2026-01-01,)'", "NULL", "tstzrange(NULL, NULL)", "NULL::during", "NULL::scru_tstzrange")
    for t in "scru128", "scru160", "scru64", "ulid", "ulidflake":
        within = resolutions(bare, [f"NULL::{t} <@ {range_}" for range_ in ranges])
        contains = resolutions(bare, [f"{range_} @> NULL::{t}" for range_ in ranges])
        assert {found.split()[0] for found in within.values()} <= {f"<@({t},scru_tstzrange)", "tstzrange(timestamp"}
        assert {found.split()[0] for found in contains.values()} <= {f"@>(scru_tstzrange,{t})", "tstzrange(timestamp"}
        assert set(resolutions(bare, [f"NULL::{t} <@ $1", f"$1 @> NULL::{t}"]).values()) == {"{scru_tstzrange}"}
