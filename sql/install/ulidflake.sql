-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. Functions are STABLE if
-- they depend on a setting, on the session's time zone, on the snapshot or on statistics, VOLATILE if they depend on the clock or on
-- random numbers, and IMMUTABLE otherwise, except for encryption.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE ulidflake;

CREATE FUNCTION scru_internal.ulidflake_in(cstring) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_out(ulidflake) RETURNS cstring
    AS 'MODULE_PATHNAME', 'ulidflake_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_recv(internal) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_send(ulidflake) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulidflake_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE ulidflake (
    INPUT = scru_internal.ulidflake_in,
    OUTPUT = scru_internal.ulidflake_out,
    RECEIVE = scru_internal.ulidflake_recv,
    SEND = scru_internal.ulidflake_send,
    ANALYZE = scru_internal.ulidflake_typanalyze,
    LIKE = bigint
);

COMMENT ON TYPE ulidflake IS 'Ulid-Flake: 64-bit ID in order of creation, unique within its server (13 Crockford Base32 digits)';
COMMENT ON FUNCTION scru_internal.ulidflake_in(cstring) IS 'internal: I/O: reads the text of a ulidflake';
COMMENT ON FUNCTION scru_internal.ulidflake_out(ulidflake) IS 'internal: I/O: writes the text of a ulidflake';
COMMENT ON FUNCTION scru_internal.ulidflake_recv(internal) IS 'internal: I/O: reads the 8 big-endian bytes of a ulidflake';
COMMENT ON FUNCTION scru_internal.ulidflake_send(ulidflake) IS 'internal: I/O: writes the 8 big-endian bytes of a ulidflake';
COMMENT ON FUNCTION scru_internal.ulidflake_typanalyze(internal) IS 'internal: statistics for ANALYZE: those of the server, and those of the times';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru_internal.ulidflake_eq(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_ne(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_lt(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_le(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gt(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_ge(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_cmp(ulidflake, ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulidflake_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE OPERATOR pg_catalog.= (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.ulidflake_eq(ulidflake, ulidflake) IS 'internal: implementation of = operator';
COMMENT ON OPERATOR pg_catalog.= (ulidflake, ulidflake) IS 'equal';
COMMENT ON FUNCTION scru_internal.ulidflake_ne(ulidflake, ulidflake) IS 'internal: implementation of <> operator';
COMMENT ON OPERATOR pg_catalog.<> (ulidflake, ulidflake) IS 'not equal';
COMMENT ON FUNCTION scru_internal.ulidflake_lt(ulidflake, ulidflake) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (ulidflake, ulidflake) IS 'less than: created before';
COMMENT ON FUNCTION scru_internal.ulidflake_le(ulidflake, ulidflake) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (ulidflake, ulidflake) IS 'less than or equal';
COMMENT ON FUNCTION scru_internal.ulidflake_gt(ulidflake, ulidflake) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (ulidflake, ulidflake) IS 'greater than: created after';
COMMENT ON FUNCTION scru_internal.ulidflake_ge(ulidflake, ulidflake) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (ulidflake, ulidflake) IS 'greater than or equal';
COMMENT ON FUNCTION scru_internal.ulidflake_cmp(ulidflake, ulidflake) IS 'internal: less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru_internal.ulidflake_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with an ID or a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.ulidflake_larger(ulidflake, ulidflake) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_smaller(ulidflake, ulidflake) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(ulidflake) (
    SFUNC = scru_internal.ulidflake_smaller, STYPE = ulidflake, SORTOP = <, COMBINEFUNC = scru_internal.ulidflake_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(ulidflake) (
    SFUNC = scru_internal.ulidflake_larger, STYPE = ulidflake, SORTOP = >, COMBINEFUNC = scru_internal.ulidflake_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.ulidflake_larger(ulidflake, ulidflake) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.ulidflake_smaller(ulidflake, ulidflake) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(ulidflake) IS 'smallest ulidflake of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(ulidflake) IS 'largest ulidflake of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru_internal.ulidflake_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulidflake_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The operators are members of the family before the class exists. pg_upgrade then creates them with the family, on which comparisons
-- of rows depend.
CREATE OPERATOR FAMILY ulidflake_ops USING btree;
ALTER OPERATOR FAMILY ulidflake_ops USING btree ADD
    OPERATOR 1 < (ulidflake, ulidflake), OPERATOR 2 <= (ulidflake, ulidflake), OPERATOR 3 = (ulidflake, ulidflake),
    OPERATOR 4 >= (ulidflake, ulidflake), OPERATOR 5 > (ulidflake, ulidflake);
CREATE OPERATOR CLASS ulidflake_ops DEFAULT FOR TYPE ulidflake USING btree FAMILY ulidflake_ops AS
    FUNCTION 1 scru_internal.ulidflake_cmp(ulidflake, ulidflake),
    FUNCTION 2 scru_internal.ulidflake_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru_internal.ulidflake_sortsupport(internal) IS 'internal: sort support';
COMMENT ON OPERATOR CLASS ulidflake_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY ulidflake_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru_internal.ulidflake_hash(ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_hash_extended(ulidflake, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'ulidflake_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS ulidflake_ops DEFAULT FOR TYPE ulidflake USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru_internal.ulidflake_hash(ulidflake),
    FUNCTION 2 scru_internal.ulidflake_hash_extended(ulidflake, bigint);

COMMENT ON FUNCTION scru_internal.ulidflake_hash(ulidflake) IS 'internal: hash';
COMMENT ON FUNCTION scru_internal.ulidflake_hash_extended(ulidflake, bigint) IS 'internal: hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS ulidflake_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY ulidflake_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE OPERATOR CLASS ulidflake_minmax_ops DEFAULT FOR TYPE ulidflake USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

CREATE OPERATOR CLASS ulidflake_minmax_multi_ops FOR TYPE ulidflake USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 brin_minmax_multi_distance_int8(internal, internal);

CREATE OPERATOR CLASS ulidflake_bloom_ops FOR TYPE ulidflake USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru_internal.ulidflake_hash(ulidflake);

COMMENT ON OPERATOR CLASS ulidflake_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS ulidflake_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS ulidflake_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_ulidflake() RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'gen_ulidflake' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulidflake() IS 'a new ulidflake, greater than the previous one';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION ulidflake_horizon() RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION ulidflake_horizon() IS 'ID below which no transaction can still commit a ulidflake of gen_ulidflake()';
CREATE FUNCTION ulidflake_horizon(after ulidflake, lag interval DEFAULT '0') RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION ulidflake_horizon(ulidflake, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.ulidflake_timestamp_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_timestamp_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_timestamp(ulidflake) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulidflake_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_timestamp_support;
CREATE FUNCTION ulidflake_lower(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_upper(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru_internal.ulidflake_timestamp_support(internal) IS 'internal: planner support: lets indexes on the ID serve conditions on its time, and its order';
COMMENT ON FUNCTION ulidflake_timestamp(ulidflake) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulidflake_lower(timestamptz) IS 'smallest ulidflake of the millisecond that contains a time';
COMMENT ON FUNCTION ulidflake_upper(timestamptz) IS 'largest ulidflake of the millisecond that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the millisecond of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from ulidflake_lower and the functions below: src/by_time/condition.rs.
CREATE FUNCTION scru_internal.ulidflake_time_bound(timestamptz, text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.ulidflake_lt_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.ulidflake_le_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.ulidflake_gt_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.ulidflake_ge_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;

CREATE OPERATOR pg_catalog.< (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulidflake_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = scru_internal.timestamptz_lt_ulidflake,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulidflake_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = scru_internal.timestamptz_le_ulidflake,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulidflake_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = scru_internal.timestamptz_gt_ulidflake,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulidflake_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = scru_internal.timestamptz_ge_ulidflake,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.ulidflake_time_bound(timestamptz, text) IS 'internal: nearest ulidflake that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru_internal.ulidflake_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.ulidflake_lt_timestamptz(ulidflake, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_ulidflake(timestamptz, ulidflake) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (ulidflake, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR pg_catalog.< (timestamptz, ulidflake) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.ulidflake_le_timestamptz(ulidflake, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_ulidflake(timestamptz, ulidflake) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (ulidflake, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, ulidflake) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.ulidflake_gt_timestamptz(ulidflake, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_ulidflake(timestamptz, ulidflake) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (ulidflake, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR pg_catalog.> (timestamptz, ulidflake) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.ulidflake_ge_timestamptz(ulidflake, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_ulidflake(timestamptz, ulidflake) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (ulidflake, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, ulidflake) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.ulidflake_range_lower(tstzrange) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_range_upper(tstzrange) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.ulidflake_contained_by_range(ulidflake, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;
CREATE FUNCTION scru_internal.ulidflake_range_contains(scru_internal.scru_tstzrange, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulidflake_time_support;

CREATE OPERATOR pg_catalog.<@ (
    LEFTARG = ulidflake, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.ulidflake_contained_by_range,
    COMMUTATOR = OPERATOR(pg_catalog.@>), RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR pg_catalog.@> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = ulidflake, FUNCTION = scru_internal.ulidflake_range_contains,
    COMMUTATOR = OPERATOR(pg_catalog.<@), RESTRICT = scru_internal.ulidflake_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.ulidflake_range_lower(tstzrange) IS 'internal: first ulidflake in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.ulidflake_range_upper(tstzrange) IS 'internal: last ulidflake in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.ulidflake_contained_by_range(ulidflake, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.ulidflake_range_contains(scru_internal.scru_tstzrange, ulidflake) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR pg_catalog.<@ (ulidflake, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR pg_catalog.@> (scru_internal.scru_tstzrange, ulidflake) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION ulidflake_prefixed(prefix text, id ulidflake) RETURNS text
    AS 'MODULE_PATHNAME', 'ulidflake_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_unprefixed(prefix text, value text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_prefixed(prefix text, id ulidflake) IS 'a prefix, an underscore, and the text of a ulidflake';
COMMENT ON FUNCTION ulidflake_unprefixed(prefix text, value text) IS 'the ulidflake of a text with this prefix';

------------------------------------------------------------------------------------------------------------ encryption

-- STABLE, not IMMUTABLE, so that no key becomes part of an index or a generated column.
CREATE FUNCTION ulidflake_encrypt(id ulidflake, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'ulidflake_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
CREATE FUNCTION ulidflake_decrypt(encrypted uuid, key bytea) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION ulidflake_encrypt(id ulidflake, key bytea) IS 'a uuid of version 4 that hides the time of a ulidflake';
COMMENT ON FUNCTION ulidflake_decrypt(encrypted uuid, key bytea) IS 'the ulidflake that is encrypted to a uuid; NULL if there is none';


--------------------------------------------------------------------------------------------------------------- partman

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION ulidflake_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulidflake_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulidflake_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_time_encoder(timestamptz) IS 'text of the smallest ulidflake whose time is at or after a time';
COMMENT ON FUNCTION ulidflake_time_decoder(text) IS 'time of a ulidflake that is given as text; for whole seconds, the inverse of ulidflake_time_encoder';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru_internal.ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY ulidflake_ops USING btree ADD
    FUNCTION 3 (ulidflake, interval) scru_internal.ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean);
COMMENT ON FUNCTION scru_internal.ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean) IS 'internal: window function support: RANGE with an interval';

------------------------------------------------------------------------------------------------------------------ gin

CREATE FUNCTION scru_internal.ulidflake_gin_extract_value(ulidflake, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gin_extract_query(ulidflake, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gin_compare_partial(ulidflake, ulidflake, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gin_triconsistent(internal, smallint, ulidflake, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME', 'ulidflake_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS ulidflake_ops DEFAULT FOR TYPE ulidflake USING gin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru_internal.ulidflake_cmp(ulidflake, ulidflake),
    FUNCTION 2 scru_internal.ulidflake_gin_extract_value(ulidflake, internal),
    FUNCTION 3 scru_internal.ulidflake_gin_extract_query(ulidflake, internal, smallint, internal, internal, internal, internal),
    FUNCTION 5 scru_internal.ulidflake_gin_compare_partial(ulidflake, ulidflake, smallint, internal),
    FUNCTION 6 scru_internal.ulidflake_gin_triconsistent(internal, smallint, ulidflake, integer, internal, internal, internal);

COMMENT ON FUNCTION scru_internal.ulidflake_gin_extract_value(ulidflake, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulidflake_gin_extract_query(ulidflake, internal, smallint, internal, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulidflake_gin_compare_partial(ulidflake, ulidflake, smallint, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulidflake_gin_triconsistent(internal, smallint, ulidflake, integer, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON OPERATOR CLASS ulidflake_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
COMMENT ON OPERATOR FAMILY ulidflake_ops USING gin IS 'equality';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru_internal.ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulidflake_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulidflake_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS ulidflake_gist_ops DEFAULT FOR TYPE ulidflake USING gist AS
    OPERATOR 8 <@ (ulidflake, scru_internal.scru_tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru_internal.ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal),
    FUNCTION 2 scru_internal.ulidflake_gist_union(internal, internal),
    FUNCTION 3 scru_internal.ulidflake_gist_compress(internal),
    FUNCTION 5 scru_internal.ulidflake_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru_internal.ulidflake_gist_picksplit(internal, internal),
    FUNCTION 7 scru_internal.ulidflake_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru_internal.ulidflake_gist_fetch(internal),
    FUNCTION 11 bytea_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru_internal.ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_union(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_compress(internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_penalty(internal, internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_picksplit(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_same(bytea, bytea, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulidflake_gist_fetch(internal) IS 'internal: GiST support';
COMMENT ON OPERATOR CLASS ulidflake_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY ulidflake_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru_internal.ulidflake_from_bytea(bytea) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS bytea) WITH FUNCTION scru_internal.ulidflake_send(ulidflake);
CREATE CAST (bytea AS ulidflake) WITH FUNCTION scru_internal.ulidflake_from_bytea(bytea);
COMMENT ON FUNCTION scru_internal.ulidflake_from_bytea(bytea) IS 'internal: the ulidflake of 8 big-endian bytes';
COMMENT ON CAST (ulidflake AS bytea) IS 'the 8 big-endian bytes';
COMMENT ON CAST (bytea AS ulidflake) IS 'from 8 big-endian bytes';

CREATE CAST (ulidflake AS timestamptz) WITH FUNCTION ulidflake_timestamp(ulidflake);
CREATE CAST (timestamptz AS ulidflake) WITH FUNCTION ulidflake_lower(timestamptz);
COMMENT ON CAST (ulidflake AS timestamptz) IS 'time of creation';

CREATE FUNCTION scru_internal.ulidflake_date(ulidflake) RETURNS date
    AS 'MODULE_PATHNAME', 'ulidflake_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS date) WITH FUNCTION scru_internal.ulidflake_date(ulidflake);
COMMENT ON FUNCTION scru_internal.ulidflake_date(ulidflake) IS 'internal: day of creation in the time zone of the session';
COMMENT ON CAST (ulidflake AS date) IS 'day of creation in the time zone of the session';
COMMENT ON CAST (timestamptz AS ulidflake) IS 'smallest ulidflake of the millisecond that contains the time';

-- Every ulidflake is a valid bigint, but not every bigint is a valid ulidflake.
CREATE FUNCTION scru_internal.ulidflake_from_bigint(bigint) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bigint AS ulidflake) WITH FUNCTION scru_internal.ulidflake_from_bigint(bigint);
COMMENT ON FUNCTION scru_internal.ulidflake_from_bigint(bigint) IS 'internal: the ulidflake of this value';
COMMENT ON CAST (ulidflake AS bigint) IS 'the same value, read as bigint';
COMMENT ON CAST (bigint AS ulidflake) IS 'the same value, if it is a ulidflake';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION ulidflake_randomness(id ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_randomness(id ulidflake) IS '20 bits of the stand-alone form, random at the start of every millisecond, then counted up';
CREATE FUNCTION ulidflake_scalable_randomness(id ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_field_1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_scalable_randomness(id ulidflake) IS '15 bits of the scalable form, random at the start of every millisecond, then counted up';
CREATE FUNCTION ulidflake_scalability(id ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_field_2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_scalability(id ulidflake) IS '5 bits of the scalable form: the number of the server';

---------------------------------------------------------------------------------------------------------------- node

CREATE FUNCTION ulidflake_is_local(ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_is_local(ulidflake) IS 'whether a ulidflake has the number of this server, which is set by scru.ulidflake_scalability';
