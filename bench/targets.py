"""What is asked for: the types against which candidate in which workload, and at most which ratio."""

from __future__ import annotations

from dataclasses import dataclass

from bench.candidates import EIGHT_BYTES, SIXTEEN_BYTES, type_of_text, yardstick
from bench.workloads import SIZES

# What one run differs from another by chance; sizes don't.
NOISE = 0.03
# What one count of instructions differs from another.
COUNTING_NOISE = 0.01
# 20 bytes are compared with 16.
SCRU160 = 1.1
# A backend that grows by less than this while it makes a hundred million IDs has not kept any of them.
MEMORY_KB = 4096

# Targets that cannot be reached, by workload, what against (None: whatever) and type: the section of docs/performance.md that
# shows by measurement why.
CANNOT: dict[tuple[str, str | None, str], str] = {
    ("generate", None, "ulidflake"): "ulidflake-waits-for-the-clock",
    **{("generate", "noop", key): "the-least-that-an-id-takes" for key in SIXTEEN_BYTES},
    **{(size, None, "scru160"): "twenty-bytes" for size in SIZES},
}
# The section about times that may have missed a target by chance.
CHANCE = "where-chance-decides"


@dataclass(frozen=True, kw_only=True)
class Row:
    """The types against one candidate in one workload."""

    workload: str
    against: str | None = None
    """The candidate, or "least" for that of each size; none is the yardstick of each type."""
    sixteen: float | None = None
    """The greatest ratio for the types of 16 bytes; None if any is welcome."""
    eight: float | None = None
    since: int = 15

    def against_of(self, candidate: str) -> str | None:
        """What a type is measured by here: none if it is not measured."""
        if self.against == "least":
            return "least8" if candidate in EIGHT_BYTES else "least16"
        if self.against == "uuidv7" and candidate in EIGHT_BYTES:
            return None
        return self.against or yardstick(candidate)

    def limit_of(self, candidate: str) -> float | None:
        """The greatest ratio that is asked for."""
        if candidate in EIGHT_BYTES:
            return self.eight
        if self.sixteen is None or candidate != "scru160":
            return self.sixteen
        return round(self.sixteen * SCRU160, 4)

    def obstacle(self, candidate: str) -> str | None:
        """The section of docs/performance.md that shows why the target cannot be reached, if it cannot."""
        keys = (self.workload, self.against, candidate), (self.workload, None, candidate)
        return next((CANNOT[key] for key in keys if key in CANNOT), None)

    def holds(self, candidate: str, ratio: float) -> bool | None:
        """Whether a ratio is as asked for; None if nothing is."""
        limit = self.limit_of(candidate)
        if limit is None:
            return None
        return ratio == limit if self.workload in SIZES and candidate != "scru160" else ratio <= limit * (1 + NOISE)

    def holds_counted(self, candidate: str, counted: float) -> bool:
        """Whether a ratio of instructions is within the limit that is set for times."""
        limit = self.limit_of(candidate)
        return limit is not None and counted <= limit * (1 + COUNTING_NOISE)


TARGETS = [
    Row(workload="generate", against="noop", sixteen=1.25, eight=1.25),
    Row(workload="generate", against="least", sixteen=1.1, eight=1.0),
    Row(workload="generate", sixteen=0.25, eight=0.5),
    Row(workload="generate", against="uuidv7", sixteen=0.3, since=18),
    Row(workload="insert", sixteen=0.6, eight=1.0),
    Row(workload="insert", against="uuidv7", since=18),
    Row(workload="clients", against="bigint", sixteen=1.0, eight=1.0),
    Row(workload="index", sixteen=1.0, eight=1.0),
    Row(workload="index_spread", sixteen=1.0, eight=1.0),
    Row(workload="order", sixteen=1.0, eight=1.0),
    Row(workload="order_spread", sixteen=1.0, eight=1.0),
    Row(workload="merge_join", sixteen=1.0, eight=1.0),
    Row(workload="aggregate", sixteen=1.0, eight=1.0),
    Row(workload="hash_join", sixteen=1.0, eight=1.0),
    Row(workload="look_up", sixteen=1.0, eight=1.0),
    Row(workload="text_out", sixteen=1.0),
    Row(workload="text_in", sixteen=0.4),
    Row(workload="copy_out"),
    Row(workload="copy_in"),
    *(Row(workload=size, sixteen=1.0, eight=1.0) for size in SIZES),
    Row(workload="wal"),
]


def rows_of(major: int) -> list[Row]:
    """Those that a server of this major version has."""
    return [row for row in TARGETS if row.since <= major]


def compared_with(workload: str, candidate: str, major: int) -> list[str]:
    """The candidates that ratios are taken with in a workload."""
    against = (
        [row.against_of(candidate) for row in rows_of(major) if row.workload == workload] if is_type(candidate) else []
    )
    everywhere = [yardstick(candidate), type_of_text(candidate)]
    return list(dict.fromkeys(name for name in against + everywhere if name))


def is_type(candidate: str) -> bool:
    """Whether targets are set for it."""
    return candidate in SIXTEEN_BYTES + EIGHT_BYTES
