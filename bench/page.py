"""The page of a run under docs/bench, with everything that it has measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.results import Results
from bench.tables import absolute_table, calls_table, full_cell, memory_table, table, targets_table, text_table, where

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "bench"


def page(results: Results) -> str:
    """Everything that a run has measured, as one page."""
    return "".join(
        [
            f"# PostgreSQL {results.major}\n\nRendered from `pg{results.major}.json`. {where(results)}.\n",
            f"\n## Ratios\n\n{LEGEND}\n\n{targets_table(results, full_cell)}",
            *optional("Ratios of processor time", CPU_LEGEND, targets_table(results.processor_time, full_cell)),
            *optional("Ratios of instructions", INSTRUCTIONS_LEGEND, targets_table(results.instructions, full_cell)),
            *optional("The same IDs as text", "Ratios to the type itself.", text_table(results)),
            *optional("Milliseconds", MILLISECONDS_LEGEND, absolute_table(results, "ms")),
            *optional(
                "One call of a generator",
                "Nanoseconds above those of the no-op function, for rows without columns: the median of the rounds'"
                " differences.",
                calls_table(results),
            ),
            *optional("Instructions", "Executed for a row.", absolute_table(results.instructions, "instructions")),
            *optional("Bytes", "Of the IDs that each candidate made for itself.", absolute_table(results, "bytes")),
            *optional("Memory", MEMORY_LEGEND, memory_table(results)),
            *(f"\n![{what}](pg{results.major}-{name}.svg)\n" for name, what in CHARTS.items()),
            f"\n## Settings\n\n{table([['setting', 'value'], *map(list, results.data['server']['settings'].items())])}",
        ]
    )


LEGEND = """The median of the rounds' ratios, the least and the greatest of them. Types of 16 bytes (and scru160) are
measured by `uuid` with `gen_random_uuid()`, those of 8 by `bigint` with `nextval`, unless a row says otherwise.
scru160 may take 1.1 of the target. A miss of up to 3 % is noise, and `chance` a larger one, where the turns differ so much
that the median may well hold the target, and the instructions do ([why](../performance.md#where-chance-decides)). Sizes are
compared for the same values."""
CPU_LEGEND = """The same, by the time that the backend was on a processor. It leaves out what waits: for the clock,
for a lock, or for other work on the machine."""
INSTRUCTIONS_LEGEND = """The same, by the instructions that the server executes for a row, as valgrind counts them on 100,000
rows. They hardly differ between runs, but do not tell how long one of them takes."""
MILLISECONDS_LEGEND = """The median of the rounds, by the wall clock. Of how many rows, the
[workloads](../performance.md#the-workloads) tell."""
MEMORY_LEGEND = "The private memory of a backend, in kB, before and while one query makes so many IDs."
CHARTS = {
    "16-bytes": "Ratios to uuid",
    "8-bytes": "Ratios to bigint",
    "generate": "Nanoseconds for one ID",
    "sizes": "Bytes for one ID on disk",
}


def optional(heading: str, text: str, lines: str) -> Iterator[str]:
    """A section, if there is anything in it."""
    if lines:
        yield f"\n## {heading}\n\n{text}\n\n{lines}"
