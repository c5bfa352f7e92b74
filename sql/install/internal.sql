-- The schema of what users do not name: it belongs to a superuser, and nobody else can create objects in it. Rendered by `make gen`
-- from sql/internal.sql.in: edit that file only.
--
-- The objects of the extension are in three places, and a script names each place. Operators of the types are in pg_catalog, where
-- restores of dumps find them. Functions that only the server calls, the domain below and the sequences are in scru_internal, so that
-- they have the same names in all databases. Names without a schema are those that users write: they are in the schema of the
-- extension.
CREATE SCHEMA scru_internal;
GRANT USAGE ON SCHEMA scru_internal TO PUBLIC;
COMMENT ON SCHEMA scru_internal IS 'internal: functions that only the server calls, and what dumps carry, of the extension scru';

-- The range operand of the operators <@ and @>.
--
-- If tstzrange itself were the operand, the server could not resolve `during @> '...'` for a column of that type: the operators of
-- the types would match the column's type exactly, and the server's own polymorphic operator does not. A domain is never an exact
-- match for a tstzrange. These operators are therefore candidates only if the other operand is an ID. The domain has no
-- constraints, so that the implicit cast from tstzrange needs no function.
CREATE DOMAIN scru_internal.scru_tstzrange AS tstzrange;
COMMENT ON DOMAIN scru_internal.scru_tstzrange IS 'internal: range of time as the operand of <@ and @>, to which a tstzrange is cast implicitly';
