"""Checks what SQL may do that a superuser runs in a database of other users.

The scripts of the extensions run as superuser. They create objects, and call only functions of the server or of the
extension itself. They read and write no tables of users, whose indexes, triggers, constraints and defaults can call
functions of users. docs/design.md has the rules.

Users run the SQL of sql/contrib and of the pages, maybe with a search path in which others may create functions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGIN, END = ((ROOT / "sql" / name).read_text() for name in ("begin.sql.in", "end.sql.in"))
LOAD = (ROOT / "tools/lib/upgrade.sql").read_text()

# The statements of a script.
STATEMENT = re.compile(
    r"CREATE (TYPE|DOMAIN|(OR REPLACE )?FUNCTION|AGGREGATE|OPERATOR|OPERATOR CLASS|CAST|SEQUENCE|SCHEMA) "
    r"|ALTER OPERATOR FAMILY |COMMENT ON |GRANT |REVOKE |DO |SELECT |LOAD 'MODULE_PATHNAME'"
)
# What a script must not contain, even in a function or a string that is executed.
FORBIDDEN = re.compile(
    r"\b(REINDEX|CLUSTER|VACUUM|ANALYZE|INSERT|DELETE|TRUNCATE|MERGE|COPY|REFRESH|LOCK|CALL"
    r"|ALTER TABLE|(CREATE|ALTER) (UNIQUE )?INDEX|TRIGGER|SECURITY DEFINER)\b(?! =)"
)
# In PL/pgSQL: a table that is read or written, the call of a function, and an operator.
TABLE = re.compile(r"(?<!DISTINCT )\b(?:FROM|JOIN|UPDATE|TABLE) (?:pg_catalog\.)?(?!pg_)(\w+)")
CALL = re.compile(r"(?<![\w.])([a-z_][a-z0-9_]*)\(")
OPERATOR = re.compile(r"(?<!MESSAGE)(?<!DETAIL)(?<!HINT) ([=<>~|*/%&#@+-]+) ")
# The search path in which a name without a schema is the server's. On pages, `public` has the extension and the tables.
SAFE_PATH = re.compile(
    r"SET search_path = pg_catalog, (?:public, )?pg_temp\b|set_config\('search_path', 'pg_catalog, pg_temp'"
)
# The server's functions with arguments of any type, or of any number. A function of another user with the types of the
# arguments matches a call better.
SHADOWED = re.compile(
    r"(?<![\w.])(format|concat(?:_ws)?|count|jsonb?_(?:build_(?:array|object)|object_agg\w*|extract_path(?:_text)?|delete)"
    r"|num_(?:non)?nulls|pg_(?:typeof|collation_for|column_\w+|logical_slot_\w+_changes)|satisfies_hash_partition"
    r"|pg_(?:get_publication_tables|restore_\w+_stats)"
    r"|(?:dense_|percent_)?rank|cume_dist|\w+multirange"
    r")\((?![*)])",
    re.IGNORECASE,
)

# Expressions that look like calls.
EXPRESSIONS = ("least", "greatest", "coalesce", "nullif", "any", "exists", "array", "operator", "in", "values")
# Parts of a statement that look like operators: a column that is set, an option of RAISE, and an assignment.
ASSIGNMENT = re.compile(r"\bSET [\w%$.\"]+ = |\b(?:MESSAGE|DETAIL|HINT|ERRCODE|SCHEMA|TABLE|COLUMN|CONSTRAINT) = | => ")
# A string that is executed.
DYNAMIC = re.compile(r"'(?:[^']|'')*\b(?:SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM)\b(?:[^']|'')*'")


def uncommented(sql: str) -> str:
    return re.sub(r"--.*", "", sql)


def statements(sql: str) -> Iterator[str]:
    """Yields the statements of a script without comments, strings and psql's commands, but with quoted bodies."""
    text = re.sub(r"^\\.*$", "", uncommented(sql), flags=re.MULTILINE)
    bodies = r"(?P<tag>\$\w*\$).*?(?P=tag)"
    for match in re.finditer(rf"((?:{bodies}|'(?:[^']|'')*'|[^;'$])+);", text, re.DOTALL):
        yield match[1].strip()


