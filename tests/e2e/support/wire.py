"""The frontend/backend protocol: COPY, binary COPY files, binary parameters, and raw messages."""

from __future__ import annotations

import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg

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


def message(kind: bytes, content: bytes = b"") -> bytes:
    """Returns a message of the protocol."""
    return kind + struct.pack("!i", len(content) + 4) + content


SYNC = message(b"S")
EXECUTE = message(b"E", struct.pack("!xi", 0))
