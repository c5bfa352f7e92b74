"""Where a run is, for who waits for it."""

from __future__ import annotations

import sys
import time


class Progress:
    """One line on the terminal that says where the run is and how long it may still take; in a log, a line a step."""

    def __init__(self, steps: int):
        self.steps = steps
        self.done = 0
        self.began = time.monotonic()

    def step(self, what: str) -> None:
        """Another step begins."""
        left = ""
        if self.done:
            minutes = (time.monotonic() - self.began) / self.done * (self.steps - self.done) / 60
            left = f", some {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left"
        self.note(f"{what}{left}")
        self.done += 1

    def note(self, what: str) -> None:
        """Shows what is being done."""
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)
        else:
            print(what, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leaves the line to others."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
