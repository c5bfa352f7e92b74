"""scru_inspect(text): the type, the time and the fields of an ID, which it recognizes by its form."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, SCRU160, TYPES, ULID, ULIDFLAKE, IdType, each_type

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# The fields that need no parameter: name, width in bits, and position of the lowest bit.
FIELDS = {
    SCRU128: {"counter_hi": (24, 56), "counter_lo": (24, 32), "entropy": (32, 0)},
    ULID: {"randomness": (80, 0)},
    SCRU160: {"counter": (16, 96), "random16": (16, 80), "random80": (80, 0)},
    SCRU64: {"node_ctr": (24, 0)},
    ULIDFLAKE: {"randomness": (20, 0), "scalable_randomness": (15, 5), "scalability": (5, 0)},
}


def expected(id_type: IdType, value: int) -> tuple:
    """Returns the row of an ID. Wide fields are hexadecimal."""
    fields = {}
    for name, (width, lowest) in FIELDS[id_type].items():
        number = value >> lowest & ((1 << width) - 1)
        fields[name] = number if width <= 32 else f"{number:0{width // 4}x}"
    time = UNIX_EPOCH + timedelta(milliseconds=id_type.unix_milliseconds(value))
    return id_type.name, id_type.text(value), time, fields


def inspect(connection, text: str | None) -> list[tuple]:
    """Returns the rows for a text."""
    return connection.execute("SELECT * FROM scru_inspect(%s)", [text]).fetchall()


def readable(id_type: IdType, value: int) -> int:
    """Reduces a value so that Python, whose last year is 9999, can represent its time."""
    milliseconds = (datetime(9999, 1, 1, tzinfo=UTC) - UNIX_EPOCH) // timedelta(milliseconds=1)
    end = (milliseconds - id_type.epoch) // id_type.tick
    return value % (end << id_type.body_bits)


@pytest.fixture(scope="module")
def inspecting(server, database_names) -> Iterator[psycopg.Connection]:
    """A connection that is shared by tests without side effects."""
    name = next(database_names)
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with server.connect(name) as inspecting:
            inspecting.execute("CREATE EXTENSION scru")
            yield inspecting
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@each_type
def test_each_type(inspecting, id_type):
    """Input is case-insensitive."""
    for value in id_type.samples(100, seed=16):
        value = readable(id_type, value)
        row = expected(id_type, value)
        for text in row[1], row[1].lower(), row[1].upper():
            assert inspect(inspecting, text) == [row]


def test_hexadecimal_scru160(inspecting):
    for value in SCRU160.samples(100, seed=17):
        value = readable(SCRU160, value)
        assert (
            inspect(inspecting, f"{value:040x}") == inspect(inspecting, f"{value:040X}") == [expected(SCRU160, value)]
        )


def test_a_uuid_is_shown_as_both(inspecting):
    """The 16 bytes of a uuid are shown as a scru128 and as a ulid."""
    for value in SCRU128.samples(50, seed=18):
        value = readable(SCRU128, value)
        digits = f"{value:032x}"
        uuid = "-".join(digits[i:j] for i, j in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
        for text in uuid, uuid.upper():
            assert inspect(inspecting, text) == [expected(SCRU128, value), expected(ULID, value)]


@each_type
def test_fields_are_those_of_the_functions(connection, id_type):
    """The fields of new IDs have the names and the values of the functions."""
    [(id_, fields)] = connection.execute(f"SELECT canonical, fields FROM scru_inspect({id_type.generator}::text)")
    for name, value in fields.items():
        [(from_function,)] = connection.execute(f"SELECT {id_type.name}_{name}(%s)", [id_])
        assert value == (from_function.hex() if isinstance(from_function, bytes) else from_function)


UNKNOWN = {
    "empty": "", "one digit": "0", "11 digits": "0" * 11, "14 digits": "0" * 14, "24 digits": "0" * 24,
    "27 digits": "0" * 27, "39 digits": "0" * 39, "41 digits": "0" * 41, "a megabyte": "0" * (1 << 20),
    "space before": " 0u375nxqh5cq", "scru64, invalid digit": "0u375nxqh5c_",
    "ulidflake, invalid Crockford digit": "00CMXB6TAK4SU", "ulidflake, too large": "8" + "0" * 12,
    "scru128, too large": "z" * 25, "ulid, too large": "8" + "Z" * 25, "ulid, invalid Crockford digit": "0" * 25 + "I",
    "scru160, invalid base32hex digit": "0" * 31 + "W", "scru160, invalid hex digit": "0" * 39 + "g",
    "uuid in braces": "{018f0000-0000-7000-8000-000000000000}", "uuid, cut": "018f0000-0000-7000-8000-00000000000",
    "uuid, invalid digit": "018f0000-0000-7000-8000-00000000000g",
    "uuid, dashes elsewhere": "018f-00000000-7000-8000-000000000000",
    "not ASCII": "é" * 6, "as many bytes as a ulid": "0" * 24 + "é", "a line end": "0u375nxqh5cq\n",
}  # fmt: skip


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_texts_that_are_not_ids_return_no_row(inspecting, text):
    assert inspect(inspecting, text) == []


def test_null_gives_no_row(inspecting):
    assert inspect(inspecting, None) == []


def test_a_table_of_texts(connection):
    """A lateral join returns the rows of each text that is an ID."""
    connection.execute("CREATE TABLE texts (n int, text text)")
    values = {id_type: readable(id_type, id_type.samples(9, seed=19)[5]) for id_type in TYPES}
    for n, (id_type, value) in enumerate(values.items()):
        connection.execute(
            "INSERT INTO texts VALUES (%s, %s), (%s, 'neither'), (%s, NULL)", [n, id_type.text(value), n, n]
        )
    rows = connection.execute("SELECT i.* FROM texts, scru_inspect(text) AS i ORDER BY n").fetchall()
    assert rows == [expected(id_type, value) for id_type, value in values.items()]


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_of_another_encoding(new_database, encoding):
    """Texts that are not UTF-8 return no row, and raise no error."""
    with new_database(encoding=encoding).connect(client_encoding=encoding) as connection:
        for text in ("0" * 11, "0" * 12, "0" * 24, "0" * 35):
            result = connection.pgconn.exec_params(b"SELECT * FROM scru_inspect($1)", [text.encode() + b"\xe9"])
            assert (result.ntuples, result.error_message) == (0, b"")
        [(canonical,)] = connection.execute("SELECT canonical FROM scru_inspect('0U375NXQH5CQ')").fetchall()
        assert canonical in ("0u375nxqh5cq", b"0u375nxqh5cq")


@each_type
def test_times_beyond_python(connection, id_type):
    """scru_inspect returns the time of the largest ID, even if it is after Python's last year."""
    query = f"SELECT i.timestamp = {id_type.name}_timestamp(%s) FROM scru_inspect(%s) AS i"
    largest = id_type.text(id_type.largest)
    assert connection.execute(query, [largest, largest]).fetchone() == (True,)
