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
SELECT name, error_of(format('SET %s = %L', name, value))
FROM pg_settings, unnest('{nonsense,""}'::text[]) AS value WHERE name LIKE 'scru.%' AND context = 'user' ORDER BY name, value;

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

-- A change takes effect within a transaction: the next ID is from the state of the server.
BEGIN;
SELECT gen_ulid() IS NOT NULL;
SET LOCAL scru.generator_scope = server;
SELECT gen_ulid() AS id \gset
SELECT details->>'last_id' = :'id' FROM scru_generators() WHERE type = 'ulid';
ROLLBACK;

-- Before the library is loaded, a session can set any name. When it is loaded, the server keeps the valid values of users' settings, and
-- discards the others with a warning.
\c
SET scru.on_clock_rollback = error;
SET scru.generator_scope = nonsense;
SET scru.ulidflake_entropy_bits = 3;
SELECT gen_ulidflake() IS NOT NULL, current_setting('scru.on_clock_rollback'), current_setting('scru.generator_scope'),
    current_setting('scru.ulidflake_entropy_bits');
\connect -reuse-previous=on "options='-c scru.on_clock_rollback=error -c scru.ulidflake_entropy_bits=3'"
SELECT gen_ulidflake() IS NOT NULL, current_setting('scru.on_clock_rollback'), current_setting('scru.ulidflake_entropy_bits');
-- A malformed node is not replaced by the default: it generates no ID.
\connect -reuse-previous=on "options='-c scru.scru64_node=300/8'"
SELECT test.error_of('SELECT gen_scru64()');
SHOW scru.scru64_node;
