\echo Use "ALTER EXTENSION @EXTENSION@ UPDATE TO '@VERSION@'" to load this file. \quit

-- An old library lacks functions that this script declares. A session keeps the library that it has loaded, and a server the one
-- that it has preloaded, after the files have been replaced.
LOAD 'MODULE_PATHNAME';
DO $$
BEGIN
    IF pg_catalog.string_to_array(pg_catalog.current_setting('scru.library_version'), '.')::pg_catalog.int4[]
        OPERATOR(pg_catalog.<) pg_catalog.string_to_array('@VERSION@', '.')::pg_catalog.int4[]
    THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = 'the library of scru that this session has loaded is older than @VERSION@',
            DETAIL = 'Sessions keep the library that they have loaded, and servers the one that they have preloaded.',
            HINT = CASE WHEN pg_catalog.current_setting('shared_preload_libraries') OPERATOR(pg_catalog.~) '\mscru\M'
                THEN 'Restart the server: shared_preload_libraries contains scru.'
                ELSE 'Reconnect, and repeat the command.' END;
    END IF;
END
$$;
