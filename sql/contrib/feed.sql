-- Feeds that miss no row, for servers where the extension cannot be installed: PostgreSQL 15 and later, no superuser.
-- docs/without-the-extension.md explains how to use it.
--
-- A writer's trigger takes a shared advisory lock whose key is a time, before it reads the clock and the floor again, and
-- refuses older keys. A reader raises the floor before it looks for locks. So either the reader finds the lock, or the
-- writer finds the floor. Times are in milliseconds since 1970, less the lag.

BEGIN;

-- No function, operator or type of another user is used: each function either has this path, or a body that the server parses now.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA scru_feed;

-- How much older than the first row of its transaction a key can be. Replace the function to change it.
CREATE FUNCTION scru_feed.lag() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN interval '5 s';

-- The time up to which readers have read. It only rises, and replaces a clock that is set back.
CREATE SEQUENCE scru_feed.floor MINVALUE 0 START 0;

-- The class of the locks, in the upper 16 bits of their keys. Change it if another program uses these keys.
CREATE FUNCTION scru_feed.class() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 21861::bigint;

CREATE FUNCTION scru_feed.clock() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN trunc(extract(epoch FROM clock_timestamp() - scru_feed.lag()) * 1000)::bigint;

CREATE FUNCTION scru_feed.first_uuid(ms bigint) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN rpad(lpad(to_hex(ms), 12, '0'), 32, '0')::uuid;

-- Registers the transaction, and returns the time of the oldest key that it can insert. ROLLBACK TO a savepoint undoes the lock
-- and the setting together.
CREATE FUNCTION scru_feed.register() RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    oldest bigint := scru_feed.clock();
BEGIN
    PERFORM pg_advisory_xact_lock_shared(scru_feed.class() << 48 | oldest);
    oldest := greatest(oldest, scru_feed.clock(), (SELECT last_value FROM scru_feed.floor));
    PERFORM set_config('scru_feed.oldest', oldest::text, true);
    RETURN oldest;
END $$;

-- The oldest key that the transaction can insert. Registers the transaction when it is called first.
CREATE FUNCTION scru_feed.oldest() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN coalesce(nullif(current_setting('scru_feed.oldest', true), '')::bigint, scru_feed.register());
CREATE FUNCTION scru_feed.oldest_uuid() RETURNS uuid LANGUAGE sql VOLATILE RETURN scru_feed.first_uuid(scru_feed.oldest());
CREATE FUNCTION scru_feed.oldest_time() RETURNS timestamptz LANGUAGE sql VOLATILE
    RETURN to_timestamp(scru_feed.oldest() / 1000.0);

-- The arguments are the column, and the oldest key or its time, as an expression.
CREATE FUNCTION scru_feed.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    oldest text;
BEGIN
    -- The guard has registered the transaction.
    EXECUTE format('SELECT (%s)::text', tg_argv[1]) INTO oldest;
    RAISE 'the key in column "%" of table "%" is too old for a feed, or has no time', tg_argv[0], tg_table_name USING
        ERRCODE = '23514', SCHEMA = tg_table_schema, TABLE = tg_table_name, COLUMN = tg_argv[0], CONSTRAINT = tg_name,
        DETAIL = format('Readers may have passed it, or would never receive it: this transaction can insert keys from %s on.', oldest),
        HINT = 'Generate a new key and insert the row again. If the clock has been ahead, set the floor back.';
END $$;

-- Guards a table. The third argument is the oldest key that the transaction can insert, as an expression.
CREATE PROCEDURE scru_feed.guard(feed regclass, key name, oldest text DEFAULT 'scru_feed.oldest_uuid()') LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_timely text := format('NEW.%I >= %s', key, oldest);
    shown text := replace(oldest, 'oldest_uuid', 'oldest_time');
BEGIN
    -- Other versions of uuid have no time. The type may be a domain.
    IF EXISTS (WITH RECURSIVE types AS (
                   SELECT atttypid AS type FROM pg_attribute WHERE attrelid = feed AND attname = key
                   UNION ALL SELECT typbasetype FROM types JOIN pg_type ON pg_type.oid = type)
               SELECT FROM types WHERE type = 'uuid'::regtype) THEN
        is_timely := format('%s AND substr(NEW.%I::text, 15, 1) = ''7''', is_timely, key);
    END IF;
    EXECUTE format(
        'CREATE TRIGGER feed_guard AFTER INSERT ON %s FOR EACH ROW WHEN ((%s) IS NOT TRUE)'
        ' EXECUTE FUNCTION scru_feed.refuse(%L, %L)', feed, is_timely, key, shown);
    EXECUTE format(
        'CREATE TRIGGER feed_guard_update AFTER UPDATE ON %s FOR EACH ROW'
        ' WHEN (NEW.%2$I IS DISTINCT FROM OLD.%2$I AND (%3$s) IS NOT TRUE) EXECUTE FUNCTION scru_feed.refuse(%2$L, %4$L)',
        feed, key, is_timely, shown);
END $$;

-- Raises an error where a horizon would be wrong.
CREATE PROCEDURE scru_feed.check_reader() LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE 'a standby has no horizon' USING ERRCODE = '25006',
            DETAIL = 'It does not know which transactions run on its primary.';
    END IF;
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE 'scru_feed.horizon() requires READ COMMITTED' USING ERRCODE = '25001',
            DETAIL = 'The next statement would have an older snapshot.';
    END IF;
END $$;

-- Returns the lowest key of the locks of a class in this database; NULL if there are none.
CREATE FUNCTION scru_feed.lowest_lock(class bigint) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN (SELECT min((classid::bigint & 65535) << 32 | objid::bigint) FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted AND classid::bigint >> 16 = class
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));

