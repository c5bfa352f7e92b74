"""The rendering of the reference pages: their objects, their examples, and its errors."""

from __future__ import annotations

import pytest

from server import on_the_oldest
from tools.lib.reference import catalog, pages, wrapped

pytestmark = on_the_oldest("uses no server")

SCRIPT = """\
CREATE FUNCTION f(t) RETURNS integer
    AS 'MODULE_PATHNAME', 'f' LANGUAGE C IMMUTABLE STRICT LEAKPROOF;
COMMENT ON FUNCTION f(t) IS 'the field';
COMMENT ON FUNCTION g(t) IS 'either';
CREATE FUNCTION g(t) RETURNS text
    AS 'MODULE_PATHNAME', 'g' LANGUAGE C;
"""
SQL = """\
\\i setup
-- # t
-- The type.
-- ### FUNCTION f(t)
SELECT f('1');
-- | FUNCTION g(t)
SELECT g('1');
"""
ROW, CALL, RESULT = "-- | FUNCTION g(t)\n", "SELECT g('1');\n", "a | b\n"


def output(sql: str) -> str:
    """Returns the expected output of a regression test."""
    return sql.replace("SELECT f('1');\n", "SELECT f('1');\n1\n").replace(CALL, CALL + RESULT)


def rendered(sql: str, expected: str) -> dict[str, str]:
    """Returns the pages of version 0.2.0. Version 0.1.0 had only the first function."""
    releases = {"0.1.0": catalog("".join(SCRIPT.splitlines(keepends=True)[:3]))}
    return pages(sql, expected, catalog(SCRIPT), releases, "0.2.0")


def test_objects_have_a_signature_an_example_and_a_version():
    [(path, page)] = rendered(SQL, output(SQL)).items()
    assert path == "reference/t.md"
    assert page.partition("# t\n\n")[2] == (
        """\
The type.

### f(t)

The field. Returns `integer`, immutable, leakproof. Since 0.1.0.

```sql
SELECT f('1');
-- 1
```

| function | description | example | result | since |
|---|---|---|---|---|
| `g(t)` | either; returns `text`; volatile | `SELECT g('1')` | `a \\| b` | 0.2.0 |
"""
    )


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (ROW + CALL, "", "sql/reference.sql.in does not document FUNCTION g(t)"),
        (CALL, "", "FUNCTION g(t) has no example"),
        ("N g(t)", "N f(t)", "FUNCTION f(t) is documented twice"),
        ("N g(t)", "N h(t)", "no install script contains COMMENT ON FUNCTION h(t)"),
    ],
)
def test_each_object_is_documented_once_with_an_example(old, new, error):
    sql = SQL.replace(old, new)
    with pytest.raises(SystemExit) as raised:
        rendered(sql, output(sql))
    assert raised.value.code == error


@pytest.mark.parametrize(
    ("sql", "expected", "line"),
    [
        (SQL, output(SQL).replace(CALL, ""), RESULT),
        (SQL, output(SQL).replace(CALL + RESULT, ""), CALL),
        (SQL.replace(CALL, ""), output(SQL), CALL),
        (SQL, "", "-- # t\n"),
    ],
)
def test_stale_output_is_an_error(sql, expected, line):
    with pytest.raises(SystemExit) as raised:
        rendered(sql, expected)
    message = "tests/pg_regress/expected/reference.out does not match tests/pg_regress/sql/reference.sql, at: "
    assert raised.value.code.startswith(message + line)


def test_lines_are_wrapped_between_words():
    assert [len(line) for line in wrapped(" ".join(["word"] * 40))] == [119, 79]


OBJECTS = """\
CREATE TYPE t;
CREATE TYPE t (
    INPUT = t_in
);
COMMENT ON TYPE t IS 'one server''s IDs';
CREATE FUNCTION f(id t, size integer, OUT part text) RETURNS record
    AS 'MODULE_PATHNAME', 'f' LANGUAGE C;
COMMENT ON FUNCTION f(t, integer) IS 'a part';
CREATE FUNCTION g() RETURNS text
    AS $function$
BEGIN
    COMMENT ON TYPE u IS 'none';
END $function$;
CREATE OPERATOR CLASS t_ops DEFAULT FOR TYPE t USING btree AS
    OPERATOR 1 <;
COMMENT ON OPERATOR CLASS t_ops USING btree IS 'order';
COMMENT ON OPERATOR FAMILY t_ops USING btree IS 'order';
CREATE CAST (t AS uuid) WITHOUT FUNCTION;
COMMENT ON CAST (t AS uuid) IS 'the same bytes';
"""


def test_objects_are_found_by_their_identity_in_comment_on():
    objects = catalog(OBJECTS)
    assert {key: (each.comment, list(each.properties())) for key, each in objects.items()} == {
        "TYPE t": ("one server's IDs", []),
        "FUNCTION f(t, integer)": ("a part", ["returns rows of `part text`", "volatile"]),
        "OPERATOR CLASS t_ops USING btree": ("order", ["operators `<`", "default"]),
        "OPERATOR FAMILY t_ops USING btree": ("order", []),
        "CAST (t AS uuid)": ("the same bytes", ["*explicit*", "*without function*"]),
    }
    assert objects["FUNCTION f(t, integer)"].definition.endswith("RETURNS record AS 'MODULE_PATHNAME', 'f' LANGUAGE C;")
    signatures = [each.signature() for each in objects.values()]
    assert signatures == ["`t`", "`f(id t, size integer)`", "`t_ops` (btree)", "`t_ops USING btree`", "`t` to `uuid`"]
