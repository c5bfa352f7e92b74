-- The functions that return the fields of an ID.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- All functions.
SELECT p.oid::regprocedure, prorettype::regtype
FROM types CROSS JOIN (SELECT DISTINCT type, key FROM valid, jsonb_object_keys(fields) AS key) AS q
JOIN pg_proc AS p ON proname = type || '_' || key
WHERE type = name ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Each field of each vector has a function that returns its value: a number, bytes as hexadecimal digits, or a number for each
-- value of the parameter.
SELECT * FROM each_type($$
    SELECT source, text, key, line, expected
    FROM valid, jsonb_each(fields) AS field (key, value),
        LATERAL (
            SELECT format('SELECT ltrim(CAST($T_%s(%L) AS text), ''\x'')', key, text), ltrim(value #>> '{}', '\x')
            WHERE jsonb_typeof(value) <> 'object'
            UNION ALL
            SELECT format('SELECT $T_%s(%L, %s)', key, text, parameter), expected
            FROM jsonb_each_text(CASE jsonb_typeof(value) WHEN 'object' THEN value ELSE '{}' END) AS by (parameter, expected)
        ) AS q (query, expected),
        lines_of(query) AS line
    WHERE type = '$T' AND line <> expected
$$);

-- The range of the parameter.
SELECT * FROM each_type($$
    SELECT DISTINCT key, parameter, error_of(format('SELECT $T_%s(%L, %s)', key, text, parameter))
    FROM (SELECT * FROM valid WHERE type = '$T' LIMIT 1) AS one, jsonb_each(fields) AS field (key, value),
        unnest('{-1, 0, 24, 25, 2147483647, NULL::integer}'::text[]) AS parameter
    WHERE jsonb_typeof(value) = 'object' ORDER BY key, parameter
$$);
