"""The ID types as subclasses of str."""

from __future__ import annotations

import datetime as dt
import importlib
import re
import secrets
import threading
import uuid as uuid_
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing import Any

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema
    from typing_extensions import Self

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE32HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FROM_CROCKFORD = str.maketrans(_CROCKFORD + _CROCKFORD.lower(), _BASE32HEX * 2)
_PREFIX = re.compile(r"([a-z]([a-z_]{0,61}[a-z])?)?")
_less = str.__lt__
_UNIX_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


def _generator(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        message = f"No module named {module!r}: it comes with scru-postgres[generate]"
        raise ModuleNotFoundError(message, name=module) from None


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
    _tick: ClassVar[dt.timedelta] = dt.timedelta(milliseconds=1)
    _epoch: ClassVar[dt.datetime] = _UNIX_EPOCH
    _canonical: ClassVar[re.Pattern[str]]
    _largest_text: ClassVar[str]
    _pairs: ClassVar[list[str]]

    def __init_subclass__(cls, abstract: bool = False) -> None:
        super().__init_subclass__()
        if abstract:
            return
        cls._canonical = re.compile(f"[{cls._digits}]{{{cls.text_length}}}")
        cls._pairs = [first + second for first in cls._digits for second in cls._digits]
        cls._largest_text = cls._text(cls.largest)

    def __new__(cls, text: str) -> Self:
        """Returns the ID with this text. Raises ValueError if the text is invalid."""
        if type(text) is cls:
            return text
        if not isinstance(text, str):
            raise TypeError(cls._constructor(text))
        # Canonical texts sort like the IDs, so that neither check needs the integer value.
        if cls._canonical.fullmatch(text) and text <= cls._largest_text:
            return str.__new__(cls, text)
        in_case = text.lower() if cls._digits[-1].islower() else text.upper()
        if text.isascii() and cls._canonical.fullmatch(in_case) and in_case <= cls._largest_text:
            return str.__new__(cls, in_case)
        return cls.from_int(cls._parse(text))

    @classmethod
    def _constructor(cls, value: object) -> str:
        other = {int: "from_int", bytes: "from_bytes", bytearray: "from_bytes", uuid_.UUID: "from_uuid"}.get(
            type(value)
        )
        hint = f": use {cls.__name__}.{other}()" if hasattr(cls, other or "_") else ""
        return f"{cls.__name__}() takes text, not {type(value).__name__}{hint}"

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
    def timestamp(self) -> dt.datetime:
        """The time of creation, in UTC. Raises OverflowError if it is after the year 9999."""
        return self._epoch + self._tick * (int(self) >> self._body_bits)

    @classmethod
    def lower_bound(cls, time: dt.datetime) -> Self:
        """Returns the first ID of the tick that contains a time, as T_lower of the server does.

        A time out of range counts as in the nearest tick. Raises ValueError if the time has no time zone.
        """
        return cls.from_int(cls._ticks(time) << cls._body_bits)

    @classmethod
    def upper_bound(cls, time: dt.datetime) -> Self:
        """Returns the last ID of the tick that contains a time, as T_upper of the server does.

        A time out of range counts as in the nearest tick. Raises ValueError if the time has no time zone.
        """
        return cls.from_int(min((cls._ticks(time) + 1 << cls._body_bits) - 1, cls.largest))

    @classmethod
    def _ticks(cls, time: dt.datetime) -> int:
        if time.tzinfo is None:
            raise ValueError(f"a time for {cls.__name__} needs a time zone")
        return min(max((time - cls._epoch) // cls._tick, 0), cls.largest >> cls._body_bits)

    def prefixed(self, prefix: str) -> str:
        """Returns the text of the ID with a prefix, such as ``order_``, as T_prefixed of the server does."""
        _check_prefix(prefix)
        return f"{prefix}_{self}" if prefix else str(self)

    @classmethod
    def unprefixed(cls, prefix: str, text: str) -> Self:
        """Returns the ID of a text with this prefix. Raises ValueError for another prefix."""
        _check_prefix(prefix)
        received, separator, id_text = text.rpartition("_")
        if received != prefix or bool(separator) != bool(prefix):
            message = f'expected the prefix "{prefix}", but received "{received}"'
            raise ValueError(f'invalid input syntax for type {cls.pg_type}: "{text}": {message}')
        return cls(id_text)

    def _check_order(self, other: object) -> None:
        if isinstance(other, SortableId) and other.pg_type != self.pg_type:
            raise TypeError(f"{type(self).__name__} and {type(other).__name__} have no common order")

    # A sort calls __lt__ for each comparison: it tests the usual case, two IDs of a class, without a call.
    def __lt__(self, other: str) -> bool:
        if other.__class__ is not self.__class__:
            self._check_order(other)
        return _less(self, other)

    def __le__(self, other: str) -> bool:
        self._check_order(other)
        return str.__le__(self, other)

    def __gt__(self, other: str) -> bool:
        self._check_order(other)
        return str.__gt__(self, other)

    def __ge__(self, other: str) -> bool:
        self._check_order(other)
        return str.__ge__(self, other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validates text as an ID in models of Pydantic."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Returns the schema of a string with the pattern, the length and an example of an ID."""
        digits = "".join(sorted({*cls._digits.lower(), *cls._digits.upper()}))
        return {
            **handler(schema),
            "pattern": f"^[{digits}]{{{cls.text_length}}}$",
            "minLength": cls.text_length,
            "maxLength": cls.text_length,
            "examples": [cls._text(cls.largest // 3)],
        }


def _check_prefix(prefix: str) -> None:
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f'invalid prefix "{prefix}": at most 63 lower-case ASCII letters and inner underscores')


class _SameBytesAsUuid(SortableId, abstract=True):
    """An ID of 16 bytes, 80 bits of which are below the timestamp."""

    __slots__ = ()
    size = 16
    largest = 2**128 - 1
    _body_bits = 80

    @classmethod
    def from_uuid(cls, uuid: uuid_.UUID) -> Self:
        """Returns the ID with the bytes of a UUID."""
        return cls.from_bytes(uuid.bytes)

    @property
    def uuid(self) -> uuid_.UUID:
        """The UUID with the same bytes. Most are not valid by RFC 9562."""
        return uuid_.UUID(bytes=bytes(self))


class Scru128(_SameBytesAsUuid):
    """A scru128: 16 bytes, 25 Base36 digits."""

    __slots__ = ()
    pg_type = "scru128"
    text_length = 25
    _digits = _BASE36

    @classmethod
    def new(cls) -> Self:
        """Returns a new ID, greater than the last one of this process. Requires the package scru128."""
        return cls(str(_generator("scru128").new()))


class Ulid(_SameBytesAsUuid):
    """A ulid: 16 bytes, 26 Crockford Base32 digits."""

    __slots__ = ()
    pg_type = "ulid"
    text_length = 26
    _digits = _CROCKFORD

    @classmethod
    def new(cls) -> Self:
        """Returns a new ID. Those of one millisecond are in random order. Requires the package python-ulid."""
        return cls(str(_generator("ulid").ULID()))

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
    _lock = threading.Lock()
    _last: ClassVar[int] = -1

    @classmethod
    def new(cls) -> Self:
        """Returns a new ID, greater than the last one of this process unless the clock is set back by over 10 s."""
        with cls._lock:
            now = (dt.datetime.now(dt.timezone.utc) - _UNIX_EPOCH) // cls._tick
            # The counter of a millisecond that is exhausted continues in the next one.
            continues = now <= cls._last >> 16 <= now + 10_000
            head = cls._last + 1 if continues else now << 16 | secrets.randbits(15)
            Scru160._last = head
        return cls.from_int(head << 96 | secrets.randbits(96))

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
    _tick = dt.timedelta(milliseconds=256)


class Ulidflake(SortableId):
    """A ulidflake: 8 bytes, 13 Crockford Base32 digits."""

    __slots__ = ()
    pg_type = "ulidflake"
    size = 8
    text_length = 13
    largest = 2**63 - 1
    _digits = _CROCKFORD
    _body_bits = 20
    _epoch = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)

    @classmethod
    def _value(cls, text: str) -> int:
        return int(text.translate(_FROM_CROCKFORD), 32)


TYPES: tuple[type[SortableId], ...] = (Scru128, Ulid, Scru160, Scru64, Ulidflake)
"""All types of the extension."""
