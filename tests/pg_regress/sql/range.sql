-- Queries by a range of times: id <@ tstzrange, answered by an index on the ID.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- 200,000 IDs of each type with their times: every third of a second, the first and the last ID of a tick. And the smallest and
-- the largest ID of the type.
CALL for_each_type($$
    CREATE TABLE $T_orders AS
        SELECT id, $T_timestamp(id) AS created
        FROM generate_series(0, 99999) AS n,
             CAST(timestamptz '2026-01-01' + n * interval '333.333 ms' AS timestamptz) AS moment,
             unnest(ARRAY[$T_lower(moment), $T_upper(moment)]) AS id
        UNION ALL
        SELECT id, $T_timestamp(id) FROM unnest(ARRAY[smallest('$T'), largest('$T')]::$T[]) AS id;
    CREATE INDEX $T_orders_id ON $T_orders (id);
    ANALYZE $T_orders
$$);

-- Ranges with all kinds of bounds at, just before and just after the time of an ID, and the same an hour later; ranges that are
-- unbounded, infinite or beyond the type's range; and the empty range.
CREATE FUNCTION ranges(at timestamptz) RETURNS SETOF tstzrange LANGUAGE sql AS $$
    SELECT tstzrange(at + "from" * interval '1 us', at + "to" * interval '1 us', bounds)
    FROM unnest(ARRAY[-1, 0, 1]) AS "from",
         unnest(ARRAY[-1, 0, 1, 3599999999, 3600000000, 3600000001]) AS "to",
         unnest(ARRAY['()', '(]', '[)', '[]']) AS bounds
    WHERE "from" <= "to"
    UNION ALL
    SELECT tstzrange("from", "to", bounds)
    FROM unnest(ARRAY[NULL, '-infinity', '4000-01-01 BC', at]::timestamptz[]) AS "from",
         unnest(ARRAY[at, '200000-01-01', 'infinity', NULL]::timestamptz[]) AS "to",
         unnest(ARRAY['()', '[]']) AS bounds
    UNION ALL
    SELECT unnest(ARRAY['empty', '[infinity,)', '(,-infinity]', '(,"4000-01-01 BC")', '[200000-01-01,)']::tstzrange[])
$$;

-- The number of ranges, and those for which the index on the ID gives another count than the times with the bounds truncated to ticks.
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT count(*), array_agg(range) FILTER (WHERE by_index <> by_time) AS deviating
    FROM (SELECT created AS at FROM $T_orders ORDER BY id OFFSET 60000 LIMIT 1) AS middle, ranges(at) AS range,
         lines_of(format('SELECT count(*) FROM $T_orders WHERE id <@ %L::tstzrange', range)) AS by_index,
         lines_of(format('SELECT count(*) FROM $T_orders WHERE created <@ %L::tstzrange', truncated('$T', range))) AS by_time
$$);
RESET enable_seqscan;

-- Without an index, both operators and NOT return the same as the comparison of times with truncated bounds.
SELECT * FROM each_type($$
    WITH orders AS MATERIALIZED (SELECT * FROM $T_orders ORDER BY id OFFSET 60000 LIMIT 20),
         ranges AS MATERIALIZED (SELECT range, truncated('$T', range) AS truncated
             FROM (SELECT created AS at FROM orders ORDER BY id LIMIT 1) AS first, ranges(at) AS range)
    SELECT count(*), count(*) FILTER (
        WHERE (id <@ range, range @> id, NOT id <@ range)
            IS DISTINCT FROM (created <@ truncated, created <@ truncated, NOT created <@ truncated))
    FROM orders, ranges
$$);

-- A NULL argument returns NULL.
SELECT * FROM each_type($$
    SELECT NULL::$T <@ '[2026-01-01,)' AS a, '[2026-01-01,)' @> NULL::$T AS b, smallest('$T')::$T <@ NULL AS c,
           NULL::tstzrange @> smallest('$T')::$T AS d, $T_range_lower(NULL) AS e, $T_range_upper(NULL) AS f,
           $T_time_encoder(NULL) AS g, $T_time_decoder(NULL) AS h
$$);
SELECT * FROM each_type($$ SELECT count(*) FROM (VALUES (NULL::$T), (smallest('$T')::$T)) AS ids (id) WHERE id <@ '(,)' $$);

-- The bounds are the first and the last ID in the range. If the range contains none, the lower bound is above the upper one.
SELECT * FROM each_type($$
    SELECT $T_timestamp($T_range_lower(range)) AS first, $T_timestamp($T_range_upper(range)) AS last
    FROM CAST('(2026-01-01 00:00,2026-01-01 00:00:02.048)' AS tstzrange) AS range
$$);
SELECT * FROM each_type($$
    SELECT $T_range_lower('empty') = largest('$T')::$T AS largest, $T_range_upper('empty') = smallest('$T')::$T AS smallest
$$);

