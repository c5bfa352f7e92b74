"""A small file system in memory, which a test can fill. Mounting it requires root."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from server import TEMPORARY, give_to_server_user


class Disk:
    """A mounted file system, owned by the server's user."""

    def __init__(self, path: Path):
        self.path = path

    def resize(self, megabytes: int) -> None:
        """Changes the size of the file system while it is in use."""
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(self.path)], check=True)

    def leave(self, megabytes: int) -> None:
        """Changes the size so that only `megabytes` are free. Tries again if a server has used them up in between."""
        for _ in range(9):
            disk = os.statvfs(self.path)
            used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
            with suppress(subprocess.CalledProcessError):
                return self.resize(-(-used // 2**20) + megabytes)
        raise TimeoutError(f"could not leave {megabytes} MB of {self.path} free")


@contextmanager
def small_disk(megabytes: int) -> Iterator[Disk]:
    """Mounts a file system for the block, or skips the test if that is not permitted."""
    path = Path(tempfile.mkdtemp(prefix="scru-disk-", dir=TEMPORARY))
    options = ["-o", f"size={megabytes}m,mode=700"]
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", *options, "scru", str(path)], capture_output=True, text=True)
        if mounted.returncode:
            pytest.skip(f"mounting a small file system requires root: {mounted.stderr.strip()}")
        give_to_server_user(path)
        try:
            yield Disk(path)
        finally:
            subprocess.run(["umount", str(path)], check=True)
    finally:
        path.rmdir()
