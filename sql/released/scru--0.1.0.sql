\echo Use "CREATE EXTENSION scru" to load this file. \quit

-- The whole SQL surface of one type. Written once in sql/type.sql.in, rendered from there by `make gen`: change it there.
--
-- Every function is PARALLEL SAFE and, but for the generators, IMMUTABLE and STRICT. Comparisons, and questions by time, are
-- LEAKPROOF: they look at nothing but the bytes and cannot fail, so that row-level security may use indexes.

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
COMMENT ON FUNCTION scru128_hash_extended(scru128, bigint) IS 'hash with a seed, as hash partitioning needs it';
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
    AS 'MODULE_PATHNAME', 'scru128_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_lower(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_upper(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru128_timestamp(scru128) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru128_lower(timestamptz) IS 'smallest scru128 whose time is at or after a time';
COMMENT ON FUNCTION scru128_upper(timestamptz) IS 'largest scru128 whose time is at or before a time';

-- The form in which pg_partman asks for them.
CREATE FUNCTION scru128_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru128_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru128_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru128_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru128_time_encoder(timestamptz) IS 'text of the smallest scru128 whose time is at or after a time';
COMMENT ON FUNCTION scru128_time_decoder(text) IS 'time of creation of the scru128 of this text, or the whole second that was rounded up to it';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru128_lower(tstzrange) RETURNS scru128
    AS 'MODULE_PATHNAME', 'scru128_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru128_upper(tstzrange) RETURNS scru128
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

COMMENT ON FUNCTION scru128_lower(tstzrange) IS 'first scru128 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru128_upper(tstzrange) IS 'last scru128 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru128_range_support(internal) IS 'planner support: a range of time as two bounds on the ID';
COMMENT ON FUNCTION scru128_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru128_contained_by_range(scru128, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru128_range_contains(tstzrange, scru128) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru128, tstzrange) IS 'was created within';
COMMENT ON OPERATOR @> (tstzrange, scru128) IS 'contains the time of creation';

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

-- The bytes are the same: changing a column from one to the other rewrites no table.
CREATE CAST (scru128 AS uuid) WITHOUT FUNCTION;
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
COMMENT ON FUNCTION gen_scru128() IS 'a new scru128, greater than the one before';

CREATE FUNCTION gen_scru128(timestamptz) RETURNS scru128
    AS 'MODULE_PATHNAME', 'gen_scru128_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru128(timestamptz) IS 'a random scru128 of a given time, for back-filling';

-- The whole SQL surface of one type. Written once in sql/type.sql.in, rendered from there by `make gen`: change it there.
--
-- Every function is PARALLEL SAFE and, but for the generators, IMMUTABLE and STRICT. Comparisons, and questions by time, are
-- LEAKPROOF: they look at nothing but the bytes and cannot fail, so that row-level security may use indexes.

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
COMMENT ON FUNCTION scru160_hash_extended(scru160, bigint) IS 'hash with a seed, as hash partitioning needs it';
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
    AS 'MODULE_PATHNAME', 'scru160_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_lower(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_upper(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru160_timestamp(scru160) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION scru160_lower(timestamptz) IS 'smallest scru160 whose time is at or after a time';
COMMENT ON FUNCTION scru160_upper(timestamptz) IS 'largest scru160 whose time is at or before a time';

-- The form in which pg_partman asks for them.
CREATE FUNCTION scru160_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru160_time_encoder' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru160_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru160_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru160_time_encoder(timestamptz) IS 'text of the smallest scru160 whose time is at or after a time';
COMMENT ON FUNCTION scru160_time_decoder(text) IS 'time of creation of the scru160 of this text, or the whole second that was rounded up to it';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru160_lower(tstzrange) RETURNS scru160
    AS 'MODULE_PATHNAME', 'scru160_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru160_upper(tstzrange) RETURNS scru160
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

COMMENT ON FUNCTION scru160_lower(tstzrange) IS 'first scru160 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru160_upper(tstzrange) IS 'last scru160 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru160_range_support(internal) IS 'planner support: a range of time as two bounds on the ID';
COMMENT ON FUNCTION scru160_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru160_contained_by_range(scru160, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru160_range_contains(tstzrange, scru160) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru160, tstzrange) IS 'was created within';
COMMENT ON OPERATOR @> (tstzrange, scru160) IS 'contains the time of creation';

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
COMMENT ON FUNCTION gen_scru160() IS 'a new scru160, greater than the one before';

CREATE FUNCTION gen_scru160(timestamptz) RETURNS scru160
    AS 'MODULE_PATHNAME', 'gen_scru160_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_scru160(timestamptz) IS 'a random scru160 of a given time, for back-filling';

