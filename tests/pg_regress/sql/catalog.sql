-- The catalogs: the members of the extension and their properties.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The types.
SELECT typname, typlen, typbyval, typalign, typstorage, typcategory, typispreferred, typmodin, typdelim
FROM types JOIN pg_type USING (oid) ORDER BY typname;

-- The members of the extension, without array types, which are members in PostgreSQL 18 and later only. The result lists the
-- members without a type's name in their description.
CREATE VIEW members AS
    SELECT classid, objid, pg_describe_object(classid, objid, 0) AS description
    FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru') AND deptype = 'e'
      AND NOT EXISTS (SELECT FROM pg_type WHERE oid = objid AND classid = 'pg_type'::regclass AND typcategory = 'A');
SELECT description FROM members
WHERE NOT EXISTS (SELECT FROM types WHERE description ~ ('(?<![a-z0-9])' || name || '(?![a-z0-9])')) ORDER BY description COLLATE "C";

-- All members have a COMMENT.
SELECT description FROM members WHERE coalesce(obj_description(objid, classid::regclass::name), '') = '';

-- The number of members that all types have, and a list of those that only some types have. A line of this list is either
-- intended, or a member that is missing for the other types.
CREATE TABLE differences AS SELECT * FROM each_type($$
    SELECT description FROM members WHERE description ~ '(?<![a-z0-9])$T(?![a-z0-9])' ORDER BY description COLLATE "C"
$$);
SELECT for_types, count(*) FROM differences WHERE for_types = 'every type' GROUP BY for_types;
SELECT for_types, result FROM differences
WHERE for_types <> 'every type' ORDER BY for_types, result COLLATE "C";

-- The functions that are not immutable or not strict; the ones that are not parallel safe; the leakproof ones; and the ones with
-- SECURITY DEFINER, a cost other than 1 or another language, which would resolve names at run time without a search path.
CREATE VIEW functions AS
    SELECT p.* FROM members JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid;
SELECT * FROM each_type($$
    SELECT oid::regprocedure, provolatile, proisstrict FROM functions
    WHERE oid::regprocedure::text ~ '(?<![a-z0-9])$T(?![a-z0-9])' AND (provolatile <> 'i' OR NOT proisstrict)
    ORDER BY oid::regprocedure::text COLLATE "C"
$$);
SELECT oid::regprocedure, proparallel FROM functions WHERE proparallel <> 's';
SELECT * FROM each_type($$
    SELECT oid::regprocedure FROM functions
    WHERE oid::regprocedure::text ~ '(?<![a-z0-9])$T(?![a-z0-9])' AND proleakproof ORDER BY oid::regprocedure::text COLLATE "C"
$$);
SELECT functions.oid::regprocedure, prosecdef, procost, lanname, proconfig FROM functions JOIN pg_language AS l ON l.oid = prolang
WHERE prosecdef OR procost <> 1 OR lanname NOT IN ('c', 'internal') ORDER BY functions.oid;

-- What not everybody may execute, and whether pg_monitor may: what others do, and what sets the mark.
SELECT oid::regprocedure, has_function_privilege('pg_monitor', oid, 'execute')
FROM functions WHERE NOT has_function_privilege('public', oid, 'execute') ORDER BY oid::regprocedure::text;

-- The operator classes are valid and complete. All but two are the default.
CREATE VIEW opclasses AS
    SELECT o.oid, opcname, amname, opcdefault, opcfamily, opcintype::regtype::text AS type
    FROM members JOIN pg_opclass AS o ON classid = 'pg_opclass'::regclass AND objid = o.oid JOIN pg_am AS a ON a.oid = opcmethod;
SELECT * FROM each_type($$
    SELECT amname, opcname, opcdefault, amvalidate(oid),
           (SELECT string_agg(amopstrategy || ' ' || oprname, ', ' ORDER BY amopstrategy)
            FROM pg_amop JOIN pg_operator AS o ON o.oid = amopopr WHERE amopfamily = opcfamily)
    FROM opclasses WHERE type = '$T' ORDER BY amname, opcname
$$);
-- The support functions. Two exist in PostgreSQL 18 and later only: btree skip support, for types passed by value, and the GiST
-- function for temporal keys.
SELECT * FROM each_type($$
    SELECT amname, opcname, amprocnum, amproc
    FROM opclasses JOIN pg_amproc ON amprocfamily = opcfamily
    WHERE type = '$T' AND (amname, amprocnum) NOT IN (('btree', 6), ('gist', 12)) ORDER BY amname, opcname, amprocnum
$$);
CREATE VIEW of_18 AS
    SELECT type, amname, amproc::text FROM opclasses JOIN pg_amproc ON amprocfamily = opcfamily
    WHERE (amname, amprocnum) IN (('btree', 6), ('gist', 12));
CREATE VIEW expected_of_18 AS
    SELECT name AS type, 'btree' AS amname, 'btint8skipsupport' AS amproc FROM types WHERE by_value
    UNION ALL SELECT name, 'gist', 'gist_translate_cmptype_common' FROM types;
SELECT current_setting('server_version_num')::integer >= 180000 AS is_18 \gset
(TABLE of_18 EXCEPT SELECT * FROM expected_of_18 WHERE :'is_18') UNION ALL (SELECT * FROM expected_of_18 WHERE :'is_18' EXCEPT TABLE of_18);
SELECT scru_adapt_to_server();

-- The three places. Operators between values of types of the extension, or of such a type and the server's, are in pg_catalog. What is
-- in scru_internal is marked as internal, and nothing else is. The other objects are those that users write.
CREATE VIEW places AS
    SELECT classid::regclass::text AS catalog,
           CASE WHEN i.schema IN ('pg_catalog', 'scru_internal') THEN i.schema ELSE 'own' END AS place,
           coalesce(obj_description(objid, classid::regclass::name), '') LIKE 'internal: %' AS is_internal
    FROM members, pg_identify_object(classid, objid, 0) AS i WHERE i.schema IS NOT NULL;
SELECT catalog, place, count(*) FROM places WHERE (catalog, place) <> ('pg_proc', 'scru_internal') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM places WHERE is_internal <> (place = 'scru_internal');
SELECT DISTINCT grantee = nspowner AS is_owner, privilege_type FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'scru_internal' ORDER BY 1, 2;
