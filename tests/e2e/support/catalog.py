"""The rows of the system catalogs of the extensions, in a form that can be compared between databases."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

CREATE_DECOYS = """
    DO $decoys$
    DECLARE
        statement text;
    BEGIN
        FOR statement IN
            SELECT format('CREATE FUNCTION {schema}.%%I(%%s) RETURNS boolean LANGUAGE plpgsql AS %%L',
                name, types, %(body)s)
            FROM unnest(%(functions)s::text[] || 'trap'::text) AS name,
                unnest(CASE name WHEN 'trap' THEN %(operands)s::text[] ELSE %(arguments)s::text[] END) AS types
            UNION ALL
            SELECT format('CREATE OPERATOR {schema}.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = {schema}.trap)',
                name, split_part(types, ',', 1), split_part(types, ',', 2))
            FROM unnest(%(operators)s::text[]) AS name, unnest(%(operands)s::text[]) AS types
        LOOP
            BEGIN
                EXECUTE statement;
            EXCEPTION WHEN duplicate_function OR invalid_function_definition OR undefined_function THEN
            END;
        END LOOP;
    END $decoys$
"""


def create_decoys(connection: psycopg.Connection, schema: str, body: str, **names: list[str]) -> None:
    """Creates functions with all of the `arguments`, and operators with all of the `operands`, for names that are not
    taken. They match better than those of the server."""
    psycopg.ClientCursor(connection).execute(CREATE_DECOYS.format(schema=schema), {"body": body, **names})


CONTRIB = Path(__file__).parents[3] / "sql/contrib"
OPERANDS = ("int8", "int4", "numeric", "text", "uuid", "timestamptz", "interval", "name", "oid", "regclass", "bool")
# Those of the calls in sql/contrib and on the pages.
ARGUMENTS = (
    "|numeric|int8|int4|float8|text|regclass|tid|scru128|text, int4|text, int8|text, name|text, bool|text, text"
    "|regclass, int8|varchar, int4|text, int4, int4|text, int4, text|text, text, bool|text, name, text"
    "|text, text, text|text, regclass, name|text, regclass, text|text, regclass, name, text"
)


def create_decoys_of_contrib(connection: psycopg.Connection) -> None:
    """Creates objects of another user, which match better than what sql/contrib uses, in the schema `decoys`."""
    called = re.findall(r"\b([a-z_]\w*)\(", "".join(path.read_text() for path in CONTRIB.iterdir()))
    server = connection.execute("SELECT proname FROM pg_proc WHERE oid < 16384 AND proname = ANY (%s)", [called])
    names = {
        "functions": [*{name for (name,) in server}],
        "arguments": ARGUMENTS.split("|"),
        "operators": re.findall(r"\S+", "* / + - << >> | & = < <= > >= || <> ~~"),
        "operands": [f"{left}, {right}" for left in OPERANDS for right in OPERANDS],
    }
    connection.execute("CREATE SCHEMA decoys")
    create_decoys(connection, "decoys", "BEGIN RAISE 'decoy'; END", **names)
    for name in "uuid", "regclass", "text", "name", "tid", "timestamptz", "xid8":
        connection.execute(f'CREATE DOMAIN decoys."{name}" AS pg_catalog.int2')


# The columns by which a row of a catalog is a member of an extension, or a part of a member.
PARTS = {
    "pg_type": ("oid", "typelem"),
    "pg_proc": ("oid",),
    "pg_aggregate": ("aggfnoid",),
    "pg_operator": ("oid",),
    "pg_cast": ("oid",),
    "pg_opfamily": ("oid",),
    "pg_opclass": ("oid",),
    "pg_amop": ("amopfamily",),
    "pg_amproc": ("amprocfamily",),
}


ALL = "LIKE 'scru%'"


def members(which: str = ALL) -> str:
    """Returns the query for the members of the extensions whose names meet a condition."""
    return f"""
        SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
            AND refobjid IN (SELECT oid FROM pg_extension WHERE extname {which})
    """


def is_part(catalog: str, which: str = ALL) -> str:
    """Returns the condition on the row `t` of a catalog that is a member of such an extension, or a part of one."""
    members_of = f"(SELECT objid FROM ({members(which)}) AS members)"
    return " OR ".join(f"t.{column} IN {members_of}" for column in PARTS[catalog])


def oids(connection: psycopg.Connection) -> dict[str, int]:
    """Returns the OIDs of the members by their descriptions."""
    query = f"SELECT pg_describe_object(classid, objid, 0), objid FROM ({members()}) AS members"
    return dict(connection.execute(query).fetchall())


def everything(connection: psycopg.Connection, which: str = ALL) -> dict[str, list[str]]:
    """Returns the members of extensions with their comments, and their rows of all catalogs. Descriptions take the
    place of the OIDs of members, of whichever extension, and of schemas."""
    names = {str(oid): description for description, oid in oids(connection).items()}
    arrays = f"SELECT oid::text, typname FROM pg_type WHERE typelem IN (SELECT objid FROM ({members()}) AS members)"
    schemas = "SELECT oid::text, nspname FROM pg_namespace WHERE oid >= 16384"
    names |= dict(connection.execute(f"{arrays} UNION ALL {schemas}").fetchall())
    described = "SELECT pg_describe_object(classid, objid, 0), obj_description(objid, classid::regclass::name)"
    found = connection.execute(f"{described} FROM ({members(which)}) AS members").fetchall()
    result = {"members": sorted(f"{description}: {comment}" for description, comment in found)}
    dependencies = f"""
        WITH members AS ({members(which)})
        SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid),
               deptype
        FROM pg_depend WHERE (classid, objid) IN (TABLE members) OR (refclassid, refobjid) IN (TABLE members)
    """
    rows = connection.execute(dependencies).fetchall()
    result["pg_depend"] = sorted(f"{object_} depends on {on} ({kind})" for object_, on, kind in rows)
    for catalog in PARTS:
        # The OIDs of these rows differ between databases, and no other row refers to them.
        own = "- 'oid'" if catalog in ("pg_amop", "pg_amproc") else ""
        # The trees of a default and of a body have positions in their script.
        trees = "|| jsonb_build_object({})".format(
            "'proargdefaults', pg_get_expr(proargdefaults, 0), 'prosqlbody', pg_get_function_sqlbody(t.oid)"
        ) * (catalog == "pg_proc")
        query = f"SELECT (to_jsonb(t) {own} {trees})::text FROM {catalog} AS t WHERE {is_part(catalog, which)}"
        rows = [row for (row,) in connection.execute(query)]
        result[catalog] = sorted(re.sub(r"\d+", lambda oid: names.get(oid[0], oid[0]), row) for row in rows)
    return result
