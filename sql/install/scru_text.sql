-- The SQL objects of the extension scru_text: implicit casts from text and varchar. Rendered by `make gen` from sql/text.sql.in: edit
-- that file only.

----------------------------------------------------------------------------------------------------------------- names

-- The types are in the schema of scru. The functions are in scru_internal.
DO $$
DECLARE
    schema_of_scru pg_catalog.name;
BEGIN
    SELECT nspname INTO STRICT schema_of_scru FROM pg_catalog.pg_namespace
    WHERE oid OPERATOR(pg_catalog.=) (
        SELECT extnamespace FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'scru'
    )
    FOR KEY SHARE;
    PERFORM pg_catalog.set_config('search_path', pg_catalog.format('%I, pg_temp', schema_of_scru), true);
END
$$;

----------------------------------------------------------------------------------------------------------------- casts

-- By a function, and not by I/O conversion: DROP EXTENSION then is refused while a default or a generated column depends on a cast. A
-- varchar is passed to the same function, because it has the representation of a text.

CREATE FUNCTION scru_internal.scru128_from_text(text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.scru128_from_text(text) IS 'internal: cast from text';
CREATE CAST (text AS scru128) WITH FUNCTION scru_internal.scru128_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS scru128) IS 'the scru128 with this text';
CREATE CAST (varchar AS scru128) WITH FUNCTION scru_internal.scru128_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS scru128) IS 'the scru128 with this text';

CREATE FUNCTION scru_internal.scru160_from_text(text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.scru160_from_text(text) IS 'internal: cast from text';
CREATE CAST (text AS scru160) WITH FUNCTION scru_internal.scru160_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS scru160) IS 'the scru160 with this text';
CREATE CAST (varchar AS scru160) WITH FUNCTION scru_internal.scru160_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS scru160) IS 'the scru160 with this text';

CREATE FUNCTION scru_internal.scru64_from_text(text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.scru64_from_text(text) IS 'internal: cast from text';
CREATE CAST (text AS scru64) WITH FUNCTION scru_internal.scru64_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS scru64) IS 'the scru64 with this text';
CREATE CAST (varchar AS scru64) WITH FUNCTION scru_internal.scru64_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS scru64) IS 'the scru64 with this text';

CREATE FUNCTION scru_internal.ulid_from_text(text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.ulid_from_text(text) IS 'internal: cast from text';
CREATE CAST (text AS ulid) WITH FUNCTION scru_internal.ulid_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS ulid) IS 'the ulid with this text';
CREATE CAST (varchar AS ulid) WITH FUNCTION scru_internal.ulid_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS ulid) IS 'the ulid with this text';

CREATE FUNCTION scru_internal.ulidflake_from_text(text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.ulidflake_from_text(text) IS 'internal: cast from text';
CREATE CAST (text AS ulidflake) WITH FUNCTION scru_internal.ulidflake_from_text(text) AS IMPLICIT;
COMMENT ON CAST (text AS ulidflake) IS 'the ulidflake with this text';
CREATE CAST (varchar AS ulidflake) WITH FUNCTION scru_internal.ulidflake_from_text(text) AS IMPLICIT;
COMMENT ON CAST (varchar AS ulidflake) IS 'the ulidflake with this text';
