"""Random input through the protocol: the result is the ID or the SQLSTATE that the specification requires.

The server, which all tests share, must survive. Hypothesis reduces an input that fails to a short one.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.pq import DiagnosticField, ExecStatus, Format

import expect
from idtypes import SCRU64, SCRU128, IdType

# Raised by the server before it calls the type's input function: the bytes are invalid in the database's encoding.
NOT_IN_THE_ENCODING = "22021"
TEXT_OID = 25
EXAMPLES = settings(max_examples=500, deadline=None, derandomize=True, database=None)


class Session:
    """A session of a database in an encoding, which sends inputs of a type."""

    def __init__(self, connection: psycopg.Connection, id_type: IdType, encoding: str):
        self.id_type, self.encoding, self._connection = id_type, encoding, connection
        # The errors must not fill the server's log.
        connection.execute(f"CREATE EXTENSION scru; SET log_min_messages = panic; SET client_encoding = {encoding}")
        [self._oid] = connection.execute("SELECT %s::regtype::oid", [id_type.name]).fetchone()

    def read(self, value: bytes, format_: Format) -> bytes | str:
        """Sends an input, and returns the output or the SQLSTATE."""
        result = self._connection.pgconn.exec_params(b"SELECT $1", [value], [self._oid], [format_], format_)
        if result.status == ExecStatus.TUPLES_OK:
            return result.get_value(0, 0)
        return result.error_field(DiagnosticField.SQLSTATE).decode()

    def inspect(self, text: bytes) -> list[bytes]:
        """Returns the canonical texts of this type that scru_inspect() finds."""
        query = f"SELECT canonical FROM scru_inspect($1) WHERE type = '{self.id_type.name}'".encode()
        result = self._connection.pgconn.exec_params(query, [text], [TEXT_OID], [Format.BINARY])
        return [result.get_value(row, 0) for row in range(result.ntuples)]


@pytest.fixture(scope="module", params=[(SCRU64, "UTF8"), (SCRU128, "SQL_ASCII")], ids=["scru64", "scru128"])
def session(request: pytest.FixtureRequest, server, database_names) -> Iterator[Session]:
    """A type passed by value, and one passed by reference. In SQL_ASCII, any byte except NUL reaches the type."""
    name, (id_type, encoding) = next(database_names), request.param
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
        with server.connect(name) as own:
            yield Session(own, id_type, encoding)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def edited(value: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replaces bytes: each edit has the position, the number of bytes to remove, and those to insert."""
    for at, removed, inserted in edits:
        value = value[:at] + inserted + value[at + removed :]
    return value


characters = st.sampled_from([text.encode() for text in ("é", "€", "😀", "１", "ı", "K\u0301", "z", "Z", "~")])
edits = st.lists(st.tuples(st.integers(0, 26), st.integers(0, 3), characters | st.binary(max_size=3)), max_size=3)
# A value in units of 2^-64 of the range, so that all types have the same strategy.
values = st.integers(0, 2**64)


def expected_of_text(id_type: IdType, text: bytes, encoding: str) -> bytes | str:
    """Returns the canonical text or the SQLSTATE, computed from the specification."""
    if encoding == "UTF8" and text.decode(errors="replace").encode() != text:
        return NOT_IN_THE_ENCODING
    digits = text.decode(errors="replace").lower()
    if not digits.isascii() or len(digits) != id_type.text_length or digits.strip(id_type.digits):
        return expect.INVALID_TEXT
    return digits.encode() if id_type.value(digits) <= id_type.largest else expect.OUT_OF_RANGE


@EXAMPLES
@given(value=values, edits=edits)
def test_texts(session, value, edits):
    id_type = session.id_type
    # The driver ends a text at a NUL.
    text = edited(id_type.text(id_type.largest * value >> 64).encode(), edits).replace(b"\0", b"\1")
    expected = expected_of_text(id_type, text, session.encoding)
    assert session.read(text, Format.TEXT) == expected
    assert session.inspect(text) == [expected] * isinstance(expected, bytes)


@EXAMPLES
@given(value=values, edits=edits)
def test_bytes(session, value, edits):
    id_type = session.id_type
    binary = edited(id_type.binary(id_type.largest * value >> 64), edits)
    if len(binary) != id_type.length:
        expected = expect.INVALID_BINARY
    else:
        expected = binary if int.from_bytes(binary, "big") <= id_type.largest else expect.OUT_OF_RANGE
    assert session.read(binary, Format.BINARY) == expected
