-- The SQL objects of an ID system whose IDs are values of the type uuid: the extension scru_uuidv7. Rendered by `make gen` from
-- sql/core.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. The labels follow the rules in
-- sql/type.sql.in.

---------------------------------------------------------------------------------------------------------------- check

-- The operands of these operators are types that exist already: an existing operator would become the commutator or the negator of
-- one of them.
DO $$
DECLARE
    other pg_catalog.regoperator;
BEGIN
    SELECT oid INTO other FROM pg_catalog.pg_operator
    WHERE oprname OPERATOR(pg_catalog.=) ANY (ARRAY['<', '<=', '>=', '>', '<@', '@>'])
        AND 'uuid'::pg_catalog.regtype OPERATOR(pg_catalog.=) ANY (ARRAY[oprleft, oprright])
        AND ARRAY[oprleft, oprright] OPERATOR(pg_catalog.&&) ARRAY['timestamptz', 'scru_internal.scru_tstzrange']::pg_catalog.regtype[]::pg_catalog.oid[]
        AND pg_catalog.pg_operator_is_visible(oid)
    LIMIT 1;
    IF other IS NOT NULL THEN
        RAISE duplicate_function USING MESSAGE = pg_catalog.format('operator %s already exists', other);
    END IF;
END
$$;

------------------------------------------------------------------------------------------------------------- estimates

