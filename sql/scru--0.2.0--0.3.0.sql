\echo Use "ALTER EXTENSION scru UPDATE TO '0.3.0'" to load this file. \quit

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

-- Estimates of comparisons. The estimator of ranges replaces those of the server, and combines all conditions on an ID.
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
SELECT scru_adapt_to_server();
