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

SELECT scru_adapt_to_server();
