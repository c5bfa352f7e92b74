"""`python3 -m bench run` runs the benchmark; `python3 -m bench report` renders its pages, tables and charts."""

from __future__ import annotations

import argparse

from bench.results import DOCS, SCRATCH

SUITES = ("events", "types", "generate", "scale", "clients", "growth")

parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
commands = parser.add_subparsers(dest="command", required=True)
run = commands.add_parser("run")
MODES = ("full", "short", "long", "created_at", "generate", "mixed", "encryption", "feed")
run.add_argument("--mode", choices=MODES, default="full")
run.add_argument("--only", choices=SUITES, nargs="+", default=SUITES)
commands.add_parser("report")
options = parser.parse_args()
if options.command == "run":
    from bench.measure import Run

    # Only a run of all suites in a mode other than short becomes part of the documentation.
    is_whole = options.mode != "short" and options.only == SUITES
    print("All measurements:", Run(options.mode, options.only).run().save(DOCS if is_whole else SCRATCH))
else:
    from bench.report import render

    render()
