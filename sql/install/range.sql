-- The range operand of the types' operators <@ and @>. Rendered by `make gen` from sql/range.sql.in: edit that file only.
--
-- If tstzrange itself were the operand, the server could not resolve `during @> '...'` for a column of that type: the operators of
-- the five types would match the column's type exactly, and the server's own polymorphic operator does not. A domain is never an exact
-- match for a tstzrange. These operators are therefore candidates only if the other operand is an ID. The domain has no
-- constraints, so that the implicit cast from tstzrange needs no function.
CREATE DOMAIN scru_tstzrange AS tstzrange;
COMMENT ON DOMAIN scru_tstzrange IS 'range of time as the operand of <@ and @>, to which a tstzrange is cast implicitly';
