-- BRIN indexes: minmax, minmax-multi, bloom.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- minmax: ordered IDs. minmax-multi: ordered IDs with outliers. bloom: IDs in random order.
CALL make_random_ids(30000);
CALL for_each_type($$
    CREATE TABLE $T_minmax AS SELECT id, bytes FROM $T_ids ORDER BY bytes;
    CREATE TABLE $T_multi AS
        SELECT id, bytes FROM (SELECT *, row_number() OVER (ORDER BY bytes) FROM $T_ids) AS q
        ORDER BY CASE WHEN row_number % 1000 = 0 THEN 30000 - row_number ELSE row_number END;
    CREATE TABLE $T_bloom AS SELECT id, bytes FROM $T_ids ORDER BY n;
    CREATE INDEX $T_minmax_index ON $T_minmax USING brin (id) WITH (pages_per_range = 2);
    CREATE INDEX $T_multi_index ON $T_multi USING brin (id $T_minmax_multi_ops) WITH (pages_per_range = 2);
    CREATE INDEX $T_bloom_index ON $T_bloom USING brin (id $T_bloom_ops (n_distinct_per_range = 500)) WITH (pages_per_range = 2);
    ANALYZE $T_minmax, $T_multi, $T_bloom;
$$);

-- The planner uses the indexes.
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT source, operator, replace(plan_of(format('SELECT FROM %s WHERE id %s %L', source, operator, id)), id::text, 'ID')
    FROM unnest('{$T_minmax,$T_multi}'::text[]) AS source, unnest('{<,<=,=,>=,>}'::text[]) AS operator,
         (SELECT id FROM $T_ids LIMIT 1) AS q
    ORDER BY source, operator COLLATE "C"
$$);
SELECT * FROM each_type($$
    SELECT replace(plan_of(format('SELECT FROM $T_bloom WHERE id = %L', id)), id::text, 'ID') FROM $T_ids LIMIT 1
$$);

-- The indexes return the correct rows.
CREATE FUNCTION count_of(source text, operator text, id text, type text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE id %s %L::%s', source, operator, id, type) INTO result;
    RETURN result;
END $$;
SELECT * FROM each_type($$
    SELECT source, operator, id
    FROM unnest('{$T_minmax,$T_multi}'::text[]) AS source, unnest('{<,<=,=,>=,>}'::text[]) AS operator,
         (SELECT id::text, bytes::text FROM $T_ids WHERE n % 3000 = 0) AS q
    WHERE count_of(source, operator, id, '$T') <> count_of('(SELECT bytes AS id FROM $T_ids) AS q', operator, bytes, 'bytea')
$$);
SELECT * FROM each_type($$
    SELECT id FROM $T_ids WHERE n % 1000 = 0 AND count_of('$T_bloom', '=', id::text, '$T') <> 1
$$);

-- A search for one ID reads, on average, less than a tenth of the table.
CREATE FUNCTION share_read(source text, id text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM %s WHERE id = %L', source, id) INTO plan;
    RETURN (jsonb_path_query_first(plan, 'strict $.**."Lossy Heap Blocks"') #>> '{}')::numeric
         * current_setting('block_size')::numeric / pg_relation_size(source::regclass);
END $$;
SELECT * FROM each_type($$
    SELECT source, avg(share_read(source, id::text)) < 0.1
    FROM unnest('{$T_minmax,$T_multi,$T_bloom}'::text[]) AS source, (SELECT id FROM $T_ids WHERE n % 3000 = 0) AS q
    GROUP BY source ORDER BY source
$$);
