"""The JSON file of a run: its environment and every measurement."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "bench"
SCRATCH = ROOT / "target" / "bench"


@dataclass
class Results:
    """Series of measurements. In a series, the n-th values of all candidates were measured in the same turn."""

    about: dict
    series: list[dict] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Returns the name of the files of this run, without extension."""
        return f"pg{self.about['major']}-{self.about['mode']}"

    def save(self, directory: Path) -> Path:
        """Writes the JSON file, with one series per line, and returns its path."""
        lines = ",\n".join(json.dumps(series) for series in self.series)
        path = directory / f"{self.name}.json"
        directory.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"about": {json.dumps(self.about, indent=1)},\n"series": [\n{lines}\n]}}\n')
        return path

    def add(self, suite: str, workload: str, x: int, candidate: str, values: dict[str, float]) -> None:
        """Adds a measurement: values by unit. x is the number of rows or of clients."""
        for unit, value in values.items():
            head = {"suite": suite, "workload": workload, "x": x, "unit": unit}
            series = next((series for series in self.series if head.items() <= series.items()), None)
            if series is None:
                series = {**head, "values": {}}
                self.series.append(series)
            series["values"].setdefault(candidate, []).append(float(f"{value:.5g}"))


def saved(directory: Path = DOCS) -> list[Results]:
    """Returns the results in a directory: full mode first, then the newest server first."""
    found = [Results(**json.loads(path.read_text())) for path in directory.glob("pg*.json")]
    return sorted(found, key=lambda results: (results.about["mode"] != "full", -results.about["major"]))
