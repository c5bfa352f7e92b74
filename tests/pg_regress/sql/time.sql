-- The time of an ID, and the smallest and the largest ID of a time.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- The time of an ID, exact to the microsecond.
SELECT * FROM each_type($$
    SELECT source, text, $T_timestamp(text::$T), timestamp FROM valid
    WHERE type = '$T' AND ($T_timestamp(text::$T) <> timestamp OR text::$T::timestamptz <> timestamp
                           OR extract(epoch FROM $T_timestamp(text::$T)) * 1000000 <> timestamp_micros)
$$);

-- The first and the last ID of a tick, at its start and a microsecond before and after. Before the start, the upper bound is the
-- ID before the tick's first ID. After the start, the lower bound is the first ID of the next tick.
SELECT * FROM each_type($$
    SELECT source, text FROM valid
    WHERE type = '$T' AND timestamp > $T_timestamp(smallest('$T')::$T) AND timestamp < $T_timestamp(largest('$T')::$T)
      AND NOT (text::$T BETWEEN $T_lower(timestamp) AND $T_upper(timestamp)
               AND $T_timestamp($T_lower(timestamp)) = timestamp
               AND $T_timestamp($T_upper(timestamp)) = timestamp
               AND $T_lower(timestamp - interval '1 us') = $T_lower(timestamp)
               AND $T_upper(timestamp + interval '1 us') = $T_upper(timestamp)
               AND number_of($T_upper(timestamp - interval '1 us')::bytea) = number_of($T_lower(timestamp)::bytea) - 1
               AND number_of($T_lower(timestamp + interval '1 us')::bytea) = number_of($T_upper(timestamp)::bytea) + 1
               AND timestamp::$T = $T_lower(timestamp))
$$);

-- A range of IDs finds the IDs of a range of times, for any bounds.
CALL for_each_type($$
    CREATE TABLE $T_ids AS
        SELECT $T_lower('2024-06-01'::timestamptz + n * interval '12345678 us') AS id FROM generate_series(1, 1000) AS n
$$);
SELECT * FROM each_type($$
    SELECT low, high FROM generate_series(1, 20) AS n,
        CAST('2024-06-01'::timestamptz + n * interval '234567891 us' AS timestamptz) AS low,
        CAST(low + n * interval '45678912 us' AS timestamptz) AS high
    WHERE (SELECT count(*) FROM $T_ids WHERE id BETWEEN $T_lower(low) AND $T_upper(high))
       <> (SELECT count(*) FROM $T_ids WHERE $T_timestamp(id) BETWEEN low AND high)
$$);

-- Infinite times, and the first and the last time of each type.
SELECT * FROM each_type($$
    SELECT $T_lower(timestamptz '-infinity') = smallest('$T')::$T, $T_upper(timestamptz '-infinity') = smallest('$T')::$T,
           $T_lower(timestamptz 'infinity') = largest('$T')::$T, $T_upper(timestamptz 'infinity') = largest('$T')::$T,
           '-infinity'::timestamptz::$T = smallest('$T')::$T, 'infinity'::timestamptz::$T = largest('$T')::$T
$$);
SELECT * FROM each_type($$
    SELECT $T_lower(first) = smallest('$T')::$T, $T_upper(last) = largest('$T')::$T
    FROM $T_timestamp(smallest('$T')::$T) AS first, $T_timestamp(largest('$T')::$T) AS last
$$);

-- The range of times of each type. Times after the start of the last tick have no lower bound, and times before the first tick
-- have no upper bound: both raise an error. The other bound is the largest or the smallest ID, respectively.
SELECT name, length, first, last
FROM types,
     LATERAL (SELECT min(timestamp) AS first, max(timestamp) AS last FROM valid WHERE type = name) AS q
