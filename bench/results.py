"""The JSON of a run: what it ran on, every single measurement, and the ratios of every round."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median

from bench.candidates import CANDIDATES
from bench.targets import compared_with


class Results:
    """What a run has measured so far. `data` is the JSON."""

    def __init__(self, data: dict):
        self.data = data

    @classmethod
    def load(cls, path: Path) -> Results:
        """Reads what `save` has written."""
        return cls(json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        """Writes it, the measurements of a candidate on one line."""
        text = json.dumps(self.data, indent=1)
        text = re.sub(
            r"\[[^][{}]*\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text
        )
        path.write_text(text + "\n")

    @property
    def processor_time(self) -> Results:
        """The same run by the backend's time on a processor, which other work on the machine hardly changes."""
        return Results({**self.data, "workloads": self.data["processor_time"]})

    @property
    def instructions(self) -> Results:
        """The same server by the instructions that it executed for a row."""
        return Results({**self.data, "workloads": self.data["instructions"]})

    @property
    def major(self) -> int:
        """The server's major version."""
        return self.data["server"]["major"]

    # ---------------------------------------------------------------------------------------------------- while it runs

    def add(self, workload: str, unit: str, candidate: str, value: float) -> None:
        """One measurement."""
        entry = self.data["workloads"].setdefault(workload, {"unit": unit, "values": {}, "ratios": {}})
        entry["values"].setdefault(candidate, []).append(round(value, 3))

    def add_size(self, what: str, candidate: str, size: int, yardstick: str | None, same_values: int | None) -> None:
        """A size, and that of the same values in the yardstick, where they fit into it."""
        self.add(what, "bytes", candidate, size)
        if same_values is not None:
            entry = self.data["workloads"][what]
            entry.setdefault("same_values", {})[candidate] = [same_values]
            entry["ratios"][candidate] = {yardstick: [size / same_values]}

    def add_ratios(self) -> None:
        """Divides what was measured in the same round; from here on all is in the order of the candidates."""
        for workload, entry in self.data["workloads"].items():
            measured = entry["values"]
            values = entry["values"] = {c.key: measured[c.key] for c in CANDIDATES if c.key in measured}
            for candidate in values:
                for against in compared_with(workload, candidate, self.major):
                    ratios = entry["ratios"].setdefault(candidate, {})
                    if against in values and against not in ratios:
                        pairs = zip(values[candidate], values[against], strict=True)
                        ratios[against] = [round(mine / theirs, 4) for mine, theirs in pairs]

    # -------------------------------------------------------------------------------------------------- when it is done

    def values(self, workload: str, candidate: str) -> list[float]:
        """What was measured, round by round; nothing if it was not."""
        return self.data["workloads"].get(workload, {}).get("values", {}).get(candidate, [])

    def value(self, workload: str, candidate: str) -> float | None:
        """The median of what was measured."""
        values = self.values(workload, candidate)
        return median(values) if values else None

    def ratios(self, workload: str, candidate: str, against: str | None) -> list[float]:
        """The ratios, round by round; none if they were not measured."""
        return self.data["workloads"].get(workload, {}).get("ratios", {}).get(candidate, {}).get(against, [])
