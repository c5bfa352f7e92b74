"""Functions for the migrations of Alembic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import op

from scru_postgres import _statements
from scru_postgres._statements import literal, quoted_name

if TYPE_CHECKING:
    from sqlalchemy.types import TypeEngine

    from scru_postgres.sqlalchemy import _IdType


__all__ = ["convert_key", "create_guard", "drop_guard", "revert_key"]


def convert_key(table: str, column: str, type_: type[_IdType], *, time: str, schema: str | None = None) -> None:
    """Gives each row a new ID of this type with the time of another column, and the column the default gen_T().

    The foreign keys that refer to it follow. The table TABLE_old_COLUMN has the old keys, for ``revert_key``.
    """
    _call("convert_key", _name(table, schema), column, type_.id_type.pg_type, time)


def revert_key(table: str, column: str, type_: TypeEngine[object], *, schema: str | None = None) -> None:
    """Restores the keys, of this type, that the rows had before ``convert_key``. The column then has no default."""
    _call("revert_key", _name(table, schema), column, type_.compile(dialect=op.get_context().dialect))


def create_guard(table: str, column: str = "id", *, lag: str = "0", schema: str | None = None) -> None:
    """Creates the guard of a feed, as ``scru_postgres.sqlalchemy.guard`` does with the table."""
    op.execute(_statements.create_guard("feed_guard", _name(table, schema), column, lag))


def drop_guard(table: str, *, schema: str | None = None) -> None:
    """Drops the guard of a feed."""
    op.execute(f"DROP TRIGGER feed_guard ON {_name(table, schema)}")


def _name(table: str, schema: str | None) -> str:
    return quoted_name(table) if schema is None else f"{quoted_name(schema)}.{quoted_name(table)}"


def _call(function: str, *arguments: str) -> None:
    # Each statement on its own, which asyncpg requires. text() would read a colon as a parameter.
    for statement in _statements.CONVERT_KEY:
        op.execute(statement.replace(":", "\\:"))
    op.execute(f"SELECT pg_temp.{function}({', '.join(map(literal, arguments))})")
