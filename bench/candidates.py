"""What is compared: the five types, the server's own types that are their yardsticks, and the same IDs as text."""

from __future__ import annotations

from dataclasses import dataclass

# A time within one year, evenly spread.
SOME_TIME = "timestamptz '2025-01-01' + random() * interval '365 days'"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A column type together with the expression that fills it."""

    key: str
    """The name in the JSON, and of the schema that holds the tables."""
    generate: str
    """The SQL of a new ID."""
    type: str = ""
    """The type of the column. Those without one are measured as generators alone."""
    spread: str = ""
    """The SQL of an ID whose time is anywhere in a year; for the server's own types, of a random value."""
    text_of: str | None = None
    """The candidate whose IDs this one holds as text."""
    as_yardstick: str | None = None
    """The SQL that makes `id` a value of the yardstick with the same bytes."""
    since: int = 15
    """The first major version of the server that has it."""

    @property
    def label(self) -> str:
        """The name in tables and charts."""
        return LABELS.get(self.key, self.key)


LABELS = {
    "noop": "no-op function",
    "least8": "the least in 8 bytes",
    "least16": "the least in 16 bytes",
    "clock": "clock_timestamp()",
    "uuidv7": "uuid, version 7",
    "text_scru128": "scru128 as text",
    "text_scru64": "scru64 as text",
}

SIXTEEN_BYTES = ["scru128", "ulid", "scru160"]  # or 20: scru160 stands with them
EIGHT_BYTES = ["scru64", "ulidflake"]
TYPES = SIXTEEN_BYTES + EIGHT_BYTES

# A fifth of a scru160's bytes is more than its yardstick has.
FIRST_SIXTEEN = "encode(substr(id::bytea, 1, 16), 'hex')::uuid"

CANDIDATES = [
    # The floor: a function of the server's in C that returns a number it has at hand.
    Candidate(key="noop", generate="public.noop()"),
    # What no ID can do without, in C: the clock and a word that all share, or the clock and 16 new bytes.
    Candidate(key="least8", generate="public.least8()"),
    Candidate(key="least16", generate="public.least16()"),
    Candidate(key="clock", generate="clock_timestamp()"),
    Candidate(key="uuid", type="uuid", generate="gen_random_uuid()", spread="gen_random_uuid()"),
    Candidate(
        key="uuidv7", type="uuid", generate="uuidv7()", spread="uuidv7(random() * interval '-365 days')", since=18
    ),
    *(
        Candidate(key=key, type=key, generate=f"gen_{key}()", spread=f"gen_{key}({SOME_TIME})", as_yardstick=as_uuid)
        for key, as_uuid in {"scru128": "id::uuid", "ulid": "id::uuid", "scru160": FIRST_SIXTEEN}.items()
    ),
    Candidate(key="bigint", type="bigint", generate="nextval('numbers')", spread="(random() * 9.2e18)::bigint"),
    *(
        Candidate(
            key=key, type=key, generate=f"gen_{key}()", spread=f"{key}_lower({SOME_TIME})", as_yardstick="id::bigint"
        )
        for key in EIGHT_BYTES
    ),
    # One of each size: the texts of the other types are at the most seven digits longer.
    *(
        Candidate(key=f"text_{key}", type="text", generate=f"gen_{key}()::text", spread="id::text", text_of=key)
        for key in ("scru128", "scru64")
    ),
]


def candidates_of(major: int) -> list[Candidate]:
    """Those that a server of this major version has."""
    return [candidate for candidate in CANDIDATES if candidate.since <= major]


def type_of_text(key: str) -> str | None:
    """The candidate whose IDs this one holds as text."""
    return next((candidate.text_of for candidate in CANDIDATES if candidate.key == key), None)


def yardstick(key: str) -> str | None:
    """The candidate that a type, or its text, is measured by."""
    key = type_of_text(key) or key
    return "uuid" if key in SIXTEEN_BYTES else "bigint" if key in EIGHT_BYTES else None
