"""`python3 -m bench run` runs the benchmark; `python3 -m bench report` renders its pages and tables."""

from __future__ import annotations

import argparse

from bench.results import DOCS, NAMED, SCRATCH, WHOLE

parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
commands = parser.add_subparsers(dest="command", required=True)
run = commands.add_parser("run")
run.add_argument("--mode", choices=("full", "short", "long"), default="full")
run.add_argument("--only", choices=(*WHOLE, *NAMED), nargs="+", default=WHOLE)
commands.add_parser("report")
options = parser.parse_args()
if options.command == "run":
    from bench.measure import Run

    made = Run(options.mode, tuple(options.only))
    # Other runs are not part of the documentation.
    print("All measurements:", made.run().save(DOCS if made.is_whole else SCRATCH))
else:
    from bench.report import render

    render()
