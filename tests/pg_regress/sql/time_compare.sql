-- Comparison with a time: right for every ID and every time, and answered by indexes of the ID.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- For each type, a table for each kind of index. All have the same IDs and their times: the smallest and the largest ID, the last
-- ID of the first tick, the first ID of the last tick, NULL, and the first and the last ID of many ticks, so that tables and
-- indexes have many pages.
CALL for_each_type($$
    CREATE TABLE $T_none (id $T, n integer, at timestamptz) WITH (fillfactor = 25);
    INSERT INTO $T_none
        SELECT id, row_number() OVER (), $T_timestamp(id)
        FROM (SELECT unnest(ARRAY[smallest('$T')::$T, $T_upper($T_timestamp(smallest('$T')::$T)), largest('$T')::$T,
                                  $T_lower($T_timestamp(largest('$T')::$T)), NULL])
              UNION ALL
              SELECT unnest(ARRAY[$T_lower(moment), $T_upper(moment)])
              FROM generate_series(timestamptz '2026-01-01', '2026-01-01 00:02:30', '0.3 s') AS moment) AS ids (id);
    CREATE TABLE $T_btree AS TABLE $T_none;
    CREATE INDEX ON $T_btree (id) WITH (fillfactor = 25);
    CREATE TABLE $T_brin WITH (fillfactor = 25) AS TABLE $T_none;
    CREATE INDEX ON $T_brin USING brin (id) WITH (pages_per_range = 1);
    CREATE TABLE $T_gist AS TABLE $T_none;
    CREATE INDEX ON $T_gist USING gist (id) WITH (fillfactor = 25);
    CREATE TABLE $T_partitions (LIKE $T_none) PARTITION BY RANGE (id);
    CREATE TABLE $T_early PARTITION OF $T_partitions FOR VALUES FROM (MINVALUE) TO ($T_lower('2026-01-01 00:00:30'));
    CREATE TABLE $T_middle PARTITION OF $T_partitions
        FOR VALUES FROM ($T_lower('2026-01-01 00:00:30')) TO ($T_lower('2026-01-01 00:02:00'));
    CREATE TABLE $T_late PARTITION OF $T_partitions FOR VALUES FROM ($T_lower('2026-01-01 00:02:00')) TO (MAXVALUE);
    CREATE TABLE $T_default PARTITION OF $T_partitions DEFAULT;
    INSERT INTO $T_partitions TABLE $T_none;
    CREATE INDEX ON $T_partitions (id);
    ANALYZE $T_none, $T_btree, $T_brin, $T_gist, $T_partitions
$$);

SELECT * FROM each_type($$
    SELECT count(*) BETWEEN 1000 AND 1020 AS rows, every(pg_relation_size(relation) / 8192 > 5) AS pages
    FROM $T_none, unnest(ARRAY['$T_brin', '$T_btree_id_idx', '$T_gist_id_idx']::regclass[]) AS relation GROUP BY relation
$$);

-- Times around the ends of the type and around a tick, times far beyond the type's range, infinite times, and NULL.
CREATE TABLE times (type text, time timestamptz, number serial, truncated timestamptz);
CALL for_each_type($$
    INSERT INTO times
        SELECT '$T', unnest(ARRAY['-infinity', '4000-01-01 BC', '200000-01-01', 'infinity', NULL]::timestamptz[])
        UNION ALL
        SELECT '$T', moment + us * interval '1 us'
        FROM unnest(ARRAY[-1, 0, 1]) AS us,
             unnest(ARRAY[$T_timestamp(smallest('$T')::$T), $T_timestamp(largest('$T')::$T),
                          $T_timestamp($T_lower('2026-01-01 00:01:15'))]) AS moment
$$);
UPDATE times SET truncated = truncated(type, time);
ANALYZE times;

-- Every operator, in both directions, under NOT, and in tests for NULL.
CREATE TABLE forms AS
    SELECT replace(form, 'OP', op) AS form
    FROM unnest(ARRAY['<', '<=', '>=', '>']) AS op,
         unnest(ARRAY['ID OP TIME', 'TIME OP ID', 'NOT ID OP TIME', 'NOT TIME OP ID', '(ID OP TIME) IS NULL',
                      '(TIME OP ID) IS NOT FALSE']) AS form;

