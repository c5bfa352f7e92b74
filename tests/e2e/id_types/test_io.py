"""Text and binary input and output through the protocol and COPY, and the errors of malformed input."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus

import expect
from conftest import Database
from idtypes import CROCKFORD, SCRU128, SCRU160, TYPES, IdType, each_type, of_types
from server import since
from wire import binary_copy, copy_in, copy_out, send_binary

# ---------------------------------------------------------------------------------------------------------- round trips


@each_type
def test_binary_copy_is_the_bytes(connection, id_type):
    """COPY reads a handmade file, and writes the same bytes."""
    file = binary_copy([None, *map(id_type.binary, id_type.samples(20_000)), None])
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    copy_in(connection, "COPY ids FROM STDIN (FORMAT binary)", file)
    assert copy_out(connection, "COPY ids TO STDOUT (FORMAT binary)") == file


@each_type
@pytest.mark.parametrize("options", ["FORMAT text", "FORMAT csv", "FORMAT csv, FORCE_QUOTE *"])
def test_text_copy_is_the_canonical_text(connection, id_type, options):
    texts = list(map(id_type.text, id_type.samples(20_000)))
    lines = [f'"{text}"' if "FORCE_QUOTE" in options else text for text in texts]
    file = "".join(f"{line}\n" for line in lines).encode()
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    copy_in(connection, f"COPY ids FROM STDIN ({options.partition(',')[0]})", file)
    assert copy_out(connection, f"COPY ids TO STDOUT ({options})") == file


@each_type
def test_text_and_binary_are_one_value(connection, id_type):
    """Input and output of text agree with the specification. Input is case-insensitive."""
    values = id_type.samples(20_000, seed=2)
    connection.execute(f"CREATE TABLE ids (n int GENERATED ALWAYS AS IDENTITY, id {id_type.name})")
    copy_in(connection, "COPY ids (id) FROM STDIN (FORMAT binary)", binary_copy(list(map(id_type.binary, values))))
    texts = [id_type.text(value) for value in values]
    assert [text for (text,) in connection.execute("SELECT id::text FROM ids ORDER BY n")] == texts
    for column in "lower(id::text)", "upper(id::text)", "initcap(id::text)":
        query = f"SELECT count(*) FROM ids WHERE {column}::{id_type.name} IS DISTINCT FROM id"
        assert connection.execute(query).fetchone() == (0,)


@each_type
def test_binary_parameters_and_results(connection, id_type):
    """Sends a parameter and receives results in binary format, as drivers do."""
    for value in id_type.samples(50, seed=3):
        binary = id_type.binary(value)
        result = send_binary(connection, f"SELECT $1::{id_type.name}, $1::{id_type.name}::text", id_type, binary)
        assert result.status == ExecStatus.TUPLES_OK
        assert result.fsize(0) == id_type.length
        assert result.get_value(0, 0) == binary
        assert result.get_value(0, 1).decode() == id_type.text(value)


@each_type
def test_binary_loads_with_psycopg(connection, id_type):
    """psycopg, which does not know the type, sends an ID as text and returns its bytes."""
    value = id_type.samples(10, seed=4)[5]
    cursor = connection.cursor(binary=True)
    assert cursor.execute(f"SELECT %s::{id_type.name}", [id_type.text(value)]).fetchone() == (id_type.binary(value),)


@each_type
def test_arrays_and_composites_in_binary(connection, id_type):
    """Arrays and composite values of the type survive a round trip through binary COPY."""
    connection.execute(f"CREATE TYPE pair AS (first {id_type.name}, second {id_type.name})")
    connection.execute(f"CREATE TABLE boxes (ids {id_type.name}[], pairs pair)")
    ids = [id_type.text(value) for value in id_type.samples(40, seed=5)]
    for i in range(0, 40, 4):
        connection.execute(
            f"INSERT INTO boxes VALUES (%s::text[]::{id_type.name}[], ROW(%s, NULL)::pair)", [ids[i : i + 4], ids[i]]
        )
    before = connection.execute("SELECT boxes::text FROM boxes").fetchall()
    file = copy_out(connection, "COPY boxes TO STDOUT (FORMAT binary)")
    connection.execute("TRUNCATE boxes")
    copy_in(connection, "COPY boxes FROM STDIN (FORMAT binary)", file)
    assert copy_out(connection, "COPY boxes TO STDOUT (FORMAT binary)") == file
    assert connection.execute("SELECT boxes::text FROM boxes").fetchall() == before


# ----------------------------------------------------------------------------------------------------- malformed binary


def wrong_lengths(id_type: IdType) -> list[int]:
    """Returns numbers of bytes that are invalid for the type."""
    return [0, 1, id_type.length - 1, id_type.length + 1, 1000]


def wrong_length(id_type: IdType, length: int) -> tuple[str, str, str]:
    """Returns the error for input of `length` bytes."""
    return (
        expect.INVALID_BINARY,
        f"incorrect binary data format for type {id_type.name}",
        f"Expected {id_type.length} bytes, but received {length}.",
    )


@each_type
def test_binary_copy_of_a_wrong_length(connection, id_type):
    """The error aborts only the subtransaction: work before the savepoint is committed."""
    good = id_type.binary(id_type.samples(9)[8])
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    for length in wrong_lengths(id_type):
        with connection.transaction():
            copy_in(connection, "COPY ids FROM STDIN (FORMAT binary)", binary_copy([good]))
            with expect.error(*wrong_length(id_type, length)), connection.transaction():
                try:
                    copy_in(connection, "COPY ids FROM STDIN (FORMAT binary)", binary_copy([good, bytes(length)]))
                finally:
                    assert connection.info.transaction_status == TransactionStatus.INERROR
            assert connection.info.transaction_status == TransactionStatus.INTRANS
    assert connection.info.transaction_status == TransactionStatus.IDLE
    assert connection.execute("SELECT count(*) FROM ids").fetchone() == (len(wrong_lengths(id_type)),)


@each_type
def test_binary_parameter_of_a_wrong_length(connection, id_type):
    for length in wrong_lengths(id_type):
        result = send_binary(connection, f"SELECT $1::{id_type.name}", id_type, bytes(length))
        assert expect.error_of(result) == wrong_length(id_type, length)
        assert connection.info.transaction_status == TransactionStatus.IDLE


@of_types([id_type for id_type in TYPES if id_type.bytes_above_the_largest()])
def test_bytes_above_the_largest(connection, id_type):
    """Every binary input rejects bytes above the largest ID, which have no canonical text."""
    largest = id_type.text(id_type.largest)
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    for binary in id_type.bytes_above_the_largest():
        message = f'value "\\x{binary.hex()}" is out of range for type {id_type.name}'
        expected = expect.OUT_OF_RANGE, message, f'The largest {id_type.name} is "{largest}".'
        assert expect.error_of(send_binary(connection, f"SELECT $1::{id_type.name}", id_type, binary)) == expected
        with expect.error(*expected):
            copy_in(connection, "COPY ids FROM STDIN (FORMAT binary)", binary_copy([binary]))
        with expect.error(*expected):
            connection.execute(f"SELECT %b::bytea::{id_type.name}", [binary])


@each_type
def test_bytea_of_a_wrong_length(connection, id_type):
    for length in wrong_lengths(id_type):
        with expect.error(*wrong_length(id_type, length)):
            connection.execute(f"SELECT %b::bytea::{id_type.name}", [bytes(length)])


# ------------------------------------------------------------------------------------------------------- malformed text


def malformed(id_type: IdType) -> dict[str, tuple[str, str]]:
    """Returns one text for each kind of error, with the DETAIL. Positions count characters, from 1.

    Each stands for many in tests/vectors, of which the unit tests and the regression test `io` read all.
    """
    good, length = id_type.text(id_type.largest // 3), id_type.text_length
    # U in Crockford's Base32, W in base32hex. In Base36 all ASCII letters are digits.
    stranger = next((letter for letter in "ULOIW" if letter not in id_type.digits.upper()), "ß")

    def wrong_length(received: int) -> str:
        return f"Expected {length} digits, but received {received}."

    def invalid(character: str, at: int) -> str:
        return f'Invalid digit "{character}" at position {at}.'

    return {
        "one digit too few": (good[:-1], wrong_length(length - 1)),
        "one digit too many": (good + "0", wrong_length(length + 1)),
        "a megabyte": ("0" * (1 << 20), wrong_length(1 << 20)),
        "invalid digit after a megabyte": ("0" * (1 << 20) + "~", invalid("~", (1 << 20) + 1)),
        "percent sign": ("%s%n" + good[4:], invalid("%", 1)),
        "a letter that is not a digit": (good[:2] + stranger + good[3:], invalid(stranger, 3)),
        "four bytes": (good[:7] + "😀" + good[8:], invalid("😀", 8)),
        "a UUID": ("018f0000-0000-7000-8000-000000000000", invalid("-", 9)),
    }


CASES = [
    pytest.param(id_type, *case, id=f"{id_type}-{name}")
    for id_type in TYPES
    for name, case in malformed(id_type).items()
]


@pytest.fixture(scope="module")
def shared(server, database_names) -> Iterator[psycopg.Connection]:
    """A connection that is shared by tests without side effects."""
    name = next(database_names)
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with Database(server, name).connect() as shared:
            shared.execute("CREATE EXTENSION scru")
            yield shared
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def invalid_text(id_type: IdType, text: str, detail: str) -> tuple[str, str, str, str | None]:
    """Returns the error for an invalid text."""
    return (
        expect.INVALID_TEXT,
        f'invalid input syntax for type {id_type.name}: "{quoted(text)}"',
        detail,
        hint(id_type, text, detail),
    )


def quoted(text: str) -> str:
    """Returns a text as a message quotes it: at most its first 64 bytes, without a part of a character at their end."""
    start = text.encode()[:64].decode(errors="ignore")
    return text if start == text else f"{start}..."


def hint(id_type: IdType, text: str, detail: str) -> str | None:
    """Returns the HINT of the error; `None` if it has none."""
    is_wide = id_type.length == 16
    if re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
        if is_wide:
            return f"To read a uuid as a {id_type}, write '...'::uuid::{id_type}."
        return "This is the text of a uuid, which can be cast to scru128 and ulid."
    for other in TYPES:
        if other is not id_type and is_text_of(other, text):
            cast = f": write '...'::{other}::{id_type}" if is_wide and other.length == 16 else ""
            return f"This is the text of a {other}{cast}."
    number = "bigint" if id_type.length == 8 else "numeric" if id_type is SCRU128 else None
    if number and re.fullmatch("[0-9]+", text):
        return f"To read a number as a {id_type}, write '...'::{number}::{id_type}."
    if id_type.digits == CROCKFORD and re.match('Invalid digit "[ILOUilou]"', detail):
        return f"A {id_type} has no digits I, L, O and U."
    return None


def is_text_of(id_type: IdType, text: str) -> bool:
    """Returns whether the text is an ID of the type. Case does not matter."""
    if id_type is SCRU160 and re.fullmatch("[0-9a-fA-F]{40}", text):
        return True
    text = text.upper() if id_type.digits[-1].isupper() else text.lower()
    return (
        len(text) == id_type.text_length and not text.strip(id_type.digits) and id_type.value(text) <= id_type.largest
    )


@pytest.mark.parametrize(("id_type", "text", "detail"), CASES)
def test_malformed_text(shared, id_type, text, detail):
    with expect.error(*invalid_text(id_type, text, detail)):
        shared.execute(f"SELECT %s::text::{id_type.name}", [text])


@each_type
def test_text_above_the_largest(shared, id_type):
    largest = id_type.text(id_type.largest)
    for text in {case(text) for text in id_type.texts_above_the_largest() for case in (str.lower, str.upper)}:
        message = f'value "{text}" is out of range for type {id_type.name}'
        with expect.error(expect.OUT_OF_RANGE, message, f'The largest {id_type.name} is "{largest}".'):
            shared.execute(f"SELECT %s::text::{id_type.name}", [text])
    assert shared.execute(f"SELECT %s::{id_type.name}::text", [largest.swapcase()]).fetchone() == (largest,)


@each_type
def test_malformed_text_in_latin1(new_database, id_type):
    """In a LATIN1 database, the character is one byte. The client receives it in the client's encoding."""
    with new_database(encoding="LATIN1").connect(client_encoding="UTF8") as connection:
        text = id_type.text(0)[:3] + "é" + id_type.text(0)[4:]
        assert connection.execute("SELECT octet_length(%s::text)", [text]).fetchone() == (len(text),)
        with expect.error(*invalid_text(id_type, text, 'Invalid digit "é" at position 4.')):
            connection.execute(f"SELECT %s::text::{id_type.name}", [text])


