-- What concerns several types. Rendered from sql/extension.sql.in by `make gen`: change it there.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes hold the same bytes: changing a column from one to the other rewrites no table.

CREATE CAST (scru128 AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS ulid) IS 'the same 16 bytes, read as ulid';
CREATE CAST (ulid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS scru128) IS 'the same 16 bytes, read as scru128';

--------------------------------------------------------------------------------------------------------------- inspect

CREATE FUNCTION scru_inspect(id text, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(text) IS 'what an ID is: its type by its shape, canonical text, time and fields; no row if it is none';

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
