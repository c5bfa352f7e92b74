-- The SQL objects of one type. Rendered by `make gen` from sql/type.sql.in and what it includes: edit these files only.
--
-- All functions but horizons are PARALLEL SAFE, and those with arguments STRICT. Functions are STABLE if
-- they depend on a setting, on the session's time zone, on the snapshot or on statistics, VOLATILE if they depend on the clock or on
-- random numbers, and IMMUTABLE otherwise, except for encryption.
-- Comparisons of an ID with an ID, a time or a range of times are LEAKPROOF, because they read only their arguments and raise no
-- errors. So they can use an index under row-level security.

-------------------------------------------------------------------------------------------------------------------- io

CREATE TYPE ulid;

CREATE FUNCTION scru_internal.ulid_in(cstring) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_out(ulid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'ulid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_recv(internal) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_send(ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_typanalyze(internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE TYPE ulid (
    INPUT = scru_internal.ulid_in,
    OUTPUT = scru_internal.ulid_out,
    RECEIVE = scru_internal.ulid_recv,
    SEND = scru_internal.ulid_send,
    ANALYZE = scru_internal.ulid_typanalyze,
    INTERNALLENGTH = 16,
    ALIGNMENT = char,
    STORAGE = plain
);

COMMENT ON TYPE ulid IS 'ULID: 128-bit ID in order of creation, unique without coordination (26 Crockford Base32 digits)';
COMMENT ON FUNCTION scru_internal.ulid_in(cstring) IS 'internal: I/O: reads the text of a ulid';
COMMENT ON FUNCTION scru_internal.ulid_out(ulid) IS 'internal: I/O: writes the text of a ulid';
COMMENT ON FUNCTION scru_internal.ulid_recv(internal) IS 'internal: I/O: reads the 16 big-endian bytes of a ulid';
COMMENT ON FUNCTION scru_internal.ulid_send(ulid) IS 'internal: I/O: writes the 16 big-endian bytes of a ulid';
COMMENT ON FUNCTION scru_internal.ulid_typanalyze(internal) IS 'internal: statistics for ANALYZE: those of the server, and those of the times';

--------------------------------------------------------------------------------------------------------------- compare

