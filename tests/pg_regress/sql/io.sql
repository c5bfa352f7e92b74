-- Text and binary input and output.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- Output is the text of the vectors. Input accepts each form that they list.
SELECT * FROM each_type($$
    SELECT source, text, id FROM valid, CAST(text AS $T) AS id WHERE type = '$T' AND id::text <> text
$$);
SELECT * FROM each_type($$
    SELECT source, text, other FROM valid, unnest(also_read) AS other WHERE type = '$T' AND other::$T <> text::$T
$$);

-- Malformed text raises an error with the reason and the position.
SELECT * FROM each_type($$
    SELECT source, text, error_of(format('SELECT %L::$T', text)), error FROM malformed
    WHERE type = '$T' AND without_hint(error_of(format('SELECT %L::$T', text))) IS DISTINCT FROM error
$$);
SELECT error_of($$SELECT ''::scru128$$);
SELECT error_of($$SELECT '0372ijojuxuhjsfkeryi2mrt'::scru128$$);
SELECT error_of($$SELECT '0372ijojuxuhjsfkeryi2mrtm0'::scru128$$);
SELECT error_of($$SELECT '0372ijojuxuh-sfkeryi2mrtm'::scru128$$);
SELECT error_of($$SELECT '0372ijojuxuh漢sfkeryi2mrt'::scru128$$);
SELECT error_of($$SELECT 'f5lxx1zz5pnorynqglhzmsp34'::scru128$$);
SELECT error_of($$SELECT (repeat('0', 1 << 20) || '~')::scru128$$);

-- In PostgreSQL 16 and later, these errors are soft. Earlier versions have no soft errors.
SELECT current_setting('server_version_num')::integer >= 160000 AS has_soft_errors,
       current_setting('server_version_num')::integer >= 170000 AS has_on_error \gset
\if :has_soft_errors
CREATE FUNCTION soft_error_of(text, type text) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' / ', sql_error_code || ' ' || message, 'DETAIL ' || detail, 'HINT ' || hint)
    FROM pg_input_error_info($1, type) WHERE NOT pg_input_is_valid($1, type)
$$;
\else
CREATE FUNCTION soft_error_of(text, type text) RETURNS text LANGUAGE sql AS $$
    SELECT error_of(format('SELECT %L::%s', $1, type))
$$;
\endif
SELECT * FROM each_type($$
    SELECT source, text, soft_error_of(text, '$T'), error FROM malformed
    WHERE type = '$T' AND without_hint(soft_error_of(text, '$T')) IS DISTINCT FROM error
$$);
SELECT * FROM each_type($$
    SELECT source, text, soft_error_of(text, '$T') FROM valid WHERE type = '$T' AND soft_error_of(text, '$T') IS NOT NULL
$$);

