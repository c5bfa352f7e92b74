"""The charts, as SVG. Apart from the tables, because these alone need matplotlib."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt  # noqa: E402

from bench.candidates import CANDIDATES, EIGHT_BYTES, SIXTEEN_BYTES  # noqa: E402
from bench.tables import nanoseconds, where  # noqa: E402
from bench.results import Results  # noqa: E402
from bench.targets import rows_of  # noqa: E402
from bench.workloads import SIZES, TITLES, WORKLOADS  # noqa: E402

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "scru",  # so that the same figures give the same file
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
    }
)

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#888888", "#cc79a7"]
MARKERS = ["o", "s", "D", "^", "v"]
TICKS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
LABELS = {candidate.key: candidate.label for candidate in CANDIDATES}


def draw(results: Results, folder: Path) -> None:
    """All charts of a run, as far as it has measured what they show."""
    prefix = folder / f"pg{results.major}"
    ratio_chart(results, "uuid", [*SIXTEEN_BYTES, "text_scru128", "uuidv7"], Path(f"{prefix}-16-bytes.svg"))
    ratio_chart(results, "bigint", [*EIGHT_BYTES, "text_scru64"], Path(f"{prefix}-8-bytes.svg"))
    generator_chart(results, Path(f"{prefix}-generate.svg"))
    size_chart(results, Path(f"{prefix}-sizes.svg"))


def save(figure: plt.Figure, path: Path) -> None:
    """Without a date, so that a chart changes only with its figures."""
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


def ratio_chart(results: Results, against: str, candidates: list[str], path: Path) -> None:
    """A point for the median of each candidate's ratios, a line for their spread, and the target."""
    workloads = [w.key for w in WORKLOADS if any(results.ratios(w.key, c, against) for c in candidates)]
    candidates = [c for c in candidates if any(results.ratios(w, c, against) for w in workloads)]
    if not workloads:
        return
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.14 * len(workloads) * (len(candidates) + 1)))
    for position, workload in enumerate(workloads):
        if position % 2:
            axes.axhspan(position - 0.5, position + 0.5, color="#f4f4f4", linewidth=0)
        limit = limit_of(results, workload, against, candidates[0])
        if limit:
            axes.plot([limit, limit], [position - 0.45, position + 0.45], color="black", linewidth=2.5, zorder=2)
    for number, candidate in enumerate(candidates):
        offset = (number - (len(candidates) - 1) / 2) * 0.8 / len(candidates)
        points = [(i, r) for i, w in enumerate(workloads) if (r := results.ratios(w, candidate, against))]
        middles = [median(ratios) for _, ratios in points]
        spread = [
            [m - min(r) for m, (_, r) in zip(middles, points, strict=True)],
            [max(r) - m for m, (_, r) in zip(middles, points, strict=True)],
        ]
        axes.errorbar(
            middles,
            [position + offset for position, _ in points],
            xerr=spread,
            fmt=MARKERS[number],
            color=COLOURS[number],
            markersize=5,
            elinewidth=1.2,
            label=LABELS[candidate],
            zorder=3,
        )
    axes.axvline(1, color="#888888", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.plot([], [], color="black", linewidth=2.5, label="target, at most")
    axes.set_yticks(range(len(workloads)), [TITLES[workload] for workload in workloads])
    axes.set_ylim(len(workloads) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_xlabel(f"time as a ratio to {against}: left of 1 is faster (median of the rounds, least and greatest)")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=len(candidates) + 1, frameon=False, handletextpad=0.3
    )
    caption(axes, results)
    save(figure, path)


def limit_of(results: Results, workload: str, against: str, candidate: str) -> float | None:
    """The target of a workload in a chart."""
    for row in rows_of(results.major):
        if row.workload == workload and row.against_of(candidate) == against:
            return row.limit_of(candidate)
    return None


def generator_chart(results: Results, path: Path) -> None:
    """What one call costs."""
    calls = nanoseconds(results)
    if calls:
        bars(results, calls, "nanoseconds for one call, beyond that of a function that does nothing", path)


def size_chart(results: Results, path: Path) -> None:
    """Heap and primary key, in bytes for one row."""
    sizes = {c.label: [(results.value(what, c.key) or 0) / results.data["rows"] for what in SIZES] for c in CANDIDATES}
    sizes = {label: values for label, values in sizes.items() if any(values)}
    if not sizes:
        return
    figure, axes = plt.subplots(figsize=(9, 0.6 + 0.55 * len(sizes)))
    for number, title in enumerate(SIZES.values()):
        places = [place + (number - 1.5) * 0.2 for place in range(len(sizes))]
        drawn = axes.barh(
            places, [values[number] for values in sizes.values()], 0.2, color=COLOURS[number], label=title
        )
        axes.bar_label(drawn, fmt="%.1f", padding=2, fontsize=7)
    axes.set_yticks(range(len(sizes)), sizes)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("bytes for one row")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=4, frameon=False, fontsize=9)
    caption(axes, results)
    save(figure, path)


def bars(results: Results, values: dict[str, float], label: str, path: Path) -> None:
    """One bar for each."""
    figure, axes = plt.subplots(figsize=(9, 0.8 + 0.32 * len(values)))
    drawn = axes.barh(list(values), list(values.values()), color=COLOURS[0])
    axes.bar_label(drawn, fmt="%.0f", padding=3)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(label)
    caption(axes, results)
    save(figure, path)


def caption(axes: plt.Axes, results: Results) -> None:
    """What was measured on what."""
    axes.annotate(
        where(results),
        (0, 0),
        (0, -38),
        "axes fraction",
        textcoords="offset points",
        fontsize=8,
        color="#666666",
        va="top",
    )