-- The whole SQL surface of one type. Written once in sql/type.sql.in, rendered from there by `make gen`: change it there.
--
-- Every function is PARALLEL SAFE and, but for the generators, IMMUTABLE and STRICT. Comparisons, and questions by time, are
-- LEAKPROOF: they look at nothing but the bytes and cannot fail, so that row-level security may use indexes.

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

-- From 18 on, btree scans skip over a leading column whose values are numbers.
DO $$
BEGIN
    IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 180000 THEN
        CREATE FUNCTION scru64_skipsupport(internal) RETURNS void
            AS 'MODULE_PATHNAME', 'scru64_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
        ALTER OPERATOR FAMILY scru64_ops USING btree ADD FUNCTION 6 (scru64, scru64) scru64_skipsupport(internal);
        COMMENT ON FUNCTION scru64_skipsupport(internal) IS 'skip support';
    END IF;
END
$$;

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
COMMENT ON FUNCTION scru64_hash_extended(scru64, bigint) IS 'hash with a seed, as hash partitioning needs it';
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
    AS 'MODULE_PATHNAME', 'scru64_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_lower(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_upper(timestamptz) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru64_timestamp(scru64) IS 'time of creation: the start of the tick of 256 milliseconds that the ID belongs to';
COMMENT ON FUNCTION scru64_lower(timestamptz) IS 'smallest scru64 whose time is at or after a time';
COMMENT ON FUNCTION scru64_upper(timestamptz) IS 'largest scru64 whose time is at or before a time';

-- The form in which pg_partman asks for them.
CREATE FUNCTION scru64_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'scru64_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru64_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'scru64_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION scru64_time_encoder(timestamptz) IS 'text of the smallest scru64 whose time is at or after a time';
COMMENT ON FUNCTION scru64_time_decoder(text) IS 'time of creation of the scru64 of this text, or the whole second that was rounded up to it';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru64_lower(tstzrange) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru64_upper(tstzrange) RETURNS scru64
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

