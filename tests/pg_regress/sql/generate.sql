-- The generators.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- Every ID is greater than the one before, within a statement and between statements.
CALL for_each_type('CREATE TABLE $T_made (n integer GENERATED ALWAYS AS IDENTITY, id $T DEFAULT gen_$T(), note text)');
CALL for_each_type('INSERT INTO $T_made (note) SELECT ''many'' FROM generate_series(1, 50000)');
CALL for_each_type('INSERT INTO $T_made (note) VALUES (''one'')');
CALL for_each_type('INSERT INTO $T_made (note) SELECT ''many'' FROM generate_series(1, 50000)');
SELECT * FROM each_type($$
    SELECT count(*), count(previous), bool_and(id > previous) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM $T_made) AS q
$$);

-- The time of an ID is the time of its generation, not that of its transaction. If the generator is ahead of the clock after many
-- IDs, the clock catches up within a second. A tick lasts up to 256 ms.
BEGIN;
SELECT FROM pg_sleep(1.5);
SELECT * FROM each_type($$
    SELECT $T_timestamp(gen_$T()) BETWEEN statement_timestamp() - interval '256 ms' AND clock_timestamp()
$$);
COMMIT;

-- A query that calls the generator once generates an ID for each row.
SELECT * FROM each_type('SELECT count(DISTINCT id) FROM (SELECT gen_$T() AS id FROM generate_series(1, 1000)) AS q');
SELECT * FROM each_type('SELECT count(*) FROM $T_made WHERE id = gen_$T()');

-- The IDs of parallel workers are distinct.
CALL for_each_type('ANALYZE $T_made');
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL for_each_type('CREATE VIEW $T_parallel AS SELECT gen_$T() AS id FROM $T_made WHERE n > 0 OFFSET 0');
SELECT * FROM each_type('SELECT plan_of(''SELECT id FROM $T_parallel'')');
SELECT * FROM each_type('SELECT count(id), count(DISTINCT id) FROM $T_parallel');

-- Workers compute partial min and max, and the leader combines them.
SELECT * FROM each_type('SELECT plan_of(''SELECT min(id), max(id), count(*) FROM $T_made'')');
SELECT * FROM each_type($$
    SELECT min(id) = (SELECT id FROM $T_made WHERE n = 1), max(id) = (SELECT id FROM $T_made WHERE n = 100001), count(*) FROM $T_made
$$);
RESET max_parallel_workers_per_gather;

-- For types with enough random bits, IDs of a given time have exactly that time and are distinct.
SELECT name FROM types WHERE to_regprocedure(format('gen_%s(timestamptz)', name)) IS NOT NULL ORDER BY name;
CREATE FUNCTION back_filled(query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT lines_of(query) WHERE to_regprocedure((regexp_match(query, 'gen_\w+'))[1] || '(timestamptz)') IS NOT NULL
$$;
SELECT * FROM each_type($q$ SELECT * FROM back_filled($$
    SELECT count(*), count(DISTINCT id), min(id) < max(id), bool_and($T_timestamp(id) = '2024-02-29 12:34:56.789+00')
    FROM (SELECT gen_$T(moment) AS id
          FROM generate_series('2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789999', interval '1 us') AS moment) AS q
$$) $q$);
SELECT * FROM each_type($q$ SELECT * FROM back_filled('SELECT gen_$T(NULL)') $q$);

-- The first and the last tick, which are reserved, and times beyond them raise an error. Those next to them do not.
SELECT * FROM each_type($q$
    SELECT result FROM
        $T_timestamp(smallest('$T')::$T) AS first,
        $T_timestamp(largest('$T')::$T) AS last,
        unnest(ARRAY[first - interval '1 us', first, first + interval '1 ms' - interval '1 us', last, last + interval '1 ms',
                     '-infinity', 'infinity', first + interval '1 ms', last - interval '1 ms']) AS moment,
        back_filled(format('SELECT $T_timestamp(gen_$T(%1$L)) = %1$L', moment)) AS result
$q$);

-- A column with a generator is added to a table with rows, which get different IDs in their order.
CALL for_each_type('CREATE TABLE $T_old AS SELECT n FROM generate_series(1, 1000) AS n; ALTER TABLE $T_old ADD id $T DEFAULT gen_$T()');
SELECT * FROM each_type('SELECT count(DISTINCT id), array_agg(n ORDER BY id) = array_agg(n ORDER BY n) FROM $T_old');
