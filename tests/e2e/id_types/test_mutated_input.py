"""Invalid input in bulk: for each type, 100,000 mutated texts and as many mutated binary messages.

Each must give the result that the specification requires: the ID, or the SQLSTATE of its error. Each test checks that
the server survives.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import Format

import expect
from conftest import Database
from idtypes import SCRU128, IdType, each_type
from wire import EXECUTE, SYNC, RawConnection, binary_copy, bind, copy_in, message, outcome, sqlstate

COUNT = 100_000
BATCH = 1000

CORPUS = Path(__file__).parents[3] / "fuzz" / "corpus"

# Raised by the server before it calls the type's input function: the bytes are invalid in the database's encoding.
NOT_IN_THE_ENCODING = "22021"
PROTOCOL_VIOLATION = "08P01"
BAD_COPY_FILE = "22P04"
TOO_MANY = "54000"
WRONG_ELEMENT_TYPE = "42804"


# -------------------------------------------------------------------------------------------------------- the mutations


def mutated(source: random.Random, seeds: list[bytes]) -> Iterator[bytes]:
    """Yields seeds with one to four mutations each, without end."""
    while True:
        value = bytearray(source.choice(seeds))
        for _ in range(source.choice((1, 1, 1, 2, 3, 4))):
            source.choice(MUTATIONS)(source, value)
        yield bytes(value)


def place(source: random.Random, value: bytearray) -> int:
    return source.randrange(len(value) + 1)


def set_byte(source: random.Random, value: bytearray) -> None:
    at = place(source, value)
    value[at : at + 1] = bytes([source.randrange(256)])


def set_printable(source: random.Random, value: bytearray) -> None:
    at = place(source, value)
    value[at : at + 1] = bytes([source.randrange(32, 127)])


def flip_bit(source: random.Random, value: bytearray) -> None:
    if value:
        value[source.randrange(len(value))] ^= 1 << source.randrange(8)


def insert(source: random.Random, value: bytearray) -> None:
    at = place(source, value)
    value[at:at] = source.randbytes(source.choice((1, 1, 2, 8)))


def insert_character(source: random.Random, value: bytearray) -> None:
    at = place(source, value)
    value[at:at] = source.choice("é€😀１٣ıſK\u0301").encode()


def delete(source: random.Random, value: bytearray) -> None:
    at = place(source, value)
    del value[at : at + source.choice((1, 1, 2, 8))]


def cut(source: random.Random, value: bytearray) -> None:
    del value[place(source, value) :]


def repeat(source: random.Random, value: bytearray) -> None:
    value *= source.choice((2, 2, 2, 3, 20))


def swap_case(_source: random.Random, value: bytearray) -> None:
    value[:] = value.swapcase()


def enlarge(_source: random.Random, value: bytearray) -> None:
    value[:1] = value[:1] and max(value[:1], b"z") if value[:1].isalnum() else b"\xff"


MUTATIONS = [
    set_byte, set_printable, flip_bit, insert, insert_character, delete, cut, repeat, swap_case, enlarge,
]  # fmt: skip


def seeds(id_type: IdType, form: str, encode: Callable[[int], bytes]) -> list[bytes]:
    """Returns encoded IDs, and the inputs in the fuzzing corpus."""
    found = [bytes.fromhex(line) for line in (CORPUS / f"{id_type.name}_{form}").read_text().splitlines()]
    assert found, "the corpus is empty"
    return found + list(map(encode, id_type.samples(4 * len(found))))


# ---------------------------------------------------------------------------------------------------------- the session


def outcomes(session: RawConnection, values: list[bytes], format_: Format) -> Iterator[bytes | str]:
    """Yields the outcome of the prepared query for each value as its parameter, in a separate transaction."""
    values = iter(values)
    while batch := list(islice(values, BATCH)):
        session.send(b"".join(bind(value, format_) + EXECUTE + SYNC for value in batch))
        for _ in batch:
            yield outcome(session.replies())


@contextmanager
def one_server(database: Database) -> Iterator[psycopg.Connection]:
    """Checks that the block does not crash the server: its processes are the same afterwards, and it answers.

    The server starts and ends parallel workers and, from PostgreSQL 19 on, I/O workers as needed.
    """

    def server_processes():
        return connection.execute(
            "SELECT pg_postmaster_start_time(), array_agg(pid ORDER BY pid) FROM pg_stat_activity"
            " WHERE backend_type NOT IN ('client backend', 'parallel worker', 'io worker')"
        ).fetchone()

    with database.connect() as connection:
        before = server_processes()
        yield connection
        assert server_processes() == before


def type_oid(connection: psycopg.Connection, name: str) -> int:
    return connection.execute("SELECT %s::regtype::oid", [name]).fetchone()[0]


# ----------------------------------------------------------------------------------------------------------------- text


def expected_of_text(id_type: IdType, text: bytes, encoding: str) -> bytes | str:
    """Returns the canonical text or the SQLSTATE, computed from the specification."""
    if b"\0" in text or (encoding == "UTF8" and not is_utf8(text)):
        return NOT_IN_THE_ENCODING
    forms = [(id_type.digits, id_type.text_length)]
    if id_type.name == "scru160":
        forms.append(("0123456789abcdef", 40))
    for digits, length in forms:
        digits = digits.upper().encode()
        if len(text) == length and not text.upper().strip(digits):
            value = 0
            for digit in text.upper():
                value = value * len(digits) + digits.index(digit)
            return id_type.text(value).encode() if value <= id_type.largest else expect.OUT_OF_RANGE
    return expect.INVALID_TEXT


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("encoding", ["UTF8", "SQL_ASCII"])
@each_type
def test_mutated_texts(new_database, id_type, encoding):
    """In UTF8 the server validates characters; in SQL_ASCII any byte except NUL reaches the type."""
    source = random.Random(f"{id_type} {encoding}")
    texts = list(islice(mutated(source, seeds(id_type, "text", lambda v: id_type.text(v).encode())), COUNT // 2))
    database = new_database(encoding=encoding)
    with one_server(database) as connection, RawConnection(database.server, database.name) as session:
        session.prepare("SELECT $1", type_oid(connection, id_type.name))
        seen = set()
        for text, got in zip(texts, outcomes(session, texts, Format.TEXT), strict=True):
            expected = expected_of_text(id_type, text, encoding)
            assert got == expected, text
            seen.add(expected if isinstance(expected, str) else "read")
    out_of_range = {expect.OUT_OF_RANGE} if id_type.texts_above_the_largest() else set()
    assert seen == {"read", expect.INVALID_TEXT, NOT_IN_THE_ENCODING} | out_of_range


# --------------------------------------------------------------------------------------------------------------- binary


@each_type
def test_mutated_binary_messages(database, id_type):
    source = random.Random(f"{id_type} binary")
    values = list(islice(mutated(source, seeds(id_type, "binary", id_type.binary)), COUNT))
    # Most mutated values have a wrong length. These have the right one.
    values[::4] = (source.randbytes(id_type.length) for _ in values[::4])
    with one_server(database) as connection, RawConnection(database.server, database.name) as session:
        session.prepare("SELECT $1", type_oid(connection, id_type.name))
        seen = set()
        for value, got in zip(values, outcomes(session, values, Format.BINARY), strict=True):
            if len(value) != id_type.length:
                expected = expect.INVALID_BINARY
            else:
                expected = value if int.from_bytes(value, "big") <= id_type.largest else expect.OUT_OF_RANGE
            assert got == expected, value
            seen.add(expected if isinstance(expected, str) else "read")
    assert seen == {"read"} | errors_of_binary(id_type)


# ---------------------------------------------------------------------------------------------- containers and messages


def errors(outcomes: Iterable[bytes | str]) -> set[str]:
    """Returns the SQLSTATEs among the outcomes."""
    return {outcome for outcome in outcomes if isinstance(outcome, str)}


def errors_of_binary(id_type: IdType) -> set[str]:
    """Returns the SQLSTATEs that the type itself raises for invalid bytes."""
    return {expect.INVALID_BINARY} | ({expect.OUT_OF_RANGE} if id_type.bytes_above_the_largest() else set())


def assert_errors(got: set[str], id_type: IdType, servers_own: set[str]) -> None:
    """Checks that all of the type's own errors occurred, and otherwise only errors of the server."""
    own = errors_of_binary(id_type)
    assert own <= got <= own | servers_own


