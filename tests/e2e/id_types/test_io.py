"""Input and output through the protocol, and errors in databases of other encodings. `io.sql` has the rest."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus

import expect
from idtypes import each_form
from wire import send_binary


@each_form
def test_binary_parameters_and_results(connection, id_type):
    """Sends a parameter and receives results in binary format, as drivers do. psycopg sends text, and returns bytes."""
    for value in id_type.samples(50, seed=3):
        binary, text = id_type.binary(value), id_type.text(value)
        result = send_binary(connection, f"SELECT $1::{id_type.name}, $1::{id_type.name}::text", id_type, binary)
        assert result.status == ExecStatus.TUPLES_OK
        assert (result.fsize(0), result.get_value(0, 0)) == (id_type.length, binary)
        assert result.get_value(0, 1).decode() == text
        cursor = connection.cursor(binary=True)
        assert cursor.execute(f"SELECT %s::{id_type.name}", [text]).fetchone() == (binary,)


@each_form
def test_invalid_binary_parameters(connection, id_type):
    """The session can be used after the error."""
    name = id_type.name
    errors = {
        bytes(length): (
            expect.INVALID_BINARY,
            f"incorrect binary data format for type {name}",
            f"Expected {id_type.length} bytes, but received {length}.",
        )
        for length in (0, 1, id_type.length - 1, id_type.length + 1, 1000)
    }
    for binary in id_type.bytes_above_the_largest():
        message = f'value "\\x{binary.hex()}" is out of range for type {name}'
        detail = f'The largest {name} is "{id_type.text(id_type.largest)}".'
        errors[binary] = expect.OUT_OF_RANGE, message, detail
    for binary, expected in errors.items():
        assert expect.error_of(send_binary(connection, f"SELECT $1::{name}", id_type, binary)) == expected


def test_malformed_text_in_latin1(new_database):
    """In a LATIN1 database, the character is one byte. The client receives it in the client's encoding."""
    with new_database(encoding="LATIN1").connect(client_encoding="UTF8") as connection:
        text = "0u3é75nxqh5c"
        assert connection.execute("SELECT octet_length(%s::text)", [text]).fetchone() == (len(text),)
        message = f'invalid input syntax for type scru64: "{text}"'
        with expect.error(expect.INVALID_TEXT, message, 'Invalid digit "é" at position 4.'):
            connection.execute("SELECT %s::text::scru64", [text])


@pytest.mark.parametrize("client_encoding", ["SQL_ASCII", "UTF8", "LATIN1"])
def test_malformed_text_in_sql_ascii(new_database, client_encoding):
    """A SQL_ASCII database does not know which bytes form a character. An error message must not split one.

    Otherwise a client with another encoding would receive an encoding error instead.
    """
    text = "0u3é75nxqh5c".encode()
    with new_database(encoding="SQL_ASCII").connect(client_encoding=client_encoding) as connection:
        result = connection.pgconn.exec_params(b"SELECT $1::text::scru64", [text])
        assert result.status == ExecStatus.FATAL_ERROR
        assert result.error_field(DiagnosticField.SQLSTATE) == expect.INVALID_TEXT.encode()
        message = b'invalid input syntax for type scru64: "' + text + b'"'
        assert result.error_field(DiagnosticField.MESSAGE_PRIMARY) == message
        detail = result.error_field(DiagnosticField.MESSAGE_DETAIL)
        assert detail.startswith(b"Invalid digit ") and detail.endswith(b" at position 4.")
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("encoding", "quoted"),
    [("UTF8", "é" * 32), ("LATIN1", "é" * 64), ("EUC_JIS_2004", "x" + "é" * 31), ("SQL_ASCII", "xx")],
)
def test_a_long_malformed_text_is_quoted_in_part(new_database, encoding, quoted):
    """A message quotes the first 64 bytes of the text, without the part of a character at their end."""
    text = {"EUC_JIS_2004": "x", "SQL_ASCII": "xx"}.get(encoding, "") + "é" * 100
    with new_database(encoding=encoding).connect(client_encoding="UTF8") as connection:
        with pytest.raises(psycopg.errors.InvalidTextRepresentation) as caught:
            connection.execute("SELECT %s::text::scru128", [text])
        assert caught.value.diag.message_primary == f'invalid input syntax for type scru128: "{quoted}..."'


@each_form
def test_an_invalid_digit_after_a_megabyte(connection, id_type):
    zeros = "0" * (1 << 20)
    message = f'invalid input syntax for type {id_type}: "{zeros[:64]}..."'
    with expect.error(expect.INVALID_TEXT, message, f'Invalid digit "~" at position {len(zeros) + 1}.'):
        connection.execute(f"SELECT %s::text::{id_type}", [zeros + "~"])
