"""The SQL that the operations of Django and Alembic have in common."""

from __future__ import annotations

import re
from importlib.resources import files

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


def create_guard(name: str, table: str, column: str, lag: str) -> str:
    """Returns the statement that creates the guard of a feed. `name` and `table` are identifiers of SQL."""
    return (
        f"CREATE TRIGGER {name} AFTER INSERT OR UPDATE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION scru_feed_guard({literal(column)}, {literal(lag)})"
    )
