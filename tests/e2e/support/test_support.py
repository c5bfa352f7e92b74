"""What the tests rely on: on which versions a test runs, what a timeout shows, and the servers of tools/server.sh."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import Program
from server import (
    MAJORS,
    TEMPORARY,
    Server,
    last_lines,
    on_every_version,
    on_the_oldest,
    reason_to_skip,
    since,
    wait_until,
)

of_the_tests = on_the_oldest("tests the tests, which do not depend on the server")

# ------------------------------------------------------------------------------------------------------------- versions

OLDEST, NEWEST = min(MAJORS), max(MAJORS)


class Item:
    """A test with marks, as pytest collects it."""

    def __init__(self, *marks: pytest.MarkDecorator):
        self.marks = [mark.mark for mark in marks]

    def iter_markers(self, name: str) -> list:
        return [mark for mark in self.marks if mark.name == name]

    def get_closest_marker(self, name: str):
        return next(iter(self.iter_markers(name)), None)


@of_the_tests
@pytest.mark.parametrize(
    ("marks", "versions"),
    [
        ([], [OLDEST, NEWEST]),
        ([since(17, "…")], [17, NEWEST]),
        ([on_every_version], MAJORS),
        ([on_every_version, since(17, "…")], [major for major in MAJORS if major >= 17]),
        ([on_the_oldest("…")], [OLDEST]),
        ([on_the_oldest("…", 18)], [OLDEST, 18]),
        ([pytest.mark.alone], [OLDEST]),
    ],
    ids=[
        "no mark",
        "since 17",
        "each",
        "each since 17",
        "on the oldest",
        "on the oldest and 18",
        "alone",
    ],
)
def test_a_test_runs_on_these_versions(marks, versions):
    """In a run on all versions. A run on a single version leaves no test to the others."""
    assert [major for major in MAJORS if reason_to_skip(Item(*marks), major, shares_tests=True) is None] == versions
    features = [mark.mark.args[0] for mark in marks if mark.name == "since"]
    able = [major for major in MAJORS if all(major >= feature for feature in features)]
    assert [major for major in MAJORS if reason_to_skip(Item(*marks), major, shares_tests=False) is None] == able


@of_the_tests
def test_a_skipped_test_says_why():
    assert reason_to_skip(Item(since(17, "a feature")), 16) == "requires PostgreSQL 17 (a feature)"
    reason = reason_to_skip(Item(), 16, shares_tests=True)
    assert reason == f"runs on {OLDEST} and {NEWEST} only: does not depend on the version"
    assert reason_to_skip(Item(on_the_oldest("of this", 18)), 17, True) == f"runs on {OLDEST} and 18 only: of this"


# ------------------------------------------------------------------------------------------------------------- timeouts


@of_the_tests
def test_a_timeout_shows_the_last_lines_of_a_program(tmp_path):
    """Also of one that has ended by itself, as opposed to one that the test has ended."""
    program = Program(tmp_path / "log", "sh", "-c", "seq 100; echo cannot lock >&2; exit 1")
    program.start()
    wait_until(lambda: not program.is_running, "the program has ended")
    with pytest.raises(TimeoutError) as caught:
        wait_until(lambda: False, "it answers", seconds=0)
    message = str(caught.value)
    assert message.startswith("timed out after 0 s, waiting until it answers\n")
    assert f"--- {tmp_path}/log\n87\n" in message and "\n100\ncannot lock" in message
    program.stop()
    assert "cannot lock" not in last_lines()


@of_the_tests
def test_a_timeout_shows_the_last_lines_of_a_server():
    """Until the server is removed."""
    with Server() as server:
        server.value("SELECT pg_reload_conf()")
        wait_until(lambda: "reloading configuration files" in server.log_text(), "the server logs the reload")
        assert f"--- {server.log}\n" in last_lines() and "reloading configuration files" in last_lines()
    assert str(server.directory) not in last_lines()


# ----------------------------------------------------------------------------------------------------- tools/server.sh

of_the_script = on_the_oldest("the script treats all servers alike")

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


@of_the_script
def test_the_directory_is_the_same_before_and_after_the_first_build(clone):
    before = run(clone, "home")
    (clone / "target/release").mkdir(parents=True)
    assert run(clone, "home") == before == str(clone / "target/servers")


@of_the_script
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
