-- Encryption of IDs to uuids, and back: NULLs, keys of other lengths, and uuids that are not encrypted IDs.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
CREATE EXTENSION scru_uuidv7 SCHEMA test;

-- The functions of each kind. scru160 has none.
SELECT proname, pg_get_function_identity_arguments(p.oid) AS arguments, prorettype::regtype, provolatile, proisstrict, proparallel,
       proleakproof, procost
FROM pg_proc AS p WHERE proname ~ '_(encrypt|decrypt)$' ORDER BY proname COLLATE "C";

-- The kinds, each with an ID.
CREATE TABLE kinds AS
    SELECT kind, id, coalesce(nullif(kind, 'scru_bigint'), 'bigint') AS type, kind NOT IN ('scru128', 'ulid') AS is_walked
    FROM (VALUES ('uuidv7', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), ('scru_bigint', '42'), ('scru64', '0u375hxe74vy'),
                 ('ulidflake', '02N0CXBKVG80Y'), ('scru128', '036z951mhjikzik2gsl81gr7l'), ('ulid', '01FWHE4YDGFK1SHH6W1G60EECF'))
        AS kinds (kind, id);
UPDATE kinds SET type = 'uuid' WHERE kind = 'uuidv7';
CREATE FUNCTION for_each_kind(query text) RETURNS TABLE (kind text, result text) LANGUAGE sql AS $$
    SELECT kind, lines_of(replace(replace(replace(query, '$K', kind), '$ID', quote_literal(id) || '::' || type), '$T', type)) FROM kinds
$$;

-- The same ID and key have the same uuid. Another key has another one. Keys of 16 and 32 bytes differ.
SELECT * FROM for_each_kind($$
    SELECT $K_encrypt($ID, '\x000102030405060708090a0b0c0d0e0f'),
           $K_encrypt($ID, '\x000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f')
$$);
SELECT * FROM for_each_kind($$
    SELECT count(DISTINCT $K_encrypt($ID, sha256(int4send(n)))), bool_and($K_decrypt($K_encrypt($ID, sha256(int4send(n))), sha256(int4send(n))) = $ID)
    FROM generate_series(1, 100) AS n
$$);

