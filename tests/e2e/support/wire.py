"""The frontend/backend protocol: COPY, binary COPY files, binary parameters, and raw messages."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
from psycopg.pq import Format, PGresult

from idtypes import IdType
from server import Server

SIGNATURE = b"PGCOPY\n\xff\r\n\0"


def binary_copy(values: list[bytes | None]) -> bytes:
    """Returns a binary COPY file with one column."""
    rows = (struct.pack("!hi", 1, -1 if value is None else len(value)) + (value or b"") for value in values)
    return SIGNATURE + struct.pack("!ii", 0, 0) + b"".join(rows) + struct.pack("!h", -1)


def copy_in(connection: psycopg.Connection, statement: str, data: bytes) -> None:
    """Executes COPY … FROM STDIN with a file's contents."""
    with connection.cursor().copy(statement) as copy:
        copy.write(data)


def copy_out(connection: psycopg.Connection, statement: str) -> bytes:
    """Returns the output of COPY … TO STDOUT."""
    with connection.cursor().copy(statement) as copy:
        return b"".join(map(bytes, copy))


def send_binary(connection: psycopg.Connection, query: str, id_type: IdType, value: bytes) -> PGresult:
    """Executes a query with one binary parameter, and returns its result in binary format."""
    [(oid,)] = connection.execute("SELECT %s::regtype::oid", [id_type.name]).fetchall()
    return connection.pgconn.exec_params(
        query.encode(), [value], param_types=[oid], param_formats=[Format.BINARY], result_format=Format.BINARY
    )


class RawConnection:
    """A session that sends arbitrary bytes, without a driver that would ensure valid messages."""

    def __init__(self, server: Server, dbname: str = "postgres"):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(str(server.directory / ".s.PGSQL.5432"))
        self._incoming = self._socket.makefile("rb")
        # The errors must not fill the server's log.
        options = "-c log_min_messages=panic"
        startup = f"user\0postgres\0database\0{dbname}\0options\0{options}\0\0".encode()
        # Sends in a thread: the server stops reading while it waits for the client to receive its replies.
        self._sender = ThreadPoolExecutor(1)
        self.send(struct.pack("!ii", len(startup) + 8, 3 << 16) + startup)
        self.replies()

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._sender.shutdown()
        self._incoming.close()
        self._socket.close()

    def send(self, messages: bytes) -> None:
        """Sends messages without waiting. The server may close the session before it has read all of them."""
        self._sender.submit(self._socket.sendall, messages)

    def replies(self, last: bytes = b"Z") -> list[tuple[bytes, bytes]]:
        """Returns the type and content of the server's messages until one of type `last`, which is ReadyForQuery unless
        given, or until the end of the session."""
        replies = []
        while head := self._read(5):
            replies.append((head[:1], self._read(int.from_bytes(head[1:], "big") - 4)))
            if replies[-1][0] == last:
                break
        return replies

    def _read(self, length: int) -> bytes:
        # If the server closes the session with unread input, the connection is reset.
        with suppress(ConnectionResetError):
            return self._incoming.read(length)
        return b""

    def prepare(self, query: str, *types: int) -> None:
        """Prepares the unnamed statement, which `bind` refers to, with parameters of these types."""
        content = b"\0" + query.encode() + b"\0" + struct.pack(f"!h{len(types)}I", len(types), *types)
        self.send(message(b"P", content) + SYNC)
        assert [kind for kind, _ in self.replies()] == [b"1", b"Z"]


def message(kind: bytes, content: bytes = b"") -> bytes:
    """Returns a message of the protocol."""
    return kind + struct.pack("!i", len(content) + 4) + content


SYNC = message(b"S")
EXECUTE = message(b"E", struct.pack("!xi", 0))


def bind(value: bytes, format_: Format) -> bytes:
    """Returns the Bind message for the unnamed statement with one parameter, and with the result in the same format."""
    content = struct.pack("!xxhhhi", 1, format_, 1, len(value)) + value + struct.pack("!hh", 1, format_)
    return message(b"B", content)


def sqlstate(error: bytes) -> str:
    """Returns the SQLSTATE in the content of an ErrorResponse."""
    [state] = [field[1:] for field in error.split(b"\0") if field[:1] == b"C"]
    return state.decode()


def outcome(replies: Iterable[tuple[bytes, bytes]]) -> bytes | str:
    """Returns the value of a query with one row and column, or the SQLSTATE of its error."""
    for kind, content in replies:
        if kind == b"D":
            return content[6:]
        if kind == b"E":
            return sqlstate(content)
    raise AssertionError("neither a row nor an error")
