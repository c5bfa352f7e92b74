"""What goes over the wire: COPY in and out, binary files made by hand, and binary parameters."""

from __future__ import annotations

import struct

import psycopg
from psycopg.pq import Format, PGresult

from idtypes import IdType

SIGNATURE = b"PGCOPY\n\xff\r\n\0"


def binary_copy(values: list[bytes | None]) -> bytes:
    """A binary COPY file with one column, made by hand."""
    rows = (struct.pack("!hi", 1, -1 if value is None else len(value)) + (value or b"") for value in values)
    return SIGNATURE + struct.pack("!ii", 0, 0) + b"".join(rows) + struct.pack("!h", -1)


def copy_in(connection: psycopg.Connection, statement: str, data: bytes) -> None:
    """Sends a file to COPY … FROM STDIN."""
    with connection.cursor().copy(statement) as copy:
        copy.write(data)


def copy_out(connection: psycopg.Connection, statement: str) -> bytes:
    """What COPY … TO STDOUT sends."""
    with connection.cursor().copy(statement) as copy:
        return b"".join(map(bytes, copy))


def send_binary(connection: psycopg.Connection, query: str, id_type: IdType, value: bytes) -> PGresult:
    """The result of a query whose one parameter is sent as these bytes, and whose result comes in binary."""
    [(oid,)] = connection.execute("SELECT %s::regtype::oid", [id_type.name]).fetchall()
    return connection.pgconn.exec_params(
        query.encode(), [value], param_types=[oid], param_formats=[Format.BINARY], result_format=Format.BINARY
    )