-- The result has version 4, except for scru128 and ulid.
SELECT * FROM for_each_kind($$
    SELECT bool_and($K_encrypt($ID, sha256(int4send(n)))::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')
    FROM generate_series(1, 100) AS n
$$);

-- NULLs.
SELECT * FROM for_each_kind($$
    SELECT $K_encrypt(NULL, '\x000102030405060708090a0b0c0d0e0f'), $K_encrypt($ID, NULL),
           $K_decrypt(NULL, '\x000102030405060708090a0b0c0d0e0f'), $K_decrypt(gen_random_uuid(), NULL)
$$);

-- Keys of other lengths.
SELECT * FROM for_each_kind($$
    SELECT count(*), full_error = error_of(format($q$ SELECT $K_decrypt(gen_random_uuid(), %L::bytea) $q$, key)) AS is_same, error
    FROM generate_series(0, 100) AS length, decode(repeat('ab', length), 'hex') AS key,
         error_of(format($q$ SELECT $K_encrypt($ID, %L::bytea) $q$, key)) AS full_error,
         regexp_replace(full_error, 'one has \d+', 'one has …') AS error
    GROUP BY 2, 3 ORDER BY 1
$$);
SELECT error_of($$ SELECT scru64_encrypt(scru64_lower(now()), '\x') $$), error_of($$ SELECT scru64_encrypt(scru64_lower(now()), 'a password') $$);

-- Uuids of other versions are not encrypted, and only version 4 is decrypted. The smallest and the largest uuid have no version.
CREATE TABLE uuids AS
    SELECT n, overlay(overlay('017f22e2-79b0-7cc3-98c4-dc0c0c07398f' PLACING to_hex(n % 16) FROM 15) PLACING to_hex(n / 16) FROM 20)::uuid AS id
    FROM generate_series(0, 255) AS n
    UNION ALL VALUES (256, uuid '00000000-0000-0000-0000-000000000000'), (257, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
SELECT error, count(*), min(id::text), max(id::text)
FROM uuids, error_of(format($$ SELECT uuidv7_encrypt(%L, '\x000102030405060708090a0b0c0d0e0f') $$, id)) AS full_error,
     regexp_replace(full_error, 'version is \d+', 'version is …') AS error
GROUP BY error ORDER BY 2, 1;
SELECT error_of($$ SELECT uuidv7_encrypt('919108f7-52d1-4320-9bac-f847db4148a8', '\x000102030405060708090a0b0c0d0e0f') $$);
SELECT * FROM for_each_kind($$
    SELECT count($K_decrypt(id, '\x000102030405060708090a0b0c0d0e0f')) FROM uuids
$$);
SELECT id, uuidv7_decrypt(id, '\x000102030405060708090a0b0c0d0e0f') FROM uuids
WHERE uuidv7_decrypt(id, '\x000102030405060708090a0b0c0d0e0f') IS NOT NULL;

-- With another key, a uuid is decrypted to another ID, or to none if the ID has 8 bytes.
SELECT * FROM for_each_kind($$
    SELECT count($K_decrypt($K_encrypt($ID, sha256(int4send(n))), sha256(int4send(-n)))),
           count(nullif($K_decrypt($K_encrypt($ID, sha256(int4send(n))), sha256(int4send(-n))), $ID))
    FROM generate_series(1, 100) AS n
$$);
-- One key serves all kinds: equal bytes of two kinds have different uuids, and no kind decrypts those of another.
SELECT scru64_decrypt(ulidflake_encrypt('0000000000007', key), key), scru_bigint_decrypt(scru64_encrypt('000000000007', key), key),
       count(DISTINCT encrypted)
FROM (VALUES ('\x000102030405060708090a0b0c0d0e0f'::bytea)) AS keys (key), unnest(ARRAY[
    scru64_encrypt('000000000007', key), ulidflake_encrypt('0000000000007', key), scru_bigint_encrypt(7, key),
    ulid_encrypt('00000000000000000000000007', key), scru128_encrypt('0000000000000000000000007', key)
]) AS encrypted
GROUP BY key;
-- The whole range of a bigint is encrypted.
SELECT n, scru_bigint_decrypt(scru_bigint_encrypt(n, key), key)
FROM (VALUES ('\x000102030405060708090a0b0c0d0e0f'::bytea)) AS keys (key), unnest('{-9223372036854775808, -1, 0, 9223372036854775807}'::bigint[]) AS n;

-- Each row of a statement can have another key.
SELECT n, scru64_decrypt('6a84b2dd-0e1c-4d35-a1a4-7f0b6e6c2f11', key), scru64_decrypt(scru64_encrypt('0u375hxe74vy', key), key),
       scru64_encrypt('0u375hxe74vy', key) = first_value(scru64_encrypt('0u375hxe74vy', key)) OVER (ORDER BY n) AS is_first
FROM unnest(ARRAY[
    '\x000102030405060708090a0b0c0d0e0f', '\x000102030405060708090a0b0c0d0eff', '\x000102030405060708090a0b0c0d0e0f',
    '\x000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f', '\x000102030405060708090a0b0c0d0e0f'
]::bytea[]) WITH ORDINALITY AS keys (key, n) ORDER BY n;
-- A key in a table, and a long one that is compressed.
CREATE TABLE keys (key bytea);
INSERT INTO keys VALUES (decode(repeat('ab', 16), 'hex')), (decode(repeat('ab', 10000), 'hex'));
SELECT count(scru64_encrypt('0u375hxe74vy', key)) FROM keys WHERE length(key) = 16;
SELECT error_of($$ SELECT count(scru64_encrypt('0u375hxe74vy', key)) FROM keys $$);

-- Neither an index nor a generated column can have a key. A condition with an encrypted ID uses the index of the IDs.
CREATE TABLE orders (id scru64 PRIMARY KEY);
SELECT error_of($$ CREATE INDEX ON orders (scru64_encrypt(id, '\x000102030405060708090a0b0c0d0e0f')) $$),
       error_of($$ ALTER TABLE orders ADD public_id uuid GENERATED ALWAYS AS (scru64_encrypt(id, '\x000102030405060708090a0b0c0d0e0f')) STORED $$);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT regexp_replace(plan_of(query), '\$0|\(InitPlan \w+\)\.col1', '(subquery)') AS plan FROM (VALUES
    ($$ SELECT * FROM orders WHERE id = scru64_decrypt('6a84b2dd-0e1c-4d35-a1a4-7f0b6e6c2f11', (SELECT key FROM keys LIMIT 1)) $$),
    ($$ SELECT * FROM orders WHERE id = ANY (ARRAY(SELECT scru64_decrypt('6a84b2dd-0e1c-4d35-a1a4-7f0b6e6c2f11', key) FROM keys)) $$)
) AS queries (query);
