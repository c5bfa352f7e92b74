-- UUIDs of version 7 in columns of type uuid: the extension scru_uuidv7.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- A function of a user with such a name is an error. So is an operator, which would become the commutator or negator of another one.
CREATE FUNCTION gen_uuidv7() RETURNS uuid RETURN gen_random_uuid();
SELECT error_of('CREATE EXTENSION scru_uuidv7 SCHEMA test');
DROP FUNCTION gen_uuidv7();
CREATE FUNCTION after(timestamptz, uuid) RETURNS boolean RETURN true;
CREATE OPERATOR > (FUNCTION = after, LEFTARG = timestamptz, RIGHTARG = uuid);
SELECT error_of('CREATE EXTENSION scru_uuidv7 SCHEMA test');
DROP OPERATOR > (timestamptz, uuid);
-- In another schema, and be it that of scru, they do not matter.
CREATE OPERATOR public.> (FUNCTION = after, LEFTARG = timestamptz, RIGHTARG = uuid);
CREATE FUNCTION has(scru_tstzrange, uuid) RETURNS boolean RETURN true;
CREATE OPERATOR public.@> (FUNCTION = has, LEFTARG = scru_tstzrange, RIGHTARG = uuid);
CREATE EXTENSION scru_uuidv7 SCHEMA test;
SELECT oid::regoperator, oprcom::regoperator, oprnegate::regoperator FROM pg_operator
WHERE oprnamespace = 'test'::regnamespace AND oprname IN ('<', '<@') AND oprleft = 'uuid'::regtype ORDER BY oprname;
DROP FUNCTION after, has CASCADE;

-- Generation, and the time of other uuids.
SELECT bool_and(id::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'), count(DISTINCT id),
       array_agg(id ORDER BY n) = array_agg(id ORDER BY id),
       bool_and(uuidv7_timestamp(id) BETWEEN now() - interval '1 s' AND clock_timestamp() + interval '1 s')
FROM (SELECT n, gen_uuidv7() AS id FROM generate_series(1, 10000) AS n) AS drawn;
SELECT uuidv7_timestamp(id) FROM unnest(ARRAY[
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff',
    'c232ab00-9414-11ec-b3c8-9f6bdeced846', '919108f7-52d1-4320-9bac-f847db4148a8', '2489e9ad-2ee2-8e00-8ec9-32d5f69181c0',
    '017f22e2-79b0-7cc3-d8c4-dc0c0c07398f', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
]::uuid[]) AS id;
SELECT uuidv7_timestamp(NULL), gen_uuidv7(NULL);

-- Bounds are IDs of the millisecond that contains a time. Times out of range count as within the nearest millisecond.
SELECT t, uuidv7_lower(t), uuidv7_upper(t)
FROM unnest('{2026-11-01 12:00, 2026-11-01 12:00:00.0005, 1969-12-31, -infinity, 10889-08-03, infinity}'::timestamptz[]) AS t;
SELECT error_of($$ SELECT gen_uuidv7('1970-01-01') $$);

-- Operators compare the bytes with the bounds, also those of other uuids. No condition differs from its comparison of uuids, with an
-- index and without one.
CREATE TABLE ids AS
    SELECT id FROM generate_series(0, 99) AS n, LATERAL (
        SELECT uuidv7_lower(timestamptz '2026-11-01 12:00' + n / 10 * interval '1 ms') UNION ALL
        SELECT uuidv7_upper(timestamptz '2026-11-01 12:00' + n / 10 * interval '1 ms') UNION ALL
        SELECT gen_uuidv7(timestamptz '2026-11-01 12:00' + n / 10 * interval '1 ms') UNION ALL
        SELECT overlay(gen_uuidv7(timestamptz '2026-11-01 12:00' + n / 10 * interval '1 ms')::text PLACING to_hex(n % 16) FROM 15)::uuid
    ) AS each (id);
INSERT INTO ids VALUES ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff'),
    ('00000000-0000-7000-8000-000000000000'), ('ffffffff-ffff-7fff-bfff-ffffffffffff'), ('ffffffff-ffff-8000-8000-000000000000'),
    ('00000000-0000-4000-8000-000000000000'), (NULL);
CREATE INDEX ON ids (id);
ANALYZE ids;
CREATE FUNCTION found(condition text, index boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT index)::text, true), set_config('enable_indexscan', index::text, true),
            set_config('enable_indexonlyscan', index::text, true), set_config('enable_bitmapscan', index::text, true);
    EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(id::text, '' '' ORDER BY id)) FROM ids WHERE ' || condition INTO found;
    RETURN found;
