"""psycopg 3 loaders for IDs and arrays of IDs, and dumpers for IDs, in text and binary format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.types import TypeInfo

from scru_postgres import _statements
from scru_postgres._ids import TYPES, SortableId

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from psycopg import AsyncConnection, Connection
    from psycopg.abc import AdaptContext


__all__ = ["register", "register_async"]


def register(connection: Connection[Any], types: Sequence[type[SortableId]] = TYPES, schema: str | None = None) -> None:
    """Registers the types on a connection. Pass this function to a pool as ``configure``.

    Types that the database lacks are skipped. They are those of the extension, in any schema; with ``schema``, those of
    this schema.
    """
    with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
        rows = cursor.execute(_find(types, schema)).fetchall()
    _register(rows, types, connection)


async def register_async(
    connection: AsyncConnection[Any], types: Sequence[type[SortableId]] = TYPES, schema: str | None = None
) -> None:
    """Registers the types on an asynchronous connection, as ``register`` does."""
    async with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
        rows = await (await cursor.execute(_find(types, schema))).fetchall()
    _register(rows, types, connection)


def _find(types: Sequence[type[SortableId]], schema: str | None) -> bytes:
    return _statements.find_types([id_type.pg_type for id_type in types], schema).encode()


def _register(rows: list[tuple[Any, ...]], types: Sequence[type[SortableId]], context: AdaptContext) -> None:
    for position, oid, array_oid, _ in rows:
        id_type = types[position]
        _register_type(TypeInfo(id_type.pg_type, oid, array_oid), id_type, context)


def _register_type(info: TypeInfo, id_type: type[SortableId], context: AdaptContext) -> None:
    info.register(context)
    oid_ = info.oid

    class TextLoader(Loader):
        def load(self, data: Buffer) -> SortableId:
            return id_type(bytes(data).decode("ascii"))

    class BinaryLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> SortableId:
            return id_type.from_bytes(data)

    class UntypedDumper(Dumper):
        """Leaves the type to the server, so that a column of type text accepts an ID."""

        def dump(self, obj: SortableId) -> bytes:
            return obj.encode("ascii")

    class TextDumper(UntypedDumper):
        """For ``copy.set_types``, which looks for a dumper by its type."""

        oid = oid_

    class BinaryDumper(Dumper):
        format = Format.BINARY
        oid = oid_

        def dump(self, obj: SortableId) -> bytes:
            return bytes(obj)

    context.adapters.register_loader(info.oid, TextLoader)
    context.adapters.register_loader(info.oid, BinaryLoader)
    # psycopg prefers the dumper that is registered last.
    context.adapters.register_dumper(id_type, BinaryDumper)
    context.adapters.register_dumper(id_type, TextDumper)
    context.adapters.register_dumper(id_type, UntypedDumper)
