-- Comparison with a time: exact for every ID and every time, and answered by indexes.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- For each type a table for each kind of index, with the same IDs: the ends of the type, the ends of its first and its last tick,
-- NULL, and in between the first and the last of some ticks. The time of each is kept beside it.
CALL for_each_type($$
    CREATE TABLE $T_none (id $T, n integer, at timestamptz);
    INSERT INTO $T_none
        SELECT id, row_number() OVER (), $T_timestamp(id)
        FROM (SELECT unnest(ARRAY[smallest('$T')::$T, $T_upper($T_timestamp(smallest('$T')::$T)), largest('$T')::$T,
                                  $T_lower($T_timestamp(largest('$T')::$T)), NULL])
              UNION ALL
              SELECT unnest(ARRAY[$T_lower(moment), $T_upper(moment)])
              FROM generate_series(timestamptz '2026-01-01', '2026-01-01 00:00:10', '0.5 s') AS moment) AS ids (id);
    CREATE TABLE $T_btree AS TABLE $T_none;
    CREATE INDEX ON $T_btree (id);
    CREATE TABLE $T_brin AS TABLE $T_none;
    CREATE INDEX ON $T_brin USING brin (id) WITH (pages_per_range = 1);
    CREATE TABLE $T_gist AS TABLE $T_none;
    CREATE INDEX ON $T_gist USING gist (id);
    CREATE TABLE $T_partitions (LIKE $T_none) PARTITION BY RANGE (id);
    CREATE TABLE $T_early PARTITION OF $T_partitions FOR VALUES FROM (MINVALUE) TO ($T_lower('2026-01-01 00:00:02'));
    CREATE TABLE $T_middle PARTITION OF $T_partitions
        FOR VALUES FROM ($T_lower('2026-01-01 00:00:02')) TO ($T_lower('2026-01-01 00:00:08'));
    CREATE TABLE $T_late PARTITION OF $T_partitions FOR VALUES FROM ($T_lower('2026-01-01 00:00:08')) TO (MAXVALUE);
    CREATE TABLE $T_default PARTITION OF $T_partitions DEFAULT;
    INSERT INTO $T_partitions TABLE $T_none;
    CREATE INDEX ON $T_partitions (id);
    ANALYZE $T_none, $T_btree, $T_brin, $T_gist, $T_partitions
$$);

-- Times around the ends of the type and around a tick, and those that are none.
CREATE TABLE times (type text, time timestamptz);
CALL for_each_type($$
    INSERT INTO times
        SELECT '$T', unnest(ARRAY['-infinity', '4000-01-01 BC', '200000-01-01', 'infinity', NULL]::timestamptz[])
        UNION ALL
        SELECT '$T', moment + us * interval '1 us'
        FROM unnest(ARRAY[-1, 0, 1]) AS us,
             unnest(ARRAY[$T_timestamp(smallest('$T')::$T), $T_timestamp(largest('$T')::$T),
                          $T_timestamp($T_lower('2026-01-01 00:00:05'))]) AS moment
$$);
ANALYZE times;

-- How many comparisons there were, and those that found other rows than a look at the time of every ID: with each operator, from
-- either side and under NOT; with a constant, an expression whose value is known as the query starts, a parameter, and a column
-- of another table.
CREATE FUNCTION comparisons(type text, kind text, OUT count bigint, OUT deviating text) LANGUAGE plpgsql AS $$
DECLARE
    ids CONSTANT text := format('%I AS ids', type || '_' || kind);
    compared text;
    moment timestamptz;
    query text;
    found integer[];
    expected integer[];
