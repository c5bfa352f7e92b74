-- Sorting by abbreviated keys, and btree indexes.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- Random IDs, bulk-generated IDs, the vectors, duplicates, and NULLs.
CALL make_random_ids(4000);
CALL for_each_type($$
    INSERT INTO $T_ids (id) SELECT gen_$T() FROM generate_series(1, 4000);
    INSERT INTO $T_ids (id) SELECT text::$T FROM valid WHERE type = '$T';
    INSERT INTO $T_ids (id) SELECT id FROM $T_ids WHERE n IS NULL OR n % 2 = 0;
    INSERT INTO $T_ids (id) SELECT NULL FROM generate_series(1, 100);
    UPDATE $T_ids SET bytes = id::bytea;
$$);

-- The IDs in a shuffled order, the same in each run. The LIMIT prevents the planner from omitting the sort.
CALL for_each_type('CREATE VIEW $T_shuffled AS SELECT * FROM $T_ids ORDER BY md5(ctid::text) LIMIT 1000000');

-- The order of IDs is the order of their bytes: in memory, on disk, descending, with NULLs first or last, in aggregates, and with
-- too few distinct values for abbreviated keys.
CREATE FUNCTION in_order(ids text, by text) RETURNS text LANGUAGE sql AS $$
    SELECT format(
        'SELECT count(*) > 1000, bool_and(a.bytes IS NOT DISTINCT FROM b.bytes)
         FROM (SELECT bytes, row_number() OVER () FROM (SELECT bytes FROM %1$s ORDER BY %2$s) AS q) AS a
         JOIN (SELECT bytes, row_number() OVER () FROM (SELECT bytes FROM %1$s ORDER BY %3$s) AS q) AS b USING (row_number)',
        ids, by, replace(by, 'id', 'bytes'))
$$;
SELECT * FROM each_type(in_order('$T_shuffled', 'id'));
SELECT * FROM each_type(in_order('$T_shuffled', 'id DESC'));
SELECT * FROM each_type(in_order('$T_shuffled', 'id NULLS FIRST'));
SELECT * FROM each_type(in_order('$T_shuffled', 'id USING > NULLS LAST'));
SELECT * FROM each_type(in_order('(SELECT id, bytes FROM $T_shuffled, generate_series(1, 100) LIMIT 20000) AS few', 'id'));
SET work_mem = '64kB';
SELECT * FROM each_type(in_order('$T_shuffled', 'id'));
SELECT * FROM each_type(in_order('$T_shuffled', 'id DESC'));
RESET work_mem;
SELECT * FROM each_type('SELECT array_agg(id::bytea ORDER BY id) = array_agg(bytes ORDER BY bytes) FROM $T_shuffled');
SELECT * FROM each_type('SELECT count(DISTINCT id) = count(DISTINCT bytes) FROM $T_shuffled');

-- An index built from unordered rows returns the same order, in forward and backward scans.
CALL for_each_type($$
    CREATE TABLE $T_indexed AS SELECT id, bytes FROM $T_shuffled;
    CREATE INDEX ON $T_indexed (id);
    ANALYZE $T_indexed;
$$);
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
SELECT * FROM each_type('SELECT plan_of(''SELECT bytes FROM $T_indexed ORDER BY id DESC'')');
SELECT * FROM each_type(in_order('$T_indexed', 'id'));
SELECT * FROM each_type(in_order('$T_indexed', 'id DESC'));
SELECT * FROM each_type($$
    SELECT source, text FROM valid
    WHERE type = '$T' AND ((SELECT count(*) FROM $T_indexed WHERE id = text::$T)
                        <> (SELECT count(*) FROM $T_indexed WHERE bytes = valid.bytes)
                        OR (SELECT count(*) FROM $T_indexed WHERE id > text::$T)
                        <> (SELECT count(*) FROM $T_indexed WHERE bytes > valid.bytes))
$$);
RESET enable_seqscan;
RESET enable_sort;
RESET enable_bitmapscan;

-- Heap and index are as large as those of the peer, also with deduplication.
CALL for_each_type($$
    CREATE TABLE $T_own AS SELECT id FROM $T_ids, generate_series(1, 10) WHERE n IS NOT NULL;
    CREATE INDEX $T_own_index ON $T_own (id);
    CREATE INDEX $T_own_large ON $T_own (id) WITH (deduplicate_items = off);
    CREATE TABLE $T_peer AS SELECT id::$P FROM $T_own;
    CREATE INDEX $T_peer_index ON $T_peer (id);
$$);
SELECT * FROM each_type($$
    SELECT pg_relation_size('$T_own') = pg_relation_size('$T_peer') AS heap,
           pg_relation_size('$T_own_index') = pg_relation_size('$T_peer_index') AS index,
           pg_relation_size('$T_own_index') < pg_relation_size('$T_own_large') / 2 AS deduplicated
$$);

-- A primary key rejects duplicates and NULL.
CALL for_each_type('CREATE TABLE $T_orders (id $T PRIMARY KEY)');
SELECT * FROM each_type($$
    SELECT error_of(format('INSERT INTO $T_orders VALUES (%1$L), (%2$L), (%1$L)', largest('$T'), smallest('$T')))
         = format('23505 duplicate key value violates unique constraint "$T_orders_pkey" / DETAIL Key (id)=(%s) already exists.',
                  largest('$T'))
$$);
SELECT * FROM each_type($$ SELECT error_of('INSERT INTO $T_orders VALUES (NULL)') $$);
