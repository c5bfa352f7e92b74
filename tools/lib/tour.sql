-- The tour of `make run`, executed by psql: typical operations of an application on a million rows. The server writes files to
-- :directory. Existing rows are kept.
\set ECHO none
\pset pager off
SET client_min_messages = warning;

-- The user may have changed the type of the column.
SELECT count(*) > 0 AS has_other_ids
FROM pg_attribute WHERE attrelid = to_regclass('tour_orders') AND attname = 'id' AND atttypid <> 'scru128'::regtype \gset
\if :has_other_ids
ALTER TABLE tour_orders ALTER id DROP DEFAULT, ALTER id TYPE scru128 USING id::scru128, ALTER id SET DEFAULT gen_scru128();
\endif

\echo
\echo '=== 1. Insert a million orders, with IDs from DEFAULT gen_scru128() ==='
\echo
\set ECHO queries
CREATE TABLE IF NOT EXISTS tour_orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text);
\set ECHO none
\echo 'INSERT INTO tour_orders (note) SELECT ''order no. '' || n FROM generate_series(…) n;'
SELECT count(*) AS present, clock_timestamp() AS begun FROM tour_orders \gset
\pset format unaligned
\pset tuples_only on
SELECT format('INSERT INTO tour_orders (note) SELECT ''order no. '' || n FROM generate_series(%s, %s) n', first, last),
       format('SELECT %L', to_char(last, '"  "9,999,999') || ' orders')
FROM generate_series(:present + 1, 1000000, 100000) first, least(first + 99999, 1000000) last \gexec
SELECT CASE WHEN :present < 1000000
            THEN format('  inserted in %s s', round(extract(epoch FROM clock_timestamp() - :'begun'), 1))
            ELSE format('  %s orders exist already', :present) END;
SELECT :present < 1000000 AS is_new \gset
\if :is_new
VACUUM ANALYZE tour_orders;
\endif
\pset tuples_only off
\pset format aligned

\echo
\echo '=== 2. Look up an order by its ID, in the primary key''s index ==='
\echo
SELECT id FROM tour_orders ORDER BY id OFFSET 500000 LIMIT 1 \gset
\set ECHO queries
\timing on
SELECT * FROM tour_orders WHERE id = :'id';

\set ECHO none
\timing off
\echo
\echo '=== 3. List orders in order of creation, which is the order of IDs, with the times in the IDs ==='
\echo
\set ECHO queries
\timing on
SELECT id, scru128_timestamp(id), note FROM tour_orders ORDER BY id LIMIT 5;
SELECT id, scru128_timestamp(id), note FROM tour_orders ORDER BY id DESC LIMIT 5;

\set ECHO none
\timing off
\echo
\echo '=== 4. Count orders by time: from the time of each ID, or by a range of the index ==='
\echo
SELECT first, first + (last - first) / 4 AS quarter
FROM (SELECT scru128_timestamp(min(id)) AS first, scru128_timestamp(max(id)) AS last FROM tour_orders) AS span \gset
\set ECHO queries
\timing on
SELECT date_trunc('second', scru128_timestamp(id)) AS second, count(*) FROM tour_orders GROUP BY 1 ORDER BY 1 LIMIT 10;
SELECT count(*) FROM tour_orders WHERE id <@ tstzrange(:'first', :'quarter');
SELECT count(*) FROM tour_orders WHERE id >= now() - interval '1 hour';
\timing off
EXPLAIN (COSTS OFF)
SELECT count(*) FROM tour_orders WHERE id <@ tstzrange(:'first', :'quarter');

\set ECHO none
\echo
\echo '=== 5. In place of a column created_at: a view, whose condition and order use the primary key ==='
\echo
\set ECHO queries
CREATE VIEW tour_orders_with_time AS SELECT *, id::timestamptz AS created_at FROM tour_orders;
\timing on
SELECT note, created_at FROM tour_orders_with_time WHERE created_at >= now() - interval '1 hour' ORDER BY created_at DESC LIMIT 3;
\timing off
EXPLAIN (COSTS OFF)
SELECT note, created_at FROM tour_orders_with_time WHERE created_at >= now() - interval '1 hour' ORDER BY created_at DESC LIMIT 3;

