-- Window frames: RANGE with an interval as offset.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- IDs with times that are multiples of 32 seconds apart, a whole number of ticks of every type. Some have the same time. Also the
-- smallest and the largest ID, and NULLs. `low` is the value of the bits below the time.
CALL for_each_type($$
    CREATE TABLE $T_rows (n int, id $T, time timestamptz, low numeric);
    INSERT INTO $T_rows (id)
        SELECT set_byte($T_lower(time)::bytea, length - 1, low)::$T
        FROM types,
             (SELECT timestamptz '2026-03-01' + n * interval '64 minutes' FROM generate_series(0, 60) AS n
              UNION ALL SELECT timestamptz '2026-03-01' + n * interval '7 days' FROM generate_series(0, 3) AS n
              UNION ALL SELECT timestamptz '2026-03-02 10:00:00' + n * interval '32 seconds' FROM generate_series(0, 20) AS n
              UNION ALL SELECT timestamptz '2027-05-05' + n * interval '1 month' FROM generate_series(0, 20) AS n) AS times(time),
             unnest(ARRAY[0, 7, 255]) AS low
        WHERE name = '$T' AND (low = 7 OR date_part('hour', time) < 12)
        UNION ALL SELECT text::$T FROM valid WHERE type = '$T' AND text IN (smallest('$T'), largest('$T'))
        UNION ALL SELECT NULL FROM generate_series(1, 3);
    UPDATE $T_rows SET time = $T_timestamp(id), n = ordered.n,
        low = number_of(id::bytea) % (2::numeric ^ CASE '$T' WHEN 'scru64' THEN 24 WHEN 'ulidflake' THEN 20 WHEN 'scru160' THEN 112 ELSE 80 END)
    FROM (SELECT ctid, row_number() OVER (ORDER BY id, ctid) AS n FROM $T_rows) AS ordered WHERE $T_rows.ctid = ordered.ctid
$$);
SELECT * FROM each_type('SELECT count(*) > 150, count(DISTINCT time) > 60, count(*) - count(id) FROM $T_rows');

-- The frames are compared with frames computed from each pair of rows, by the time and the bits below it.
CREATE VIEW offsets AS
    SELECT row_number() OVER () AS number, o::interval AS first, p::interval AS last FROM (VALUES
        ('0', '0'), ('1 microsecond', '1 microsecond'), ('32 seconds', '0'), ('31.999 seconds', '32.001 seconds'),
        ('1 hour', '1 hour'), ('64 minutes', '128 minutes'), ('1 day', '64 minutes'), ('1 month', '1 year'),
        ('1 month -2 days', '3 hours'), ('1 year 2 months 3 days 4 hours', '2 days'), ('1000 years', '5000 years'),
        ('6000 years', '0'), ('0', '6000 years')) AS offsets(o, p);
CREATE FUNCTION frames(name text, frame text, descending boolean) RETURNS TABLE (n int, first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT n, min(n) OVER w, max(n) OVER w FROM %s_rows WINDOW w AS (ORDER BY id %s NULLS LAST RANGE BETWEEN %s)',
        name, CASE WHEN descending THEN 'DESC' END, frame);
