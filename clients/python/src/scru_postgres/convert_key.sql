-- Converts a key with all columns that refer to it, in one transaction:
--
--     SELECT pg_temp.convert_key('orders', 'id', 'scru128', 'created_at');
--     SELECT pg_temp.revert_key('orders', 'id', 'uuid');
--
-- Each row gets a new ID with the time of its column created_at. The foreign keys are dropped and created again. Views of the columns
-- must be dropped before. The table orders_old_id has the old and the new key of each row. revert_key() gives the old keys back, drops
-- this table, and makes keys of the old type for rows that have none. Both lock the tables against readers and writers.
--
-- The functions exist until the end of the session. They are part of the Python package, whose operations for Django and Alembic call
-- them, and can be called from psql.

-- Returns the columns with the values of a key: its own, and those of foreign keys that refer to it, also through other tables.
CREATE OR REPLACE FUNCTION pg_temp.columns_of_key(key_table regclass, key_column name)
RETURNS TABLE (relation oid, attribute int2) LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE columns AS (
        SELECT attrelid, attnum FROM pg_attribute WHERE attrelid = key_table AND attname = key_column
        UNION
        SELECT conrelid, pair.referring
        FROM columns JOIN pg_constraint ON contype = 'f' AND confrelid = attrelid AND conparentid = 0,
            unnest(conkey, confkey) AS pair (referring, referred)
        WHERE pair.referred = attnum
    )
    TABLE columns
$$;

-- Returns the name of the table with the old and the new keys.
CREATE OR REPLACE FUNCTION pg_temp.table_of_old_keys(key_table regclass, key_column name)
RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%I.%I', nspname, relname || '_old_' || key_column)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = key_table
$$;

-- Replaces each value of the key by the other key of the same row. `given` and `other` are columns of the table with the keys. The
-- caller sets the search path, which has the operators of the ID type.
CREATE OR REPLACE FUNCTION pg_temp.replace_key(key_table regclass, key_column name, given name, other name)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    keys text := pg_temp.table_of_old_keys(key_table, key_column);
    given_type text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = keys::regclass AND attname = given);
    other_type text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = keys::regclass AND attname = other);
    drop_foreign_keys text;
    change_columns text;
    create_foreign_keys text;
BEGIN
    SELECT string_agg(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname), '; '),
        string_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)), '; ')
    INTO drop_foreign_keys, create_foreign_keys
    FROM pg_constraint
    WHERE contype = 'f' AND conparentid = 0 AND EXISTS (
        SELECT FROM pg_temp.columns_of_key(key_table, key_column) WHERE relation = confrelid AND attribute = ANY (confkey)
    );
    -- One statement for each table, which rewrites it once.
    SELECT string_agg(format('ALTER TABLE %s %s', relation::regclass, actions), '; ')
    INTO change_columns
    FROM (
        SELECT relation, string_agg(format(
            'ALTER %1$I DROP DEFAULT, ALTER %1$I TYPE %2$s USING pg_temp.other_key(%1$I)', attname, other_type), ', ') AS actions
        FROM pg_temp.columns_of_key(key_table, key_column) JOIN pg_attribute ON attrelid = relation AND attnum = attribute
        GROUP BY relation
    ) AS changes;
    EXECUTE format('ANALYZE %s', keys);
    EXECUTE format($function$
        CREATE FUNCTION pg_temp.other_key(key %1$s) RETURNS %2$s STRICT LANGUAGE plpgsql AS $body$
        DECLARE
            found_key %2$s;
        BEGIN
            SELECT %3$I INTO found_key FROM %4$s WHERE %5$I = key;
            IF NOT FOUND THEN
                RAISE 'no row of the table "%%" has the key %%', %6$L, key USING ERRCODE = 'foreign_key_violation';
            END IF;
            RETURN found_key;
        END $body$ $function$, given_type, other_type, other, keys, given, key_table::text);
    EXECUTE coalesce(drop_foreign_keys, '');
    EXECUTE change_columns;
    EXECUTE coalesce(create_foreign_keys, '');
    EXECUTE format('DROP FUNCTION pg_temp.other_key(%s)', given_type);
END
$$;

