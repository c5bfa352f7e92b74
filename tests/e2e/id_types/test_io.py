"""Texts in databases of other encodings. `io.sql` and `inspect.sql` have the rest."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus

import expect


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


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_scru_inspect_takes_any_bytes(new_database, encoding):
    """Texts that are not UTF-8 return no row, and raise no error."""
    with new_database(encoding=encoding).connect(client_encoding=encoding) as connection:
        for length in 11, 12, 24, 35:
            text = b"0" * length + b"\xe9"
            result = connection.pgconn.exec_params(b"SELECT * FROM scru_inspect($1)", [text])
            assert (result.ntuples, result.error_message) == (0, b"")