def array(id_type: IdType, element_oid: int, values: list[int]) -> bytes:
    """Returns a one-dimensional array in binary format."""
    elements = b"".join(struct.pack("!i", id_type.length) + id_type.binary(value) for value in values)
    return struct.pack("!iiIii", 1, 0, element_oid, len(values), 1) + elements


@each_type
def test_mutated_arrays(database, id_type):
    """The server splits the array, and passes each element to the type, whatever its length."""
    source = random.Random(f"{id_type} arrays")
    with one_server(database) as connection, RawConnection(database.server, database.name) as session:
        oid = type_oid(connection, id_type.name)
        arrays = [array(id_type, oid, id_type.samples(3, seed)) for seed in range(100)]
        session.prepare("SELECT $1", type_oid(connection, f"{id_type.name}[]"))
        got = errors(outcomes(session, list(islice(mutated(source, arrays), 5000)), Format.BINARY))
    assert_errors(got, id_type, {PROTOCOL_VIOLATION, TOO_MANY, WRONG_ELEMENT_TYPE})


@each_type
def test_mutated_messages(database, id_type):
    """Mutates the Bind messages that contain an ID, except for the lengths of the messages."""
    source = random.Random(f"{id_type} messages")
    with one_server(database) as connection, RawConnection(database.server, database.name) as session:
        session.prepare("SELECT $1", type_oid(connection, id_type.name))
        binds = [bind(id_type.binary(value), Format.BINARY)[5:] for value in id_type.samples(100)]
        contents = list(islice(mutated(source, binds), 5000))
        session.send(b"".join(message(b"B", content) + EXECUTE + SYNC for content in contents))
        got = errors([outcome(session.replies()) for _ in contents])
    no_such_statement, no_such_portal, no_such_format = "26000", "34000", "22023"
    servers_own = {PROTOCOL_VIOLATION, NOT_IN_THE_ENCODING, no_such_statement, no_such_portal, no_such_format}
    assert_errors(got - {expect.INVALID_TEXT}, id_type, servers_own)