COMMENT ON FUNCTION scru64_lower(tstzrange) IS 'first scru64 whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION scru64_upper(tstzrange) IS 'last scru64 whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION scru64_range_support(internal) IS 'planner support: a range of time as two bounds on the ID';
COMMENT ON FUNCTION scru64_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION scru64_contained_by_range(scru64, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION scru64_range_contains(tstzrange, scru64) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (scru64, tstzrange) IS 'was created within';
COMMENT ON OPERATOR @> (tstzrange, scru64) IS 'contains the time of creation';

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

-- Every scru64 is a bigint, but not every bigint a scru64.
CREATE FUNCTION scru64_from_bigint(bigint) RETURNS scru64
    AS 'MODULE_PATHNAME', 'scru64_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (scru64 AS bigint) WITHOUT FUNCTION;
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
COMMENT ON FUNCTION gen_scru64() IS 'a new scru64, greater than the one before';

-- The whole SQL surface of one type. Written once in sql/type.sql.in, rendered from there by `make gen`: change it there.
--
-- Every function is PARALLEL SAFE and, but for the generators, IMMUTABLE and STRICT. Comparisons, and questions by time, are
-- LEAKPROOF: they look at nothing but the bytes and cannot fail, so that row-level security may use indexes.

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
COMMENT ON FUNCTION ulid_hash_extended(ulid, bigint) IS 'hash with a seed, as hash partitioning needs it';
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
    AS 'MODULE_PATHNAME', 'ulid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_lower(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_upper(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION ulid_timestamp(ulid) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulid_lower(timestamptz) IS 'smallest ulid whose time is at or after a time';
COMMENT ON FUNCTION ulid_upper(timestamptz) IS 'largest ulid whose time is at or before a time';

-- The form in which pg_partman asks for them.
CREATE FUNCTION ulid_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulid_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulid_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_time_encoder(timestamptz) IS 'text of the smallest ulid whose time is at or after a time';
COMMENT ON FUNCTION ulid_time_decoder(text) IS 'time of creation of the ulid of this text, or the whole second that was rounded up to it';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION ulid_lower(tstzrange) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulid_upper(tstzrange) RETURNS ulid
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

COMMENT ON FUNCTION ulid_lower(tstzrange) IS 'first ulid whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION ulid_upper(tstzrange) IS 'last ulid whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION ulid_range_support(internal) IS 'planner support: a range of time as two bounds on the ID';
COMMENT ON FUNCTION ulid_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION ulid_contained_by_range(ulid, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION ulid_range_contains(tstzrange, ulid) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (ulid, tstzrange) IS 'was created within';
COMMENT ON OPERATOR @> (tstzrange, ulid) IS 'contains the time of creation';

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

-- The bytes are the same: changing a column from one to the other rewrites no table.
CREATE CAST (ulid AS uuid) WITHOUT FUNCTION;
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
COMMENT ON FUNCTION gen_ulid() IS 'a new ulid, greater than the one before';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'gen_ulid_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulid(timestamptz) IS 'a random ulid of a given time, for back-filling';

-- The whole SQL surface of one type. Written once in sql/type.sql.in, rendered from there by `make gen`: change it there.
--
-- Every function is PARALLEL SAFE and, but for the generators, IMMUTABLE and STRICT. Comparisons, and questions by time, are
-- LEAKPROOF: they look at nothing but the bytes and cannot fail, so that row-level security may use indexes.

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

-- From 18 on, btree scans skip over a leading column whose values are numbers.
DO $$
BEGIN
    IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 180000 THEN
        CREATE FUNCTION ulidflake_skipsupport(internal) RETURNS void
            AS 'MODULE_PATHNAME', 'ulidflake_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
        ALTER OPERATOR FAMILY ulidflake_ops USING btree ADD FUNCTION 6 (ulidflake, ulidflake) ulidflake_skipsupport(internal);
        COMMENT ON FUNCTION ulidflake_skipsupport(internal) IS 'skip support';
    END IF;
END
$$;

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
COMMENT ON FUNCTION ulidflake_hash_extended(ulidflake, bigint) IS 'hash with a seed, as hash partitioning needs it';
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
    AS 'MODULE_PATHNAME', 'ulidflake_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_lower(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_upper(timestamptz) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION ulidflake_timestamp(ulidflake) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulidflake_lower(timestamptz) IS 'smallest ulidflake whose time is at or after a time';
COMMENT ON FUNCTION ulidflake_upper(timestamptz) IS 'largest ulidflake whose time is at or before a time';

-- The form in which pg_partman asks for them.
CREATE FUNCTION ulidflake_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulidflake_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulidflake_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulidflake_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulidflake_time_encoder(timestamptz) IS 'text of the smallest ulidflake whose time is at or after a time';
COMMENT ON FUNCTION ulidflake_time_decoder(text) IS 'time of creation of the ulidflake of this text, or the whole second that was rounded up to it';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION ulidflake_lower(tstzrange) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_lower_of_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION ulidflake_upper(tstzrange) RETURNS ulidflake
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

COMMENT ON FUNCTION ulidflake_lower(tstzrange) IS 'first ulidflake whose time is in a range; the largest of all if there is none';
COMMENT ON FUNCTION ulidflake_upper(tstzrange) IS 'last ulidflake whose time is in a range; the smallest of all if there is none';
COMMENT ON FUNCTION ulidflake_range_support(internal) IS 'planner support: a range of time as two bounds on the ID';
COMMENT ON FUNCTION ulidflake_rangesel(internal, oid, internal, integer) IS 'restriction selectivity of a range of time';
COMMENT ON FUNCTION ulidflake_contained_by_range(ulidflake, tstzrange) IS 'implementation of <@ operator';
COMMENT ON FUNCTION ulidflake_range_contains(tstzrange, ulidflake) IS 'implementation of @> operator';
COMMENT ON OPERATOR <@ (ulidflake, tstzrange) IS 'was created within';
COMMENT ON OPERATOR @> (tstzrange, ulidflake) IS 'contains the time of creation';

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

-- Every ulidflake is a bigint, but not every bigint a ulidflake.
CREATE FUNCTION ulidflake_from_bigint(bigint) RETURNS ulidflake
    AS 'MODULE_PATHNAME', 'ulidflake_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulidflake AS bigint) WITHOUT FUNCTION;
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
COMMENT ON FUNCTION gen_ulidflake() IS 'a new ulidflake, greater than the one before';

-- What concerns several types. Rendered from sql/extension.sql.in by `make gen`: change it there.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes hold the same bytes: changing a column from one to the other rewrites no table.

CREATE CAST (scru128 AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (scru128 AS ulid) IS 'the same 16 bytes, read as ulid';
CREATE CAST (ulid AS scru128) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS scru128) IS 'the same 16 bytes, read as scru128';

--------------------------------------------------------------------------------------------------------------- inspect

CREATE FUNCTION scru_inspect(id text, OUT type text, OUT canonical text, OUT "timestamp" timestamptz, OUT fields jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'scru_inspect_wrapper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION scru_inspect(text) IS 'what an ID is: its type by its shape, canonical text, time and fields; no row if it is none';
