"""What is compared: the extension's types, and the keys that a user would pick otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

NOON, ONE_O_CLOCK = "'2026-01-15 12:00+00'", "'2026-01-15 13:00+00'"
BETWEEN = f"created_at >= {NOON} AND created_at < {ONE_O_CLOCK}"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A key, and the schema that holds its tables."""

    key: str
    """The name in the JSON, and of the schema."""
    label: str
    type: str
    generate: str
    """The SQL of a new value."""
    at: str = ""
    """The SQL of the value of event number n at the time t."""
    created_at: bool = False
    """Whether a created_at column with an index tells the time."""
    options: str = ""
    """The connection options of its sessions."""

    @property
    def columns(self) -> str:
        """The columns of a table that makes its own keys."""
        default = "GENERATED ALWAYS AS IDENTITY" if self.type == "bigint" else f"DEFAULT {self.generate}"
        return f"id {self.type} {default} PRIMARY KEY{self.time_column}"

    @property
    def time_column(self) -> str:
        """The definition of created_at, if it has one."""
        return ", created_at timestamptz NOT NULL DEFAULT clock_timestamp()" if self.created_at else ""

    def sql(self) -> dict[str, str]:
        """What statements are filled in with."""
        names = ("key", "type", "generate", "at", "columns", "time_column")
        return {name: getattr(self, name) for name in names} | {
            "time": "created_at" if self.created_at else "id",
            "within_hour": BETWEEN if self.created_at else f"id <@ tstzrange({NOON}, {ONE_O_CLOCK})",
            "at_created": ", t" if self.created_at else "",
            "created_at_index": "CREATE INDEX ON events (created_at)" if self.created_at else "",
        }


def ours(name: str) -> Candidate:
    """One of the extension's types."""
    at = f"({name}_lower(t)::bigint + n % 65536)::{name}" if name in EIGHT_BYTES else f"gen_{name}(t)"
    return Candidate(key=name, label=name, type=name, generate=f"gen_{name}()", at=at)


def with_created_at(candidate: Candidate) -> Candidate:
    """The same key beside a created_at column with an index, which the ID replaces."""
    return replace(candidate, key=f"{candidate.key}_at", label=f"{candidate.label} + created_at", created_at=True)


def again(candidate: Candidate) -> Candidate:
    """The control: the same again, whose ratio states the noise."""
    return replace(candidate, key=f"{candidate.key}_control", label="control")


EIGHT_BYTES = ("scru64", "ulidflake")
UUID = Candidate(key="uuid", label="uuid v4", type="uuid", generate="gen_random_uuid()", at="gen_random_uuid()")
UUIDV7 = Candidate(key="uuidv7", label="uuid v7", type="uuid", generate="uuidv7()", at="uuidv7_at(t)")
BIGINT = Candidate(key="bigint", label="bigint", type="bigint", generate="nextval('public.numbers')", at="n")
TEXT = Candidate(key="text", label="ULID in text", type="text", generate="gen_ulid()::text", at="gen_ulid(t)::text")
IN_UUID = Candidate(
    key="in_uuid", label="ULID in uuid", type="uuid", generate="gen_ulid()::uuid", at="gen_ulid(t)::uuid"
)
SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE = map(ours, ("scru128", "ulid", "scru160", "scru64", "ulidflake"))
UUID_AT, UUIDV7_AT, BIGINT_AT, TEXT_AT = map(with_created_at, (UUID, UUIDV7, BIGINT, TEXT))
SERVER_SCOPE = replace(
    SCRU128, key="server_scope", label="scru128, server-wide", options="-c scru.generator_scope=server"
)
NOTHING = Candidate(key="nothing", label="no-op", type="int", generate="pg_backend_pid()")

# Who takes part where.
SIXTEEN = [UUID, again(UUID), UUIDV7, IN_UUID, TEXT, SCRU128, ULID, SCRU160]
TYPES = [*SIXTEEN, BIGINT, SCRU64, ULIDFLAKE]
EVENTS = [BIGINT_AT, again(BIGINT_AT), BIGINT, UUID_AT, UUID, UUIDV7_AT, UUIDV7, TEXT_AT, TEXT]
EVENTS += [SCRU128, ULID, SCRU160, SCRU64, ULIDFLAKE]
SCALE = [BIGINT_AT, again(BIGINT_AT), UUID_AT, UUIDV7_AT, SCRU128, SCRU64]
LONG = [BIGINT_AT, UUID_AT, UUIDV7_AT, SCRU128]
GROWTH = [UUID, UUIDV7, BIGINT, again(BIGINT), SCRU128, SCRU64]
CLIENTS = [BIGINT, again(BIGINT), UUID, UUIDV7, SCRU128, SCRU64]
DRAWS = [NOTHING, BIGINT, again(BIGINT), SCRU128, SERVER_SCOPE, SCRU64, ULIDFLAKE]

# The server's types come first.
SERVERS = ("uuid", "bigint", "text", "int")
LABELS = {c.key: c.label for c in sorted([*EVENTS, *TYPES, *DRAWS], key=lambda c: c.type not in SERVERS)}


def rotated(candidates: list[Candidate], turn: int) -> list[Candidate]:
    """The candidates in the order of a turn: another one comes first, and every second turn runs backwards."""
    order = candidates[:: -1 if turn % 2 else 1]
    shift = turn // 2 % len(order)
    return order[shift:] + order[:shift]
