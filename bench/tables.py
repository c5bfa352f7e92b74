"""What a run has come to, as Markdown tables that can be read on a terminal, too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import comb
from statistics import median

from bench.candidates import CANDIDATES, EIGHT_BYTES, SIXTEEN_BYTES, TYPES
from bench.results import Results
from bench.targets import CHANCE, MEMORY_KB, Row, rows_of
from bench.workloads import SIZES, TITLES

AGAINST = {"noop": "the no-op floor", "least": "the least that an ID takes", "uuid": "uuid", "uuidv7": "uuid, version 7", "bigint": "bigint"}
GENERATORS = {"uuid": "gen_random_uuid()", "uuidv7": "uuidv7()", "bigint": "nextval"}

# --------------------------------------------------------------------------------------------------------- the targets


def table(lines: list[list[str]]) -> str:
    """Markdown that can be read as it is, too: the columns are aligned."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]]) + "\n"


def title(row: Row) -> str:
    """The workload, and what the ratio is to where that is not the yardstick of its size."""
    text = TITLES[row.workload]
    if row.workload == "generate":
        is_floor = row.against in ("noop", "least")
        return f"{text}, to {AGAINST[row.against]}" if is_floor else f"{text}, to {generators_of(row)}"
    return f"{text}, to {AGAINST[row.against]}" if row.against else text


def generators_of(row: Row) -> str:
    """The server's own generators that a row compares with."""
    return GENERATORS[row.against] if row.against else f"{GENERATORS['uuid']} or {GENERATORS['bigint']}"


def limit(row: Row, candidates: list[str]) -> str:
    """The target of a group of types."""
    value = row.limit_of(candidates[0])
    return "" if value is None else "equal" if row.workload in SIZES else f"≤ {value:g}"


def verdict(results: Results, row: Row, candidate: str) -> str:
    """How a figure relates to its target: `holds`, `missed`, `cannot` with a reason, or `chance` where the times do not
    tell, and the instructions hold it; empty if there is no target, or no figure."""
    ratios = results.ratios(row.workload, candidate, row.against_of(candidate))
    holds = row.holds(candidate, median(ratios)) if ratios else None
    if holds is None or holds:
        return "" if holds is None else "holds"
    if row.obstacle(candidate):
        return "cannot"
    return "chance" if is_chance(results, row, candidate) else "missed"


def is_chance(results: Results, row: Row, candidate: str) -> bool:
    """Whether the times differ so much from turn to turn that the median may well hold its target, and the server executes no
    more instructions than it may take time."""
    against = row.against_of(candidate)
    counted = results.instructions.ratios(row.workload, candidate, against)
    if not counted or not row.holds_counted(candidate, median(counted)):
        return False
    return bool(row.holds(candidate, least_median(results.ratios(row.workload, candidate, against))))


def least_median(ratios: list[float]) -> float:
    """The lower end of what the median may be, with a certainty of 95 % by the sign test, which asks nothing of how times are
    distributed: of 15 turns the fourth from below, of five the least."""
    turns = len(ratios)
    tails = accumulate(comb(turns, below) for below in range(turns))
    excluded = sum(tail <= 0.05 * 2**turns for tail in tails)
    return sorted(ratios)[max(excluded - 1, 0)]


def figure(ratio: float) -> str:
    """Two digits that mean something."""
    return f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}"


def short_cell(results: Results, row: Row, candidate: str) -> str:
    """The median; what misses its target is bold, with a link where there is a reason."""
    ratios = results.ratios(row.workload, candidate, row.against_of(candidate))
    if not ratios:
        return ""
    text = figure(median(ratios))
    match verdict(results, row, candidate):
        case "cannot":
            return f"**{text}** ([why](docs/performance.md#{row.obstacle(candidate)}))"
        case "chance":
            return f"{text} ([chance](docs/performance.md#{CHANCE}))"
        case "missed":
            return f"**{text}** (missed)"
    return text


def full_cell(results: Results, row: Row, candidate: str) -> str:
    """The median, the least and the greatest, and the verdict."""
    ratios = results.ratios(row.workload, candidate, row.against_of(candidate))
    if not ratios:
        return ""
    said = verdict(results, row, candidate)
    return with_spread(ratios) + {"missed": " **missed**", "cannot": " **cannot**", "chance": " chance"}.get(said, "")


def with_spread(ratios: list[float]) -> str:
    """The median, the least and the greatest; nothing of none."""
    if len(ratios) < 2:
        return "".join(map(figure, ratios))
    return f"{figure(median(ratios))} ({figure(min(ratios))} … {figure(max(ratios))})"


