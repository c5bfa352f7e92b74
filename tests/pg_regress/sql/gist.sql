-- GiST: for every kind of build, every operator finds the same rows as a sequential scan; exclusion constraints.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
CALL make_random_ids(3000);

-- Random IDs, some of them twice, the IDs of one minute in the order of their times, the vectors, and NULLs.
CALL for_each_type($$
    CREATE TABLE $T_rows (id $T, n serial);
    INSERT INTO $T_rows (id)
        SELECT id FROM $T_ids
        UNION ALL SELECT id FROM $T_ids WHERE n % 7 = 0
        UNION ALL SELECT $T_lower(timestamptz '2026-11-01' + n * interval '20 ms') FROM generate_series(1, 3000) AS n
        UNION ALL SELECT text::$T FROM valid WHERE type = '$T'
        UNION ALL SELECT NULL FROM generate_series(1, 50);
    CREATE TABLE $T_bounds AS
        SELECT id FROM $T_ids WHERE n % 750 = 1
        UNION SELECT $T_lower(timestamptz '2026-11-01' + n * interval '16 seconds') FROM generate_series(-1, 4) AS n
        UNION SELECT text::$T FROM valid WHERE type = '$T' AND text IN (smallest('$T'), largest('$T'))
$$);
CREATE TABLE ranges AS SELECT unnest(ARRAY[
    '[2026-11-01 00:00:10,2026-11-01 00:00:20)', '(2026-11-01 00:00:10,2026-11-01 00:00:20]', '[2026-11-01 00:00:10,2026-11-01 00:00:10]',
    '(2026-11-01 00:00:10,2026-11-01 00:00:10.0001)', '(,2026-11-01 00:00:20)', '[2026-11-01 00:00:20,)', '(,)', 'empty',
    '(-infinity,infinity)', '[infinity,infinity]', '[1900-01-01,1970-01-01 00:00:00]', '[100000-01-01,)',
    '[2100-01-01,2500-01-01)']::tstzrange[]) AS range;

-- The conditions.
CREATE FUNCTION conditions(name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        $query$
            SELECT format('id %%s %%L', operator, id) FROM %1$s_bounds, unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) AS operator
            UNION ALL SELECT format('id >= %%L AND id < %%L', a.id, b.id) FROM %1$s_bounds AS a, %1$s_bounds AS b WHERE a.id < b.id
            UNION ALL SELECT format('id <@ %%L::tstzrange', range) FROM ranges
            UNION ALL SELECT format('%%L::tstzrange @> id', range) FROM ranges
            UNION ALL SELECT 'id IS NULL' UNION ALL SELECT 'id IS NOT NULL'
        $query$, name);
END $$;

-- Sorted builds, buffering builds, and builds with a low fillfactor, for a deep tree.
CALL for_each_type('CREATE INDEX $T_gist ON $T_rows USING gist (id)');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Bitmap Heap') $$);
CALL for_each_type('DROP INDEX $T_gist; CREATE INDEX $T_gist ON $T_rows USING gist (id) WITH (buffering = on)');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);
CALL for_each_type('DROP INDEX $T_gist; CREATE INDEX $T_gist ON $T_rows USING gist (id) WITH (fillfactor = 10)');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);

-- Rows inserted after the build, in ascending, descending and random order; then deletes, updates and inserts.
CALL for_each_type($$
    CREATE TABLE $T_copy AS TABLE $T_rows;
    TRUNCATE $T_rows;
    INSERT INTO $T_rows SELECT * FROM $T_copy WHERE n % 3 = 0 ORDER BY id;
    INSERT INTO $T_rows SELECT * FROM $T_copy WHERE n % 3 = 1 ORDER BY id DESC;
    INSERT INTO $T_rows SELECT * FROM $T_copy WHERE n % 3 = 2 ORDER BY md5(id::text)
$$);
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);
CALL for_each_type($$
    DELETE FROM $T_rows WHERE n % 5 < 2 OR id <@ tstzrange('2026-11-01 00:00:15', '2026-11-01 00:00:30');
    UPDATE $T_rows SET id = (SELECT max(id) FROM $T_ids) WHERE n % 50 = 2
$$);
SELECT format('VACUUM %s_rows', name) FROM types \gexec
CALL for_each_type('INSERT INTO $T_rows SELECT * FROM $T_copy WHERE n % 5 = 0');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);
CALL for_each_type('REINDEX INDEX $T_gist');
SELECT * FROM each_type($$ SELECT * FROM differences('$T', 'Index') $$);

