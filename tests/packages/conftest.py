"""Fixtures and functions shared by the tests of the build and of the packages.

Run the tests with `tools/test.sh packages`, or with `/usr/bin/python3 -m pytest tests/packages` and the path of a
pg_config in the environment variable PG_CONFIG.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e/support"))

from machine import Machine  # noqa: E402

from server import MAJOR, MAJORS, SHARES_TESTS  # noqa: E402

_PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION, RUST_VERSION = _PACKAGE["version"], _PACKAGE["rust-version"]
EXTENSIONS = ("scru", "scru_text", "scru_uuidv7")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

on_the_oldest = pytest.mark.skipif(
    SHARES_TESTS and min(MAJORS) != MAJOR, reason=f"tested with PostgreSQL {min(MAJORS)} only"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a machine to install packages on")


def run(*command: object, **options: object) -> str:
    """Runs a command, by default in the project's root, and returns its output. Raises RuntimeError if it fails."""
    done = subprocess.run(
        [str(word) for word in command], **{"cwd": ROOT, "text": True, "capture_output": True, **options}
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def extension_files() -> set[str]:
    """Returns the names of the control files and of all scripts."""
    names = {f"{name}{end}" for name in EXTENSIONS for end in (".control", f"--{VERSION}.sql")}
    return names | {path.name for path in (ROOT / "sql").rglob("scru*--*.sql")}


@contextmanager
def readable_directory() -> Iterator[Path]:
    """Yields a temporary directory that other users can read, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="scru-", dir="/tmp") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """Fails a test that hangs, with a traceback of its position. The limit allows for builds, which take minutes."""

    def fail(*_: object) -> None:
        raise TimeoutError("the test took longer than twenty minutes")

    signal.signal(signal.SIGALRM, fail)
    signal.alarm(1200)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def packages() -> dict[str, Path]:
    """The Debian packages by name."""
    return build_packages()


def build_packages() -> dict[str, Path]:
    """Builds the Debian packages for the system's server by `make deb`, and returns their paths by name."""
    environment = {name: value for name, value in os.environ.items() if name != "PG_CONFIG"}
    printed = run("make", "deb", f"PG_MAJOR={MAJOR}", env=environment)
    paths = (Path(line) for line in printed.splitlines() if line.endswith(".deb") and line.startswith("/"))
    return {path.name.split("_")[0]: path for path in paths}


@pytest.fixture(scope="session")
def package(packages: dict[str, Path]) -> Path:
    """The package with the extension."""
    return packages[f"postgresql-{MAJOR}-scru"]


@pytest.fixture(scope="session")
def debian() -> Path:
    """The root directory of a Debian with the server and no compiler. `make test-all` uses that of the host instead."""
    return Path("/") if SHARES_TESTS else Path(run("tools/lib/servers.sh", "bare", MAJOR).splitlines()[-1])


@pytest.fixture
def machine(debian: Path) -> Iterator[Machine]:
    """A machine with a running server, without the extension."""
    with running(debian, MAJOR) as machine:
        yield machine


@contextmanager
def running(debian: Path, major: int) -> Iterator[Machine]:
    """Yields a machine with a running server."""
    machine = Machine(debian, major)
    try:
        machine.start_server()
        yield machine
    finally:
        machine.remove()
