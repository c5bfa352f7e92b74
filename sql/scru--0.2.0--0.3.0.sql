\echo Use "ALTER EXTENSION scru UPDATE TO '0.3.0'" to load this file. \quit

-- An old library lacks functions that this script declares. A session keeps the library that it has loaded, and a server the one that
-- it has preloaded, after the files have been replaced. Libraries before 0.3.0 do not have the setting.
LOAD 'MODULE_PATHNAME';
DO $$
BEGIN
    IF pg_catalog.current_setting('scru.library_version', true) IS NULL THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'the library of scru that this session has loaded is older than 0.3.0',
            DETAIL = 'Sessions keep the library that they have loaded, and servers the one that they have preloaded.',
            HINT = CASE WHEN pg_catalog.current_setting('shared_preload_libraries') OPERATOR(pg_catalog.~) '\mscru\M'
                THEN 'Restart the server: shared_preload_libraries contains scru.'
                ELSE 'Reconnect, and repeat the command.' END;
    END IF;
END
$$;

-- The range operand of <@ and @> becomes a domain over tstzrange.
CREATE DOMAIN scru_tstzrange AS tstzrange;
COMMENT ON DOMAIN scru_tstzrange IS 'range of time as the operand of <@ and @>, to which a tstzrange is cast implicitly';

-- Updates the catalogs, because no command changes an operand, and because views, policies, indexes and other objects that depend on
-- the operators do not allow to drop them. The stored expressions of these objects remain valid: the two types are the same in
-- memory, and the server casts a tstzrange to the domain without a function call.
DO $$
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    tstzrange CONSTANT pg_catalog.oid := 'pg_catalog.tstzrange'::pg_catalog.regtype;
    domain CONSTANT pg_catalog.oid := 'scru_tstzrange'::pg_catalog.regtype;
    functions pg_catalog.oid[];
    operators pg_catalog.oid[];
BEGIN
    -- This script runs as superuser. The user who installed the extension may own its schema: no name is looked up there.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

    SELECT array_agg(p.oid) INTO functions
    FROM pg_depend JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND extname = 'scru'
    JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    WHERE proname ~ '^(scru128|scru160|scru64|ulid|ulidflake)_(contained_by_range|range_contains)$';
    -- Also operators that users have created with these functions.
    SELECT array_agg(oid) INTO operators FROM pg_operator WHERE oprcode = ANY (functions);

    UPDATE pg_proc SET proargtypes = array_to_string(array_replace(proargtypes::oid[], tstzrange, domain), ' ')::oidvector
    WHERE oid = ANY (functions);
    UPDATE pg_operator
    SET oprleft = CASE oprleft WHEN tstzrange THEN domain ELSE oprleft END,
        oprright = CASE oprright WHEN tstzrange THEN domain ELSE oprright END
    WHERE oid = ANY (operators);
    -- A GiST operator class repeats the operands of its operators.
    UPDATE pg_amop SET amoprighttype = domain WHERE amopopr = ANY (operators) AND amoprighttype = tstzrange;
    -- The domain cannot be dropped without them, and pg_dump creates it first. There is no row for tstzrange, because the server
    -- records no dependencies on its own types.
    INSERT INTO pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
    SELECT 'pg_proc'::regclass, unnest(functions), 0, 'pg_type'::regclass, domain, 0, 'n'
    UNION ALL SELECT 'pg_operator'::regclass, unnest(operators), 0, 'pg_type'::regclass, domain, 0, 'n';

    PERFORM set_config('search_path', path, true);
END
$$;

-- Estimates of comparisons. The estimator of ranges replaces those of the server, and combines all conditions on an ID. ANALYZE
-- collects the most common ticks.
DO $$
DECLARE
    id_type pg_catalog.text;
    symbol pg_catalog.text;
