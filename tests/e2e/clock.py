"""A clock that a test can move while the server runs: Debian's libfaketime, loaded into the server's processes."""

from __future__ import annotations

import os
import shutil
import tempfile
from glob import glob
from pathlib import Path

from server import TEMPORARY, give_to_server_user

LIBRARIES = glob("/usr/lib/*/faketime/libfaketime.so.1") + glob("/usr/lib*/faketime/libfaketime.so.1")


class Clock:
    """The clock of a server that is started with this `environment`. It begins at the real time."""

    def __init__(self) -> None:
        # Not a skip: a test run without these tests would promise what it has not seen.
        assert LIBRARIES, "libfaketime is missing: install the package of that name"
        self.folder = Path(tempfile.mkdtemp(prefix="scru-clock-", dir=TEMPORARY))
        self.file = self.folder / "time"
        self.shift(0)
        give_to_server_user(self.folder)
        self.environment = {
            "LD_PRELOAD": LIBRARIES[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            # Waiting goes by the monotonic clock, which nobody moves.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def shift(self, seconds: float) -> None:
        """Sets the clock to the real time plus so many seconds."""
        self._write(f"{seconds:+f}")

    def freeze(self, time: str) -> None:
        """Lets the clock stand still at a time, such as '2030-01-01 00:00:00'."""
        self._write(time)

    def remove(self) -> None:
        """Deletes the file that holds the time."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, text: str) -> None:
        # The server reads the file at any moment: it has to be there, whole, at every one.
        new = self.folder / "new"
        new.write_text(text + "\n")
        new.chmod(0o644)
        os.replace(new, self.file)