BEGIN
    count := 0;
    SET LOCAL plan_cache_mode = force_generic_plan;
    FOR compared IN
        SELECT replace(form, 'OP', op)
        FROM unnest(ARRAY['<', '<=', '>=', '>']) AS op,
             unnest(ARRAY['ID OP TIME', 'TIME OP ID', 'NOT ID OP TIME', 'NOT TIME OP ID', '(ID OP TIME) IS NULL',
                          '(TIME OP ID) IS NOT FALSE']) AS form
    LOOP
        EXECUTE format('PREPARE by_parameter (timestamptz) AS SELECT array_agg(n ORDER BY n) FROM %s WHERE %s',
                       ids, replace(replace(compared, 'ID', 'id'), 'TIME', '$1'));
        FOR moment IN SELECT time FROM times WHERE times.type = comparisons.type LOOP
            EXECUTE format('SELECT array_agg(n ORDER BY n) FROM %s WHERE %s',
                           ids, replace(replace(compared, 'ID', 'at'), 'TIME', format('%L::timestamptz', moment))) INTO expected;
            PERFORM set_config('test.time', coalesce(moment::text, ''), true);
            FOREACH query IN ARRAY ARRAY[
                replace('SELECT array_agg(n ORDER BY n) FROM IDS WHERE WHAT', 'TIME', format('%L::timestamptz', moment)),
                'SELECT array_agg(n ORDER BY n) FROM IDS WHERE ' ||
                    replace(compared, 'TIME', $time$ nullif(current_setting('test.time'), '')::timestamptz $time$),
                format('EXECUTE by_parameter (%L)', moment)]
            LOOP
                query := replace(query, 'WHAT', replace(compared, 'TIME', format('%L::timestamptz', moment)));
                query := replace(replace(query, 'IDS', ids), 'ID', 'id');
                EXECUTE query INTO found;
                count := count + 1;
                IF found IS DISTINCT FROM expected THEN
                    deviating := concat_ws('; ', deviating, query);
                END IF;
            END LOOP;
        END LOOP;
        DEALLOCATE by_parameter;
        query := format('SELECT array_agg(n ORDER BY n, time) FROM times JOIN %s ON WHAT WHERE times.type = %L', ids, type);
        EXECUTE replace(query, 'WHAT', replace(replace(compared, 'ID', 'id'), 'TIME', 'time')) INTO found;
        EXECUTE replace(query, 'WHAT', replace(replace(compared, 'ID', 'at'), 'TIME', 'time')) INTO expected;
        count := count + 1;
        IF found IS DISTINCT FROM expected THEN
            deviating := concat_ws('; ', deviating, 'with a column ' || compared);
        END IF;
    END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT * FROM each_type($$ SELECT kind, q.* FROM unnest(ARRAY['none', 'btree', 'brin', 'gist', 'partitions']) AS kind, comparisons('$T', kind) AS q $$);

-- Plans. IDs are each type's own, and left out.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        -- From 18 and 19 on there are lines about the plan that it is not.
        CONTINUE WHEN line ~ '^ *(Disabled|Replaces):';
        line := regexp_replace(line, '''[0-9A-Za-z]{12,32}''', '''…''', 'g');
        -- As 17 and 18 write it.
        line := replace(replace(line, ' (returns $0)', ''), '$0', '(InitPlan 1).col1');
        line := regexp_replace(line, 'InitPlan (expr|minmax)_1', 'InitPlan 1');
        RETURN NEXT trim(line);
    END LOOP;
END $$;
SET enable_bitmapscan = off;
SELECT * FROM each_type($$
    SELECT plan('SELECT n FROM $T_btree WHERE id >= timestamptz ''2026-01-01 00:00:02'' AND ''2026-01-01 00:00:05''::timestamptz > id')
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
-- A column of another table; and the next page in the order of the index.
SELECT * FROM each_type($$
    SELECT plan('SELECT * FROM times JOIN $T_btree AS ids ON ids.id >= time AND ids.id < time + interval ''1 s''')
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_btree WHERE id > now() ORDER BY id LIMIT 10') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT max(id) FROM $T_btree WHERE id < now()') $$);
RESET enable_bitmapscan;
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_brin WHERE id >= now()') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_gist WHERE id >= now() AND id < timestamptz ''2030-01-01''') $$);

