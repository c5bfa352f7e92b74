-- Feeds that miss no row, for servers where the extension cannot be installed: PostgreSQL 15 and later, no superuser.
-- docs/feeds-without-extension.md explains how to use it.
--
-- A writer's trigger takes a shared advisory lock whose key is a time, before it reads the clock and the floor again, and
-- refuses older keys. A reader raises the floor before it looks for locks. So either the reader finds the lock, or the
-- writer finds the floor. Times are in milliseconds since 1970, less the lag.
CREATE SCHEMA feed;

-- How much older than the first row of its transaction a key can be. Replace the function to change it.
CREATE FUNCTION feed.lag() RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT interval '5 s'$$;

-- The time up to which readers have read. It only rises, and replaces a clock that is set back.
CREATE SEQUENCE feed.floor MINVALUE 0 START 0;

-- The class of the locks, in the upper 16 bits of their keys. Change it if another program uses these keys.
CREATE FUNCTION feed.class() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT 21861::bigint$$;

CREATE FUNCTION feed.clock() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$SELECT trunc(extract(epoch FROM clock_timestamp() - feed.lag()) * 1000)::bigint$$;

CREATE FUNCTION feed.first_uuid(ms bigint) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT rpad(lpad(to_hex(ms), 12, '0'), 32, '0')::uuid$$;

-- Registers the transaction when it is called first, and returns the time of the oldest key that it can insert.
-- ROLLBACK TO a savepoint undoes the lock and the setting together.
CREATE FUNCTION feed.oldest() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    oldest bigint := nullif(pg_catalog.current_setting('feed.oldest', true), '');
BEGIN
    IF oldest IS NULL THEN
        oldest := feed.clock();
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(feed.class() << 48 | oldest);
        oldest := greatest(oldest, feed.clock(), (SELECT last_value FROM feed.floor));
        PERFORM pg_catalog.set_config('feed.oldest', oldest::text, true);
    END IF;
    RETURN oldest;
END $$;
CREATE FUNCTION feed.oldest_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS $$SELECT feed.first_uuid(feed.oldest())$$;
CREATE FUNCTION feed.oldest_time() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$SELECT to_timestamp(feed.oldest() / 1000.0)$$;

CREATE FUNCTION feed.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'the key in column "%" of table "%" is too old for a feed, or has no time', tg_argv[0], tg_table_name USING
        ERRCODE = '22023',
        DETAIL = 'Readers may have passed it, or would never receive it.',
        HINT = 'Generate a new key and insert the row again.';
END $$;

-- Guards a table. The third argument is the oldest key that the transaction can insert, as an expression.
CREATE PROCEDURE feed.guard(feed regclass, key name, oldest text DEFAULT 'feed.oldest_uuid()') LANGUAGE plpgsql AS $$
DECLARE
    is_timely text := pg_catalog.format('NEW.%I >= %s', key, oldest);
BEGIN
    -- Other versions of uuid have no time.
    IF EXISTS (SELECT FROM pg_catalog.pg_attribute
               WHERE attrelid = feed AND attname = key AND atttypid = 'pg_catalog.uuid'::pg_catalog.regtype) THEN
        is_timely := pg_catalog.format('%s AND pg_catalog.substr(NEW.%I::text, 15, 1) = ''7''', is_timely, key);
    END IF;
    EXECUTE pg_catalog.format(
        'CREATE TRIGGER feed_guard AFTER INSERT ON %s FOR EACH ROW WHEN ((%s) IS NOT TRUE) EXECUTE FUNCTION feed.refuse(%L)',
        feed, is_timely, key);
    EXECUTE pg_catalog.format(
        'CREATE TRIGGER feed_guard_update AFTER UPDATE ON %s FOR EACH ROW'
        ' WHEN (NEW.%2$I IS DISTINCT FROM OLD.%2$I AND (%3$s) IS NOT TRUE) EXECUTE FUNCTION feed.refuse(%2$L)',
        feed, key, is_timely);
END $$;

-- Raises an error where a horizon would be wrong.
CREATE PROCEDURE feed.check_reader() LANGUAGE plpgsql AS $$
BEGIN
    IF pg_catalog.pg_is_in_recovery() THEN
        RAISE 'a standby has no horizon' USING ERRCODE = '25006',
            DETAIL = 'It does not know which transactions run on its primary.';
    END IF;
    IF pg_catalog.current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE 'feed.horizon() requires READ COMMITTED' USING ERRCODE = '25001',
            DETAIL = 'The next statement would have an older snapshot.';
    END IF;
END $$;