@each_type
def test_mutated_binary_copies(database, id_type):
    source = random.Random(f"{id_type} copies")
    files = [binary_copy(list(map(id_type.binary, id_type.samples(3, seed)))) for seed in range(100)]
    got = set()
    with one_server(database) as connection:
        connection.execute(f"SET log_min_messages = panic; CREATE TABLE ids (id {id_type.name})")
        for file in islice(mutated(source, files), 1000):
            try:
                copy_in(connection, "COPY ids FROM STDIN (FORMAT binary)", file)
            except psycopg.Error as error:
                got.add(error.sqlstate)
    assert_errors(got, id_type, {BAD_COPY_FILE, TOO_MANY})


def test_broken_framing(database):
    """The server ends only the session that sends a message with a wrong length or an unknown type."""
    value = SCRU128.binary(SCRU128.largest)
    broken = {
        # For an invalid length the server writes to its log, but sends no error.
        b"B" + struct.pack("!i", 3) + value: [],
        b"B" + struct.pack("!i", -1) + value: [],
        b"B" + struct.pack("!i", 2**31 - 1) + value: [],
        message(b"\xff", value) + SYNC: [PROTOCOL_VIOLATION],
    }
    with one_server(database) as connection:
        for messages, expected in broken.items():
            with RawConnection(database.server, database.name) as session:
                session.prepare("SELECT $1", type_oid(connection, "scru128"))
                session.send(messages)
                assert [(kind, sqlstate(content)) for kind, content in session.replies()] == [
                    (b"E", error) for error in expected
                ]
