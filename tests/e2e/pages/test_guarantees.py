"""Every promise of docs/guarantees.md names the tests that prove it, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

from server import on_the_oldest

pytestmark = on_the_oldest("compares the page with the sources")

PAGE = Path(__file__).parents[3] / "docs/guarantees.md"
TEST = re.compile(r"\[(\w+)\]\((\.\./(?:tests|crates|tools)/[^)#]+)\)")


def promises() -> dict[str, list[tuple[str, Path]]]:
    """Returns the promises, each with the names and files of its tests."""
    proved = PAGE.read_text().split("\n### What an ID reveals")[0]
    items = [re.split(r"^#", item, flags=re.MULTILINE)[0] for item in re.split(r"^- ", proved, flags=re.MULTILINE)[1:]]
    return {item: [(name, PAGE.parent / path) for name, path in TEST.findall(item)] for item in items}


def has_test(name: str, path: Path) -> bool:
    """Returns whether a file has a test of this name, or is itself the test."""
    if path.suffix in (".py", ".rs"):
        return re.search(rf"^(def|fn) {name}\b", path.read_text(), re.MULTILINE) is not None
    return path.is_file() and path.stem == name


def test_every_promise_names_tests_that_are_there():
    rows = promises()
    assert len(rows) > 30
    for promise, tests in rows.items():
        assert tests, f"no tests: {promise}"
        for name, path in tests:
            assert has_test(name, path), f"no {name} in {path}: {promise}"
