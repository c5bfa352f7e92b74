"""On which versions a test runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from server import MAJORS, on_every_version, on_the_oldest, reason_to_skip, since

pytestmark = on_the_oldest("tests the tests, which do not depend on the server")

OLDEST, NEWEST = min(MAJORS), max(MAJORS)


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
)
def test_a_test_runs_on_these_versions(marks, versions):
    """In a run on all versions. A run on a single version leaves no test to the others."""

    def of_name(name: str) -> list:
        return [each.mark for each in marks if each.name == name]

    item = SimpleNamespace(iter_markers=of_name, get_closest_marker=of_name)
    assert [major for major in MAJORS if reason_to_skip(item, major, shares_tests=True) is None] == versions
    able = [major for major in MAJORS if all(major >= mark.args[0] for mark in of_name("since"))]
    assert [major for major in MAJORS if reason_to_skip(item, major, shares_tests=False) is None] == able