-- Partitions are left out as the query is planned and as it starts; so is a table by its constraint.
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE id >= timestamptz ''2026-01-01 00:00:08''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partitions WHERE id < timestamptz ''2026-01-01 00:00:02''') $$);
SET test.time = '2026-01-01 00:00:08';
SELECT * FROM each_type($$ SELECT plan('SELECT FROM $T_partitions WHERE id >= current_setting(''test.time'')::timestamptz') $$);
CALL for_each_type($$
    CREATE TABLE $T_checked (id $T CHECK (id >= timestamptz '2026-01-01' AND id < timestamptz '2026-02-01'))
$$);
SET constraint_exclusion = on;
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_checked WHERE id < timestamptz ''2026-01-01''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_checked WHERE id >= $T_lower(''2026-02-01'')') $$);
RESET constraint_exclusion;
SELECT * FROM each_type($$ INSERT INTO $T_checked VALUES ($T_upper('2025-12-31 23:59:59.999')) $$);

-- A partial index serves where its condition follows, whether by times or by IDs.
CALL for_each_type($$
    CREATE TABLE $T_partial AS TABLE $T_none;
    CREATE INDEX $T_by_time ON $T_partial (n) WHERE id >= timestamptz '2026-01-01 00:00:05'
$$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= timestamptz ''2026-01-01 00:00:05''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= $T_lower(''2026-01-01 00:00:05'')') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id > timestamptz ''2026-01-01 00:00:06''') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id >= timestamptz ''2026-01-01 00:00:04''') $$);
CALL for_each_type($$ DROP INDEX $T_by_time; CREATE INDEX $T_by_id ON $T_partial (n) WHERE id < $T_lower('2026-01-01 00:00:05') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_partial WHERE n = 7 AND id < timestamptz ''2026-01-01 00:00:05''') $$);

-- A family in descending order, and an access method other than heap.
CALL for_each_type($$
    CREATE FUNCTION $T_reversed_cmp($T, $T) RETURNS integer LANGUAGE sql IMMUTABLE STRICT RETURN $T_cmp($2, $1);
    CREATE OPERATOR CLASS $T_reversed_ops FOR TYPE $T USING btree AS
        OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 $T_reversed_cmp($T, $T);
    DROP INDEX $T_btree_id_idx;
    CREATE INDEX ON $T_btree (id $T_reversed_ops)
$$);
SELECT * FROM each_type($$ SELECT 'reversed', q.* FROM comparisons('$T', 'btree') AS q $$);
CREATE ACCESS METHOD another TYPE TABLE HANDLER heap_tableam_handler;
CALL for_each_type($$ CREATE TABLE $T_another USING another AS TABLE $T_none $$);
SELECT * FROM each_type($$ SELECT plan('SELECT n FROM $T_another WHERE id >= now()') $$);
SELECT * FROM each_type($$ SELECT 'another', q.* FROM comparisons('$T', 'another') AS q $$);
DROP ACCESS METHOD another CASCADE;

-- Under row-level security, for a role that may not use the extension's schema: the comparison, a range, and the time that an
-- expression index is on, are looked at before the policy is.
CREATE SCHEMA hidden;
ALTER EXTENSION scru SET SCHEMA hidden;
SET search_path = test, hidden, public;
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
    GRANT SELECT ON types TO reader
$$);
SET ROLE reader;
SELECT has_schema_privilege('hidden', 'USAGE');
SET enable_bitmapscan = off;
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_recent') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_within') $$);
SELECT * FROM each_type($$ SELECT plan('SELECT * FROM $T_by_expression') $$);
SELECT * FROM each_type($$ SELECT (SELECT count(*) FROM $T_recent) AS recent, (SELECT count(*) FROM $T_within) AS within $$);
RESET ROLE;
RESET enable_bitmapscan;
ALTER EXTENSION scru SET SCHEMA public;
SET search_path = test, public;
CALL for_each_type($$ DROP TABLE $T_secured CASCADE $$);
DROP OWNED BY reader;
DROP ROLE reader;

