"""The charts, in SVG, for light and dark pages."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import matplotlib
import pandas as pd

from bench.candidates import LABELS

matplotlib.use("svg")
import matplotlib.pyplot as plt

# Colors on a light page, mapped to their replacements on a dark one.
DARK = {"#ffffff": "#0d1117", "#1f2328": "#e6edf3", "#d0d7de": "#30363d"}
PAGE, INK, GRID = DARK
# The palette of Okabe and Ito, which color-blind readers can distinguish on both pages.
STYLES = {
    "bigint": ("#808080", "o"), "uuid": ("#d55e00", "s"), "uuidv7": ("#e69f00", "^"), "scru128": ("#0072b2", "D"),
    "scru64": ("#009e73", "v"), "ulidflake": ("#cc79a7", "P"), "server_scope": ("#56b4e9", "X"),
}  # fmt: skip

plt.rcParams.update(
    dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    | {"figure.facecolor": PAGE, "savefig.facecolor": PAGE, "axes.facecolor": PAGE, "legend.facecolor": PAGE}
    | {"grid.color": GRID, "axes.grid": True, "axes.spines.top": False, "axes.spines.right": False}
    # Text is kept as text, and the output is reproducible.
    | {"svg.fonttype": "none", "svg.hashsalt": "scru", "font.family": "sans-serif", "font.size": 10}
)


def save(figure: plt.Figure, path: Path) -> None:
    """Saves a figure without a date, so that the file changes only with the data, and adds colors for dark pages."""
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for what, (light, dark) in product(("fill", "stroke"), DARK.items())
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    lines = path.read_text().replace("<defs>", f"{style}<defs>", 1).splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n")


def curves(data: pd.DataFrame, panels: dict[str, str], caption: str, path: Path) -> None:
    """Draws a panel for each suite and unit, with the median and the range of each candidate's measurements."""
    figure, all_axes = plt.subplots(1, len(panels), figsize=(10, 4), layout="constrained")
    for axes, (panel, title) in zip(all_axes, panels.items(), strict=True):
        suite, unit = panel.split(":")
        chosen = data[(data.suite == suite) & (data.unit == unit) & data.candidate.isin(STYLES)]
        for candidate in [key for key in STYLES if key in set(chosen.candidate)]:
            color, marker = STYLES[candidate]
            by_x = chosen[chosen.candidate == candidate].groupby("x").value.agg(["median", "min", "max"])
            # Equal curves, such as the WAL of uuid v7 and of scru128, remain visible: one is dashed, above the other.
            above = {"linestyle": "--", "zorder": 3} if candidate == "uuidv7" else {}
            axes.plot(
                by_x.index, by_x["median"], color=color, marker=marker, markersize=5, label=LABELS[candidate], **above
            )
            axes.fill_between(by_x.index, by_x["min"], by_x["max"], color=color, alpha=0.2, linewidth=0)
        axes.set(xlabel="rows in the table" if suite == "growth" else "clients", ylim=(0, None))
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        for axis in axes.xaxis, axes.yaxis:
            axis.set_major_formatter(matplotlib.ticker.EngFormatter(sep=" "))
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.15), ncols=3, frameon=False, fontsize=9)
    figure.supxlabel(caption, fontsize=8)
    save(figure, path)