END $$;
CREATE TABLE bounds AS
    SELECT t, uuidv7_lower(t) AS first, uuidv7_upper(t) AS last
    FROM unnest('{2026-11-01 12:00, 2026-11-01 12:00:00.0009, 2026-11-01 12:00:00.003, 2026-11-01 12:00:00.0045, 2026-11-02,
        1970-01-01, 1969-12-31, -infinity, 10889-08-02 05:31:50.655, 10889-08-03, infinity}'::timestamptz[]) AS t;
WITH conditions AS (
    SELECT unnest(ARRAY[
        format('id < %L::timestamptz', t), format('id >= %L::timestamptz', t),
        format('id <= %L::timestamptz', t), format('id > %L::timestamptz', t),
        format('%L::timestamptz > id', t), format('%L::timestamptz <= id', t),
        format('%L::timestamptz >= id', t), format('%L::timestamptz < id', t),
        format('NOT id < %L::timestamptz', t), format('id > (SELECT %L::timestamptz)', t)
    ]) AS by_time, unnest(ARRAY[
        format('id < %L', first), format('id >= %L', first), format('id <= %L', last), format('id > %L', last),
        format('id < %L', first), format('id >= %L', first), format('id <= %L', last), format('id > %L', last),
        format('id >= %L', first), format('id > %L', last)
    ]) AS by_uuid
    FROM bounds
)
SELECT count(*), count(*) FILTER (WHERE found(by_time, false) <> found(by_uuid, false)) AS different,
       count(*) FILTER (WHERE found(by_time, true) <> found(by_uuid, false)) AS different_by_index
FROM conditions;
WITH conditions AS (
    SELECT format('id <@ tstzrange(%L, %L, %L)', a.t, b.t, form) AS by_range,
           format('id BETWEEN uuidv7_range_lower(%1$L) AND uuidv7_range_upper(%1$L)', tstzrange(a.t, b.t, form)) AS by_uuid
    FROM bounds AS a JOIN bounds AS b ON a.t <= b.t, unnest('{[],(),(],[)}'::text[]) AS form
    UNION ALL
    SELECT format('%L::tstzrange @> id', range), format('id BETWEEN uuidv7_range_lower(%1$L) AND uuidv7_range_upper(%1$L)', range)
    FROM bounds, unnest(ARRAY[tstzrange(t, NULL), tstzrange(NULL, t), 'empty', tstzrange(NULL, NULL)]) AS range
)
SELECT count(*), count(*) FILTER (WHERE found(by_range, false) <> found(by_uuid, false)) AS different,
       count(*) FILTER (WHERE found(by_range, true) <> found(by_uuid, false)) AS different_by_index
FROM conditions;

-- Conditions keep their operator, whose estimator knows the time, and use the index.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
SELECT plan_of('SELECT * FROM ids WHERE id >= timestamptz ''2026-11-01 12:00:00.0005''');
SELECT plan_of('SELECT * FROM ids WHERE id > timestamptz ''2026-11-01 12:00'' AND timestamptz ''2026-11-01 13:00'' > id');
SELECT plan_of('SELECT * FROM ids WHERE id >= now() - interval ''1 day''');
SELECT regexp_replace(plan_of('SELECT * FROM ids WHERE id < (SELECT now())'), '\$0|\(InitPlan \w+\)\.col1', 'result');
SELECT plan_of('SELECT * FROM ids WHERE id <@ tstzrange(''2026-11-01 12:00'', ''2026-11-01 13:00'')');
SELECT plan_of('SELECT * FROM ids WHERE tstzrange(now() - interval ''1 day'', NULL) @> id');
SELECT plan_of('SELECT * FROM bounds JOIN ids ON id > t');
EXPLAIN (COSTS OFF) SELECT * FROM ids WHERE id >= timestamptz '2026-11-01 12:00' LIMIT 1;

-- min and max read one entry of the index, also below a condition on time.
SELECT plan_of('SELECT min(id) FROM ids');
SELECT plan_of('SELECT max(id) FROM ids');
SELECT plan_of('SELECT min(id), max(id) FROM ids WHERE id <@ tstzrange(''2026-11-01 12:00'', ''2026-11-01 13:00'')');
SELECT min(id), max(id) FROM ids;
SELECT min(id) = (array_agg(id ORDER BY id))[1], max(id) = (array_agg(id ORDER BY id DESC))[1]
FROM ids WHERE id <@ tstzrange('2026-11-01 12:00', '2026-11-01 13:00');

