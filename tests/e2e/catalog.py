"""What the extension has put into the catalogs, with all its properties, in words that are the same in every database."""

from __future__ import annotations

import re

import psycopg

# The rows of each catalog that belong to the extension: members, and what is a part of a member.
MEMBERS = """
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru')
"""
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


def everything(connection: psycopg.Connection) -> dict[str, list[str]]:
    """The members with their comments, and their rows in all catalogs, with a description in place of each OID."""
    described = "SELECT objid, pg_describe_object(classid, objid, 0), obj_description(objid, classid::regclass::name) "
    members = connection.execute(f"{described} FROM ({MEMBERS}) AS members").fetchall()
    names = {str(oid): description for oid, description, _ in members}
    arrays = f"SELECT oid::text, typname FROM pg_type WHERE typelem IN (SELECT objid FROM ({MEMBERS}) AS members)"
    names |= dict(connection.execute(arrays).fetchall())
    result = {"members": sorted(f"{description}: {comment}" for _, description, comment in members)}
    for catalog, belongs in CATALOGS.items():
        # Where a row has an OID of its own that nothing refers to, it is left out.
        own = "- 'oid'" if catalog in ("pg_amop", "pg_amproc") else ""
        query = f"WITH members AS ({MEMBERS}) SELECT (to_jsonb(t) {own})::text FROM {catalog} AS t WHERE {belongs}"
        rows = [row for (row,) in connection.execute(query)]
        assert rows
        result[catalog] = sorted(re.sub(r"\d+", lambda oid: names.get(oid[0], oid[0]), row) for row in rows)
    return result