CREATE FUNCTION scru_internal.ulid_eq(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_ne(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_lt(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_le(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gt(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_ge(ulid, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_cmp(ulid, ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulid_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'ulid_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE OPERATOR pg_catalog.= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = ulid, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.ulid_eq(ulid, ulid) IS 'internal: implementation of = operator';
COMMENT ON OPERATOR pg_catalog.= (ulid, ulid) IS 'equal';
COMMENT ON FUNCTION scru_internal.ulid_ne(ulid, ulid) IS 'internal: implementation of <> operator';
COMMENT ON OPERATOR pg_catalog.<> (ulid, ulid) IS 'not equal';
COMMENT ON FUNCTION scru_internal.ulid_lt(ulid, ulid) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (ulid, ulid) IS 'less than: created before';
COMMENT ON FUNCTION scru_internal.ulid_le(ulid, ulid) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (ulid, ulid) IS 'less than or equal';
COMMENT ON FUNCTION scru_internal.ulid_gt(ulid, ulid) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (ulid, ulid) IS 'greater than: created after';
COMMENT ON FUNCTION scru_internal.ulid_ge(ulid, ulid) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (ulid, ulid) IS 'greater than or equal';
COMMENT ON FUNCTION scru_internal.ulid_cmp(ulid, ulid) IS 'internal: less-equal-greater: -1, 0 or 1';
COMMENT ON FUNCTION scru_internal.ulid_ineqsel(internal, oid, internal, integer) IS 'internal: restriction selectivity of a comparison with an ID or a time, or of a range of times';

------------------------------------------------------------------------------------------------------------- aggregate

CREATE FUNCTION scru_internal.ulid_larger(ulid, ulid) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_larger' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_smaller(ulid, ulid) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_smaller' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE AGGREGATE min(ulid) (
    SFUNC = scru_internal.ulid_smaller, STYPE = ulid, SORTOP = <, COMBINEFUNC = scru_internal.ulid_smaller, PARALLEL = SAFE
);
CREATE AGGREGATE max(ulid) (
    SFUNC = scru_internal.ulid_larger, STYPE = ulid, SORTOP = >, COMBINEFUNC = scru_internal.ulid_larger, PARALLEL = SAFE
);

COMMENT ON FUNCTION scru_internal.ulid_larger(ulid, ulid) IS 'internal: larger of two';
COMMENT ON FUNCTION scru_internal.ulid_smaller(ulid, ulid) IS 'internal: smaller of two';
COMMENT ON AGGREGATE min(ulid) IS 'smallest ulid of all input values: the first in order of creation';
COMMENT ON AGGREGATE max(ulid) IS 'largest ulid of all input values: the last in order of creation';

------------------------------------------------------------------------------------------------------------------ sort

CREATE FUNCTION scru_internal.ulid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'ulid_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The operators are members of the family before the class exists. pg_upgrade then creates them with the family, on which comparisons
-- of rows depend.
CREATE OPERATOR FAMILY ulid_ops USING btree;
ALTER OPERATOR FAMILY ulid_ops USING btree ADD
    OPERATOR 1 < (ulid, ulid), OPERATOR 2 <= (ulid, ulid), OPERATOR 3 = (ulid, ulid),
    OPERATOR 4 >= (ulid, ulid), OPERATOR 5 > (ulid, ulid);
CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING btree FAMILY ulid_ops AS
    FUNCTION 1 scru_internal.ulid_cmp(ulid, ulid),
    FUNCTION 2 scru_internal.ulid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON FUNCTION scru_internal.ulid_sortsupport(internal) IS 'internal: sort support';
COMMENT ON OPERATOR CLASS ulid_ops USING btree IS 'order of creation, with sort support and deduplication';
COMMENT ON OPERATOR FAMILY ulid_ops USING btree IS 'order of creation';

------------------------------------------------------------------------------------------------------------------ hash

CREATE FUNCTION scru_internal.ulid_hash(ulid) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulid_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_hash_extended(ulid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'ulid_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 scru_internal.ulid_hash(ulid),
    FUNCTION 2 scru_internal.ulid_hash_extended(ulid, bigint);

COMMENT ON FUNCTION scru_internal.ulid_hash(ulid) IS 'internal: hash';
COMMENT ON FUNCTION scru_internal.ulid_hash_extended(ulid, bigint) IS 'internal: hash with a seed, for hash partitioning';
COMMENT ON OPERATOR CLASS ulid_ops USING hash IS 'equality by hash';
COMMENT ON OPERATOR FAMILY ulid_ops USING hash IS 'equality by hash';

------------------------------------------------------------------------------------------------------------------ brin

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
    FUNCTION 11 brin_minmax_multi_distance_uuid(internal, internal);

CREATE OPERATOR CLASS ulid_bloom_ops FOR TYPE ulid USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 scru_internal.ulid_hash(ulid);

COMMENT ON OPERATOR CLASS ulid_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR FAMILY ulid_minmax_ops USING brin IS 'smallest and largest ID of each block range';
COMMENT ON OPERATOR CLASS ulid_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR FAMILY ulid_minmax_multi_ops USING brin IS 'several intervals of IDs of each block range';
COMMENT ON OPERATOR CLASS ulid_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';
COMMENT ON OPERATOR FAMILY ulid_bloom_ops USING brin IS 'Bloom filter of the IDs of each block range';

-------------------------------------------------------------------------------------------------------------- generate

CREATE FUNCTION gen_ulid() RETURNS ulid
    AS 'MODULE_PATHNAME', 'gen_ulid' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulid() IS 'a new ulid, greater than the previous one';

CREATE FUNCTION gen_ulid(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'gen_ulid_at' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_ulid(timestamptz) IS 'a random ulid of a given time, for back-filling';

----------------------------------------------------------------------------------------------------------------- feeds

CREATE FUNCTION ulid_horizon() RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_horizon' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION ulid_horizon() IS 'ID below which no transaction can still commit a ulid of gen_ulid()';
CREATE FUNCTION ulid_horizon(after ulid, lag interval DEFAULT '0') RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_horizon_after' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION ulid_horizon(ulid, interval) IS 'the horizon minus the lag of a guard; an error if the server cannot have generated after';

------------------------------------------------------------------------------------------------------------------ time

CREATE FUNCTION scru_internal.ulid_timestamp_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_timestamp_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_timestamp(ulid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulid_timestamp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_timestamp_support;
CREATE FUNCTION ulid_lower(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_lower' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_upper(timestamptz) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_upper' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION scru_internal.ulid_timestamp_support(internal) IS 'internal: planner support: lets indexes on the ID serve conditions on its time, and its order';
COMMENT ON FUNCTION ulid_timestamp(ulid) IS 'time of creation: the start of the millisecond that the ID belongs to';
COMMENT ON FUNCTION ulid_lower(timestamptz) IS 'smallest ulid of the millisecond that contains a time';
COMMENT ON FUNCTION ulid_upper(timestamptz) IS 'largest ulid of the millisecond that contains a time';

---------------------------------------------------------------------------------------------------------- time_compare

-- Comparisons of an ID with a time: the millisecond of the ID is compared with the one that contains the time. There is no `=`, because
-- two IDs with the same time are not equal. The operators are in no btree operator family. The planner turns the comparisons into comparisons of IDs, with
-- bounds from ulid_lower and the functions below: src/by_time/condition.rs.
CREATE FUNCTION scru_internal.ulid_time_bound(timestamptz, text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_time_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION scru_internal.ulid_lt_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.timestamptz_lt_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_lt_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.ulid_le_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.timestamptz_le_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_le_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.ulid_gt_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.timestamptz_gt_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_gt_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.ulid_ge_timestamptz(ulid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.timestamptz_ge_ulid(timestamptz, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'timestamptz_ge_ulid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;

CREATE OPERATOR pg_catalog.< (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulid_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = scru_internal.timestamptz_lt_ulid,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulid_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = scru_internal.timestamptz_le_ulid,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulid_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = scru_internal.timestamptz_gt_ulid,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = ulid, RIGHTARG = timestamptz, FUNCTION = scru_internal.ulid_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargejoinsel
);
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = ulid, FUNCTION = scru_internal.timestamptz_ge_ulid,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = scru_internal.ulid_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON FUNCTION scru_internal.ulid_time_bound(timestamptz, text) IS 'internal: nearest ulid that satisfies a comparison with a time; NULL if there is none';
COMMENT ON FUNCTION scru_internal.ulid_time_support(internal) IS 'internal: planner support: rewrites a comparison with a time or a range of times to comparisons of IDs';
COMMENT ON FUNCTION scru_internal.ulid_lt_timestamptz(ulid, timestamptz) IS 'internal: implementation of < operator';
COMMENT ON FUNCTION scru_internal.timestamptz_lt_ulid(timestamptz, ulid) IS 'internal: implementation of < operator';
COMMENT ON OPERATOR pg_catalog.< (ulid, timestamptz) IS 'less than, by time';
COMMENT ON OPERATOR pg_catalog.< (timestamptz, ulid) IS 'less than, by time';
COMMENT ON FUNCTION scru_internal.ulid_le_timestamptz(ulid, timestamptz) IS 'internal: implementation of <= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_le_ulid(timestamptz, ulid) IS 'internal: implementation of <= operator';
COMMENT ON OPERATOR pg_catalog.<= (ulid, timestamptz) IS 'less than or equal, by time';
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, ulid) IS 'less than or equal, by time';
COMMENT ON FUNCTION scru_internal.ulid_gt_timestamptz(ulid, timestamptz) IS 'internal: implementation of > operator';
COMMENT ON FUNCTION scru_internal.timestamptz_gt_ulid(timestamptz, ulid) IS 'internal: implementation of > operator';
COMMENT ON OPERATOR pg_catalog.> (ulid, timestamptz) IS 'greater than, by time';
COMMENT ON OPERATOR pg_catalog.> (timestamptz, ulid) IS 'greater than, by time';
COMMENT ON FUNCTION scru_internal.ulid_ge_timestamptz(ulid, timestamptz) IS 'internal: implementation of >= operator';
COMMENT ON FUNCTION scru_internal.timestamptz_ge_ulid(timestamptz, ulid) IS 'internal: implementation of >= operator';
COMMENT ON OPERATOR pg_catalog.>= (ulid, timestamptz) IS 'greater than or equal, by time';
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, ulid) IS 'greater than or equal, by time';

----------------------------------------------------------------------------------------------------------------- range

CREATE FUNCTION scru_internal.ulid_range_lower(tstzrange) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_range_lower' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_range_upper(tstzrange) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_range_upper' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

CREATE FUNCTION scru_internal.ulid_contained_by_range(ulid, scru_internal.scru_tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_contained_by_range' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;
CREATE FUNCTION scru_internal.ulid_range_contains(scru_internal.scru_tstzrange, ulid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_range_contains' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT scru_internal.ulid_time_support;

CREATE OPERATOR pg_catalog.<@ (
    LEFTARG = ulid, RIGHTARG = scru_internal.scru_tstzrange, FUNCTION = scru_internal.ulid_contained_by_range,
    COMMUTATOR = OPERATOR(pg_catalog.@>), RESTRICT = scru_internal.ulid_ineqsel, JOIN = contjoinsel
);
CREATE OPERATOR pg_catalog.@> (
    LEFTARG = scru_internal.scru_tstzrange, RIGHTARG = ulid, FUNCTION = scru_internal.ulid_range_contains,
    COMMUTATOR = OPERATOR(pg_catalog.<@), RESTRICT = scru_internal.ulid_ineqsel, JOIN = contjoinsel
);

COMMENT ON FUNCTION scru_internal.ulid_range_lower(tstzrange) IS 'internal: first ulid in a range of time; the largest of all if there is none';
COMMENT ON FUNCTION scru_internal.ulid_range_upper(tstzrange) IS 'internal: last ulid in a range of time; the smallest of all if there is none';
COMMENT ON FUNCTION scru_internal.ulid_contained_by_range(ulid, scru_internal.scru_tstzrange) IS 'internal: implementation of <@ operator';
COMMENT ON FUNCTION scru_internal.ulid_range_contains(scru_internal.scru_tstzrange, ulid) IS 'internal: implementation of @> operator';
COMMENT ON OPERATOR pg_catalog.<@ (ulid, scru_internal.scru_tstzrange) IS 'time of creation is in the range';
COMMENT ON OPERATOR pg_catalog.@> (scru_internal.scru_tstzrange, ulid) IS 'contains the time of creation';

-------------------------------------------------------------------------------------------------------------- prefixed

CREATE FUNCTION ulid_prefixed(prefix text, id ulid) RETURNS text
    AS 'MODULE_PATHNAME', 'ulid_prefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_unprefixed(prefix text, value text) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_unprefixed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_prefixed(prefix text, id ulid) IS 'a prefix, an underscore, and the text of a ulid';
COMMENT ON FUNCTION ulid_unprefixed(prefix text, value text) IS 'the ulid of a text with this prefix';

------------------------------------------------------------------------------------------------------------ encryption

-- STABLE, not IMMUTABLE, so that no key becomes part of an index or a generated column.
CREATE FUNCTION ulid_encrypt(id ulid, key bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'ulid_encrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_decrypt(encrypted uuid, key bytea) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_decrypt' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_encrypt(id ulid, key bytea) IS 'a uuid that hides the time of a ulid';
COMMENT ON FUNCTION ulid_decrypt(encrypted uuid, key bytea) IS 'the ulid that is encrypted to a uuid';


--------------------------------------------------------------------------------------------------------------- partman

-- The encoder and the decoder for pg_partman.
CREATE FUNCTION ulid_time_encoder(timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'ulid_time_encoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid_time_decoder(text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'ulid_time_decoder' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_time_encoder(timestamptz) IS 'text of the smallest ulid whose time is at or after a time';
COMMENT ON FUNCTION ulid_time_decoder(text) IS 'time of a ulid that is given as text; for whole seconds, the inverse of ulid_time_encoder';

--------------------------------------------------------------------------------------------------------------- window

CREATE FUNCTION scru_internal.ulid_in_range(ulid, ulid, interval, boolean, boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_in_range' LANGUAGE C STABLE STRICT PARALLEL SAFE;
ALTER OPERATOR FAMILY ulid_ops USING btree ADD
    FUNCTION 3 (ulid, interval) scru_internal.ulid_in_range(ulid, ulid, interval, boolean, boolean);
COMMENT ON FUNCTION scru_internal.ulid_in_range(ulid, ulid, interval, boolean, boolean) IS 'internal: window function support: RANGE with an interval';

------------------------------------------------------------------------------------------------------------------ gin

CREATE FUNCTION scru_internal.ulid_gin_extract_value(ulid, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gin_extract_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gin_extract_query(ulid, internal, smallint, internal, internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gin_extract_query' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gin_compare_partial(ulid, ulid, smallint, internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'ulid_gin_compare_partial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gin_triconsistent(internal, smallint, ulid, integer, internal, internal, internal) RETURNS "char"
    AS 'MODULE_PATHNAME', 'ulid_gin_triconsistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS ulid_ops DEFAULT FOR TYPE ulid USING gin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 scru_internal.ulid_cmp(ulid, ulid),
    FUNCTION 2 scru_internal.ulid_gin_extract_value(ulid, internal),
    FUNCTION 3 scru_internal.ulid_gin_extract_query(ulid, internal, smallint, internal, internal, internal, internal),
    FUNCTION 5 scru_internal.ulid_gin_compare_partial(ulid, ulid, smallint, internal),
    FUNCTION 6 scru_internal.ulid_gin_triconsistent(internal, smallint, ulid, integer, internal, internal, internal);

COMMENT ON FUNCTION scru_internal.ulid_gin_extract_value(ulid, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulid_gin_extract_query(ulid, internal, smallint, internal, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulid_gin_compare_partial(ulid, ulid, smallint, internal) IS 'internal: GIN support';
COMMENT ON FUNCTION scru_internal.ulid_gin_triconsistent(internal, smallint, ulid, integer, internal, internal, internal) IS 'internal: GIN support';
COMMENT ON OPERATOR CLASS ulid_ops USING gin IS 'equality, for indexes with columns of types such as jsonb';
COMMENT ON OPERATOR FAMILY ulid_ops USING gin IS 'equality';

----------------------------------------------------------------------------------------------------------------- gist

CREATE FUNCTION scru_internal.ulid_gist_consistent(internal, ulid, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME', 'ulid_gist_consistent' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_union(internal, internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_gist_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_compress' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_penalty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_picksplit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_same(bytea, bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_same' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scru_internal.ulid_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'ulid_gist_fetch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The strategy numbers are those of stratnum.h, so that PostgreSQL 18 and later can use gist_translate_cmptype_common().
CREATE OPERATOR CLASS ulid_gist_ops DEFAULT FOR TYPE ulid USING gist AS
    OPERATOR 8 <@ (ulid, scru_internal.scru_tstzrange),
    OPERATOR 18 =, OPERATOR 19 <>, OPERATOR 20 <, OPERATOR 21 <=, OPERATOR 22 >, OPERATOR 23 >=,
    FUNCTION 1 scru_internal.ulid_gist_consistent(internal, ulid, smallint, oid, internal),
    FUNCTION 2 scru_internal.ulid_gist_union(internal, internal),
    FUNCTION 3 scru_internal.ulid_gist_compress(internal),
    FUNCTION 5 scru_internal.ulid_gist_penalty(internal, internal, internal),
    FUNCTION 6 scru_internal.ulid_gist_picksplit(internal, internal),
    FUNCTION 7 scru_internal.ulid_gist_same(bytea, bytea, internal),
    FUNCTION 9 scru_internal.ulid_gist_fetch(internal),
    FUNCTION 11 bytea_sortsupport(internal),
    STORAGE bytea;

COMMENT ON FUNCTION scru_internal.ulid_gist_consistent(internal, ulid, smallint, oid, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_union(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_compress(internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_penalty(internal, internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_picksplit(internal, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_same(bytea, bytea, internal) IS 'internal: GiST support';
COMMENT ON FUNCTION scru_internal.ulid_gist_fetch(internal) IS 'internal: GiST support';
COMMENT ON OPERATOR CLASS ulid_gist_ops USING gist IS 'equality, order and time, for exclusion constraints and temporal keys';
COMMENT ON OPERATOR FAMILY ulid_gist_ops USING gist IS 'equality, order and time';

----------------------------------------------------------------------------------------------------------------- casts

CREATE FUNCTION scru_internal.ulid_from_bytea(bytea) RETURNS ulid
    AS 'MODULE_PATHNAME', 'ulid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (ulid AS bytea) WITH FUNCTION scru_internal.ulid_send(ulid);
CREATE CAST (bytea AS ulid) WITH FUNCTION scru_internal.ulid_from_bytea(bytea);
COMMENT ON FUNCTION scru_internal.ulid_from_bytea(bytea) IS 'internal: the ulid of 16 big-endian bytes';
COMMENT ON CAST (ulid AS bytea) IS 'the 16 big-endian bytes';
COMMENT ON CAST (bytea AS ulid) IS 'from 16 big-endian bytes';

CREATE CAST (ulid AS timestamptz) WITH FUNCTION ulid_timestamp(ulid);
CREATE CAST (timestamptz AS ulid) WITH FUNCTION ulid_lower(timestamptz);
COMMENT ON CAST (ulid AS timestamptz) IS 'time of creation';

CREATE FUNCTION scru_internal.ulid_date(ulid) RETURNS date
    AS 'MODULE_PATHNAME', 'ulid_date' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE CAST (ulid AS date) WITH FUNCTION scru_internal.ulid_date(ulid);
COMMENT ON FUNCTION scru_internal.ulid_date(ulid) IS 'internal: day of creation in the time zone of the session';
COMMENT ON CAST (ulid AS date) IS 'day of creation in the time zone of the session';
COMMENT ON CAST (timestamptz AS ulid) IS 'smallest ulid of the millisecond that contains the time';

-- The bytes are the same, so that changing the type of a column does not rewrite the table.
CREATE CAST (ulid AS uuid) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (uuid AS ulid) WITHOUT FUNCTION;
COMMENT ON CAST (ulid AS uuid) IS 'the same 16 bytes, read as uuid';
COMMENT ON CAST (uuid AS ulid) IS 'the same 16 bytes, read as ulid';

---------------------------------------------------------------------------------------------------------------- fields

CREATE FUNCTION ulid_randomness(id ulid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'ulid_field_0' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_randomness(id ulid) IS '80 bits, random at the start of every millisecond, then counted up';

---------------------------------------------------------------------------------------------------------------- node
