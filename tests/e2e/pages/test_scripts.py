"""What tools/lib/scripts.py finds in SQL that a superuser runs. What it permits is in the scripts of the project."""

from __future__ import annotations

import pytest

from server import on_the_oldest
from tools.lib.scripts import problems_of_contrib, problems_of_script, problems_of_sql

pytestmark = on_the_oldest("uses no server")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("REINDEX INDEX i;", "a script does not contain: REINDEX INDEX i"),
        ("CREATE TABLE t ();", "a script does not contain: CREATE TABLE t ()"),
        ("CREATE OR REPLACE AGGREGATE a(t) (SFUNC = f, STYPE = t);", "a script does not contain"),
        ("DO $$ BEGIN EXECUTE 'REINDEX INDEX i'; END $$;", "REINDEX in"),
        ("DO $$ BEGIN INSERT INTO t VALUES (1); END $$;", "INSERT in"),
        ("DO $$ BEGIN PERFORM FROM pg_catalog.pg_class JOIN orders ON true; END $$;", "table orders in"),
        ("DO $$ BEGIN PERFORM format('%s', 1); END $$;", "format() without schema in"),
        ("DO $$ BEGIN PERFORM FROM pg_class WHERE oid = 1; END $$;", "operator = without schema in"),
        ("SELECT format('%s', 1);", "format() without schema in"),
        ("CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM now(); END $$;", "now() without"),
    ],
)
def test_a_script_is_refused(script, problem):
    found = list(problems_of_script(script))
    assert found
    assert found[0].startswith(problem)


def test_functions_of_the_server_are_named():
    """In contrib and on pages, whose statements have the search path of whoever runs them."""
    calls = "SELECT format('%s', 1), pg_catalog.format('%s', 1), concat(a), count(*), count(a);"
    found = [f"{name}() without pg_catalog" for name in ("format", "concat", "count")]
    assert list(problems_of_sql(calls)) == found
    assert list(problems_of_sql(f"SET search_path = pg_catalog, pg_temp;\n{calls}")) == []
    procedure = "CREATE PROCEDURE p() LANGUAGE plpgsql {}AS $$ BEGIN PERFORM now(); EXECUTE 'SELECT 1 + 2'; END $$;"
    assert list(problems_of_contrib(procedure.format(""))) == ["now() without schema", "operator + without schema"]
    assert list(problems_of_contrib(procedure.format("SET search_path = pg_catalog, pg_temp "))) == []
