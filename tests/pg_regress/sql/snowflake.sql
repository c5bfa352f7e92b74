-- The times of Snowflake IDs, which are bigint and made by other systems.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The example of Discord, and the bounds of its millisecond.
SELECT scru_snowflake_timestamp(175928847299117063, 1420070400000, 22);
SELECT scru_snowflake_lower('2016-04-30 11:18:25.796999', 1420070400000, 22) = 175928847299117063 >> 22 << 22,
       scru_snowflake_timestamp((175928847299117063 >> 22 << 22) - 1, epoch_ms => 1420070400000, shift => 22),
       scru_snowflake_timestamp(((175928847299117063 >> 22) + 1) << 22, epoch_ms => 1420070400000, shift => 22);

-- The lower bound of an ID's time is the first ID of its millisecond, and the time of a lower bound is the start of its millisecond.
CREATE TABLE layouts AS
    SELECT epoch_ms, shift FROM generate_series(0, 62) AS shift, unnest('{0, 1420070400000, 1288834974657, -1}'::bigint[]) AS epoch_ms;
SELECT count(*), count(*) FILTER (WHERE scru_snowflake_lower(t + within, epoch_ms, shift) <> id >> shift << shift) AS different
FROM layouts, generate_series(1, 100) AS n,
    LATERAL (SELECT ('x' || left(md5(shift || ' ' || n), 16))::bit(64)::bigint & 9223372036854775807 AS id) AS ids,
    LATERAL (SELECT scru_snowflake_timestamp(id, epoch_ms, shift) AS t WHERE id >> shift < 9000000000000000) AS times,
    unnest('{0, 1, 999}'::integer[]) AS micros, CAST(micros * interval '1 us' AS interval) AS within;
SELECT count(*), count(*) FILTER (WHERE start <> date_trunc('milliseconds', t)) AS different,
       count(*) FILTER (WHERE scru_snowflake_timestamp(id - 1, epoch_ms, shift) <> start - interval '1 ms') AS different_before
FROM layouts, generate_series(1, 100) AS n,
    CAST(to_timestamp(0) + epoch_ms * interval '1 ms' + n * n * n * interval '12345678 us' AS timestamptz) AS t,
    LATERAL (SELECT scru_snowflake_lower(t, epoch_ms, shift) AS id WHERE shift < 24) AS ids,
    LATERAL (SELECT scru_snowflake_timestamp(id, epoch_ms, shift) AS start) AS times;

-- Conditions with a bound find the rows whose time, truncated to its millisecond, satisfies the condition with the truncated time.
CREATE TABLE posts (id bigint PRIMARY KEY);
INSERT INTO posts
    SELECT scru_snowflake_lower(timestamptz '2026-11-01' + n * interval '333 us', 1420070400000, 22) + n % 7
    FROM generate_series(1, 2000) AS n ON CONFLICT DO NOTHING;
ANALYZE posts;
SELECT count(*), count(*) FILTER (WHERE by_id <> by_time) AS different
FROM generate_series(1, 100) AS n, CAST(timestamptz '2026-11-01' + n * interval '11111 us' AS timestamptz) AS t,
    LATERAL (
        SELECT count(*) FILTER (WHERE id >= scru_snowflake_lower(t, 1420070400000, 22)) AS by_id,
               count(*) FILTER (WHERE scru_snowflake_timestamp(id, 1420070400000, 22) >= date_trunc('milliseconds', t)) AS by_time
        FROM posts
    ) AS found;

-- The server plans them as other conditions on a bigint.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan_of($$ SELECT id FROM posts WHERE id >= scru_snowflake_lower('2026-11-01 00:00:01', 1420070400000, 22) $$);
SELECT plan_of($$ SELECT id FROM posts WHERE id >= scru_snowflake_lower(now() - interval '1 day', 1420070400000, 22) $$);
SELECT plan_of($$ SELECT id FROM posts WHERE id < scru_snowflake_lower(now(), 1420070400000, 22) ORDER BY id DESC LIMIT 1 $$);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Times beyond the first and the last millisecond count as in these.
SELECT t, scru_snowflake_lower(t, 1420070400000, 22)
FROM unnest('{-infinity, 4713-01-01 BC, 2014-12-31 23:59:59.999999, 2015-01-01, 2084-09-06 15:47:35.551999, 2084-09-06 15:47:35.552, infinity}'::timestamptz[]) AS t;
SELECT scru_snowflake_timestamp(id, 1420070400000, 22) FROM unnest('{0, 1, 4194303, 4194304, 9223372036854775807}'::bigint[]) AS id;
SELECT scru_snowflake_timestamp(-1, 1420070400000, 22) IS NULL, scru_snowflake_timestamp(-9223372036854775808, 0, 0) IS NULL;

-- A timestamp may not have the time of an ID.
SELECT scru_snowflake_timestamp(9224318015999999, 0, 0), scru_snowflake_timestamp(0, -210866803200000, 0);
SELECT id, epoch_ms, error_of(format($$ SELECT scru_snowflake_timestamp(%s, %s, 0) $$, id, epoch_ms))
FROM (VALUES (9224318016000000, 0), (0, 9223372036854775807), (9223372036854775807, 9223372036854775807), (0, -210866803200001), (0, -9223372036854775808)) AS ids (id, epoch_ms);
SELECT scru_snowflake_lower('2015-01-01', epoch_ms, 22) FROM unnest('{-9223372036854775808, 9223372036854775807}'::bigint[]) AS epoch_ms;

-- Arguments that are out of range or NULL.
SELECT shift, error_of(format($$ SELECT scru_snowflake_timestamp(1, 0, %s) $$, shift)), error_of(format($$ SELECT scru_snowflake_lower('2015-01-01', 0, %s) $$, shift))
FROM unnest('{-2147483648, -1, 0, 62, 63, 2147483647}'::integer[]) AS shift;
SELECT num_nulls(scru_snowflake_timestamp(NULL, 0, 22), scru_snowflake_timestamp(1, NULL, 22), scru_snowflake_timestamp(1, 0, NULL),
                 scru_snowflake_lower(NULL, 0, 22), scru_snowflake_lower('2015-01-01', NULL, 22), scru_snowflake_lower('2015-01-01', 0, NULL));
