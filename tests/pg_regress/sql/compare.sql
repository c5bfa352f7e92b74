-- The operators, the one order that they and the aggregates follow, and what the planner knows of them.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- All pairs of the vectors and of a hundred random IDs: the order is the order of the bytes.
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

-- So is the order of the texts, as ASCII.
SELECT * FROM each_type($$
    SELECT a.id, b.id FROM $T_ids AS a, $T_ids AS b WHERE (a.id < b.id) <> (a.id::text < b.id::text COLLATE "C")
$$);

-- NULL compares as NULL; min and max pass over it.
SELECT * FROM each_type($$
    SELECT id = NULL, id <> NULL, id < NULL, id >= NULL, $T_cmp(id, NULL), $T_smaller(NULL, id) FROM $T_ids LIMIT 1
$$);
SELECT * FROM each_type($$
    SELECT min(id) = smallest('$T')::$T, max(id) = largest('$T')::$T FROM (SELECT id FROM $T_ids UNION ALL SELECT NULL) AS ids
$$);
SELECT * FROM each_type('SELECT min(id), max(id) FROM $T_ids WHERE false');

-- What the operators say of themselves.
SELECT * FROM each_type($$
    SELECT o.oid::regoperator, oprcode, 'commutator ' || oprcom::regoperator, 'negator ' || oprnegate::regoperator, oprrest, oprjoin,
           CASE WHEN oprcanhash THEN 'HASHES' END, CASE WHEN oprcanmerge THEN 'MERGES' END
    FROM pg_operator AS o WHERE oprleft = '$T'::regtype AND oprright = '$T'::regtype ORDER BY oprname COLLATE "C"
$$);
SELECT * FROM each_type($$
    SELECT a.aggfnoid::regprocedure, aggtransfn, aggcombinefn, aggsortop::regoperator, aggtranstype::regtype
    FROM pg_aggregate AS a WHERE aggtranstype = '$T'::regtype ORDER BY aggfnoid::text COLLATE "C"
$$);

-- What the planner makes of that: conditions turned round and negated for an index, merge joins, one index tuple for min and
-- max, and an index under row-level security, because the operators leak nothing.
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

-- Estimates: a tenth of the IDs is below the tenth part, by the histogram.
CALL for_each_type('DROP TABLE $T_ids CASCADE');
CALL make_random_ids(10000);
CALL for_each_type('ANALYZE $T_ids');
CREATE FUNCTION estimate_of(query text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
SELECT * FROM each_type($$
    SELECT round(estimate_of(format('SELECT FROM $T_ids WHERE id < %L', id)), -3),
           round(estimate_of(format('SELECT FROM $T_ids WHERE id >= %L', id)), -3),
           estimate_of(format('SELECT FROM $T_ids WHERE id = %L', id)),
           estimate_of('SELECT FROM $T_ids AS a JOIN $T_ids AS b USING (id)')
    FROM $T_ids ORDER BY bytes OFFSET 999 LIMIT 1
$$);
