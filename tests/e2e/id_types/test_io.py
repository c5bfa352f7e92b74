"""Texts in databases of other encodings and locales. `io.sql` and `inspect.sql` have the rest."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus

import expect
from idtypes import TYPES
from server import TEMPORARY, give_to_server_user


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


@pytest.fixture
def turkish_locale() -> Iterator[str]:
    """A directory with the Turkish locale of libc, for a server's LOCPATH."""
    directory = Path(tempfile.mkdtemp(prefix="scru-locale-", dir=TEMPORARY))
    give_to_server_user(directory)
    subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", str(directory / "tr_TR.utf8")], check=True)
    yield str(directory)
    shutil.rmtree(directory)


@pytest.mark.parametrize("locale", ["LOCALE 'tr_TR.utf8'", "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'tr'"])
def test_a_turkish_locale_changes_nothing(new_server, turkish_locale, locale):
    """i and I are not the same letter there. Input is read in either case, and IDs sort in byte order."""
    server = new_server(None, {"LOCPATH": turkish_locale})
    if "icu" in locale and not server.value("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'"):
        pytest.skip("requires a server with ICU")
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE turkish TEMPLATE template0 {locale}")
    with server.connect("turkish") as connection:
        run = connection.execute
        assert run("SELECT upper('i') || lower('I')").fetchone() == ("İı",)
        run("CREATE EXTENSION scru_text CASCADE")
        for id_type in TYPES:
            t = id_type.name
            texts = sorted({id_type.text(value) for value in id_type.samples(300)})
            rows = ", ".join("('{0}', '{1}', '{0}', '{1}')".format(text.lower(), text.upper()) for text in texts)
            run(f"CREATE TABLE {t}_read (id {t}, other {t}, lower text, upper varchar)")
            run(f"INSERT INTO {t}_read VALUES {rows}")
            readings = ["other", "lower", "upper", f"{t}_unprefixed('i', 'i_' || upper)"]
            differs = " OR ".join(f"id <> {reading}" for reading in readings)
            assert run(f"SELECT count(*) FROM {t}_read WHERE {differs}").fetchone() == (0,)
            for order in "id", 'id::text COLLATE "C"':
                assert run(f"SELECT array_agg(id::text ORDER BY {order}) FROM {t}_read").fetchone() == (texts,)
        words = "SELECT name, unnest(enumvals) FROM pg_settings WHERE name ~ '^scru' AND context = 'user'"
        for name, word in run(words).fetchall():
            run(f"SET {name.upper()} = {word.upper()}")
            assert run(f"SHOW {name}").fetchone() == (word,)
        nodes = "VALUES ('0X80/8', '8/4'), ('0U2R8IHM2PT3/16', '0u2r8ihm2pt3/16')"
        assert run(f"SELECT scru64_nodes_collide(a, b) FROM ({nodes}) AS nodes (a, b)").fetchall() == [(True,), (True,)]
