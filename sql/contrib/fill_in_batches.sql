-- Fills a new column of a large table in short transactions. See docs/online-migration.md.
--
--     CALL fill_in_batches('orders', 'new_id');
--
-- A trigger of the table (BEFORE INSERT OR UPDATE, FOR EACH ROW) must set the column if it is NULL. A batch updates one range of
-- pages in one transaction. It skips locked rows, so that it neither waits nor deadlocks. The procedure repeats its pass over the
-- table until the column is filled. The call can be interrupted and repeated.
--
-- Functions, operators and types are named with their schema: another user could have one in the search path that matches better.
-- The procedure cannot fix the path, because it commits, and because the trigger needs the path of the caller.

CREATE PROCEDURE fill_in_batches(
    tbl pg_catalog.regclass,
    col pg_catalog.name,
    condition pg_catalog.text DEFAULT 'true',      -- fill only rows that satisfy this condition
    pages integer DEFAULT 20,           -- of a batch; 20 have about 2,000 short rows, whose writers wait for the batch
    pause double precision DEFAULT 0    -- seconds between batches
) LANGUAGE plpgsql AS $$
DECLARE
    last_page bigint;
    page bigint;
    percent bigint;
    reported bigint;
    updated bigint;
    set bigint;
    filled bigint := 0;
    is_filled boolean;
    empty constant pg_catalog.text := pg_catalog.format('%I IS NULL AND (%s)', col, condition);
    one_batch constant pg_catalog.text := pg_catalog.format(
        'WITH batch AS (
             UPDATE %1$s SET %2$I = NULL
             WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
                 SELECT ctid FROM %1$s
                 WHERE ctid OPERATOR(pg_catalog.>=) $1 AND ctid OPERATOR(pg_catalog.<) $2 AND %3$s
                 FOR NO KEY UPDATE SKIP LOCKED))
             RETURNING %2$I
         ) SELECT pg_catalog.count(*), pg_catalog.count(%2$I) FROM batch', tbl, col, empty);
BEGIN
    LOOP
        page := 0;
        reported := 0;
        -- The trigger fills the rows that are inserted after the current last page.
        last_page := pg_catalog.pg_relation_size(tbl)
            OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint;
        WHILE page OPERATOR(pg_catalog.<=) last_page LOOP
            EXECUTE one_batch INTO updated, set
                USING pg_catalog.format('(%s,0)', page)::pg_catalog.tid,
                    pg_catalog.format('(%s,0)', page OPERATOR(pg_catalog.+) pages)::pg_catalog.tid;
            IF set OPERATOR(pg_catalog.<) updated THEN
                RAISE not_null_violation USING
                    MESSAGE = pg_catalog.format('trigger of %s left column "%s" empty', tbl, col),
                    COLUMN = col,
                    DETAIL = pg_catalog.format('%s of %s rows are empty after the update.',
                        updated OPERATOR(pg_catalog.-) set, updated),
                    HINT = 'First fill the table from which the trigger copies, or exclude rows by the argument condition.';
            END IF;
            COMMIT;
            filled := filled OPERATOR(pg_catalog.+) updated;
            page := page OPERATOR(pg_catalog.+) pages;
            percent := 100 OPERATOR(pg_catalog.*) least(page, last_page) OPERATOR(pg_catalog./) greatest(last_page, 1);
            IF percent OPERATOR(pg_catalog.>) reported THEN
                RAISE NOTICE '%: % rows filled, % %% of % pages', tbl, filled, percent, last_page;
                reported := percent;
            END IF;
            PERFORM pg_catalog.pg_sleep(pause);
        END LOOP;
        EXECUTE pg_catalog.format('SELECT NOT EXISTS (SELECT FROM %s WHERE %s)', tbl, empty) INTO is_filled;
        COMMIT;
        EXIT WHEN is_filled;
    END LOOP;
END
$$;

COMMENT ON PROCEDURE fill_in_batches(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, integer, double precision) IS
    'fills a new column by the table''s trigger, one range of pages in each transaction';
