"""The keys that are compared: the extension's types and their alternatives."""

from __future__ import annotations

from dataclasses import dataclass, replace

NOON, ONE_O_CLOCK = "'2026-01-15 12:00+00'", "'2026-01-15 13:00+00'"
BETWEEN = f"created_at >= {NOON} AND created_at < {ONE_O_CLOCK}"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A kind of key, whose tables are in a schema of their own."""

    key: str
    """The name in the JSON and the name of the schema."""
    label: str
    type: str
    generate: str
    """SQL expression for a new value."""
    at: str = ""
    """SQL expression for the key of event number n at time t, or what else is measured of the candidate."""
    created_at: bool = False
    """Whether the table has a created_at column with an index."""
    view: bool = False
    """Whether queries read a view, which has the time of the key as its created_at unless the table has one."""
    scope: str = "session"
    """The value of scru.generator_scope where several clients generate."""

    def sql(self) -> dict[str, str]:
        """Returns the values of the placeholders in statements."""
        default = "GENERATED ALWAYS AS IDENTITY" if self.type == "bigint" else f"DEFAULT {self.generate}"
        time_column = ", created_at timestamptz NOT NULL DEFAULT clock_timestamp()" if self.created_at else ""
        time = "" if self.created_at else ", id::timestamptz AS created_at"
        has_time = self.created_at or self.view
        return {name: getattr(self, name) for name in ("key", "type", "generate", "at", "scope")} | {
            "columns": f"id {self.type} {default} PRIMARY KEY{time_column}",
            "time_column": time_column,
            "with_time": f"CREATE VIEW with_time AS SELECT *{time} FROM events" if self.view else "",
            "events": "with_time" if self.view else "events",
            "time": "created_at" if has_time else "id",
            "within_hour": BETWEEN if has_time else f"id <@ tstzrange({NOON}, {ONE_O_CLOCK})",
            "at_created": ", t" if self.created_at else "",
            "created_at_index": "CREATE INDEX ON events (created_at)" if self.created_at else "",
        }


def ours(name: str) -> Candidate:
    """Returns the candidate for a type of the extension."""
    at = f"({name}_lower(t)::bigint + n % 65536)::{name}" if name in EIGHT_BYTES else f"gen_{name}(t)"
    return Candidate(key=name, label=name, type=name, generate=f"gen_{name}()", at=at)


def with_created_at(candidate: Candidate) -> Candidate:
    """Returns the candidate with an added created_at column and its index."""
    return replace(candidate, key=f"{candidate.key}_at", label=f"{candidate.label} + created_at", created_at=True)


def again(candidate: Candidate) -> Candidate:
    """Returns a second measurement of the candidate, whose ratio to the first one is noise."""
    return replace(candidate, key=f"{candidate.key}_control", label="baseline again")


def by_view(candidate: Candidate) -> Candidate:
    """Returns the candidate with a view that queries read."""
    return replace(candidate, key=f"{candidate.key}_view", label=f"{candidate.label}, by a view", view=True)


EIGHT_BYTES = ("scru64", "ulidflake")
UUID = Candidate(key="uuid", label="uuid v4", type="uuid", generate="gen_random_uuid()", at="gen_random_uuid()")
UUIDV7 = Candidate(key="uuidv7", label="uuid v7", type="uuid", generate="uuidv7()", at="gen_uuidv7(t)")
GEN_UUIDV7 = replace(UUIDV7, key="gen_uuidv7", label="uuid v7, gen_uuidv7()", generate="gen_uuidv7()")
BIGINT = Candidate(key="bigint", label="bigint", type="bigint", generate="nextval('public.numbers')", at="n")
TEXT = Candidate(key="text", label="ULID in text", type="text", generate="gen_ulid()::text", at="gen_ulid(t)::text")
IN_UUID = Candidate(
    key="in_uuid", label="ULID bytes in a uuid column", type="uuid", generate="gen_ulid()::uuid", at="gen_ulid(t)::uuid"
)
SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE = map(ours, ("scru128", "ulid", "scru160", "scru64", "ulidflake"))
UUID_AT, UUIDV7_AT, BIGINT_AT, TEXT_AT, SCRU128_AT = map(with_created_at, (UUID, UUIDV7, BIGINT, TEXT, SCRU128))
SERVER_SCOPE = replace(SCRU128, key="server_scope", label="scru128, server-wide", scope="server")
NOTHING = Candidate(key="nothing", label="empty call (baseline)", type="int", generate="pg_backend_pid()")

# The types of encrypted IDs by the prefix of their functions, and expressions for an ID.
ENCRYPTED = {
    "scru128": ("scru128", "gen_scru128()"),
    "ulid": ("ulid", "gen_ulid()"),
    "uuidv7": ("uuid", "gen_uuidv7()"),
    "scru64": ("scru64", "(1e17::bigint + n)::scru64"),
    "ulidflake": ("ulidflake", "(1e17::bigint + n)::ulidflake"),
    "scru_bigint": ("bigint", "n::bigint"),
}


def encrypting(prefix: str, length: int = 16, decrypt: bool = False) -> Candidate:
    """Returns the encryption of a table of IDs, or the decryption, by a key of 16 or 32 bytes."""
    type, id = ENCRYPTED[prefix]
    key = f"'\\x{bytes(range(length)).hex()}'::bytea"
    function = f"{prefix}_{'decrypt' if decrypt else 'encrypt'}"
    generate = f"{prefix}_encrypt({id}, {key})" if decrypt else id
    label = f"{function}, {length} bytes"
    return Candidate(key=f"{function}_{length}", label=label, type=type, generate=generate, at=f"{function}(id, {key})")


IN_VIEW = replace(
    GEN_UUIDV7, key="of_view", label="uuidv7 in a view, 32 bytes", at="uuidv7_encrypt(id, (SELECT key FROM keys))"
)
BY_FUNCTION = replace(
    GEN_UUIDV7, key="of_function", label="uuidv7 by a function, 32 bytes", at="invoice_id(id)",
    generate="uuidv7_encrypt(gen_uuidv7(), (SELECT key FROM keys))",
)  # fmt: skip

# The candidates of each suite.
TYPES = [UUID, again(UUID), UUIDV7, GEN_UUIDV7, IN_UUID, TEXT, SCRU128, ULID, SCRU160, BIGINT, SCRU64, ULIDFLAKE]
EVENTS = [BIGINT_AT, again(BIGINT_AT), BIGINT, UUID_AT, UUID, UUIDV7_AT, UUIDV7, TEXT_AT, TEXT]
EVENTS += [SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE]
SCALE = [BIGINT_AT, again(BIGINT_AT), UUID_AT, UUIDV7_AT, SCRU128, SCRU64]
DRAWS = [NOTHING, BIGINT, again(BIGINT), SCRU128, SERVER_SCOPE, SCRU64, ULIDFLAKE]
INSERTS = [BIGINT, again(BIGINT), UUID, UUIDV7, SCRU128, SCRU64]
CREATED_AT = [SCRU128_AT, SCRU128, by_view(SCRU128)]
PLANNING = [SCRU128_AT, again(SCRU128_AT), by_view(SCRU128_AT), SCRU128, by_view(SCRU128)]
ENCRYPTION = [UUID, again(UUID), encrypting("scru128"), encrypting("scru128", 32), encrypting("ulid")]
ENCRYPTION += [encrypting("uuidv7"), encrypting("uuidv7", 32), encrypting("scru64"), encrypting("ulidflake")]
ENCRYPTION += [encrypting("scru_bigint"), encrypting("scru128", decrypt=True), encrypting("uuidv7", decrypt=True)]
ENCRYPTION += [IN_VIEW, BY_FUNCTION]

# Built-in types are listed first.
BUILT_IN = ("uuid", "bigint", "text", "int")
ALL = [*EVENTS, *TYPES, *CREATED_AT, *PLANNING, *ENCRYPTION, *DRAWS]
LABELS = {c.key: c.label for c in sorted(ALL, key=lambda c: c.type not in BUILT_IN)}


def available(candidates: list[Candidate], major: int) -> list[Candidate]:
    """Returns the candidates of a server: `uuidv7()` exists from 18 on."""
    return [candidate for candidate in candidates if major >= 18 or candidate.generate != "uuidv7()"]


def rotated(candidates: list[Candidate], turn: int) -> list[Candidate]:
    """Returns the candidates in the order of a turn: the first one changes, and every second turn is reversed."""
    order = candidates[:: -1 if turn % 2 else 1]
    shift = turn // 2 % len(order)
    return order[shift:] + order[:shift]
