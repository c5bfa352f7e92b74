"""`python3 -m bench run` runs the benchmark; `python3 -m bench report` renders its pages and tables."""

from __future__ import annotations

import argparse

from bench.measure import SUITES, run
from bench.results import SCRATCH

parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
commands = parser.add_subparsers(dest="command", required=True)
of_run = commands.add_parser("run")
of_run.add_argument("--mode", choices=("full", "short", "long"), default="full")
of_run.add_argument("--only", choices=SUITES, nargs="+")
commands.add_parser("report")
options = parser.parse_args()
if options.command == "run":
    print("All measurements:", run(options.mode, options.only).save(SCRATCH))
else:
    from bench.report import render

    render()