-- Plans: the index conditions are exact, so that no filter is needed.
SELECT * FROM each_type($$ SELECT plan('SELECT id FROM $T_orders WHERE id <@ ''[2026-01-01 01:00,2026-01-01 02:00)''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_orders WHERE tstzrange(now() - interval ''1 day'', NULL) @> id') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_orders WHERE id <@ (SELECT tstzrange(now(), NULL))') $$);
SELECT * FROM each_type($$ SELECT plan('DELETE FROM $T_orders WHERE id <@ tstzrange(NULL, ''2026-01-01 00:01'')') $$);
CALL for_each_type($$ PREPARE $T_by_time (tstzrange) AS SELECT * FROM $T_orders WHERE id <@ $1 $$);
SET plan_cache_mode = force_generic_plan;
SELECT * FROM each_type($$ SELECT plan('EXECUTE $T_by_time (''[2026-01-01 01:00,2026-01-01 02:00)'')') $$);
RESET plan_cache_mode;

-- A range of an expression does not become two comparisons, which would evaluate the expression twice, but an index on the
-- expression is used.
SET enable_bitmapscan = off;
CALL for_each_type($$ CREATE INDEX $T_orders_larger ON $T_orders ($T_larger(id, id)) $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_orders WHERE $T_larger(id, id) <@ ''[2026-01-01 01:00,2026-01-01 01:01)''') $$);

-- A multicolumn index, and a bitmap scan.
CALL for_each_type($$
    DROP INDEX $T_orders_id, $T_orders_larger;
    CREATE INDEX $T_orders_both ON $T_orders (id, created)
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_orders WHERE id <@ ''[2026-01-01 01:00,2026-01-01 01:01)''') $$);
RESET enable_bitmapscan;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_orders WHERE id <@ ''[2026-01-01 01:00,2026-01-01 01:01)''') $$);
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- Estimates of literals, parameters, the operators' functions and the commuted operator are within a factor of two, even inside a
-- bucket of the histogram (2,000 rows), and for ranges that are unbounded on one side or both. The smallest and the largest ID are
-- deleted first, so that the other IDs fill the histogram evenly.
CALL for_each_type($$
    DELETE FROM $T_orders WHERE id IN (smallest('$T')::$T, largest('$T')::$T);
    DROP INDEX $T_orders_both;
    CREATE INDEX ON $T_orders (id);
    ANALYZE $T_orders
$$);
SET plan_cache_mode = force_custom_plan;
SELECT * FROM each_type($$
    SELECT estimate(query) BETWEEN 180 AND 720 AS good, count(*)
    FROM unnest(ARRAY['[2026-01-01 01:23:45,2026-01-01 01:24:45)', '[2026-01-01 06:15,2026-01-01 06:16)']) AS range,
         unnest(ARRAY['id <@ %L::tstzrange', '%L::tstzrange @> id', '$T_contained_by_range(id, %L)', '$T_range_contains(%L, id)']) AS form,
         unnest(ARRAY['SELECT FROM $T_orders WHERE ' || format(form, range), format('EXECUTE $T_by_time (%L)', range)]) AS query
    GROUP BY good
$$);
SELECT * FROM each_type($$
    SELECT estimate('SELECT * FROM $T_orders WHERE id <@ ''(,)''') AS every,
           estimate('SELECT * FROM $T_orders WHERE id <@ ''empty''') AS none,
           estimate('SELECT * FROM $T_orders WHERE id <@ NULL::tstzrange') AS of_null,
           estimate('SELECT * FROM $T_orders WHERE id <@ ''(,2026-01-01 00:10)''') BETWEEN 1800 AND 7200 AS until,
           estimate('SELECT * FROM $T_orders WHERE id <@ ''[2026-01-01 09:05,)''') BETWEEN 1900 AND 7600 AS since,
           estimate('SELECT * FROM $T_orders WHERE $T_larger(id, id) <@ ''[2026-01-01 09:10,)''') AS unknown
$$);
-- Two half-open ranges are estimated as one span, also as a function and beside other predicates. If they have no ID in common, the
-- estimate is one row.
SELECT * FROM each_type($$
    SELECT estimate('SELECT * FROM $T_orders WHERE id >= timestamptz ''2026-01-01 04:00'' AND $T_contained_by_range(id, ''(,2026-01-01 04:02:46)'') AND created IS NOT NULL') BETWEEN 500 AND 2000 AS span,
           estimate('SELECT * FROM $T_orders WHERE id <@ ''[2026-01-01 04:00,)'' AND id <@ ''(,2026-01-01 03:00)''') AS none
$$);
RESET plan_cache_mode;

-- A range with a bound in the place of another's flags is not mistaken for it.
SELECT * FROM each_type($$
    SELECT range, $T_lower('2026-01-01') <@ range AS contained, range @> $T_lower('2026-01-01') AS contains,
           $T_range_upper(range) = largest('$T')::$T AS unbounded
    FROM (VALUES (tstzrange('1990-01-01', NULL, '()')),
                 (tstzrange('1990-01-01', '2000-01-01 00:00:00.000016', '()')),
                 (tstzrange('1990-01-01', NULL, '()'))) AS v (range)
$$);

-- The encoder and the decoder for pg_partman.
SELECT * FROM each_type($$
    SELECT $T_time_encoder('2026-02-01') = $T_lower(timestamptz '2026-02-01')::text AS encoded,
           $T_time_decoder($T_time_encoder('2026-02-01 00:00:00.3')) BETWEEN '2026-02-01 00:00:00.3' AND '2026-02-01 00:00:00.555' AS decoded
$$);
-- A whole second, like the bounds of partitions, is decoded exactly, whatever the length of a tick.
SELECT * FROM each_type($$
    SELECT count(*), count(*) FILTER (WHERE $T_time_decoder($T_time_encoder(second)) = second)
    FROM generate_series(timestamptz '2026-02-01', '2026-02-01 01:00', '1 s') AS second
$$);
SELECT * FROM each_type($$ SELECT $T_time_decoder('!') $$);
SELECT * FROM each_type($$ SELECT error, count(*) FROM unnest('{1969-12-31, 20000-01-01, -infinity, infinity}'::text[]) AS t, error_of(format('SELECT $T_time_encoder(%L)', t)) AS error GROUP BY 1 $$);

-- A range with the bounds of the one before, of which it excludes the first.
SELECT * FROM each_type($$
    SELECT string_agg(($T_lower('2026-01-01') <@ range)::text, ' ')
    FROM unnest('{"[2026-01-01,2026-01-02)","(2026-01-01,2026-01-02)"}'::tstzrange[]) AS range
$$);
