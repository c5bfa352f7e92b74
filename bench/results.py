"""The JSON of a run: what it ran on, and every single measurement."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "bench"
SCRATCH = ROOT / "target" / "bench"


class Results:
    """Series of measurements. Those of one turn have the same place in the lists of all candidates."""

    def __init__(self, about: dict, series: list[dict] | None = None):
        self.about = about
        self.series = series or []

    @classmethod
    def load(cls, path: Path) -> Results:
        """Reads what `save` has written."""
        data = json.loads(path.read_text())
        return cls(data["about"], data["series"])

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"pg{self.about['major']}-{self.about['mode']}"

    @property
    def suites(self) -> set[str]:
        """What was measured."""
        return {series["suite"] for series in self.series}

    def save(self, folder: Path) -> Path:
        """Writes it, a series on one line."""
        lines = ",\n".join(json.dumps(series) for series in self.series)
        path = folder / f"{self.name}.json"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"about": {json.dumps(self.about, indent=1)},\n"series": [\n{lines}\n]}}\n')
        return path

    def add(self, suite: str, workload: str, x: int, unit: str, candidate: str, value: float) -> None:
        """One measurement: x is the number of rows or of clients."""
        head = {"suite": suite, "workload": workload, "x": x, "unit": unit}
        series = next((series for series in reversed(self.series) if head.items() <= series.items()), None)
        if series is None:
            series = {**head, "values": {}}
            self.series.append(series)
        series["values"].setdefault(candidate, []).append(float(f"{value:.5g}"))


def saved(folder: Path = DOCS) -> list[Results]:
    """The results in a folder; those that the documentation shows come first: whole runs, of the newest server."""
    found = map(Results.load, folder.glob("pg*.json"))
    return sorted(found, key=lambda results: (results.about["mode"] != "full", -results.about["major"]))