-- Only comparisons of uuids let another access method than heap skip parts of a table, and the server partitions.
CREATE ACCESS METHOD another TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE others (id uuid) USING another;
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM others WHERE id >= timestamptz '2026-11-05';
EXPLAIN (COSTS OFF) SELECT * FROM others WHERE id <@ tstzrange(clock_timestamp(), NULL);
SELECT plan('SELECT * FROM others WHERE id <@ (SELECT tstzrange(''2026-11-05'', NULL))');
DROP ACCESS METHOD another CASCADE;
SET enable_seqscan = off;
CREATE TABLE parts (id uuid PRIMARY KEY, other uuid) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (uuidv7_lower('2026-11-01'));
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (uuidv7_lower('2026-11-01')) TO (uuidv7_lower('2026-12-01'));
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (uuidv7_lower('2026-12-01')) TO (MAXVALUE);
EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE id >= timestamptz '2026-11-05' AND id < timestamptz '2026-11-30';
EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE id <@ tstzrange('2026-12-05', NULL);
INSERT INTO parts VALUES ('00000000-0000-0000-0000-000000000000'), ('ffffffff-ffff-ffff-ffff-ffffffffffff');
SELECT count(*) FROM parts WHERE id <@ '(,)';
SET test.days = '7';
SELECT plan_of('SELECT * FROM parts WHERE id < timestamptz ''2026-10-28'' + current_setting(''test.days'')::integer * interval ''1 day''');
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_indexonlyscan;
SELECT plan('SELECT * FROM parts WHERE other >= timestamptz ''2026-11-05''');

-- min and max without an index, of groups, of no values, and of windows.
SELECT count(*), count(*) FILTER (WHERE smallest IS DISTINCT FROM first OR largest IS DISTINCT FROM last) AS different
FROM (
    SELECT min(id) AS smallest, max(id) AS largest, (array_agg(id ORDER BY id))[1] AS first, (array_agg(id ORDER BY id DESC NULLS LAST))[1] AS last
    FROM (SELECT id, row_number() OVER () % 7 AS part FROM ids) AS parts GROUP BY part
) AS groups;
SELECT min(id), max(id) FROM ids WHERE false;
SELECT min(id) OVER last_two, max(id) OVER last_two, uuidv7_smaller(id, lag(id) OVER (ORDER BY n)), uuidv7_larger(id, lag(id) OVER (ORDER BY n))
FROM (VALUES (1, '00000000-0000-0000-0000-000000000001'::uuid), (2, 'ffffffff-0000-0000-0000-000000000000'), (3, NULL)) AS ids (n, id)
WINDOW last_two AS (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);

-- There is no equality with a time, and a uuid's literal remains one.
SELECT split_part(error_of($$ SELECT gen_uuidv7() = now() $$), ' / ', 1);
SELECT split_part(error_of($$ SELECT gen_uuidv7() >= '2026-11-01' $$), ' / ', 1);
SELECT split_part(error_of($$ SELECT gen_uuidv7() BETWEEN '2026-11-01' AND now() $$), ' / ', 1);

-- An ID with a prefix is a TypeID, of a uuid of any version.
SELECT uuidv7_prefixed('prefix', '01890a5d-ac96-774b-bcce-b302099a8057'), uuidv7_prefixed('', '00000000-0000-0000-0000-00000000000a'),
       uuidv7_unprefixed('pre_fix', 'pre_fix_7zzzzzzzzzzzzzzzzzzzzzzzzz');
SELECT value, error_of(format('SELECT uuidv7_unprefixed(%L, %L)', 'prefix', value))
FROM unnest('{prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz, prefix_0123456789ABCDEFGHJKMNPQRS, prefix_1234567890123456789012345,
    user_01h455vb4pex5vsknk084sn02q, prefix_01890a5d-ac96-774b-bcce-b302099a8057}'::text[]) AS value;

-- The functions that are not leakproof, and their labels.
SELECT p.oid::regprocedure, provolatile, proisstrict, proparallel
FROM pg_proc AS p JOIN pg_depend ON objid = p.oid AND classid = 'pg_proc'::regclass AND deptype = 'e'
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scru_uuidv7') AND NOT proleakproof ORDER BY 1;
