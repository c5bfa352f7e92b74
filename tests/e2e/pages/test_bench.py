"""The benchmark: its pages are rendered from its results, and each workload runs for each candidate."""

from __future__ import annotations

import pytest

from server import MAJOR, MAJORS

if min(MAJORS) != MAJOR:
    pytest.skip(f"pages are rendered on PostgreSQL {min(MAJORS)} only", allow_module_level=True)

from bench import report
from bench.candidates import available
from bench.measure import SUITES, execute, measure
from bench.results import DOCS, saved

ROWS = 20_000


def test_the_readme_shows_the_committed_results():
    assert report.rendered(saved()) == report.README.read_text(), "run `make bench-report`"


def test_every_file_of_results_has_its_page():
    assert {path.name: path.read_text() for path in DOCS.glob("*.md")} == {
        f"{results.name}.md": report.page(results) for results in saved()
    }


# Those that run pgbench for seconds are left out.
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite not in ("inserts", "draws")])
def test_a_suite_is_measured_for_every_candidate(connection, suite):
    connection.execute("CREATE EXTENSION scru_uuidv7; CREATE SEQUENCE numbers")
    for candidate in available(SUITES[suite].group, MAJOR):
        execute(connection, candidate, *SUITES[suite].prepare, rows=ROWS)
        workloads = SUITES[suite].workloads.items()
        values = {name: measure(connection, workload, candidate, ROWS) for name, workload in workloads}
        assert all(value > 0 for of_workload in values.values() for value in of_workload.values()), values
        if suite == "scale":
            [(left,)] = connection.execute(f"SELECT count(*) FROM {candidate.key}.events")
            assert left == ROWS - ROWS // 30 - 1
        if suite == "created_at":
            # An hour of 90 days has 9 of 20,000 rows.
            assert values["last hour"]["rows"] in (8, 9, 10)
            assert 5 <= values["last hour"]["estimated rows"] <= 15
