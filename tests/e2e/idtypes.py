"""The ID types, as the tests know them: what all of them have in common is tested on each line of TYPES.

Text and bytes are computed here from the specifications alone, so that the tests don't ask the extension what is right.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BASE32HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"


@dataclass(frozen=True, kw_only=True)
class IdType:
    """One ID type: an unsigned integer, stored as big-endian bytes and written in digits of one base."""

    name: str
    length: int
    """Bytes, in a table and on the wire."""
    digits: str
    """The digits of the canonical text, in ascending order."""
    text_length: int
    largest: int
    body_bits: int
    """Bits below the timestamp."""
    tick: int = 1
    """Milliseconds that have one timestamp."""
    epoch: int = 0
    """The start of the first tick, in milliseconds since 1970."""
    random_bits: int = 0
    """Of the body, the last bits that are random in a session's first ID. 0 where all sessions draw from one state."""
    yardstick: str | None = None
    """The server's own type that costs as much."""
    random_yardstick: str | None = None
    """The SQL of a random value of that type, which can be cast to this one."""
    free_casts: tuple[str, ...] = ()
    """Types to which a column can be changed, and back, without a rewrite of the table."""

    def __str__(self) -> str:
        return self.name

    @property
    def generator(self) -> str:
        """The SQL that generates an ID."""
        return f"gen_{self.name}()"

    @property
    def is_server_wide(self) -> bool:
        """Whether all sessions of a server draw from one state."""
        return self.random_bits == 0

    def text(self, value: int) -> str:
        """The canonical text of a value."""
        text = ""
        for _ in range(self.text_length):
            value, digit = divmod(value, len(self.digits))
            text = self.digits[digit] + text
        return text

    def value(self, text: str) -> int:
        """The value of a canonical text."""
        value = 0
        for digit in text:
            value = value * len(self.digits) + self.digits.index(digit)
        return value

    def binary(self, value: int) -> bytes:
        """The bytes of a value."""
        return value.to_bytes(self.length, "big")

    def unix_milliseconds(self, value: int) -> int:
        """The time of a value, in milliseconds since 1970."""
        return self.epoch + (value >> self.body_bits) * self.tick

    def texts_above_the_largest(self) -> list[str]:
        """The ends of what the digits can write and the type cannot hold."""
        end = len(self.digits) ** self.text_length
        return [self.text(value) for value in (self.largest + 1, end - 1) if self.largest < value < end]

    def bytes_above_the_largest(self) -> list[bytes]:
        """The ends of what the bytes can hold and is no ID."""
        end = 256**self.length
        return [self.binary(value) for value in (self.largest + 1, end - 1) if self.largest < value < end]

    def samples(self, count: int, seed: int = 1) -> list[int]:
        """Values all over the range, with its ends: every magnitude, and many that differ only in their last bits."""
        source = random.Random(seed)
        values = [0, 1, self.largest - 1, self.largest]
        while len(values) < count:
            value = source.randrange(self.largest + 1) >> source.randrange(8 * self.length)
            neighbours = [value ^ 1, value ^ source.randrange(1 << 16)] if source.random() < 0.3 else []
            values += [v for v in (value, *neighbours) if v <= self.largest]
        source.shuffle(values)
        return values[:count]


SCRU128 = IdType(
    name="scru128",
    length=16,
    digits=BASE36,
    text_length=25,
    largest=2**128 - 1,
    body_bits=80,
    random_bits=80,
    yardstick="uuid",
    random_yardstick="gen_random_uuid()",
    free_casts=("uuid", "ulid"),
)
ULID = IdType(
    name="ulid",
    length=16,
    digits=CROCKFORD,
    text_length=26,
    largest=2**128 - 1,
    body_bits=80,
    random_bits=80,
    yardstick="uuid",
    random_yardstick="gen_random_uuid()",
    free_casts=("uuid", "scru128"),
)
SCRU160 = IdType(
    name="scru160",
    length=20,
    digits=BASE32HEX,
    text_length=32,
    largest=2**160 - 1,
    body_bits=112,
    random_bits=111,  # the counter begins in its lower half
)
SCRU64 = IdType(
    name="scru64",
    length=8,
    digits=BASE36,
    text_length=12,
    largest=36**12 - 1,
    body_bits=24,
    tick=256,
    yardstick="bigint",
    random_yardstick="(random() * 4.7e18)::bigint",
)
ULIDFLAKE = IdType(
    name="ulidflake",
    length=8,
    digits=CROCKFORD,
    text_length=13,
    largest=2**63 - 1,
    body_bits=20,
    epoch=1_704_067_200_000,
    yardstick="bigint",
    random_yardstick="(random() * 9.2e18)::bigint",
)

TYPES = [SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE]
SERVER_WIDE = [id_type for id_type in TYPES if id_type.is_server_wide]


def of_types(types: list[IdType]):
    """Marks a test of one type that is run for each of these."""
    return pytest.mark.parametrize("id_type", types, ids=str)


each_type = of_types(TYPES)
each_server_wide_type = of_types(SERVER_WIDE)
