\echo Use "ALTER EXTENSION scru UPDATE TO '0.2.0'" to load this file. \quit

-- A database that came from an older server by pg_upgrade lacks what only 18 has: skip support.
DO $$
DECLARE
    id_type pg_catalog.text;
BEGIN
    IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.<) 180000 THEN
        RETURN;
    END IF;
    FOREACH id_type IN ARRAY ARRAY['scru64', 'ulidflake'] LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_catalog.pg_amproc
            WHERE amproclefttype OPERATOR(pg_catalog.=) id_type::pg_catalog.regtype::pg_catalog.oid
                AND amprocnum OPERATOR(pg_catalog.=) 6
        );
        EXECUTE pg_catalog.format($sql$
            CREATE FUNCTION %1$s_skipsupport(internal) RETURNS void
                AS 'MODULE_PATHNAME', '%1$s_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            ALTER OPERATOR FAMILY %1$s_ops USING btree ADD FUNCTION 6 (%1$s, %1$s) %1$s_skipsupport(internal);
            COMMENT ON FUNCTION %1$s_skipsupport(internal) IS 'skip support';
        $sql$, id_type);
    END LOOP;
END
$$;

-- Comparison with a time; and the functions on tstzrange have a name of their own, so that an untyped literal is a time.
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
            COMMENT ON FUNCTION %1$s_time_bound(timestamptz, text) IS 'nearest %1$s to a time for which an operator holds; NULL if there is none';
            COMMENT ON FUNCTION %1$s_time_lower(timestamptz, text) IS 'smallest %1$s for which an operator holds with a time; the largest of all if there is none';
            COMMENT ON FUNCTION %1$s_time_upper(timestamptz, text) IS 'largest %1$s for which an operator holds with a time; the smallest of all if there is none';
            COMMENT ON FUNCTION %1$s_time_support(internal) IS 'planner support: a comparison with a time as one of IDs';
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
