-- The time of an ID, served by indexes on the ID: conditions and order. Each table is planned and read with the setting on and off.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
CREATE TABLE t (id scru128, k int, at timestamptz);
INSERT INTO t SELECT gen_scru128(at), i % 7, at
    FROM generate_series(0, 999) AS i, LATERAL (SELECT timestamptz '2026-11-01 00:00+00' + i * interval '37 min' AS at) AS times;
INSERT INTO t SELECT NULL, 1, NULL;
CREATE INDEX ON t (id);
CREATE INDEX ON t (k, id DESC);
ANALYZE t;
CREATE VIEW v AS SELECT *, id::timestamptz AS created_at FROM t;
\c -
SET search_path = test, public, scru_internal;
SET timezone = 'America/St_Johns';
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- The first query of a session loads the library, and is served.
SELECT plan('SELECT * FROM v WHERE created_at >= ''2026-11-03''');
SELECT plan('SELECT * FROM v WHERE created_at = ''2026-11-03 00:00:00.001''');
SELECT plan('SELECT * FROM v WHERE ''2026-11-03'' > created_at');
SELECT plan('SELECT * FROM v WHERE NOT created_at < ''2026-11-03''');
SELECT plan('SELECT * FROM v WHERE created_at >= ''2026-11-03'' OR created_at IS NULL');
SELECT plan('SELECT * FROM v WHERE (created_at, k) > (''2026-11-03'', 5) ORDER BY created_at, k LIMIT 5');
RESET enable_bitmapscan;
SELECT plan('SELECT * FROM v WHERE created_at IN (''2026-11-03'', ''2026-11-05'')');
SELECT bool_or(plan ~ 'ANY') AS is_long FROM plan($$SELECT * FROM v
    WHERE created_at = ANY (array_fill(timestamptz '2026-11-03', ARRAY[17]))$$);
SELECT plan('SELECT * FROM v WHERE created_at = ANY (''{}'') OR k = 1 AND created_at = ''2026-11-03''');
SELECT plan('SELECT * FROM v WHERE k = 1 AND created_at = ''2026-11-03'' OR k = 2 AND NOT (created_at < ''2026-11-05'' OR k = 3)');
SET enable_bitmapscan = off;
SELECT plan('SELECT * FROM v WHERE created_at >= current_date - 7');
SELECT plan('SELECT * FROM v WHERE created_at >= now() - interval ''1 day'' AND created_at < now()');
SELECT plan('SELECT * FROM v WHERE created_at >= date ''infinity''');
SELECT plan('SELECT * FROM v WHERE created_at >= current_date - interval ''7 days'' ORDER BY created_at DESC LIMIT 10');
SELECT plan('SELECT * FROM v WHERE created_at = localtimestamp');
SELECT plan('SELECT * FROM v ORDER BY created_at DESC LIMIT 10');
SELECT plan('SELECT * FROM v WHERE k = 5 ORDER BY created_at DESC LIMIT 10');
SELECT plan('SELECT * FROM v WHERE k = 5 ORDER BY created_at DESC, id DESC LIMIT 10');
SELECT plan('SELECT * FROM v ORDER BY created_at DESC, id LIMIT 10');
-- An ID is the last of two columns with IDs.
CREATE TABLE two (customer scru128, id scru128);
CREATE INDEX ON two (customer, id);
SELECT plan('SELECT * FROM two WHERE customer = scru128_lower(''2026-11-03'') ORDER BY id::timestamptz DESC LIMIT 10');
SELECT plan('SELECT * FROM two ORDER BY customer::timestamptz LIMIT 10');
SELECT plan('SELECT max(created_at) FROM v');
SELECT plan('SELECT DISTINCT created_at FROM v LIMIT 10');
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT plan('SELECT * FROM v AS a JOIN v AS b USING (created_at)');
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT min(created_at), max(created_at), count(*) FROM v WHERE created_at > '2026-11-03' AND created_at <= '2026-11-05';

-- Times that the cast could not represent. Not served: a volatile time, two times of one table, a sample.
SELECT plan('SELECT * FROM v WHERE created_at = clock_timestamp()');
SELECT plan('SELECT * FROM v WHERE created_at >= at');
SELECT count(*) FROM v WHERE created_at <= timestamp '294276-12-31 23:59:59';
SELECT count(*) FROM v WHERE created_at >= date '4714-11-24 BC';
BEGIN;
INSERT INTO t VALUES (gen_scru128('1999-12-31'));
SELECT count(*) FROM v WHERE created_at = ANY ('{1999-12-31,2026-11-03}'::date[]);
INSERT INTO t VALUES (gen_scru128('2000-01-01 00:00+00'));
SELECT count(*) FROM v WHERE created_at = ANY (ARRAY[now(), NULL]);
ROLLBACK;
SELECT plan('SELECT * FROM t TABLESAMPLE system (50) ORDER BY id::timestamptz LIMIT 3');

