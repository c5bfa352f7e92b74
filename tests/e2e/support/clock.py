"""What a test controls by a library that the server preloads: the clock, by Debian's libfaketime."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import datetime
from glob import glob
from pathlib import Path
from typing import Self

from server import TEMPORARY, give_to_server_user

LIBRARIES = glob("/usr/lib/*/faketime/libfaketime.so.1") + glob("/usr/lib*/faketime/libfaketime.so.1")


class Preloaded:
    """A library that a server preloads if it is started with this `environment`, and a directory that controls it."""

    environment: dict[str, str]

    def __init__(self, name: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix=f"scru-{name}-", dir=TEMPORARY))
        give_to_server_user(self.directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def write(self, name: str, text: str) -> None:
        """Replaces a file atomically: the server can read it at any moment."""
        new = self.directory / "new"
        new.write_text(text + "\n")
        new.chmod(0o644)
        os.replace(new, self.directory / name)

    def remove(self) -> None:
        """Deletes the directory."""
        shutil.rmtree(self.directory, ignore_errors=True)


class Clock(Preloaded):
    """The clock of a server. It starts with the real time."""

    def __init__(self) -> None:
        # An error, not a skip: without these tests, a run must not pass.
        assert LIBRARIES, "libfaketime is not installed (Debian: libfaketime)"
        super().__init__("clock")
        self.shift(0)
        self.environment = {
            "LD_PRELOAD": LIBRARIES[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.directory / "time"),
            "FAKETIME_NO_CACHE": "1",
            # Newer versions of libfaketime can deadlock while they create shared memory, for example in the shell of
            # restore_command. Older versions ignore this variable, and do not deadlock.
            "FAKETIME_DISABLE_SHM": "1",
            # The server measures waits with the monotonic clock, which stays real.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def shift(self, seconds: float) -> None:
        """Sets the clock to the real time plus `seconds`."""
        self.write("time", f"{seconds:+f}")

    def freeze(self, time: str | float) -> None:
        """Stops the clock at a time, such as '2030-01-01 00:00:00', or at the seconds since 1970."""
        self.write("time", time if isinstance(time, str) else f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M:%S.%f}")
