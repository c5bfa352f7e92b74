-- The time of an ID, and the smallest and the largest ID of a time.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The time of an ID, exact to the microsecond.
SELECT * FROM each_type($$
    SELECT source, text, $T_timestamp(text::$T), timestamp FROM valid
    WHERE type = '$T' AND ($T_timestamp(text::$T) <> timestamp OR text::$T::timestamptz <> timestamp
                           OR extract(epoch FROM $T_timestamp(text::$T)) * 1000000 <> timestamp_micros)
$$);

-- The bounds of a time are the first and the last ID of its tick. A comparison with the time is one with a bound: at and around
-- ticks, and at both ends of each type. A time out of range counts as within the nearest tick. There, only IDs of the first and the
-- last tick, which no generator makes, compare with the time in another way.
CALL for_each_type($$
    CREATE TABLE $T_times AS
        SELECT DISTINCT first, last, start, time, time < first OR time >= last + tick AS is_beyond
        FROM $T_timestamp(smallest('$T')::$T) AS first, $T_timestamp(largest('$T')::$T) AS last,
            CAST(CASE '$T' WHEN 'scru64' THEN '256 ms' ELSE '1 ms' END AS interval) AS tick,
            unnest(ARRAY[first, first + tick, '2026-01-01 00:00:01.024', last - tick, last]) AS start,
            unnest(ARRAY[start - interval '1 us', start, start + interval '1 us', start + tick - interval '1 us', start + tick,
                         '-infinity', '4713-01-01 BC', '294276-12-31 23:59:59.999999', 'infinity']) AS time
$$);
SELECT * FROM each_type($$
    SELECT count(DISTINCT time), count(*) FILTER (WHERE time::$T <> $T_lower(time)) AS by_cast,
           count(*) FILTER (WHERE $T_timestamp($T_lower(start)) <> start OR $T_timestamp($T_upper(start)) <> start) AS tick,
           count(*) FILTER (WHERE number_of($T_lower(start)::bytea) <> CASE start WHEN first THEN number_of(smallest('$T')::$T::bytea)
               ELSE number_of($T_upper(start - interval '1 us')::bytea) + 1 END) AS first,
           count(*) FILTER (WHERE start = last AND $T_upper(start) <> largest('$T')::$T) AS last
    FROM $T_times
$$);
SELECT * FROM each_type($$
    SELECT is_beyond, op, bool_or(by_time <> by_bound) AS different,
           bool_or(by_time <> by_bound AND $T_timestamp(id) NOT IN (first, last)) AS different_if_generated
    FROM $T_times, (SELECT $T_lower(time) FROM $T_times UNION SELECT $T_upper(time) FROM $T_times) AS ids (id),
        LATERAL (VALUES ('>=', id >= time, id >= $T_lower(time)), ('<', id < time, id < $T_lower(time)),
                        ('<=', id <= time, id <= $T_upper(time)), ('>', id > time, id > $T_upper(time))) AS v (op, by_time, by_bound)
    GROUP BY 1, 2 ORDER BY 1, 2
$$);

-- The range of times of each type.
SELECT name, length, first, last
FROM types,
     LATERAL (SELECT min(timestamp) AS first, max(timestamp) AS last FROM valid WHERE type = name) AS q
ORDER BY name;

CALL for_each_type($$
    CREATE TABLE $T_ids AS
        SELECT $T_lower('2024-06-01'::timestamptz + n * interval '12345678 us') AS id FROM generate_series(1, 1000) AS n
$$);
-- Each call returns an ID of its own: an array of times becomes an array of different IDs.
SELECT * FROM each_type($$
    SELECT times::$T[] = ARRAY[$T_lower(times[1]), $T_lower(times[2]), $T_lower(times[3])] AS cast
    FROM (VALUES (ARRAY[timestamptz '2026-01-01', '2026-02-01', '2026-03-01'])) AS v (times)
$$);
CREATE FUNCTION found(type text, times timestamptz[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s_ids WHERE id = ANY ($1::%s[])', type, type) INTO found USING times;
    RETURN found;
END $$;
SELECT * FROM each_type($$
    SELECT found('$T', array_agg('2024-06-01'::timestamptz + n * interval '12345678 us')) FROM generate_series(1, 3) AS n
$$);
-- ANALYZE keeps the results of a statistics object's expressions, and frees each of them.
CALL for_each_type($$
    CREATE TABLE $T_moments AS
        SELECT '2026-01-01'::timestamptz + n % 5 * interval '1 day' AS at, n % 5 AS n FROM generate_series(1, 1000) AS n;
    CREATE STATISTICS $T_mcv (mcv) ON $T_lower(at), $T_upper(at), $T_range_lower(tstzrange(at, NULL)),
        $T_range_upper(tstzrange(NULL, at)), $T_time_bound(at, '>='), n FROM $T_moments;
    ANALYZE $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS items, count(*) FILTER (WHERE values = n::text || ARRAY[
        $T_lower(at), $T_upper(at), $T_range_lower(tstzrange(at, NULL)),
        $T_range_upper(tstzrange(NULL, at)), $T_time_bound(at, '>=')]::text[]) AS expected
    FROM pg_statistic_ext AS s JOIN pg_statistic_ext_data ON stxoid = s.oid, pg_mcv_list_items(stxdmcv),
        LATERAL (SELECT DISTINCT at, n FROM $T_moments) AS moments
    WHERE stxname = '$T_mcv' AND values[1] = n::text
$$);
-- ALTER TABLE and ANALYZE keep the result of an expression without columns after the state of its functions is freed.
BEGIN;
CALL for_each_type($$
    ALTER TABLE $T_moments ADD id $T DEFAULT $T_lower(now());
    CREATE STATISTICS $T_now (mcv) ON n, $T_lower(now()) FROM $T_moments;
    ANALYZE $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS "rows", count(*) FILTER (WHERE id = $T_lower(now())) AS expected FROM $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS items, count(*) FILTER (WHERE values[2] = $T_lower(now())::text) AS expected
    FROM pg_statistic_ext AS s JOIN pg_statistic_ext_data ON stxoid = s.oid, pg_mcv_list_items(stxdmcv)
    WHERE stxname = '$T_now'
$$);
COMMIT;

-- The time of an ID is independent of the session's time zone, so that it can be indexed.
CALL for_each_type($$ CREATE INDEX ON $T_ids ($T_timestamp(id)); ANALYZE $T_ids $$);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM each_type($$ SELECT plan_of('SELECT FROM $T_ids WHERE $T_timestamp(id) = ''2024-06-01 12:00+00''') $$);
SET timezone = 'Asia/Kathmandu';
SELECT * FROM each_type($$
    SELECT source, text FROM valid WHERE type = '$T' AND $T_timestamp(text::$T) <> timestamp
$$);
SELECT * FROM each_type($$ SELECT NULL = $T_timestamp(NULL), NULL = $T_lower(NULL::timestamptz), NULL = $T_upper(NULL::timestamptz) $$);
