-- The public names of the extensions, by the catalog, a line each: the list of docs/stability.md.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
\set ECHO none
\pset format unaligned
\pset tuples_only on
BEGIN;
SET LOCAL search_path = public;
CREATE EXTENSION scru_uuidv7;
CREATE EXTENSION scru_text;
CREATE TEMPORARY VIEW members AS
    SELECT classid, objid
    FROM pg_depend JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND e.oid = refobjid
    WHERE deptype = 'e' AND extname IN ('scru', 'scru_uuidv7', 'scru_text')
      AND coalesce(obj_description(objid, classid::regclass::name), '') NOT LIKE 'internal: %';
SELECT name FROM (
    SELECT format('type %s', typname) AS name FROM members JOIN pg_type ON classid = 'pg_type'::regclass AND oid = objid
    WHERE typcategory <> 'A'
    UNION ALL
    SELECT format('%s %s(%s) returns %s', CASE prokind WHEN 'a' THEN 'aggregate' ELSE 'function' END, proname,
                  pg_get_function_arguments(oid), pg_get_function_result(oid))
    FROM members JOIN pg_proc ON classid = 'pg_proc'::regclass AND oid = objid
    UNION ALL
    SELECT format('operator %s %s %s', oprleft::regtype, oprname, oprright::regtype)
    FROM members JOIN pg_operator ON classid = 'pg_operator'::regclass AND oid = objid
    UNION ALL
    SELECT format('cast %s to %s, %s', castsource::regtype, casttarget::regtype,
                  CASE castcontext WHEN 'e' THEN 'explicit' WHEN 'a' THEN 'assignment' ELSE 'implicit' END)
    FROM members JOIN pg_cast ON classid = 'pg_cast'::regclass AND oid = objid
    UNION ALL
    SELECT format('operator class %s, %s', opcname, amname)
    FROM members JOIN pg_opclass AS o ON classid = 'pg_opclass'::regclass AND o.oid = objid JOIN pg_am AS a ON a.oid = opcmethod
    UNION ALL
    SELECT format('setting %s, %s%s', name, vartype, ': ' || array_to_string(enumvals, ', '))
    FROM pg_settings WHERE name LIKE 'scru.%' AND context <> 'internal'
) AS names ORDER BY name COLLATE "C";
ROLLBACK;
