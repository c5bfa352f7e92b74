-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. Functions are STABLE if
-- they depend on a setting, on the session's time zone, on the snapshot or on statistics, VOLATILE if they depend on the clock or on
-- random numbers, and IMMUTABLE otherwise, except for encryption.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru160;

CREATE FUNCTION scru_internal.scru160_in(cstring) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_out(scru160) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru160_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_recv(internal) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_send(scru160) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE scru160 (
    INPUT = scru_internal.scru160_in,
    OUTPUT = scru_internal.scru160_out,
    RECEIVE = scru_internal.scru160_recv,
    SEND = scru_internal.scru160_send,
    ANALYZE = scru_internal.scru160_typanalyze,
    INTERNALLENGTH = 20,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE scru160 IS 'SCRU160: 160-bit ID in order of creation, unique without coordination (32 base32hex digits)';
COMMENT ON FUNCTION scru_internal.scru160_in(cstring) IS 'internal: I/O: reads the text of a scru160';
COMMENT ON FUNCTION scru_internal.scru160_out(scru160) IS 'internal: I/O: writes the text of a scru160';
COMMENT ON FUNCTION scru_internal.scru160_recv(internal) IS 'internal: I/O: reads the 20 big-endian bytes of a scru160';
COMMENT ON FUNCTION scru_internal.scru160_send(scru160) IS 'internal: I/O: writes the 20 big-endian bytes of a scru160';
COMMENT ON FUNCTION scru_internal.scru160_typanalyze(internal) IS 'internal: statistics for ANALYZE: those of the server, and those of the times';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru_internal.scru160_eq(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_ne(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_lt(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_le(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gt(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_ge(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_cmp(scru160, scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru160_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE OPERATOR pg_catalog.= (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru160_eq(scru160, scru160) IS 'internal: implementation of = operator';
COMMENT ON OPERATOR pg_catalog.= (scru160, scru160) IS 'equal';
COMMENT ON FUNCTION scru_internal.scru160_ne(scru160, scru160) IS 'internal: implementation of <> operator';
COMMENT ON OPERATOR pg_catalog.<> (scru160, scru160) IS 'not equal';
COMMENT ON FUNCTION scru_internal.scru160_lt(scru160, scru160) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru160, scru160) IS 'less than: created before';
COMMENT ON FUNCTION scru_internal.scru160_le(scru160, scru160) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru160, scru160) IS 'less than or equal';
COMMENT ON FUNCTION scru_internal.scru160_gt(scru160, scru160) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru160, scru160) IS 'greater than: created after';
COMMENT ON FUNCTION scru_internal.scru160_ge(scru160, scru160) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru160, scru160) IS 'greater than or equal';
COMMENT ON FUNCTION scru_internal.scru160_cmp(scru160, scru160) IS 'internal: less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru_internal.scru160_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with an ID or a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.scru160_larger(scru160, scru160) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_smaller(scru160, scru160) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(scru160) (
    SFUNC = scru_internal.scru160_smaller, STYPE = scru160, SORTOP = <, COMBINEFUNC = scru_internal.scru160_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru160) (
    SFUNC = scru_internal.scru160_larger, STYPE = scru160, SORTOP = >, COMBINEFUNC = scru_internal.scru160_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.scru160_larger(scru160, scru160) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.scru160_smaller(scru160, scru160) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(scru160) IS 'smallest scru160 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru160) IS 'largest scru160 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru_internal.scru160_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru160_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The operators are members of the family before the class exists. pg_upgrade then creates them with the family, on which comparisons
-- of rows depend.
CREATE OPERATOR FAMILY scru160_ops USING btree;
ALTER OPERATOR FAMILY scru160_ops USING btree ADD
    OPERATOR 1 < (scru160, scru160), OPERATOR 2 <= (scru160, scru160), OPERATOR 3 = (scru160, scru160),
    OPERATOR 4 >= (scru160, scru160), OPERATOR 5 > (scru160, scru160);
CREATE OPERATOR CLASS scru160_ops DEFAULT FOR TYPE scru160 USING btree FAMILY scru160_ops AS
    FUNCTION 1 scru_internal.scru160_cmp(scru160, scru160),
    FUNCTION 2 scru_internal.scru160_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru_internal.scru160_sortsupport(internal) IS 'internal: sort support';
COMMENT ON OPERATOR CLASS scru160_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru160_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru_internal.scru160_hash(scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_hash_extended(scru160, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru160_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru160_ops DEFAULT FOR TYPE scru160 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru_internal.scru160_hash(scru160),
    FUNCTION 2 scru_internal.scru160_hash_extended(scru160, bigint);

COMMENT ON FUNCTION scru_internal.scru160_hash(scru160) IS 'internal: hash';
COMMENT ON FUNCTION scru_internal.scru160_hash_extended(scru160, bigint) IS 'internal: hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru160_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru160_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE OPERATOR CLASS scru160_minmax_ops DEFAULT FOR TYPE scru160 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

CREATE OPERATOR CLASS scru160_minmax_multi_ops FOR TYPE scru160 USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 brin_minmax_multi_distance_uuid(internal, internal);

CREATE OPERATOR CLASS scru160_bloom_ops FOR TYPE scru160 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru_internal.scru160_hash(scru160);

COMMENT ON OPERATOR CLASS scru160_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru160_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru160_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru160_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru160_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru160_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru160() RETURNS scru160
    AS 'MODULE_PATHNAME', 'gen_scru160' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru160() IS 'a new scru160, greater than the previous one';

CREATE FUNCTION gen_scru160(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'gen_scru160_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru160(timestamptz) IS 'a random scru160 of a given time, for back-filling';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION scru160_horizon() RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru160_horizon() IS 'ID below which no transaction can still commit a scru160 of gen_scru160()';
CREATE FUNCTION scru160_horizon(after scru160, lag interval DEFAULT '0') RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION scru160_horizon(scru160, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.scru160_timestamp_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_timestamp_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_timestamp(scru160) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru160_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_timestamp_support;
CREATE FUNCTION scru160_lower(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_upper(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru_internal.scru160_timestamp_support(internal) IS 'internal: planner support: lets indexes on the ID serve conditions on its time, and its order';
COMMENT ON FUNCTION scru160_timestamp(scru160) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru160_lower(timestamptz) IS 'smallest scru160 of the millisecond that contains a time';
COMMENT ON FUNCTION scru160_upper(timestamptz) IS 'largest scru160 of the millisecond that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the millisecond of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from scru160_lower and the functions below: src/by_time/condition.rs.
CREATE FUNCTION scru_internal.scru160_time_bound(timestamptz, text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru160_lt_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.scru160_le_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.scru160_gt_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.scru160_ge_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;

CREATE OPERATOR pg_catalog.< (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru160_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = scru_internal.timestamptz_lt_scru160,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru160_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = scru_internal.timestamptz_le_scru160,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru160_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = scru_internal.timestamptz_gt_scru160,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru_internal.scru160_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = scru_internal.timestamptz_ge_scru160,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.scru160_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.scru160_time_bound(timestamptz, text) IS 'internal: nearest scru160 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru_internal.scru160_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.scru160_lt_timestamptz(scru160, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_scru160(timestamptz, scru160) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (scru160, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR pg_catalog.< (timestamptz, scru160) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.scru160_le_timestamptz(scru160, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_scru160(timestamptz, scru160) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (scru160, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, scru160) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.scru160_gt_timestamptz(scru160, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_scru160(timestamptz, scru160) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (scru160, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR pg_catalog.> (timestamptz, scru160) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.scru160_ge_timestamptz(scru160, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_scru160(timestamptz, scru160) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (scru160, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, scru160) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.scru160_range_lower(tstzrange) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_range_upper(tstzrange) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.scru160_contained_by_range(scru160, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;
CREATE FUNCTION scru_internal.scru160_range_contains(scru_internal.scru_tstzrange, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.scru160_time_support;

CREATE OPERATOR pg_catalog.<@ (
    LEFTARG = scru160, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.scru160_contained_by_range,
    COMMUTATOR = OPERATOR(pg_catalog.@>), RESTRICT = scru_internal.scru160_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR pg_catalog.@> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = scru160, FUNCTION = scru_internal.scru160_range_contains,
    COMMUTATOR = OPERATOR(pg_catalog.<@), RESTRICT = scru_internal.scru160_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.scru160_range_lower(tstzrange) IS 'internal: first scru160 in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru160_range_upper(tstzrange) IS 'internal: last scru160 in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.scru160_contained_by_range(scru160, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.scru160_range_contains(scru_internal.scru_tstzrange, scru160) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR pg_catalog.<@ (scru160, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR pg_catalog.@> (scru_internal.scru_tstzrange, scru160) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION scru160_prefixed(prefix text, id scru160) RETURNS text
    AS 'MODULE_PATHNAME', 'scru160_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_unprefixed(prefix text, value text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_prefixed(prefix text, id scru160) IS 'a prefix, an underscore, and the text of a scru160';
COMMENT ON FUNCTION scru160_unprefixed(prefix text, value text) IS 'the scru160 of a text with this prefix';

--------------------------------------------------------------------------------------------------------------- partman

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru160_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru160_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru160_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_time_encoder(timestamptz) IS 'text of the smallest scru160 whose time is at or after a time';
COMMENT ON FUNCTION scru160_time_decoder(text) IS 'time of a scru160 that is given as text; for whole seconds, the inverse of scru160_time_encoder';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru_internal.scru160_in_range(scru160, scru160, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru160_ops USING btree ADD
    FUNCTION 3 (scru160, interval) scru_internal.scru160_in_range(scru160, scru160, interval, boolean, boolean);
COMMENT ON FUNCTION scru_internal.scru160_in_range(scru160, scru160, interval, boolean, boolean) IS 'internal: window function support: RANGE with an interval';

------------------------------------------------------------------------------------------------------------------ gin

CREATE FUNCTION scru_internal.scru160_gin_extract_value(scru160, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gin_extract_query(scru160, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gin_compare_partial(scru160, scru160, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gin_triconsistent(internal, smallint, scru160, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME', 'scru160_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru160_ops DEFAULT FOR TYPE scru160 USING gin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru_internal.scru160_cmp(scru160, scru160),
    FUNCTION 2 scru_internal.scru160_gin_extract_value(scru160, internal),
    FUNCTION 3 scru_internal.scru160_gin_extract_query(scru160, internal, smallint, internal, internal, internal, internal),
    FUNCTION 5 scru_internal.scru160_gin_compare_partial(scru160, scru160, smallint, internal),
    FUNCTION 6 scru_internal.scru160_gin_triconsistent(internal, smallint, scru160, integer, internal, internal, internal);

COMMENT ON FUNCTION scru_internal.scru160_gin_extract_value(scru160, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru160_gin_extract_query(scru160, internal, smallint, internal, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru160_gin_compare_partial(scru160, scru160, smallint, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.scru160_gin_triconsistent(internal, smallint, scru160, integer, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON OPERATOR CLASS scru160_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
COMMENT ON OPERATOR FAMILY scru160_ops USING gin IS 'equality';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru_internal.scru160_gist_consistent(internal, scru160, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.scru160_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru160_gist_ops DEFAULT FOR TYPE scru160 USING gist AS
    OPERATOR 8 <@ (scru160, scru_internal.scru_tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru_internal.scru160_gist_consistent(internal, scru160, smallint, oid, internal),
    FUNCTION 2 scru_internal.scru160_gist_union(internal, internal),
    FUNCTION 3 scru_internal.scru160_gist_compress(internal),
    FUNCTION 5 scru_internal.scru160_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru_internal.scru160_gist_picksplit(internal, internal),
    FUNCTION 7 scru_internal.scru160_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru_internal.scru160_gist_fetch(internal),
    FUNCTION 11 bytea_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru_internal.scru160_gist_consistent(internal, scru160, smallint, oid, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_union(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_compress(internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_penalty(internal, internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_picksplit(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_same(bytea, bytea, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.scru160_gist_fetch(internal) IS 'internal: GiST support';
COMMENT ON OPERATOR CLASS scru160_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru160_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru_internal.scru160_from_bytea(bytea) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru160 AS bytea) WITH FUNCTION scru_internal.scru160_send(scru160);
CREATE CAST (bytea AS scru160) WITH FUNCTION scru_internal.scru160_from_bytea(bytea);
COMMENT ON FUNCTION scru_internal.scru160_from_bytea(bytea) IS 'internal: the scru160 of 20 big-endian bytes';
COMMENT ON CAST (scru160 AS bytea) IS 'the 20 big-endian bytes';
COMMENT ON CAST (bytea AS scru160) IS 'from 20 big-endian bytes';

CREATE CAST (scru160 AS timestamptz) WITH FUNCTION scru160_timestamp(scru160);
CREATE CAST (timestamptz AS scru160) WITH FUNCTION scru160_lower(timestamptz);
COMMENT ON CAST (scru160 AS timestamptz) IS 'time of creation';

CREATE FUNCTION scru_internal.scru160_date(scru160) RETURNS date
    AS 'MODULE_PATHNAME', 'scru160_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE CAST (scru160 AS date) WITH FUNCTION scru_internal.scru160_date(scru160);
COMMENT ON FUNCTION scru_internal.scru160_date(scru160) IS 'internal: day of creation in the time zone of the session';
COMMENT ON CAST (scru160 AS date) IS 'day of creation in the time zone of the session';
COMMENT ON CAST (timestamptz AS scru160) IS 'smallest scru160 of the millisecond that contains the time';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION scru160_counter(id scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_counter(id scru160) IS '16 bits, random at the start of every millisecond, then counted up';
CREATE FUNCTION scru160_random16(id scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_field_1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_random16(id scru160) IS '16 random bits, renewed for every ID';
CREATE FUNCTION scru160_random80(id scru160) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_field_2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_random80(id scru160) IS '80 random bits, renewed for every ID';

---------------------------------------------------------------------------------------------------------------- node
