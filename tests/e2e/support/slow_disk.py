"""A disk whose writes take a time that a test can change while the server runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from server import TEMPORARY, give_to_server_user


class SlowDisk:
    """The disk of a server that is started with this `environment`. At first, it has its real speed."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="scru-slow-", dir=TEMPORARY))
        self.file = self.directory / "milliseconds"
        library = self.directory / "slow_disk.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        library.chmod(0o755)
        self.delay(0)
        give_to_server_user(self.directory)
        self.environment = {"LD_PRELOAD": str(library), "SLOW_DISK": str(self.file)}

    def delay(self, seconds: float) -> None:
        """Makes each fsync and fdatasync that begins from now on take this much longer."""
        # The server can read the file at any moment, so it is replaced atomically.
        new = self.directory / "new"
        new.write_text(f"{round(seconds * 1000)}\n")
        new.chmod(0o644)
        os.replace(new, self.file)

    def remove(self) -> None:
        """Deletes the library and the file that holds the delay."""
        shutil.rmtree(self.directory, ignore_errors=True)
