\echo Use "ALTER EXTENSION scru UPDATE TO '0.2.0'" to load this file. \quit

-- New objects of every type.
DO $$
DECLARE
    id_type pg_catalog.text;
BEGIN
    FOREACH id_type IN ARRAY ARRAY['scru128', 'scru160', 'scru64', 'ulid', 'ulidflake'] LOOP
        -- window
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_in_range(%1$s, %1$s, interval, boolean, boolean) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
            ALTER OPERATOR FAMILY %1$s_ops USING btree ADD
                FUNCTION 3 (%1$s, interval) %1$s_in_range(%1$s, %1$s, interval, boolean, boolean);
            COMMENT ON FUNCTION %1$s_in_range(%1$s, %1$s, interval, boolean, boolean) IS 'window function support: RANGE with an interval';
        $sql$, id_type);

        -- gist
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_gist_consistent(internal, %1$s, smallint, oid, internal) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_union(internal, internal) RETURNS bytea
                AS 'MODULE_PATHNAME', '%1$s_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_compress(internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_penalty(internal, internal, internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_picksplit(internal, internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_same(bytea, bytea, internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_fetch(internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_gist_sortsupport(internal) RETURNS void
                AS 'MODULE_PATHNAME', '%1$s_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

            -- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 can use gist_translate_cmptype_common().
            CREATE OPERATOR CLASS %1$s_gist_ops DEFAULT FOR TYPE %1$s USING gist AS
                OPERATOR 8 <@ (%1$s, tstzrange),
                OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
                FUNCTION 1 %1$s_gist_consistent(internal, %1$s, smallint, oid, internal),
                FUNCTION 2 %1$s_gist_union(internal, internal),
                FUNCTION 3 %1$s_gist_compress(internal),
                FUNCTION 5 %1$s_gist_penalty(internal, internal, internal),
                FUNCTION 6 %1$s_gist_picksplit(internal, internal),
                FUNCTION 7 %1$s_gist_same(bytea, bytea, internal),
                FUNCTION 9 %1$s_gist_fetch(internal),
                FUNCTION 11 %1$s_gist_sortsupport(internal),
                STORAGE bytea;

            COMMENT ON FUNCTION %1$s_gist_consistent(internal, %1$s, smallint, oid, internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_union(internal, internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_compress(internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_penalty(internal, internal, internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_picksplit(internal, internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_same(bytea, bytea, internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_fetch(internal) IS 'GiST support';
            COMMENT ON FUNCTION %1$s_gist_sortsupport(internal) IS 'GiST sort support';
            COMMENT ON OPERATOR CLASS %1$s_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
            COMMENT ON OPERATOR FAMILY %1$s_gist_ops USING gist IS 'equality, order and time';
        $sql$, id_type);

        -- inspect
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION scru_inspect(id %1$s, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
                RETURNS SETOF record
                AS 'MODULE_PATHNAME', '%1$s_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
            COMMENT ON FUNCTION scru_inspect(%1$s) IS 'type, canonical text, time and fields of an ID';
        $sql$, id_type);

        -- comments on the objects of 0.1.0
        EXECUTE pg_catalog.format($sql$
            COMMENT ON FUNCTION gen_%1$s() IS 'a new %1$s, greater than the previous one';
            COMMENT ON FUNCTION %1$s_hash_extended(%1$s, bigint) IS 'hash with a seed, for hash partitioning';
            COMMENT ON FUNCTION %1$s_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
            COMMENT ON OPERATOR <@ (%1$s, tstzrange) IS 'time of creation is in the range';
            COMMENT ON FUNCTION %1$s_time_decoder(text) IS 'time of a %1$s that is given as text; for whole seconds, the inverse of %1$s_time_encoder';
        $sql$, id_type);
    END LOOP;
END
$$;

COMMENT ON FUNCTION scru_inspect(text) IS 'type (by the shape of the text), canonical text, time and fields of an ID; no row if the text is not an ID';

-- Comparisons with a time. The functions on tstzrange are renamed, so that an untyped argument of T_lower() and T_upper() is a
-- time.
DO $$
DECLARE
    id_type pg_catalog.text;
    op record;
BEGIN
    FOREACH id_type IN ARRAY ARRAY['scru128', 'scru160', 'scru64', 'ulid', 'ulidflake'] LOOP
        EXECUTE pg_catalog.format($sql$
            ALTER FUNCTION %1$s_timestamp(%1$s) LEAKPROOF;
            ALTER FUNCTION %1$s_lower(tstzrange) RENAME TO %1$s_range_lower;
            ALTER FUNCTION %1$s_upper(tstzrange) RENAME TO %1$s_range_upper;

            CREATE FUNCTION %1$s_time_bound(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE FUNCTION %1$s_time_lower(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE FUNCTION %1$s_time_upper(timestamptz, text) RETURNS %1$s
                AS 'MODULE_PATHNAME', '%1$s_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
            CREATE FUNCTION %1$s_time_support(internal) RETURNS internal
                AS 'MODULE_PATHNAME', '%1$s_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE FUNCTION %1$s_time_possible(%1$s, timestamptz, text) RETURNS boolean
                AS 'MODULE_PATHNAME', '%1$s_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                SUPPORT %1$s_time_support;
            COMMENT ON FUNCTION %1$s_time_bound(timestamptz, text) IS 'nearest %1$s that satisfies a comparison with a time; NULL if there is none';
            COMMENT ON FUNCTION %1$s_time_lower(timestamptz, text) IS 'smallest %1$s that satisfies a comparison with a time; the largest of all if there is none';
            COMMENT ON FUNCTION %1$s_time_upper(timestamptz, text) IS 'largest %1$s that satisfies a comparison with a time; the smallest of all if there is none';
            COMMENT ON FUNCTION %1$s_time_possible(%1$s, timestamptz, text) IS 'whether any %1$s satisfies a comparison with a time';
            COMMENT ON FUNCTION %1$s_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
        $sql$, id_type);
        FOR op IN
            SELECT * FROM (VALUES
                ('lt', '<', '>', '>=', 'scalarlt', 'less than, by time'),
                ('le', '<=', '>=', '>', 'scalarle', 'less than or equal, by time'),
                ('gt', '>', '<', '<=', 'scalargt', 'greater than, by time'),
                ('ge', '>=', '<=', '<', 'scalarge', 'greater than or equal, by time')
            ) AS ops (name, symbol, commutator, negator, estimator, comment)
        LOOP
            EXECUTE pg_catalog.format($sql$
                CREATE FUNCTION %1$s_%2$s_timestamptz(%1$s, timestamptz) RETURNS boolean
                    AS 'MODULE_PATHNAME', '%1$s_%2$s_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                    SUPPORT %1$s_time_support;
                CREATE FUNCTION timestamptz_%2$s_%1$s(timestamptz, %1$s) RETURNS boolean
                    AS 'MODULE_PATHNAME', 'timestamptz_%2$s_%1$s' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
                    SUPPORT %1$s_time_support;
                CREATE OPERATOR %3$s (
                    LEFTARG = %1$s, RIGHTARG = timestamptz, FUNCTION = %1$s_%2$s_timestamptz,
                    COMMUTATOR = %4$s, NEGATOR = %5$s, RESTRICT = %6$ssel, JOIN = %6$sjoinsel
                );
                CREATE OPERATOR %3$s (
                    LEFTARG = timestamptz, RIGHTARG = %1$s, FUNCTION = timestamptz_%2$s_%1$s,
                    COMMUTATOR = %4$s, NEGATOR = %5$s, RESTRICT = %6$ssel, JOIN = %6$sjoinsel
                );
                COMMENT ON FUNCTION %1$s_%2$s_timestamptz(%1$s, timestamptz) IS 'implementation of %3$s operator';
                COMMENT ON FUNCTION timestamptz_%2$s_%1$s(timestamptz, %1$s) IS 'implementation of %3$s operator';
                COMMENT ON OPERATOR %3$s (%1$s, timestamptz) IS '%7$s';
                COMMENT ON OPERATOR %3$s (timestamptz, %1$s) IS '%7$s';
            $sql$, id_type, op.name, op.symbol, op.commutator, op.negator, op.estimator, op.comment);
        END LOOP;
    END LOOP;
END
$$;

-- These casts become assignment casts, which INSERT and ALTER TABLE apply implicitly.
DO $$
DECLARE
    cast_ record;
BEGIN
    FOR cast_ IN
        SELECT * FROM (VALUES ('scru128', 'uuid', 'same 16 bytes, read as uuid'), ('ulid', 'uuid', 'same 16 bytes, read as uuid'),
            ('scru64', 'bigint', 'same value, read as bigint'), ('ulidflake', 'bigint', 'same value, read as bigint')) AS casts (source, target, comment)
    LOOP
        EXECUTE pg_catalog.format($sql$
            DROP CAST (%1$s AS %2$s);
            CREATE CAST (%1$s AS %2$s) WITHOUT FUNCTION AS ASSIGNMENT;
            COMMENT ON CAST (%1$s AS %2$s) IS 'the %3$s';
        $sql$, cast_.source, cast_.target, cast_.comment);
    END LOOP;
END
$$;

CREATE FUNCTION scru_types(
    OUT type text, OUT bytes integer, OUT digits integer, OUT tick interval,
    OUT earliest timestamptz, OUT latest timestamptz, OUT smallest text, OUT largest text
)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_types_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_types() IS 'the types: length of an ID and of its text, unit and range of its time, smallest and largest ID';

-- A database from pg_upgrade lacks the support functions that its older server did not have. This function adds them.
CREATE FUNCTION scru_adapt_to_server() RETURNS SETOF text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    t record;
BEGIN
    -- PostgreSQL 18 introduced GiST support function 12 (temporal keys) and btree support function 6 (skip scans).
    IF current_setting('server_version_num')::integer < 180000 THEN
        RETURN;
    END IF;
    FOR t IN
        SELECT typname AS name, quote_ident(nspname) AS schema, typbyval,
               btree.opcfamily AS btree, gist.opcfamily AS gist
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
COMMENT ON FUNCTION scru_adapt_to_server() IS 'after pg_upgrade: adds the features that the older server did not support, and returns their names';
SELECT scru_adapt_to_server();

------------------------------------------------------------------------------------------------------------ generators

CREATE FUNCTION scru_generators(
        OUT type text, OUT scope text, OUT node text, OUT last_id text, OUT last_time timestamptz, OUT ahead interval,
        OUT reserved_until timestamptz, OUT preloaded boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_generators_wrapper' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_generators() IS 'last ID of each generator of the server, how far it is ahead of the clock, and until when IDs are reserved';
REVOKE EXECUTE ON FUNCTION scru_generators() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scru_generators() TO pg_monitor;

CREATE FUNCTION scru_set_mark(type text, mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_set_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_set_mark(text, timestamptz) IS 'sets the high-water mark of this server''s node, also to an earlier time: IDs above it can be generated a second time';
REVOKE EXECUTE ON FUNCTION scru_set_mark(text, timestamptz) FROM PUBLIC;

CREATE FUNCTION scru64_is_local(scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_is_local(scru64) IS 'whether a scru64 has the number of this server, which is set by scru.scru64_node';

CREATE FUNCTION ulidflake_is_local(ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_is_local(ulidflake) IS 'whether a ulidflake has the number of this server, which is set by scru.ulidflake_scalability';