@each_type
@pytest.mark.parametrize("client_encoding", ["SQL_ASCII", "UTF8", "LATIN1"])
def test_malformed_text_in_sql_ascii(new_database, id_type, client_encoding):
    """A SQL_ASCII database does not know which bytes form a character. An error message must not split one.

    Otherwise a client with another encoding would receive an encoding error instead.
    """
    text = (id_type.text(0)[:3] + "é" + id_type.text(0)[4:]).encode()
    with new_database(encoding="SQL_ASCII").connect(client_encoding=client_encoding) as connection:
        result = connection.pgconn.exec_params(f"SELECT $1::text::{id_type.name}".encode(), [text])
        assert result.status == ExecStatus.FATAL_ERROR
        assert result.error_field(DiagnosticField.SQLSTATE) == expect.INVALID_TEXT.encode()
        message = f'invalid input syntax for type {id_type.name}: "'.encode() + text + b'"'
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


@each_type
def test_malformed_text_in_copy_names_its_line(connection, id_type):
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    good = id_type.text(5)
    with pytest.raises(psycopg.errors.InvalidTextRepresentation) as caught:
        copy_in(connection, "COPY ids FROM STDIN", f"{good}\n{good[:-1]}\n".encode())
    assert caught.value.diag.context == f'COPY ids, line 2, column id: "{good[:-1]}"'
    assert connection.execute("SELECT count(*) FROM ids").fetchone() == (0,)


