-- Casts to and from times, bytes, numbers, built-in types of the same bytes, and other types of the extension.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- All casts. f: calls a function, b: binary-coercible. Binary-coercible casts to built-in types are assignment casts (a). All
-- others are explicit (e). None is implicit, because implicit casts can change the meaning of other statements.
SELECT * FROM each_type($$
    SELECT castsource::regtype, casttarget::regtype, castmethod, castcontext
    FROM pg_cast WHERE '$T'::regtype IN (castsource, casttarget)
    ORDER BY castsource::regtype::text, casttarget::regtype::text
$$);

-- The extension defines no cast between two built-in types.
SELECT castsource::regtype, casttarget::regtype
FROM pg_depend JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND objid = c.oid
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru')
  AND castsource NOT IN (SELECT oid FROM types) AND casttarget NOT IN (SELECT oid FROM types);

-- Assignment without an explicit cast raises an error, unless an ID is assigned to the built-in type of the same bytes.
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

-- Casts to and from bytea and the peer.
SELECT * FROM each_type($$
    SELECT source, text FROM valid WHERE type = '$T' AND (text::$T::bytea <> bytes OR bytes::$T <> text::$T)
$$);
SELECT * FROM each_type($$
    SELECT source, text, id::$P FROM valid, CAST(text AS $T) AS id
    WHERE type = '$T' AND (id::$P::$T <> id OR replace(id::$P::text, '-', '') <>
        CASE '$P' WHEN 'bigint' THEN number_of(bytes)::text WHEN 'bytea' THEN bytes::text ELSE encode(bytes, 'hex') END)
$$);

-- A bigint out of range raises an error with the valid range. The test skips types without a cast from bigint, and values that
-- bigint cannot represent.
SELECT * FROM each_type($$
    SELECT value, error FROM
        (SELECT unnest(ARRAY[-1, -9223372036854775808, number_of(largest('$T')::$T::bytea) + 1, 9223372036854775807]) AS value) AS q,
        error_of(format('SELECT CAST(bigint %L AS $T)', value)) AS error
    WHERE '$P' = 'bigint' AND value <> number_of(largest('$T')::$T::bytea) AND value < 9223372036854775808
      AND error IS DISTINCT FROM
        format('22003 value "%s" is out of range for type $T / DETAIL The valid range is from 0 to %s.', value,
            number_of(largest('$T')::$T::bytea))
$$);

-- Casts to and from numeric. The list of all casts shows which types have them.
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

-- A cast of NULL returns NULL.
SELECT * FROM each_type($$
    SELECT NULL::$T::bytea, NULL::bytea::$T, NULL::$T::$P, NULL::$P::$T, NULL::$T::timestamptz, NULL::timestamptz::$T
$$);

-- Changing the type of a column by a binary-coercible cast does not rewrite the table. Changing it back rewrites the table only
-- if the cast has to check the values.
CREATE FUNCTION rewrites(name text, target text, "using" text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    file oid := pg_relation_filenode(name::regclass);
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER id TYPE %s %s', name, target, "using");
    RETURN (pg_relation_filenode(name::regclass) <> file)::text;
EXCEPTION WHEN datatype_mismatch THEN
    RETURN SQLERRM;
END $$;
SELECT * FROM each_type($$
    SELECT casttarget::regtype, rewrites('$T_ids', casttarget::regtype::text, 'USING id::' || casttarget::regtype),
           (SELECT rewrites('$T_ids', '$T', 'USING id::$T'))
    FROM pg_cast WHERE castsource = '$T'::regtype AND castmethod = 'b' ORDER BY casttarget::regtype::text
$$);
SELECT * FROM each_type('SELECT id, bytes FROM $T_ids WHERE id::$T::bytea <> bytes');

-- ALTER TYPE to the built-in type of the same bytes needs no USING clause, does not rewrite the table, and keeps the default.
CALL for_each_type('CREATE TABLE $T_plain (id $T PRIMARY KEY DEFAULT gen_$T()); INSERT INTO $T_plain SELECT id::$T FROM $T_ids LIMIT 100');
SELECT * FROM each_type($$
    SELECT replace(rewrites('$T_plain', '$P'), '$P', 'its peer'),
           replace(error_of('INSERT INTO $T_plain DEFAULT VALUES'), '$P', 'its peer'),
           replace(rewrites('$T_plain', '$T'), '$P', 'its peer')
$$);
SELECT * FROM each_type($$ SELECT count(*) FROM $T_plain $$);

-- A bound that is cast to uuid is a condition on the index of a uuid column. A condition on the column that is cast is not.
CREATE TABLE of_uuids (id uuid PRIMARY KEY);
SELECT plan_of('SELECT FROM of_uuids WHERE id >= scru128_lower(now())::uuid') ~ 'Index Scan: .id >= ',
    plan_of('SELECT FROM of_uuids WHERE id::scru128 >= now()');
