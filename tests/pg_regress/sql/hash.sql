-- Hash functions, and hash joins, aggregates, indexes and partitions.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- An ID and its peer of the same bytes have the same hash. hash_array uses the hash function of the type's operator class.
CALL make_random_ids(5000);
CALL for_each_type('INSERT INTO $T_ids SELECT NULL, bytes, text::$T FROM valid WHERE type = ''$T''');
SELECT * FROM each_type($$
    SELECT id FROM $T_ids, unnest(ARRAY[0, 1, -1, 8816678312871386365]) AS seed
    WHERE hash_array(ARRAY[id]) <> hash_array(ARRAY[id::$P])
       OR hash_array_extended(ARRAY[id], seed) <> hash_array_extended(ARRAY[id::$P], seed)
$$);

-- With seed 0, the lower half of the extended hash is the plain hash, as the server requires. Equal IDs have equal hashes.
SELECT * FROM each_type($$
    SELECT id FROM $T_ids WHERE $T_hash(id) <> ($T_hash_extended(id, 0) & 4294967295)::bit(32)::integer
$$);
SELECT * FROM each_type($$
    SELECT text, other FROM valid, unnest(also_read) AS other WHERE type = '$T' AND $T_hash(text::$T) <> $T_hash(other::$T)
$$);
SELECT * FROM each_type('SELECT count(DISTINCT $T_hash(id)) > 4990, count(DISTINCT $T_hash_extended(id, 1)) > 4990 FROM $T_ids');

-- Joins.
CALL for_each_type('ANALYZE $T_ids');
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT * FROM each_type('SELECT plan_of(''SELECT FROM $T_ids AS a JOIN $T_ids AS b USING (id)'')');
SELECT * FROM each_type('SELECT count(*) = (SELECT count(*) FROM $T_ids) FROM $T_ids AS a JOIN $T_ids AS b USING (id)');
RESET enable_mergejoin;
RESET enable_nestloop;

-- Aggregates.
SET enable_sort = off;
SELECT * FROM each_type('SELECT plan_of(''SELECT id, count(*) FROM $T_ids GROUP BY id'')');
SELECT * FROM each_type($$
    SELECT count(*) = (SELECT count(*) FROM $T_ids), bool_and(count = 3)
    FROM (SELECT id, count(*) FROM $T_ids, generate_series(1, 3) GROUP BY id) AS q
$$);
RESET enable_sort;

-- Indexes.
CALL for_each_type('CREATE INDEX ON $T_ids USING hash (id)');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM each_type($$
    SELECT replace(plan_of(format('SELECT FROM $T_ids WHERE id = %L', id)), id::text, 'ID') FROM $T_ids LIMIT 1
$$);
SELECT * FROM each_type($$
    SELECT source, text FROM valid WHERE type = '$T' AND (SELECT count(*) FROM $T_ids WHERE id = text::$T) <> 1
$$);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Partitions have about the same number of IDs. Each ID is in its partition, and a search for it scans one partition only.
CALL for_each_type($$
    CREATE TABLE $T_parted (id $T PRIMARY KEY) PARTITION BY HASH (id);
    CREATE TABLE $T_part_0 PARTITION OF $T_parted FOR VALUES WITH (MODULUS 4, REMAINDER 0);
    CREATE TABLE $T_part_1 PARTITION OF $T_parted FOR VALUES WITH (MODULUS 4, REMAINDER 1);
    CREATE TABLE $T_part_2 PARTITION OF $T_parted FOR VALUES WITH (MODULUS 4, REMAINDER 2);
    CREATE TABLE $T_part_3 PARTITION OF $T_parted FOR VALUES WITH (MODULUS 4, REMAINDER 3);
    INSERT INTO $T_parted SELECT id FROM $T_ids;
    ANALYZE $T_parted;
$$);
SELECT * FROM each_type($$
    SELECT tableoid::regclass, count(*) BETWEEN 1100 AND 1400 FROM $T_parted GROUP BY tableoid ORDER BY 1
$$);
SELECT * FROM each_type($$
    SELECT tableoid::regclass, id FROM $T_parted
    WHERE NOT satisfies_hash_partition('$T_parted'::regclass, 4, right(tableoid::regclass::text, 1)::integer, id)
$$);
SELECT * FROM each_type($$
    SELECT source, text FROM valid WHERE type = '$T' AND (SELECT count(*) FROM $T_parted WHERE id = text::$T) <> 1
$$);
SELECT * FROM each_type($$
    SELECT count(*), bool_and(plan_of(format('SELECT FROM $T_parted WHERE id = %L', id)) NOT LIKE '%Append%')
    FROM (SELECT id FROM $T_parted LIMIT 10) AS ids
$$);
