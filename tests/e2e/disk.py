"""A disk that is small, so that a test can fill it: a file system in memory. Only root may mount one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server import TEMPORARY, give_to_server_user


class Disk:
    """A mounted file system of so many megabytes, which belongs to the server's user."""

    def __init__(self, path: Path):
        self.path = path

    def resize(self, megabytes: int) -> None:
        """Gives it another size, while it is in use."""
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(self.path)], check=True)

    def leave(self, megabytes: int) -> None:
        """Resizes it so that no more than this is free."""
        disk = os.statvfs(self.path)
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        self.resize(-(-used // 2**20) + megabytes)


@contextmanager
def small_disk(megabytes: int) -> Iterator[Disk]:
    """Mounts a disk while the block runs, or skips the test where that is not allowed."""
    path = Path(tempfile.mkdtemp(prefix="scru-disk-", dir=TEMPORARY))
    options = ["-o", f"size={megabytes}m,mode=700"]
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", *options, "scru", str(path)], capture_output=True, text=True)
        if mounted.returncode:
            pytest.skip(f"only root may mount a disk that is small enough to be filled: {mounted.stderr.strip()}")
        give_to_server_user(path)
        try:
            yield Disk(path)
        finally:
            subprocess.run(["umount", str(path)], check=True)
    finally:
        path.rmdir()
