"""Checks of the catalogs like those of the server's regression tests opr_sanity and type_sanity.

The extension adds only two casts to the objects that these checks list.
"""

from __future__ import annotations

# Each query lists objects that are wrong or unusual.
QUERIES = {
    "binary-coercible casts without a binary-coercible reverse": """
        SELECT castsource::regtype::text, casttarget::regtype::text, castcontext FROM pg_cast AS c
        WHERE castmethod = 'b' AND NOT EXISTS (
            SELECT FROM pg_cast AS back
            WHERE back.castmethod = 'b' AND (back.castsource, back.casttarget) = (c.casttarget, c.castsource))""",
    "casts with a function of the wrong signature": """
        SELECT castsource::regtype::text, casttarget::regtype::text FROM pg_cast JOIN pg_proc AS p ON p.oid = castfunc
        WHERE pronargs NOT BETWEEN 1 AND 3 OR prorettype <> casttarget OR proargtypes[0] <> castsource""",
    "operators with an inconsistent commutator": """
        SELECT o.oid::regoperator::text FROM pg_operator AS o LEFT JOIN pg_operator AS c ON c.oid = o.oprcom
        WHERE o.oprcom <> 0 AND (c.oprleft, c.oprright, c.oprresult, c.oprcom, c.oprnamespace)
                            IS DISTINCT FROM (o.oprright, o.oprleft, o.oprresult, o.oid, o.oprnamespace)""",
    "operators with an inconsistent negator": """
        SELECT o.oid::regoperator::text FROM pg_operator AS o LEFT JOIN pg_operator AS n ON n.oid = o.oprnegate
        WHERE o.oprnegate <> 0 AND (n.oprleft, n.oprright, n.oprresult, n.oprnegate, o.oid = n.oid)
                               IS DISTINCT FROM (o.oprleft, o.oprright, 'boolean'::regtype::oid, o.oid, false)""",
    "operators without a function, or with one of the wrong signature": """
        SELECT o.oid::regoperator::text FROM pg_operator AS o LEFT JOIN pg_proc AS p ON p.oid = o.oprcode
        WHERE (o.oprleft, o.oprright, o.oprresult) IS DISTINCT FROM (p.proargtypes[0], p.proargtypes[1], p.prorettype)
          AND o.oprleft <> 0""",
    "functions of commutators or negators with different properties": """
        SELECT o.oid::regoperator::text, other.oid::regoperator::text
        FROM pg_operator AS o JOIN pg_operator AS other ON other.oid IN (o.oprcom, o.oprnegate)
        JOIN pg_proc AS p ON p.oid = o.oprcode JOIN pg_proc AS q ON q.oid = other.oprcode
        WHERE (p.provolatile, p.proleakproof, p.proisstrict, p.proparallel)
           <> (q.provolatile, q.proleakproof, q.proisstrict, q.proparallel)""",
    "btree operators without selectivity estimators": """
        SELECT amopopr::regoperator::text FROM pg_amop JOIN pg_operator AS o ON o.oid = amopopr
        WHERE amopmethod = (SELECT oid FROM pg_am WHERE amname = 'btree') AND (oprrest = 0 OR oprjoin = 0)""",
    "selectivity estimators of operators that are not boolean or not binary": """
        SELECT oid::regoperator::text FROM pg_operator
        WHERE (oprrest <> 0 OR oprjoin <> 0) AND oprresult <> 'boolean'::regtype
           OR oprjoin <> 0 AND 0 IN (oprleft, oprright)""",
    "functions of operators without the standard comment": """
        SELECT p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc')
        FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = oprcode
        WHERE NOT EXISTS (
            SELECT FROM pg_operator AS same
            WHERE same.oprcode = p.oid
              AND obj_description(p.oid, 'pg_proc') = format('implementation of %s operator', same.oprname))""",
    "functions with the same symbol and different properties": """
        SELECT p.oid::regprocedure::text, q.oid::regprocedure::text
        FROM pg_proc AS p JOIN pg_proc AS q USING (prosrc, probin, prolang)
        WHERE p.oid < q.oid AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'c')
          AND (p.prorettype, p.provolatile, p.proisstrict, p.proretset)
           <> (q.prorettype, q.provolatile, q.proisstrict, q.proretset)""",
    "leakproof functions that are not immutable or not strict": """
        SELECT oid::regprocedure::text FROM pg_proc WHERE proleakproof AND (provolatile <> 'i' OR NOT proisstrict)""",
    "support functions of the wrong signature": """
        SELECT p.oid::regprocedure::text FROM pg_proc AS p JOIN pg_proc AS s ON s.oid = p.prosupport
        WHERE s.prorettype <> 'internal'::regtype OR s.pronargs <> 1 OR s.proargtypes[0] <> 'internal'::regtype""",
    "btree operator families with missing strategies": """
        SELECT amopfamily, amoplefttype::regtype::text, amoprighttype::regtype::text FROM pg_amop
        WHERE amopmethod = (SELECT oid FROM pg_am WHERE amname = 'btree') GROUP BY 1, 2, 3 HAVING count(*) <> 5""",
    "operator classes that do not validate": "SELECT opcname FROM pg_opclass WHERE NOT amvalidate(oid)",
    "types with inconsistent length, alignment and passing": """
        SELECT oid::regtype::text FROM pg_type
        WHERE typbyval AND (typlen, typalign) NOT IN ((1, 'c'), (2, 's'), (4, 'i'), (8, 'd'))
              OR typlen > 0 AND typlen < 9 AND typisdefined AND typtype = 'b' AND NOT typbyval
                 AND typname NOT IN ('macaddr', 'macaddr8', 'tid')
              OR typstorage <> 'p' AND typlen <> -1""",
    "types with missing or unsuitable input and output functions": """
        SELECT t.oid::regtype::text FROM pg_type AS t
        LEFT JOIN pg_proc AS i ON i.oid = typinput LEFT JOIN pg_proc AS o ON o.oid = typoutput
        LEFT JOIN pg_proc AS r ON r.oid = typreceive LEFT JOIN pg_proc AS s ON s.oid = typsend
        WHERE typtype = 'b' AND typelem = 0 AND typname !~ '^_' AND (
            i.proargtypes[0], i.prorettype, o.proargtypes[0], o.prorettype,
            r.proargtypes[0], r.prorettype, s.proargtypes[0], s.prorettype)
            IS DISTINCT FROM (
            'cstring'::regtype, t.oid, t.oid, 'cstring'::regtype,
            'internal'::regtype, t.oid, t.oid, 'bytea'::regtype)""",
    "types without an array type": """
        SELECT oid::regtype::text FROM pg_type AS t
        WHERE typtype = 'b' AND typname !~ '^_' AND NOT EXISTS (
            SELECT FROM pg_type AS a WHERE a.oid = t.typarray AND a.typelem = t.oid AND a.typdelim = t.typdelim)""",
}
EXPECTED = {
    "binary-coercible casts without a binary-coercible reverse": {("scru64", "bigint"), ("ulidflake", "bigint")}
}


def test_the_extension_adds_nothing_unusual(new_database):
    """Compares the results of each query before and after CREATE EXTENSION."""
    with new_database(extension=False).connect() as connection:

        def lists() -> dict[str, set]:
            return {name: set(connection.execute(query).fetchall()) for name, query in QUERIES.items()}

        before = lists()
        connection.execute("CREATE EXTENSION scru")
        added = {name: {row[:2] for row in rows - before[name]} for name, rows in lists().items()}
    assert {name: rows for name, rows in added.items() if rows} == EXPECTED