BEGIN
    FOREACH id_type IN ARRAY ARRAY['scru128', 'scru160', 'scru64', 'ulid', 'ulidflake'] LOOP
        EXECUTE pg_catalog.format($sql$
            ALTER FUNCTION %1$s_rangesel(internal, oid, internal, integer) RENAME TO %1$s_ineqsel;
            CREATE OR REPLACE FUNCTION %1$s_ineqsel(internal, oid, internal, integer) RETURNS double precision
                AS 'MODULE_PATHNAME', '%1$s_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION %1$s_ineqsel(internal, oid, internal, integer) IS 'restriction selectivity of a comparison with an ID or a time, or of a range of times';
            CREATE FUNCTION %1$s_typanalyze(internal) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION %1$s_typanalyze(internal) IS 'statistics for ANALYZE: those of the server, and the most common ticks';
            ALTER TYPE %1$s SET (ANALYZE = %1$s_typanalyze);
        $sql$, id_type);
        FOREACH symbol IN ARRAY ARRAY['<', '<=', '>', '>='] LOOP
            EXECUTE pg_catalog.format($sql$
                ALTER OPERATOR %2$s (%1$s, %1$s) SET (RESTRICT = %1$s_ineqsel);
                ALTER OPERATOR %2$s (%1$s, timestamptz) SET (RESTRICT = %1$s_ineqsel);
                ALTER OPERATOR %2$s (timestamptz, %1$s) SET (RESTRICT = %1$s_ineqsel);
            $sql$, id_type, symbol);
        END LOOP;
    END LOOP;
END
$$;

-- A database from pg_upgrade lacks the support functions that its older server did not have, and the key type of BRIN operator
-- classes, which no command sets. This function adds them.
CREATE OR REPLACE FUNCTION scru_adapt_to_server() RETURNS SETOF text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    t record;
BEGIN
    FOR t IN
        SELECT pg_type.oid, typname AS name, quote_ident(nspname) AS schema, typbyval,
               btree.opcfamily AS btree, gist.opcfamily AS gist,
               ARRAY(
                   SELECT brin.oid FROM pg_opclass AS brin JOIN pg_am ON pg_am.oid = opcmethod AND amname = 'brin'
                   WHERE brin.opcintype = pg_type.oid AND brin.opcnamespace = pg_type.typnamespace AND brin.opckeytype = 0
                       AND brin.opcname IN (typname || '_minmax_ops', typname || '_minmax_multi_ops', typname || '_bloom_ops')
               ) AS brin
        FROM pg_extension AS extension
        JOIN pg_depend ON refclassid = 'pg_extension'::regclass AND refobjid = extension.oid AND classid = 'pg_type'::regclass
        JOIN pg_type ON pg_type.oid = objid
        JOIN pg_namespace ON pg_namespace.oid = typnamespace
        JOIN pg_opclass AS btree ON btree.opcintype = pg_type.oid AND btree.opcname = typname || '_ops'
            AND btree.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
        JOIN pg_opclass AS gist ON gist.opcintype = pg_type.oid AND gist.opcname = typname || '_gist_ops'
            AND gist.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gist')
        WHERE extname = 'scru'
        ORDER BY typname
    LOOP
        -- Without a key type, an index on a domain has the domain as its type, and BRIN finds no operators for it. The server's own
        -- operator classes have a key type, but CREATE OPERATOR CLASS ignores STORAGE with the type of the column. An ID has the
        -- same bytes as a value of the domain, so that existing indexes remain valid.
        IF cardinality(t.brin) > 0 THEN
            UPDATE pg_opclass SET opckeytype = opcintype WHERE oid = ANY (t.brin);
            UPDATE pg_attribute SET atttypid = t.oid
            FROM pg_index, pg_type AS domain
            WHERE attrelid = indexrelid AND indclass[attnum - 1] = ANY (t.brin) AND domain.oid = atttypid AND domain.typtype = 'd';
            RETURN NEXT t.name || ': BRIN indexes on domains';
        END IF;
        -- PostgreSQL 18 introduced GiST support function 12 (temporal keys) and btree support function 6 (skip scans).
        CONTINUE WHEN current_setting('server_version_num')::integer < 180000;
        IF NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = t.gist AND amprocnum = 12) THEN
            EXECUTE format(
                'ALTER OPERATOR FAMILY %s.%s_gist_ops USING gist ADD FUNCTION 12 ("any", "any") gist_translate_cmptype_common(integer)',
                t.schema, t.name);
            RETURN NEXT t.name || ': temporal keys';
        END IF;
        IF t.typbyval AND NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = t.btree AND amprocnum = 6) THEN
            EXECUTE format(
                $sql$
                    CREATE FUNCTION %1$s.%2$s_skipsupport(internal) RETURNS void
                        AS 'MODULE_PATHNAME', '%2$s_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
                    COMMENT ON FUNCTION %1$s.%2$s_skipsupport(internal) IS 'skip support';
                    ALTER OPERATOR FAMILY %1$s.%2$s_ops USING btree
                        ADD FUNCTION 6 (%1$s.%2$s, %1$s.%2$s) %1$s.%2$s_skipsupport(internal);
                $sql$, t.schema, t.name);
            -- A function that an extension script creates is already a member.
            IF NOT EXISTS (
                SELECT FROM pg_depend
                WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
                    AND objid = to_regprocedure(format('%s.%s_skipsupport(internal)', t.schema, t.name))
            ) THEN
                EXECUTE format('ALTER EXTENSION scru ADD FUNCTION %s.%s_skipsupport(internal)', t.schema, t.name);
            END IF;
            RETURN NEXT t.name || ': skip support';
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION scru_adapt_to_server() IS 'adds the features that a database lacks after pg_upgrade, and returns their names';

