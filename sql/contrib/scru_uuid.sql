-- scru128 and ulid as uuid, for hosts that do not allow extensions. Requires PostgreSQL 14 or later:
--
--     psql -f sql/contrib/scru_uuid.sql
--     CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT scru_uuid.generate(), note text);
--
-- The bytes are those of the extension's scru128 and ulid: the first 48 bits are the milliseconds since 1970. A later conversion
-- to the extension's types does not rewrite the table. See docs/without-the-extension.md.
--
--     generator                unique by       strictly increasing                time, relative to gen_scru128()
--     generate()               80 random bits  from one millisecond to the next   about 100
--     generate_increasing()    80 random bits  within a session's committed IDs   about 150
--
-- The times are about 5 and 8 microseconds on PostgreSQL 15. IDs of different sessions in one millisecond are in random order.

BEGIN;

-- No function or operator of another user is called, whatever the search path of the caller is.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA scru_uuid;
COMMENT ON SCHEMA scru_uuid IS 'scru128 and ulid as uuid, without the extension scru';

-------------------------------------------------------------------------------------------------------------- generate

-- In a uuid of version 4, one digit of the third group and two bits of the fourth group are fixed. The other groups are random.
-- An expression with two uuids can be inlined. Using both ends of one uuid would require a variable, and so PL/pgSQL.
CREATE FUNCTION scru_uuid.generate() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (
    lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || right(gen_random_uuid()::text, 12) || left(gen_random_uuid()::text, 8)
)::uuid;

CREATE FUNCTION scru_uuid.generate(at timestamptz) RETURNS uuid LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    millis numeric := floor(extract(epoch FROM at) * 1000);
    random text := gen_random_uuid();
BEGIN
    -- The first and the last timestamp are reserved.
    IF millis < 1 OR millis > 281474976710654 THEN
        RAISE datetime_field_overflow USING MESSAGE = 'timestamp out of range';
    END IF;
    RETURN (lpad(to_hex(millis::bigint), 12, '0') || right(random, 12) || left(random, 8))::uuid;
END
$$;

-- The algorithm of scru128: within a millisecond, a 48-bit counter is incremented; the last 32 bits of each ID are random. The
-- state is the session's last ID, in the setting scru_uuid.last.
CREATE FUNCTION scru_uuid.generate_increasing() RETURNS uuid LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    state text := current_setting('scru_uuid.last', true);
    now_millis bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    random text := gen_random_uuid();
    millis bigint;
    counter bigint;
    id text;
BEGIN
    IF state <> '' THEN
        millis := ('x' || left(state, 12))::bit(48)::bigint;
        counter := ('x' || substr(state, 13, 12))::bit(48)::bigint + 1;
    END IF;
    -- If the clock has moved back by up to 10 seconds, keep the last timestamp; if by more, continue with the clock.
    IF millis IS NULL OR millis < now_millis OR millis > now_millis + 10000 THEN
        millis := now_millis;
        counter := ('x' || right(random, 12))::bit(48)::bigint;
    ELSIF counter = 1::bigint << 48 THEN
        millis := millis + 1;
        counter := ('x' || right(random, 12))::bit(48)::bigint;
    END IF;
    id := lpad(to_hex(millis), 12, '0') || lpad(to_hex(counter), 12, '0') || left(random, 8);
    PERFORM set_config('scru_uuid.last', id, false);
    RETURN id::uuid;
END
$$;

COMMENT ON FUNCTION scru_uuid.generate() IS
    'a new ID: the time in milliseconds and 80 random bits; in random order within a millisecond';
COMMENT ON FUNCTION scru_uuid.generate(timestamptz) IS 'a random ID of a given time, for back-filling';
COMMENT ON FUNCTION scru_uuid.generate_increasing() IS
    'a new ID, greater than the session''s last ID; a rollback restores the previous last ID';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_uuid.timestamp(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    -- Seconds and milliseconds are added separately, because interval multiplication is exact up to 53 bits only.
    timestamp 'epoch'
    + ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000 * interval '1 second'
    + ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint % 1000 * interval '1 millisecond'
) AT TIME ZONE 'UTC';

