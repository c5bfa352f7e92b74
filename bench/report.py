"""The tables of the results, on a page for each run, and in marked blocks of the README."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from bench.candidates import EIGHT_BYTES, LABELS, SIXTEEN
from bench.results import DOCS, ROOT, SCRATCH, Results, saved
from bench.workloads import TITLES

BLOCK = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- bench end -->)", re.DOTALL)
README = ROOT / "README.md"
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
    chosen = {
        "insert a row": pick(data, "events", "processor ms"),
        "bytes on disk": pick(data, "events", "bytes"),
        "bytes of WAL": pick(data, "events", "WAL bytes"),
    }
    sized = {
        "look up by key": ("scale", "processor ms", "look_up"),
        "read the last hour": ("time", "ms", "last_hour"),
        "delete the oldest day": ("scale", "processor ms", "retention"),
    }
    for what, (suite, unit, workload) in sized.items():
        found = largest(pick(data, suite, unit, workload=workload))
        chosen[f"{what}, {found.x.max() / 1e6:g}M rows"] = found
    parts = pd.concat(largest(ratios(part, "bigint_at")).assign(workload=what) for what, part in chosen.items())
    shown = ["uuid_at", "uuidv7_at", "uuidv7", "bigint", "scru128", "scru64"]
    return table(parts[parts.candidate.isin(shown)], ["workload"], with_spread)


def types(data: pd.DataFrame) -> str:
    """Returns the tables of the types, as ratios to bigint for types of 8 bytes, and to uuid for the others."""
    times = pick(data, "types", "processor ms")
    sixteen = times[times.candidate.isin([candidate.key for candidate in SIXTEEN])]
    eight = times[times.candidate.isin(["bigint", *EIGHT_BYTES])]
    tables = (
        table(ratios(part, base), ["workload"], with_spread) for part, base in ((sixteen, "uuid"), (eight, "bigint"))
    )
    return "\n".join(tables)


def scale(data: pd.DataFrame) -> str:
    """Returns the table of ratios by table size."""
    times = pd.concat([pick(data, "scale", "processor ms"), pick(data, "time", "ms", workload="last_hour")])
    return table(ratios(times, "bigint_at").rename(columns={"x": "rows"}), ["workload", "rows"], with_spread)


def time(data: pd.DataFrame) -> str:
    """Returns the table of queries by time, in the largest tables."""
    return table(largest(pick(data, "time", "ms", "planning ms", "pages")), ["workload", "unit"], plain)


def clients(data: pd.DataFrame) -> str:
    """Returns the tables of rates by number of clients. One client that inserts, which older results have, measures how
    fast an idle processor wakes up for each message."""
    inserts = pick(data, "inserts", "rows/s")
    rates = (inserts[inserts.x > 1], pick(data, "draws", "IDs/s"))
    return "\n".join(table(part.rename(columns={"x": "clients"}), ["unit", "clients"], plain) for part in rates)


def created_at(data: pd.DataFrame) -> str:
    """Returns the table of sizes and estimates with and without created_at."""
    chosen = pick(data, "created_at", "bytes", "estimated rows", "rows", "pages")
    chosen = chosen.replace({"workload": {"last_hour": "last hour"}})
    return table(chosen, ["workload", "unit"], plain)


def to(base: str, suite: str, *units: str, rows: str = "workload", transposed: bool = True) -> Callable[..., str]:
    """Returns a function that renders the ratios of a suite to a base."""
    return lambda data: table(ratios(pick(data, suite, *units), base), [rows], with_spread, transposed)


LOWER = "lower is better"
TO_BIGINT = f"CPU time; `bigint` identity = 1, {LOWER}."
planning = to("scru128_at", "planning", "planning µs", transposed=False)
COSTS = ("processor ms", "bytes", "WAL bytes")
TO_UUID = f"CPU time; `gen_random_uuid()` = 1, {LOWER}."
TO_BIGINT_AT = f"`bigint` with `created_at` and its index = 1; {LOWER}."
# The function that renders each block, the suites that it shows, and what its numbers are.
BLOCKS: dict[str, tuple[Callable[..., str], set[str], str]] = {
    "created_at": (created_at, {"created_at"}, f"Bytes and pages, of which {LOWER}; rows of the last hour."),
    "planning": (planning, {"planning"}, f"Planning time; `scru128 + created_at` = 1, {LOWER}."),
    "keys": (keys, {"types"}, TO_BIGINT),
    "summary": (summary, {"events", "scale", "time"}, f"{TO_BIGINT_AT} –: not measured."),
    "events": (to("bigint_at", "events", *COSTS, rows="unit"), {"events"}, f"{TO_BIGINT_AT} Per inserted row."),
    "types": (types, {"types"}, f"CPU time; `uuid` v4 = 1, and `bigint` = 1 below; {LOWER}."),
    "encryption": (to("uuid", "encryption", "processor ms"), {"encryption"}, TO_UUID),
    "scale": (scale, {"scale", "time"}, TO_BIGINT_AT),
    "clients": (clients, {"inserts", "draws"}, "Higher is better."),
    "time": (time, {"time"}, f"{LOWER.capitalize()}."),
}


def where(results: Results) -> str:
    """Returns the server and the number of cores of a run."""
    about = results.about
    return f"PostgreSQL {about['version'].split()[0]}, {about['cores']} cores"


def rendered(all_results: list[Results]) -> str:
    """Returns the README with its blocks rendered from the first results that have their suites: table, links."""

    def fill(found: re.Match[str]) -> str:
        block, suites, caption = BLOCKS[found[2]]
        results = next(results for results in all_results if suites <= results.suites)
        link = (DOCS / results.name).relative_to(ROOT)
        links = f"[Table]({link}.md#{found[2]}), [results]({link}.json):\n{where(results)}.\n"
        return f"{found[1]}\n{caption}\n\n{narrow(block(frame(results)))}\n{links}{found[3]}"

    return BLOCK.sub(fill, README.read_text())


def narrow(markdown: str) -> str:
    """Returns a table without the spaces and dashes that align its columns, which would make its lines long."""
    return re.sub(r" {2,}\|", " |", re.sub(r"-{3,}", "--", markdown))


def page(results: Results) -> str:
    """Returns the page of a run, with the tables whose suites it has measured."""
    about = results.about
    notes = f"{about['cpu']}, {about['date']}, load average {about['load']} before the run."
    head = f"{where(results)}, {notes} [What the tables show](../performance.md)."
    shown = [(name, table, caption) for name, (table, suites, caption) in BLOCKS.items() if suites <= results.suites]
    parts = [f"\n## {name.capitalize()}\n\n{caption}\n\n{table(frame(results))}" for name, table, caption in shown]
    return f"# {results.name}\n\n{head}\n" + "".join(parts)


def render() -> None:
    """Renders the pages of the results in docs/bench and target/bench, and the blocks of the README."""
    for directory in DOCS, SCRATCH:
        for results in saved(directory):
            (directory / f"{results.name}.md").write_text(page(results))
            print(directory / f"{results.name}.md")
    README.write_text(rendered(saved()))
