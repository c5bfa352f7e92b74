"""Faults that a test injects into a server: crashes, full and slow disks, recorded syncs, pauses, and full memory.

A wrong clock is in clock.py.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from clock import Preloaded
from idtypes import ULIDFLAKE
from load import background, forever
from server import TEMPORARY, Server, give_to_server_user, pg_config, wait_until

# ------------------------------------------------------------------------------------------------ crashes and shutdowns


def kill_a_drawing_backend(server: Server) -> None:
    """Kills a backend that is generating IDs. The server then terminates all sessions and recovers."""
    busy = server.connect()
    is_drawing = f"SELECT query LIKE 'DO %' FROM pg_stat_activity WHERE pid = {busy.info.backend_pid}"
    with pytest.raises(psycopg.OperationalError), background(busy, forever(ULIDFLAKE)) as future:
        wait_until(lambda: server.value(is_drawing), "the session generates IDs")
        server.kill_backend(busy.info.backend_pid)
        future.result(timeout=60)


# Functions that end a server, or all its sessions. `bring_back` undoes them.
ENDS = {
    "a backend killed": kill_a_drawing_backend,
    "immediate shutdown": lambda server: server.stop("immediate"),
    "all killed": lambda server: server.kill(),
    "fast shutdown": lambda server: server.stop("fast"),
}


def bring_back(server: Server) -> None:
    """Starts the server, unless it recovers by itself, and waits until it accepts connections."""
    if server.process:
        server.wait_until_ready()
    else:
        server.start()


# ---------------------------------------------------------------------------------------------------------- a full disk


class Disk:
    """A mounted file system in memory, owned by the server's user."""

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
    """Mounts a small file system for the block, which requires root. Skips the test if that is not permitted."""
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


# ---------------------------------------------------------------------------------------------------------------- syncs


def build_library(directory: Path) -> Path:
    """Builds the library of faults.c, which a server preloads, in a directory. Returns its path."""
    return compile_library(directory / "faults.so", Path(__file__).with_suffix(".c").read_text(), "-ldl")


def compile_library(library: Path, source: str, *options: str) -> Path:
    """Compiles a library from a source in C, and returns its path."""
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, *options]
    subprocess.run(command, input=source, text=True, check=True)
    library.chmod(0o755)
    return library


class SlowDisk(Preloaded):
    """The disk of a server. At first, it has its real speed."""

    def __init__(self) -> None:
        super().__init__("slow")
        self.counter = self.directory / "milliseconds.syncs"
        self.counter.touch()
        give_to_server_user(self.counter)
        self.delay(0)
        library = build_library(self.directory)
        self.environment = {"LD_PRELOAD": str(library), "SLOW_DISK": str(self.directory / "milliseconds")}

    def delay(self, seconds: float) -> None:
        """Makes each fsync and fdatasync that begins from now on take this much longer."""
        self.write("milliseconds", str(round(seconds * 1000)))

    def syncs(self) -> int:
        """Returns the number of syncs that have begun and were delayed."""
        return self.counter.stat().st_size


# --------------------------------------------------------------------------------------------------------------- pauses


class Pauses(Preloaded):
    """Pauses of processes of a server after the extension reads the clock. Its removal ends all of them."""

    def __init__(self) -> None:
        super().__init__("pauses")
        self.environment = {"LD_PRELOAD": str(build_library(self.directory)), "PAUSES": str(self.directory)}

    def begin(self, pid: int) -> None:
        """Pauses a process when it next reads the clock."""
        (self.directory / str(pid)).touch()

    def wait_until_reached(self, pid: int) -> None:
        """Waits until the process pauses."""
        wait_until((self.directory / f"{pid}.paused").exists, "the process pauses")

    def end(self, pid: int) -> None:
        """Lets the process continue."""
        (self.directory / str(pid)).unlink(missing_ok=True)


# --------------------------------------------------------------------------------------------------------------- memory


class NoMemory(Preloaded):
    """A lack of memory of a server's extension, while the file exists."""

    def __init__(self) -> None:
        super().__init__("memory")
        self.file = self.directory / "none"
        self.environment = {"LD_PRELOAD": str(build_library(self.directory)), "NO_MEMORY": str(self.file)}


# ------------------------------------------------------------------------------------------------ no free shared memory

TAKER = """
#include "postgres.h"

#include "fmgr.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(take_shared_memory);

Datum
take_shared_memory(PG_FUNCTION_ARGS)
{
    int32 pieces = 0;

    while (ShmemAllocNoError(1) != NULL)
        pieces++;
    PG_RETURN_INT32(pieces);
}
"""


def take_shared_memory(directory: Path) -> str:
    """Builds the library of a function in a directory, and returns the SQL that creates the function.

    take_shared_memory() allocates all free shared memory of the server, and returns the number of allocations.
    """
    library = compile_library(directory / "taker.so", TAKER, f"-I{pg_config('--includedir-server')}")
    return f"CREATE FUNCTION take_shared_memory() RETURNS int LANGUAGE c AS '{library}', 'take_shared_memory'"
