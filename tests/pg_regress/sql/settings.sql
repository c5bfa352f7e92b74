-- The settings.
\getenv here PG_ABS_SRCDIR
\i :here/setup.psql

-- All settings, and where they can be set. user: in a session, by any user. sighup: in the configuration file. superuser: also by
-- ALTER ROLE ALL and ALTER DATABASE.
SELECT name, context, vartype, CASE WHEN context <> 'internal' THEN boot_val END AS boot_val, min_val, max_val, enumvals,
    short_desc <> '' AS described
FROM pg_settings WHERE name LIKE 'scru.%' ORDER BY name;
SELECT current_setting('scru.library_version') = default_version AS matches
FROM pg_available_extensions WHERE name = 'scru';

-- User settings accept all of their values. RESET restores the default.
CREATE FUNCTION after_set(name text, value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET %s = %L', name, value);
    RETURN current_setting(name);
END $$;
SELECT name, value, after_set(name, value), after_set(name, upper(value))
FROM pg_settings, unnest(enumvals) AS value WHERE name LIKE 'scru.%' AND context = 'user' ORDER BY name, value;
RESET scru.on_clock_rollback;
SHOW scru.on_clock_rollback;

-- Other values raise an error.
SELECT name, error_of(format('SET %s = %L', name, 'nonsense'))
FROM pg_settings WHERE name LIKE 'scru.%' AND context = 'user' ORDER BY name;
SELECT name, error_of(format('SET %s = %L', name, ''))
FROM pg_settings WHERE name LIKE 'scru.%' AND context = 'user' ORDER BY name;

-- A session cannot change the other settings, except for the superuser's scru.node_hosts.
SELECT name, error_of(format('SET %s = %L', name, boot_val))
FROM pg_settings WHERE name LIKE 'scru.%' AND context <> 'user' ORDER BY name;

-- ALTER SYSTEM rejects invalid values.
SELECT format('ALTER SYSTEM SET %s = %L', name, value)
FROM pg_settings,
    unnest(CASE vartype WHEN 'integer' THEN ARRAY[min_val::bigint - 1, max_val::bigint + 1]::text[] ELSE '{nonsense,""}' END) AS value
WHERE name LIKE 'scru.%' AND name <> 'scru.node_hosts' AND context <> 'user' ORDER BY name, value \gexec

-- A misspelt name raises an error, because the prefix scru is reserved.
SELECT error_of('SET scru.on_clock_rolback = error');

-- Settings of a function and of a transaction.
CREATE FUNCTION strict_rollback() RETURNS text LANGUAGE sql SET scru.on_clock_rollback = error AS $$
    SELECT current_setting('scru.on_clock_rollback')
$$;
SELECT strict_rollback(), current_setting('scru.on_clock_rollback');
BEGIN;
SET LOCAL scru.on_clock_rollback = error;
SHOW scru.on_clock_rollback;
ROLLBACK;
SHOW scru.on_clock_rollback;
