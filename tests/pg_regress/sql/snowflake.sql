-- The times of Snowflake IDs, which are bigint and made by other systems.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The example of Discord, and the bounds of its millisecond.
SELECT scru_snowflake_timestamp(175928847299117063, '2015-01-01', 22);
SELECT scru_snowflake_floor('2016-04-30 11:18:25.796999', '2015-01-01', 22) = 175928847299117063 >> 22 << 22,
       scru_snowflake_timestamp((175928847299117063 >> 22 << 22) - 1, epoch => '2015-01-01', shift => 22),
       scru_snowflake_timestamp(((175928847299117063 >> 22) + 1) << 22, epoch => '2015-01-01', shift => 22);

-- The floor of an ID's time is the first ID of its millisecond, and the time of a floor is the start of its millisecond. Epochs are
-- exact to the microsecond.
CREATE TABLE layouts AS
    SELECT epoch, shift
    FROM generate_series(0, 62) AS shift, unnest('{1970-01-01, 2015-01-01, 2010-11-04 01:42:54.657, 1999-12-31 23:59:59.999999}'::timestamptz[]) AS epoch;
SELECT count(*), count(*) FILTER (WHERE scru_snowflake_floor(t + within, epoch, shift) <> id >> shift << shift) AS different
FROM layouts, generate_series(1, 100) AS n,
    LATERAL (SELECT ('x' || left(md5(shift || ' ' || n), 16))::bit(64)::bigint & 9223372036854775807 AS id) AS ids,
    LATERAL (SELECT scru_snowflake_timestamp(id, epoch, shift) AS t WHERE id >> shift < 9000000000000000) AS times,
    unnest('{0, 1, 999}'::integer[]) AS micros, CAST(micros * interval '1 us' AS interval) AS within;
SELECT count(*), count(*) FILTER (WHERE start <> epoch + date_trunc('milliseconds', after)) AS different,
       count(*) FILTER (WHERE scru_snowflake_timestamp(id - 1, epoch, shift) <> start - interval '1 ms') AS different_before
FROM layouts, generate_series(1, 100) AS n,
    CAST(n * n * n * interval '12345678 us' AS interval) AS after,
    LATERAL (SELECT scru_snowflake_floor(epoch + after, epoch, shift) AS id WHERE shift < 24) AS ids,
    LATERAL (SELECT scru_snowflake_timestamp(id, epoch, shift) AS start) AS times;

-- Conditions with a bound find the rows whose time, truncated to its millisecond, satisfies the condition with the truncated time.
CREATE TABLE posts (id bigint PRIMARY KEY);
INSERT INTO posts
    SELECT scru_snowflake_floor(timestamptz '2026-11-01' + n * interval '333 us', '2015-01-01', 22) + n % 7
    FROM generate_series(1, 2000) AS n ON CONFLICT DO NOTHING;
ANALYZE posts;
SELECT count(*), count(*) FILTER (WHERE by_id <> by_time) AS different
FROM generate_series(1, 100) AS n, CAST(timestamptz '2026-11-01' + n * interval '11111 us' AS timestamptz) AS t,
    LATERAL (
        SELECT count(*) FILTER (WHERE id >= scru_snowflake_floor(t, '2015-01-01', 22)) AS by_id,
               count(*) FILTER (WHERE scru_snowflake_timestamp(id, '2015-01-01', 22) >= date_trunc('milliseconds', t)) AS by_time
        FROM posts
    ) AS found;

-- The server plans them as other conditions on a bigint.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan_of($$ SELECT id FROM posts WHERE id >= scru_snowflake_floor('2026-11-01 00:00:01', '2015-01-01', 22) $$);
SELECT plan_of($$ SELECT id FROM posts WHERE id >= scru_snowflake_floor(now() - interval '1 day', '2015-01-01', 22) $$);
SELECT plan_of($$ SELECT id FROM posts WHERE id < scru_snowflake_floor(now(), '2015-01-01', 22) ORDER BY id DESC LIMIT 1 $$);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Times before the epoch, infinite times, and the last millisecond.
SELECT t, scru_snowflake_floor(t, '2015-01-01', 22)
FROM unnest('{-infinity, 4713-01-01 BC, 2014-12-31 23:59:59.999999, 2015-01-01, 2084-09-06 15:47:35.551, 2084-09-06 15:47:35.551999, infinity}'::timestamptz[]) AS t;
SELECT error_of($$ SELECT scru_snowflake_floor('2084-09-06 15:47:35.552', '2015-01-01', 22) $$),
       error_of($$ SELECT scru_snowflake_floor('294276-12-31', '1970-01-01', 16) $$);
SELECT scru_snowflake_timestamp(id, '2015-01-01', 22) FROM unnest('{0, 1, 4194303, 4194304, 9223372036854775807}'::bigint[]) AS id;
SELECT scru_snowflake_timestamp(-1, '2015-01-01', 22) IS NULL, scru_snowflake_timestamp(-9223372036854775808, '2015-01-01', 0) IS NULL;

-- The time of an ID may be later than any timestamp.
SELECT scru_snowflake_timestamp(9223371331199999, '2000-01-01', 0),
       error_of($$ SELECT scru_snowflake_timestamp(9223371331200000, '2000-01-01', 0) $$);
SELECT error_of($$ SELECT scru_snowflake_timestamp(9223372036854775807, '294276-12-31', 0) $$);
SELECT scru_snowflake_floor('294276-12-31 23:59:59.999999', '4713-01-01 BC', 0);

-- Arguments that are out of range or NULL.
SELECT shift, error_of(format($$ SELECT scru_snowflake_timestamp(1, '2015-01-01', %s) $$, shift)),
       error_of(format($$ SELECT scru_snowflake_floor('2015-01-01', '2015-01-01', %s) $$, shift))
FROM unnest('{-2147483648, -1, 0, 62, 63, 2147483647}'::integer[]) AS shift;
SELECT epoch, error_of(format($$ SELECT scru_snowflake_timestamp(1, %L, 22) $$, epoch)),
       error_of(format($$ SELECT scru_snowflake_floor('infinity', %L, 22) $$, epoch))
FROM unnest('{-infinity, infinity}'::timestamptz[]) AS epoch;
SELECT scru_snowflake_timestamp(NULL, '2015-01-01', 22), scru_snowflake_timestamp(1, NULL, 22), scru_snowflake_timestamp(1, '2015-01-01', NULL),
       scru_snowflake_floor(NULL, '2015-01-01', 22), scru_snowflake_floor('2015-01-01', NULL, 22), scru_snowflake_floor('2015-01-01', '2015-01-01', NULL);
