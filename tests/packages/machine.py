"""Machines to install packages on: namespaces with a Debian as root directory, without a network.

Creating a machine requires root. Changes are written to an overlay, and disappear with the machine.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from server import wait_until

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = (f"PATH={PATH}", "LC_ALL=C.UTF-8", "HOME=/root", "DEBIAN_FRONTEND=noninteractive")

# A mount on a machine must not appear on its host. The first command fails only in a chroot, whose root directory is
# not a mount point. There, tools/lib/servers.sh has made all mounts private already.
START = """
mount --make-rprivate / 2>/dev/null || true
mount -t tmpfs machine "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay machine -o "lowerdir=$0,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
ip link set lo up
touch "$1/ready"
exec sleep infinity
"""


class Machine:
    """A Debian with a PostgreSQL server. `start_server` starts the server."""

    def __init__(self, debian: Path, major: int):
        self.major = major
        self.directory = Path(tempfile.mkdtemp(prefix="scru-", dir="/tmp"))
        namespaces = ("--mount", "--propagation=unchanged", "--net", "--pid")
        apart = ("unshare", *namespaces, "--fork", "--kill-child", "sh", "-ec", START)
        self.keeper = subprocess.Popen([*apart, str(debian), str(self.directory)])
        wait_until(self._is_ready, "the root directory of the machine is mounted")

    @property
    def root(self) -> Path:
        """The machine's root directory, as a path on the host."""
        return Path(f"/proc/{self._inside}/root{self.directory}/root")

    def run(self, *command: str, user: str = "root") -> str:
        """Runs a command on the machine, and returns its output. If it fails, raises an error with its output."""
        as_user = () if user == "root" else ("runuser", "-u", user, "--")
        # Entering a mount namespace leaves any chroot of the caller. --root enters the chroot of the target.
        enter = ("nsenter", "--target", str(self._inside), "--mount", "--net", "--pid", "--root")
        enter += ("chroot", f"{self.directory}/root", "env", "--ignore-environment", "--chdir=/tmp", *ENVIRONMENT)
        called = [*enter, *as_user, *command]
        done = subprocess.run(called, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def copy(self, file: Path) -> str:
        """Copies a file to /tmp of the machine, and returns its path there."""
        there = self.root / "tmp" / file.name
        there.write_bytes(file.read_bytes())
        return f"/tmp/{file.name}"

    def start_server(self) -> None:
        """Creates the cluster `main` if it does not exist, starts it, and creates the superuser `root`."""
        if not (self.root / f"etc/postgresql/{self.major}/main").is_dir():
            self.run("pg_createcluster", str(self.major), "main")
        # The cluster of the package has another port if a server of the host had this one.
        self.run("pg_conftool", str(self.major), "main", "set", "port", "5432")
        self.run("pg_ctlcluster", str(self.major), "main", "start")
        self.run("createuser", "--superuser", "root", user="postgres")

    @contextmanager
    def connect(self) -> Iterator[psycopg.Connection]:
        """Yields a connection to the machine's server, in autocommit mode."""
        socket = str(self.root / "run/postgresql")
        with psycopg.connect(host=socket, dbname="postgres", user="root", autocommit=True) as connection:
            yield connection

    def remove(self) -> None:
        """Kills all processes of the machine. Its mounts disappear with the last process."""
        self.keeper.kill()
        self.keeper.wait()
        self.directory.rmdir()

    def _is_ready(self) -> bool:
        if self.keeper.poll() is not None:
            raise RuntimeError(f"the machine did not start: {self.keeper.returncode}")
        self._children = Path(f"/proc/{self.keeper.pid}/task/{self.keeper.pid}/children").read_text().split()
        return bool(self._children) and Path(f"/proc/{self._inside}/root{self.directory}/ready").exists()

    @property
    def _inside(self) -> int:
        return int(self._children[0])