-- The result of a query: the number of rows and a checksum of them.
CREATE FUNCTION found(rows text, form text, id text, "time" text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT %s %s', rows, replace(replace(form, 'ID', id), 'TIME', "time")) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION of_one_time(type text, kind text) RETURNS text LANGUAGE sql RETURN
    format('concat(count(*), '' '', sum(hashint4(n)::bigint)) FROM %I WHERE', type || '_' || kind);
CREATE FUNCTION of_joined_times(type text, kind text) RETURNS text LANGUAGE sql RETURN
    format('concat(count(*), '' '', sum(hashint8(number * 10000 + n)::bigint)) FROM times JOIN %I AS ids ON times.type = %L AND',
           type || '_' || kind, type);

-- The expected results, from the time of every ID and the time truncated to the tick.
CREATE TABLE expected AS
    SELECT type, form, time, found(of_one_time(type, 'none'), form, 'at', format('%L::timestamptz', truncated)) AS rows FROM times, forms;
CREATE TABLE expected_of_join AS
    SELECT name AS type, form, found(of_joined_times(name, 'none'), form, 'at', 'truncated') AS rows FROM types, forms;
SELECT count(*), count(DISTINCT rows) FROM expected;

-- Returns the number of comparisons, and those that found other rows. The time is a constant, a stable expression, a stable
-- expression with now(), which the planner can estimate, a parameter, or a column of another table.
CREATE FUNCTION comparisons(type text, kind text, OUT count bigint, OUT deviating text) LANGUAGE plpgsql AS $$
DECLARE
    wanted record;
    "time" text;
    result text;
BEGIN
    count := 0;
    SET LOCAL plan_cache_mode = force_generic_plan;
    FOR wanted IN SELECT * FROM expected WHERE expected.type = comparisons.type LOOP
        PERFORM set_config('test.time', coalesce(wanted.time::text, ''), true);
        EXECUTE format('PREPARE by_parameter (timestamptz) AS SELECT %s %s', of_one_time(type, kind),
                       replace(replace(wanted.form, 'ID', 'id'), 'TIME', '$1'));
        FOREACH "time" IN ARRAY ARRAY[
            format('%L::timestamptz', wanted.time),
            'nullif(current_setting(''test.time''), '''')::timestamptz',
            CASE WHEN isfinite(wanted.time) THEN format('(now() + %L::interval)', wanted.time - now()) END,
            '$1']
        LOOP
            CONTINUE WHEN "time" IS NULL;
            IF "time" = '$1' THEN
                EXECUTE format('EXECUTE by_parameter (%L)', wanted.time) INTO result;
            ELSE
                result := found(of_one_time(type, kind), wanted.form, 'id', "time");
            END IF;
            count := count + 1;
            IF result IS DISTINCT FROM wanted.rows THEN
                deviating := concat_ws('; ', deviating, replace(wanted.form, 'TIME', "time") || ' ' || wanted.time);
            END IF;
        END LOOP;
        DEALLOCATE by_parameter;
    END LOOP;
    FOR wanted IN SELECT * FROM expected_of_join WHERE expected_of_join.type = comparisons.type LOOP
        result := found(of_joined_times(type, kind), wanted.form, 'id', 'time');
        count := count + 1;
        IF result IS DISTINCT FROM wanted.rows THEN
            deviating := concat_ws('; ', deviating, 'with a column ' || wanted.form);
        END IF;
    END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT * FROM each_type($$ SELECT kind, q.* FROM unnest(ARRAY['none', 'btree', 'brin', 'gist', 'partitions']) AS kind, comparisons('$T', kind) AS q $$);

-- Plans.
SET enable_bitmapscan = off;
SELECT * FROM each_type($$
    SELECT plan('SELECT n FROM $T_btree WHERE timestamptz ''2026-01-01 00:00:30'' <= id AND ''2026-01-01 00:01:15''::timestamptz > id')
$$);
SELECT * FROM each_type($$
    SELECT plan('SELECT n FROM $T_btree WHERE timestamptz ''2026-01-01 00:00:30'' < id AND ''2026-01-01 00:01:15''::timestamptz >= id')
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id > now() - interval ''1 day'' AND id <= current_date + 1') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id BETWEEN (SELECT min(time) FROM times) AND now()') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id >= ''infinity''::timestamptz') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id < ''infinity''::timestamptz') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id >= clock_timestamp()') $$);
SET plan_cache_mode = force_generic_plan;
CALL for_each_type($$ PREPARE $T_since (timestamptz) AS SELECT n FROM $T_btree WHERE id >= $1 $$);
SELECT * FROM each_type($$ SELECT plan('EXECUTE $T_since (now())') $$);
RESET plan_cache_mode;
-- A column of another table; the first rows in the order of the index; the largest ID.
SELECT * FROM each_type($$
    SELECT plan('SELECT * FROM times JOIN $T_btree AS ids ON ids.id >= time AND ids.id < time + interval ''1 s''')
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id > now() ORDER BY id LIMIT 10') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT max(id) FROM $T_btree WHERE id < now()') $$);
RESET enable_bitmapscan;
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_brin WHERE id >= now()') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_gist WHERE id >= now() AND id < timestamptz ''2030-01-01''') $$);

