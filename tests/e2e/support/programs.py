"""Debian's programs that operators run beside a server. They listen on loopback or on Unix-domain sockets.

The tests never use services of the system. A test that needs a program which is not installed is skipped. It fails in a
new Debian in which the scripts in tools/ have just installed everything.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import NoReturn

import pytest

from server import MAJOR, MAJORS, SHARES_TESTS, as_server_user, logs, pg_config, wait_until

LOOPBACK = "127.0.0.1"
# Debian installs PgBouncer in /usr/sbin, which only root has in its PATH.
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
# tools/lib/fresh-root.sh sets this variable: what the scripts in tools/ install must then exist.
ARE_REQUIRED = "REQUIRE_PROGRAMS" in os.environ
# Processes that run at the same time start at different ports.
_PORTS = count(10_000 + os.getpid() % 400 * 50)


def missing(what: str) -> NoReturn:
    """Skips a test because of what is missing, or fails it if programs are required."""
    if ARE_REQUIRED:
        pytest.fail(what)
    pytest.skip(what)


def path_of(program: str) -> str | None:
    """Returns the path of a program; `None` if it is not installed."""
    return shutil.which(program, path=PATH)


def needs(*programs: str):
    """Returns a mark that skips tests unless these programs, or libraries of the server, are installed. If programs are
    required, the tests run, and fail without them.

    `make test-all` leaves them to the run on the oldest version.
    """
    if SHARES_TESTS and min(MAJORS) != MAJOR:
        return pytest.mark.skip(reason=f"runs on {min(MAJORS)} only: with a program that works alike on all versions")
    absent = [program for program in programs if not path_of(program) and not has_library(program)]
    reason = f"not installed by tools/setup.sh operators: {' and '.join(absent)}"
    return pytest.mark.skipif(bool(absent) and not ARE_REQUIRED, reason=reason)


def has_library(name: str) -> bool:
    """Returns whether the server has the library of an extension."""
    return Path(pg_config("--pkglibdir"), f"{name}.so").exists()


def free_ports(number: int) -> list[int]:
    """Returns unused ports of loopback. Linux gives none of them to a connection: those start at 32768."""
    return list(islice(filter(_is_free, _PORTS), number))


def _is_free(port: int) -> bool:
    with suppress(OSError), socket.create_server((LOOPBACK, port)):
        return True
    return False


class Program:
    """A program that runs as the server's user until it is stopped or killed, or the test run ends."""

    def __init__(self, log: Path, *command: object):
        self.log = log
        self._command = ["env", f"PATH={PATH}", "LC_ALL=C.UTF-8", *map(str, command)]
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        """Starts the program."""
        logs.add(self.log)
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                as_server_user(*self._command, death_signal="TERM"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        """Whether the program has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Sends SIGTERM, and waits until the program has ended."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL, and waits until the program has ended."""
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        logs.discard(self.log)
        if self.is_running:
            self._process.send_signal(number)
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=30)
                raise

    def wait_until_it_listens(self, address: int | Path) -> None:
        """Waits until the program accepts connections on a port or a socket path. If it ends, fails with its log."""
        wait_until(lambda: self._listens(address), f"{self._command[3]} listens")

    def _listens(self, address: int | Path) -> bool:
        assert self.is_running, self.log_text()[-4000:]
        is_port = isinstance(address, int)
        with socket.socket(socket.AF_INET if is_port else socket.AF_UNIX) as probe:
            return probe.connect_ex((LOOPBACK, address) if is_port else str(address)) == 0

    def log_text(self) -> str:
        """Returns the log so far."""
        return self.log.read_text(errors="replace")
