"""SQLAlchemy column types. Importing this module registers them for reflection, which Alembic uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import DDL, Boolean, DateTime, event, literal
from sqlalchemy.dialects.postgresql import TSTZRANGE, Range
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import TypeEngine, UserDefinedType

from scru_postgres import _statements
from scru_postgres._ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import Table
    from sqlalchemy.engine import Dialect, Engine
    from sqlalchemy.sql.elements import ColumnElement
    from sqlalchemy.sql.operators import OperatorType


__all__ = ["SCRU64", "SCRU128", "SCRU160", "ULID", "ULIDFLAKE", "guard", "register"]


class _IdType(UserDefinedType[SortableId]):
    render_bind_cast = True
    id_type: ClassVar[type[SortableId]]

    class Comparator(UserDefinedType.Comparator[SortableId]):
        """Adds ``during`` to the operators of a column."""

        def during(self, times: Range[datetime]) -> ColumnElement[bool]:
            """Returns whether the ID was created within a range of datetimes. The condition can use an index."""
            return self.expr.op("<@", return_type=Boolean())(literal(times, TSTZRANGE()))

    comparator_factory = Comparator

    def coerce_compared_value(self, op: OperatorType | None, value: Any) -> TypeEngine[Any]:
        # Comparisons with a datetime compare the time of the ID.
        return DateTime(timezone=True) if isinstance(value, datetime) else self

    def get_col_spec(self, **_: Any) -> str:
        return self.id_type.pg_type

    @property
    def python_type(self) -> type[SortableId]:
        return self.id_type

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | None]:
        # Plain text, because the driver may not know the type. The server validates it.
        return lambda value: None if value is None else str(value)

    def literal_processor(self, dialect: Dialect) -> Callable[[str], str]:
        return lambda value: f"'{self.id_type(value)}'"

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], SortableId | None]:
        return lambda value: None if value is None else self.id_type(value)


class SCRU128(_IdType):
    """A column of type scru128."""

    cache_ok = True
    id_type = Scru128


class ULID(_IdType):
    """A column of type ulid."""

    cache_ok = True
    id_type = Ulid


class SCRU160(_IdType):
    """A column of type scru160."""

    cache_ok = True
    id_type = Scru160


class SCRU64(_IdType):
    """A column of type scru64."""

    cache_ok = True
    id_type = Scru64


class ULIDFLAKE(_IdType):
    """A column of type ulidflake."""

    cache_ok = True
    id_type = Ulidflake


for _type in _IdType.__subclasses__():
    ischema_names[_type.id_type.pg_type] = _type


def register(engine: Engine, types: Sequence[type[SortableId]] = TYPES, schema: str | None = None) -> None:
    """Registers the types on each connection of a psycopg engine, as ``scru_postgres.psycopg.register`` does.

    ARRAY columns require it.
    """
    from scru_postgres.psycopg import register as register_connection

    event.listen(engine, "connect", lambda connection, _: register_connection(connection, types, schema))


def guard(table: Table, column: str = "id", *, lag: str = "0") -> None:
    """Creates the guard of a feed with the table: it refuses IDs that are older than the lag, which readers share."""
    names = [name for name in (table.schema, table.name) if name]
    qualified = ".".join(map(_statements.quoted_name, names))
    statement = _statements.create_guard("feed_guard", qualified, column, lag)
    event.listen(table, "after_create", DDL(statement.replace("%", "%%")))  # type: ignore[no-untyped-call]