SET enable_bitmapscan = off;

-- Partitions are pruned by the planner and at executor startup. A CHECK constraint excludes a table.
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE id >= timestamptz ''2026-01-01 00:02:00''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE id < timestamptz ''2026-01-01 00:00:30''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE id >= now() AND id < now() + interval ''1 h''') $$);
SET test.time = '2026-01-01 00:02:00';
SELECT * FROM each_type($$ SELECT plan('SELECT FROM $T_partitions WHERE id >= current_setting(''test.time'')::timestamptz') $$);
-- Memoize has no key in the condition by which the executor skips them.
CREATE TABLE often AS SELECT time FROM times CROSS JOIN generate_series(1, 50);
ANALYZE often;
SET enable_memoize = on;
SELECT * FROM each_type($$
    SELECT (SELECT count(*) FROM often JOIN $T_partitions ON time <= id) = (SELECT count(*) FROM often JOIN $T_none ON time <= id)
$$);
-- With a column of another table, partitions are pruned for each row of that table.
SELECT * FROM each_type($$
    SELECT plan('SELECT * FROM times JOIN $T_partitions AS ids ON ids.id >= time AND ids.id < time + interval ''1 s''')
$$);
CALL for_each_type($$
    CREATE TABLE $T_checked (id $T CHECK (id >= timestamptz '2026-01-01' AND id < timestamptz '2026-02-01'))
$$);
SET constraint_exclusion = on;
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_checked WHERE id < timestamptz ''2026-01-01''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_checked WHERE id >= $T_lower(''2026-02-01'')') $$);
RESET constraint_exclusion;
SELECT * FROM each_type($$ INSERT INTO $T_checked VALUES ($T_upper('2025-12-31 23:59:59.999')) $$);

-- A partial index is used if the query implies its predicate. Either can be written with times or with IDs.
CALL for_each_type($$
    CREATE TABLE $T_partial AS TABLE $T_none;
    CREATE INDEX $T_by_time ON $T_partial (n) WHERE id >= timestamptz '2026-01-01 00:01:15'
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= timestamptz ''2026-01-01 00:01:15''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= $T_lower(''2026-01-01 00:01:15'')') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id > timestamptz ''2026-01-01 00:01:30''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= timestamptz ''2026-01-01 00:01:00''') $$);
CALL for_each_type($$ DROP INDEX $T_by_time; CREATE INDEX $T_by_id ON $T_partial (n) WHERE id < $T_lower('2026-01-01 00:01:15') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id < timestamptz ''2026-01-01 00:01:15''') $$);

-- Constant ranges become comparisons. So a partial index is used whether its predicate is a comparison or a range.
CALL for_each_type($$ CREATE INDEX $T_by_range ON $T_partitions (n) WHERE id <@ '[2026-01-01 00:02:30,)' $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_late WHERE n = 7 AND id <@ ''[2026-01-01 00:02:30,)''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE n = 7 AND id <@ ''[2026-01-01 00:02:30,)''') $$);
CALL for_each_type($$
    DROP INDEX $T_by_range;
    CREATE INDEX $T_by_times ON $T_partitions (n) WHERE id >= timestamptz '2026-01-01 00:02:30'
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE n = 7 AND id <@ ''[2026-01-01 00:02:30,)''') $$);
CALL for_each_type($$ DROP INDEX $T_by_times $$);

-- An operator family in descending order.
CALL for_each_type($$
    CREATE FUNCTION $T_reversed_cmp($T, $T) RETURNS integer LANGUAGE sql IMMUTABLE STRICT RETURN $T_cmp($2, $1);
    CREATE OPERATOR CLASS $T_reversed_ops FOR TYPE $T USING btree AS
        OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 $T_reversed_cmp($T, $T);
    DROP INDEX $T_btree_id_idx;
    CREATE INDEX ON $T_btree (id $T_reversed_ops)
$$);
SELECT * FROM each_type($$ SELECT 'reversed', q.* FROM comparisons('$T', 'btree') AS q $$);
SELECT * FROM each_type($$ SELECT plan('SELECT FROM $T_btree WHERE id <@ ''[2026-01-01 00:01,2026-01-01 00:02)''') $$);
SELECT * FROM each_type($$ SELECT count(*) FROM $T_btree WHERE id <@ '[2026-01-01 00:01,2026-01-01 00:02)' $$);

