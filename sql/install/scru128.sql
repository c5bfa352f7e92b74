-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. Functions are STABLE if
-- they depend on a setting, on the session's time zone, on the snapshot or on statistics, VOLATILE if they depend on the clock or on
-- random numbers, and IMMUTABLE otherwise, except for encryption.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru128;

CREATE FUNCTION scru_internal.scru128_in(cstring) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_out(scru128) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru128_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_recv(internal) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_send(scru128) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru128_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE scru128 (
    INPUT = scru_internal.scru128_in,
    OUTPUT = scru_internal.scru128_out,
    RECEIVE = scru_internal.scru128_recv,
    SEND = scru_internal.scru128_send,
    ANALYZE = scru_internal.scru128_typanalyze,
    INTERNALLENGTH = 16,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE scru128 IS 'SCRU128: 128-bit ID in order of creation, unique without coordination (25 Base36 digits)';
COMMENT ON FUNCTION scru_internal.scru128_in(cstring) IS 'internal: I/O: reads the text of a scru128';
COMMENT ON FUNCTION scru_internal.scru128_out(scru128) IS 'internal: I/O: writes the text of a scru128';
COMMENT ON FUNCTION scru_internal.scru128_recv(internal) IS 'internal: I/O: reads the 16 big-endian bytes of a scru128';
COMMENT ON FUNCTION scru_internal.scru128_send(scru128) IS 'internal: I/O: writes the 16 big-endian bytes of a scru128';
COMMENT ON FUNCTION scru_internal.scru128_typanalyze(internal) IS 'internal: statistics for ANALYZE: those of the server, and those of the times';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru_internal.scru128_eq(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_ne(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_lt(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_le(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gt(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_ge(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_cmp(scru128, scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru128_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE OPERATOR pg_catalog.= (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru128_eq(scru128, scru128) IS 'internal: implementation of = operator';
COMMENT ON OPERATOR pg_catalog.= (scru128, scru128) IS 'equal';
COMMENT ON FUNCTION scru_internal.scru128_ne(scru128, scru128) IS 'internal: implementation of <> operator';
COMMENT ON OPERATOR pg_catalog.<> (scru128, scru128) IS 'not equal';
COMMENT ON FUNCTION scru_internal.scru128_lt(scru128, scru128) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru128, scru128) IS 'less than: created before';
COMMENT ON FUNCTION scru_internal.scru128_le(scru128, scru128) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru128, scru128) IS 'less than or equal';
COMMENT ON FUNCTION scru_internal.scru128_gt(scru128, scru128) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru128, scru128) IS 'greater than: created after';
COMMENT ON FUNCTION scru_internal.scru128_ge(scru128, scru128) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru128, scru128) IS 'greater than or equal';
COMMENT ON FUNCTION scru_internal.scru128_cmp(scru128, scru128) IS 'internal: less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru_internal.scru128_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with an ID or a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.scru128_larger(scru128, scru128) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_smaller(scru128, scru128) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(scru128) (
    SFUNC = scru_internal.scru128_smaller, STYPE = scru128, SORTOP = <, COMBINEFUNC = scru_internal.scru128_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru128) (
    SFUNC = scru_internal.scru128_larger, STYPE = scru128, SORTOP = >, COMBINEFUNC = scru_internal.scru128_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.scru128_larger(scru128, scru128) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.scru128_smaller(scru128, scru128) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(scru128) IS 'smallest scru128 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru128) IS 'largest scru128 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru_internal.scru128_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru128_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The operators are members of the family before the class exists. pg_upgrade then creates them with the family, on which comparisons
-- of rows depend.
CREATE OPERATOR FAMILY scru128_ops USING btree;
ALTER OPERATOR FAMILY scru128_ops USING btree ADD
    OPERATOR 1 < (scru128, scru128), OPERATOR 2 <= (scru128, scru128), OPERATOR 3 = (scru128, scru128),
    OPERATOR 4 >= (scru128, scru128), OPERATOR 5 > (scru128, scru128);
CREATE OPERATOR CLASS scru128_ops DEFAULT FOR TYPE scru128 USING btree FAMILY scru128_ops AS
    FUNCTION 1 scru_internal.scru128_cmp(scru128, scru128),
    FUNCTION 2 scru_internal.scru128_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru_internal.scru128_sortsupport(internal) IS 'internal: sort support';
COMMENT ON OPERATOR CLASS scru128_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru128_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru_internal.scru128_hash(scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_hash_extended(scru128, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru128_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru128_ops DEFAULT FOR TYPE scru128 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru_internal.scru128_hash(scru128),
    FUNCTION 2 scru_internal.scru128_hash_extended(scru128, bigint);

COMMENT ON FUNCTION scru_internal.scru128_hash(scru128) IS 'internal: hash';
COMMENT ON FUNCTION scru_internal.scru128_hash_extended(scru128, bigint) IS 'internal: hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru128_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru128_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE OPERATOR CLASS scru128_minmax_ops DEFAULT FOR TYPE scru128 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

CREATE OPERATOR CLASS scru128_minmax_multi_ops FOR TYPE scru128 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 brin_minmax_multi_distance_uuid(internal, internal);

CREATE OPERATOR CLASS scru128_bloom_ops FOR TYPE scru128 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru_internal.scru128_hash(scru128);

COMMENT ON OPERATOR CLASS scru128_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru128_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru128_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru128_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru128_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru128_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru128() RETURNS scru128
    AS 'MODULE_PATHNAME', 'gen_scru128' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru128() IS 'a new scru128, greater than the previous one';

CREATE FUNCTION gen_scru128(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'gen_scru128_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru128(timestamptz) IS 'a random scru128 of a given time, for back-filling';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION scru128_horizon() RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru128_horizon() IS 'ID below which no transaction can still commit a scru128 of gen_scru128()';
CREATE FUNCTION scru128_horizon(after scru128, lag interval DEFAULT '0') RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru128_horizon(scru128, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.scru128_timestamp_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_timestamp_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_timestamp(scru128) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru128_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_timestamp_support;
CREATE FUNCTION scru128_lower(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_upper(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru_internal.scru128_timestamp_support(internal) IS 'internal: planner support: lets indexes on the ID serve conditions on its time, and its order';
COMMENT ON FUNCTION scru128_timestamp(scru128) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru128_lower(timestamptz) IS 'smallest scru128 of the millisecond that contains a time';
COMMENT ON FUNCTION scru128_upper(timestamptz) IS 'largest scru128 of the millisecond that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the millisecond of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from scru128_lower and the functions below: src/by_time/condition.rs.
CREATE FUNCTION scru_internal.scru128_time_bound(timestamptz, text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru128_lt_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.scru128_le_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.scru128_gt_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.scru128_ge_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;

CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru128_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = scru_internal.timestamptz_lt_scru128,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru128_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = scru_internal.timestamptz_le_scru128,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru128_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = scru_internal.timestamptz_gt_scru128,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru128_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = scru_internal.timestamptz_ge_scru128,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru128_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru128_time_bound(timestamptz, text) IS 'internal: nearest scru128 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru_internal.scru128_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.scru128_lt_timestamptz(scru128, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_scru128(timestamptz, scru128) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru128, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR pg_catalog.< (timestamptz, scru128) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.scru128_le_timestamptz(scru128, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_scru128(timestamptz, scru128) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru128, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, scru128) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.scru128_gt_timestamptz(scru128, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_scru128(timestamptz, scru128) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru128, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR pg_catalog.> (timestamptz, scru128) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.scru128_ge_timestamptz(scru128, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_scru128(timestamptz, scru128) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru128, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, scru128) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.scru128_range_lower(tstzrange) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_range_upper(tstzrange) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru128_contained_by_range(scru128, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;
CREATE FUNCTION scru_internal.scru128_range_contains(scru_internal.scru_tstzrange, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru128_time_support;

CREATE OPERATOR pg_catalog.<@ (
    LEFTARG = scru128, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.scru128_contained_by_range,
    COMMUTATOR = OPERATOR(pg_catalog.@>), RESTRICT = scru_internal.scru128_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR pg_catalog.@> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = scru128, FUNCTION = scru_internal.scru128_range_contains,
    COMMUTATOR = OPERATOR(pg_catalog.<@), RESTRICT = scru_internal.scru128_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.scru128_range_lower(tstzrange) IS 'internal: first scru128 in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru128_range_upper(tstzrange) IS 'internal: last scru128 in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru128_contained_by_range(scru128, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.scru128_range_contains(scru_internal.scru_tstzrange, scru128) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR pg_catalog.<@ (scru128, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR pg_catalog.@> (scru_internal.scru_tstzrange, scru128) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION scru128_prefixed(prefix text, id scru128) RETURNS text
    AS 'MODULE_PATHNAME', 'scru128_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_unprefixed(prefix text, value text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_prefixed(prefix text, id scru128) IS 'a prefix, an underscore, and the text of a scru128';
COMMENT ON FUNCTION scru128_unprefixed(prefix text, value text) IS 'the scru128 of a text with this prefix';

------------------------------------------------------------------------------------------------------------ encryption

-- STABLE, not IMMUTABLE, so that no key becomes part of an index or a generated column.
CREATE FUNCTION scru128_encrypt(id scru128, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'scru128_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_decrypt(encrypted uuid, key bytea) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_encrypt(id scru128, key bytea) IS 'a uuid that hides the time of a scru128';
COMMENT ON FUNCTION scru128_decrypt(encrypted uuid, key bytea) IS 'the scru128 that is encrypted to a uuid';


--------------------------------------------------------------------------------------------------------------- partman

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru128_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru128_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru128_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_time_encoder(timestamptz) IS 'text of the smallest scru128 whose time is at or after a time';
COMMENT ON FUNCTION scru128_time_decoder(text) IS 'time of a scru128 that is given as text; for whole seconds, the inverse of scru128_time_encoder';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru_internal.scru128_in_range(scru128, scru128, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru128_ops USING btree ADD
    FUNCTION 3 (scru128, interval) scru_internal.scru128_in_range(scru128, scru128, interval, boolean, boolean);
COMMENT ON FUNCTION scru_internal.scru128_in_range(scru128, scru128, interval, boolean, boolean) IS 'internal: window function support: RANGE with an interval';

------------------------------------------------------------------------------------------------------------------ gin

CREATE FUNCTION scru_internal.scru128_gin_extract_value(scru128, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gin_extract_query(scru128, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gin_compare_partial(scru128, scru128, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gin_triconsistent(internal, smallint, scru128, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME', 'scru128_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru128_ops DEFAULT FOR TYPE scru128 USING gin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru_internal.scru128_cmp(scru128, scru128),
    FUNCTION 2 scru_internal.scru128_gin_extract_value(scru128, internal),
    FUNCTION 3 scru_internal.scru128_gin_extract_query(scru128, internal, smallint, internal, internal, internal, internal),
    FUNCTION 5 scru_internal.scru128_gin_compare_partial(scru128, scru128, smallint, internal),
    FUNCTION 6 scru_internal.scru128_gin_triconsistent(internal, smallint, scru128, integer, internal, internal, internal);

COMMENT ON FUNCTION scru_internal.scru128_gin_extract_value(scru128, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru128_gin_extract_query(scru128, internal, smallint, internal, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru128_gin_compare_partial(scru128, scru128, smallint, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru128_gin_triconsistent(internal, smallint, scru128, integer, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON OPERATOR CLASS scru128_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
COMMENT ON OPERATOR FAMILY scru128_ops USING gin IS 'equality';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru_internal.scru128_gist_consistent(internal, scru128, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru128_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru128_gist_ops DEFAULT FOR TYPE scru128 USING gist AS
    OPERATOR 8 <@ (scru128, scru_internal.scru_tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru_internal.scru128_gist_consistent(internal, scru128, smallint, oid, internal),
    FUNCTION 2 scru_internal.scru128_gist_union(internal, internal),
    FUNCTION 3 scru_internal.scru128_gist_compress(internal),
    FUNCTION 5 scru_internal.scru128_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru_internal.scru128_gist_picksplit(internal, internal),
    FUNCTION 7 scru_internal.scru128_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru_internal.scru128_gist_fetch(internal),
    FUNCTION 11 bytea_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru_internal.scru128_gist_consistent(internal, scru128, smallint, oid, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_union(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_compress(internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_penalty(internal, internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_picksplit(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_same(bytea, bytea, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru128_gist_fetch(internal) IS 'internal: GiST support';
COMMENT ON OPERATOR CLASS scru128_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru128_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru_internal.scru128_from_bytea(bytea) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru128 AS bytea) WITH FUNCTION scru_internal.scru128_send(scru128);
CREATE CAST (bytea AS scru128) WITH FUNCTION scru_internal.scru128_from_bytea(bytea);
COMMENT ON FUNCTION scru_internal.scru128_from_bytea(bytea) IS 'internal: the scru128 of 16 big-endian bytes';
COMMENT ON CAST (scru128 AS bytea) IS 'the 16 big-endian bytes';
COMMENT ON CAST (bytea AS scru128) IS 'from 16 big-endian bytes';

CREATE CAST (scru128 AS timestamptz) WITH FUNCTION scru128_timestamp(scru128);
CREATE CAST (timestamptz AS scru128) WITH FUNCTION scru128_lower(timestamptz);
COMMENT ON CAST (scru128 AS timestamptz) IS 'time of creation';

CREATE FUNCTION scru_internal.scru128_date(scru128) RETURNS date
    AS 'MODULE_PATHNAME', 'scru128_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE CAST (scru128 AS date) WITH FUNCTION scru_internal.scru128_date(scru128);
COMMENT ON FUNCTION scru_internal.scru128_date(scru128) IS 'internal: day of creation in the time zone of the session';
COMMENT ON CAST (scru128 AS date) IS 'day of creation in the time zone of the session';
COMMENT ON CAST (timestamptz AS scru128) IS 'smallest scru128 of the millisecond that contains the time';

-- The bytes are the same, so that changing the type of a column does not rewrite the table.
CREATE CAST (scru128 AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (uuid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS uuid) IS 'the same 16 bytes, read as uuid';
COMMENT ON CAST (uuid AS scru128) IS 'the same 16 bytes, read as scru128';

CREATE FUNCTION scru_internal.scru128_to_numeric(scru128) RETURNS numeric
    AS 'MODULE_PATHNAME', 'scru128_to_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru128_from_numeric(numeric) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_from_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru128 AS numeric) WITH FUNCTION scru_internal.scru128_to_numeric(scru128);
CREATE CAST (numeric AS scru128) WITH FUNCTION scru_internal.scru128_from_numeric(numeric);
COMMENT ON FUNCTION scru_internal.scru128_to_numeric(scru128) IS 'internal: the integer value of a scru128';
COMMENT ON FUNCTION scru_internal.scru128_from_numeric(numeric) IS 'internal: the scru128 of this integer value';
COMMENT ON CAST (scru128 AS numeric) IS 'the integer value';
COMMENT ON CAST (numeric AS scru128) IS 'from the integer value';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION scru128_counter_hi(id scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_counter_hi(id scru128) IS '24 random bits, renewed once a second, counted up when counter_lo overflows';
CREATE FUNCTION scru128_counter_lo(id scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_field_1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_counter_lo(id scru128) IS '24 bits, random at the start of every millisecond, then counted up';
CREATE FUNCTION scru128_entropy(id scru128) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru128_field_2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_entropy(id scru128) IS '32 random bits, renewed for every ID';

---------------------------------------------------------------------------------------------------------------- node
