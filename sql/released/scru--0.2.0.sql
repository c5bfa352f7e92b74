\echo Use "CREATE EXTENSION scru" to load this file. \quit

-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in: edit that file only.
--
-- All functions are PARALLEL SAFE. Functions with arguments are STRICT. Functions are STABLE if they depend on a setting, on the
-- session's time zone or on statistics, VOLATILE if they depend on the clock or on random numbers, and IMMUTABLE otherwise.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru128;

CREATE FUNCTION scru128_in(cstring) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_out(scru128) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru128_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_recv(internal) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_send(scru128) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru128_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE scru128 (
    INPUT = scru128_in,
    OUTPUT = scru128_out,
    RECEIVE = scru128_recv,
    SEND = scru128_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE scru128 IS 'SCRU128: 128-bit ID in order of creation, unique without coordination (25 Base36 digits)';
COMMENT ON FUNCTION scru128_in(cstring) IS 'I/O: reads the text of a scru128';
COMMENT ON FUNCTION scru128_out(scru128) IS 'I/O: writes the text of a scru128';
COMMENT ON FUNCTION scru128_recv(internal) IS 'I/O: reads the 16 big-endian bytes of a scru128';
COMMENT ON FUNCTION scru128_send(scru128) IS 'I/O: writes the 16 big-endian bytes of a scru128';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru128_eq(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_ne(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_lt(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_le(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_gt(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_ge(scru128, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_cmp(scru128, scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_larger(scru128, scru128) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_smaller(scru128, scru128) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR = (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru128, RIGHTARG = scru128, FUNCTION = scru128_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE AGGREGATE min(scru128) (
    SFUNC = scru128_smaller, STYPE = scru128, SORTOP = <, COMBINEFUNC = scru128_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru128) (
    SFUNC = scru128_larger, STYPE = scru128, SORTOP = >, COMBINEFUNC = scru128_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru128_eq(scru128, scru128) IS 'implementation of = operator';
COMMENT ON OPERATOR = (scru128, scru128) IS 'equal';
COMMENT ON FUNCTION scru128_ne(scru128, scru128) IS 'implementation of <> operator';
COMMENT ON OPERATOR <> (scru128, scru128) IS 'not equal';
COMMENT ON FUNCTION scru128_lt(scru128, scru128) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru128, scru128) IS 'less than: created before';
COMMENT ON FUNCTION scru128_le(scru128, scru128) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru128, scru128) IS 'less than or equal';
COMMENT ON FUNCTION scru128_gt(scru128, scru128) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru128, scru128) IS 'greater than: created after';
COMMENT ON FUNCTION scru128_ge(scru128, scru128) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru128, scru128) IS 'greater than or equal';
COMMENT ON FUNCTION scru128_cmp(scru128, scru128) IS 'less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru128_larger(scru128, scru128) IS 'larger of two';
COMMENT ON FUNCTION scru128_smaller(scru128, scru128) IS 'smaller of two';
COMMENT ON AGGREGATE min(scru128) IS 'smallest scru128 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru128) IS 'largest scru128 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru128_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru128_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru128_ops DEFAULT FOR TYPE scru128 USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru128_cmp(scru128, scru128),
    FUNCTION 2 scru128_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru128_sortsupport(internal) IS 'sort support';
COMMENT ON OPERATOR CLASS scru128_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru128_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru128_hash(scru128) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru128_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_hash_extended(scru128, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru128_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru128_ops DEFAULT FOR TYPE scru128 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru128_hash(scru128),
    FUNCTION 2 scru128_hash_extended(scru128, bigint);

COMMENT ON FUNCTION scru128_hash(scru128) IS 'hash';
COMMENT ON FUNCTION scru128_hash_extended(scru128, bigint) IS 'hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru128_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru128_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE FUNCTION scru128_distance(scru128, scru128) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru128_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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
    FUNCTION 11 scru128_distance(scru128, scru128);

CREATE OPERATOR CLASS scru128_bloom_ops FOR TYPE scru128 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru128_hash(scru128);

COMMENT ON FUNCTION scru128_distance(scru128, scru128) IS 'distance of the first scru128 to the second, for BRIN minmax-multi';
COMMENT ON OPERATOR CLASS scru128_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru128_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru128_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru128_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru128_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru128_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru128_timestamp(scru128) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru128_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_lower(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_upper(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru128_timestamp(scru128) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru128_lower(timestamptz) IS 'smallest scru128 whose time is at or after a time';
COMMENT ON FUNCTION scru128_upper(timestamptz) IS 'largest scru128 whose time is at or before a time';

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru128_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru128_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru128_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_time_encoder(timestamptz) IS 'text of the smallest scru128 whose time is at or after a time';
COMMENT ON FUNCTION scru128_time_decoder(text) IS 'time of a scru128 that is given as text; for whole seconds, the inverse of scru128_time_encoder';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time. There is no `=`, and the operators are in no btree operator family, because two IDs with the
-- same time are not equal. The planner turns the comparisons into comparisons of IDs, with bounds from the functions below.
CREATE FUNCTION scru128_time_bound(timestamptz, text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_time_lower(timestamptz, text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_time_upper(timestamptz, text) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_time_possible(scru128, timestamptz, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;

CREATE FUNCTION scru128_lt_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION timestamptz_lt_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION scru128_le_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION timestamptz_le_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION scru128_gt_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION timestamptz_gt_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION scru128_ge_timestamptz(scru128, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;
CREATE FUNCTION timestamptz_ge_scru128(timestamptz, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru128' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_time_support;

CREATE OPERATOR < (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru128_lt_timestamptz,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = timestamptz_lt_scru128,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru128_le_timestamptz,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = timestamptz_le_scru128,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru128_gt_timestamptz,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = timestamptz_gt_scru128,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru128, RIGHTARG = timestamptz, FUNCTION = scru128_ge_timestamptz,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = scru128, FUNCTION = timestamptz_ge_scru128,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru128_time_bound(timestamptz, text) IS 'nearest scru128 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru128_time_lower(timestamptz, text) IS 'smallest scru128 that satisfies a comparison with a time; the largest of all if there is none';
COMMENT ON FUNCTION scru128_time_upper(timestamptz, text) IS 'largest scru128 that satisfies a comparison with a time; the smallest of all if there is none';
COMMENT ON FUNCTION scru128_time_possible(scru128, timestamptz, text) IS 'whether any scru128 satisfies a comparison with a time';
COMMENT ON FUNCTION scru128_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
COMMENT ON FUNCTION scru128_lt_timestamptz(scru128, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_lt_scru128(timestamptz, scru128) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru128, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, scru128) IS 'less than, by time';
COMMENT ON FUNCTION scru128_le_timestamptz(scru128, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_le_scru128(timestamptz, scru128) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru128, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, scru128) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru128_gt_timestamptz(scru128, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_gt_scru128(timestamptz, scru128) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru128, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, scru128) IS 'greater than, by time';
COMMENT ON FUNCTION scru128_ge_timestamptz(scru128, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_ge_scru128(timestamptz, scru128) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru128, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, scru128) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru128_range_lower(tstzrange) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_range_upper(tstzrange) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_upper_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru128_range_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_range_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_rangesel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru128_rangesel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru128_contained_by_range(scru128, tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_range_support;
CREATE FUNCTION scru128_range_contains(tstzrange, scru128) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru128_range_support;

CREATE OPERATOR <@ (
    LEFTARG = scru128, RIGHTARG = tstzrange, FUNCTION = scru128_contained_by_range,
    COMMUTATOR = @>, RESTRICT = scru128_rangesel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = tstzrange, RIGHTARG = scru128, FUNCTION = scru128_range_contains,
    COMMUTATOR = <@, RESTRICT = scru128_rangesel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru128_range_lower(tstzrange) IS 'first scru128 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru128_range_upper(tstzrange) IS 'last scru128 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru128_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
COMMENT ON FUNCTION scru128_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru128_contained_by_range(scru128, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru128_range_contains(tstzrange, scru128) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru128, tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (tstzrange, scru128) IS 'contains the time of creation';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru128_in_range(scru128, scru128, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru128_ops USING btree ADD
    FUNCTION 3 (scru128, interval) scru128_in_range(scru128, scru128, interval, boolean, boolean);
COMMENT ON FUNCTION scru128_in_range(scru128, scru128, interval, boolean, boolean) IS 'window function support: RANGE with an interval';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru128_gist_consistent(internal, scru128, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru128_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru128_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru128_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru128_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru128_gist_ops DEFAULT FOR TYPE scru128 USING gist AS
    OPERATOR 8 <@ (scru128, tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru128_gist_consistent(internal, scru128, smallint, oid, internal),
    FUNCTION 2 scru128_gist_union(internal, internal),
    FUNCTION 3 scru128_gist_compress(internal),
    FUNCTION 5 scru128_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru128_gist_picksplit(internal, internal),
    FUNCTION 7 scru128_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru128_gist_fetch(internal),
    FUNCTION 11 scru128_gist_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru128_gist_consistent(internal, scru128, smallint, oid, internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_union(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_compress(internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_penalty(internal, internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_picksplit(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_same(bytea, bytea, internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_fetch(internal) IS 'GiST support';
COMMENT ON FUNCTION scru128_gist_sortsupport(internal) IS 'GiST sort support';
COMMENT ON OPERATOR CLASS scru128_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru128_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru128_to_bytea(scru128) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru128_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_from_bytea(bytea) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru128 AS bytea) WITH FUNCTION scru128_to_bytea(scru128);
CREATE CAST (bytea AS scru128) WITH FUNCTION scru128_from_bytea(bytea);
COMMENT ON FUNCTION scru128_to_bytea(scru128) IS 'the 16 big-endian bytes of a scru128';
COMMENT ON FUNCTION scru128_from_bytea(bytea) IS 'the scru128 of 16 big-endian bytes';
COMMENT ON CAST (scru128 AS bytea) IS 'the 16 big-endian bytes';
COMMENT ON CAST (bytea AS scru128) IS 'from 16 big-endian bytes';

CREATE CAST (scru128 AS timestamptz) WITH FUNCTION scru128_timestamp(scru128);
CREATE CAST (timestamptz AS scru128) WITH FUNCTION scru128_lower(timestamptz);
COMMENT ON CAST (scru128 AS timestamptz) IS 'time of creation';
COMMENT ON CAST (timestamptz AS scru128) IS 'smallest scru128 whose time is at or after the time';

-- The bytes are the same, so that changing the type of a column does not rewrite the table.
CREATE CAST (scru128 AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (uuid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS uuid) IS 'the same 16 bytes, read as uuid';
COMMENT ON CAST (uuid AS scru128) IS 'the same 16 bytes, read as scru128';

CREATE FUNCTION scru128_to_numeric(scru128) RETURNS numeric
    AS 'MODULE_PATHNAME', 'scru128_to_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_from_numeric(numeric) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_from_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru128 AS numeric) WITH FUNCTION scru128_to_numeric(scru128);
CREATE CAST (numeric AS scru128) WITH FUNCTION scru128_from_numeric(numeric);
COMMENT ON FUNCTION scru128_to_numeric(scru128) IS 'the integer value of a scru128';
COMMENT ON FUNCTION scru128_from_numeric(numeric) IS 'the scru128 of this integer value';
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

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru128() RETURNS scru128
    AS 'MODULE_PATHNAME', 'gen_scru128' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru128() IS 'a new scru128, greater than the previous one';

CREATE FUNCTION gen_scru128(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'gen_scru128_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru128(timestamptz) IS 'a random scru128 of a given time, for back-filling';

-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in: edit that file only.
--
-- All functions are PARALLEL SAFE. Functions with arguments are STRICT. Functions are STABLE if they depend on a setting, on the
-- session's time zone or on statistics, VOLATILE if they depend on the clock or on random numbers, and IMMUTABLE otherwise.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru160;

CREATE FUNCTION scru160_in(cstring) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_out(scru160) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru160_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_recv(internal) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_send(scru160) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE scru160 (
    INPUT = scru160_in,
    OUTPUT = scru160_out,
    RECEIVE = scru160_recv,
    SEND = scru160_send,
    INTERNALLENGTH = 20,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE scru160 IS 'SCRU160: 160-bit ID in order of creation, unique without coordination (32 base32hex or 40 hexadecimal digits)';
COMMENT ON FUNCTION scru160_in(cstring) IS 'I/O: reads the text of a scru160';
COMMENT ON FUNCTION scru160_out(scru160) IS 'I/O: writes the text of a scru160';
COMMENT ON FUNCTION scru160_recv(internal) IS 'I/O: reads the 20 big-endian bytes of a scru160';
COMMENT ON FUNCTION scru160_send(scru160) IS 'I/O: writes the 20 big-endian bytes of a scru160';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru160_eq(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_ne(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_lt(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_le(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_gt(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_ge(scru160, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_cmp(scru160, scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_larger(scru160, scru160) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_smaller(scru160, scru160) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR = (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru160, RIGHTARG = scru160, FUNCTION = scru160_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE AGGREGATE min(scru160) (
    SFUNC = scru160_smaller, STYPE = scru160, SORTOP = <, COMBINEFUNC = scru160_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru160) (
    SFUNC = scru160_larger, STYPE = scru160, SORTOP = >, COMBINEFUNC = scru160_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru160_eq(scru160, scru160) IS 'implementation of = operator';
COMMENT ON OPERATOR = (scru160, scru160) IS 'equal';
COMMENT ON FUNCTION scru160_ne(scru160, scru160) IS 'implementation of <> operator';
COMMENT ON OPERATOR <> (scru160, scru160) IS 'not equal';
COMMENT ON FUNCTION scru160_lt(scru160, scru160) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru160, scru160) IS 'less than: created before';
COMMENT ON FUNCTION scru160_le(scru160, scru160) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru160, scru160) IS 'less than or equal';
COMMENT ON FUNCTION scru160_gt(scru160, scru160) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru160, scru160) IS 'greater than: created after';
COMMENT ON FUNCTION scru160_ge(scru160, scru160) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru160, scru160) IS 'greater than or equal';
COMMENT ON FUNCTION scru160_cmp(scru160, scru160) IS 'less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru160_larger(scru160, scru160) IS 'larger of two';
COMMENT ON FUNCTION scru160_smaller(scru160, scru160) IS 'smaller of two';
COMMENT ON AGGREGATE min(scru160) IS 'smallest scru160 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru160) IS 'largest scru160 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru160_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru160_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru160_ops DEFAULT FOR TYPE scru160 USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru160_cmp(scru160, scru160),
    FUNCTION 2 scru160_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru160_sortsupport(internal) IS 'sort support';
COMMENT ON OPERATOR CLASS scru160_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru160_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru160_hash(scru160) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru160_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_hash_extended(scru160, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru160_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru160_ops DEFAULT FOR TYPE scru160 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru160_hash(scru160),
    FUNCTION 2 scru160_hash_extended(scru160, bigint);

COMMENT ON FUNCTION scru160_hash(scru160) IS 'hash';
COMMENT ON FUNCTION scru160_hash_extended(scru160, bigint) IS 'hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru160_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru160_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE FUNCTION scru160_distance(scru160, scru160) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru160_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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
    FUNCTION 11 scru160_distance(scru160, scru160);

CREATE OPERATOR CLASS scru160_bloom_ops FOR TYPE scru160 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru160_hash(scru160);

COMMENT ON FUNCTION scru160_distance(scru160, scru160) IS 'distance of the first scru160 to the second, for BRIN minmax-multi';
COMMENT ON OPERATOR CLASS scru160_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru160_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru160_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru160_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru160_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru160_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru160_timestamp(scru160) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru160_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_lower(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_upper(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru160_timestamp(scru160) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru160_lower(timestamptz) IS 'smallest scru160 whose time is at or after a time';
COMMENT ON FUNCTION scru160_upper(timestamptz) IS 'largest scru160 whose time is at or before a time';

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru160_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru160_time_encoder' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru160_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_time_encoder(timestamptz) IS 'text of the smallest scru160 whose time is at or after a time';
COMMENT ON FUNCTION scru160_time_decoder(text) IS 'time of a scru160 that is given as text; for whole seconds, the inverse of scru160_time_encoder';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time. There is no `=`, and the operators are in no btree operator family, because two IDs with the
-- same time are not equal. The planner turns the comparisons into comparisons of IDs, with bounds from the functions below.
CREATE FUNCTION scru160_time_bound(timestamptz, text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_time_lower(timestamptz, text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_time_upper(timestamptz, text) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_time_possible(scru160, timestamptz, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;

CREATE FUNCTION scru160_lt_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION timestamptz_lt_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION scru160_le_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION timestamptz_le_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION scru160_gt_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION timestamptz_gt_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION scru160_ge_timestamptz(scru160, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;
CREATE FUNCTION timestamptz_ge_scru160(timestamptz, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru160' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_time_support;

CREATE OPERATOR < (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru160_lt_timestamptz,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = timestamptz_lt_scru160,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru160_le_timestamptz,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = timestamptz_le_scru160,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru160_gt_timestamptz,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = timestamptz_gt_scru160,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru160, RIGHTARG = timestamptz, FUNCTION = scru160_ge_timestamptz,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = scru160, FUNCTION = timestamptz_ge_scru160,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru160_time_bound(timestamptz, text) IS 'nearest scru160 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru160_time_lower(timestamptz, text) IS 'smallest scru160 that satisfies a comparison with a time; the largest of all if there is none';
COMMENT ON FUNCTION scru160_time_upper(timestamptz, text) IS 'largest scru160 that satisfies a comparison with a time; the smallest of all if there is none';
COMMENT ON FUNCTION scru160_time_possible(scru160, timestamptz, text) IS 'whether any scru160 satisfies a comparison with a time';
COMMENT ON FUNCTION scru160_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
COMMENT ON FUNCTION scru160_lt_timestamptz(scru160, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_lt_scru160(timestamptz, scru160) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru160, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, scru160) IS 'less than, by time';
COMMENT ON FUNCTION scru160_le_timestamptz(scru160, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_le_scru160(timestamptz, scru160) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru160, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, scru160) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru160_gt_timestamptz(scru160, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_gt_scru160(timestamptz, scru160) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru160, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, scru160) IS 'greater than, by time';
COMMENT ON FUNCTION scru160_ge_timestamptz(scru160, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_ge_scru160(timestamptz, scru160) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru160, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, scru160) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru160_range_lower(tstzrange) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_range_upper(tstzrange) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_upper_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru160_range_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_range_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_rangesel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru160_rangesel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru160_contained_by_range(scru160, tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_range_support;
CREATE FUNCTION scru160_range_contains(tstzrange, scru160) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru160_range_support;

CREATE OPERATOR <@ (
    LEFTARG = scru160, RIGHTARG = tstzrange, FUNCTION = scru160_contained_by_range,
    COMMUTATOR = @>, RESTRICT = scru160_rangesel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = tstzrange, RIGHTARG = scru160, FUNCTION = scru160_range_contains,
    COMMUTATOR = <@, RESTRICT = scru160_rangesel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru160_range_lower(tstzrange) IS 'first scru160 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru160_range_upper(tstzrange) IS 'last scru160 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru160_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
COMMENT ON FUNCTION scru160_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru160_contained_by_range(scru160, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru160_range_contains(tstzrange, scru160) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru160, tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (tstzrange, scru160) IS 'contains the time of creation';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru160_in_range(scru160, scru160, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru160_ops USING btree ADD
    FUNCTION 3 (scru160, interval) scru160_in_range(scru160, scru160, interval, boolean, boolean);
COMMENT ON FUNCTION scru160_in_range(scru160, scru160, interval, boolean, boolean) IS 'window function support: RANGE with an interval';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru160_gist_consistent(internal, scru160, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru160_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru160_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru160_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru160_gist_ops DEFAULT FOR TYPE scru160 USING gist AS
    OPERATOR 8 <@ (scru160, tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru160_gist_consistent(internal, scru160, smallint, oid, internal),
    FUNCTION 2 scru160_gist_union(internal, internal),
    FUNCTION 3 scru160_gist_compress(internal),
    FUNCTION 5 scru160_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru160_gist_picksplit(internal, internal),
    FUNCTION 7 scru160_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru160_gist_fetch(internal),
    FUNCTION 11 scru160_gist_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru160_gist_consistent(internal, scru160, smallint, oid, internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_union(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_compress(internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_penalty(internal, internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_picksplit(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_same(bytea, bytea, internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_fetch(internal) IS 'GiST support';
COMMENT ON FUNCTION scru160_gist_sortsupport(internal) IS 'GiST sort support';
COMMENT ON OPERATOR CLASS scru160_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru160_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru160_to_bytea(scru160) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru160_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_from_bytea(bytea) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru160 AS bytea) WITH FUNCTION scru160_to_bytea(scru160);
CREATE CAST (bytea AS scru160) WITH FUNCTION scru160_from_bytea(bytea);
COMMENT ON FUNCTION scru160_to_bytea(scru160) IS 'the 20 big-endian bytes of a scru160';
COMMENT ON FUNCTION scru160_from_bytea(bytea) IS 'the scru160 of 20 big-endian bytes';
COMMENT ON CAST (scru160 AS bytea) IS 'the 20 big-endian bytes';
COMMENT ON CAST (bytea AS scru160) IS 'from 20 big-endian bytes';

CREATE CAST (scru160 AS timestamptz) WITH FUNCTION scru160_timestamp(scru160);
CREATE CAST (timestamptz AS scru160) WITH FUNCTION scru160_lower(timestamptz);
COMMENT ON CAST (scru160 AS timestamptz) IS 'time of creation';
COMMENT ON CAST (timestamptz AS scru160) IS 'smallest scru160 whose time is at or after the time';

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

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru160() RETURNS scru160
    AS 'MODULE_PATHNAME', 'gen_scru160' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru160() IS 'a new scru160, greater than the previous one';

CREATE FUNCTION gen_scru160(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'gen_scru160_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru160(timestamptz) IS 'a random scru160 of a given time, for back-filling';

-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in: edit that file only.
--
-- All functions are PARALLEL SAFE. Functions with arguments are STRICT. Functions are STABLE if they depend on a setting, on the
-- session's time zone or on statistics, VOLATILE if they depend on the clock or on random numbers, and IMMUTABLE otherwise.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE scru64;

CREATE FUNCTION scru64_in(cstring) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_out(scru64) RETURNS cstring
    AS 'MODULE_PATHNAME', 'scru64_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_recv(internal) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_send(scru64) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru64_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE scru64 (
    INPUT = scru64_in,
    OUTPUT = scru64_out,
    RECEIVE = scru64_recv,
    SEND = scru64_send,
    LIKE = bigint
);

COMMENT ON TYPE scru64 IS 'SCRU64: 64-bit ID in order of creation, unique by its node (12 Base36 digits)';
COMMENT ON FUNCTION scru64_in(cstring) IS 'I/O: reads the text of a scru64';
COMMENT ON FUNCTION scru64_out(scru64) IS 'I/O: writes the text of a scru64';
COMMENT ON FUNCTION scru64_recv(internal) IS 'I/O: reads the 8 big-endian bytes of a scru64';
COMMENT ON FUNCTION scru64_send(scru64) IS 'I/O: writes the 8 big-endian bytes of a scru64';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru64_eq(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_ne(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_lt(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_le(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_gt(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_ge(scru64, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_cmp(scru64, scru64) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_larger(scru64, scru64) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_smaller(scru64, scru64) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR = (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru64, RIGHTARG = scru64, FUNCTION = scru64_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE AGGREGATE min(scru64) (
    SFUNC = scru64_smaller, STYPE = scru64, SORTOP = <, COMBINEFUNC = scru64_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(scru64) (
    SFUNC = scru64_larger, STYPE = scru64, SORTOP = >, COMBINEFUNC = scru64_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru64_eq(scru64, scru64) IS 'implementation of = operator';
COMMENT ON OPERATOR = (scru64, scru64) IS 'equal';
COMMENT ON FUNCTION scru64_ne(scru64, scru64) IS 'implementation of <> operator';
COMMENT ON OPERATOR <> (scru64, scru64) IS 'not equal';
COMMENT ON FUNCTION scru64_lt(scru64, scru64) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru64, scru64) IS 'less than: created before';
COMMENT ON FUNCTION scru64_le(scru64, scru64) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru64, scru64) IS 'less than or equal';
COMMENT ON FUNCTION scru64_gt(scru64, scru64) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru64, scru64) IS 'greater than: created after';
COMMENT ON FUNCTION scru64_ge(scru64, scru64) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru64, scru64) IS 'greater than or equal';
COMMENT ON FUNCTION scru64_cmp(scru64, scru64) IS 'less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru64_larger(scru64, scru64) IS 'larger of two';
COMMENT ON FUNCTION scru64_smaller(scru64, scru64) IS 'smaller of two';
COMMENT ON AGGREGATE min(scru64) IS 'smallest scru64 of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(scru64) IS 'largest scru64 of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru64_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru64_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS scru64_ops DEFAULT FOR TYPE scru64 USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru64_cmp(scru64, scru64),
    FUNCTION 2 scru64_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru64_sortsupport(internal) IS 'sort support';
COMMENT ON OPERATOR CLASS scru64_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY scru64_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru64_hash(scru64) RETURNS integer
    AS 'MODULE_PATHNAME', 'scru64_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_hash_extended(scru64, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'scru64_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS scru64_ops DEFAULT FOR TYPE scru64 USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru64_hash(scru64),
    FUNCTION 2 scru64_hash_extended(scru64, bigint);

COMMENT ON FUNCTION scru64_hash(scru64) IS 'hash';
COMMENT ON FUNCTION scru64_hash_extended(scru64, bigint) IS 'hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS scru64_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY scru64_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE FUNCTION scru64_distance(scru64, scru64) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru64_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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
    FUNCTION 11 scru64_distance(scru64, scru64);

CREATE OPERATOR CLASS scru64_bloom_ops FOR TYPE scru64 USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru64_hash(scru64);

COMMENT ON FUNCTION scru64_distance(scru64, scru64) IS 'distance of the first scru64 to the second, for BRIN minmax-multi';
COMMENT ON OPERATOR CLASS scru64_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY scru64_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS scru64_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY scru64_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS scru64_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY scru64_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru64_timestamp(scru64) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru64_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_lower(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_upper(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru64_timestamp(scru64) IS 'time of creation: the start of the tick of 256 milliseconds that the ID belongs to';
COMMENT ON FUNCTION scru64_lower(timestamptz) IS 'smallest scru64 whose time is at or after a time';
COMMENT ON FUNCTION scru64_upper(timestamptz) IS 'largest scru64 whose time is at or before a time';

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION scru64_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru64_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru64_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_time_encoder(timestamptz) IS 'text of the smallest scru64 whose time is at or after a time';
COMMENT ON FUNCTION scru64_time_decoder(text) IS 'time of a scru64 that is given as text; for whole seconds, the inverse of scru64_time_encoder';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time. There is no `=`, and the operators are in no btree operator family, because two IDs with the
-- same time are not equal. The planner turns the comparisons into comparisons of IDs, with bounds from the functions below.
CREATE FUNCTION scru64_time_bound(timestamptz, text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_time_lower(timestamptz, text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_time_upper(timestamptz, text) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_time_possible(scru64, timestamptz, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;

CREATE FUNCTION scru64_lt_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION timestamptz_lt_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION scru64_le_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION timestamptz_le_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION scru64_gt_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION timestamptz_gt_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION scru64_ge_timestamptz(scru64, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;
CREATE FUNCTION timestamptz_ge_scru64(timestamptz, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_scru64' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_time_support;

CREATE OPERATOR < (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru64_lt_timestamptz,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = timestamptz_lt_scru64,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru64_le_timestamptz,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = timestamptz_le_scru64,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru64_gt_timestamptz,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = timestamptz_gt_scru64,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = scru64, RIGHTARG = timestamptz, FUNCTION = scru64_ge_timestamptz,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = scru64, FUNCTION = timestamptz_ge_scru64,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru64_time_bound(timestamptz, text) IS 'nearest scru64 that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru64_time_lower(timestamptz, text) IS 'smallest scru64 that satisfies a comparison with a time; the largest of all if there is none';
COMMENT ON FUNCTION scru64_time_upper(timestamptz, text) IS 'largest scru64 that satisfies a comparison with a time; the smallest of all if there is none';
COMMENT ON FUNCTION scru64_time_possible(scru64, timestamptz, text) IS 'whether any scru64 satisfies a comparison with a time';
COMMENT ON FUNCTION scru64_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
COMMENT ON FUNCTION scru64_lt_timestamptz(scru64, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_lt_scru64(timestamptz, scru64) IS 'implementation of < operator';
COMMENT ON OPERATOR < (scru64, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, scru64) IS 'less than, by time';
COMMENT ON FUNCTION scru64_le_timestamptz(scru64, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_le_scru64(timestamptz, scru64) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (scru64, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, scru64) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru64_gt_timestamptz(scru64, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_gt_scru64(timestamptz, scru64) IS 'implementation of > operator';
COMMENT ON OPERATOR > (scru64, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, scru64) IS 'greater than, by time';
COMMENT ON FUNCTION scru64_ge_timestamptz(scru64, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_ge_scru64(timestamptz, scru64) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (scru64, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, scru64) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru64_range_lower(tstzrange) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_range_upper(tstzrange) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_upper_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru64_range_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_range_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_rangesel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'scru64_rangesel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru64_contained_by_range(scru64, tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_range_support;
CREATE FUNCTION scru64_range_contains(tstzrange, scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru64_range_support;

CREATE OPERATOR <@ (
    LEFTARG = scru64, RIGHTARG = tstzrange, FUNCTION = scru64_contained_by_range,
    COMMUTATOR = @>, RESTRICT = scru64_rangesel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = tstzrange, RIGHTARG = scru64, FUNCTION = scru64_range_contains,
    COMMUTATOR = <@, RESTRICT = scru64_rangesel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru64_range_lower(tstzrange) IS 'first scru64 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru64_range_upper(tstzrange) IS 'last scru64 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru64_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
COMMENT ON FUNCTION scru64_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru64_contained_by_range(scru64, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru64_range_contains(tstzrange, scru64) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru64, tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (tstzrange, scru64) IS 'contains the time of creation';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru64_in_range(scru64, scru64, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY scru64_ops USING btree ADD
    FUNCTION 3 (scru64, interval) scru64_in_range(scru64, scru64, interval, boolean, boolean);
COMMENT ON FUNCTION scru64_in_range(scru64, scru64, interval, boolean, boolean) IS 'window function support: RANGE with an interval';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru64_gist_consistent(internal, scru64, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru64_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'scru64_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'scru64_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS scru64_gist_ops DEFAULT FOR TYPE scru64 USING gist AS
    OPERATOR 8 <@ (scru64, tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru64_gist_consistent(internal, scru64, smallint, oid, internal),
    FUNCTION 2 scru64_gist_union(internal, internal),
    FUNCTION 3 scru64_gist_compress(internal),
    FUNCTION 5 scru64_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru64_gist_picksplit(internal, internal),
    FUNCTION 7 scru64_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru64_gist_fetch(internal),
    FUNCTION 11 scru64_gist_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru64_gist_consistent(internal, scru64, smallint, oid, internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_union(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_compress(internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_penalty(internal, internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_picksplit(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_same(bytea, bytea, internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_fetch(internal) IS 'GiST support';
COMMENT ON FUNCTION scru64_gist_sortsupport(internal) IS 'GiST sort support';
COMMENT ON OPERATOR CLASS scru64_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY scru64_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru64_to_bytea(scru64) RETURNS bytea
    AS 'MODULE_PATHNAME', 'scru64_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_from_bytea(bytea) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS bytea) WITH FUNCTION scru64_to_bytea(scru64);
CREATE CAST (bytea AS scru64) WITH FUNCTION scru64_from_bytea(bytea);
COMMENT ON FUNCTION scru64_to_bytea(scru64) IS 'the 8 big-endian bytes of a scru64';
COMMENT ON FUNCTION scru64_from_bytea(bytea) IS 'the scru64 of 8 big-endian bytes';
COMMENT ON CAST (scru64 AS bytea) IS 'the 8 big-endian bytes';
COMMENT ON CAST (bytea AS scru64) IS 'from 8 big-endian bytes';

CREATE CAST (scru64 AS timestamptz) WITH FUNCTION scru64_timestamp(scru64);
CREATE CAST (timestamptz AS scru64) WITH FUNCTION scru64_lower(timestamptz);
COMMENT ON CAST (scru64 AS timestamptz) IS 'time of creation';
COMMENT ON CAST (timestamptz AS scru64) IS 'smallest scru64 whose time is at or after the time';

-- Every scru64 is a valid bigint, but not every bigint is a valid scru64.
CREATE FUNCTION scru64_from_bigint(bigint) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bigint AS scru64) WITH FUNCTION scru64_from_bigint(bigint);
COMMENT ON FUNCTION scru64_from_bigint(bigint) IS 'the scru64 of this value';
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

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_scru64() RETURNS scru64
    AS 'MODULE_PATHNAME', 'gen_scru64' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru64() IS 'a new scru64, greater than the previous one';

CREATE FUNCTION scru64_is_local(scru64) RETURNS boolean
    AS 'MODULE_PATHNAME', 'scru64_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_is_local(scru64) IS 'whether a scru64 has the number of this server, which is set by scru.scru64_node';

-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in: edit that file only.
--
-- All functions are PARALLEL SAFE. Functions with arguments are STRICT. Functions are STABLE if they depend on a setting, on the
-- session's time zone or on statistics, VOLATILE if they depend on the clock or on random numbers, and IMMUTABLE otherwise.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE ulid;

CREATE FUNCTION ulid_in(cstring) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_out(ulid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'ulid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_recv(internal) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_send(ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE ulid (
    INPUT = ulid_in,
    OUTPUT = ulid_out,
    RECEIVE = ulid_recv,
    SEND = ulid_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE ulid IS 'ULID: 128-bit ID in order of creation, unique without coordination (26 Crockford Base32 digits)';
COMMENT ON FUNCTION ulid_in(cstring) IS 'I/O: reads the text of a ulid';
COMMENT ON FUNCTION ulid_out(ulid) IS 'I/O: writes the text of a ulid';
COMMENT ON FUNCTION ulid_recv(internal) IS 'I/O: reads the 16 big-endian bytes of a ulid';
COMMENT ON FUNCTION ulid_send(ulid) IS 'I/O: writes the 16 big-endian bytes of a ulid';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION ulid_eq(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_ne(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_lt(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_le(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_gt(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_ge(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_cmp(ulid, ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulid_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_larger(ulid, ulid) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_smaller(ulid, ulid) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR = (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = ulid_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE AGGREGATE min(ulid) (
    SFUNC = ulid_smaller, STYPE = ulid, SORTOP = <, COMBINEFUNC = ulid_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(ulid) (
    SFUNC = ulid_larger, STYPE = ulid, SORTOP = >, COMBINEFUNC = ulid_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION ulid_eq(ulid, ulid) IS 'implementation of = operator';
COMMENT ON OPERATOR = (ulid, ulid) IS 'equal';
COMMENT ON FUNCTION ulid_ne(ulid, ulid) IS 'implementation of <> operator';
COMMENT ON OPERATOR <> (ulid, ulid) IS 'not equal';
COMMENT ON FUNCTION ulid_lt(ulid, ulid) IS 'implementation of < operator';
COMMENT ON OPERATOR < (ulid, ulid) IS 'less than: created before';
COMMENT ON FUNCTION ulid_le(ulid, ulid) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (ulid, ulid) IS 'less than or equal';
COMMENT ON FUNCTION ulid_gt(ulid, ulid) IS 'implementation of > operator';
COMMENT ON OPERATOR > (ulid, ulid) IS 'greater than: created after';
COMMENT ON FUNCTION ulid_ge(ulid, ulid) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (ulid, ulid) IS 'greater than or equal';
COMMENT ON FUNCTION ulid_cmp(ulid, ulid) IS 'less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION ulid_larger(ulid, ulid) IS 'larger of two';
COMMENT ON FUNCTION ulid_smaller(ulid, ulid) IS 'smaller of two';
COMMENT ON AGGREGATE min(ulid) IS 'smallest ulid of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(ulid) IS 'largest ulid of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION ulid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulid_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 ulid_cmp(ulid, ulid),
    FUNCTION 2 ulid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION ulid_sortsupport(internal) IS 'sort support';
COMMENT ON OPERATOR CLASS ulid_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY ulid_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION ulid_hash(ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulid_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_hash_extended(ulid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'ulid_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 ulid_hash(ulid),
    FUNCTION 2 ulid_hash_extended(ulid, bigint);

COMMENT ON FUNCTION ulid_hash(ulid) IS 'hash';
COMMENT ON FUNCTION ulid_hash_extended(ulid, bigint) IS 'hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS ulid_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY ulid_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE FUNCTION ulid_distance(ulid, ulid) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulid_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS ulid_minmax_ops DEFAULT FOR TYPE ulid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

CREATE OPERATOR CLASS ulid_minmax_multi_ops FOR TYPE ulid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 ulid_distance(ulid, ulid);

CREATE OPERATOR CLASS ulid_bloom_ops FOR TYPE ulid USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 ulid_hash(ulid);

COMMENT ON FUNCTION ulid_distance(ulid, ulid) IS 'distance of the first ulid to the second, for BRIN minmax-multi';
COMMENT ON OPERATOR CLASS ulid_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY ulid_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS ulid_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY ulid_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS ulid_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY ulid_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION ulid_timestamp(ulid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulid_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_lower(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_upper(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION ulid_timestamp(ulid) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulid_lower(timestamptz) IS 'smallest ulid whose time is at or after a time';
COMMENT ON FUNCTION ulid_upper(timestamptz) IS 'largest ulid whose time is at or before a time';

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION ulid_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulid_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulid_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_time_encoder(timestamptz) IS 'text of the smallest ulid whose time is at or after a time';
COMMENT ON FUNCTION ulid_time_decoder(text) IS 'time of a ulid that is given as text; for whole seconds, the inverse of ulid_time_encoder';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time. There is no `=`, and the operators are in no btree operator family, because two IDs with the
-- same time are not equal. The planner turns the comparisons into comparisons of IDs, with bounds from the functions below.
CREATE FUNCTION ulid_time_bound(timestamptz, text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_time_lower(timestamptz, text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_time_upper(timestamptz, text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_time_possible(ulid, timestamptz, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;

CREATE FUNCTION ulid_lt_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION timestamptz_lt_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION ulid_le_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION timestamptz_le_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION ulid_gt_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION timestamptz_gt_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION ulid_ge_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;
CREATE FUNCTION timestamptz_ge_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_time_support;

CREATE OPERATOR < (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = ulid_lt_timestamptz,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = timestamptz_lt_ulid,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = ulid_le_timestamptz,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = timestamptz_le_ulid,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = ulid_gt_timestamptz,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = timestamptz_gt_ulid,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = ulid_ge_timestamptz,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = timestamptz_ge_ulid,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION ulid_time_bound(timestamptz, text) IS 'nearest ulid that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION ulid_time_lower(timestamptz, text) IS 'smallest ulid that satisfies a comparison with a time; the largest of all if there is none';
COMMENT ON FUNCTION ulid_time_upper(timestamptz, text) IS 'largest ulid that satisfies a comparison with a time; the smallest of all if there is none';
COMMENT ON FUNCTION ulid_time_possible(ulid, timestamptz, text) IS 'whether any ulid satisfies a comparison with a time';
COMMENT ON FUNCTION ulid_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
COMMENT ON FUNCTION ulid_lt_timestamptz(ulid, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_lt_ulid(timestamptz, ulid) IS 'implementation of < operator';
COMMENT ON OPERATOR < (ulid, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, ulid) IS 'less than, by time';
COMMENT ON FUNCTION ulid_le_timestamptz(ulid, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_le_ulid(timestamptz, ulid) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (ulid, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, ulid) IS 'less than or equal, by time';
COMMENT ON FUNCTION ulid_gt_timestamptz(ulid, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_gt_ulid(timestamptz, ulid) IS 'implementation of > operator';
COMMENT ON OPERATOR > (ulid, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, ulid) IS 'greater than, by time';
COMMENT ON FUNCTION ulid_ge_timestamptz(ulid, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_ge_ulid(timestamptz, ulid) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (ulid, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, ulid) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION ulid_range_lower(tstzrange) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_range_upper(tstzrange) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_upper_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION ulid_range_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_range_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_rangesel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulid_rangesel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION ulid_contained_by_range(ulid, tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_range_support;
CREATE FUNCTION ulid_range_contains(tstzrange, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulid_range_support;

CREATE OPERATOR <@ (
    LEFTARG = ulid, RIGHTARG = tstzrange, FUNCTION = ulid_contained_by_range,
    COMMUTATOR = @>, RESTRICT = ulid_rangesel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = tstzrange, RIGHTARG = ulid, FUNCTION = ulid_range_contains,
    COMMUTATOR = <@, RESTRICT = ulid_rangesel, JOIN = contjoinsel
);

COMMENT ON FUNCTION ulid_range_lower(tstzrange) IS 'first ulid whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION ulid_range_upper(tstzrange) IS 'last ulid whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION ulid_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
COMMENT ON FUNCTION ulid_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION ulid_contained_by_range(ulid, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION ulid_range_contains(tstzrange, ulid) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (ulid, tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (tstzrange, ulid) IS 'contains the time of creation';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION ulid_in_range(ulid, ulid, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY ulid_ops USING btree ADD
    FUNCTION 3 (ulid, interval) ulid_in_range(ulid, ulid, interval, boolean, boolean);
COMMENT ON FUNCTION ulid_in_range(ulid, ulid, interval, boolean, boolean) IS 'window function support: RANGE with an interval';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION ulid_gist_consistent(internal, ulid, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulid_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS ulid_gist_ops DEFAULT FOR TYPE ulid USING gist AS
    OPERATOR 8 <@ (ulid, tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 ulid_gist_consistent(internal, ulid, smallint, oid, internal),
    FUNCTION 2 ulid_gist_union(internal, internal),
    FUNCTION 3 ulid_gist_compress(internal),
    FUNCTION 5 ulid_gist_penalty(internal, internal, internal),
    FUNCTION 6 ulid_gist_picksplit(internal, internal),
    FUNCTION 7 ulid_gist_same(bytea, bytea, internal),
    FUNCTION 9 ulid_gist_fetch(internal),
    FUNCTION 11 ulid_gist_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION ulid_gist_consistent(internal, ulid, smallint, oid, internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_union(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_compress(internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_penalty(internal, internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_picksplit(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_same(bytea, bytea, internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_fetch(internal) IS 'GiST support';
COMMENT ON FUNCTION ulid_gist_sortsupport(internal) IS 'GiST sort support';
COMMENT ON OPERATOR CLASS ulid_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY ulid_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION ulid_to_bytea(ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_from_bytea(bytea) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulid AS bytea) WITH FUNCTION ulid_to_bytea(ulid);
CREATE CAST (bytea AS ulid) WITH FUNCTION ulid_from_bytea(bytea);
COMMENT ON FUNCTION ulid_to_bytea(ulid) IS 'the 16 big-endian bytes of a ulid';
COMMENT ON FUNCTION ulid_from_bytea(bytea) IS 'the ulid of 16 big-endian bytes';
COMMENT ON CAST (ulid AS bytea) IS 'the 16 big-endian bytes';
COMMENT ON CAST (bytea AS ulid) IS 'from 16 big-endian bytes';

CREATE CAST (ulid AS timestamptz) WITH FUNCTION ulid_timestamp(ulid);
CREATE CAST (timestamptz AS ulid) WITH FUNCTION ulid_lower(timestamptz);
COMMENT ON CAST (ulid AS timestamptz) IS 'time of creation';
COMMENT ON CAST (timestamptz AS ulid) IS 'smallest ulid whose time is at or after the time';

-- The bytes are the same, so that changing the type of a column does not rewrite the table.
CREATE CAST (ulid AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (uuid AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS uuid) IS 'the same 16 bytes, read as uuid';
COMMENT ON CAST (uuid AS ulid) IS 'the same 16 bytes, read as ulid';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION ulid_randomness(id ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_randomness(id ulid) IS '80 bits, random at the start of every millisecond, then counted up';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_ulid() RETURNS ulid
    AS 'MODULE_PATHNAME', 'gen_ulid' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulid() IS 'a new ulid, greater than the previous one';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'gen_ulid_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulid(timestamptz) IS 'a random ulid of a given time, for back-filling';

-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in: edit that file only.
--
-- All functions are PARALLEL SAFE. Functions with arguments are STRICT. Functions are STABLE if they depend on a setting, on the
-- session's time zone or on statistics, VOLATILE if they depend on the clock or on random numbers, and IMMUTABLE otherwise.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE ulidflake;

CREATE FUNCTION ulidflake_in(cstring) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_out(ulidflake) RETURNS cstring
    AS 'MODULE_PATHNAME', 'ulidflake_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_recv(internal) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_send(ulidflake) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulidflake_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE ulidflake (
    INPUT = ulidflake_in,
    OUTPUT = ulidflake_out,
    RECEIVE = ulidflake_recv,
    SEND = ulidflake_send,
    LIKE = bigint
);

COMMENT ON TYPE ulidflake IS 'Ulid-Flake: 64-bit ID in order of creation, unique within its server (13 Crockford Base32 digits)';
COMMENT ON FUNCTION ulidflake_in(cstring) IS 'I/O: reads the text of a ulidflake';
COMMENT ON FUNCTION ulidflake_out(ulidflake) IS 'I/O: writes the text of a ulidflake';
COMMENT ON FUNCTION ulidflake_recv(internal) IS 'I/O: reads the 8 big-endian bytes of a ulidflake';
COMMENT ON FUNCTION ulidflake_send(ulidflake) IS 'I/O: writes the 8 big-endian bytes of a ulidflake';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION ulidflake_eq(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_ne(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_lt(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_le(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_gt(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_ge(ulidflake, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_cmp(ulidflake, ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_larger(ulidflake, ulidflake) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_smaller(ulidflake, ulidflake) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR = (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = ulidflake, RIGHTARG = ulidflake, FUNCTION = ulidflake_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE AGGREGATE min(ulidflake) (
    SFUNC = ulidflake_smaller, STYPE = ulidflake, SORTOP = <, COMBINEFUNC = ulidflake_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(ulidflake) (
    SFUNC = ulidflake_larger, STYPE = ulidflake, SORTOP = >, COMBINEFUNC = ulidflake_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION ulidflake_eq(ulidflake, ulidflake) IS 'implementation of = operator';
COMMENT ON OPERATOR = (ulidflake, ulidflake) IS 'equal';
COMMENT ON FUNCTION ulidflake_ne(ulidflake, ulidflake) IS 'implementation of <> operator';
COMMENT ON OPERATOR <> (ulidflake, ulidflake) IS 'not equal';
COMMENT ON FUNCTION ulidflake_lt(ulidflake, ulidflake) IS 'implementation of < operator';
COMMENT ON OPERATOR < (ulidflake, ulidflake) IS 'less than: created before';
COMMENT ON FUNCTION ulidflake_le(ulidflake, ulidflake) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (ulidflake, ulidflake) IS 'less than or equal';
COMMENT ON FUNCTION ulidflake_gt(ulidflake, ulidflake) IS 'implementation of > operator';
COMMENT ON OPERATOR > (ulidflake, ulidflake) IS 'greater than: created after';
COMMENT ON FUNCTION ulidflake_ge(ulidflake, ulidflake) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (ulidflake, ulidflake) IS 'greater than or equal';
COMMENT ON FUNCTION ulidflake_cmp(ulidflake, ulidflake) IS 'less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION ulidflake_larger(ulidflake, ulidflake) IS 'larger of two';
COMMENT ON FUNCTION ulidflake_smaller(ulidflake, ulidflake) IS 'smaller of two';
COMMENT ON AGGREGATE min(ulidflake) IS 'smallest ulidflake of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(ulidflake) IS 'largest ulidflake of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION ulidflake_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulidflake_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS ulidflake_ops DEFAULT FOR TYPE ulidflake USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 ulidflake_cmp(ulidflake, ulidflake),
    FUNCTION 2 ulidflake_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION ulidflake_sortsupport(internal) IS 'sort support';
COMMENT ON OPERATOR CLASS ulidflake_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY ulidflake_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION ulidflake_hash(ulidflake) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulidflake_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_hash_extended(ulidflake, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'ulidflake_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS ulidflake_ops DEFAULT FOR TYPE ulidflake USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 ulidflake_hash(ulidflake),
    FUNCTION 2 ulidflake_hash_extended(ulidflake, bigint);

COMMENT ON FUNCTION ulidflake_hash(ulidflake) IS 'hash';
COMMENT ON FUNCTION ulidflake_hash_extended(ulidflake, bigint) IS 'hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS ulidflake_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY ulidflake_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

CREATE FUNCTION ulidflake_distance(ulidflake, ulidflake) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulidflake_distance' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

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
    FUNCTION 11 ulidflake_distance(ulidflake, ulidflake);

CREATE OPERATOR CLASS ulidflake_bloom_ops FOR TYPE ulidflake USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 ulidflake_hash(ulidflake);

COMMENT ON FUNCTION ulidflake_distance(ulidflake, ulidflake) IS 'distance of the first ulidflake to the second, for BRIN minmax-multi';
COMMENT ON OPERATOR CLASS ulidflake_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS ulidflake_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS ulidflake_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY ulidflake_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION ulidflake_timestamp(ulidflake) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulidflake_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_lower(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_upper(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION ulidflake_timestamp(ulidflake) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulidflake_lower(timestamptz) IS 'smallest ulidflake whose time is at or after a time';
COMMENT ON FUNCTION ulidflake_upper(timestamptz) IS 'largest ulidflake whose time is at or before a time';

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION ulidflake_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulidflake_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulidflake_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_time_encoder(timestamptz) IS 'text of the smallest ulidflake whose time is at or after a time';
COMMENT ON FUNCTION ulidflake_time_decoder(text) IS 'time of a ulidflake that is given as text; for whole seconds, the inverse of ulidflake_time_encoder';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time. There is no `=`, and the operators are in no btree operator family, because two IDs with the
-- same time are not equal. The planner turns the comparisons into comparisons of IDs, with bounds from the functions below.
CREATE FUNCTION ulidflake_time_bound(timestamptz, text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_lower(timestamptz, text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_time_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_upper(timestamptz, text) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_time_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_possible(ulidflake, timestamptz, text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_time_possible' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;

CREATE FUNCTION ulidflake_lt_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION timestamptz_lt_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION ulidflake_le_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION timestamptz_le_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION ulidflake_gt_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION timestamptz_gt_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION ulidflake_ge_timestamptz(ulidflake, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;
CREATE FUNCTION timestamptz_ge_ulidflake(timestamptz, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_ulidflake' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_time_support;

CREATE OPERATOR < (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = ulidflake_lt_timestamptz,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = timestamptz_lt_ulidflake,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = ulidflake_le_timestamptz,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = timestamptz_le_ulidflake,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = ulidflake_gt_timestamptz,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = timestamptz_gt_ulidflake,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = ulidflake, RIGHTARG = timestamptz, FUNCTION = ulidflake_ge_timestamptz,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = ulidflake, FUNCTION = timestamptz_ge_ulidflake,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION ulidflake_time_bound(timestamptz, text) IS 'nearest ulidflake that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION ulidflake_time_lower(timestamptz, text) IS 'smallest ulidflake that satisfies a comparison with a time; the largest of all if there is none';
COMMENT ON FUNCTION ulidflake_time_upper(timestamptz, text) IS 'largest ulidflake that satisfies a comparison with a time; the smallest of all if there is none';
COMMENT ON FUNCTION ulidflake_time_possible(ulidflake, timestamptz, text) IS 'whether any ulidflake satisfies a comparison with a time';
COMMENT ON FUNCTION ulidflake_time_support(internal) IS 'planner support: rewrites a comparison with a time to a comparison of IDs';
COMMENT ON FUNCTION ulidflake_lt_timestamptz(ulidflake, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_lt_ulidflake(timestamptz, ulidflake) IS 'implementation of < operator';
COMMENT ON OPERATOR < (ulidflake, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR < (timestamptz, ulidflake) IS 'less than, by time';
COMMENT ON FUNCTION ulidflake_le_timestamptz(ulidflake, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_le_ulidflake(timestamptz, ulidflake) IS 'implementation of <= operator';
COMMENT ON OPERATOR <= (ulidflake, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR <= (timestamptz, ulidflake) IS 'less than or equal, by time';
COMMENT ON FUNCTION ulidflake_gt_timestamptz(ulidflake, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_gt_ulidflake(timestamptz, ulidflake) IS 'implementation of > operator';
COMMENT ON OPERATOR > (ulidflake, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR > (timestamptz, ulidflake) IS 'greater than, by time';
COMMENT ON FUNCTION ulidflake_ge_timestamptz(ulidflake, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_ge_ulidflake(timestamptz, ulidflake) IS 'implementation of >= operator';
COMMENT ON OPERATOR >= (ulidflake, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR >= (timestamptz, ulidflake) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION ulidflake_range_lower(tstzrange) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_range_upper(tstzrange) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_upper_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION ulidflake_range_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_range_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_rangesel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulidflake_rangesel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION ulidflake_contained_by_range(ulidflake, tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_range_support;
CREATE FUNCTION ulidflake_range_contains(tstzrange, ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT ulidflake_range_support;

CREATE OPERATOR <@ (
    LEFTARG = ulidflake, RIGHTARG = tstzrange, FUNCTION = ulidflake_contained_by_range,
    COMMUTATOR = @>, RESTRICT = ulidflake_rangesel, JOIN = contjoinsel
);
CREATE OPERATOR @> (
    LEFTARG = tstzrange, RIGHTARG = ulidflake, FUNCTION = ulidflake_range_contains,
    COMMUTATOR = <@, RESTRICT = ulidflake_rangesel, JOIN = contjoinsel
);

COMMENT ON FUNCTION ulidflake_range_lower(tstzrange) IS 'first ulidflake whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION ulidflake_range_upper(tstzrange) IS 'last ulidflake whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION ulidflake_range_support(internal) IS 'planner support: rewrites a range of time to two bounds on the ID';
COMMENT ON FUNCTION ulidflake_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION ulidflake_contained_by_range(ulidflake, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION ulidflake_range_contains(tstzrange, ulidflake) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (ulidflake, tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR @> (tstzrange, ulidflake) IS 'contains the time of creation';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY ulidflake_ops USING btree ADD
    FUNCTION 3 (ulidflake, interval) ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean);
COMMENT ON FUNCTION ulidflake_in_range(ulidflake, ulidflake, interval, boolean, boolean) IS 'window function support: RANGE with an interval';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulidflake_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulidflake_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulidflake_gist_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS ulidflake_gist_ops DEFAULT FOR TYPE ulidflake USING gist AS
    OPERATOR 8 <@ (ulidflake, tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal),
    FUNCTION 2 ulidflake_gist_union(internal, internal),
    FUNCTION 3 ulidflake_gist_compress(internal),
    FUNCTION 5 ulidflake_gist_penalty(internal, internal, internal),
    FUNCTION 6 ulidflake_gist_picksplit(internal, internal),
    FUNCTION 7 ulidflake_gist_same(bytea, bytea, internal),
    FUNCTION 9 ulidflake_gist_fetch(internal),
    FUNCTION 11 ulidflake_gist_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION ulidflake_gist_consistent(internal, ulidflake, smallint, oid, internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_union(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_compress(internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_penalty(internal, internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_picksplit(internal, internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_same(bytea, bytea, internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_fetch(internal) IS 'GiST support';
COMMENT ON FUNCTION ulidflake_gist_sortsupport(internal) IS 'GiST sort support';
COMMENT ON OPERATOR CLASS ulidflake_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY ulidflake_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION ulidflake_to_bytea(ulidflake) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulidflake_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_from_bytea(bytea) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS bytea) WITH FUNCTION ulidflake_to_bytea(ulidflake);
CREATE CAST (bytea AS ulidflake) WITH FUNCTION ulidflake_from_bytea(bytea);
COMMENT ON FUNCTION ulidflake_to_bytea(ulidflake) IS 'the 8 big-endian bytes of a ulidflake';
COMMENT ON FUNCTION ulidflake_from_bytea(bytea) IS 'the ulidflake of 8 big-endian bytes';
COMMENT ON CAST (ulidflake AS bytea) IS 'the 8 big-endian bytes';
COMMENT ON CAST (bytea AS ulidflake) IS 'from 8 big-endian bytes';

CREATE CAST (ulidflake AS timestamptz) WITH FUNCTION ulidflake_timestamp(ulidflake);
CREATE CAST (timestamptz AS ulidflake) WITH FUNCTION ulidflake_lower(timestamptz);
COMMENT ON CAST (ulidflake AS timestamptz) IS 'time of creation';
COMMENT ON CAST (timestamptz AS ulidflake) IS 'smallest ulidflake whose time is at or after the time';

-- Every ulidflake is a valid bigint, but not every bigint is a valid ulidflake.
CREATE FUNCTION ulidflake_from_bigint(bigint) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bigint AS ulidflake) WITH FUNCTION ulidflake_from_bigint(bigint);
COMMENT ON FUNCTION ulidflake_from_bigint(bigint) IS 'the ulidflake of this value';
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

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_ulidflake() RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'gen_ulidflake' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulidflake() IS 'a new ulidflake, greater than the previous one';

CREATE FUNCTION ulidflake_is_local(ulidflake) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulidflake_is_local' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_is_local(ulidflake) IS 'whether a ulidflake has the number of this server, which is set by scru.ulidflake_scalability';

-- The SQL objects that concern several types. Rendered by `make gen` from sql/extension.sql.in: edit that file only.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes have the same bytes, so that changing the type of a column does not rewrite the table.

CREATE CAST (scru128 AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS ulid) IS 'the same 16 bytes, read as ulid';
CREATE CAST (ulid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS scru128) IS 'the same 16 bytes, read as scru128';

--------------------------------------------------------------------------------------------------------------- inspect

CREATE FUNCTION scru_inspect(id text, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(text) IS 'type (by the shape of the text), canonical text, time and fields of an ID; no row if the text is not an ID';

CREATE FUNCTION scru_inspect(id scru128, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru128_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru128) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id scru160, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru160_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru160) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id scru64, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru64_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(scru64) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id ulid, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'ulid_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(ulid) IS 'type, canonical text, time and fields of an ID';
CREATE FUNCTION scru_inspect(id ulidflake, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'ulidflake_inspect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(ulidflake) IS 'type, canonical text, time and fields of an ID';

CREATE FUNCTION scru_types(
    OUT type text, OUT bytes integer, OUT digits integer, OUT tick interval,
    OUT earliest timestamptz, OUT latest timestamptz, OUT smallest text, OUT largest text
)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_types_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_types() IS 'the types: length of an ID and of its text, unit and range of its time, smallest and largest ID';

--------------------------------------------------------------------------------------------------------------- server

-- A database from pg_upgrade lacks the support functions that its older server did not have. This function adds them.
CREATE FUNCTION scru_adapt_to_server() RETURNS SETOF text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $function$
DECLARE
    t record;
BEGIN
    -- PostgreSQL 18 introduced GiST support function 12 (temporal keys) and btree support function 6 (skip scans).
    IF current_setting('server_version_num')::integer < 180000 THEN
        RETURN;
    END IF;
    FOR t IN
        SELECT typname AS name, quote_ident(nspname) AS schema, typbyval,
               btree.opcfamily AS btree, gist.opcfamily AS gist
        FROM pg_extension AS extension
        JOIN pg_depend ON refclassid = 'pg_extension'::regclass AND refobjid = extension.oid AND classid = 'pg_type'::regclass
        JOIN pg_type ON pg_type.oid = objid
        JOIN pg_namespace ON pg_namespace.oid = typnamespace
        JOIN pg_opclass AS btree ON btree.opcintype = pg_type.oid AND btree.opcname = typname || '_ops'
            AND btree.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
        JOIN pg_opclass AS gist ON gist.opcintype = pg_type.oid AND gist.opcname = typname || '_gist_ops'
            AND gist.opcmethod = (SELECT oid FROM pg_am WHERE amname = 'gist')
        WHERE extname = 'scru'
        ORDER BY typname
    LOOP
        IF NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = t.gist AND amprocnum = 12) THEN
            EXECUTE format(
                'ALTER OPERATOR FAMILY %s.%s_gist_ops USING gist ADD FUNCTION 12 ("any", "any") gist_translate_cmptype_common(integer)',
                t.schema, t.name);
            RETURN NEXT t.name || ': temporal keys';
        END IF;
        IF t.typbyval AND NOT EXISTS (SELECT FROM pg_amproc WHERE amprocfamily = t.btree AND amprocnum = 6) THEN
            EXECUTE format(
                $sql$
                    CREATE FUNCTION %1$s.%2$s_skipsupport(internal) RETURNS void
                        AS 'MODULE_PATHNAME', '%2$s_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
                    COMMENT ON FUNCTION %1$s.%2$s_skipsupport(internal) IS 'skip support';
                    ALTER OPERATOR FAMILY %1$s.%2$s_ops USING btree
                        ADD FUNCTION 6 (%1$s.%2$s, %1$s.%2$s) %1$s.%2$s_skipsupport(internal);
                $sql$, t.schema, t.name);
            -- A function that an extension script creates is already a member.
            IF NOT EXISTS (
                SELECT FROM pg_depend
                WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
                    AND objid = to_regprocedure(format('%s.%s_skipsupport(internal)', t.schema, t.name))
            ) THEN
                EXECUTE format('ALTER EXTENSION scru ADD FUNCTION %s.%s_skipsupport(internal)', t.schema, t.name);
            END IF;
            RETURN NEXT t.name || ': skip support';
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION scru_adapt_to_server() IS 'after pg_upgrade: adds the features that the older server did not support, and returns their names';
SELECT scru_adapt_to_server();

------------------------------------------------------------------------------------------------------------ generators

CREATE FUNCTION scru_generators(
        OUT type text, OUT scope text, OUT node text, OUT last_id text, OUT last_time timestamptz, OUT ahead interval,
        OUT reserved_until timestamptz, OUT preloaded boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_generators_wrapper' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION scru_generators() IS 'last ID of each generator of the server, how far it is ahead of the clock, and until when IDs are reserved';
REVOKE EXECUTE ON FUNCTION scru_generators() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scru_generators() TO pg_monitor;

CREATE FUNCTION scru_set_mark(type text, mark timestamptz) RETURNS void
    AS 'MODULE_PATHNAME', 'scru_set_mark' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION scru_set_mark(text, timestamptz) IS 'sets the high-water mark of this server''s node, also to an earlier time: IDs above it can be generated a second time';
REVOKE EXECUTE ON FUNCTION scru_set_mark(text, timestamptz) FROM PUBLIC;