-- Row-level security, for a role without USAGE on the extension's schemas: a comparison, a range, and the expression of an index
-- are evaluated before the policy.
REVOKE USAGE ON SCHEMA public, scru_internal FROM PUBLIC;
CREATE ROLE reader;
GRANT USAGE ON SCHEMA test TO reader;
CALL for_each_type($$
    CREATE TABLE $T_secured AS SELECT id, n, at FROM $T_none;
    CREATE INDEX ON $T_secured (id);
    CREATE INDEX ON $T_secured ($T_timestamp(id));
    ALTER TABLE $T_secured ENABLE ROW LEVEL SECURITY;
    CREATE POLICY even ON $T_secured USING (at::text <> '' AND n % 2 = 0);
    CREATE VIEW $T_recent AS SELECT n FROM $T_secured WHERE id >= nullif(current_setting('test.time'), '')::timestamptz;
    CREATE VIEW $T_within AS SELECT n FROM $T_secured WHERE id <@ tstzrange(current_setting('test.time')::timestamptz, NULL);
    CREATE VIEW $T_by_expression AS SELECT n FROM $T_secured WHERE $T_timestamp(id) = current_setting('test.time')::timestamptz;
    ALTER TABLE $T_secured OWNER TO reader;
    ALTER TABLE $T_secured FORCE ROW LEVEL SECURITY;
    ALTER VIEW $T_recent OWNER TO reader;
    ALTER VIEW $T_within OWNER TO reader;
    ALTER VIEW $T_by_expression OWNER TO reader;
    GRANT SELECT ON types, valid TO reader
$$);
SET ROLE reader;
SELECT has_schema_privilege('public', 'USAGE'), has_schema_privilege('scru_internal', 'USAGE');
SET enable_bitmapscan = off;
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_recent') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_within') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_by_expression') $$);
SELECT * FROM each_type($$
    SELECT plan(format('SELECT FROM $T_secured WHERE ' || condition, smallest('$T')))
    FROM unnest(ARRAY['id = %L', 'id > %L', 'id = ANY (''{%s}'')', 'tstzrange(now(), NULL) @> id']) AS condition
$$);
SELECT * FROM each_type($$ SELECT (SELECT count(*) FROM $T_recent) AS recent, (SELECT count(*) FROM $T_within) AS within $$);
RESET ROLE;
RESET enable_bitmapscan;
GRANT USAGE ON SCHEMA public, scru_internal TO PUBLIC;
CALL for_each_type($$ DROP TABLE $T_secured CASCADE $$);
DROP OWNED BY reader;
DROP ROLE reader;

-- An untyped literal or parameter that is compared with an ID is an ID.
CALL for_each_type($$
    PREPARE $T_parameters AS
        SELECT FROM $T_none WHERE id >= $1 AND $2 < id AND id BETWEEN $3 AND $4 AND id = $5 AND id IN ($6, $7) AND id <> $8
            AND id >= $T_lower($9) AND id <@ tstzrange($10, NULL)
$$);
SELECT * FROM each_type($$ SELECT parameter_types FROM pg_prepared_statements WHERE name = '$T_parameters' $$);
SELECT * FROM each_type($$ SELECT split_part(error_of('PREPARE $T_interval AS SELECT FROM $T_none WHERE id >= $1 - interval ''1 day'''), ' / ', 1) $$);
SELECT * FROM each_type($$ SELECT count(*) FROM $T_none WHERE id >= '2026-01-01' $$);
SELECT * FROM each_type($$
    SELECT count(*) > 0 AS some FROM $T_none WHERE id BETWEEN date '2026-01-01' AND timestamp '2026-01-01 00:01:15'
$$);

