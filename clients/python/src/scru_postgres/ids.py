"""The ID types as subclasses of str."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import Any

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema
    from typing_extensions import Self

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE32HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FROM_CROCKFORD = str.maketrans(_CROCKFORD + _CROCKFORD.lower(), _BASE32HEX * 2)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class SortableId(str):
    """The canonical text of an ID. The order of the texts is the order of the IDs on the server.

    ``Scru128(text)`` is case-insensitive. It raises ValueError if the text is invalid. ``bytes(id)`` returns the
    big-endian bytes that the server stores, and ``int(id)`` returns their integer value.
    """

    __slots__ = ()

    pg_type: ClassVar[str]
    """The name of the PostgreSQL type."""
    size: ClassVar[int]
    """The number of bytes."""
    text_length: ClassVar[int]
    """The number of characters of the text."""
    largest: ClassVar[int]
    """The largest integer value."""
    _digits: ClassVar[str]
    _body_bits: ClassVar[int]
    _tick: ClassVar[timedelta] = timedelta(milliseconds=1)
    _epoch: ClassVar[datetime] = _UNIX_EPOCH
    _canonical: ClassVar[re.Pattern[str]]
    _largest_text: ClassVar[str]
    _pairs: ClassVar[list[str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._canonical = re.compile(f"[{cls._digits}]{{{cls.text_length}}}")
        cls._pairs = [first + second for first in cls._digits for second in cls._digits]
        cls._largest_text = cls._text(cls.largest)

    def __new__(cls, text: str) -> Self:
        """Returns the ID with this text. Raises ValueError if the text is invalid."""
        if type(text) is cls:
            return text
        # Canonical texts sort like the IDs, so that neither check needs the integer value.
        if cls._canonical.fullmatch(text) and text <= cls._largest_text:
            return str.__new__(cls, text)
        in_case = text.lower() if cls._digits[-1].islower() else text.upper()
        if text.isascii() and cls._canonical.fullmatch(in_case) and in_case <= cls._largest_text:
            return str.__new__(cls, in_case)
        return cls.from_int(cls._parse(text))

    @classmethod
    def from_int(cls, value: int) -> Self:
        """Returns the ID with this integer value. Raises ValueError if the value is out of range."""
        if not 0 <= value <= cls.largest:
            raise ValueError(f"value is out of range for type {cls.pg_type}: {value}")
        return str.__new__(cls, cls._text(value))

    @classmethod
    def _text(cls, value: int) -> str:
        pairs = []
        base = len(cls._pairs)
        for _ in range((cls.text_length + 1) // 2):
            value, pair = divmod(value, base)
            pairs.append(cls._pairs[pair])
        return "".join(reversed(pairs))[-cls.text_length :]

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """Returns the ID with these big-endian bytes. Raises ValueError if the bytes are invalid."""
        if len(data) != cls.size:
            raise ValueError(f"expected {cls.size} bytes for type {cls.pg_type}, but got {len(data)}")
        return cls.from_int(int.from_bytes(data, "big"))

    @classmethod
    def _parse(cls, text: str) -> int:
        if not re.fullmatch(rf"(?i:[{cls._digits}]{{{cls.text_length}}})", text, re.ASCII):
            raise ValueError(f'invalid input syntax for type {cls.pg_type}: "{text}"')
        value = cls._value(text)
        if value > cls.largest:
            raise ValueError(f'value "{text}" is out of range for type {cls.pg_type}')
        return value

    @classmethod
    def _value(cls, text: str) -> int:
        return int(text, len(cls._digits))

    def __int__(self) -> int:
        """Returns the integer value."""
        return self._value(self)

    def __bytes__(self) -> bytes:
        """Returns the big-endian bytes."""
        return int(self).to_bytes(self.size, "big")

    @property
    def timestamp(self) -> datetime:
        """The time of creation, in UTC. Raises OverflowError if it is after the year 9999."""
        return self._epoch + self._tick * (int(self) >> self._body_bits)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validates text as an ID in models of Pydantic. The JSON schema is that of a string."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())


class Scru128(SortableId):
    """A scru128: 16 bytes, 25 Base36 digits."""

    __slots__ = ()
    pg_type = "scru128"
    size = 16
    text_length = 25
    largest = 2**128 - 1
    _digits = _BASE36
    _body_bits = 80

    @classmethod
    def new(cls) -> Self:
        """Returns a new ID, greater than the last one of this process. Requires the package scru128."""
        import scru128

        return cls(str(scru128.new()))


class Ulid(SortableId):
    """A ulid: 16 bytes, 26 Crockford Base32 digits."""

    __slots__ = ()
    pg_type = "ulid"
    size = 16
    text_length = 26
    largest = 2**128 - 1
    _digits = _CROCKFORD
    _body_bits = 80

    @classmethod
    def new(cls) -> Self:
        """Returns a new ID. Those of one millisecond are in random order. Requires the package python-ulid."""
        import ulid

        return cls(str(ulid.ULID()))

    @classmethod
    def _value(cls, text: str) -> int:
        return int(text.translate(_FROM_CROCKFORD), 32)


class Scru160(SortableId):
    """A scru160: 20 bytes, 32 base32hex digits. Input can also be 40 hexadecimal digits."""

    __slots__ = ()
    pg_type = "scru160"
    size = 20
    text_length = 32
    largest = 2**160 - 1
    _digits = _BASE32HEX
    _body_bits = 112

    @classmethod
    def _parse(cls, text: str) -> int:
        if re.fullmatch(r"[0-9a-fA-F]{40}", text, re.ASCII):
            return int(text, 16)
        return super()._parse(text)


class Scru64(SortableId):
    """A scru64: 8 bytes, 12 Base36 digits."""

    __slots__ = ()
    pg_type = "scru64"
    size = 8
    text_length = 12
    largest = 36**12 - 1
    _digits = _BASE36
    _body_bits = 24
    _tick = timedelta(milliseconds=256)


class Ulidflake(SortableId):
    """A ulidflake: 8 bytes, 13 Crockford Base32 digits."""

    __slots__ = ()
    pg_type = "ulidflake"
    size = 8
    text_length = 13
    largest = 2**63 - 1
    _digits = _CROCKFORD
    _body_bits = 20
    _epoch = datetime(2024, 1, 1, tzinfo=timezone.utc)

    @classmethod
    def _value(cls, text: str) -> int:
        return int(text.translate(_FROM_CROCKFORD), 32)


TYPES: tuple[type[SortableId], ...] = (Scru128, Ulid, Scru160, Scru64, Ulidflake)
"""All types of the extension."""