ORDER BY name;
SELECT * FROM each_type($$
    SELECT function, moment FROM
        $T_timestamp(smallest('$T')::$T) AS first,
        $T_timestamp(largest('$T')::$T) AS last,
        CAST(CASE '$T' WHEN 'scru64' THEN '256 ms' ELSE '1 ms' END AS interval) AS tick,
        unnest(ARRAY['lower', 'upper']) AS function,
        unnest(ARRAY[first - interval '1 us', first, last, last + interval '1 us', last + tick - interval '1 us', last + tick,
                     '4713-01-01 BC', '294276-12-31 23:59:59.999999']) AS moment
    WHERE error_of(format('SELECT $T_%s(timestamptz %L)', function, moment)) IS DISTINCT FROM CASE
        WHEN CASE function WHEN 'lower' THEN moment > last ELSE moment < first END
        THEN format('22008 timestamp out of range for type $T / DETAIL The time of a $T is between %s and %s.', first, last)
        END
$$);
SELECT * FROM each_type($$
    SELECT $T_lower('1969-07-20') = smallest('$T')::$T, $T_upper('20000-01-01') = largest('$T')::$T,
           '1969-07-20'::timestamptz::$T = smallest('$T')::$T
$$);
-- The first ID of the tick that contains a time. Times after the last tick have none.
SELECT * FROM each_type($$
    SELECT moment, $T_floor(moment) = $T_lower(truncated('$T', moment)) AS first, $T_timestamp($T_floor(moment)) - moment AS distance
    FROM generate_series(timestamptz '2026-01-01 00:00:01.0239', '2026-01-01 00:00:01.0241', '0.0001 s') AS moment
$$);
SELECT * FROM each_type($$
    SELECT $T_floor('-infinity') = smallest('$T')::$T, $T_floor('4713-01-01 BC') = smallest('$T')::$T, $T_floor('infinity') = largest('$T')::$T,
           $T_floor(first - interval '1 us') = smallest('$T')::$T, $T_floor(last + interval '1 us') = $T_lower(last)
    FROM $T_timestamp(smallest('$T')::$T) AS first, $T_timestamp(largest('$T')::$T) AS last
$$);
SELECT * FROM each_type($$ SELECT $T_floor('294276-12-31 23:59:59.999999') $$);
SELECT * FROM each_type($$ SELECT $T_lower('20000-01-01') $$);
SELECT * FROM each_type($$ SELECT $T_upper('1969-07-20') $$);
SELECT * FROM each_type($$ SELECT '20000-01-01'::timestamptz::$T $$);

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
    CREATE STATISTICS $T_mcv (mcv) ON $T_lower(at), $T_floor(at), $T_upper(at), $T_range_lower(tstzrange(at, NULL)),
        $T_range_upper(tstzrange(NULL, at)), $T_time_bound(at, '>='), n FROM $T_moments;
    ANALYZE $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS items, count(*) FILTER (WHERE values = n::text || ARRAY[
        $T_lower(at), $T_floor(at), $T_upper(at), $T_range_lower(tstzrange(at, NULL)),
        $T_range_upper(tstzrange(NULL, at)), $T_time_bound(at, '>=')]::text[]) AS expected
    FROM pg_statistic_ext AS s JOIN pg_statistic_ext_data ON stxoid = s.oid, pg_mcv_list_items(stxdmcv),
        LATERAL (SELECT DISTINCT at, n FROM $T_moments) AS moments
    WHERE stxname = '$T_mcv' AND values[1] = n::text
$$);
-- ALTER TABLE and ANALYZE keep the result of an expression without columns after the state of its functions is freed.
BEGIN;
CALL for_each_type($$
    ALTER TABLE $T_moments ADD id $T DEFAULT $T_floor(now());
    CREATE STATISTICS $T_now (mcv) ON n, $T_floor(now()) FROM $T_moments;
    ANALYZE $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS "rows", count(*) FILTER (WHERE id = $T_floor(now())) AS expected FROM $T_moments
$$);
SELECT * FROM each_type($$
    SELECT count(*) AS items, count(*) FILTER (WHERE values[2] = $T_floor(now())::text) AS expected
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
SELECT * FROM each_type($$ SELECT NULL = $T_timestamp(NULL), NULL = $T_lower(NULL::timestamptz), NULL = $T_upper(NULL::timestamptz), NULL = $T_floor(NULL) $$);