-- An index-only scan returns the IDs.
SELECT format('VACUUM ANALYZE %s_rows', name) FROM types \gexec
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT * FROM each_type($$
    SELECT plan_of('SELECT id FROM $T_rows WHERE id >= smallest(''$T'')::$T'),
           (SELECT string_agg(id::text, ' ' ORDER BY id::text) FROM $T_rows WHERE id >= smallest('$T')::$T)
         = (SELECT string_agg(id::text, ' ' ORDER BY id::text) FROM (SELECT id FROM $T_rows WHERE n > 0 AND id IS NOT NULL OFFSET 0) AS q)
$$);
SELECT * FROM each_type($$
    SELECT plan_of('SELECT id FROM $T_rows WHERE id <@ tstzrange(now(), NULL)'),
           plan_of('SELECT id FROM $T_rows WHERE tstzrange(now(), NULL) @> id')
$$);
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_sort;

-- The range is a column of another table.
SET enable_seqscan = off;
SELECT * FROM each_type($$
    SELECT plan_of('SELECT count(*) FROM ranges, $T_rows WHERE id <@ range') ~ 'Nested Loop > Seq Scan > (Index Only Scan|Bitmap Heap Scan)',
           (SELECT count(*) FROM ranges, $T_rows WHERE id <@ range) = (SELECT count(*) FROM (SELECT truncated('$T', range) AS range FROM ranges OFFSET 0) AS ranges, $T_rows WHERE $T_timestamp(id) <@ range)
$$);
RESET enable_seqscan;

-- Exclusion constraints without btree_gist: the ranges of an ID do not overlap, and rows with the same range have the same ID.
CALL for_each_type($$
    CREATE TABLE $T_stays (
        id $T, during tstzrange, name text,
        CONSTRAINT $T_overlap EXCLUDE USING gist (id WITH =, during WITH &&),
        CONSTRAINT $T_other EXCLUDE USING gist (id WITH <>, during WITH =) WHERE (name = 'one')
    );
    INSERT INTO $T_stays SELECT id, tstzrange('2026-01-01', '2026-02-01') FROM $T_ids
$$);
SELECT * FROM each_type($$
    SELECT error_of('INSERT INTO $T_stays SELECT id, tstzrange(''2026-02-01'', ''2026-03-01'') FROM $T_ids'),
           regexp_replace(error_of('INSERT INTO $T_stays SELECT id, tstzrange(''2026-02-28'', ''2026-03-05'') FROM $T_ids WHERE n = 77'),
                          '\((\w{12,32}), ', '(ID, ', 'g'),
           (SELECT sqlstate FROM split_part(error_of(
                'INSERT INTO $T_stays SELECT id, ''[2030-01-01,2030-01-02)'', ''one'' FROM $T_ids WHERE n < 3'), ' ', 1) AS sqlstate),
           error_of('INSERT INTO $T_stays SELECT id, ''[2030-01-01,2030-01-02)'', ''one'' FROM $T_ids WHERE n = 1'),
           (SELECT count(*) FROM $T_stays)
$$);

-- Indexes with a column before or after the ID.
CALL for_each_type($$
    CREATE TABLE $T_several AS SELECT id, point(n % 10, n / 10) AS place, n FROM $T_ids;
    INSERT INTO $T_several SELECT (SELECT id FROM $T_ids WHERE n = 1), point(n % 10, n / 10), n FROM $T_ids;
    CREATE INDEX $T_first ON $T_several USING gist (id, place) INCLUDE (n);
    CREATE INDEX $T_second ON $T_several USING gist (place, id) WITH (buffering = on);
    CREATE TABLE $T_slowly (LIKE $T_several INCLUDING INDEXES);
    INSERT INTO $T_slowly TABLE $T_several
$$);
CREATE FUNCTION sums(name text, by_index boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true),
            set_config('enable_bitmapscan', by_index::text, true);
    EXECUTE format(
        'SELECT string_agg(sum::text, '' '' ORDER BY b.n) FROM %1$s_ids AS b,
             LATERAL (SELECT sum(n) FROM %2$s AS a WHERE a.id <= b.id AND a.place <@ box(''1,10'', ''5,200'')) AS q
         WHERE b.n %% 100 = 1', split_part(name, '_', 1), name) INTO result;
    RETURN result;
END $$;
SELECT * FROM each_type($$ SELECT sums('$T_several', true) = sums('$T_several', false), sums('$T_slowly', true) = sums('$T_several', false) $$);
