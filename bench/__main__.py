"""`python3 -m bench run` measures on the server that tools/bench.sh started; `render` shows what is in docs/bench."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.page import DOCS, page
from bench.readme import README, committed, rendered_readme
from bench.results import Results
from bench.tables import full_cell, memory_table, summary, targets_table, where
from bench.workloads import SIZES, WORKLOADS

ROWS, ROUNDS = 1_000_000, 5
KEYS = [*(workload.key for workload in WORKLOADS), *SIZES, "memory", "instructions"]


def names(text: str) -> list[str]:
    """Names of workloads, separated by commas."""
    chosen = text.split(",") if text else []
    unknown = [name for name in chosen if name not in KEYS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is none of {', '.join(KEYS)}")
    return chosen


def arguments() -> argparse.Namespace:
    """What to do, from the command line."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--rows", type=int, default=ROWS)
    run.add_argument("--rounds", type=int, default=ROUNDS)
    run.add_argument("--only", type=names, default=[])
    run.add_argument("--folder", required=True, help="the server's, with its socket")
    run.add_argument("--bindir", required=True, help="the server's programs")
    run.add_argument("--scratch", type=Path, required=True, help="where results go that are not fit for docs/bench")
    commands.add_parser("render")
    return parser.parse_args()


def measure(options: argparse.Namespace) -> None:
    """Runs the benchmark, and shows its targets. Only a whole run becomes part of the documentation."""
    from bench.runner import Runner
    from bench.server import Server

    runner = Runner(Server(options.folder, options.bindir), options.rows, options.rounds, options.only)
    results = runner.results
    options.scratch.mkdir(parents=True, exist_ok=True)
    runner.run()
    # What took half an hour is not to be lost with what comes after.
    results.save(options.scratch / f"pg{results.major}.json")
    runner.count()
    is_whole = options.rows >= ROWS and options.rounds >= ROUNDS and not options.only
    folder = DOCS if is_whole else options.scratch
    results.save(folder / f"pg{results.major}.json")
    write(results, folder)
    if is_whole:
        README.write_text(rendered_readme())
    tables = [targets_table(results, full_cell), memory_table(results), summary(results)]
    print(f"{where(results)}\n", *filter(None, tables), sep="\n", end="\n\n")
    print(f"All figures: {folder}/pg{results.major}.md" + ("" if is_whole else " (docs/bench is for whole runs)"))


def write(results: Results, folder: Path) -> None:
    """The page and the charts of a run."""
    from bench.charts import draw

    (folder / f"pg{results.major}.md").write_text(page(results))
    draw(results, folder)


def render() -> None:
    """Everything in docs/bench and the README again, from the JSON."""
    for results in committed():
        write(results, DOCS)
    README.write_text(rendered_readme())


if __name__ == "__main__":
    options = arguments()
    if options.command == "run":
        measure(options)
    else:
        render()
