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