-- Returns the lowest key of the locks of a class in this database; NULL if there are none.
CREATE FUNCTION feed.lowest_lock(class bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT min((classid::bigint & 65535) << 32 | objid::bigint) FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted AND classid::bigint >> 16 = class
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;

-- The horizons are procedures, so that they are no part of the statement that reads, whose snapshot would be older.
CREATE PROCEDURE feed.horizon(INOUT horizon bigint) LANGUAGE plpgsql AS $$
DECLARE
    -- Readers raise the floor one after the other: setval() could lower it.
    turn bigint := (feed.class() << 48) + (1::bigint << 48) - 1;
BEGIN
    CALL feed.check_reader();
    BEGIN
        PERFORM pg_catalog.pg_advisory_xact_lock(turn);
        horizon := greatest(feed.clock(), (SELECT last_value FROM feed.floor));
        PERFORM pg_catalog.setval('feed.floor', horizon);
        -- Undoes the lock, and not setval(), which is not transactional.
        RAISE SQLSTATE 'FEED0';
    EXCEPTION WHEN SQLSTATE 'FEED0' THEN
    END;
    horizon := least(horizon, feed.lowest_lock(feed.class()));
END $$;
CREATE PROCEDURE feed.horizon(INOUT horizon uuid) LANGUAGE plpgsql AS $$
DECLARE
    ms bigint;
BEGIN
    CALL feed.horizon(ms);
    horizon := feed.first_uuid(ms);
END $$;
CREATE PROCEDURE feed.horizon(INOUT horizon timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    ms bigint;
BEGIN
    CALL feed.horizon(ms);
    horizon := pg_catalog.to_timestamp(ms / 1000.0);
END $$;

---------------------------------------------------------------------------------------- bigint GENERATED AS IDENTITY

-- The sequence is the clock, and there is no lag. It must ascend and have CACHE 1. A sequence is named as text, because a
-- restored dump gives it another OID. Each has a class of locks, by a hash: two with the same only delay each other's readers.
CREATE FUNCTION feed.class_of(sequence text) RETURNS bigint LANGUAGE sql IMMUTABLE
    AS $$SELECT feed.class() + 1 + (hashtext(sequence) & 8191)$$;
CREATE FUNCTION feed.last_of(sequence text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last bigint;
BEGIN
    EXECUTE pg_catalog.format('SELECT last_value - (NOT is_called)::integer FROM %s', sequence) INTO last;
    IF last NOT BETWEEN 0 AND (1::bigint << 48) - 1 THEN
        RAISE 'value of sequence % is out of range for a feed', sequence USING ERRCODE = '22003';
    END IF;
    RETURN last;
END $$;

-- BEFORE … FOR EACH STATEMENT: the server evaluates the defaults of the columns afterwards.
CREATE FUNCTION feed.register() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    setting text := 'feed.last_' || pg_catalog.md5(tg_argv[0]);
BEGIN
    IF coalesce(pg_catalog.current_setting(setting, true), '') = '' THEN
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(feed.class_of(tg_argv[0]) << 48 | feed.last_of(tg_argv[0]));
        PERFORM pg_catalog.set_config(setting, feed.last_of(tg_argv[0])::text, true);
    END IF;
    RETURN NULL;
END $$;

-- Returns the last value that was drawn when the transaction registered.
CREATE FUNCTION feed.last_before(sequence text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(nullif(current_setting('feed.last_' || md5(sequence), true), '')::bigint, 9223372036854775806)
$$;
CREATE PROCEDURE feed.guard_identity(feed regclass, key name) LANGUAGE plpgsql AS $$
DECLARE
    sequence text := pg_catalog.pg_get_serial_sequence(feed::text, key);
BEGIN
    IF sequence IS NULL THEN
        RAISE 'column "%" of table "%" has no sequence', key, feed USING ERRCODE = '22023';
    END IF;
    EXECUTE pg_catalog.format(
        'CREATE TRIGGER feed_register BEFORE INSERT OR UPDATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION feed.register(%L)',
        feed, sequence);
    CALL feed.guard(feed, key, pg_catalog.format('(feed.last_before(%L) + 1)', sequence));
END $$;

-- The last key that can be read: WHERE id > after AND id <= horizon.
CREATE PROCEDURE feed.horizon_identity(sequence text, INOUT horizon bigint) LANGUAGE plpgsql AS $$
DECLARE
    -- As the triggers spell it.
    name text := (SELECT pg_catalog.format('%s.%I', relnamespace::pg_catalog.regnamespace, relname)
                  FROM pg_catalog.pg_class WHERE oid = sequence::pg_catalog.regclass);
BEGIN
    CALL feed.check_reader();
    horizon := feed.last_of(name);
    horizon := least(horizon, feed.lowest_lock(feed.class_of(name)));
END $$;

-- Writers need their rights on the table, and SELECT on the sequence of an identity column. Readers also need UPDATE on
-- feed.floor.
GRANT USAGE ON SCHEMA feed TO PUBLIC;
GRANT SELECT ON feed.floor TO PUBLIC;
