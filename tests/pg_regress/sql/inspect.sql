-- scru_inspect() and scru_types().
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The row of an ID is the row of its text.
SELECT * FROM each_type($$
    SELECT source, text, by_id, by_text FROM valid, scru_inspect(text::$T) AS by_id, scru_inspect(text) AS by_text
    WHERE valid.type = '$T' AND ROW(by_id.*) IS DISTINCT FROM ROW(by_text.*)
$$);
SELECT * FROM each_type($$
    SELECT count(*) = (SELECT count(*) FROM valid WHERE type = '$T'), bool_and(i.type = '$T'), bool_and(canonical = text),
           bool_and(i."timestamp" = $T_timestamp(text::$T))
    FROM valid, scru_inspect(text::$T) AS i WHERE valid.type = '$T'
$$);
SELECT * FROM each_type($$
    SELECT key, count(*) > 0, bool_and(ltrim(value #>> '{}', '\x') = ltrim(valid.fields ->> key, '\x'))
    FROM valid, scru_inspect(text::$T) AS i, jsonb_each(i.fields) WHERE valid.type = '$T' GROUP BY key ORDER BY key
$$);
SELECT * FROM each_type($$
    SELECT count(*) > 0, bool_and(by_read = by_text)
    FROM valid, unnest(also_read || lower(text) || upper(text)) AS read, scru_inspect(read) AS by_read, scru_inspect(text) AS by_text
    WHERE valid.type = '$T'
$$);
SELECT * FROM scru_inspect('0372ijojuxuhjsfkeryi2mrtm'::scru128);
SELECT * FROM scru_inspect('05TTUP1HNCPNH30VEK64KDQT9BSNU4C4'::scru160);
SELECT * FROM scru_inspect('0u375nxqh5cq'::scru64);
SELECT * FROM scru_inspect('01ARZ3NDEKTSV4RRFFQ69G5FAV'::ulid);
SELECT * FROM scru_inspect('00CMXB6TAK4SA'::ulidflake);

-- A column of IDs returns a row for each ID. NULL returns no row. An untyped literal is text.
CALL make_random_ids(1000);
SELECT * FROM each_type($$
    SELECT count(*), count(DISTINCT canonical), bool_and(i.canonical::$T = id) FROM $T_ids, scru_inspect(id) AS i
$$);
SELECT * FROM each_type($$ SELECT (SELECT count(*) FROM scru_inspect(NULL::$T)), (scru_inspect($T_upper('infinity'::timestamptz))).type $$);
SELECT type FROM scru_inspect('0372ijojuxuhjsfkeryi2mrtm');

-- Other texts return no row: other lengths, invalid digits, IDs that are too large, and other forms of a uuid.
SELECT text, i.* FROM scru_inspect(NULL) AS i (text);
SELECT text, i.* FROM (
    SELECT repeat('0', length) FROM unnest('{0, 1, 11, 14, 24, 27, 39, 41, 1048576}'::integer[]) AS length
    UNION ALL SELECT repeat(digit, length) FROM unnest('{é, z, _, I}'::text[]) AS digit, unnest('{6, 13, 25, 26}'::integer[]) AS length
    UNION ALL VALUES (' 0u375nxqh5cq'), (E'0u375nxqh5cq\n'), ('0u375nxqh5c_'), ('00CMXB6TAK4SU'), ('8' || repeat('0', 12)),
        (repeat('0', 25) || 'I'), (repeat('0', 24) || 'é'), (repeat('0', 31) || 'W'), (repeat('0', 39) || 'g'),
        ('{018f0000-0000-7000-8000-000000000000}'), ('018f0000-0000-7000-8000-00000000000'),
        ('018f0000-0000-7000-8000-00000000000g'), ('018f-00000000-7000-8000-000000000000')
) AS texts (text), scru_inspect(text) AS i;

-- A uuid returns a row for each type that can have it, and so does its text. A UUID of version 7 is an ID where its functions are.
PREPARE uuids AS
    SELECT by_uuid.*, by_uuid = by_text AS is_same
    FROM unnest('{019421bc-ade8-70e5-bb1d-cdaf6e789e6a, 019421bc-ade8-40e5-bb1d-cdaf6e789e6a}'::uuid[]) AS id,
        scru_inspect(id) AS by_uuid, scru_inspect(id::text) AS by_text
    WHERE by_uuid.type = by_text.type
    ORDER BY id DESC, by_uuid.type;
EXECUTE uuids;
CREATE EXTENSION scru_uuidv7;
EXECUTE uuids;
SELECT * FROM scru_types() WHERE type = 'uuidv7';
DROP EXTENSION scru_uuidv7;

-- The types, their lengths in the catalog, and the ends of their ranges.
SELECT * FROM scru_types();
SELECT name, bytes, t.length FROM types AS t FULL JOIN scru_types() AS s ON s.type = t.name WHERE bytes IS DISTINCT FROM t.length;
SELECT * FROM each_type($$
    SELECT earliest = $T_timestamp(smallest::$T), latest = $T_timestamp(largest::$T), digits = length(largest),
           smallest = smallest('$T'), largest = largest('$T'), $T_timestamp($T_lower(earliest + tick)) = earliest + tick
    FROM scru_types(), jsonb_to_record(details) AS ends (smallest text, largest text) WHERE type = '$T'
$$);
