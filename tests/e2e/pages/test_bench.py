"""The benchmark: its pages are rendered from its results, and each workload runs for each candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

from server import MAJOR, MAJORS

if min(MAJORS) != MAJOR:
    pytest.skip(f"pages are rendered on PostgreSQL {min(MAJORS)} only", allow_module_level=True)

from bench import report, workloads
from bench.candidates import CREATED_AT, ENCRYPTION, EVENTS, SCALE, TYPES, Candidate, available
from bench.measure import Session, read_costs, read_plan, read_times
from bench.results import DOCS, saved


def test_the_readme_shows_the_committed_results():
    assert report.rendered(saved()) == report.README.read_text(), "run `make bench-report`"


def test_every_file_of_results_has_its_page():
    assert {path.name: path.read_text() for path in DOCS.glob("*.md")} == {
        f"{results.name}.md": report.page(results) for results in saved()
    }


def test_everything_is_measured_for_every_candidate(connection):
    connection.execute("CREATE EXTENSION scru_uuidv7; CREATE SEQUENCE numbers")
    directory = Path(connection.execute("SHOW data_directory").fetchone()[0])
    session, rows = Session(connection, directory), 20_000

    def measured(some: dict[str, workloads.Workload], candidate: Candidate, read=read_times) -> None:
        for workload in some.values():
            values = session.measure(workload, candidate, rows, read, day=workloads.day(1))
            assert min(values.values()) > 0, (workload, values)

    def new_schema(candidate: Candidate) -> None:
        session.execute((f"DROP SCHEMA IF EXISTS {candidate.key} CASCADE", f"CREATE SCHEMA {candidate.key}"), candidate)

    for candidate in available(EVENTS, MAJOR):
        measured({"insert": workloads.INSERT}, candidate, read_costs)
    for candidate in available(TYPES, MAJOR):
        session.execute(workloads.PREPARE_TYPES, candidate, rows=rows)
        measured(workloads.TYPES, candidate)
    for candidate in available(SCALE, MAJOR):
        new_schema(candidate)
        session.execute(workloads.PREPARE_SCALE, candidate, rows=rows)
        measured(workloads.TIME, candidate, read_plan)
        measured(workloads.SCALE, candidate)
        [(left,)] = connection.execute(f"SELECT count(*) FROM {candidate.key}.events")
        assert left == rows - rows // 30 - 1
    for candidate in ENCRYPTION:
        new_schema(candidate)
        session.execute(workloads.PREPARE_ENCRYPTION, candidate, rows=rows)
        measured(workloads.ENCRYPTION, candidate)
    for candidate in CREATED_AT:
        new_schema(candidate)
        session.execute(workloads.RECENT, candidate, rows=rows)
        since = session.fill_in(workloads.SINCE, candidate)
        [(plans,)] = connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {since}")
        # An hour of 90 days has 9 of 20,000 rows.
        assert plans[0]["Plan"]["Actual Rows"] in (8, 9, 10)
        assert 5 <= plans[0]["Plan"]["Plan Rows"] <= 15
        for workload in workloads.PLANNING.values():
            [(plans,)] = connection.execute(f"EXPLAIN (FORMAT JSON) {session.fill_in(workload.statement, candidate)}")
            assert "Index Scan" in str(plans)
            assert "Sort" not in str(plans)
        for size in workloads.SIZES.values():
            assert connection.execute(f"SELECT {size}").fetchone() > (0,)
