"""The JSON file of a run: its environment and every measurement."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "bench"
SCRATCH = ROOT / "target" / "bench"
# The suites of a run that names none, and those that have results of their own.
WHOLE = ("events", "types", "scale", "clients")
NAMED = ("created_at", "encryption")


class Results:
    """Series of measurements. In a series, the n-th values of all candidates were measured in the same turn."""

    def __init__(self, about: dict, series: list[dict] | None = None):
        self.about = about
        self.series = series or []

    @classmethod
    def load(cls, path: Path) -> Results:
        """Reads a file that `save` wrote."""
        data = json.loads(path.read_text())
        return cls(data["about"], data["series"])

    @property
    def name(self) -> str:
        """Returns the name of the files of this run, without extension."""
        return f"pg{self.about['major']}-{self.about['mode']}"

    @property
    def suites(self) -> set[str]:
        """Returns the names of the suites measured."""
        return {series["suite"] for series in self.series}

    def save(self, directory: Path) -> Path:
        """Writes the JSON file, with one series per line, and returns its path."""
        lines = ",\n".join(json.dumps(series) for series in self.series)
        path = directory / f"{self.name}.json"
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"about": {json.dumps(self.about, indent=1)},\n"series": [\n{lines}\n]}}\n')
        return path

    def add(self, suite: str, workload: str, x: int, unit: str, candidate: str, value: float) -> None:
        """Adds a measurement; x is the number of rows or of clients."""
        head = {"suite": suite, "workload": workload, "x": x, "unit": unit}
        series = next((series for series in reversed(self.series) if head.items() <= series.items()), None)
        if series is None:
            series = {**head, "values": {}}
            self.series.append(series)
        series["values"].setdefault(candidate, []).append(float(f"{value:.5g}"))


def saved(directory: Path = DOCS) -> list[Results]:
    """Returns the results in a directory: full mode first, then the newest server first."""
    found = map(Results.load, directory.glob("pg*.json"))
    return sorted(found, key=lambda results: (results.about["mode"] != "full", -results.about["major"]))
