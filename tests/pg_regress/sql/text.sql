-- Text where an ID is wanted: the extension scru_text.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
CREATE EXTENSION scru_text SCHEMA test;

-- Two casts for each type, by one function in C, which the planner can execute once.
SELECT * FROM each_type($$
    SELECT castsource::regtype, castfunc::regprocedure, castcontext, provolatile, proparallel, proisstrict
    FROM pg_cast JOIN pg_proc AS p ON p.oid = castfunc
    WHERE casttarget = '$T'::regtype AND castsource IN ('text'::regtype, 'varchar'::regtype) ORDER BY 1
$$);

-- In INSERT, UPDATE, comparisons, lists, joins and arguments, text is read as the input function reads it.
CALL for_each_type($$
    CREATE TABLE $T_texts AS SELECT smallest('$T') AS low, largest('$T')::varchar AS high;
    CREATE TABLE $T_orders (id $T PRIMARY KEY, parent $T);
    INSERT INTO $T_orders (id) SELECT unnest(ARRAY[high, upper(low)]) FROM $T_texts;
    UPDATE $T_orders SET parent = low FROM $T_texts WHERE id = high;
    INSERT INTO $T_orders (id) SELECT low FROM $T_texts ON CONFLICT (id) DO UPDATE SET parent = largest('$T');
$$);
SELECT * FROM each_type($q$
    SELECT condition, lines_of('SELECT min(id)::text = min(low), max(id)::text = min(high) FROM $T_orders, $T_texts WHERE ' || condition)
    FROM unnest('{id = low,id < high,"id BETWEEN low AND high","id IN (low, high)",parent = low,parent = high,
        $T_timestamp(low) = $T_timestamp(id)}'::text[]) AS condition
$q$);
SELECT * FROM each_type($$
    SELECT count(*) > 50, bool_and(error IS NOT DISTINCT FROM without_hint(error_of(format('SELECT id = text %L FROM $T_orders', text))))
    FROM malformed WHERE type = '$T'
$$);

-- What remains an error.
SELECT expression, left(error_of(format('SELECT %s FROM scru128_orders', expression)), 5)
FROM unnest(ARRAY['coalesce(id, ''x''::text)', 'CASE WHEN true THEN id ELSE ''x''::text END', 'ARRAY[id] @> ARRAY[''x''::text]',
    'array_append(ARRAY[id], ''x''::text)', 'id LIKE ''03%''', 'length(id)']) AS expression;
