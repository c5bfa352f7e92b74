"""What a process of the server has used, read from outside while it runs."""

from __future__ import annotations

import time
from pathlib import Path


def processor_time(pid: int) -> int:
    """The nanoseconds that a process has been on a processor. The clock's number is clock_getcpuclockid(3)'s."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def private_memory(pid: int) -> int:
    """The kilobytes of a process that it shares with no other."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon:")]
    return int(line.split()[1])
