-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. Functions are STABLE if
-- they depend on a setting, on the session's time zone, on the snapshot or on statistics, VOLATILE if they depend on the clock or on
-- random numbers, and IMMUTABLE otherwise, except for encryption.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru64;

CREATE FUNCTION scru_internal.scru64_in(cstring) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_out(scru64) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru64_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_recv(internal) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_send(scru64) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru64_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE scru64 (
    INPUT = scru_internal.scru64_in,
    OUTPUT = scru_internal.scru64_out,
    RECEIVE = scru_internal.scru64_recv,
    SEND = scru_internal.scru64_send,
    ANALYZE = scru_internal.scru64_typanalyze,
    LIKE = bigint
);

COMMENT ON TYPE scru64 IS 'SCRU64: 64-bit ID in order of creation, unique by its node (12 Base36 digits)';
COMMENT ON FUNCTION scru_internal.scru64_in(cstring) IS 'internal: I/O: reads the text of a scru64';
COMMENT ON FUNCTION scru_internal.scru64_out(scru64) IS 'internal: I/O: writes the text of a scru64';
COMMENT ON FUNCTION scru_internal.scru64_recv(internal) IS 'internal: I/O: reads the 8 big-endian bytes of a scru64';
COMMENT ON FUNCTION scru_internal.scru64_send(scru64) IS 'internal: I/O: writes the 8 big-endian bytes of a scru64';
COMMENT ON FUNCTION scru_internal.scru64_typanalyze(internal) IS 'internal: statistics for ANALYZE: those of the server, and those of the times';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru_internal.scru64_eq(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_ne(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_lt(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_le(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gt(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_ge(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_cmp(scru64, scru64) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru64_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE OPERATOR pg_catalog.= (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru64_eq(scru64, scru64) IS 'internal: implementation of = operator';
COMMENT ON OPERATOR pg_catalog.= (scru64, scru64) IS 'equal';
COMMENT ON FUNCTION scru_internal.scru64_ne(scru64, scru64) IS 'internal: implementation of <> operator';
COMMENT ON OPERATOR pg_catalog.<> (scru64, scru64) IS 'not equal';
COMMENT ON FUNCTION scru_internal.scru64_lt(scru64, scru64) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru64, scru64) IS 'less than: created before';
COMMENT ON FUNCTION scru_internal.scru64_le(scru64, scru64) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru64, scru64) IS 'less than or equal';
COMMENT ON FUNCTION scru_internal.scru64_gt(scru64, scru64) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru64, scru64) IS 'greater than: created after';
COMMENT ON FUNCTION scru_internal.scru64_ge(scru64, scru64) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru64, scru64) IS 'greater than or equal';
COMMENT ON FUNCTION scru_internal.scru64_cmp(scru64, scru64) IS 'internal: less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru_internal.scru64_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with an ID or a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.scru64_larger(scru64, scru64) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_smaller(scru64, scru64) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(scru64) (
    SFUNC = scru_internal.scru64_smaller, STYPE = scru64, SORTOP = <, COMBINEFUNC = scru_internal.scru64_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru64) (
    SFUNC = scru_internal.scru64_larger, STYPE = scru64, SORTOP = >, COMBINEFUNC = scru_internal.scru64_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.scru64_larger(scru64, scru64) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.scru64_smaller(scru64, scru64) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(scru64) IS 'smallest scru64 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru64) IS 'largest scru64 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru_internal.scru64_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru64_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The operators are members of the family before the class exists. pg_upgrade then creates them with the family, on which comparisons
-- of rows depend.
CREATE OPERATOR FAMILY scru64_ops USING btree;
ALTER OPERATOR FAMILY scru64_ops USING btree ADD
    OPERATOR 1 < (scru64, scru64), OPERATOR 2 <= (scru64, scru64), OPERATOR 3 = (scru64, scru64),
    OPERATOR 4 >= (scru64, scru64), OPERATOR 5 > (scru64, scru64);
CREATE OPERATOR CLASS scru64_ops DEFAULT FOR TYPE scru64 USING btree FAMILY scru64_ops AS
    FUNCTION 1 scru_internal.scru64_cmp(scru64, scru64),
    FUNCTION 2 scru_internal.scru64_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru_internal.scru64_sortsupport(internal) IS 'internal: sort support';
COMMENT ON OPERATOR CLASS scru64_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru64_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru_internal.scru64_hash(scru64) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_hash_extended(scru64, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru64_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru64_ops DEFAULT FOR TYPE scru64 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru_internal.scru64_hash(scru64),
    FUNCTION 2 scru_internal.scru64_hash_extended(scru64, bigint);

COMMENT ON FUNCTION scru_internal.scru64_hash(scru64) IS 'internal: hash';
COMMENT ON FUNCTION scru_internal.scru64_hash_extended(scru64, bigint) IS 'internal: hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru64_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru64_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE OPERATOR CLASS scru64_minmax_ops DEFAULT FOR TYPE scru64 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

CREATE OPERATOR CLASS scru64_minmax_multi_ops FOR TYPE scru64 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 brin_minmax_multi_distance_int8(internal, internal);

CREATE OPERATOR CLASS scru64_bloom_ops FOR TYPE scru64 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru_internal.scru64_hash(scru64);

COMMENT ON OPERATOR CLASS scru64_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru64_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru64_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru64_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru64_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru64_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru64() RETURNS scru64
    AS 'MODULE_PATHNAME', 'gen_scru64' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru64() IS 'a new scru64, greater than the previous one';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION scru64_horizon() RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru64_horizon() IS 'ID below which no transaction can still commit a scru64 of gen_scru64()';
CREATE FUNCTION scru64_horizon(after scru64, lag interval DEFAULT '0') RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru64_horizon(scru64, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.scru64_timestamp_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_timestamp_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_timestamp(scru64) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru64_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_timestamp_support;
CREATE FUNCTION scru64_lower(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_upper(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru_internal.scru64_timestamp_support(internal) IS 'internal: planner support: lets indexes on the ID serve conditions on its time, and its order';
COMMENT ON FUNCTION scru64_timestamp(scru64) IS 'time of creation: the start of the tick of 256 milliseconds that the ID belongs to';
COMMENT ON FUNCTION scru64_lower(timestamptz) IS 'smallest scru64 of the tick of 256 milliseconds that contains a time';
COMMENT ON FUNCTION scru64_upper(timestamptz) IS 'largest scru64 of the tick of 256 milliseconds that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the tick of 256 milliseconds of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from scru64_lower and the functions below: src/by_time/condition.rs.
CREATE FUNCTION scru_internal.scru64_time_bound(timestamptz, text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru64_lt_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.scru64_le_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.scru64_gt_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.scru64_ge_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;

CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru64_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = scru_internal.timestamptz_lt_scru64,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru64_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = scru_internal.timestamptz_le_scru64,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru64_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = scru_internal.timestamptz_gt_scru64,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru64_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = scru_internal.timestamptz_ge_scru64,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru64_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru64_time_bound(timestamptz, text) IS 'internal: nearest scru64 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru_internal.scru64_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.scru64_lt_timestamptz(scru64, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_scru64(timestamptz, scru64) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru64, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR pg_catalog.< (timestamptz, scru64) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.scru64_le_timestamptz(scru64, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_scru64(timestamptz, scru64) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru64, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, scru64) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.scru64_gt_timestamptz(scru64, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_scru64(timestamptz, scru64) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru64, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR pg_catalog.> (timestamptz, scru64) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.scru64_ge_timestamptz(scru64, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_scru64(timestamptz, scru64) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru64, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, scru64) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.scru64_range_lower(tstzrange) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_range_upper(tstzrange) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru64_contained_by_range(scru64, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;
CREATE FUNCTION scru_internal.scru64_range_contains(scru_internal.scru_tstzrange, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru64_time_support;

CREATE OPERATOR pg_catalog.<@ (
    LEFTARG = scru64, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.scru64_contained_by_range,
    COMMUTATOR = OPERATOR(pg_catalog.@>), RESTRICT = scru_internal.scru64_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR pg_catalog.@> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = scru64, FUNCTION = scru_internal.scru64_range_contains,
    COMMUTATOR = OPERATOR(pg_catalog.<@), RESTRICT = scru_internal.scru64_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.scru64_range_lower(tstzrange) IS 'internal: first scru64 in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru64_range_upper(tstzrange) IS 'internal: last scru64 in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru64_contained_by_range(scru64, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.scru64_range_contains(scru_internal.scru_tstzrange, scru64) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR pg_catalog.<@ (scru64, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR pg_catalog.@> (scru_internal.scru_tstzrange, scru64) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION scru64_prefixed(prefix text, id scru64) RETURNS text
    AS 'MODULE_PATHNAME', 'scru64_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_unprefixed(prefix text, value text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_prefixed(prefix text, id scru64) IS 'a prefix, an underscore, and the text of a scru64';
COMMENT ON FUNCTION scru64_unprefixed(prefix text, value text) IS 'the scru64 of a text with this prefix';

------------------------------------------------------------------------------------------------------------ encryption

-- STABLE, not IMMUTABLE, so that no key becomes part of an index or a generated column.
CREATE FUNCTION scru64_encrypt(id scru64, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'scru64_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
CREATE FUNCTION scru64_decrypt(encrypted uuid, key bytea) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION scru64_encrypt(id scru64, key bytea) IS 'a uuid of version 4 that hides the time of a scru64';
COMMENT ON FUNCTION scru64_decrypt(encrypted uuid, key bytea) IS 'the scru64 that is encrypted to a uuid; NULL if there is none';


--------------------------------------------------------------------------------------------------------------- partman

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru64_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru64_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru64_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_time_encoder(timestamptz) IS 'text of the smallest scru64 whose time is at or after a time';
COMMENT ON FUNCTION scru64_time_decoder(text) IS 'time of a scru64 that is given as text; for whole seconds, the inverse of scru64_time_encoder';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru_internal.scru64_in_range(scru64, scru64, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru64_ops USING btree ADD
    FUNCTION 3 (scru64, interval) scru_internal.scru64_in_range(scru64, scru64, interval, boolean, boolean);
COMMENT ON FUNCTION scru_internal.scru64_in_range(scru64, scru64, interval, boolean, boolean) IS 'internal: window function support: RANGE with an interval';

------------------------------------------------------------------------------------------------------------------ gin

CREATE FUNCTION scru_internal.scru64_gin_extract_value(scru64, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gin_extract_query(scru64, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gin_compare_partial(scru64, scru64, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gin_triconsistent(internal, smallint, scru64, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME', 'scru64_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru64_ops DEFAULT FOR TYPE scru64 USING gin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru_internal.scru64_cmp(scru64, scru64),
    FUNCTION 2 scru_internal.scru64_gin_extract_value(scru64, internal),
    FUNCTION 3 scru_internal.scru64_gin_extract_query(scru64, internal, smallint, internal, internal, internal, internal),
    FUNCTION 5 scru_internal.scru64_gin_compare_partial(scru64, scru64, smallint, internal),
    FUNCTION 6 scru_internal.scru64_gin_triconsistent(internal, smallint, scru64, integer, internal, internal, internal);

COMMENT ON FUNCTION scru_internal.scru64_gin_extract_value(scru64, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru64_gin_extract_query(scru64, internal, smallint, internal, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru64_gin_compare_partial(scru64, scru64, smallint, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru64_gin_triconsistent(internal, smallint, scru64, integer, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON OPERATOR CLASS scru64_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
COMMENT ON OPERATOR FAMILY scru64_ops USING gin IS 'equality';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru_internal.scru64_gist_consistent(internal, scru64, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru64_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru64_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru64_gist_ops DEFAULT FOR TYPE scru64 USING gist AS
    OPERATOR 8 <@ (scru64, scru_internal.scru_tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru_internal.scru64_gist_consistent(internal, scru64, smallint, oid, internal),
    FUNCTION 2 scru_internal.scru64_gist_union(internal, internal),
    FUNCTION 3 scru_internal.scru64_gist_compress(internal),
    FUNCTION 5 scru_internal.scru64_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru_internal.scru64_gist_picksplit(internal, internal),
    FUNCTION 7 scru_internal.scru64_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru_internal.scru64_gist_fetch(internal),
    FUNCTION 11 bytea_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru_internal.scru64_gist_consistent(internal, scru64, smallint, oid, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_union(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_compress(internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_penalty(internal, internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_picksplit(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_same(bytea, bytea, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru64_gist_fetch(internal) IS 'internal: GiST support';
COMMENT ON OPERATOR CLASS scru64_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru64_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru_internal.scru64_from_bytea(bytea) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS bytea) WITH FUNCTION scru_internal.scru64_send(scru64);
CREATE CAST (bytea AS scru64) WITH FUNCTION scru_internal.scru64_from_bytea(bytea);
COMMENT ON FUNCTION scru_internal.scru64_from_bytea(bytea) IS 'internal: the scru64 of 8 big-endian bytes';
COMMENT ON CAST (scru64 AS bytea) IS 'the 8 big-endian bytes';
COMMENT ON CAST (bytea AS scru64) IS 'from 8 big-endian bytes';

CREATE CAST (scru64 AS timestamptz) WITH FUNCTION scru64_timestamp(scru64);
CREATE CAST (timestamptz AS scru64) WITH FUNCTION scru64_lower(timestamptz);
COMMENT ON CAST (scru64 AS timestamptz) IS 'time of creation';

CREATE FUNCTION scru_internal.scru64_date(scru64) RETURNS date
    AS 'MODULE_PATHNAME', 'scru64_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS date) WITH FUNCTION scru_internal.scru64_date(scru64);
COMMENT ON FUNCTION scru_internal.scru64_date(scru64) IS 'internal: day of creation in the time zone of the session';
COMMENT ON CAST (scru64 AS date) IS 'day of creation in the time zone of the session';
COMMENT ON CAST (timestamptz AS scru64) IS 'smallest scru64 of the tick of 256 milliseconds that contains the time';

-- Every scru64 is a valid bigint, but not every bigint is a valid scru64.
CREATE FUNCTION scru_internal.scru64_from_bigint(bigint) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bigint AS scru64) WITH FUNCTION scru_internal.scru64_from_bigint(bigint);
COMMENT ON FUNCTION scru_internal.scru64_from_bigint(bigint) IS 'internal: the scru64 of this value';
COMMENT ON CAST (scru64 AS bigint) IS 'the same value, read as bigint';
COMMENT ON CAST (bigint AS scru64) IS 'the same value, if it is a scru64';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION scru64_node_ctr(id scru64) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_node_ctr(id scru64) IS '24 bits: the node ID, and below it the counter';
CREATE FUNCTION scru64_node_id(id scru64, node_id_size integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_field_1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_node_id(id scru64, node_id_size integer) IS 'The node that made the ID';
CREATE FUNCTION scru64_counter(id scru64, node_id_size integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_field_2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_counter(id scru64, node_id_size integer) IS 'The bits below the node ID, random at the start of every tick, then counted up';

---------------------------------------------------------------------------------------------------------------- node

CREATE FUNCTION scru64_is_local(scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_is_local(scru64) IS 'whether a scru64 has the number of this server, which is set by scru.scru64_node';
