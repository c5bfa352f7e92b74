-- Casts: the same bytes read otherwise, and numbers.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- All of the casts: f calls a function, b takes the bytes as they are. Those of the same bytes to a type of the server's are
-- assignment casts (a), all others are explicit (e); none is implicit, as none may change what other statements mean.
SELECT * FROM each_type($$
    SELECT castsource::regtype, casttarget::regtype, castmethod, castcontext
    FROM pg_cast WHERE '$T'::regtype IN (castsource, casttarget)
    ORDER BY castsource::regtype::text, casttarget::regtype::text
$$);

-- Between two of the server's own types the extension casts nothing.
SELECT castsource::regtype, casttarget::regtype
FROM pg_depend JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND objid = c.oid
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru')
  AND castsource NOT IN (SELECT oid FROM types) AND casttarget NOT IN (SELECT oid FROM types);

-- What is not cast by hand is an error, but for an assignment of an ID to the type of the same bytes.
CALL make_random_ids(1000);
CALL for_each_type('CREATE TABLE $T_peers (peer $P, made timestamptz)');
SELECT * FROM each_type('SELECT error_of(''INSERT INTO $T_peers (made) SELECT id FROM $T_ids'')');
SELECT * FROM each_type($$
    SELECT replace(error_of('INSERT INTO $T_peers (peer) SELECT id FROM $T_ids'), '$P', 'its peer')
$$);
SELECT * FROM each_type($$
    SELECT count(*), bool_and(peer::$T = id) FROM $T_peers, $T_ids WHERE peer = id::$P
$$);
SELECT * FROM each_type($$
    SELECT replace(error_of('INSERT INTO $T_ids (id) SELECT peer FROM $T_peers'), '$P', 'its peer'),
           error_of('INSERT INTO $T_ids (id) SELECT made FROM $T_peers')
$$);

-- Bytes, and the server's type of the same length.
SELECT * FROM each_type($$
    SELECT source, text FROM valid WHERE type = '$T' AND (text::$T::bytea <> bytes OR bytes::$T <> text::$T)
$$);
SELECT * FROM each_type($$
    SELECT source, text, id::$P FROM valid, CAST(text AS $T) AS id
    WHERE type = '$T' AND (id::$P::$T <> id OR replace(id::$P::text, '-', '') <>
        CASE '$P' WHEN 'bigint' THEN number_of(bytes)::text WHEN 'bytea' THEN bytes::text ELSE encode(bytes, 'hex') END)
$$);

-- Bytes of a wrong number, and bytes of no ID.
SELECT * FROM each_type($$
    SELECT number, error FROM types,
        unnest(ARRAY[0, 1, length - 1, length + 1, 1000]) AS number,
        error_of(format('SELECT CAST(%L::bytea AS $T)', decode(repeat('00', number), 'hex'))) AS error
    WHERE name = '$T' AND error IS DISTINCT FROM
        format('22P03 incorrect binary data format for type $T / DETAIL Expected %s bytes, but received %s.', length, number)
$$);
SELECT error_of($$SELECT '\x00'::bytea::scru128$$);
SELECT * FROM each_type($$
    SELECT error IS NOT DISTINCT FROM CASE WHEN by_value THEN format(
        '22003 value "\xffffffffffffffff" is out of range for type $T / DETAIL The largest $T is "%s".', largest('$T')) END
    FROM types, error_of(format('SELECT CAST(%L::bytea AS $T)', decode(repeat('ff', length), 'hex'))) AS error
    WHERE name = '$T'
$$);

-- A number that is no ID, with the range of those that are: a bigint, where there are casts from bigint. (The next one after the largest bigint is beyond bigint itself.)
SELECT * FROM each_type($$
    SELECT value, error FROM
        (SELECT unnest(ARRAY[-1, -9223372036854775808, number_of(largest('$T')::$T::bytea) + 1, 9223372036854775807]) AS value) AS q,
        error_of(format('SELECT CAST(bigint %L AS $T)', value)) AS error
    WHERE '$P' = 'bigint' AND value <> number_of(largest('$T')::$T::bytea) AND value < 9223372036854775808
      AND error IS DISTINCT FROM
        format('22003 value "%s" is out of range for type $T / DETAIL The valid range is from 0 to %s.', value,
            number_of(largest('$T')::$T::bytea))
$$);

-- Numbers. For which types there are such casts is told above.
CREATE FUNCTION casts_to(type text, target regtype) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM pg_cast WHERE castsource = type::regtype AND casttarget = target)
$$;
SELECT * FROM each_type($$
    SELECT source, text FROM valid, lines_of(format('SELECT n, n::numeric::$T FROM CAST(%L::$T AS numeric) AS n', text)) AS line
    WHERE type = '$T' AND casts_to('$T', 'numeric') AND line <> number_of(bytes) || ' | ' || text
$$);
SELECT value, error_of(format('SELECT CAST(%s AS scru128)', value))
FROM unnest('{(-1)::numeric, 340282366920938463463374607431768211456, 1e40, 0.5, 1.0, ''NaN''::numeric, ''Infinity''::numeric,
              ''-Infinity''::numeric}'::text[]) AS value;
SELECT 340282366920938463463374607431768211455::scru128, 1.000::scru128, (-0.0)::scru128, 0::numeric::scru128;

-- NULL stays NULL.
SELECT * FROM each_type($$
    SELECT NULL::$T::bytea, NULL::bytea::$T, NULL::$T::$P, NULL::$P::$T, NULL::$T::timestamptz, NULL::timestamptz::$T
$$);

-- Where the bytes stay as they are, a column changes its type without a rewrite of the table. So it does back, unless
-- the values have to be checked.
CREATE FUNCTION rewrites(name text, target text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    file oid := pg_relation_filenode(name::regclass);
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER id TYPE %s USING id::%2$s', name, target);
    RETURN pg_relation_filenode(name::regclass) <> file;
END $$;
SELECT * FROM each_type($$
    SELECT casttarget::regtype, rewrites('$T_ids', casttarget::regtype::text),
           (SELECT rewrites('$T_ids', '$T'))
    FROM pg_cast WHERE castsource = '$T'::regtype AND castmethod = 'b' ORDER BY casttarget::regtype::text
$$);
SELECT * FROM each_type('SELECT id, bytes FROM $T_ids WHERE id::$T::bytea <> bytes');

-- To the server's own type of the same bytes no USING is needed, and nothing is rewritten; the default comes along.
CREATE FUNCTION plainly_rewrites(name text, target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    file oid := pg_relation_filenode(name::regclass);
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER id TYPE %s', name, target);
    RETURN (pg_relation_filenode(name::regclass) <> file)::text;
EXCEPTION WHEN datatype_mismatch THEN
    RETURN SQLERRM;
END $$;
CALL for_each_type('CREATE TABLE $T_plain (id $T PRIMARY KEY DEFAULT gen_$T()); INSERT INTO $T_plain SELECT id::$T FROM $T_ids LIMIT 100');
SELECT * FROM each_type($$
    SELECT replace(plainly_rewrites('$T_plain', '$P'), '$P', 'its peer'),
           replace(error_of('INSERT INTO $T_plain DEFAULT VALUES'), '$P', 'its peer'),
           replace(plainly_rewrites('$T_plain', '$T'), '$P', 'its peer')
$$);
SELECT * FROM each_type($$ SELECT count(*) FROM $T_plain $$);
