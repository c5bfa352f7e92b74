"""The ID types, for tests that are parametrized by type.

Text and bytes are computed from the facts of the specifications in tests/vectors, independently of the extension.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[2] / "vectors"


@dataclass(frozen=True, kw_only=True)
class IdType:
    """An ID type: an unsigned integer, stored as big-endian bytes and written in the digits of one base."""

    name: str
    length: int
    """The number of bytes, in a table and on the wire."""
    digits: str
    """The digits of the canonical text, in ascending order."""
    text_length: int
    largest: int
    body_bits: int
    """The number of bits below the timestamp."""
    tick: int
    """The unit of the timestamp, in milliseconds."""
    epoch: int
    """The start of the first tick, in milliseconds since 1970."""
    random_bits: int
    """The number of low bits that are random in a session's first ID. 0 if all sessions share one generator state."""

    def __str__(self) -> str:
        return self.name

    @property
    def generator(self) -> str:
        """The SQL expression that generates an ID."""
        return f"gen_{self.name}()"

    @property
    def baseline(self) -> str | None:
        """The baseline for costs: the server's own type of the same length; `None` if there is none."""
        return {8: "bigint", 16: "uuid"}.get(self.length)

    @property
    def is_server_wide(self) -> bool:
        """Whether all sessions of a server share one generator state."""
        return self.random_bits == 0

    def text(self, value: int) -> str:
        """Returns the canonical text of a value."""
        text = ""
        for _ in range(self.text_length):
            value, digit = divmod(value, len(self.digits))
            text = self.digits[digit] + text
        return text

    def value(self, text: str) -> int:
        """Returns the value of a canonical text."""
        value = 0
        for digit in text:
            value = value * len(self.digits) + self.digits.index(digit)
        return value

    def binary(self, value: int) -> bytes:
        """Returns the bytes of a value."""
        return value.to_bytes(self.length, "big")

    def unix_milliseconds(self, value: int) -> int:
        """Returns the time of a value, in milliseconds since 1970."""
        return self.epoch + (value >> self.body_bits) * self.tick

    def texts_above_the_largest(self) -> list[str]:
        """Returns the lowest and highest texts of valid digits above the largest ID, if there are any."""
        end = len(self.digits) ** self.text_length
        return [self.text(value) for value in (self.largest + 1, end - 1) if self.largest < value < end]

    def bytes_above_the_largest(self) -> list[bytes]:
        """Returns the lowest and highest bytes above the largest ID, if there are any."""
        end = 256**self.length
        return [self.binary(value) for value in (self.largest + 1, end - 1) if self.largest < value < end]

    def samples(self, count: int, seed: int = 1) -> list[int]:
        """Returns values of every magnitude, both ends of the range, and many that differ only in their last bits."""
        source = random.Random(seed)
        values = [0, 1, self.largest - 1, self.largest]
        while len(values) < count:
            value = source.randrange(self.largest + 1) >> source.randrange(8 * self.length)
            neighbors = [value ^ 1, value ^ source.randrange(1 << 16)] if source.random() < 0.3 else []
            values += [v for v in (value, *neighbors) if v <= self.largest]
        source.shuffle(values)
        return values[:count]


def of_vectors(path: Path) -> IdType:
    """Reads an ID type from its file of test vectors."""
    vectors = json.loads(path.read_text())
    facts = vectors["facts"]
    return IdType(
        name=vectors["type"],
        length=facts["bytes"],
        digits=facts["digits"],
        text_length=facts["text_length"],
        largest=int(facts["largest"], 16),
        body_bits=facts["bits_below_the_timestamp"],
        tick=facts["tick_ms"],
        epoch=facts["epoch_ms"],
        random_bits=facts["random_bits"],
    )


TYPES = [of_vectors(path) for path in sorted(VECTORS.glob("*.json"))]
BY_NAME = {id_type.name: id_type for id_type in TYPES}
SCRU128, ULID, SCRU160 = (BY_NAME[name] for name in ("scru128", "ulid", "scru160"))
SCRU64, ULIDFLAKE = (BY_NAME[name] for name in ("scru64", "ulidflake"))
SERVER_WIDE = [id_type for id_type in TYPES if id_type.is_server_wide]


def of_types(types: list[IdType]):
    """Returns a mark that runs a test for each of these types."""
    return pytest.mark.parametrize("id_type", types, ids=str)


each_type = of_types(TYPES)
# For what does not depend on the type: one passed by value, one by reference, and any that is being added. The
# regression tests run all types.
each_form = of_types([id_type for id_type in TYPES if id_type not in (ULID, SCRU160, ULIDFLAKE)])
each_server_wide_type = of_types(SERVER_WIDE)
