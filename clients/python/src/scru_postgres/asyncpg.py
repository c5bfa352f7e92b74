"""Binary asyncpg codecs for IDs and arrays of IDs. copy_records_to_table uses them as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scru_postgres.ids import TYPES, SortableId

if TYPE_CHECKING:
    from asyncpg import Connection


async def register(connection: Connection) -> None:
    """Registers the types on a connection. Pass this function to a pool as ``init``. Parameters can also be strings.

    Raises UndefinedObjectError if the extension does not exist.
    """
    for id_type in TYPES:
        query = "SELECT typnamespace::regnamespace::text FROM pg_type WHERE oid = $1::text::regtype"
        schema = await connection.fetchval(query, id_type.pg_type)
        await connection.set_type_codec(
            id_type.pg_type,
            schema=schema,
            encoder=_encoder(id_type),
            decoder=id_type.from_bytes,
            format="binary",
        )


def _encoder(id_type: type[SortableId]) -> Callable[[str], bytes]:
    return lambda text: bytes(id_type(text))
