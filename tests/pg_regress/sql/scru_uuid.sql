-- sql/contrib/scru_uuid.sql: the bytes and texts of scru128 and ulid in a uuid, without the extension.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql
\set ECHO none
\i :here/../contrib/scru_uuid.sql
\set ECHO all

-- Texts and times are those of the vectors. Malformed texts raise the errors of the extension, which adds a DETAIL to them.
CREATE FUNCTION to_text(type text, id uuid) RETURNS text LANGUAGE sql
    RETURN CASE type WHEN 'ulid' THEN scru_uuid.to_ulid(id) WHEN 'scru128' THEN scru_uuid.to_scru128(id) END;
CREATE FUNCTION from_text(type text, id text) RETURNS uuid LANGUAGE sql
    RETURN CASE type WHEN 'ulid' THEN scru_uuid.from_ulid(id) WHEN 'scru128' THEN scru_uuid.from_scru128(id) END;
SELECT type, count(*) > 10, bool_and(to_text(type, id) = text), bool_and(scru_uuid.timestamp(id) = timestamp),
    bool_and(id = ALL (SELECT from_text(type, read) FROM unnest(text || also_read) AS read))
FROM valid, CAST(encode(bytes, 'hex') AS uuid) AS id WHERE type IN ('scru128', 'ulid') GROUP BY type ORDER BY type;
SELECT type, count(*) > 20,
    bool_and(split_part(error, ' / ', 1) IS NOT DISTINCT FROM error_of(format('SELECT from_text(%L, %L)', type, text)))
FROM malformed WHERE type IN ('scru128', 'ulid') AND length(text) <= 64 GROUP BY type ORDER BY type;

-- Bounds are those of the extension, at ticks, next to them and out of range.
SELECT count(*), count(*) FILTER (WHERE scru_uuid.lower(t) = scru128_lower(t)::uuid AND scru_uuid.upper(t) = scru128_upper(t)::uuid
    AND scru_uuid.lower(t) = ulid_lower(t)::uuid AND scru_uuid.upper(t) = ulid_upper(t)::uuid)
FROM (
    SELECT timestamptz 'epoch' + n * interval '977 days 3 hours 1 minute 0.123457 seconds' FROM generate_series(0, 3000) AS n
    UNION ALL SELECT timestamptz '2026-11-01' + n * interval '1 microsecond' FROM generate_series(-1001, 1001) AS n
    UNION ALL SELECT unnest('{epoch, 10889-08-02 05:31:50.655, -infinity, infinity, 4713-01-01 BC, 1969-12-31,
        10889-08-02 05:31:50.656, 294276-12-31 23:59:59.999999}'::timestamptz[])
) AS times (t);

-- The first and the last timestamp are reserved.
SELECT error_of('SELECT scru_uuid.generate(timestamptz ''epoch'')'), error_of('SELECT scru_uuid.generate(''10889-08-02 05:31:50.655'')');
SELECT scru_uuid.generate(NULL);

-- An ID has the time of the call in milliseconds. Each of the other bits is set in some IDs and, with generate(), clear in some.
SELECT generator, result FROM unnest('{generate,generate_increasing}'::text[]) AS generator, lines_of(format($$
    SELECT count(DISTINCT id), bool_and(scru_uuid.timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after),
        bit_or(body) = ~ 0::bit(80), bit_and(body) = 0::bit(80) OR %1$L = 'generate_increasing'
    FROM (SELECT clock_timestamp() AS before, scru_uuid.%1$s() AS id, clock_timestamp() AS after FROM generate_series(1, 20000)) AS made,
        LATERAL (SELECT ('x' || right(replace(id::text, '-', ''), 20))::bit(80) AS body) AS bits
$$, generator)) AS result;

-- Each ID of a session is greater than the one before and has new random low bits, even after a rollback.
CREATE TABLE made (n integer GENERATED ALWAYS AS IDENTITY, id uuid);
INSERT INTO made (id) SELECT scru_uuid.generate_increasing() FROM generate_series(1, 5000);
BEGIN;
SELECT count(scru_uuid.generate_increasing()) FROM generate_series(1, 5000);
ROLLBACK;
INSERT INTO made (id) SELECT scru_uuid.generate_increasing() FROM generate_series(1, 5000);
SELECT count(*), bool_and(id > previous), count(DISTINCT right(id::text, 8)) > 9990
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM made) AS ids;

-- If the clock is up to 10 s behind, generation continues from the last ID, and the counter carries into the timestamp. If it is
-- further behind, generation starts anew.
SELECT ahead, id > last, CASE ahead WHEN '9 s' THEN scru_uuid.timestamp(id) - scru_uuid.timestamp(last) END
FROM (
    SELECT ahead, set_config('scru_uuid.last',
        rpad(left(replace(scru_uuid.lower(clock_timestamp() + ahead)::text, '-', ''), 12), 24, 'f') || '00000000', false)::uuid AS last,
        scru_uuid.generate_increasing() AS id
    FROM unnest('{0 s, 9 s, 11 s}'::interval[]) AS ahead
) AS made;
DROP SCHEMA scru_uuid CASCADE;