-- Comparisons of an ID with a time truncate both to the tick. The functions get other C symbols: the library compares exact times
-- as long as the database has the SQL of an earlier version.
DO $$
DECLARE
    type_ record;
    op record;
BEGIN
    FOR type_ IN
        SELECT * FROM (VALUES ('scru128', 'millisecond'), ('scru160', 'millisecond'), ('scru64', 'tick of 256 milliseconds'),
            ('ulid', 'millisecond'), ('ulidflake', 'millisecond')) AS types (name, tick)
    LOOP
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_floor(timestamptz) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_floor' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION %1$s_floor(timestamptz) IS 'smallest %1$s of the %2$s that contains a time';
            CREATE OR REPLACE FUNCTION %1$s_time_bound(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_bound_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_time_lower(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_lower_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_time_upper(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_upper_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_time_support(internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_time_support_by_tick' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_time_possible(%1$s, timestamptz, text) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_time_possible_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                SUPPORT %1$s_time_support;
            CREATE OR REPLACE FUNCTION %1$s_range_lower(tstzrange) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_lower_of_range_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_range_upper(tstzrange) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_upper_of_range_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            COMMENT ON FUNCTION %1$s_range_lower(tstzrange) IS 'first %1$s in a range of time; the largest of all if there is none';
            COMMENT ON FUNCTION %1$s_range_upper(tstzrange) IS 'last %1$s in a range of time; the smallest of all if there is none';
            CREATE OR REPLACE FUNCTION %1$s_range_support(internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_range_support_by_tick' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE OR REPLACE FUNCTION %1$s_contained_by_range(%1$s, scru_tstzrange) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_contained_by_range_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                SUPPORT %1$s_range_support;
            CREATE OR REPLACE FUNCTION %1$s_range_contains(scru_tstzrange, %1$s) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_range_contains_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                SUPPORT %1$s_range_support;
            CREATE OR REPLACE FUNCTION %1$s_gist_consistent(internal, %1$s, smallint, oid, internal) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_gist_consistent_by_tick' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
        $sql$, type_.name, type_.tick);
        FOR op IN SELECT * FROM (VALUES ('lt'), ('le'), ('gt'), ('ge')) AS ops (name) LOOP
            EXECUTE pg_catalog.format($sql$
                CREATE OR REPLACE FUNCTION %1$s_%2$s_timestamptz(%1$s, timestamptz) RETURNS boolean
                    AS 'MODULE_PATHNAME', '%1$s_%2$s_timestamptz_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                    SUPPORT %1$s_time_support;
                CREATE OR REPLACE FUNCTION timestamptz_%2$s_%1$s(timestamptz, %1$s) RETURNS boolean
                    AS 'MODULE_PATHNAME', 'timestamptz_%2$s_%1$s_by_tick' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                    SUPPORT %1$s_time_support;
            $sql$, type_.name, op.name);
        END LOOP;
    END LOOP;
END
$$;

-- Stored conditions on a time that is not the start of a tick have changed their meaning: rebuilds the indexes, and reports the
-- other objects.
DO $$
DECLARE
    path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    object record;
BEGIN
    -- This script runs as superuser. The user who installed the extension may own its schema: no name is looked up there.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR object IN
        WITH RECURSIVE
            changed (classid, objid) AS (
                SELECT classid, objid
                FROM pg_depend JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND extname = 'scru'
                JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
                WHERE proname ~ ('^(scru128|scru160|scru64|ulid|ulidflake)_(lt_timestamptz|ge_timestamptz|contained_by_range|'
                        || 'range_contains|range_lower|range_upper|time_bound|time_lower|time_upper|time_possible)$')
                    OR proname ~ '^timestamptz_(gt|le)_(scru128|scru160|scru64|ulid|ulidflake)$'
            ),
            -- Operators on these functions, and functions and operators of users that depend on them.
            dependent (classid, objid) AS (
                TABLE changed
                UNION
                SELECT d.classid, d.objid
                FROM dependent JOIN pg_depend AS d ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
                WHERE dependent.classid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
            )
        SELECT DISTINCT dependent.classid, dependent.objid,
            CASE WHEN c.contypid <> 0 THEN format('constraint %I on domain %s', conname, contypid::regtype)
                ELSE pg_describe_object(dependent.classid, dependent.objid, 0) END AS description,
            CASE
                WHEN i.relkind = 'i' AND (i.relpersistence <> 't' OR i.relnamespace = pg_my_temp_schema()) THEN 'reindex'
                WHEN i.relkind = 'i' THEN 'If its session still uses it, reindex it there.'
                WHEN i.relkind = 'p' THEN 'Rows that this moves to another partition must be updated.'
                WHEN c.contype = 'c' THEN 'Check whether all rows satisfy the constraint.'
                WHEN a.attgenerated <> '' THEN 'If its values are stored, update all rows of the table to compute them again.'
                WHEN v.relkind = 'm' THEN 'Refresh the materialized view.'
                WHEN dependent.classid = 'pg_policy'::regclass THEN 'Check whether the policy still selects the intended rows.'
                WHEN dependent.classid = 'pg_trigger'::regclass THEN 'Check whether the trigger still fires for the intended rows.'
            END AS remedy
        FROM dependent
        LEFT JOIN pg_class AS i ON classid = 'pg_class'::regclass AND i.oid = objid
        LEFT JOIN pg_constraint AS c ON classid = 'pg_constraint'::regclass AND c.oid = objid
        LEFT JOIN pg_attrdef AS d ON classid = 'pg_attrdef'::regclass AND d.oid = objid
        LEFT JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        LEFT JOIN pg_rewrite AS r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
        LEFT JOIN pg_class AS v ON v.oid = r.ev_class
        ORDER BY description
    LOOP
        CONTINUE WHEN object.remedy IS NULL;
        IF object.remedy = 'reindex' THEN
            -- This session may have cached the predicate of the index as the planner rewrote it under the old rule.
            UPDATE pg_index SET indexrelid = indexrelid WHERE indexrelid = object.objid;
            EXECUTE format('REINDEX INDEX %s', object.objid::regclass);
            -- A NOTICE would not reach the client of an extension's script.
            RAISE INFO '% has been rebuilt', object.description
                USING DETAIL = 'Its rows depend on a comparison of an ID with a time, which is by tick now.';
        ELSE
            RAISE WARNING '% compares an ID with a time, which is by tick now', object.description
                USING DETAIL = 'Comparisons with a time that is not the start of a tick select other rows than before.', HINT = object.remedy;
        END IF;
    END LOOP;
    PERFORM set_config('search_path', path, true);
END
$$;

SELECT scru_adapt_to_server();

-- The sequences that carry the high-water marks. The server permits no sequences in pg_catalog: only there, the extension has a
-- schema for them.
DO $$
BEGIN
    IF pg_catalog.current_schema() OPERATOR(pg_catalog.=) 'pg_catalog' THEN
        CREATE SCHEMA scru_marks;
        GRANT USAGE ON SCHEMA scru_marks TO PUBLIC;
        PERFORM pg_catalog.set_config('search_path', 'scru_marks, pg_temp', true);
    END IF;
END
$$;
CREATE SEQUENCE scru64_mark;
COMMENT ON SEQUENCE scru64_mark IS 'high-water mark of scru64, as dumps and pg_upgrade carry it';
GRANT SELECT ON SEQUENCE scru64_mark TO PUBLIC;
GRANT UPDATE ON SEQUENCE scru64_mark TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('scru64_mark', '');
CREATE SEQUENCE ulidflake_mark;
COMMENT ON SEQUENCE ulidflake_mark IS 'high-water mark of ulidflake, as dumps and pg_upgrade carry it';
GRANT SELECT ON SEQUENCE ulidflake_mark TO PUBLIC;
GRANT UPDATE ON SEQUENCE ulidflake_mark TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('ulidflake_mark', '');
CREATE SEQUENCE scru_horizon_mark;
COMMENT ON SEQUENCE scru_horizon_mark IS 'time above which IDs continue after the horizons, as dumps and pg_upgrade carry it';
GRANT SELECT ON SEQUENCE scru_horizon_mark TO PUBLIC;
GRANT UPDATE ON SEQUENCE scru_horizon_mark TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('scru_horizon_mark', '');
SELECT pg_catalog.set_config('search_path', pg_catalog.format('%I, pg_temp', nspname), true)
FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) extnamespace
WHERE extname OPERATOR(pg_catalog.=) 'scru';

CREATE FUNCTION scru_raise_mark(type text, mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_raise_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_raise_mark(text, timestamptz) IS 'raises the high-water mark of this server''s node to a time, if it is lower: new IDs are above it';
REVOKE EXECUTE ON FUNCTION scru_raise_mark(text, timestamptz) FROM PUBLIC;

-- scru_generators() gets further columns. CREATE OR REPLACE cannot add them, and DROP FUNCTION fails if a view uses the function. So
-- the properties of a new function are copied: a view keeps the columns that it names, which come first.
CREATE FUNCTION scru_new_generators(
        OUT type text, OUT scope text, OUT node text, OUT last_id text, OUT last_time timestamptz, OUT ahead interval,
        OUT reserved_until timestamptz, OUT preloaded boolean, OUT node_source text, OUT mark timestamptz,
        OUT mark_ahead interval, OUT draw text, OUT wait interval, OUT reason text, OUT last_failure timestamptz)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_generators' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 5;
UPDATE pg_catalog.pg_proc AS old
SET prosrc = new.prosrc, proparallel = new.proparallel, proallargtypes = new.proallargtypes, proargmodes = new.proargmodes,
    proargnames = new.proargnames
FROM pg_catalog.pg_proc AS new
WHERE old.oid OPERATOR(pg_catalog.=) 'scru_generators()'::pg_catalog.regprocedure
    AND new.oid OPERATOR(pg_catalog.=) 'scru_new_generators()'::pg_catalog.regprocedure;
DROP FUNCTION scru_new_generators();
COMMENT ON FUNCTION scru_generators() IS 'last ID of each generator of the server, its high-water mark, and what the next draw does: continue, wait or refuse';

-- Sessions that have loaded the library of an older version publish no IDs: until they have ended, there is no horizon.
CREATE FUNCTION scru_note_old_sessions() RETURNS void
    AS 'MODULE_PATHNAME', 'scru_note_old_sessions' LANGUAGE C VOLATILE;
SELECT scru_note_old_sessions();
DROP FUNCTION scru_note_old_sessions();

-- IDs with a prefix.
DO $$
DECLARE
    id_type pg_catalog.text;
BEGIN
    FOREACH id_type IN ARRAY ARRAY['scru128', 'scru160', 'scru64', 'ulid', 'ulidflake'] LOOP
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_prefixed(prefix text, id %1$s) RETURNS text
                AS 'MODULE_PATHNAME', '%1$s_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_unprefixed(prefix text, value text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            COMMENT ON FUNCTION %1$s_prefixed(prefix text, id %1$s) IS 'a prefix, an underscore, and the text of a %1$s';
            COMMENT ON FUNCTION %1$s_unprefixed(prefix text, value text) IS 'the %1$s of a text with this prefix';
            CREATE FUNCTION %1$s_horizon() RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
            COMMENT ON FUNCTION %1$s_horizon() IS 'an ID below which no further %1$s of gen_%1$s() will appear: the end of what a reader in the order of IDs can read';
            CREATE FUNCTION %1$s_horizon(after %1$s) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_horizon_after' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
            COMMENT ON FUNCTION %1$s_horizon(%1$s) IS 'the horizon; raises an error if the server may still generate an ID below the given one';
        $sql$, id_type);
    END LOOP;
END
$$;

-- GIN operator classes.
DO $$
DECLARE
    id_type pg_catalog.text;
BEGIN
    FOREACH id_type IN ARRAY ARRAY['scru128', 'scru160', 'scru64', 'ulid', 'ulidflake'] LOOP
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_gin_extract_value(%1$s, internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gin_extract_query(%1$s, internal, smallint, internal, internal, internal, internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gin_compare_partial(%1$s, %1$s, smallint, internal) RETURNS integer
                AS 'MODULE_PATHNAME', '%1$s_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gin_triconsistent(internal, smallint, %1$s, integer, internal, internal, internal) RETURNS "char"
                AS 'MODULE_PATHNAME', '%1$s_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE OPERATOR CLASS %1$s_ops DEFAULT FOR TYPE %1$s USING gin AS
                OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
                FUNCTION 1 %1$s_cmp(%1$s, %1$s),
                FUNCTION 2 %1$s_gin_extract_value(%1$s, internal),
                FUNCTION 3 %1$s_gin_extract_query(%1$s, internal, smallint, internal, internal, internal, internal),
                FUNCTION 5 %1$s_gin_compare_partial(%1$s, %1$s, smallint, internal),
                FUNCTION 6 %1$s_gin_triconsistent(internal, smallint, %1$s, integer, internal, internal, internal);
            COMMENT ON FUNCTION %1$s_gin_extract_value(%1$s, internal) IS 'GIN support';
            COMMENT ON FUNCTION %1$s_gin_extract_query(%1$s, internal, smallint, internal, internal, internal, internal) IS 'GIN support';
            COMMENT ON FUNCTION %1$s_gin_compare_partial(%1$s, %1$s, smallint, internal) IS 'GIN support';
            COMMENT ON FUNCTION %1$s_gin_triconsistent(internal, smallint, %1$s, integer, internal, internal, internal) IS 'GIN support';
            COMMENT ON OPERATOR CLASS %1$s_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
            COMMENT ON OPERATOR FAMILY %1$s_ops USING gin IS 'equality';
        $sql$, id_type);
    END LOOP;
END
$$;

CREATE FUNCTION scru_horizon_holders(OUT pid integer, OUT first_time timestamptz) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_horizon_holders' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION scru_horizon_holders() IS 'transactions of this database that have generated an ID: the process (NULL if prepared), and the time at which they hold the horizons';

CREATE FUNCTION scru_feed_guard() RETURNS trigger
    AS 'MODULE_PATHNAME', 'scru_feed_guard' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru_feed_guard() IS 'trigger BEFORE INSERT FOR EACH ROW that refuses an ID that was not generated in the same transaction; its arguments are the name of the column and, for a uuid or a bigint, of the type whose IDs it has';
