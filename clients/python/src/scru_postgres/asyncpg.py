"""Binary asyncpg codecs for IDs and arrays of IDs. copy_records_to_table uses them as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scru_postgres import _statements
from scru_postgres._ids import TYPES, SortableId

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asyncpg import Connection


__all__ = ["register"]


async def register(
    connection: Connection, types: Sequence[type[SortableId]] = TYPES, schema: str | None = None
) -> None:
    """Registers the types on a connection. Pass this function to a pool as ``init``. Parameters can also be strings.

    Types that the database lacks are skipped. They are those of the extension, in any schema; with ``schema``, those of
    this schema.
    """
    for position, _, _, found_in in await connection.fetch(
        _statements.find_types([id_type.pg_type for id_type in types], schema)
    ):
        id_type = types[position]
        await connection.set_type_codec(
            id_type.pg_type,
            schema=found_in,
            encoder=_encoder(id_type),
            decoder=id_type.from_bytes,
            format="binary",
        )


def _encoder(id_type: type[SortableId]) -> Callable[[str], bytes]:
    return lambda text: bytes(id_type(text))
