"""The README's section about speed, which is rendered from the results that are committed."""

from __future__ import annotations

from bench.page import DOCS, ROOT
from bench.results import Results
from bench.tables import short_cell, targets_table, where

README = ROOT / "README.md"
BEGIN = "<!-- `make bench-report` writes what is between these two lines -->"
END = "<!-- the end of what `make bench-report` writes -->"


def readme_section(all_results: list[Results]) -> str:
    """What stands in the README: a table for each major version that was measured."""
    if not all_results:
        return "\nNot measured yet: `make bench` writes the table that belongs here.\n\n"
    return "".join(
        f"\n{where(results)}:\n\n{targets_table(results, short_cell)}\n"
        f"![Time of each workload, as a ratio to uuid](docs/bench/pg{results.major}-16-bytes.svg)\n\n"
        f"All figures, with their spread: [docs/bench/pg{results.major}.md](docs/bench/pg{results.major}.md).\n\n"
        for results in all_results
    )


def committed() -> list[Results]:
    """The results under docs/bench, the latest server first."""
    return sorted(map(Results.load, DOCS.glob("pg*.json")), key=lambda results: -results.major)


def rendered_readme() -> str:
    """The README with the tables of the committed results."""
    before, rest = README.read_text().split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{readme_section(committed())}{END}{after}"
