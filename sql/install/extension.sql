-- The SQL objects that exist once, not for each type. Rendered by `make gen` from sql/extension.sql.in: edit that file only.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes have the same bytes, so that changing the type of a column does not rewrite the table.

CREATE CAST (scru128 AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS ulid) IS 'the same 16 bytes, read as ulid';
CREATE CAST (ulid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS scru128) IS 'the same 16 bytes, read as scru128';

--------------------------------------------------------------------------------------------------------------- inspect

-- The functions of a uuid, and the list of the types, are STABLE: they look which extensions the database has.
CREATE FUNCTION scru_inspect(id text, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(text) IS 'type, canonical text, time and fields of an ID; no row if the text is none';
CREATE FUNCTION scru_inspect(id uuid, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect_uuid' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 2;
COMMENT ON FUNCTION scru_inspect(uuid) IS 'type, canonical text, time and fields of a uuid as an ID, with a row for each ID system';

CREATE FUNCTION scru_inspect(id scru128, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru128_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru128) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id scru160, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru160_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru160) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id scru64, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru64_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru64) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id ulid, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'ulid_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(ulid) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id ulidflake, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'ulidflake_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(ulidflake) IS 'type, canonical text, time and fields of an ID';

-- What later versions add to this function and to scru_generators() is a key of details: a column cannot be added, because views depend
-- on the functions.
CREATE FUNCTION scru_types(
    OUT type text, OUT bytes integer, OUT digits integer, OUT tick interval, OUT earliest timestamptz, OUT latest timestamptz,
    OUT details jsonb
)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_types' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_types() IS 'the types: length of an ID and of its text, unit and range of its time';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.scru_before(timestamptz) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru_before' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.scru_before(timestamptz) IS 'internal: time one microsecond earlier: the bound of conditions on the time of an ID';

------------------------------------------------------------------------------------------------------------ snowflake

-- The time of IDs in columns of type bigint that other systems generate. The bound of a condition is a bigint, so that the server
-- plans the condition as it plans any other on a bigint.
CREATE FUNCTION scru_snowflake_timestamp(id bigint, epoch_ms bigint, shift integer) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru_snowflake_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_snowflake_lower(timestamptz, epoch_ms bigint, shift integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru_snowflake_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_snowflake_timestamp(bigint, bigint, integer) IS 'time of a Snowflake ID, which has milliseconds since epoch_ms above shift bits';
COMMENT ON FUNCTION scru_snowflake_lower(timestamptz, bigint, integer) IS 'first Snowflake ID of the millisecond that contains a time, or of the nearest one that has IDs';

------------------------------------------------------------------------------------------------------------ encryption

CREATE FUNCTION scru_bigint_encrypt(id bigint, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'scru_bigint_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
CREATE FUNCTION scru_bigint_decrypt(encrypted uuid, key bytea) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru_bigint_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION scru_bigint_encrypt(id bigint, key bytea) IS 'a uuid of version 4 that hides a bigint, by a key of 16 or 32 bytes';
COMMENT ON FUNCTION scru_bigint_decrypt(encrypted uuid, key bytea) IS 'the bigint that is encrypted to a uuid; NULL if there is none';

--------------------------------------------------------------------------------------------------------------- server

-- A database from pg_upgrade lacks the support functions that its older server did not have, and the key type of BRIN operator
-- classes, which no command sets. This function adds them.
CREATE FUNCTION scru_adapt_to_server() RETURNS SETOF text
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
                'ALTER OPERATOR FAMILY %1$s.%2$s_ops USING btree ADD FUNCTION 6 (%1$s.%2$s, %1$s.%2$s) btint8skipsupport(internal)',
                t.schema, t.name);
            RETURN NEXT t.name || ': skip support';
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION scru_adapt_to_server() IS 'adds the features that a database lacks after pg_upgrade, and returns their names';
SELECT scru_adapt_to_server();

------------------------------------------------------------------------------------------------------------ generators

CREATE FUNCTION scru_generators(
        OUT type text, OUT scope text, OUT node text, OUT last_time timestamptz, OUT mark timestamptz, OUT draw text,
        OUT wait interval, OUT reason text, OUT details jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_generators' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 6;
COMMENT ON FUNCTION scru_generators() IS 'the generators: time of the last ID, high-water mark, and what the next call does: continue, wait or refuse';
REVOKE EXECUTE ON FUNCTION scru_generators() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scru_generators() TO pg_monitor;

CREATE FUNCTION scru64_nodes_collide(text, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_nodes_collide' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_nodes_collide(text, text) IS 'whether servers with these values of scru.scru64_node could generate the same ID';

---------------------------------------------------------------------------------------------------------- high-water marks

CREATE FUNCTION scru_set_mark(mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_set_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_set_mark(timestamptz) IS 'sets the high-water marks of server and database back to a time, if they are above it: IDs above it can repeat';
REVOKE EXECUTE ON FUNCTION scru_set_mark(timestamptz) FROM PUBLIC;

CREATE FUNCTION scru_raise_mark(mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_raise_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_raise_mark(timestamptz) IS 'raises the high-water marks of server and database to a time, if they are below it: new IDs are above it';
REVOKE EXECUTE ON FUNCTION scru_raise_mark(timestamptz) FROM PUBLIC;

-- Each sequence carries a high-water mark through pg_dump and pg_upgrade. The extension writes it. Whoever dumps the database reads it,
-- and whoever restores it, the owner of the extension or of the database, sets it: the value concerns this database only.
CREATE SEQUENCE scru_internal.draws;
COMMENT ON SEQUENCE scru_internal.draws IS 'internal: high-water mark of the IDs that are drawn from shared state, as dumps and pg_upgrade carry it';
CREATE SEQUENCE scru_internal.horizons;
COMMENT ON SEQUENCE scru_internal.horizons IS 'internal: high-water mark of the horizons, as dumps and pg_upgrade carry it';
GRANT SELECT ON SEQUENCE scru_internal.draws, scru_internal.horizons TO PUBLIC;
GRANT UPDATE ON SEQUENCE scru_internal.draws, scru_internal.horizons TO @extowner@, pg_database_owner;
SELECT pg_catalog.pg_extension_config_dump('scru_internal.draws', '');
SELECT pg_catalog.pg_extension_config_dump('scru_internal.horizons', '');

------------------------------------------------------------------------------------------------------------------ feeds

CREATE FUNCTION scru_horizon_holders(OUT pid integer, OUT first_time timestamptz) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_horizon_holders' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION scru_horizon_holders() IS 'transactions that hold the horizons of this database: process, NULL if prepared, and time of the first ID';
REVOKE EXECUTE ON FUNCTION scru_horizon_holders() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scru_horizon_holders() TO pg_monitor;

CREATE FUNCTION scru_feed_guard() RETURNS trigger
    AS 'MODULE_PATHNAME', 'scru_feed_guard' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru_feed_guard() IS 'trigger AFTER INSERT OR UPDATE for each row: refuses IDs that a reader may have passed';