-- What has no type beside an ID is an ID.
CALL for_each_type($$
    PREPARE $T_parameters AS
        SELECT FROM $T_none WHERE id >= $1 AND $2 < id AND id BETWEEN $3 AND $4 AND id = $5 AND id IN ($6, $7) AND id <> $8
            AND id >= $T_lower($9) AND id <@ tstzrange($10, NULL)
$$);
SELECT * FROM each_type($$ SELECT parameter_types FROM pg_prepared_statements WHERE name = '$T_parameters' $$);
SELECT * FROM each_type($$ SELECT split_part(error_of('PREPARE $T_interval AS SELECT FROM $T_none WHERE id >= $1 - interval ''1 day'''), ' / ', 1) $$);
SELECT * FROM each_type($$ SELECT count(*) FROM $T_none WHERE id >= '2026-01-01' $$);
SELECT * FROM each_type($$
    SELECT count(*) > 0 AS some FROM $T_none WHERE id BETWEEN date '2026-01-01' AND timestamp '2026-01-01 00:00:05'
$$);

-- Estimates are those of bounds that are written by hand: half of the rows between them, not a quarter.
CREATE FUNCTION estimate(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' -> 'Plan Rows';
END $$;
CALL for_each_type($$
    CREATE TABLE $T_many AS SELECT $T_lower(now() - n * interval '1 min') AS id FROM generate_series(1, 10000) AS n;
    ANALYZE $T_many
$$);
SELECT * FROM each_type($$
    SELECT constants = by_hand AS constants, variables BETWEEN 0.95 * by_hand AND 1.05 * by_hand AS variables,
           by_hand BETWEEN 4500 AND 5500 AS by_hand, generic
    FROM CAST(now() - interval '7500 min' AS timestamptz) AS "from", CAST(now() - interval '2500 min' AS timestamptz) AS "to",
         estimate(format('SELECT FROM $T_many WHERE id >= %L::timestamptz AND id < %L::timestamptz', "from", "to")) AS constants,
         estimate('SELECT FROM $T_many WHERE id >= now() - interval ''7500 min'' AND now() - interval ''2500 min'' > id') AS variables,
         estimate(format('SELECT FROM $T_many WHERE id >= $T_lower(%L) AND id < $T_lower(%L)', "from", "to")) AS by_hand,
         estimate('SELECT FROM $T_many WHERE id >= (SELECT now())') AS generic
$$);

-- The bounds that the planner uses: the ID nearest to a time for which an operator holds, and both ends.
SELECT * FROM each_type($$
    SELECT op, $T_time_bound(time, op) = CASE WHEN op IN ('>', '>=') THEN $T_time_lower(time, op) ELSE $T_time_upper(time, op) END AS nearest,
           $T_timestamp($T_time_bound(time, op)) - time AS distance,
           CASE WHEN op IN ('>', '>=') THEN $T_time_upper(time, op) = largest('$T')::$T ELSE $T_time_lower(time, op) = smallest('$T')::$T END AS open
    FROM unnest(ARRAY['<', '<=', '>=', '>']) AS op, CAST('2026-01-01 00:00:01.024' AS timestamptz) AS time
$$);
SELECT * FROM each_type($$
    SELECT op, $T_time_bound(time, op) AS nearest, $T_time_lower(time, op) = largest('$T')::$T AS lower,
           $T_time_upper(time, op) = smallest('$T')::$T AS upper
    FROM (VALUES ('<', timestamptz '-infinity'), ('<=', '1969-12-31'), ('>=', '20000-01-01'), ('>', 'infinity')) AS none (op, time)
$$);
SELECT * FROM each_type($$ SELECT $T_time_bound(now(), '=') AS bound, $T_time_lower(now(), '') AS lower, $T_time_upper(now(), '<<') AS upper $$);