@each_type
def test_a_savepoint_keeps_earlier_work(connection, id_type):
    """Malformed text ends the statement like any other error. Work before the savepoint is committed."""
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    with connection.transaction():
        connection.execute("INSERT INTO ids VALUES (%s)", [id_type.text(1)])
        for name, (text, detail) in malformed(id_type).items():
            with expect.error(*invalid_text(id_type, text, detail)), connection.transaction():
                connection.execute("INSERT INTO ids VALUES (%s)", [id_type.text(2)])
                connection.execute(f"INSERT INTO ids VALUES (%s::text::{id_type.name})", [text])
            assert connection.info.transaction_status == TransactionStatus.INTRANS, name
        connection.execute("INSERT INTO ids VALUES (%s)", [id_type.text(3)])
    ids = connection.execute("SELECT id::text FROM ids ORDER BY id").fetchall()
    assert ids == [(id_type.text(1),), (id_type.text(3),)]


@each_type
def test_plpgsql_catches_the_error(connection, id_type):
    """An exception handler catches it by its condition name, thousands of times in one transaction. No row is lost."""
    connection.execute(f"CREATE TABLE ids (n int, id {id_type.name})")
    connection.execute(
        f"""DO $$ BEGIN
            FOR n IN 1..5000 LOOP
                BEGIN
                    INSERT INTO ids
                        VALUES (n, (CASE WHEN n % 2 = 0 THEN '{id_type.text(7)}' ELSE '!' END)::{id_type.name});
                EXCEPTION WHEN invalid_text_representation THEN
                    INSERT INTO ids VALUES (n, NULL);
                END;
            END LOOP;
        END $$"""
    )
    assert connection.execute("SELECT count(*), count(id), max(n) FROM ids").fetchone() == (5000, 2500, 5000)