-- Estimates equal those of bounds written as IDs, and include rows inserted after ANALYZE, because the planner reads the end of the
-- index.
CALL for_each_type($$
    CREATE TABLE $T_many AS SELECT $T_lower(now() - n * interval '1 min') AS id FROM generate_series(1, 10000) AS n;
    CREATE INDEX ON $T_many (id);
    ANALYZE $T_many;
    INSERT INTO $T_many SELECT $T_lower(now() + n * interval '1 min') FROM generate_series(1, 1000) AS n
$$);
SELECT * FROM each_type($$
    SELECT clock = by_hand AS clock, by_hand > 30 AS by_hand
    FROM estimate('SELECT FROM $T_many WHERE id >= now() + interval ''10 min''') AS clock,
         estimate('SELECT FROM $T_many WHERE id >= $T_lower(now() + interval ''10 min'')') AS by_hand
$$);

-- For a parameter or a column of another table, the estimate is that of a comparison of times, also on a partitioned table.
SET plan_cache_mode = force_generic_plan;
CALL for_each_type($$
    PREPARE $T_by_id (timestamptz) AS SELECT FROM $T_partitions WHERE id >= $1;
    PREPARE $T_by_time (timestamptz) AS SELECT FROM $T_partitions WHERE at >= $1;
    PREPARE $T_by_two (timestamptz) AS SELECT FROM $T_partitions WHERE id >= $1 AND id < $1 + interval '1 s';
    PREPARE $T_by_two_times (timestamptz) AS SELECT FROM $T_partitions WHERE at >= $1 AND at < $1 + interval '1 s'
$$);
SELECT * FROM each_type($$
    SELECT one = one_time AS one, two = two_times AS two, joined = joined_times AS joined
    FROM estimate('EXECUTE $T_by_id (now())') AS one, estimate('EXECUTE $T_by_time (now())') AS one_time,
         estimate('EXECUTE $T_by_two (now())') AS two, estimate('EXECUTE $T_by_two_times (now())') AS two_times,
         estimate('SELECT FROM times JOIN $T_partitions ON id >= time AND id < time + interval ''1 s''') AS joined,
         estimate('SELECT FROM times JOIN $T_partitions ON at >= time AND at < time + interval ''1 s''') AS joined_times
$$);
RESET plan_cache_mode;

-- The bound that the planner uses: of the IDs for which an operator with a time is true, the nearest one.
SELECT * FROM each_type($$
    SELECT op, $T_timestamp($T_time_bound(time, op)) - time AS distance
    FROM unnest(ARRAY['<', '<=', '>=', '>']) AS op, CAST('2026-01-01 00:00:01.024' AS timestamptz) AS time
$$);
SELECT * FROM each_type($$
    SELECT op, $T_time_bound(time, op) AS nearest
    FROM (VALUES ('<', timestamptz '-infinity'), ('<=', '1969-12-31'), ('>=', '20000-01-01'), ('>', 'infinity'), ('=', now())) AS none (op, time)
$$);

-- An ID that is generated after a time is at or after it, although the time is within the tick of the ID.
SELECT * FROM each_type($$
    SELECT count(*), count(*) FILTER (WHERE NOT id >= since) AS by_comparison, count(*) FILTER (WHERE id < since) AS before,
           count(*) FILTER (WHERE NOT id <@ tstzrange(since, NULL)) AS by_range, count(*) FILTER (WHERE id < $T_lower(since)) AS by_bound
    FROM (SELECT clock_timestamp() AS since, gen_$T() AS id FROM generate_series(1, 10000) OFFSET 0) AS generated
$$);
-- Consecutive half-open ranges contain each ID once, wherever they meet.
SELECT * FROM each_type($$
    SELECT count(*), count(*) FILTER (WHERE (id < at)::integer + (id >= at)::integer <> 1) AS by_comparison,
           count(*) FILTER (WHERE (id <@ tstzrange(NULL, at))::integer + (id <@ tstzrange(at, NULL))::integer <> 1) AS by_range
    FROM (SELECT id FROM $T_none WHERE id IS NOT NULL ORDER BY id OFFSET 500 LIMIT 20) AS ids,
         (SELECT $T_timestamp(id) AS start FROM $T_none WHERE id IS NOT NULL ORDER BY id OFFSET 510 LIMIT 1) AS first,
         LATERAL (SELECT start + us * interval '1 us' FROM unnest(ARRAY[-1, 0, 1, 999, 1000, 255999, 256000]) AS us) AS times (at)
$$);

