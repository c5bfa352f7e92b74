-- Lists the stored expressions that a restored dump would change: rows that mix an ID with a value of another extension's type.
-- docs/operations.md explains them.

SET search_path = pg_catalog, pg_temp;

WITH stored (classid, objid, tree) AS (
    SELECT 'pg_rewrite'::regclass, oid, concat(ev_qual, ev_action) FROM pg_rewrite
    UNION ALL SELECT 'pg_constraint'::regclass, oid, conbin::text FROM pg_constraint
    UNION ALL SELECT 'pg_attrdef'::regclass, oid, adbin::text FROM pg_attrdef
    UNION ALL SELECT 'pg_type'::regclass, oid, typdefaultbin::text FROM pg_type
    UNION ALL SELECT 'pg_class'::regclass, indexrelid, concat(indexprs, indpred) FROM pg_index
    UNION ALL SELECT 'pg_class'::regclass, partrelid, partexprs::text FROM pg_partitioned_table
    UNION ALL SELECT 'pg_policy'::regclass, oid, concat(polqual, polwithcheck) FROM pg_policy
    UNION ALL SELECT 'pg_trigger'::regclass, oid, tgqual::text FROM pg_trigger
    UNION ALL SELECT 'pg_statistic_ext'::regclass, oid, stxexprs::text FROM pg_statistic_ext
    UNION ALL SELECT 'pg_proc'::regclass, oid, concat(proargdefaults, prosqlbody) FROM pg_proc
)
SELECT DISTINCT type, identity
FROM stored, pg_identify_object(classid, objid, 0),
     -- (id, x) > (…, …), and (id, x) IN (SELECT …)
     regexp_matches(tree, '{ROWCOMPAREEXPR [^)]*\)|:testexpr {BOOLEXPR .*?:operName ', 'g') AS found
WHERE (
    SELECT count(DISTINCT oprnamespace) > 1
    FROM regexp_matches(found[1], ':opnos? (?:\(o )?([0-9 ]+)', 'g') AS of_found,
         unnest(string_to_array(trim(of_found[1]), ' ')) AS operator
         JOIN pg_operator ON pg_operator.oid = operator::oid
)
ORDER BY type, identity;