# ---------------------------------------------------------------------------------------------------------- soft errors


@since(16, "pg_input_is_valid")
@pytest.mark.parametrize(("id_type", "text", "detail"), CASES)
def test_soft_errors(shared, id_type, text, detail):
    """pg_input_error_info returns the same error as a row, and the transaction continues."""
    sqlstate, message, detail, hint = invalid_text(id_type, text, detail)
    with shared.transaction():
        valid = shared.execute("SELECT pg_input_is_valid(%s, %s)", [text, id_type.name]).fetchone()
        info = shared.execute(
            "SELECT message, detail, hint, sql_error_code FROM pg_input_error_info(%s, %s)", [text, id_type.name]
        ).fetchone()
        assert shared.info.transaction_status == TransactionStatus.INTRANS
    assert valid == (False,)
    assert info == (message, detail, hint, sqlstate)


@since(16, "pg_input_is_valid")
@of_types([id_type for id_type in TYPES if id_type.texts_above_the_largest()])
def test_soft_errors_of_range_and_validity(shared, id_type):
    too_large = id_type.texts_above_the_largest()[0]
    largest = id_type.text(id_type.largest)
    valid = "SELECT pg_input_is_valid(%s, %s)"
    assert shared.execute(valid, [largest, id_type.name]).fetchone() == (True,)
    assert shared.execute(valid, [too_large, id_type.name]).fetchone() == (False,)
    info = shared.execute("SELECT * FROM pg_input_error_info(%s, %s)", [too_large, id_type.name]).fetchone()
    message = f'value "{too_large}" is out of range for type {id_type.name}'
    assert info == (message, f'The largest {id_type.name} is "{largest}".', None, expect.OUT_OF_RANGE)


@since(17, "COPY … ON_ERROR ignore")
@each_type
def test_copy_skips_malformed_rows(connection, id_type):
    """COPY … ON_ERROR ignore loads the valid rows and skips the others."""
    connection.execute(f"CREATE TABLE ids (id {id_type.name})")
    texts = [id_type.text(1), "", "!", id_type.text(id_type.largest) + "0", id_type.text(2)]
    file = "".join(f'"{text}"\n' for text in texts).encode()
    copy_in(connection, "COPY ids FROM STDIN (FORMAT csv, ON_ERROR ignore)", file)
    assert connection.execute("SELECT id::text FROM ids").fetchall() == [(id_type.text(1),), (id_type.text(2),)]
