"""The tables of the results, on a page for each run, and in marked blocks of the README."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from bench.candidates import EIGHT_BYTES, LABELS
from bench.results import DOCS, ROOT, SCRATCH, Results, saved
from bench.workloads import TITLES

BLOCK = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- bench end -->)", re.DOTALL)
README = ROOT / "README.md"
# The rows of a table of the README: a cost, with its suite, unit and workload.
SUMMARY = (
    ("insert a row", "events", "processor ms", "events"),
    ("bytes on disk", "events", "bytes", "events"),
    ("bytes of WAL", "events", "WAL bytes", "events"),
    ("look up by key", "scale", "processor ms", "look_up"),
    ("read the last hour", "scale", "ms", "last_hour"),
    ("delete the oldest day", "scale", "processor ms", "retention"),
)
# Bytes, text, whether keys are ordered by time, and whether a key can be guessed from others of its millisecond. If
# not, the number of its random bits that the others do not reveal.
KEYS = {
    "scru128": ("16", "25 characters", "yes", "no, 32 bits"),
    "ulid": ("16", "26 characters", "yes", "in its millisecond"),
    "scru64": ("8", "12 characters", "yes", "yes"),
    "uuid": ("16", "36 characters", "no", "no, 122 bits"),
    "uuidv7": ("16", "36 characters", "yes", "no, 62 bits"),
    "bigint": ("8", "up to 19 digits", "yes, without a time", "yes"),
}


def frame(results: Results) -> pd.DataFrame:
    """Returns a data frame with one measurement per row."""
    rows = [
        (series["suite"], series["workload"], series["x"], series["unit"], key, turn, value)
        for series in results.series
        for key, values in series["values"].items()
        for turn, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["suite", "workload", "x", "unit", "candidate", "turn", "value"])


def pick(data: pd.DataFrame, suite: str, *units: str, workload: str = "") -> pd.DataFrame:
    """Returns the measurements of a suite in the given units, optionally of one workload only."""
    return data[(data.suite == suite) & data.unit.isin(units) & (not workload or data.workload == workload)]


def ratios(data: pd.DataFrame, base: str) -> pd.DataFrame:
    """Returns the ratios of the other candidates to the base, per turn: a ratio compares measurements of one turn."""
    wide = data.pivot_table(index=["workload", "unit", "x", "turn"], columns="candidate", values="value", sort=False)
    wide = wide.drop(columns=base).div(wide[base], axis=0)
    return wide.melt(value_name="value", ignore_index=False).dropna().reset_index()


def largest(data: pd.DataFrame) -> pd.DataFrame:
    """Returns the measurements with the most rows."""
    return data[data.x == data.x.max()]


def with_spread(values: pd.Series) -> str:
    """Returns the median and half of the interquartile range, or a single value."""
    spread = f" ±{(values.quantile(0.75) - values.quantile(0.25)) / 2:.2f}" if len(values) > 1 else ""
    return f"{values.median():.2f}{spread}"


def plain(values: pd.Series) -> str:
    """Returns the median as an integer, or with three significant digits if it is below 100."""
    return f"{values.median():,.0f}" if values.median() >= 100 else f"{values.median():.3g}"


def table(data: pd.DataFrame, rows: list[str], cell: Callable[[pd.Series], str], transposed: bool = False) -> str:
    """Returns a Markdown table with a column for each candidate, or a row if transposed."""
    wide = data.groupby([*rows, "candidate"], sort=False).value.agg(cell).unstack("candidate", fill_value="–")
    wide = wide[[key for key in LABELS if key in wide]].rename(columns=LABELS)
    wide = wide.rename(index=lambda label: f"{label:,}" if isinstance(label, int) else TITLES.get(label, label))
    wide = (wide.T if transposed else wide).reset_index()
    names = {"workload": "", "candidate": "", "unit": "", "processor ms": "CPU time"}
    return wide.rename(columns=names).to_markdown(index=False, disable_numparse=True) + "\n"


def keys(data: pd.DataFrame) -> str:
    """Returns a table of the README: properties of the keys, and the time of their generation as a ratio to bigint."""
    times = ratios(pick(data, "types", "processor ms", workload="generate"), "bigint")
    measured = times.groupby("candidate").value.median().map("{:.2f}".format).rename("generate an ID")
    facts = pd.DataFrame.from_dict(KEYS, orient="index", columns=["bytes", "text", "ordered", "guessable"])
    rows = facts.join(measured).fillna("1").rename(index=LABELS).reset_index(names="")
    return rows.to_markdown(index=False, disable_numparse=True) + "\n"


def summary(data: pd.DataFrame) -> str:
    """Returns a table of the README: costs with each key, as ratios to bigint with created_at."""
    shown = ["bigint_at", "uuid_at", "uuidv7_at", "uuidv7", "bigint", "scru128", "scru64"]
    parts = []
    for what, suite, unit, workload in SUMMARY:
        costs = largest(pick(data[data.candidate.isin(shown)], suite, unit, workload=workload))
        size = f", {costs.x.max() / 1e6:g}M rows" if suite != "events" else ""
        parts.append(ratios(costs, "bigint_at").assign(workload=what + size))
    return table(pd.concat(parts), ["workload"], with_spread)


def types(data: pd.DataFrame) -> str:
    """Returns the tables of the types, as ratios to bigint for types of 8 bytes, and to uuid for the others."""
    times = pick(data, "types", "processor ms")
    has_eight = times.candidate.isin(["bigint", *EIGHT_BYTES])
    parts = (ratios(times[~has_eight], "uuid"), ratios(times[has_eight], "bigint"))
    return "\n".join(table(part, ["workload"], with_spread) for part in parts)


def scale(data: pd.DataFrame) -> str:
    """Returns the table of ratios by table size."""
    times = pd.concat([pick(data, "scale", "processor ms"), pick(data, "scale", "ms", workload="last_hour")])
    return table(ratios(times, "bigint_at").rename(columns={"x": "rows"}), ["workload", "rows"], with_spread)


def clients(data: pd.DataFrame) -> str:
    """Returns the tables of rates by number of clients."""
    rates = (pick(data, "inserts", "rows/s"), pick(data, "draws", "IDs/s"))
    return "\n".join(table(part.rename(columns={"x": "clients"}), ["unit", "clients"], plain) for part in rates)


def values(suite: str, *units: str) -> Callable[..., str]:
    """Returns a function that renders the values of a suite, in the largest tables."""
    return lambda data: table(largest(pick(data, suite, *units)), ["workload", "unit"], plain)


def to(base: str, suite: str, *units: str, rows: str = "workload", transposed: bool = True) -> Callable[..., str]:
    """Returns a function that renders the ratios of a suite to a base."""
    return lambda data: table(ratios(pick(data, suite, *units), base), [rows], with_spread, transposed)


LOWER = "lower is better"
TO_BIGINT_AT = f"`bigint` with `created_at` and its index = 1; {LOWER}."
TO_UUID = f"CPU time; `gen_random_uuid()` = 1, {LOWER}."
OF_CREATED_AT = f"Bytes and pages, of which {LOWER}; rows of the last hour."
OF_PLANNING = f"Planning time; `scru128 + created_at` = 1, {LOWER}."
created_at = values("created_at", "bytes", "estimated rows", "rows", "pages")
planning = to("scru128_at", "planning", "planning µs", transposed=False)
events = to("bigint_at", "events", "processor ms", "bytes", "WAL bytes", rows="unit")
# The function that renders each block, the suites that it shows, and what its numbers are.
BLOCKS: dict[str, tuple[Callable[..., str], set[str], str]] = {
    "created_at": (created_at, {"created_at"}, OF_CREATED_AT),
    "planning": (planning, {"planning"}, OF_PLANNING),
    "keys": (keys, {"types"}, f"CPU time; `bigint` identity = 1, {LOWER}."),
    "summary": (summary, {"events", "scale"}, f"{TO_BIGINT_AT} –: not measured."),
    "events": (events, {"events"}, f"{TO_BIGINT_AT} Per inserted row."),
    "types": (types, {"types"}, f"CPU time; `uuid` v4 = 1, and `bigint` = 1 below; {LOWER}."),
    "encryption": (to("uuid", "encryption", "processor ms"), {"encryption"}, TO_UUID),
    "scale": (scale, {"scale"}, TO_BIGINT_AT),
    "clients": (clients, {"inserts", "draws"}, "Higher is better."),
    "time": (values("scale", "ms", "planning ms", "pages"), {"scale"}, f"{LOWER.capitalize()}."),
}


def where(results: Results) -> str:
    """Returns the server and the number of cores of a run."""
    about = results.about
    return f"PostgreSQL {about['version'].split()[0]}, {about['cores']} cores"


def tables(results: Results) -> dict[str, str]:
    """Returns the caption and the table of each block whose suites the run has measured."""
    data = frame(results)
    chosen = ((name, *block) for name, block in BLOCKS.items() if block[1] <= {*data.suite})
    return {name: f"{caption}\n\n{render_block(data)}" for name, render_block, _, caption in chosen}


def rendered(all_results: list[Results]) -> str:
    """Returns the README with its blocks rendered from the first results that have their suites: table, links."""
    shown = {name: (of, text) for of in reversed(all_results) for name, text in tables(of).items()}

    def fill(found: re.Match[str]) -> str:
        start, name, end = found.groups()
        results, text = shown[name]
        link = (DOCS / results.name).relative_to(ROOT)
        links = f"[Table]({link}.md#{name}), [results]({link}.json):\n{where(results)}.\n"
        # Without the spaces and dashes that align the columns, which would make the lines long.
        narrow = re.sub(r" {2,}\|", " |", re.sub(r"-{3,}", "--", text))
        return f"{start}\n{narrow}\n{links}{end}"

    return BLOCK.sub(fill, README.read_text())


def page(results: Results) -> str:
    """Returns the page of a run, with the tables whose suites it has measured."""
    about = results.about
    notes = f"{about['cpu']}, {about['date']}, load average {about['load']} before the run."
    head = f"# {results.name}\n\n{where(results)}, {notes} [What the tables show](../performance.md).\n"
    return head + "".join(f"\n## {name.capitalize()}\n\n{table}" for name, table in tables(results).items())


def render() -> None:
    """Renders the pages of the results in docs/bench and target/bench, and the blocks of the README."""
    for directory in DOCS, SCRATCH:
        for results in saved(directory):
            (directory / f"{results.name}.md").write_text(page(results))
            print(directory / f"{results.name}.md")
    README.write_text(rendered(saved()))