-- If text resembles another format, a HINT names that format or the cast from it. Soft errors have the same HINT.
CREATE TABLE mistaken AS SELECT what, text FROM (VALUES
    ('a uuid', '018f0000-0000-7000-8000-000000000000'), ('a uuid in braces', '{018F0000-0000-7000-8000-000000000000}'),
    ('a uuid without hyphens', '018f00000000700080000000000000ff'), ('a scru128', '0372ijojuxuhjsfkeryi2mrtm'),
    ('a ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), ('a scru64', '0u375nxqh5cq'), ('a ulidflake', '00CMXB6TAK4SA'),
    ('a scru160', '05TTUP1HNCPNH30VEK64KDQT9BSNU4C4'), ('a scru160 in hexadecimal', '017bdf6431bb33788c1f750c4a375d4af97f1184'),
    ('a date', '2026-11-01'), ('a time', '2026-11-01T00:00:00Z'), ('a word', 'Yesterday'),
    ('I', 'I1ARZ3NDEKTS_'), ('l', 'l0CMXB6TAK4S_'), ('O', '0O_'),
    ('O in hexadecimal', '017bdf6431bb33788c1f750c4a375d4af97f118O'), ('a digit', '5'),
    ('a number', '109234829384728374'), ('a negative number', '-5'), ('nothing', ''), ('another character', '?')) AS texts(what, text);
SELECT * FROM each_type($$
    SELECT what, substr(error, length(without_hint(error)) + 4), error IS NOT DISTINCT FROM soft_error_of(text, '$T')
    FROM mistaken, error_of(format('SELECT %L::$T', text)) AS error ORDER BY mistaken.ctid
$$);

-- In PostgreSQL 17 and later, COPY with ON_ERROR ignore skips malformed lines and loads the others.
SELECT current_setting('data_directory') || '/scru_io.copy' AS file \gset
SELECT FROM set_config('test.file', :'file', false);
CALL for_each_type('CREATE TABLE $T_copied (id $T)');
\if :has_on_error
CREATE FUNCTION lines_to_copy(text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT text FROM valid WHERE type = $1 UNION ALL SELECT text FROM malformed WHERE type = $1
$$;
\set on_error 'ON_ERROR ignore'
\else
CREATE FUNCTION lines_to_copy(text) RETURNS SETOF text LANGUAGE sql AS 'SELECT text FROM valid WHERE type = $1';
\set on_error 'FORMAT text'
\endif
SELECT * FROM each_type(format($$
    SELECT error_of($sql$COPY (SELECT lines_to_copy('$T')) TO %1$L$sql$),
           error_of($sql$COPY $T_copied FROM %1$L (%2$s)$sql$)
$$, :'file', :'on_error'));
SELECT * FROM each_type($$
    SELECT (SELECT array_agg(id::text ORDER BY id) FROM $T_copied)
         = (SELECT array_agg(text ORDER BY bytes) FROM valid WHERE type = '$T')
$$);

-- The binary format is the big-endian bytes, so that binary COPY files of IDs and of bytea are interchangeable.
CREATE FUNCTION received(type text, bytes bytea[]) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
DECLARE
    file text := current_setting('test.file');
BEGIN
    EXECUTE format('CREATE TABLE ids (id %s); CREATE TABLE sent (bytes bytea)', type);
    EXECUTE format('COPY (SELECT unnest(%L::bytea[])) TO %L (FORMAT binary)', bytes, file);
    EXECUTE format('COPY ids FROM %L (FORMAT binary)', file);
    EXECUTE format('COPY ids TO %L (FORMAT binary)', file);
    EXECUTE format('COPY sent FROM %L (FORMAT binary)', file);
    RETURN QUERY EXECUTE format('SELECT sent.bytes FROM sent UNION ALL SELECT %s_send(id) FROM ids', type);
    DROP TABLE ids, sent;
END $$;
SELECT * FROM each_type($$
    SELECT ARRAY(SELECT received('$T', array_agg(bytes))) = array_agg(bytes) || array_agg(bytes) FROM valid WHERE type = '$T'
$$);

-- Bytes of the wrong length and bytes above the largest ID raise an error, as in a cast.
CREATE TABLE readers AS SELECT unnest('{"SELECT received(%L, ARRAY[%L::bytea])", "SELECT CAST(%2$L::bytea AS %1$s)"}'::text[]) AS reader;
SELECT * FROM each_type($$
    SELECT reader, number, error FROM types, readers,
        unnest(ARRAY[0, 1, length - 1, length + 1, 2 * length, 1000]) AS number,
        error_of(format(reader, name, decode(repeat('00', number), 'hex'))) AS error
    WHERE name = '$T' AND error IS DISTINCT FROM
        format('22P03 incorrect binary data format for type $T / DETAIL Expected %s bytes, but received %s.', length, number)
$$);
SELECT error_of(format(reader, 'scru128', '\x0123456789')) FROM readers;
SELECT * FROM each_type($$
    SELECT reader, error IS NOT DISTINCT FROM CASE WHEN by_value THEN format(
        '22003 value "\xffffffffffffffff" is out of range for type $T / DETAIL The largest $T is "%s".', largest('$T')) END
    FROM types, readers, error_of(format(reader, name, decode(repeat('ff', length), 'hex'))) AS error
    WHERE name = '$T'
$$);

-- IDs in arrays, rows and JSON; NULL; type modifiers, which raise an error.
SELECT * FROM each_type($$
    SELECT ARRAY[id, NULL]::text = format('{%s,NULL}', id),
           (SELECT bool_and(id = ANY (read)) FROM CAST(format('{%s,NULL}', id) AS $T[]) AS read),
           ROW(1, id)::text = format('(1,%s)', id),
           to_jsonb(id) = to_jsonb(text)
    FROM valid, CAST(text AS $T) AS id WHERE type = '$T' GROUP BY 1, 2, 3, 4
$$);
SELECT * FROM each_type($$ SELECT NULL::$T IS NULL, $T_in(NULL) IS NULL, $T_out(NULL) IS NULL, $T_send(NULL) IS NULL $$);
SELECT * FROM each_type($$ SELECT NULL::$T(1) $$);

-- The text is immutable, so an index can contain it.
SELECT * FROM each_type($$ SELECT error_of('CREATE TEMPORARY TABLE $T_texts (id $T); CREATE INDEX ON $T_texts ((id::text))') $$);

-- IDs with a prefix: the canonical text; parsing; invalid prefixes, and prefixes other than the expected.
SELECT * FROM each_type($$
    SELECT prefix, replace($T_prefixed(prefix, text::$T), text, 'ID'), bool_and($T_unprefixed(prefix, $T_prefixed(prefix, id)) = id)
    FROM unnest(ARRAY['', 'a', 'order', 'a__b', repeat('y', 63)]) AS prefix, valid, CAST(text AS $T) AS id
    WHERE type = '$T' GROUP BY 1, 2 ORDER BY 1
$$);
SELECT scru160_unprefixed('order', 'order_' || encode('06H06852FCTPLHVTT02UP68GHNDLMNTB'::scru160::bytea, 'hex'));
SELECT * FROM each_type($$
    SELECT count(*) > 0, bool_and($T_unprefixed('order', 'order_' || read) = text::$T)
    FROM valid, unnest(also_read || lower(text) || upper(text)) AS read WHERE type = '$T'
$$);
SELECT * FROM each_type($$
    SELECT prefix, error_of(format('SELECT $T_prefixed(%L, smallest(''$T'')::$T)', prefix)),
           error_of(format('SELECT $T_prefixed(%L, smallest(''$T'')::$T)', prefix)) =
               error_of(format('SELECT $T_unprefixed(%L, %L)', prefix, prefix || '_' || smallest('$T')))
    FROM unnest(ARRAY['_', '_order', 'order_', 'Order', 'order2', 'or-der', ' order', 'ördér', repeat('z', 64)]) AS prefix
$$);
SELECT * FROM each_type($$
    SELECT expected, received, replace(error_of(format('SELECT $T_unprefixed(%L, %L)', expected, received || smallest('$T'))),
        received || smallest('$T'), received || 'ID')
    FROM (VALUES ('order', 'user_'), ('order', ''), ('order', '_'), ('order', 'Order_'), ('order', 'my_order_'), ('', 'order_'),
        ('order', 'örd_')) AS prefixes (expected, received)
$$);
-- Errors in the text of the ID.
SELECT * FROM each_type($$
    SELECT text, actual FROM malformed, error_of(format('SELECT $T_unprefixed(''order'', %L)', 'order_' || text)) AS actual
    WHERE type = '$T' AND text !~ '_' AND without_hint(actual) IS DISTINCT FROM error
$$);
SELECT * FROM each_type($$ SELECT $T_unprefixed('', '_' || smallest('$T')) $$);
SELECT * FROM each_type($$
    SELECT $T_prefixed(NULL, smallest('$T')::$T), $T_prefixed('order', NULL), $T_unprefixed(NULL, smallest('$T')), $T_unprefixed('order', NULL)
$$);
