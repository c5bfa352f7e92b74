-- GIN: for every kind of build, every operator finds the same rows as a sequential scan; indexes with columns of other types.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
CALL make_random_ids(3000);

-- Random IDs, some of them twice, one of them often enough for a posting tree, the vectors, and NULLs.
CALL for_each_type($$
    CREATE TABLE $T_rows (id $T, n serial, doc jsonb);
    INSERT INTO $T_rows (id)
        SELECT id FROM $T_ids
        UNION ALL SELECT id FROM $T_ids WHERE n % 7 = 0
        UNION ALL SELECT id FROM $T_ids, generate_series(1, 3000) WHERE n = 42
        UNION ALL SELECT text::$T FROM valid WHERE type = '$T'
        UNION ALL SELECT NULL FROM generate_series(1, 50);
    UPDATE $T_rows SET doc = jsonb_build_object('status', n % 5, 'tags', ARRAY[n % 3, n % 7]);
    CREATE TABLE $T_bounds AS
        SELECT id FROM $T_ids WHERE n IN (1, 42, 1500, 2999)
        UNION SELECT text::$T FROM valid WHERE type = '$T' AND text IN (smallest('$T'), largest('$T'))
$$);

-- The conditions.
CREATE FUNCTION conditions(name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        $query$
            SELECT format('id %%s %%L', operator, id) FROM %1$s_bounds, unnest(ARRAY['=', '<', '<=', '>', '>=']) AS operator
            UNION ALL SELECT format('id >= %%L AND id < %%L', a.id, b.id) FROM %1$s_bounds AS a, %1$s_bounds AS b WHERE a.id < b.id
            UNION ALL SELECT format('id IN (%%L, %%L)', a.id, b.id) FROM %1$s_bounds AS a, %1$s_bounds AS b WHERE a.id < b.id
            UNION ALL SELECT 'id >= timestamptz ''2024-01-01'' AND id < timestamptz ''2030-01-01'''
            UNION ALL SELECT 'id <@ tstzrange(''2024-01-01'', ''2030-01-01'')'
        $query$, name);
END $$;

-- Built at once; inserted into the pending list, which is then merged; inserted into the tree; after deletes and updates.
CALL for_each_type('CREATE INDEX $T_gin ON $T_rows USING gin (id)');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);
CALL for_each_type($$ CREATE TABLE $T_copy AS TABLE $T_rows; TRUNCATE $T_rows; INSERT INTO $T_rows TABLE $T_copy $$);
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);
SELECT * FROM each_type($$ SELECT gin_clean_pending_list('$T_gin') > 0 $$);
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);
CALL for_each_type($$
    ALTER INDEX $T_gin SET (fastupdate = off);
    TRUNCATE $T_rows;
    INSERT INTO $T_rows SELECT * FROM $T_copy ORDER BY md5(n::text)
$$);
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);
CALL for_each_type($$
    DELETE FROM $T_rows WHERE n % 5 < 2;
    UPDATE $T_rows SET id = (SELECT max(id) FROM $T_ids) WHERE n % 50 = 2
$$);
SELECT format('VACUUM %s_rows', name) FROM types \gexec
CALL for_each_type('INSERT INTO $T_rows SELECT * FROM $T_copy WHERE n % 5 = 0');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);

-- An index with another column. Each column alone, or both, are conditions on the index.
CALL for_each_type($$
    DROP INDEX $T_gin;
    CREATE INDEX $T_gin ON $T_rows USING gin (id, doc jsonb_path_ops);
$$);
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT replace(plan_of(format('SELECT FROM $T_rows WHERE id = %L AND doc @> ''{"status": 2}''', id)), id::text, 'ID'),
           replace(plan_of(format('SELECT FROM $T_rows WHERE id > %L', id)), id::text, 'ID')
    FROM $T_ids WHERE n = 42
$$);
RESET enable_seqscan;
SELECT * FROM each_type($$
    SELECT by_index = found('$T', condition, 'Seq'), split_part(by_index, ' ', 1)::integer > 100
    FROM (SELECT id FROM $T_ids WHERE n = 42) AS q,
         unnest(ARRAY[format('id = %L AND doc @> ''{"status": 2}''', id), format('id <= %L AND doc @> ''{"tags": [1, 5]}''', id),
                      'doc @> ''{"status": 3}''']) AS condition,
         found('$T', condition, 'Bitmap Heap') AS by_index
$$);

-- A column of a domain.
CALL for_each_type($$
    CREATE DOMAIN $T_key AS $T;
    CREATE TABLE $T_keys (id $T_key, n integer);
    CREATE INDEX ON $T_keys USING gin (id);
    INSERT INTO $T_keys SELECT id, n FROM $T_rows
$$);
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT plan_of('SELECT FROM $T_keys WHERE id < ''' || smallest('$T') || '''') LIKE 'Bitmap Heap Scan > Bitmap Index Scan%',
           (SELECT count(*) FROM $T_keys WHERE id = (SELECT id FROM $T_ids WHERE n = 42)) =
           (SELECT count(*) FROM $T_rows WHERE id || '' = (SELECT id || '' FROM $T_ids WHERE n = 42))
$$);
