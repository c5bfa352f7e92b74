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

CREATE FUNCTION scru64_is_local(scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_is_local(scru64) IS 'whether a scru64 bears the number that scru.scru64_node gives to this server';

CREATE FUNCTION ulidflake_is_local(ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_is_local(ulidflake) IS 'whether a ulidflake bears the number that scru.ulidflake_scalability gives to this server';