-- The setting.
SET scru.enable_time_of_id = off;
SELECT plan('SELECT * FROM v WHERE created_at >= ''2026-11-03''');
SELECT plan('SELECT * FROM v ORDER BY created_at DESC LIMIT 10');
RESET scru.enable_time_of_id;

-- A partial index on the time, and its own index.
CREATE INDEX of_week ON t (k) WHERE id::timestamptz >= '2026-11-20 00:00+00';
SELECT plan('SELECT k FROM v WHERE created_at >= ''2026-11-22'' AND k < 3 ORDER BY k');
DROP INDEX of_week;
-- A partial index on the time serves the queries that imply its predicate.
CREATE INDEX of_third ON t (scru128_timestamp(id)) WHERE k = 3;
SELECT plan('SELECT * FROM v WHERE created_at >= ''2026-11-22''');
SELECT plan('SELECT * FROM v WHERE created_at >= ''2026-11-22'' AND k = 3');
DROP INDEX of_third;
CREATE TABLE own (id scru128 PRIMARY KEY);
CLUSTER own USING own_pkey;
CREATE INDEX own_time ON own (scru128_timestamp(id));
SELECT plan('SELECT * FROM own WHERE id::timestamptz >= ''2026-11-22''');
-- An index on an expression that only contains the time does not serve the time.
DROP INDEX own_time;
CREATE INDEX own_day ON own (((id::timestamptz AT TIME ZONE 'UTC')::date));
SELECT plan('SELECT * FROM own WHERE id::timestamptz >= ''2026-11-22''');
CREATE TABLE by_time (id scru128 NOT NULL) PARTITION BY RANGE (scru128_timestamp(id));
CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM ('2026-11-01 00:00+00') TO ('2026-12-01 00:00+00');
CREATE TABLE by_time_2 PARTITION OF by_time FOR VALUES FROM ('2026-12-01 00:00+00') TO ('2027-01-01 00:00+00');
SELECT plan('SELECT * FROM by_time WHERE id::timestamptz >= ''2026-12-05''');

-- Children that CHECK constraints on the time exclude.
CREATE TABLE parent (id scru128, k int);
CREATE TABLE child_1 (CHECK (scru128_timestamp(id) < '2026-12-01 00:00+00')) INHERITS (parent);
CREATE TABLE child_2 (CHECK (scru128_timestamp(id) >= '2026-12-01 00:00+00')) INHERITS (parent);
CREATE INDEX of_child ON child_2 (k) WHERE id::timestamptz >= '2026-12-05 00:00+00';
SELECT plan('SELECT k FROM parent WHERE id::timestamptz >= ''2026-12-06'' AND k < 3');

