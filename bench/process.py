"""Resource usage of a running server process."""

from __future__ import annotations

import time
from pathlib import Path


def processor_time(pid: int) -> int:
    """Returns the processor time of a process in nanoseconds, from the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def private_memory(pid: int) -> int:
    """Returns the anonymous resident memory of a process in kilobytes."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon:")]
    return int(line.split()[1])