def problems_of_script(sql: str, installed: str = "") -> Iterator[str]:
    """Yields the problems of a script of an extension. It can call functions that it or another script creates."""
    if not sql.isascii():
        yield "a character that is not ASCII: the server reads a script in the encoding of the database"
    created = set(re.findall(r"CREATE FUNCTION (?:scru_internal\.)?(\w+)\(", installed + sql))
    for statement in statements(sql):
        head = statement.partition("\n")[0]
        if not STATEMENT.match(statement):
            yield f"a script does not contain: {head}"
        body = re.search(r"(\$\w*\$)(.*)\1", statement, re.DOTALL)
        code = body[2] if body else re.sub(r"'(?:[^']|'')*'", "''", statement)
        if word := FORBIDDEN.search(code):
            yield f"{word[0]} in: {head}"
        if statement.startswith("SELECT"):
            code = statement
        elif not body:
            continue
        yield from (f"{problem} in: {head}" for problem in problems_of_code(code, statement, created))


def problems_of_code(code: str, statement: str, created: set[str]) -> Iterator[str]:
    """Yields the problems of the code in a statement."""
    names = set(re.findall(r"(\w+)(?: \([^)]*\))? AS (?:MATERIALIZED )?\(", code))
    yield from (f"table {table}" for table in TABLE.findall(code) if table not in names | {"unnest"})
    if SAFE_PATH.search(statement):
        return
    without_strings = re.sub(r"'(?:[^']|'')*'", "''", code)
    yield from (f"{call}() without schema" for call in CALL.findall(without_strings) if call not in created)
    yield from (f"operator {operator} without schema" for operator in OPERATOR.findall(without_strings))


def problems_of_upgrade(path: Path) -> Iterator[str]:
    """Yields a problem if a script does not begin and end as the template and the installation scripts do."""
    extension, _, version = path.stem.partition("--")
    load = LOAD.replace("@EXTENSION@", extension).replace("@VERSION@", version.partition("--")[2])
    if not path.read_text().startswith(load):
        yield "does not begin with tools/lib/upgrade.sql"
    begin, end = (text.replace("{{ extension }}", extension) for text in (BEGIN, END))
    if uncommented(begin).strip() not in uncommented(path.read_text()):
        yield "does not begin with sql/begin.sql.in"
    if not uncommented(path.read_text()).strip().endswith(uncommented(end).strip()):
        yield "does not end with sql/end.sql.in"


def problems_of_sql(sql: str) -> Iterator[str]:
    """Yields the calls in a block that can call a function of another user instead of the server's."""
    text = uncommented(sql)
    if not re.match(r"\s*(BEGIN;\s*)?SET (LOCAL )?search_path = pg_catalog, pg_temp;", text):
        yield from (f"{name}() without pg_catalog" for name in SHADOWED.findall(text))


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/**/*.md")])


def blocks_of_page(path: Path) -> list[str]:
    """Returns the SQL blocks of a page."""
    return re.findall(r"^ *```sql\n(.*?)^ *```$", path.read_text(), re.MULTILINE | re.DOTALL)


def problems_of_contrib(sql: str) -> Iterator[str]:
    """Yields the calls and operators that functions with a string as their body find in the caller's search path.

    The server parses a body that is no string when it creates the function.
    """
    for statement in statements(sql):
        routine = r"^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE)\b.*?(\$\w*\$)(.*)\1"
        body = re.search(routine, statement, re.DOTALL)
        if not body or SAFE_PATH.search(statement):
            continue
        executed = " ".join(DYNAMIC.findall(body[2]))
        code = ASSIGNMENT.sub(" ", re.sub(r"'(?:[^']|'')*'", "''", body[2]) + executed)
        yield from (f"{call}() without schema" for call in CALL.findall(code) if call not in EXPRESSIONS)
        yield from (f"operator {operator} without schema" for operator in OPERATOR.findall(code))


def problems() -> Iterator[tuple[Path, str]]:
    upgrades = sorted(ROOT.glob("sql/*--*--*.sql"))
    templates = [ROOT / "sql/begin.sql.in", ROOT / "sql/end.sql.in"]
    installation = sorted(ROOT.glob("sql/install/*.sql"))
    for path in [*templates, *installation]:
        yield from ((path, problem) for problem in problems_of_script(path.read_text()))
    installed = "".join(path.read_text() for path in installation)
    for path in upgrades:
        yield from ((path, problem) for problem in problems_of_script(path.read_text(), installed))
        yield from ((path, problem) for problem in problems_of_upgrade(path))
    for path in sorted(ROOT.glob("sql/contrib/*.sql")):
        sql = path.read_text()
        yield from ((path, problem) for problem in [*problems_of_sql(sql), *problems_of_contrib(sql)])
    for path in pages():
        for block in blocks_of_page(path):
            yield from ((path, problem) for problem in [*problems_of_sql(block), *problems_of_contrib(block)])


if __name__ == "__main__":
    found = [f"{path.relative_to(ROOT)}: {problem}" for path, problem in problems()]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