-- The horizons are procedures, so that they are no part of the statement that reads, whose snapshot would be older.
CREATE PROCEDURE scru_feed.horizon(INOUT horizon bigint) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- Readers raise the floor one after the other: setval() could lower it.
    turn bigint := (scru_feed.class() << 48) + (1::bigint << 48) - 1;
BEGIN
    CALL scru_feed.check_reader();
    BEGIN
        PERFORM pg_advisory_xact_lock(turn);
        horizon := greatest(scru_feed.clock(), (SELECT last_value FROM scru_feed.floor));
        PERFORM setval('scru_feed.floor', horizon);
        -- Undoes the lock, and not setval(), which is not transactional.
        RAISE SQLSTATE 'FEED0';
    EXCEPTION WHEN SQLSTATE 'FEED0' THEN
    END;
    horizon := least(horizon, scru_feed.lowest_lock(scru_feed.class()));
END $$;
CREATE PROCEDURE scru_feed.horizon(INOUT horizon uuid) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ms bigint;
BEGIN
    CALL scru_feed.horizon(ms);
    horizon := scru_feed.first_uuid(ms);
END $$;
CREATE PROCEDURE scru_feed.horizon(INOUT horizon timestamptz) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ms bigint;
BEGIN
    CALL scru_feed.horizon(ms);
    horizon := to_timestamp(ms / 1000.0);
END $$;

---------------------------------------------------------------------------------------- bigint GENERATED AS IDENTITY

-- The sequence is the clock, and there is no lag. It must ascend and have CACHE 1. Each has a class of locks. A dump has the name of
-- a sequence, and the number of its class.
CREATE TABLE scru_feed.identities (
    number integer PRIMARY KEY CHECK (number BETWEEN 1 AND 8191),
    sequence regclass NOT NULL UNIQUE
);

-- Returns the number of a sequence.
CREATE FUNCTION scru_feed.number_of(sequence regclass) RETURNS integer LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found integer := (SELECT number FROM scru_feed.identities WHERE identities.sequence = number_of.sequence);
BEGIN
    IF found IS NULL THEN
        RAISE 'the sequence of the column is not that of a guarded one' USING ERRCODE = '55000',
            DETAIL = coalesce(format('It is "%s".', sequence), 'There is none.'),
            HINT = 'Drop the triggers of the table, and call scru_feed.guard_identity() again.';
    END IF;
    RETURN found;
END $$;
CREATE FUNCTION scru_feed.last_of(sequence regclass) RETURNS bigint LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE format('SELECT last_value - (NOT is_called)::integer FROM %s', sequence) INTO last;
    IF last NOT BETWEEN 0 AND (1::bigint << 48) - 1 THEN
        RAISE 'value of sequence % is out of range for a feed', sequence USING ERRCODE = '22003';
    END IF;
    RETURN last;
END $$;

-- BEFORE … FOR EACH STATEMENT: the server evaluates the defaults of the columns afterwards. The argument is the column. Its sequence
-- must be the one that it had when it was guarded.
CREATE FUNCTION scru_feed.register_identity() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence regclass := pg_get_serial_sequence(tg_relid::regclass::text, tg_argv[0]);
    number bigint := scru_feed.number_of(sequence);
    setting text := 'scru_feed.last_' || number;
BEGIN
    IF coalesce(current_setting(setting, true), '') = '' THEN
        PERFORM pg_advisory_xact_lock_shared(scru_feed.class() + number << 48 | scru_feed.last_of(sequence));
        PERFORM set_config(setting, scru_feed.last_of(sequence)::text, true);
    END IF;
    RETURN NULL;
END $$;

-- Returns the last value that was drawn when the transaction registered.
CREATE FUNCTION scru_feed.last_before(number integer) RETURNS bigint LANGUAGE sql VOLATILE
    RETURN coalesce(nullif(current_setting('scru_feed.last_' || number, true), '')::bigint, 9223372036854775806);
CREATE PROCEDURE scru_feed.guard_identity(feed regclass, key name) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter regclass := pg_get_serial_sequence(feed::text, key);
BEGIN
    IF counter IS NULL THEN
        RAISE 'column "%" of table "%" has no sequence', key, feed USING ERRCODE = '22023';
    END IF;
    INSERT INTO scru_feed.identities SELECT coalesce(max(number), 0) + 1, counter FROM scru_feed.identities
        ON CONFLICT ON CONSTRAINT identities_sequence_key DO NOTHING;
    EXECUTE format(
        'CREATE TRIGGER feed_register BEFORE INSERT OR UPDATE ON %s FOR EACH STATEMENT'
        ' EXECUTE FUNCTION scru_feed.register_identity(%L)', feed, key);
    CALL scru_feed.guard(feed, key, format('(scru_feed.last_before(%s) + 1)', scru_feed.number_of(counter)));
END $$;

-- The last key that can be read: WHERE id > after AND id <= horizon.
CREATE PROCEDURE scru_feed.horizon_identity(feed regclass, key name, INOUT horizon bigint) LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sequence regclass := pg_get_serial_sequence(feed::text, key);
    number bigint := scru_feed.number_of(sequence);
BEGIN
    CALL scru_feed.check_reader();
    horizon := scru_feed.last_of(sequence);
    horizon := least(horizon, scru_feed.lowest_lock(scru_feed.class() + number));
END $$;

-- Writers need their rights on the table, and SELECT on the sequence of an identity column. Readers also need UPDATE on
-- scru_feed.floor.
GRANT USAGE ON SCHEMA scru_feed TO PUBLIC;
GRANT SELECT ON scru_feed.floor, scru_feed.identities TO PUBLIC;

COMMIT;
