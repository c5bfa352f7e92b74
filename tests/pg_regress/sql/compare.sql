-- Comparison operators, min and max: results, properties, plans and estimates.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- For all pairs of vectors and a hundred random IDs, the order of IDs is the order of their bytes.
CALL make_random_ids(100);
CALL for_each_type('INSERT INTO $T_ids SELECT NULL, bytes, text::$T FROM valid WHERE type = ''$T''');
SELECT * FROM each_type($$
    SELECT a.id, b.id FROM $T_ids AS a, $T_ids AS b
    WHERE (a.id = b.id) <> (a.bytes = b.bytes) OR (a.id <> b.id) <> (a.bytes <> b.bytes)
       OR (a.id < b.id) <> (a.bytes < b.bytes) OR (a.id <= b.id) <> (a.bytes <= b.bytes)
       OR (a.id > b.id) <> (a.bytes > b.bytes) OR (a.id >= b.id) <> (a.bytes >= b.bytes)
       OR $T_cmp(a.id, b.id) <> sign(byteacmp(a.bytes, b.bytes))
       OR $T_smaller(a.id, b.id)::bytea <> least(a.bytes, b.bytes)
       OR $T_larger(a.id, b.id)::bytea <> greatest(a.bytes, b.bytes)
$$);

-- The order of IDs is the order of their text in collation C.
SELECT * FROM each_type($$
    SELECT a.id, b.id FROM $T_ids AS a, $T_ids AS b WHERE (a.id < b.id) <> (a.id::text < b.id::text COLLATE "C")
$$);

-- A comparison with NULL returns NULL. min and max ignore NULL.
SELECT * FROM each_type($$
    SELECT id = NULL, id <> NULL, id < NULL, id >= NULL, $T_cmp(id, NULL), $T_smaller(NULL, id) FROM $T_ids LIMIT 1
$$);
SELECT * FROM each_type($$
    SELECT min(id) = smallest('$T')::$T, max(id) = largest('$T')::$T FROM (SELECT id FROM $T_ids UNION ALL SELECT NULL) AS ids
$$);
SELECT * FROM each_type('SELECT min(id), max(id) FROM $T_ids WHERE false');

-- The properties of the operators and the aggregates.
SELECT * FROM each_type($$
    SELECT o.oid::regoperator, oprcode, 'commutator ' || oprcom::regoperator, 'negator ' || oprnegate::regoperator, oprrest, oprjoin,
           CASE WHEN oprcanhash THEN 'HASHES' END, CASE WHEN oprcanmerge THEN 'MERGES' END
    FROM pg_operator AS o WHERE oprleft = '$T'::regtype AND oprright = '$T'::regtype ORDER BY oprname COLLATE "C"
$$);
SELECT * FROM each_type($$
    SELECT a.aggfnoid::regprocedure, aggtransfn, aggcombinefn, aggsortop::regoperator, aggtranstype::regtype
    FROM pg_aggregate AS a WHERE aggtranstype = '$T'::regtype ORDER BY aggfnoid::text COLLATE "C"
$$);

-- The planner commutes and negates conditions to use an index, plans merge joins, reads one index tuple for min and max, and uses
-- an index under a security barrier, because the operators are leakproof.
CALL for_each_type('CREATE INDEX ON $T_ids (id); ANALYZE $T_ids');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM each_type($$
    SELECT replace(plan_of(format('SELECT id FROM $T_ids WHERE %L::$T > id', id)), id::text, 'ID'),
           replace(plan_of(format('SELECT id FROM $T_ids WHERE NOT id < %L', id)), id::text, 'ID')
    FROM $T_ids LIMIT 1
$$);
SELECT * FROM each_type('SELECT plan_of(''SELECT min(id), max(id) FROM $T_ids'')');
SELECT * FROM each_type('SELECT min(id) = smallest(''$T'')::$T, max(id) = largest(''$T'')::$T FROM $T_ids');
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT * FROM each_type('SELECT plan_of(''SELECT FROM $T_ids AS a JOIN $T_ids AS b USING (id)'')');
SELECT * FROM each_type('SELECT count(*) = (SELECT count(*) FROM $T_ids) FROM $T_ids AS a JOIN $T_ids AS b USING (id)');
CALL for_each_type('CREATE VIEW $T_secured WITH (security_barrier) AS SELECT * FROM $T_ids WHERE n > 10');
SELECT * FROM each_type($$
    SELECT replace(plan_of(format('SELECT FROM $T_secured WHERE id = %L', id)), id::text, 'ID') FROM $T_ids LIMIT 1
$$);

-- Estimates use the histogram: a tenth of the IDs is below the first decile.
CALL for_each_type('DROP TABLE $T_ids CASCADE');
CALL make_random_ids(10000);
CALL for_each_type('ANALYZE $T_ids');
SELECT * FROM each_type($$
    SELECT round(estimate(format('SELECT FROM $T_ids WHERE id < %L', id))::numeric, -3),
           round(estimate(format('SELECT FROM $T_ids WHERE id >= %L', id))::numeric, -3),
           estimate(format('SELECT FROM $T_ids WHERE id = %L', id)),
           estimate('SELECT FROM $T_ids AS a JOIN $T_ids AS b USING (id)')
    FROM $T_ids ORDER BY bytes OFFSET 999 LIMIT 1
$$);
