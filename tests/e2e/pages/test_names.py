"""1.0.0 is the first release: no file names an earlier version, or code that existed for it only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from server import on_the_oldest

pytestmark = on_the_oldest("uses no server")

ROOT = Path(__file__).parents[3]
EXCEPT = {
    "crates/ids/Cargo.toml",  # it has a version of its own
    "docs/migrate.md",  # the recipe out of a development version
    "tests/e2e/operations/test_development_version.py",
    "tests/e2e/pages/test_names.py",
}
# They list other projects with their versions.
LOCKS = ("Cargo.lock", "package-lock.json")
VERSION = re.compile(r"\b0\.[123]\.0\b")
# Specifications that have the same version numbers. Each is named in the same line.
OTHER_PROJECTS = re.compile(r"TypeID|SCRU160|specification")
REMOVED = re.compile(
    r"\bPrecision\b|by_tick|old_versions|move_left|forget_left|(?<!not)_(?:encrypted|decrypted)\b|scru_snowflake_floor|T_is_timely"
)


def lines() -> list[tuple[str, str]]:
    """Returns the lines of the tracked text files, each with its place."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = []
    for name in tracked.rstrip("\0").split("\0"):
        path = ROOT / name
        if name in EXCEPT or name.endswith(LOCKS) or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            text = content.decode(errors="replace").splitlines()
            found += [(f"{name}:{number}", line) for number, line in enumerate(text, start=1)]
    return found


def test_no_file_names_a_version_before_the_first():
    tracked = lines()
    assert len(tracked) > 50_000
    versions = [f"{at}: {line}" for at, line in tracked if VERSION.search(line) and not OTHER_PROJECTS.search(line)]
    assert versions == []
    assert [f"{at}: {line}" for at, line in tracked if REMOVED.search(line)] == []
