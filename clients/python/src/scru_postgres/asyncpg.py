"""asyncpg: IDs and arrays of them as parameters and results, in binary, also for copy_records_to_table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scru_postgres.ids import TYPES, SortableId

if TYPE_CHECKING:
    from asyncpg import Connection


async def register(connection: Connection) -> None:
    """Registers the types on a connection. Pass it as ``init`` to a pool. Parameters can also be plain text."""
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
