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

------------------------------------------------------------------------------------------------------------ generators

CREATE FUNCTION scru_generators(
        OUT type text, OUT scope text, OUT node text, OUT last_id text, OUT last_time timestamptz, OUT ahead interval,
        OUT reserved_until timestamptz, OUT preloaded boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_generators_wrapper' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_generators() IS 'what each generator of the server has come to: last ID, how far it is ahead of the clock, reserved until when';
REVOKE EXECUTE ON FUNCTION scru_generators() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scru_generators() TO pg_monitor;

CREATE FUNCTION scru_set_mark(type text, mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_set_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_set_mark(text, timestamptz) IS 'sets the high-water mark of this server''s node, also back: IDs with a later time that were given out may come a second time';
REVOKE EXECUTE ON FUNCTION scru_set_mark(text, timestamptz) FROM PUBLIC;
