"""The durable high-water marks, for tests that end, promote or move servers: IDs before and after, the page, and the
sequences."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable
from zlib import crc32

import psycopg
import pytest

from clock import Clock
from idtypes import SERVER_WIDE, TYPES, ULIDFLAKE
from load import assert_all_different
from server import MAJOR, Server, wait_until

NODE = {"scru.scru64_node": "5/20"}
"""A node that leaves scru64 four bits for the counter, so that its IDs run ahead of the clock."""
ALONE = {"scru.scru64_node": "5/8", "scru.ulidflake_entropy_bits": "1"}
"""Settings with which a server generates many IDs of each type while the clock stands still."""
WITHOUT_CHECKSUMS = ("--no-data-checksums",) if MAJOR >= 18 else ()
"""The options of initdb for a server without checksums: the default up to PostgreSQL 17."""
HOUR = 3600
END_OF_MILLISECOND = 1 << 20
BEHIND_MARK = "could not generate a {}: the system clock is behind the high-water mark"
MARK_HINT = (
    "Correct the clock, or wait until it has caught up."
    " If the mark is wrong, a superuser can set it back with scru_set_mark()."
)

# The clock of the server that takes over, minus that of its predecessor, in seconds. TEST_ALL_CLOCK_DIFFERENCES adds
# those around the limits: 1 s without a wait, and 10 s without a refusal.
SOME = [-HOUR, -3]
ALL = [-HOUR, -600, -120, -60, -40, -30, -20, -15, -12, -11, -10, -9, -8, -5, -3, -2, -1, 0, 1, 2, 5, 10, 30, 60, HOUR]
DIFFERENCES = ALL if "TEST_ALL_CLOCK_DIFFERENCES" in os.environ else SOME
each_difference = pytest.mark.parametrize("difference", DIFFERENCES)


def create(server: Server) -> Server:
    """Creates the extension, and returns the server."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    return server


def draw(server: Server, id_type, count: int = 20, dbname: str = "postgres") -> list[str]:
    """Returns `count` IDs of a new session, which generates them from the shared state of the server."""
    query = f"SELECT {id_type.generator}::text FROM generate_series(1, {count})"
    with server.connect(dbname, options="-c scru.generator_scope=server") as connection:
        return [id_ for (id_,) in connection.execute(query)]


def draw_all(server: Server, count: int = 20, dbname: str = "postgres") -> dict:
    """Returns `count` IDs of each of scru64 and ulidflake."""
    return {id_type: draw(server, id_type, count, dbname) for id_type in SERVER_WIDE}


def insert(server: Server, count: int = 50, types: Iterable = TYPES, dbname: str = "postgres") -> dict:
    """Inserts `count` IDs of each type, each in its own transaction, and returns them."""
    ids = {}
    with server.connect(dbname, options="-c scru.generator_scope=server") as connection:
        for id_type in types:
            t = id_type.name
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {t}_orders (id {t} PRIMARY KEY DEFAULT {id_type.generator})"
            )
            query = f"INSERT INTO {t}_orders DEFAULT VALUES RETURNING id::text"
            ids[id_type] = [connection.execute(query).fetchone()[0] for _ in range(count)]
    return ids


def assert_later(before: dict, after: dict) -> None:
    """Asserts that no ID occurs twice, and that the new IDs are greater than all earlier ones."""
    for id_type, ids in after.items():
        assert_all_different(before[id_type], ids)
        assert max(before[id_type]) < min(ids)


def assert_behind_mark(server: Server, id_type, seconds: float, dbname: str = "postgres") -> None:
    """Asserts that generation fails because the clock is about `seconds` behind the mark. Tolerates a slow machine."""
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
        draw(server, id_type, 1, dbname)
    diag = caught.value.diag
    assert diag.message_primary == BEHIND_MARK.format(id_type)
    detail = diag.message_detail.removeprefix("The clock is ")
    behind = float(detail.removesuffix(" s behind the last ID that may already have been generated."))
    assert behind > 10 and abs(behind - seconds) < 120
    assert diag.message_hint == MARK_HINT


