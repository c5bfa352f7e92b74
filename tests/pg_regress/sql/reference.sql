-- The examples of docs/reference.md and docs/reference/*.md.
-- Rendered by `make gen` from sql/reference.sql.in: edit that file only.
--
-- `make gen` also renders these pages. Their text is in the comments below. An object after `###` (a heading) or `|` (a row of a
-- table) is documented by its COMMENT. The results of the statements come from expected/reference.out.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
SET search_path = public, test;
SET intervalstyle = postgres;

-- # Reference
-- Every function, operator, cast and operator class that users name. [Settings](settings.md) and [Errors](errors.md) have
-- pages of their own, and so does each type:
-- [scru128](reference/scru128.md), [scru160](reference/scru160.md), [scru64](reference/scru64.md), [ulid](reference/ulid.md), [ulidflake](reference/ulidflake.md).
--
-- Comments below the statements show their results, in the time zone UTC. A test runs all examples. Columns that differ
-- between servers are omitted.
-- ## IDs and types
-- `scru_inspect` finds the type of a text by its shape: that of a `uuid` without hyphens is a scru160. With scru_uuidv7, a
-- `uuid` of version 7 has a row as well, and `scru_types` one for uuidv7. Later versions can add types, and keys to
-- `fields` and `details`, but no columns.
-- ### FUNCTION scru_inspect(text)
SELECT type, "timestamp", fields FROM scru_inspect('03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru_inspect(uuid)
SELECT type, canonical, "timestamp" FROM scru_inspect('019421bc-ade8-70e5-bb1d-cdaf6e789e6a'::uuid);
-- ### FUNCTION scru_types()
SELECT type, bytes, digits, tick, latest, details->>'largest' AS largest FROM scru_types();
-- ## IDs of other systems
-- [Columns of uuid and bigint](uuid-and-bigint-columns.md#ids-of-other-systems) has the epochs and the shifts of some systems.
-- `epoch_ms` is in milliseconds since 1970. The time of a negative number is NULL.
-- | FUNCTION scru_snowflake_timestamp(bigint, bigint, integer)
SELECT scru_snowflake_timestamp(175928847299117063, epoch_ms => 1420070400000, shift => 22);
-- | FUNCTION scru_snowflake_lower(timestamptz, bigint, integer)
SELECT scru_snowflake_lower('2016-04-30 11:18:25.796+00', epoch_ms => 1420070400000, shift => 22);
-- ## Encryption
-- [IDs that hide their time](encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION scru_bigint_encrypt(id bigint, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT scru_bigint_encrypt(42, key) FROM keys;
-- ### FUNCTION scru_bigint_decrypt(encrypted uuid, key bytea)
SELECT scru_bigint_decrypt(scru_bigint_encrypt(42, key), key) FROM keys;
DROP TABLE keys;
-- ## The server
-- [Operations](operations.md) explains the marks. The arguments of the [guard](feeds.md#ids-generated-elsewhere) are
-- the column, the lag, and the ID system if the column has the type `uuid` or `bigint`.
-- ### FUNCTION scru_generators()
SELECT type, scope, node, details->'node_source' AS node_source FROM scru_generators();
-- | FUNCTION scru64_nodes_collide(text, text)
SELECT scru64_nodes_collide('0/4', '0x80/8'), scru64_nodes_collide('8/4', '0x80/8');
-- | FUNCTION scru_set_mark(timestamptz)
SELECT scru_set_mark(now());
-- | FUNCTION scru_raise_mark(timestamptz)
SELECT scru_raise_mark(now());
-- | FUNCTION scru_horizon_holders()
SELECT pid, first_time FROM scru_horizon_holders();
-- | FUNCTION scru_adapt_to_server()
SELECT scru_adapt_to_server();
-- ### FUNCTION scru_feed_guard()
CREATE TABLE events (id scru128 PRIMARY KEY DEFAULT gen_scru128());
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON events FOR EACH ROW EXECUTE FUNCTION scru_feed_guard('id', '5 s');
INSERT INTO events DEFAULT VALUES;
DROP TABLE events;

-- # scru128
-- SCRU128: 128-bit ID in order of creation, unique without coordination (25 Base36 digits).
--
-- An ID has 16 bytes. Its text has 25 digits. The time of the ID is the start of the millisecond in which it was generated.
--
-- Comments below the statements show their results, in the time zone UTC. The [Reference](../reference.md) describes the
-- functions that are not specific to one type.
-- ## Type
-- ### TYPE scru128
CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), note text);
INSERT INTO orders VALUES ('03d4fq8sr7xt45yxh32wf1caf', 'second'), ('03d4fq8oj6wxlgowfjkwyz3pt', 'first');
SELECT id, note FROM orders ORDER BY id;
-- ## Generate
-- ### FUNCTION gen_scru128()
SELECT gen_scru128() < gen_scru128();
-- ### FUNCTION gen_scru128(timestamptz)
SELECT scru128_timestamp(gen_scru128('2025-01-01 12:00:00+00'));
-- ### FUNCTION scru128_horizon()
SELECT id, note FROM orders WHERE id < scru128_horizon() ORDER BY id LIMIT 1;
-- ### FUNCTION scru128_horizon(after scru128, lag interval DEFAULT '0')
SELECT scru128_horizon('03d4fq8oj6wxlgowfjkwyz3pt') > '03d4fq8oj6wxlgowfjkwyz3pt';
SELECT scru128_horizon('03d4fq8oj6wxlgowfjkwyz3pt', '5 s') < scru128_horizon();
-- ## Time
-- ### FUNCTION scru128_timestamp(scru128)
SELECT scru128_timestamp('03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru128_lower(timestamptz)
SELECT scru128_lower('2025-01-01 12:00:00.0005+00');
SELECT scru128_lower('-infinity');
-- ### FUNCTION scru128_upper(timestamptz)
SELECT scru128_upper('2025-01-01 12:00:00.0005+00');
SELECT scru128_upper('infinity');
-- ### FUNCTION scru128_time_encoder(timestamptz)
SELECT scru128_time_encoder('2025-01-01 12:00:00+00');
-- ### FUNCTION scru128_time_decoder(text)
SELECT scru128_time_decoder(scru128_time_encoder('2025-01-01 12:00:00+00'));
-- ## Fields
-- ### FUNCTION scru128_counter_hi(id scru128)
SELECT scru128_counter_hi('03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru128_counter_lo(id scru128)
SELECT scru128_counter_lo('03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru128_entropy(id scru128)
SELECT scru128_entropy('03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru_inspect(scru128)
SELECT type, "timestamp", fields FROM scru_inspect('03d4fq8oj6wxlgowfjkwyz3pt'::scru128);
-- ## Prefixes
-- [IDs in an API](../api.md#prefixes) describes prefixes.
-- ### FUNCTION scru128_prefixed(prefix text, id scru128)
SELECT scru128_prefixed('order', '03d4fq8oj6wxlgowfjkwyz3pt');
-- ### FUNCTION scru128_unprefixed(prefix text, value text)
SELECT scru128_unprefixed('order', scru128_prefixed('order', '03d4fq8oj6wxlgowfjkwyz3pt'));
-- ## Encryption
-- [IDs that hide their time](../encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION scru128_encrypt(id scru128, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT scru128_encrypt('03d4fq8oj6wxlgowfjkwyz3pt', key) FROM keys;
-- ### FUNCTION scru128_decrypt(encrypted uuid, key bytea)
SELECT scru128_decrypt(scru128_encrypt('03d4fq8oj6wxlgowfjkwyz3pt', key), key) FROM keys;
DROP TABLE keys;
-- ## Aggregates
-- ### AGGREGATE min(scru128)
SELECT min(id) FROM orders;
-- ### AGGREGATE max(scru128)
SELECT max(id) FROM orders;
-- ## Operators
-- All operators return boolean and are leakproof. The operator classes below use them for indexes, joins and sorting.
-- | OPERATOR = (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 = '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR <> (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 <> '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR < (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 < '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR <= (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 <= '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR > (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 > '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR >= (scru128, scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 >= '03d4fq8sr7xt45yxh32wf1caf';
-- | OPERATOR < (scru128, timestamptz)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, scru128)
SELECT timestamptz '2025-01-01 12:00:00+00' < '03d4fq8oj6wxlgowfjkwyz3pt'::scru128;
-- | OPERATOR <= (scru128, timestamptz)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, scru128)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '03d4fq8oj6wxlgowfjkwyz3pt'::scru128;
-- | OPERATOR > (scru128, timestamptz)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, scru128)
SELECT timestamptz '2025-01-01 12:00:00+00' > '03d4fq8oj6wxlgowfjkwyz3pt'::scru128;
-- | OPERATOR >= (scru128, timestamptz)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, scru128)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '03d4fq8oj6wxlgowfjkwyz3pt'::scru128;
-- | OPERATOR <@ (scru128, scru_internal.scru_tstzrange)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128 <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, scru128)
SELECT tstzrange('2025-01-01', NULL) @> '03d4fq8oj6wxlgowfjkwyz3pt'::scru128;
-- ## Operator classes
-- Each operator class except `scru128_minmax_multi_ops` and `scru128_bloom_ops` is the default of its access method.
-- To use one of these two, write its name after the column: `id scru128_bloom_ops`.
-- | OPERATOR CLASS scru128_ops USING btree
CREATE INDEX ON orders (id);
-- | OPERATOR CLASS scru128_ops USING hash
CREATE INDEX ON orders USING hash (id);
-- | OPERATOR CLASS scru128_ops USING gin
CREATE INDEX ON orders USING gin (id, to_tsvector('simple', note));
-- | OPERATOR CLASS scru128_gist_ops USING gist
CREATE INDEX ON orders USING gist (id);
-- | OPERATOR CLASS scru128_minmax_ops USING brin
CREATE INDEX ON orders USING brin (id);
-- | OPERATOR CLASS scru128_minmax_multi_ops USING brin
CREATE INDEX ON orders USING brin (id scru128_minmax_multi_ops);
-- | OPERATOR CLASS scru128_bloom_ops USING brin
CREATE INDEX ON orders USING brin (id scru128_bloom_ops);
-- ## Casts
-- `INSERT`, `UPDATE` and `ALTER TABLE … TYPE` apply an *assignment* cast implicitly. An *explicit* cast must be
-- written as `CAST` or `::`. A cast *without function* does not change the bytes, so that `ALTER TABLE … TYPE` does not
-- rewrite the table.
DROP TABLE orders;
-- | CAST (scru128 AS timestamptz)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::timestamptz;
-- | CAST (timestamptz AS scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::timestamptz::scru128;
-- | CAST (scru128 AS bytea)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::bytea;
-- | CAST (bytea AS scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::bytea::scru128;
-- | CAST (scru128 AS uuid)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::uuid;
-- | CAST (uuid AS scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::uuid::scru128;
-- | CAST (scru128 AS numeric)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::numeric;
-- | CAST (numeric AS scru128)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::numeric::scru128;
-- | CAST (scru128 AS date)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::date;
-- | CAST (scru128 AS ulid)
SELECT '03d4fq8oj6wxlgowfjkwyz3pt'::scru128::ulid;

-- # scru160
-- SCRU160: 160-bit ID in order of creation, unique without coordination (32 base32hex digits).
--
-- An ID has 20 bytes. Its text has 32 digits. The time of the ID is the start of the millisecond in which it was generated.
--
-- Comments below the statements show their results, in the time zone UTC. The [Reference](../reference.md) describes the
-- functions that are not specific to one type.
-- ## Type
-- ### TYPE scru160
CREATE TABLE orders (id scru160 PRIMARY KEY DEFAULT gen_scru160(), note text);
INSERT INTO orders VALUES ('06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ', 'second'), ('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS', 'first');
SELECT id, note FROM orders ORDER BY id;
-- ## Generate
-- ### FUNCTION gen_scru160()
SELECT gen_scru160() < gen_scru160();
-- ### FUNCTION gen_scru160(timestamptz)
SELECT scru160_timestamp(gen_scru160('2025-01-01 12:00:00+00'));
-- ### FUNCTION scru160_horizon()
SELECT id, note FROM orders WHERE id < scru160_horizon() ORDER BY id LIMIT 1;
-- ### FUNCTION scru160_horizon(after scru160, lag interval DEFAULT '0')
SELECT scru160_horizon('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS') > '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS';
SELECT scru160_horizon('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS', '5 s') < scru160_horizon();
-- ## Time
-- ### FUNCTION scru160_timestamp(scru160)
SELECT scru160_timestamp('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS');
-- ### FUNCTION scru160_lower(timestamptz)
SELECT scru160_lower('2025-01-01 12:00:00.0005+00');
SELECT scru160_lower('-infinity');
-- ### FUNCTION scru160_upper(timestamptz)
SELECT scru160_upper('2025-01-01 12:00:00.0005+00');
SELECT scru160_upper('infinity');
-- ### FUNCTION scru160_time_encoder(timestamptz)
SELECT scru160_time_encoder('2025-01-01 12:00:00+00');
-- ### FUNCTION scru160_time_decoder(text)
SELECT scru160_time_decoder(scru160_time_encoder('2025-01-01 12:00:00+00'));
-- ## Fields
-- ### FUNCTION scru160_counter(id scru160)
SELECT scru160_counter('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS');
-- ### FUNCTION scru160_random16(id scru160)
SELECT scru160_random16('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS');
-- ### FUNCTION scru160_random80(id scru160)
SELECT scru160_random80('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS');
-- ### FUNCTION scru_inspect(scru160)
SELECT type, "timestamp", fields FROM scru_inspect('06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160);
-- ## Prefixes
-- [IDs in an API](../api.md#prefixes) describes prefixes.
-- ### FUNCTION scru160_prefixed(prefix text, id scru160)
SELECT scru160_prefixed('order', '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS');
-- ### FUNCTION scru160_unprefixed(prefix text, value text)
SELECT scru160_unprefixed('order', scru160_prefixed('order', '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'));
-- ## Aggregates
-- ### AGGREGATE min(scru160)
SELECT min(id) FROM orders;
-- ### AGGREGATE max(scru160)
SELECT max(id) FROM orders;
-- ## Operators
-- All operators return boolean and are leakproof. The operator classes below use them for indexes, joins and sorting.
-- | OPERATOR = (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 = '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR <> (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 <> '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR < (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 < '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR <= (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 <= '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR > (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 > '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR >= (scru160, scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 >= '06A23F5HQ0VOOVMA0JLGAGU3ETBV13CQ';
-- | OPERATOR < (scru160, timestamptz)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, scru160)
SELECT timestamptz '2025-01-01 12:00:00+00' < '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160;
-- | OPERATOR <= (scru160, timestamptz)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, scru160)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160;
-- | OPERATOR > (scru160, timestamptz)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, scru160)
SELECT timestamptz '2025-01-01 12:00:00+00' > '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160;
-- | OPERATOR >= (scru160, timestamptz)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, scru160)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160;
-- | OPERATOR <@ (scru160, scru_internal.scru_tstzrange)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160 <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, scru160)
SELECT tstzrange('2025-01-01', NULL) @> '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160;
-- ## Operator classes
-- Each operator class except `scru160_minmax_multi_ops` and `scru160_bloom_ops` is the default of its access method.
-- To use one of these two, write its name after the column: `id scru160_bloom_ops`.
-- | OPERATOR CLASS scru160_ops USING btree
CREATE INDEX ON orders (id);
-- | OPERATOR CLASS scru160_ops USING hash
CREATE INDEX ON orders USING hash (id);
-- | OPERATOR CLASS scru160_ops USING gin
CREATE INDEX ON orders USING gin (id, to_tsvector('simple', note));
-- | OPERATOR CLASS scru160_gist_ops USING gist
CREATE INDEX ON orders USING gist (id);
-- | OPERATOR CLASS scru160_minmax_ops USING brin
CREATE INDEX ON orders USING brin (id);
-- | OPERATOR CLASS scru160_minmax_multi_ops USING brin
CREATE INDEX ON orders USING brin (id scru160_minmax_multi_ops);
-- | OPERATOR CLASS scru160_bloom_ops USING brin
CREATE INDEX ON orders USING brin (id scru160_bloom_ops);
-- ## Casts
-- `INSERT`, `UPDATE` and `ALTER TABLE … TYPE` apply an *assignment* cast implicitly. An *explicit* cast must be
-- written as `CAST` or `::`. A cast *without function* does not change the bytes, so that `ALTER TABLE … TYPE` does not
-- rewrite the table.
DROP TABLE orders;
-- | CAST (scru160 AS timestamptz)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160::timestamptz;
-- | CAST (timestamptz AS scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160::timestamptz::scru160;
-- | CAST (scru160 AS bytea)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160::bytea;
-- | CAST (bytea AS scru160)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160::bytea::scru160;
-- | CAST (scru160 AS date)
SELECT '06A23F5DT1EM2OEQDSULO3UVI7M9KUVS'::scru160::date;

-- # scru64
-- SCRU64: 64-bit ID in order of creation, unique by its node (12 Base36 digits).
--
-- An ID has 8 bytes. Its text has 12 digits. The time of the ID is the start of the tick of 256 milliseconds in which it was generated.
--
-- Comments below the statements show their results, in the time zone UTC. The [Reference](../reference.md) describes the
-- functions that are not specific to one type.
-- ## Type
-- ### TYPE scru64
CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text);
INSERT INTO orders VALUES ('0v422fuhwfgd', 'second'), ('0v422ft6c1nl', 'first');
SELECT id, note FROM orders ORDER BY id;
-- ## Generate
-- ### FUNCTION gen_scru64()
SELECT gen_scru64() < gen_scru64();
-- ### FUNCTION scru64_horizon()
SELECT id, note FROM orders WHERE id < scru64_horizon() ORDER BY id LIMIT 1;
-- ### FUNCTION scru64_horizon(after scru64, lag interval DEFAULT '0')
SELECT scru64_horizon('0v422ft6c1nl') > '0v422ft6c1nl';
SELECT scru64_horizon('0v422ft6c1nl', '5 s') < scru64_horizon();
-- ### FUNCTION scru64_is_local(scru64)
SELECT scru64_is_local(gen_scru64());
-- ## Time
-- ### FUNCTION scru64_timestamp(scru64)
SELECT scru64_timestamp('0v422ft6c1nl');
-- ### FUNCTION scru64_lower(timestamptz)
SELECT scru64_lower('2025-01-01 12:00:00.0005+00');
SELECT scru64_lower('-infinity');
-- ### FUNCTION scru64_upper(timestamptz)
SELECT scru64_upper('2025-01-01 12:00:00.0005+00');
SELECT scru64_upper('infinity');
-- ### FUNCTION scru64_time_encoder(timestamptz)
SELECT scru64_time_encoder('2025-01-01 12:00:00+00');
-- ### FUNCTION scru64_time_decoder(text)
SELECT scru64_time_decoder(scru64_time_encoder('2025-01-01 12:00:00+00'));
-- ## Fields
-- ### FUNCTION scru64_node_ctr(id scru64)
SELECT scru64_node_ctr('0v422ft6c1nl');
-- ### FUNCTION scru64_node_id(id scru64, node_id_size integer)
SELECT scru64_node_id('0v422ft6c1nl', 8);
-- ### FUNCTION scru64_counter(id scru64, node_id_size integer)
SELECT scru64_counter('0v422ft6c1nl', 8);
-- ### FUNCTION scru_inspect(scru64)
SELECT type, "timestamp", fields FROM scru_inspect('0v422ft6c1nl'::scru64);
-- ## Prefixes
-- [IDs in an API](../api.md#prefixes) describes prefixes.
-- ### FUNCTION scru64_prefixed(prefix text, id scru64)
SELECT scru64_prefixed('order', '0v422ft6c1nl');
-- ### FUNCTION scru64_unprefixed(prefix text, value text)
SELECT scru64_unprefixed('order', scru64_prefixed('order', '0v422ft6c1nl'));
-- ## Encryption
-- [IDs that hide their time](../encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION scru64_encrypt(id scru64, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT scru64_encrypt('0v422ft6c1nl', key) FROM keys;
-- ### FUNCTION scru64_decrypt(encrypted uuid, key bytea)
SELECT scru64_decrypt(scru64_encrypt('0v422ft6c1nl', key), key) FROM keys;
DROP TABLE keys;
-- ## Aggregates
-- ### AGGREGATE min(scru64)
SELECT min(id) FROM orders;
-- ### AGGREGATE max(scru64)
SELECT max(id) FROM orders;
-- ## Operators
-- All operators return boolean and are leakproof. The operator classes below use them for indexes, joins and sorting.
-- | OPERATOR = (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 = '0v422fuhwfgd';
-- | OPERATOR <> (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 <> '0v422fuhwfgd';
-- | OPERATOR < (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 < '0v422fuhwfgd';
-- | OPERATOR <= (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 <= '0v422fuhwfgd';
-- | OPERATOR > (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 > '0v422fuhwfgd';
-- | OPERATOR >= (scru64, scru64)
SELECT '0v422ft6c1nl'::scru64 >= '0v422fuhwfgd';
-- | OPERATOR < (scru64, timestamptz)
SELECT '0v422ft6c1nl'::scru64 < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, scru64)
SELECT timestamptz '2025-01-01 12:00:00+00' < '0v422ft6c1nl'::scru64;
-- | OPERATOR <= (scru64, timestamptz)
SELECT '0v422ft6c1nl'::scru64 <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, scru64)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '0v422ft6c1nl'::scru64;
-- | OPERATOR > (scru64, timestamptz)
SELECT '0v422ft6c1nl'::scru64 > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, scru64)
SELECT timestamptz '2025-01-01 12:00:00+00' > '0v422ft6c1nl'::scru64;
-- | OPERATOR >= (scru64, timestamptz)
SELECT '0v422ft6c1nl'::scru64 >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, scru64)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '0v422ft6c1nl'::scru64;
-- | OPERATOR <@ (scru64, scru_internal.scru_tstzrange)
SELECT '0v422ft6c1nl'::scru64 <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, scru64)
SELECT tstzrange('2025-01-01', NULL) @> '0v422ft6c1nl'::scru64;
-- ## Operator classes
-- Each operator class except `scru64_minmax_multi_ops` and `scru64_bloom_ops` is the default of its access method.
-- To use one of these two, write its name after the column: `id scru64_bloom_ops`.
-- | OPERATOR CLASS scru64_ops USING btree
CREATE INDEX ON orders (id);
-- | OPERATOR CLASS scru64_ops USING hash
CREATE INDEX ON orders USING hash (id);
-- | OPERATOR CLASS scru64_ops USING gin
CREATE INDEX ON orders USING gin (id, to_tsvector('simple', note));
-- | OPERATOR CLASS scru64_gist_ops USING gist
CREATE INDEX ON orders USING gist (id);
-- | OPERATOR CLASS scru64_minmax_ops USING brin
CREATE INDEX ON orders USING brin (id);
-- | OPERATOR CLASS scru64_minmax_multi_ops USING brin
CREATE INDEX ON orders USING brin (id scru64_minmax_multi_ops);
-- | OPERATOR CLASS scru64_bloom_ops USING brin
CREATE INDEX ON orders USING brin (id scru64_bloom_ops);
-- ## Casts
-- `INSERT`, `UPDATE` and `ALTER TABLE … TYPE` apply an *assignment* cast implicitly. An *explicit* cast must be
-- written as `CAST` or `::`. A cast *without function* does not change the bytes, so that `ALTER TABLE … TYPE` does not
-- rewrite the table.
DROP TABLE orders;
-- | CAST (scru64 AS timestamptz)
SELECT '0v422ft6c1nl'::scru64::timestamptz;
-- | CAST (timestamptz AS scru64)
SELECT '0v422ft6c1nl'::scru64::timestamptz::scru64;
-- | CAST (scru64 AS bytea)
SELECT '0v422ft6c1nl'::scru64::bytea;
-- | CAST (bytea AS scru64)
SELECT '0v422ft6c1nl'::scru64::bytea::scru64;
-- | CAST (scru64 AS bigint)
SELECT '0v422ft6c1nl'::scru64::bigint;
-- | CAST (bigint AS scru64)
SELECT '0v422ft6c1nl'::scru64::bigint::scru64;
-- | CAST (scru64 AS date)
SELECT '0v422ft6c1nl'::scru64::date;

-- # ulid
-- ULID: 128-bit ID in order of creation, unique without coordination (26 Crockford Base32 digits).
--
-- An ID has 16 bytes. Its text has 26 digits. The time of the ID is the start of the millisecond in which it was generated.
--
-- Comments below the statements show their results, in the time zone UTC. The [Reference](../reference.md) describes the
-- functions that are not specific to one type.
-- ## Type
-- ### TYPE ulid
CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ulid(), note text);
INSERT INTO orders VALUES ('01JGGVSCEGVY8G5VNZHGXVWQGT', 'second'), ('01JGGVSBF8BNGP3PKF7Q1R1N87', 'first');
SELECT id, note FROM orders ORDER BY id;
-- ## Generate
-- ### FUNCTION gen_ulid()
SELECT gen_ulid() < gen_ulid();
-- ### FUNCTION gen_ulid(timestamptz)
SELECT ulid_timestamp(gen_ulid('2025-01-01 12:00:00+00'));
-- ### FUNCTION ulid_horizon()
SELECT id, note FROM orders WHERE id < ulid_horizon() ORDER BY id LIMIT 1;
-- ### FUNCTION ulid_horizon(after ulid, lag interval DEFAULT '0')
SELECT ulid_horizon('01JGGVSBF8BNGP3PKF7Q1R1N87') > '01JGGVSBF8BNGP3PKF7Q1R1N87';
SELECT ulid_horizon('01JGGVSBF8BNGP3PKF7Q1R1N87', '5 s') < ulid_horizon();
-- ## Time
-- ### FUNCTION ulid_timestamp(ulid)
SELECT ulid_timestamp('01JGGVSBF8BNGP3PKF7Q1R1N87');
-- ### FUNCTION ulid_lower(timestamptz)
SELECT ulid_lower('2025-01-01 12:00:00.0005+00');
SELECT ulid_lower('-infinity');
-- ### FUNCTION ulid_upper(timestamptz)
SELECT ulid_upper('2025-01-01 12:00:00.0005+00');
SELECT ulid_upper('infinity');
-- ### FUNCTION ulid_time_encoder(timestamptz)
SELECT ulid_time_encoder('2025-01-01 12:00:00+00');
-- ### FUNCTION ulid_time_decoder(text)
SELECT ulid_time_decoder(ulid_time_encoder('2025-01-01 12:00:00+00'));
-- ## Fields
-- ### FUNCTION ulid_randomness(id ulid)
SELECT ulid_randomness('01JGGVSBF8BNGP3PKF7Q1R1N87');
-- ### FUNCTION scru_inspect(ulid)
SELECT type, "timestamp", fields FROM scru_inspect('01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid);
-- ## Prefixes
-- [IDs in an API](../api.md#prefixes) describes prefixes.
-- ### FUNCTION ulid_prefixed(prefix text, id ulid)
SELECT ulid_prefixed('order', '01JGGVSBF8BNGP3PKF7Q1R1N87');
-- ### FUNCTION ulid_unprefixed(prefix text, value text)
SELECT ulid_unprefixed('order', ulid_prefixed('order', '01JGGVSBF8BNGP3PKF7Q1R1N87'));
-- ## Encryption
-- [IDs that hide their time](../encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION ulid_encrypt(id ulid, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT ulid_encrypt('01JGGVSBF8BNGP3PKF7Q1R1N87', key) FROM keys;
-- ### FUNCTION ulid_decrypt(encrypted uuid, key bytea)
SELECT ulid_decrypt(ulid_encrypt('01JGGVSBF8BNGP3PKF7Q1R1N87', key), key) FROM keys;
DROP TABLE keys;
-- ## Aggregates
-- ### AGGREGATE min(ulid)
SELECT min(id) FROM orders;
-- ### AGGREGATE max(ulid)
SELECT max(id) FROM orders;
-- ## Operators
-- All operators return boolean and are leakproof. The operator classes below use them for indexes, joins and sorting.
-- | OPERATOR = (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid = '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR <> (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid <> '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR < (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid < '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR <= (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid <= '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR > (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid > '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR >= (ulid, ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid >= '01JGGVSCEGVY8G5VNZHGXVWQGT';
-- | OPERATOR < (ulid, timestamptz)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, ulid)
SELECT timestamptz '2025-01-01 12:00:00+00' < '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid;
-- | OPERATOR <= (ulid, timestamptz)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, ulid)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid;
-- | OPERATOR > (ulid, timestamptz)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, ulid)
SELECT timestamptz '2025-01-01 12:00:00+00' > '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid;
-- | OPERATOR >= (ulid, timestamptz)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, ulid)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid;
-- | OPERATOR <@ (ulid, scru_internal.scru_tstzrange)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, ulid)
SELECT tstzrange('2025-01-01', NULL) @> '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid;
-- ## Operator classes
-- Each operator class except `ulid_minmax_multi_ops` and `ulid_bloom_ops` is the default of its access method.
-- To use one of these two, write its name after the column: `id ulid_bloom_ops`.
-- | OPERATOR CLASS ulid_ops USING btree
CREATE INDEX ON orders (id);
-- | OPERATOR CLASS ulid_ops USING hash
CREATE INDEX ON orders USING hash (id);
-- | OPERATOR CLASS ulid_ops USING gin
CREATE INDEX ON orders USING gin (id, to_tsvector('simple', note));
-- | OPERATOR CLASS ulid_gist_ops USING gist
CREATE INDEX ON orders USING gist (id);
-- | OPERATOR CLASS ulid_minmax_ops USING brin
CREATE INDEX ON orders USING brin (id);
-- | OPERATOR CLASS ulid_minmax_multi_ops USING brin
CREATE INDEX ON orders USING brin (id ulid_minmax_multi_ops);
-- | OPERATOR CLASS ulid_bloom_ops USING brin
CREATE INDEX ON orders USING brin (id ulid_bloom_ops);
-- ## Casts
-- `INSERT`, `UPDATE` and `ALTER TABLE … TYPE` apply an *assignment* cast implicitly. An *explicit* cast must be
-- written as `CAST` or `::`. A cast *without function* does not change the bytes, so that `ALTER TABLE … TYPE` does not
-- rewrite the table.
DROP TABLE orders;
-- | CAST (ulid AS timestamptz)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::timestamptz;
-- | CAST (timestamptz AS ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::timestamptz::ulid;
-- | CAST (ulid AS bytea)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::bytea;
-- | CAST (bytea AS ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::bytea::ulid;
-- | CAST (ulid AS uuid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::uuid;
-- | CAST (uuid AS ulid)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::uuid::ulid;
-- | CAST (ulid AS date)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::date;
-- | CAST (ulid AS scru128)
SELECT '01JGGVSBF8BNGP3PKF7Q1R1N87'::ulid::scru128;

-- # ulidflake
-- Ulid-Flake: 64-bit ID in order of creation, unique within its server (13 Crockford Base32 digits).
--
-- An ID has 8 bytes. Its text has 13 digits. The time of the ID is the start of the millisecond in which it was generated.
--
-- Comments below the statements show their results, in the time zone UTC. The [Reference](../reference.md) describes the
-- functions that are not specific to one type.
-- ## Type
-- ### TYPE ulidflake
CREATE TABLE orders (id ulidflake PRIMARY KEY DEFAULT gen_ulidflake(), note text);
INSERT INTO orders VALUES ('00XFPNFEGMVSX', 'second'), ('00XFPNEF8EQB1', 'first');
SELECT id, note FROM orders ORDER BY id;
-- ## Generate
-- ### FUNCTION gen_ulidflake()
SELECT gen_ulidflake() < gen_ulidflake();
-- ### FUNCTION ulidflake_horizon()
SELECT id, note FROM orders WHERE id < ulidflake_horizon() ORDER BY id LIMIT 1;
-- ### FUNCTION ulidflake_horizon(after ulidflake, lag interval DEFAULT '0')
SELECT ulidflake_horizon('00XFPNEF8EQB1') > '00XFPNEF8EQB1';
SELECT ulidflake_horizon('00XFPNEF8EQB1', '5 s') < ulidflake_horizon();
-- ### FUNCTION ulidflake_is_local(ulidflake)
SELECT ulidflake_is_local(gen_ulidflake());
-- ## Time
-- ### FUNCTION ulidflake_timestamp(ulidflake)
SELECT ulidflake_timestamp('00XFPNEF8EQB1');
-- ### FUNCTION ulidflake_lower(timestamptz)
SELECT ulidflake_lower('2025-01-01 12:00:00.0005+00');
SELECT ulidflake_lower('-infinity');
-- ### FUNCTION ulidflake_upper(timestamptz)
SELECT ulidflake_upper('2025-01-01 12:00:00.0005+00');
SELECT ulidflake_upper('infinity');
-- ### FUNCTION ulidflake_time_encoder(timestamptz)
SELECT ulidflake_time_encoder('2025-01-01 12:00:00+00');
-- ### FUNCTION ulidflake_time_decoder(text)
SELECT ulidflake_time_decoder(ulidflake_time_encoder('2025-01-01 12:00:00+00'));
-- ## Fields
-- ### FUNCTION ulidflake_randomness(id ulidflake)
SELECT ulidflake_randomness('00XFPNEF8EQB1');
-- ### FUNCTION ulidflake_scalable_randomness(id ulidflake)
SELECT ulidflake_scalable_randomness('00XFPNEF8EQB1');
-- ### FUNCTION ulidflake_scalability(id ulidflake)
SELECT ulidflake_scalability('00XFPNEF8EQB1');
-- ### FUNCTION scru_inspect(ulidflake)
SELECT type, "timestamp", fields FROM scru_inspect('00XFPNEF8EQB1'::ulidflake);
-- ## Prefixes
-- [IDs in an API](../api.md#prefixes) describes prefixes.
-- ### FUNCTION ulidflake_prefixed(prefix text, id ulidflake)
SELECT ulidflake_prefixed('order', '00XFPNEF8EQB1');
-- ### FUNCTION ulidflake_unprefixed(prefix text, value text)
SELECT ulidflake_unprefixed('order', ulidflake_prefixed('order', '00XFPNEF8EQB1'));
-- ## Encryption
-- [IDs that hide their time](../encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION ulidflake_encrypt(id ulidflake, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT ulidflake_encrypt('00XFPNEF8EQB1', key) FROM keys;
-- ### FUNCTION ulidflake_decrypt(encrypted uuid, key bytea)
SELECT ulidflake_decrypt(ulidflake_encrypt('00XFPNEF8EQB1', key), key) FROM keys;
DROP TABLE keys;
-- ## Aggregates
-- ### AGGREGATE min(ulidflake)
SELECT min(id) FROM orders;
-- ### AGGREGATE max(ulidflake)
SELECT max(id) FROM orders;
-- ## Operators
-- All operators return boolean and are leakproof. The operator classes below use them for indexes, joins and sorting.
-- | OPERATOR = (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake = '00XFPNFEGMVSX';
-- | OPERATOR <> (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake <> '00XFPNFEGMVSX';
-- | OPERATOR < (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake < '00XFPNFEGMVSX';
-- | OPERATOR <= (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake <= '00XFPNFEGMVSX';
-- | OPERATOR > (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake > '00XFPNFEGMVSX';
-- | OPERATOR >= (ulidflake, ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake >= '00XFPNFEGMVSX';
-- | OPERATOR < (ulidflake, timestamptz)
SELECT '00XFPNEF8EQB1'::ulidflake < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, ulidflake)
SELECT timestamptz '2025-01-01 12:00:00+00' < '00XFPNEF8EQB1'::ulidflake;
-- | OPERATOR <= (ulidflake, timestamptz)
SELECT '00XFPNEF8EQB1'::ulidflake <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, ulidflake)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '00XFPNEF8EQB1'::ulidflake;
-- | OPERATOR > (ulidflake, timestamptz)
SELECT '00XFPNEF8EQB1'::ulidflake > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, ulidflake)
SELECT timestamptz '2025-01-01 12:00:00+00' > '00XFPNEF8EQB1'::ulidflake;
-- | OPERATOR >= (ulidflake, timestamptz)
SELECT '00XFPNEF8EQB1'::ulidflake >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, ulidflake)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '00XFPNEF8EQB1'::ulidflake;
-- | OPERATOR <@ (ulidflake, scru_internal.scru_tstzrange)
SELECT '00XFPNEF8EQB1'::ulidflake <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, ulidflake)
SELECT tstzrange('2025-01-01', NULL) @> '00XFPNEF8EQB1'::ulidflake;
-- ## Operator classes
-- Each operator class except `ulidflake_minmax_multi_ops` and `ulidflake_bloom_ops` is the default of its access method.
-- To use one of these two, write its name after the column: `id ulidflake_bloom_ops`.
-- | OPERATOR CLASS ulidflake_ops USING btree
CREATE INDEX ON orders (id);
-- | OPERATOR CLASS ulidflake_ops USING hash
CREATE INDEX ON orders USING hash (id);
-- | OPERATOR CLASS ulidflake_ops USING gin
CREATE INDEX ON orders USING gin (id, to_tsvector('simple', note));
-- | OPERATOR CLASS ulidflake_gist_ops USING gist
CREATE INDEX ON orders USING gist (id);
-- | OPERATOR CLASS ulidflake_minmax_ops USING brin
CREATE INDEX ON orders USING brin (id);
-- | OPERATOR CLASS ulidflake_minmax_multi_ops USING brin
CREATE INDEX ON orders USING brin (id ulidflake_minmax_multi_ops);
-- | OPERATOR CLASS ulidflake_bloom_ops USING brin
CREATE INDEX ON orders USING brin (id ulidflake_bloom_ops);
-- ## Casts
-- `INSERT`, `UPDATE` and `ALTER TABLE … TYPE` apply an *assignment* cast implicitly. An *explicit* cast must be
-- written as `CAST` or `::`. A cast *without function* does not change the bytes, so that `ALTER TABLE … TYPE` does not
-- rewrite the table.
DROP TABLE orders;
-- | CAST (ulidflake AS timestamptz)
SELECT '00XFPNEF8EQB1'::ulidflake::timestamptz;
-- | CAST (timestamptz AS ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake::timestamptz::ulidflake;
-- | CAST (ulidflake AS bytea)
SELECT '00XFPNEF8EQB1'::ulidflake::bytea;
-- | CAST (bytea AS ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake::bytea::ulidflake;
-- | CAST (ulidflake AS bigint)
SELECT '00XFPNEF8EQB1'::ulidflake::bigint;
-- | CAST (bigint AS ulidflake)
SELECT '00XFPNEF8EQB1'::ulidflake::bigint::ulidflake;
-- | CAST (ulidflake AS date)
SELECT '00XFPNEF8EQB1'::ulidflake::date;

-- # uuidv7
-- UUID version 7: 128-bit ID in order of creation, unique without coordination (32 hexadecimal digits). The IDs are values of the type `uuid`.
--
-- The extension `scru_uuidv7` contains the functions and operators of this page: `CREATE EXTENSION scru_uuidv7 CASCADE`.
-- [Columns of uuid and bigint](../uuid-and-bigint-columns.md) explains when to use it.
--
-- Comments below the statements show their results, in the time zone UTC.
SET client_min_messages = warning;
CREATE EXTENSION scru_uuidv7 SCHEMA test;
-- ## Generate
-- ### FUNCTION gen_uuidv7()
SELECT gen_uuidv7() < gen_uuidv7();
-- ### FUNCTION gen_uuidv7(timestamptz)
SELECT uuidv7_timestamp(gen_uuidv7('2025-01-01 12:00:00+00'));
-- ### FUNCTION uuidv7_horizon()
SELECT uuidv7_horizon() > '019421bc-ade8-7585-890b-23df61da6f3d';
-- ### FUNCTION uuidv7_horizon(after uuid, lag interval DEFAULT '0')
SELECT uuidv7_horizon('019421bc-ade8-7585-890b-23df61da6f3d') > '019421bc-ade8-7585-890b-23df61da6f3d';
SELECT uuidv7_horizon('019421bc-ade8-7585-890b-23df61da6f3d', '5 s') < uuidv7_horizon();
-- ## Time
-- ### FUNCTION uuidv7_timestamp(uuid)
SELECT uuidv7_timestamp('019421bc-ade8-7585-890b-23df61da6f3d');
SELECT uuidv7_timestamp(gen_random_uuid()) IS NULL;
-- ### FUNCTION uuidv7_lower(timestamptz)
SELECT uuidv7_lower('2025-01-01 12:00:00.0005+00');
SELECT uuidv7_lower('-infinity');
-- ### FUNCTION uuidv7_upper(timestamptz)
SELECT uuidv7_upper('2025-01-01 12:00:00.0005+00');
SELECT uuidv7_upper('infinity');
-- ## Aggregates
-- [Columns of uuid and bigint](../uuid-and-bigint-columns.md#min-and-max) explains what changes in PostgreSQL 20.
-- ### AGGREGATE min(uuid)
SELECT min(u) FROM unnest('{019421bc-ade8-7585-890b-23df61da6f3d, 019421bc-b1d0-7e47-ac9a-7bfc02eebf8c}'::uuid[]) AS u;
-- ### AGGREGATE max(uuid)
SELECT max(u) FROM unnest('{019421bc-ade8-7585-890b-23df61da6f3d, 019421bc-b1d0-7e47-ac9a-7bfc02eebf8c}'::uuid[]) AS u;
-- ## Prefixes
-- A prefix and an ID are a [TypeID](../api.md#prefixes).
-- ### FUNCTION uuidv7_prefixed(prefix text, id uuid)
SELECT uuidv7_prefixed('order', '019421bc-ade8-7585-890b-23df61da6f3d');
-- ### FUNCTION uuidv7_unprefixed(prefix text, value text)
SELECT uuidv7_unprefixed('order', uuidv7_prefixed('order', '019421bc-ade8-7585-890b-23df61da6f3d'));
-- ## Encryption
-- [IDs that hide their time](../encryption.md) describes how to make and keep keys, of 16 or 32 bytes.
-- ### FUNCTION uuidv7_encrypt(id uuid, key bytea)
CREATE TABLE keys AS SELECT '\x000102030405060708090a0b0c0d0e0f'::bytea AS key;
SELECT uuidv7_encrypt('019421bc-ade8-7585-890b-23df61da6f3d', key) FROM keys;
-- ### FUNCTION uuidv7_decrypt(encrypted uuid, key bytea)
SELECT uuidv7_decrypt(uuidv7_encrypt('019421bc-ade8-7585-890b-23df61da6f3d', key), key) FROM keys;
DROP TABLE keys;
-- ## Operators
-- All operators return boolean and are leakproof. They compare the bytes of any `uuid` with the first or the last ID of the
-- millisecond that contains the time.
-- | OPERATOR < (uuid, timestamptz)
SELECT '019421bc-ade8-7585-890b-23df61da6f3d'::uuid < timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR < (timestamptz, uuid)
SELECT timestamptz '2025-01-01 12:00:00+00' < '019421bc-ade8-7585-890b-23df61da6f3d'::uuid;
-- | OPERATOR <= (uuid, timestamptz)
SELECT '019421bc-ade8-7585-890b-23df61da6f3d'::uuid <= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR <= (timestamptz, uuid)
SELECT timestamptz '2025-01-01 12:00:00+00' <= '019421bc-ade8-7585-890b-23df61da6f3d'::uuid;
-- | OPERATOR > (uuid, timestamptz)
SELECT '019421bc-ade8-7585-890b-23df61da6f3d'::uuid > timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR > (timestamptz, uuid)
SELECT timestamptz '2025-01-01 12:00:00+00' > '019421bc-ade8-7585-890b-23df61da6f3d'::uuid;
-- | OPERATOR >= (uuid, timestamptz)
SELECT '019421bc-ade8-7585-890b-23df61da6f3d'::uuid >= timestamptz '2025-01-01 12:00:00+00';
-- | OPERATOR >= (timestamptz, uuid)
SELECT timestamptz '2025-01-01 12:00:00+00' >= '019421bc-ade8-7585-890b-23df61da6f3d'::uuid;
-- | OPERATOR <@ (uuid, scru_internal.scru_tstzrange)
SELECT '019421bc-ade8-7585-890b-23df61da6f3d'::uuid <@ tstzrange('2025-01-01', NULL);
-- | OPERATOR @> (scru_internal.scru_tstzrange, uuid)
SELECT tstzrange('2025-01-01', NULL) @> '019421bc-ade8-7585-890b-23df61da6f3d'::uuid;