def targets_table(results: Results, cell: Callable[[Results, Row, str], str]) -> str:
    """The targets, and beside them what each type came to."""
    head = ["ratio of", "target", *SIXTEEN_BYTES, "target", *EIGHT_BYTES]
    lines = [
        [
            title(row),
            limit(row, SIXTEEN_BYTES),
            *(cell(results, row, candidate) for candidate in SIXTEEN_BYTES),
            limit(row, EIGHT_BYTES),
            *(cell(results, row, candidate) for candidate in EIGHT_BYTES),
        ]
        for row in rows_of(results.major)
    ]
    measured = [line for line in lines if any(line[2:5] + line[6:])]
    return table([head, *measured]) if measured else ""


def where(results: Results) -> str:
    """The server, the machine and the size of a run."""
    data = results.data
    machine, server = data["machine"], data["server"]
    return (
        f"PostgreSQL {server['version']}, {machine['cpu']}, {machine['cores']} cores, {data['rows']:,} rows,"
        f" {data['rounds']} rounds"
    )


def text_table(results: Results) -> str:
    """What the IDs cost in a text column, as ratios to the type itself."""
    texts = [candidate for candidate in CANDIDATES if candidate.text_of]
    lines = [[TITLES[key], *(with_spread(results.ratios(key, c.key, c.text_of)) for c in texts)] for key in TITLES]
    measured = [line for line in lines if any(line[1:])]
    return table([["", *(candidate.label for candidate in texts)], *measured]) if measured else ""


# ------------------------------------------------------------------------------------------------ the absolute figures


def absolute_table(results: Results, unit: str) -> str:
    """What each candidate took."""
    workloads = [key for key in TITLES if results.data["workloads"].get(key, {}).get("unit") == unit]
    candidates = [c for c in CANDIDATES if any(results.values(key, c.key) for key in workloads)]
    if not workloads:
        return ""
    return table(
        [
            ["", *(candidate.label for candidate in candidates)],
            *([TITLES[key], *(number(results.value(key, c.key)) for c in candidates)] for key in workloads),
        ]
    )


def number(value: float | None) -> str:
    """Three digits at least."""
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def calls_table(results: Results) -> str:
    """What a call costs beyond that of a function that does nothing."""
    calls = nanoseconds(results)
    return table([["", "ns"], *([label, number(ns)] for label, ns in calls.items())]) if calls else ""


def nanoseconds(results: Results) -> dict[str, float]:
    """By function: what one call takes beyond a call that does nothing."""
    floor = results.values("generate_lean", "noop")
    return {
        candidate.generate.removeprefix("public."): median(
            (mine - nothing) * 1e6 / results.data["rows"]
            for mine, nothing in zip(results.values("generate_lean", candidate.key), floor, strict=True)
        )
        for candidate in CANDIDATES
        if floor and candidate.key != "noop" and results.values("generate_lean", candidate.key)
    }


def memory_table(results: Results) -> str:
    """Whether a backend grows."""
    if not results.data["memory"]:
        return ""
    lines = [
        [type_, f"{m['ids']:,}", f"{m['before_kb']:,}", f"{m['most_kb']:,}", "flat" if is_flat(m) else "**grows**"]
        for type_, m in results.data["memory"].items()
    ]
    return table([["kB of a backend's own memory", "IDs", "before", "most", ""], *lines])


def is_flat(memory: dict[str, int]) -> bool:
    """Whether a backend that made a great many IDs has kept none of them."""
    return memory["most_kb"] - memory["before_kb"] < MEMORY_KB


# ------------------------------------------------------------------------------------------------------ the last words


def summary(results: Results) -> str:
    """How many of the targets hold, and which don't."""
    verdicts = {
        f"{title(row)}: {candidate} {figure(median(ratios))}{on_processor(results, row, candidate)}": verdict(
            results, row, candidate
        )
        for row in rows_of(results.major)
        for candidate in TYPES
        if (ratios := results.ratios(row.workload, candidate, row.against_of(candidate)))
    }
    verdicts |= {f"memory: {type_}": "holds" if is_flat(m) else "missed" for type_, m in results.data["memory"].items()}
    by = {word: [what for what, said in verdicts.items() if said == word] for word in ("holds", "missed", "chance", "cannot")}
    lines = [
        f"{len(by['holds'])} targets hold, {len(by['missed'])} are missed, {len(by['chance'])} by chance only,"
        f" {len(by['cannot'])} cannot be reached."
    ]
    lines += [f"  missed   {what}" for what in by["missed"]]
    lines += [f"  chance   {what}: no more instructions than its target allows" for what in by["chance"]]
    lines += [f"  cannot   {what}: see docs/performance.md" for what in by["cannot"]]
    return "\n".join(lines)


def on_processor(results: Results, row: Row, candidate: str) -> str:
    """The ratio of processor times beside that of the clock: where they differ, something waited."""
    ratios = results.processor_time.ratios(row.workload, candidate, row.against_of(candidate))
    return f" (on the processor {figure(median(ratios))})" if ratios else ""