END $$;
CREATE FUNCTION compared_frames(name text, condition text) RETURNS TABLE (n int, first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT a.n, (SELECT min(b.n) FROM %1$s_rows AS b WHERE %2$s), (SELECT max(b.n) FROM %1$s_rows AS b WHERE %2$s)
         FROM %1$s_rows AS a WHERE a.id IS NOT NULL', name, condition);
END $$;
CREATE FUNCTION differing_frames(name text, frame text, descending boolean, condition text) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM (SELECT * FROM compared_frames(name, condition) EXCEPT SELECT * FROM frames(name, frame, descending)) AS q
$$;
SELECT * FROM each_type($$
    SELECT number,
        differing_frames('$T', format('%L PRECEDING AND %L FOLLOWING', first, last), false, format(
            '(b.time, b.low) >= (a.time - %L::interval, a.low) AND (b.time, b.low) <= (a.time + %L::interval, a.low)', first, last)),
        differing_frames('$T', format('%L PRECEDING AND %L FOLLOWING', first, last), true, format(
            '(b.time, b.low) <= (a.time + %L::interval, a.low) AND (b.time, b.low) >= (a.time - %L::interval, a.low)', first, last)),
        differing_frames('$T', format('%L PRECEDING AND CURRENT ROW', first), false, format(
            '(b.time, b.low) >= (a.time - %L::interval, a.low) AND b.id <= a.id', first)),
        differing_frames('$T', format('%L FOLLOWING AND UNBOUNDED FOLLOWING', last), false, format(
            '((b.time, b.low) >= (a.time + %L::interval, a.low) OR b.id IS NULL)', last))
    FROM offsets ORDER BY number
$$);

-- There are small and large frames.
SELECT * FROM each_type($$
    SELECT min(last - first) < 5, max(last - first) > 100 FROM frames('$T', '''1 month'' PRECEDING AND ''1 hour'' FOLLOWING', false)
    WHERE n < (SELECT min(n) FROM $T_rows WHERE id IS NULL)
$$);

-- With an offset of zero, a frame is the current row and its peers.
SELECT * FROM each_type($$
    SELECT count(*) FROM (SELECT * FROM frames('$T', '''0'' PRECEDING AND ''0'' FOLLOWING', false)
                          EXCEPT SELECT * FROM frames('$T', 'CURRENT ROW AND CURRENT ROW', false)) AS q
$$);

-- The NULLs form a frame.
SELECT * FROM each_type($$
    SELECT min(n) - min(first), max(n) - max(last) FROM frames('$T', '''1 hour'' PRECEDING AND ''1 hour'' FOLLOWING', false)
    WHERE n >= (SELECT min(n) FROM $T_rows WHERE id IS NULL)
$$);

-- Days and months depend on the session's time zone. Frames are those of a timestamptz, also around the days of 23 and 25 hours,
-- and around month ends that have no counterpart in shorter months.
CALL for_each_type($$
    CREATE TABLE $T_moments AS
        SELECT row_number() OVER (ORDER BY id) AS n, id, $T_timestamp(id) AS time
        FROM (SELECT $T_lower(time) AS id FROM
                 (SELECT timestamptz '2026-03-07' + n * interval '32 minutes' FROM generate_series(0, 120) AS n
                  UNION SELECT timestamptz '2026-10-31' + n * interval '32 minutes' FROM generate_series(0, 120) AS n
                  UNION SELECT timestamptz '2026-01-26' + n * interval '7 hours' FROM generate_series(0, 200) AS n) AS times(time)) AS ids
$$);
CREATE FUNCTION moments(name text, key text, frame text) RETURNS TABLE (n bigint, first bigint, last bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT n, min(n) OVER w, max(n) OVER w FROM %s_moments WINDOW w AS (ORDER BY %s RANGE BETWEEN %s)', name, key, frame);
END $$;
SET timezone = 'America/New_York';
SELECT * FROM each_type($$
    SELECT count(*) FROM unnest(ARRAY['1 day', '24 hours', '1 month', '2 months 3 days -1 hour', '1 year']) AS o,
        format('%L PRECEDING AND %L FOLLOWING', o, o) AS frame,
        LATERAL (SELECT * FROM moments('$T', 'id', frame) EXCEPT SELECT * FROM moments('$T', 'time', frame)) AS q
$$);
SELECT * FROM each_type($$
    SELECT count(*) > 0 FROM (SELECT * FROM moments('$T', 'id', '''1 day'' PRECEDING AND CURRENT ROW')
                              EXCEPT SELECT * FROM moments('$T', 'id', '''24 hours'' PRECEDING AND CURRENT ROW')) AS q
$$);
RESET timezone;

-- Very long offsets do not overflow. Such a frame contains all rows, or begins after the last one.
SELECT current_setting('server_version_num')::integer >= 170000 AS has_infinite_intervals \gset
CREATE TABLE far AS SELECT unnest(ARRAY[
    '9000 years', '300000 years', '178956970 years 7 months', '178956970 years 7 months 2147483647 days 2147483647 hours',
    '2147483647 days', '2562047788 hours', '178956970 years -2147483648 days', '300000 years -100000000 days',
    '-1 month 2147483647 days']::interval[]) AS o;
\if :has_infinite_intervals
INSERT INTO far VALUES ('infinity');
\endif
SELECT * FROM each_type($$
    SELECT count(*) > 150, count(*) FILTER (WHERE first <> 1 OR last <> ids)
    FROM far, (SELECT count(id) AS ids FROM $T_rows) AS all_ids,
        LATERAL frames('$T', format('%L PRECEDING AND %L FOLLOWING', o, o), false)
    WHERE n <= ids
$$);
SELECT * FROM each_type($$
    SELECT count(first) FROM far, LATERAL frames('$T', format('%L FOLLOWING AND %L FOLLOWING', o, o), false) AS f
    WHERE n <= (SELECT count(id) FROM $T_rows)
$$);

-- A negative offset raises an error, as for a timestamptz. So do NULL and an offset that is not an interval.
SELECT * FROM each_type($$
    SELECT o, error_of(format('SELECT count(*) OVER (ORDER BY id RANGE %L PRECEDING) FROM $T_rows', o))
    FROM unnest(ARRAY['-1 microsecond', '1 month -31 days', '-178956970 years']) AS o
$$);
SELECT error_of($$SELECT count(*) OVER (ORDER BY time RANGE '-1 microsecond' PRECEDING) FROM scru128_rows$$);
SELECT * FROM each_type($$
    SELECT error_of('SELECT count(*) OVER (ORDER BY id RANGE NULL::interval PRECEDING) FROM $T_rows'),
           error_of('SELECT count(*) OVER (ORDER BY id RANGE 1 PRECEDING) FROM $T_rows')
$$);

-- The index provides the order, so that the plan has no sort.
CALL for_each_type('CREATE TABLE $T_keys AS SELECT id FROM $T_rows WHERE id IS NOT NULL; CREATE INDEX ON $T_keys (id); ANALYZE $T_keys');
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT plan_of('SELECT count(*) OVER (ORDER BY id RANGE BETWEEN ''1 hour'' PRECEDING AND CURRENT ROW) FROM $T_keys'),
           plan_of('SELECT count(*) OVER (ORDER BY id DESC RANGE BETWEEN ''1 hour'' PRECEDING AND CURRENT ROW) FROM $T_keys')
$$);
