"""A clock that a test can change while the server runs. It uses Debian's libfaketime, preloaded into the server."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import datetime
from glob import glob
from pathlib import Path

from server import TEMPORARY, give_to_server_user

LIBRARIES = glob("/usr/lib/*/faketime/libfaketime.so.1") + glob("/usr/lib*/faketime/libfaketime.so.1")


class Clock:
    """The clock of a server that is started with this `environment`. It starts with the real time."""

    def __init__(self) -> None:
        # An error, not a skip: without these tests, a run must not pass.
        assert LIBRARIES, "libfaketime is not installed (Debian: libfaketime)"
        self.directory = Path(tempfile.mkdtemp(prefix="scru-clock-", dir=TEMPORARY))
        self.file = self.directory / "time"
        self.shift(0)
        give_to_server_user(self.directory)
        self.environment = {
            "LD_PRELOAD": LIBRARIES[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
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
        self._write(f"{seconds:+f}")

    def freeze(self, time: str | float) -> None:
        """Stops the clock at a time, such as '2030-01-01 00:00:00', or at the seconds since 1970."""
        self._write(time if isinstance(time, str) else f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M:%S.%f}")

    def remove(self) -> None:
        """Deletes the file that holds the time, and its directory."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _write(self, text: str) -> None:
        # The server can read the file at any moment, so it is replaced atomically.
        new = self.directory / "new"
        new.write_text(text + "\n")
        new.chmod(0o644)
        os.replace(new, self.file)
