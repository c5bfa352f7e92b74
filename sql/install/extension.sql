-- What concerns several types. Rendered from sql/extension.sql.in by `make gen`: change it there.

----------------------------------------------------------------------------------------------------------------- casts
-- Types of 16 bytes hold the same bytes: changing a column from one to the other rewrites no table.

