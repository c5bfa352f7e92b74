"""psycopg 3 loaders for IDs and arrays of IDs, and dumpers for IDs, in text and binary format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import ProgrammingError
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from scru_postgres.ids import TYPES, SortableId

if TYPE_CHECKING:
    from typing import Any

    from psycopg import AsyncConnection, Connection
    from psycopg.abc import AdaptContext


def register(connection: Connection[Any]) -> None:
    """Registers the types on a connection. Pass this function to a pool as ``configure``.

    Raises ProgrammingError if the extension does not exist.
    """
    for id_type in TYPES:
        _register(TypeInfo.fetch(connection, id_type.pg_type), id_type, connection)


async def register_async(connection: AsyncConnection[Any]) -> None:
    """Registers the types on an asynchronous connection. Pass this function to a pool as ``configure``.

    Raises ProgrammingError if the extension does not exist.
    """
    for id_type in TYPES:
        _register(await TypeInfo.fetch(connection, id_type.pg_type), id_type, connection)


def _register(info: TypeInfo | None, id_type: type[SortableId], context: AdaptContext) -> None:
    if info is None:
        raise ProgrammingError(f"type {id_type.pg_type} does not exist: CREATE EXTENSION scru")
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
