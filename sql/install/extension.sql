-- What concerns several types. Rendered from sql/extension.sql.in by `make gen`: change it there.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes hold the same bytes: changing a column from one to the other rewrites no table.


--------------------------------------------------------------------------------------------------------------- inspect

CREATE FUNCTION scru_inspect(id text, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(text) IS 'what an ID is: its type by its shape, canonical text, time and fields; no row if it is none';