CREATE FUNCTION scru_internal.uuidv7_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'uuidv7_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru_internal.uuidv7_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.uuidv7_larger(uuid, uuid) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.uuidv7_smaller(uuid, uuid) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(uuid) (
    SFUNC = scru_internal.uuidv7_smaller, STYPE = uuid, SORTOP = <, COMBINEFUNC = scru_internal.uuidv7_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(uuid) (
    SFUNC = scru_internal.uuidv7_larger, STYPE = uuid, SORTOP = >, COMBINEFUNC = scru_internal.uuidv7_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.uuidv7_larger(uuid, uuid) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.uuidv7_smaller(uuid, uuid) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(uuid) IS 'smallest uuid of all input values: the first in order of creation, if all are uuidv7';
COMMENT ON AGGREGATE max(uuid) IS 'largest uuid of all input values: the last in order of creation, if all are uuidv7';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_uuidv7() RETURNS uuid
    AS 'MODULE_PATHNAME', 'gen_uuidv7' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuidv7() IS 'a new uuidv7, greater than the previous one';

CREATE FUNCTION gen_uuidv7(timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'gen_uuidv7_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuidv7(timestamptz) IS 'a random uuidv7 of a given time, for back-filling';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION uuidv7_horizon() RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_horizon() IS 'ID below which no transaction can still commit a uuidv7 of gen_uuidv7()';
CREATE FUNCTION uuidv7_horizon(after uuid, lag interval DEFAULT '0') RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_horizon(uuid, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'uuidv7_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION uuidv7_lower(timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuidv7_upper(timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION uuidv7_timestamp(uuid) IS 'time of creation: the start of the millisecond that the ID belongs to; NULL for a uuid that is no uuidv7';
COMMENT ON FUNCTION uuidv7_lower(timestamptz) IS 'smallest uuidv7 of the millisecond that contains a time';
COMMENT ON FUNCTION uuidv7_upper(timestamptz) IS 'largest uuidv7 of the millisecond that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the millisecond of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from uuidv7_lower and the functions below: src/by_time/condition.rs.
-- They compare the bytes of any uuid with the first uuidv7 of the millisecond (< and >=) or the last one (<= and >).
CREATE FUNCTION scru_internal.uuidv7_time_bound(timestamptz, text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.uuidv7_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'uuidv7_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.uuidv7_lt_timestamptz(uuid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_uuidv7(timestamptz, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_uuidv7' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.uuidv7_le_timestamptz(uuid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_uuidv7(timestamptz, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_uuidv7' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.uuidv7_gt_timestamptz(uuid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_uuidv7(timestamptz, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_uuidv7' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.uuidv7_ge_timestamptz(uuid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_uuidv7(timestamptz, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_uuidv7' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;

CREATE OPERATOR < (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = scru_internal.uuidv7_lt_timestamptz,
    COMMUTATOR = OPERATOR(>), NEGATOR = OPERATOR(>=),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = uuid, FUNCTION = scru_internal.timestamptz_lt_uuidv7,
    COMMUTATOR = OPERATOR(>), NEGATOR = OPERATOR(>=),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = scru_internal.uuidv7_le_timestamptz,
    COMMUTATOR = OPERATOR(>=), NEGATOR = OPERATOR(>),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = uuid, FUNCTION = scru_internal.timestamptz_le_uuidv7,
    COMMUTATOR = OPERATOR(>=), NEGATOR = OPERATOR(>),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = scru_internal.uuidv7_gt_timestamptz,
    COMMUTATOR = OPERATOR(<), NEGATOR = OPERATOR(<=),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = uuid, FUNCTION = scru_internal.timestamptz_gt_uuidv7,
    COMMUTATOR = OPERATOR(<), NEGATOR = OPERATOR(<=),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = scru_internal.uuidv7_ge_timestamptz,
    COMMUTATOR = OPERATOR(<=), NEGATOR = OPERATOR(<),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = uuid, FUNCTION = scru_internal.timestamptz_ge_uuidv7,
    COMMUTATOR = OPERATOR(<=), NEGATOR = OPERATOR(<),
    RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.uuidv7_time_bound(timestamptz, text) IS 'internal: uuidv7 with which a comparison with a time compares';
COMMENT ON FUNCTION scru_internal.uuidv7_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.uuidv7_lt_timestamptz(uuid, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_uuidv7(timestamptz, uuid) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR < (uuid, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, uuid) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.uuidv7_le_timestamptz(uuid, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_uuidv7(timestamptz, uuid) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR <= (uuid, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, uuid) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.uuidv7_gt_timestamptz(uuid, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_uuidv7(timestamptz, uuid) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR > (uuid, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, uuid) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.uuidv7_ge_timestamptz(uuid, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_uuidv7(timestamptz, uuid) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR >= (uuid, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, uuid) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.uuidv7_range_lower(tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.uuidv7_range_upper(tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.uuidv7_contained_by_range(uuid, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;
CREATE FUNCTION scru_internal.uuidv7_range_contains(scru_internal.scru_tstzrange, uuid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'uuidv7_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.uuidv7_time_support;

CREATE OPERATOR <@ (
    LEFTARG = uuid, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.uuidv7_contained_by_range,
    COMMUTATOR = OPERATOR(@>), RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = uuid, FUNCTION = scru_internal.uuidv7_range_contains,
    COMMUTATOR = OPERATOR(<@), RESTRICT = scru_internal.uuidv7_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.uuidv7_range_lower(tstzrange) IS 'internal: first uuidv7 in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.uuidv7_range_upper(tstzrange) IS 'internal: last uuidv7 in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.uuidv7_contained_by_range(uuid, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.uuidv7_range_contains(scru_internal.scru_tstzrange, uuid) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR <@ (uuid, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (scru_internal.scru_tstzrange, uuid) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION uuidv7_prefixed(prefix text, id uuid) RETURNS text
    AS 'MODULE_PATHNAME', 'uuidv7_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuidv7_unprefixed(prefix text, value text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_prefixed(prefix text, id uuid) IS 'a prefix, an underscore, and the text of a uuidv7 in base32: a TypeID';
COMMENT ON FUNCTION uuidv7_unprefixed(prefix text, value text) IS 'the uuidv7 of a text with this prefix';

------------------------------------------------------------------------------------------------------------ encryption

-- STABLE, not IMMUTABLE, so that no key becomes part of an index or a generated column.
CREATE FUNCTION uuidv7_encrypt(id uuid, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
CREATE FUNCTION uuidv7_decrypt(encrypted uuid, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'uuidv7_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION uuidv7_encrypt(id uuid, key bytea) IS 'a uuid of version 4 that hides the time of a uuidv7';
COMMENT ON FUNCTION uuidv7_decrypt(encrypted uuid, key bytea) IS 'the uuidv7 that is encrypted to a uuid; NULL if there is none';

