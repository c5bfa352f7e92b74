"""tools/server.sh: the directory of the private servers, and its removal."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import TEMPORARY, on_the_oldest

pytestmark = on_the_oldest("the script treats all servers alike")

ROOT = Path(__file__).parents[3]


@pytest.fixture
def clone() -> Iterator[Path]:
    """A clone in which nothing has been built. The server's user has access to it."""
    directory = Path(tempfile.mkdtemp(prefix="scru-", dir=TEMPORARY))
    directory.chmod(0o755)
    shutil.copytree(ROOT / "tools", directory / "tools")
    for file in "Cargo.toml", "Cargo.lock":
        shutil.copy(ROOT / file, directory)
    yield directory
    shutil.rmtree(directory)


def run(clone: Path, command: str) -> str:
    """Runs a command of the script, and returns its output."""
    done = subprocess.run([clone / "tools/server.sh", command], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_directory_is_the_same_before_and_after_the_first_build(clone):
    before = run(clone, "home")
    (clone / "target/release").mkdir(parents=True)
    assert run(clone, "home") == before == str(clone / "target/servers")


def test_removal_leaves_no_directory(clone):
    """Neither that in target/, nor that of a time at which the server's user had no access to target/."""
    target = clone / "target"
    target.mkdir(mode=0o600)
    elsewhere = Path(run(clone, "home"))
    target.chmod(0o755)
    here = Path(run(clone, "home"))
    assert (elsewhere.parent, here.parent) == (Path("/var/tmp"), target)
    assert elsewhere.is_dir() and here.is_dir()
    run(clone, "remove")
    assert not elsewhere.exists() and not here.exists()