def assert_all_behind_mark(server: Server, seconds: float, dbname: str = "postgres") -> None:
    """As `assert_behind_mark`, for scru64 and ulidflake."""
    for id_type in SERVER_WIDE:
        assert_behind_mark(server, id_type, seconds, dbname)


def can_generate(server: Server, id_type, dbname: str = "postgres") -> bool:
    """Returns whether the server generates an ID; false if its clock is too far behind the mark."""
    try:
        draw(server, id_type, 1, dbname)
    except psycopg.errors.ObjectNotInPrerequisiteState as refusal:
        assert refusal.diag.message_primary == BEHIND_MARK.format(id_type)
        return False
    return True


SEQUENCES = {"draws": "scru_internal.draws", "horizons": "scru_internal.horizons"}
"""The sequences of a database, by their marks."""


def set_back(server: Server, time: str = "clock_timestamp()", dbname: str = "postgres") -> None:
    """Sets the marks back to a time."""
    with server.connect(dbname) as connection:
        connection.execute(f"SELECT scru_set_mark({time})")


def carried(server: Server, mark: str = "draws", dbname: str = "postgres") -> int:
    """Returns the time that a database carries, in microseconds since 1970."""
    return server.value(f"SELECT last_value FROM {SEQUENCES[mark]}", dbname)


def assert_covered(server: Server, ids: dict, dbname: str = "postgres") -> None:
    """Asserts that the mark which the database carries is not before the end of the tick of any of its IDs."""
    mark = carried(server, "draws", dbname)
    for id_type, drawn in ids.items():
        assert 1000 * (id_type.unix_milliseconds(id_type.value(max(drawn))) + id_type.tick) <= mark


def page(server: Server) -> dict[str, int]:
    """Returns the times of the marks in the page on the disk, in microseconds since 1970; 0 if there is none.

    Writes the page first if the server runs.
    """
    if server.process and not server.value("SELECT pg_is_in_recovery()"):
        with server.connect() as connection:
            connection.execute("CHECKPOINT")
    content = (server.data / "global/8672").read_bytes()[24:56]
    magic, version, *times, checksum, zeros = struct.unpack("<4sIqqII", content)
    assert (magic, version, checksum, zeros) == (b"scru", 2, crc32(content[:24]), 0)
    return dict(zip(SEQUENCES, times, strict=True))


class Times:
    """The clocks of a server and of its successor. The last IDs of the server have the time `last`."""

    def __init__(self) -> None:
        self.before, self.after = Clock(), Clock()
        self.last = 0

    def stop(self, server: Server) -> None:
        """Stops the clock of the server, after its first IDs, which wait for the clock.

        A millisecond of ulidflake starts at a random place. One that starts near its end is left for the next second.
        """
        draw_all(server, 1)
        self.last = int(time.time()) + 2
        place = END_OF_MILLISECOND
        while place > 0.9 * END_OF_MILLISECOND:
            self.last += 1
            self.before.freeze(self.last)
            [first] = draw(server, ULIDFLAKE, 1)
            place = ULIDFLAKE.value(first) % END_OF_MILLISECOND

    def differ(self, seconds: float) -> None:
        """Stops the clock of the successor, at a difference to that of the server."""
        self.after.freeze(self.last + seconds)

    def run(self, seconds: float) -> None:
        """Lets the clock of the successor run, from a difference to the stopped clock of the server."""
        self.after.shift(self.last + seconds - time.time())

    def assert_takes_over(self, server: Server, before: dict, difference: float, dbname: str = "postgres") -> None:
        """Asserts that a successor generates IDs of the types in `before` that are greater than all earlier ones.

        It refuses if its clock is too far behind, and continues when the clock is right.
        """
        if difference < -10:
            for id_type in before:
                self.run(difference)
                assert_behind_mark(server, id_type, -difference, dbname)
            difference = 0
        self.run(difference)
        if difference < -8:
            for id_type in before:
                wait_until(lambda: can_generate(server, id_type, dbname), "the clock is near the mark")  # noqa: B023
        assert_later(before, insert(server, 5, before, dbname))

    def remove(self) -> None:
        """Removes the clocks."""
        self.before.remove()
        self.after.remove()