-- Partitions by the ID: pruning, and the order of all partitions.
CREATE TABLE p (id scru128 PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (scru128_lower('2026-12-01 00:00+00'));
CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM (scru128_lower('2026-12-01 00:00+00')) TO (MAXVALUE);
SELECT plan('SELECT * FROM p WHERE id::timestamptz >= ''2026-12-05''');
SELECT plan('SELECT * FROM p WHERE id::timestamptz >= timestamp ''2026-12-05''');
SELECT plan('SELECT * FROM p ORDER BY id::timestamptz DESC LIMIT 3');
SELECT plan('SELECT id::timestamptz FROM p ORDER BY 1 LIMIT 3');
-- From PostgreSQL 17 on, a column that is NOT NULL has no condition.
SELECT line FROM plan('SELECT max(id::timestamptz) FROM p') AS line WHERE line !~ 'id IS NOT NULL';

-- UNION ALL: conditions are not served, and no LIMIT reads a whole table in its order.
SELECT plan('SELECT * FROM (SELECT created_at FROM v UNION ALL SELECT created_at FROM v) AS u
    WHERE created_at < ''2026-11-03'' ORDER BY created_at DESC LIMIT 3');
SELECT plan('SELECT * FROM (SELECT created_at FROM v UNION ALL SELECT created_at FROM v) AS u
    WHERE created_at < ''2026-11-03'' OR created_at > ''2026-11-09'' ORDER BY created_at DESC LIMIT 3');

-- A domain, whose cast has the column as its argument.
CREATE DOMAIN d AS scru128;
CREATE TABLE of_domain (id d PRIMARY KEY);
SELECT plan('SELECT * FROM of_domain WHERE id::timestamptz >= ''2026-12-05''');
SELECT plan('SELECT * FROM of_domain ORDER BY id::timestamptz LIMIT 3');
SELECT plan('SELECT * FROM of_domain ORDER BY scru128_timestamp(id) LIMIT 3');

-- Row-level security: the policy is served too.
CREATE TABLE secret (id scru128 PRIMARY KEY);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON secret USING (id::timestamptz >= '2026-12-05');
CREATE ROLE regress_time_of_id;
GRANT SELECT ON secret TO regress_time_of_id;
GRANT USAGE ON SCHEMA test TO regress_time_of_id;
SET ROLE regress_time_of_id;
SELECT plan('SELECT * FROM secret WHERE id::timestamptz < ''2026-12-06''');
RESET ROLE;

-- Without the right to execute what replaces a condition, the condition remains.
REVOKE EXECUTE ON FUNCTION scru_before(timestamptz) FROM PUBLIC;
SET ROLE regress_time_of_id;
SELECT plan('SELECT * FROM secret WHERE id::timestamptz < ''2026-12-06''');
RESET ROLE;
GRANT EXECUTE ON FUNCTION scru_before(timestamptz) TO PUBLIC;
DROP TABLE secret;
REVOKE ALL ON SCHEMA test FROM regress_time_of_id;
DROP ROLE regress_time_of_id;

-- A function of a user with the name of ours is none of ours.
CREATE SCHEMA other;
CREATE FUNCTION other.scru128_timestamp(scru128) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT timestamptz '2000-01-01' - (random() * interval '1 day') $$;
SELECT plan('SELECT * FROM t WHERE other.scru128_timestamp(id) >= ''2026-12-05''') ~ 'Index Cond' LIMIT 1;

-- Statements with subqueries, updates, and the building of an index.
CREATE INDEX ON t (scru128_timestamp(id)) WHERE id::timestamptz > '2026-11-10';
DROP INDEX t_scru128_timestamp_idx;
BEGIN;
SELECT plan('UPDATE t SET k = k + 1 WHERE id::timestamptz < ''2026-11-02''');
SELECT plan('DELETE FROM t WHERE id::timestamptz < ''2026-11-02''');
UPDATE v SET k = k + 1 WHERE created_at < '2026-11-02' AND k = 1;
DELETE FROM v WHERE created_at < '2026-11-02';
INSERT INTO v (id, k) VALUES (scru128_lower('2026-11-01 00:00+00'), 3) RETURNING created_at;
ROLLBACK;

-- The bound of a condition.
SELECT t, scru_before(t) = CASE WHEN isfinite(t) THEN t - interval '1 microsecond' ELSE t END AS is_before
FROM unnest('{2026-11-01 00:00+00, infinity, -infinity}'::timestamptz[]) AS t;
SELECT scru_before('4714-11-24 00:00+00 BC');

-- Days.
SELECT scru128_lower('2026-11-01 02:00+00')::date, date_trunc('day', scru128_lower('2026-11-01 12:00+00')::timestamptz);

-- A query fails without the right to execute the function, whether or not the planner, which knows it, serves it by the ID.
BEGIN;
CALL for_each_type($$
    CREATE TABLE $T_times AS SELECT $T_lower(now() + n * interval '1 hour') AS id FROM generate_series(-100, 99) AS n;
    CREATE INDEX ON $T_times (id);
    SELECT FROM $T_times WHERE id::timestamptz > now();
    REVOKE EXECUTE ON FUNCTION $T_timestamp($T) FROM PUBLIC
$$);
CREATE ROLE reader;
GRANT USAGE ON SCHEMA test TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, test TO reader;
SET ROLE reader;
PREPARE refused AS SELECT * FROM each_type($q$
    SELECT error_of('SELECT ' || query) FROM unnest(ARRAY[
        'id FROM $T_times WHERE id::timestamptz > now()',
        'id FROM $T_times WHERE $T_timestamp(id) <= now()',
        'id FROM $T_times WHERE id::timestamptz IS NOT NULL',
        'id FROM $T_times ORDER BY id::timestamptz DESC LIMIT 3',
        'max(id::timestamptz) FROM $T_times'
    ]) AS query
$q$);
EXECUTE refused;
SET LOCAL scru.enable_time_of_id = off;
EXECUTE refused;
ROLLBACK;
DEALLOCATE refused;
DROP SCHEMA other CASCADE;
