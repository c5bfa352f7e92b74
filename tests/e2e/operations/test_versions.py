"""On which versions a test runs, by its marks."""

from __future__ import annotations

import pytest

from server import MAJORS, oldest_and_newest, on_the_oldest, reason_to_skip, since

pytestmark = on_the_oldest("tests the tests, which do not depend on the server")

OLDEST, NEWEST = min(MAJORS), max(MAJORS)


class Item:
    """A test with marks, as pytest collects it."""

    def __init__(self, *marks: pytest.MarkDecorator):
        self.marks = [mark.mark for mark in marks]

    def iter_markers(self, name: str) -> list:
        return [mark for mark in self.marks if mark.name == name]

    def get_closest_marker(self, name: str):
        return next(iter(self.iter_markers(name)), None)


@pytest.mark.parametrize(
    ("marks", "versions"),
    [
        ([], MAJORS),
        ([since(17, "…")], [major for major in MAJORS if major >= 17]),
        ([on_the_oldest("…")], [OLDEST]),
        ([pytest.mark.alone], [OLDEST]),
        ([oldest_and_newest("…")], [OLDEST, NEWEST]),
        ([oldest_and_newest("…"), since(17, "…")], [17, NEWEST]),
    ],
    ids=["no mark", "since 17", "on the oldest", "alone", "ends", "ends since 17"],
)
def test_a_test_runs_on_these_versions(marks, versions):
    assert [major for major in MAJORS if reason_to_skip(Item(*marks), major) is None] == versions


def test_a_skipped_test_says_why():
    assert reason_to_skip(Item(since(17, "a feature")), 16) == "requires PostgreSQL 17 (a feature)"
    assert reason_to_skip(Item(oldest_and_newest("of this")), 16) == f"runs on {OLDEST} and {NEWEST} only: of this"