-- Locks the tables with a key, and ends what deferred constraints have to check: a table with pending checks cannot be altered.
CREATE OR REPLACE FUNCTION pg_temp.lock_key(key_table regclass, key_column name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE (
        SELECT format('LOCK TABLE %s', string_agg(DISTINCT relation::regclass::text, ', '))
        FROM pg_temp.columns_of_key(key_table, key_column)
    );
    SET CONSTRAINTS ALL IMMEDIATE;
END
$$;

-- Gives each row a new key of an ID type with the time of a column.
CREATE OR REPLACE FUNCTION pg_temp.convert_key(key_table regclass, key_column name, new_type regtype, time_column name)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    keys text := pg_temp.table_of_old_keys(key_table, key_column);
    schema_name name;
    type_name name;
    new_key text;
BEGIN
    SELECT nspname, typname INTO schema_name, type_name
    FROM pg_type JOIN pg_namespace ON pg_namespace.oid = typnamespace WHERE pg_type.oid = new_type;
    PERFORM set_config('search_path', format('pg_catalog, %I, pg_temp', schema_name), true);
    PERFORM pg_temp.lock_key(key_table, key_column);
    -- The 64-bit types have no random IDs of a time: number the rows of each tick.
    new_key := CASE
        WHEN to_regprocedure(format('%I(timestamptz)', 'gen_' || type_name)) IS NOT NULL THEN format('gen_%s(%I)', type_name, time_column)
        ELSE format(
            '(%1$s_lower(%2$I)::bigint + row_number() OVER (PARTITION BY %1$s_lower(%2$I) ORDER BY %3$I) - 1)::%1$I',
            type_name, time_column, key_column)
    END;
    EXECUTE format('CREATE TABLE %s AS SELECT %I AS old, %s AS new FROM %s', keys, key_column, new_key, key_table);
    EXECUTE format('ALTER TABLE %s ADD UNIQUE (old), ADD PRIMARY KEY (new)', keys);
    EXECUTE format('ALTER TABLE %s ALTER %I DROP IDENTITY IF EXISTS', key_table, key_column);
    PERFORM pg_temp.replace_key(key_table, key_column, 'old', 'new');
    EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT %I()', key_table, key_column, 'gen_' || type_name);
END
$$;

-- Gives the rows their old keys back, and new ones of the old type to rows that were inserted since.
CREATE OR REPLACE FUNCTION pg_temp.revert_key(key_table regclass, key_column name, old_type regtype)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    keys text := pg_temp.table_of_old_keys(key_table, key_column);
    is_integer boolean := old_type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype);
    id_type oid;
    schema_name name;
    old_key text;
BEGIN
    SELECT pg_type.oid, nspname INTO id_type, schema_name
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid JOIN pg_namespace ON pg_namespace.oid = typnamespace
    WHERE attrelid = key_table AND attname = key_column;
    PERFORM set_config('search_path', format('pg_catalog, %I, pg_temp', schema_name), true);
    PERFORM pg_temp.lock_key(key_table, key_column);
    EXECUTE format(
        'CREATE TABLE IF NOT EXISTS %s (old %s UNIQUE, new %s PRIMARY KEY)', keys, old_type, id_type::regtype);
    old_key := CASE
        WHEN is_integer THEN format('(SELECT coalesce(max(old), 0) FROM %s) + row_number() OVER (ORDER BY id)', keys)
        WHEN EXISTS (SELECT FROM pg_cast WHERE castsource = id_type AND casttarget = old_type) THEN format('id::%s', old_type)
        WHEN old_type = 'uuid'::regtype THEN 'gen_random_uuid()'
        ELSE format('id::text::%s', old_type)
    END;
    EXECUTE format(
        'INSERT INTO %1$s SELECT %2$s, id FROM (SELECT %3$I AS id FROM %4$s) AS ids WHERE NOT EXISTS (SELECT FROM %1$s WHERE new = id)',
        keys, old_key, key_column, key_table);
    PERFORM pg_temp.replace_key(key_table, key_column, 'new', 'old');
    EXECUTE format('DROP TABLE %s', keys);
    IF is_integer THEN
        EXECUTE format('ALTER TABLE %s ALTER %I ADD GENERATED BY DEFAULT AS IDENTITY', key_table, key_column);
        EXECUTE format(
            'SELECT setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1)) FROM %s',
            key_table, key_column, key_column, key_table);
    END IF;
END
$$;
