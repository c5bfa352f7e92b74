-- Operators, functions and types of another user that match a query better than the server's, in a schema for the search path. Each
-- raises "decoy". Those for operators have all pairs of types, and those for functions the types of the calls in sql/contrib.
DO $$
DECLARE
    operand text;
    other text;
    sign text;
BEGIN
    CREATE SCHEMA decoys;
    FOREACH operand IN ARRAY '{int8,int4,numeric,text,uuid,timestamptz,interval,name,oid,regclass,bool}'::text[] LOOP
        FOREACH other IN ARRAY '{int8,int4,numeric,text,uuid,timestamptz,interval,name,oid,regclass,bool}'::text[] LOOP
            EXECUTE pg_catalog.format('CREATE FUNCTION decoys.f(pg_catalog.%s, pg_catalog.%s) RETURNS bool LANGUAGE plpgsql AS'
                ' $f$ BEGIN RAISE ''decoy''; END $f$', operand, other);
            FOREACH sign IN ARRAY '{*,/,+,-,<<,>>,|,&,=,<,<=,>,>=,||,<>,~~}'::text[] LOOP
                EXECUTE pg_catalog.format('CREATE OPERATOR decoys.%s (FUNCTION = decoys.f, LEFTARG = pg_catalog.%s,'
                    ' RIGHTARG = pg_catalog.%s)', sign, operand, other);
            END LOOP;
        END LOOP;
    END LOOP;
    FOREACH sign IN ARRAY ARRAY['trunc(numeric)', 'to_hex(int8)', 'lpad(text, int4, text)', 'clock_timestamp()',
        'rpad(text, int4, text)', 'current_setting(text, bool)', 'set_config(text, text, bool)', 'format(text, text)',
        'to_timestamp(float8)', 'pg_advisory_xact_lock(int8)', 'pg_advisory_xact_lock_shared(int8)', 'hashtext(text)',
        'pg_is_in_recovery()', 'substr(text, int4, int4)', 'setval(regclass, int8)', 'current_database()', 'md5(text)',
        'pg_get_serial_sequence(text, name)', 'min(int8)', 'max(int4)', 'pg_relation_size(regclass)',
        'format(text, name, text)', 'pg_sleep(float8)', 'count(tid)', 'format(text, name)', 'format(text, text, text)',
        'format(text, int8)', 'format(text, int4)', 'format(text, regclass, name)', 'format(text, regclass, text)',
        'format(text, regclass, name, text)', 'right(varchar, int4)', 'lpad(text, int4)']
    LOOP
        EXECUTE pg_catalog.format('CREATE FUNCTION decoys.%s RETURNS bool LANGUAGE plpgsql AS'
            ' $f$ BEGIN RAISE ''decoy''; END $f$', sign);
    END LOOP;
    FOREACH sign IN ARRAY '{uuid,regclass,text,name,tid,timestamptz,xid8}'::text[] LOOP
        EXECUTE pg_catalog.format('CREATE DOMAIN decoys.%I AS pg_catalog.int2', sign);
    END LOOP;
END $$;