\set ECHO none
DROP VIEW tour_orders_with_time;
\echo
\echo '=== 6. A foreign key, and a feed: a reader continues after the last ID that it has read, and misses no row ==='
\echo
\set ECHO queries
CREATE TABLE tour_items (order_id scru128 NOT NULL REFERENCES tour_orders, what text);
SELECT max(id) AS last FROM tour_orders \gset
INSERT INTO tour_orders (note) VALUES ('new order') RETURNING id \gset
INSERT INTO tour_items VALUES (:'id', 'two books'), (:'id', 'a pen');
SELECT id, note, what FROM tour_orders JOIN tour_items ON order_id = id WHERE id >= now() - interval '1 minute';
\set ECHO none
-- A row of this millisecond is not in the feed yet, and after a start, IDs can be a second ahead of the clock.
DO $$ BEGIN
    FOR attempt IN 1 .. 200 LOOP
        EXIT WHEN (SELECT max(id) FROM tour_orders) < clock_timestamp() - interval '1 ms';
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
\set ECHO queries
SELECT id, note FROM tour_orders WHERE id > :'last' AND id < scru128_horizon(:'last') ORDER BY id LIMIT 1000;

\set ECHO none
DROP TABLE tour_items;
\echo
\echo '=== 7. Export and import orders, in text and binary format, without loss ==='
\echo
\set text :directory '/orders.txt'
\set binary :directory '/orders.bin'
\set ECHO queries
\timing on
COPY tour_orders TO :'text';
COPY tour_orders TO :'binary' (FORMAT binary);
CREATE TEMPORARY TABLE from_text (LIKE tour_orders);
CREATE TEMPORARY TABLE from_binary (LIKE tour_orders);
COPY from_text FROM :'text';
COPY from_binary FROM :'binary' (FORMAT binary);
\timing off
SELECT pg_size_pretty((pg_stat_file(:'text')).size) AS text_file, pg_size_pretty((pg_stat_file(:'binary')).size) AS binary_file;
SELECT (SELECT count(*) FROM (TABLE tour_orders EXCEPT ALL TABLE from_text) AS lost) AS lost_in_text,
       (SELECT count(*) FROM (TABLE tour_orders EXCEPT ALL TABLE from_binary) AS lost) AS lost_in_binary;

\set ECHO none
\echo
\echo '=== 8. Size on disk: the same as with uuid, which also has 16 bytes ==='
\echo
\set ECHO queries
CREATE TEMPORARY TABLE with_scru128 AS SELECT id, note FROM tour_orders;
CREATE TEMPORARY TABLE with_uuid AS SELECT id::uuid, note FROM tour_orders;
CREATE INDEX scru128_index ON with_scru128 (id);
CREATE INDEX uuid_index ON with_uuid (id);
SELECT pg_size_pretty(pg_relation_size('with_scru128')) AS scru128_table,
       pg_size_pretty(pg_relation_size('with_uuid')) AS uuid_table,
       pg_size_pretty(pg_relation_size('scru128_index')) AS scru128_index,
       pg_size_pretty(pg_relation_size('uuid_index')) AS uuid_index;

\set ECHO none
\echo
\echo '=== 9. A column of type uuid works as well, for programs that know only the types of the server ==='
\echo
CREATE EXTENSION IF NOT EXISTS scru_uuidv7;
\set ECHO queries
CREATE TEMPORARY TABLE invoices (id uuid PRIMARY KEY DEFAULT gen_uuidv7(), note text);
INSERT INTO invoices (note) SELECT 'invoice no. ' || n FROM generate_series(1, 3) AS n;
SELECT id, uuidv7_timestamp(id), uuidv7_prefixed('invoice', id) FROM invoices WHERE id >= now() - interval '1 minute' ORDER BY id;
