"""The rows of the system catalogs of the extensions, in a form that can be compared between databases."""

from __future__ import annotations

import re

import psycopg

MEMBERS = """
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid IN (SELECT oid FROM pg_extension WHERE extname LIKE 'scru%')
"""
# The condition on the rows of each catalog that are members of the extension, or parts of members.
CATALOGS = {
    "pg_type": "t.oid IN (SELECT objid FROM members) OR t.typelem IN (SELECT objid FROM members)",
    "pg_proc": "t.oid IN (SELECT objid FROM members)",
    "pg_aggregate": "t.aggfnoid IN (SELECT objid FROM members)",
    "pg_operator": "t.oid IN (SELECT objid FROM members)",
    "pg_cast": "t.oid IN (SELECT objid FROM members)",
    "pg_opfamily": "t.oid IN (SELECT objid FROM members)",
    "pg_opclass": "t.oid IN (SELECT objid FROM members)",
    "pg_amop": "t.amopfamily IN (SELECT objid FROM members)",
    "pg_amproc": "t.amprocfamily IN (SELECT objid FROM members)",
}


def oids(connection: psycopg.Connection) -> dict[str, int]:
    """Returns the OIDs of the members by their descriptions."""
    query = f"SELECT pg_describe_object(classid, objid, 0), objid FROM ({MEMBERS}) AS members"
    return dict(connection.execute(query).fetchall())


def everything(connection: psycopg.Connection) -> dict[str, list[str]]:
    """Returns the members with their comments, and their rows of all catalogs. Descriptions take the place of OIDs."""
    described = "SELECT objid, pg_describe_object(classid, objid, 0), obj_description(objid, classid::regclass::name) "
    members = connection.execute(f"{described} FROM ({MEMBERS}) AS members").fetchall()
    names = {str(oid): description for oid, description, _ in members}
    arrays = f"SELECT oid::text, typname FROM pg_type WHERE typelem IN (SELECT objid FROM ({MEMBERS}) AS members)"
    names |= dict(connection.execute(arrays).fetchall())
    result = {"members": sorted(f"{description}: {comment}" for _, description, comment in members)}
    dependencies = f"""
        WITH members AS ({MEMBERS})
        SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid),
               deptype
        FROM pg_depend WHERE (classid, objid) IN (TABLE members) OR (refclassid, refobjid) IN (TABLE members)
    """
    rows = connection.execute(dependencies).fetchall()
    result["pg_depend"] = sorted(f"{object_} depends on {on} ({kind})" for object_, on, kind in rows)
    for catalog, belongs in CATALOGS.items():
        # The OIDs of these rows differ between databases, and no other row refers to them.
        own = "- 'oid'" if catalog in ("pg_amop", "pg_amproc") else ""
        # The trees of a default and of a body have positions in their script.
        trees = "|| jsonb_build_object({})".format(
            "'proargdefaults', pg_get_expr(proargdefaults, 0), 'prosqlbody', pg_get_function_sqlbody(t.oid)"
        ) * (catalog == "pg_proc")
        columns = f"(to_jsonb(t) {own} {trees})::text"
        query = f"WITH members AS ({MEMBERS}) SELECT {columns} FROM {catalog} AS t WHERE {belongs}"
        rows = [row for (row,) in connection.execute(query)]
        assert rows
        result[catalog] = sorted(re.sub(r"\d+", lambda oid: names.get(oid[0], oid[0]), row) for row in rows)
    return result