CREATE FUNCTION scru_uuid.lower(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rpad(lpad(to_hex(
    least(greatest(floor(extract(epoch FROM at AT TIME ZONE 'UTC') * 1000), 0), 281474976710655)::bigint
), 12, '0'), 32, '0')::uuid;

CREATE FUNCTION scru_uuid.upper(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rpad(lpad(to_hex(
    least(greatest(floor(extract(epoch FROM at AT TIME ZONE 'UTC') * 1000), 0), 281474976710655)::bigint
), 12, '0'), 32, 'f')::uuid;

COMMENT ON FUNCTION scru_uuid.timestamp(uuid) IS 'time of creation, in milliseconds';
COMMENT ON FUNCTION scru_uuid.lower(timestamptz) IS 'smallest ID of the millisecond that contains the time';
COMMENT ON FUNCTION scru_uuid.upper(timestamptz) IS 'largest ID of the millisecond that contains the time';

------------------------------------------------------------------------------------------------------------------ text

CREATE FUNCTION scru_uuid.digits(value bigint, length integer, alphabet text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base constant integer := length(alphabet);
    digits text := '';
BEGIN
    FOR i IN 1..length LOOP
        digits := substr(alphabet, (value % base)::integer + 1, 1) || digits;
        value := value / base;
    END LOOP;
    RETURN digits;
END
$$;

-- Twelve digits of base 36 or 32 fit into a bigint. So an ID is split into 1 + 12 + 12 digits of base 36, or into 2 + 12 + 12
-- digits of base 32. Twelve digits of base 32 are 15 hexadecimal digits.
CREATE FUNCTION scru_uuid.to_scru128(id uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    alphabet constant text := '0123456789abcdefghijklmnopqrstuvwxyz';
    twelve_digits constant numeric := 36::numeric ^ 12;
    hex constant text := replace(id::text, '-', '');
    value numeric := ('x' || left(hex, 2))::bit(8)::integer * 2::numeric ^ 120
        + ('x' || substr(hex, 3, 15))::bit(60)::bigint * 2::numeric ^ 60
        + ('x' || right(hex, 15))::bit(60)::bigint;
BEGIN
    RETURN scru_uuid.digits(div(value, twelve_digits * twelve_digits)::bigint, 1, alphabet)
        || scru_uuid.digits((div(value, twelve_digits) % twelve_digits)::bigint, 12, alphabet)
        || scru_uuid.digits((value % twelve_digits)::bigint, 12, alphabet);
END
$$;

CREATE FUNCTION scru_uuid.to_ulid(id uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    alphabet constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    hex constant text := replace(id::text, '-', '');
BEGIN
    RETURN scru_uuid.digits(('x' || left(hex, 2))::bit(8)::integer, 2, alphabet)
        || scru_uuid.digits(('x' || substr(hex, 3, 15))::bit(60)::bigint, 12, alphabet)
        || scru_uuid.digits(('x' || right(hex, 15))::bit(60)::bigint, 12, alphabet);
END
$$;

CREATE FUNCTION scru_uuid.from_digits(digits text, length integer, alphabet text, type text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base constant integer := length(alphabet);
    parts bigint[] := '{0,0,0}';
    part integer;
    value numeric;
    high numeric;
BEGIN
    -- In collation C, lower() converts only ASCII letters.
    IF length(digits) <> length OR translate(lower(digits COLLATE "C"), alphabet, '') <> '' THEN
        RAISE invalid_text_representation USING
            MESSAGE = pg_catalog.format('invalid input syntax for type %s: "%s"', type, digits), DATATYPE = type;
    END IF;
    FOR i IN 1..length LOOP
        part := 3 - (length - i) / 12;
        parts[part] := parts[part] * base + strpos(alphabet, lower(substr(digits, i, 1) COLLATE "C")) - 1;
    END LOOP;
    value := (parts[1] * base::numeric ^ 12 + parts[2]) * base::numeric ^ 12 + parts[3];
    high := div(value, 2::numeric ^ 64);
    IF high >= 2::numeric ^ 64 THEN
        RAISE numeric_value_out_of_range USING
            MESSAGE = pg_catalog.format('value "%s" is out of range for type %s', digits, type), DATATYPE = type;
    END IF;
    value := value % 2::numeric ^ 64;
    -- A bigint holds 63 unsigned bits, so that each half of 64 bits is converted in two parts of 32 bits.
    RETURN lpad(to_hex(div(high, 4294967296)::bigint), 8, '0') || lpad(to_hex((high % 4294967296)::bigint), 8, '0')
        || lpad(to_hex(div(value, 4294967296)::bigint), 8, '0') || lpad(to_hex((value % 4294967296)::bigint), 8, '0');
END
$$;

CREATE FUNCTION scru_uuid.from_scru128(id text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN scru_uuid.from_digits(id, 25, '0123456789abcdefghijklmnopqrstuvwxyz', 'scru128');

CREATE FUNCTION scru_uuid.from_ulid(id text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN scru_uuid.from_digits(id, 26, '0123456789abcdefghjkmnpqrstvwxyz', 'ulid');

COMMENT ON FUNCTION scru_uuid.digits(bigint, integer, text) IS 'the digits of a number; the length of the alphabet is the base';
COMMENT ON FUNCTION scru_uuid.from_digits(text, integer, text, text) IS 'the uuid of a number in digits of an alphabet';
COMMENT ON FUNCTION scru_uuid.to_scru128(uuid) IS 'the scru128 text of the same bytes';
COMMENT ON FUNCTION scru_uuid.to_ulid(uuid) IS 'the ulid text of the same bytes';
COMMENT ON FUNCTION scru_uuid.from_scru128(text) IS 'the uuid with the bytes of a scru128';
COMMENT ON FUNCTION scru_uuid.from_ulid(text) IS 'the uuid with the bytes of a ulid';

COMMIT;