-- The estimator is called with arguments of all kinds. None crashes it.
SELECT * FROM each_type($$
    SELECT error_of('SELECT FROM $T_none WHERE ' || condition) AS error, count(*)
    FROM unnest(ARRAY[
        'id >= ANY (ARRAY[$T_lower(now())])', 'id < ALL (ARRAY[$T_lower(now()), NULL])', 'id > NULL::$T', 'id <@ NULL::tstzrange',
        'id >= ANY (ARRAY[now(), NULL]::timestamptz[]) AND id < now()', 'id > NULL::timestamptz AND id < now()',
        'CASE WHEN id >= now() THEN id < now() ELSE id > now() END', '(id >= now()) = (id < now())', 'id < id AND id > id',
        '$T_larger(id, id) >= now() AND $T_larger(id, id) < now()', 'id >= clock_timestamp() AND id < clock_timestamp()',
        'id >= at AND id < at', '(id, n) > ($T_lower(now()), 7) AND (id, n) < ($T_upper(now()), 9)',
        'true GROUP BY n % 3 HAVING max(id) >= now() AND max(id) < now()'
    ]) AS condition
    GROUP BY error
$$);
-- For other operators, which any user can create, it returns a default. Some have functions with the names of ours.
CREATE TABLE numbers AS SELECT n, point(n, 2) AS place FROM generate_series(1, 1000) AS n;
ANALYZE numbers;
CALL for_each_type($$
    CREATE INDEX ON $T_none (greatest(id, id));
    ANALYZE $T_none;
    CREATE SCHEMA mine;
    CREATE FUNCTION mine.$T_ge($T) RETURNS boolean STRICT RETURN true;
    CREATE FUNCTION mine.$T_ge_timestamptz(point, timestamptz) RETURNS boolean STRICT RETURN true;
    CREATE FUNCTION mine.$T_contained_by_range($T, integer) RETURNS boolean STRICT RETURN true;
    CREATE FUNCTION mine.is_like(integer, tstzrange) RETURNS boolean STRICT RETURN true;
    CREATE OPERATOR ## (RIGHTARG = $T, FUNCTION = mine.$T_ge, RESTRICT = $T_ineqsel);
    CREATE OPERATOR ## (LEFTARG = point, RIGHTARG = timestamptz, FUNCTION = mine.$T_ge_timestamptz, RESTRICT = $T_ineqsel);
    CREATE OPERATOR ## (LEFTARG = $T, RIGHTARG = integer, FUNCTION = mine.$T_contained_by_range, RESTRICT = $T_ineqsel);
    CREATE OPERATOR ## (LEFTARG = integer, RIGHTARG = tstzrange, FUNCTION = mine.is_like, RESTRICT = $T_ineqsel);
    CREATE OPERATOR ## (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4lt, RESTRICT = $T_ineqsel);
    CREATE TABLE $T_estimates AS SELECT query, estimate('SELECT FROM ' || query) FROM unnest(ARRAY[
        'numbers WHERE n ## 501', 'numbers WHERE n ## tstzrange(NULL, now())', 'numbers WHERE place ## now()',
        'numbers WHERE place ## timestamptz ''2026-01-01''', 'numbers WHERE place ## (SELECT now())', '$T_none WHERE ## id',
        '$T_none WHERE greatest(id, id) ## 5 AND greatest(id, id) <@ tstzrange(''2025-01-01'', NULL)'
    ]) AS query;
    DROP OPERATOR ## (integer, integer);
    DROP SCHEMA mine CASCADE
$$);
SELECT * FROM each_type('TABLE $T_estimates');

-- A time of the same row, an index without the operators of IDs, and a time beyond those near the clock.
SET test.time = '2026-01-01 00:02:00';
CREATE INDEX ON scru64_none USING hash (id);
SELECT count(*) FROM scru64_btree WHERE scru64_lt_timestamptz(id, at);
SELECT count(*) FROM scru64_none WHERE id >= current_setting('test.time')::timestamptz;
SELECT count(*) FROM scru64_btree WHERE id > date_larger(current_date, '9999-12-31')::timestamptz;
SELECT count(id) - (SELECT count(*) FROM scru64_btree WHERE id < date_larger(current_date, '9999-12-31')::timestamptz) AS missing FROM scru64_btree;

-- A query does not fail without the right to execute the operators of IDs, which it does not contain.
BEGIN;
CREATE ROLE reader;
GRANT USAGE ON SCHEMA test TO reader;
GRANT SELECT ON scru128_btree TO reader;
REVOKE EXECUTE ON FUNCTION scru128_lt(scru128, scru128) FROM PUBLIC;
SET ROLE reader;
SELECT count(*) FROM scru128_btree WHERE id < timestamptz '2026-01-01 00:01';
SELECT count(*) FROM scru128_btree WHERE NOT id >= timestamptz '2026-01-01 00:01';
ROLLBACK;
