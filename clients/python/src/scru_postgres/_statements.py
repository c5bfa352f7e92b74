"""The SQL that several modules have in common."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# The statements that create pg_temp.convert_key() and pg_temp.revert_key().
CONVERT_KEY = re.findall(
    r"^CREATE .*?^\$\$;$", files("scru_postgres").joinpath("convert_key.sql").read_text(encoding="utf-8"), re.M | re.S
)


def quoted_name(name: str) -> str:
    """Returns an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Returns a string constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def find_types(names: Iterable[str], schema: str | None) -> str:
    """Returns the query for the types of the extension, or of a schema: position in `names`, OIDs, name of the schema.

    Not by search_path, which can have a type of the same name first, such as the ulid of another extension.
    """
    position = f"array_position(ARRAY[{', '.join(map(literal, names))}]::name[], typname) - 1"
    of_extension = """EXISTS (
        SELECT FROM pg_catalog.pg_depend JOIN pg_catalog.pg_extension ON pg_extension.oid = refobjid
        WHERE classid = 'pg_catalog.pg_type'::regclass AND objid = pg_type.oid
            AND refclassid = 'pg_catalog.pg_extension'::regclass AND deptype = 'e' AND extname = 'scru'
    )"""
    of_schema = of_extension if schema is None else f"nspname = {literal(schema)}"
    return f"""SELECT {position}, pg_type.oid, typarray, nspname
        FROM pg_catalog.pg_type JOIN pg_catalog.pg_namespace ON pg_namespace.oid = typnamespace
        WHERE {position} >= 0 AND {of_schema}"""


def create_guard(name: str, table: str, column: str, lag: str) -> str:
    """Returns the statement that creates the guard of a feed. `name` and `table` are identifiers of SQL."""
    return (
        f"CREATE TRIGGER {name} AFTER INSERT OR UPDATE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION scru_feed_guard({literal(column)}, {literal(lag)})"
    )
