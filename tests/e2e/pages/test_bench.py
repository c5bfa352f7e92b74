"""The benchmark: its pages are rendered from its results, and every figure on speed links to its results."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from server import MAJOR, MAJORS

if min(MAJORS) != MAJOR:
    pytest.skip(f"pages are rendered on PostgreSQL {min(MAJORS)} only", allow_module_level=True)

from bench import report, workloads
from bench.candidates import (
    CREATED_AT,
    ENCRYPTION,
    EVENTS,
    GENERATE,
    GROWTH,
    GUARDS,
    HORIZONS,
    MIXED,
    SCALE,
    TYPES,
    Candidate,
    available,
    rotated,
)
from bench.measure import Run, Session, read_costs, read_look_ups, read_plan, read_times
from bench.results import DOCS, ROOT, WHOLE, Results, saved

PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "clients").glob("*/*.md")]
CODE = re.compile(r"^```.*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
# A figure on speed is a short time, a rate, or a number beside a comparison of times.
SPEED = re.compile(
    r"\d ?(ns|µs)\b|\d[\d,.]* (rows|IDs|inserts|transactions)(/s| (a|per) second)"
    r"|\d.*\b(faster|slower)\b|\b(faster|slower)\b.*\d"
)
RESULTS = re.compile(r"bench/pg\d+-\w+\.(json|md)")


def orphans(text: str) -> list[str]:
    """Returns the paragraphs with a figure on speed but no link to results. Rendered blocks have their own links."""
    prose = CODE.sub("", report.BLOCK.sub("", text))
    paragraphs = [" ".join(paragraph.split()) for paragraph in prose.split("\n\n")]
    return [paragraph for paragraph in paragraphs if SPEED.search(paragraph) and not RESULTS.search(paragraph)]


def test_every_figure_on_speed_names_its_results():
    figures = ["35 ns", "2,000,000 IDs a second", "faster: 0.52 of the time", "1.5 times slower"]
    texts = [*(page.read_text() for page in PAGES), "\n\n".join(figures)]
    assert [paragraph for text in texts for paragraph in orphans(text)] == figures


def test_the_readme_shows_the_committed_results():
    assert report.rendered(saved()) == report.README.read_text(), "run `make bench-report`"


def test_every_file_of_results_has_its_page():
    assert {path.name: path.read_text() for path in DOCS.glob("*.md")} == {
        f"{results.name}.md": report.page(results) for results in saved()
    }


def test_ratios_are_taken_turn_by_turn(tmp_path: Path):
    """A ratio compares two values of the same turn. The medians, whose ratio would be 1, are not compared."""
    results = Results({"major": 15, "mode": "short"})
    for uuid, scru128 in (10, 20), (20, 30), (40, 20):
        results.add("types", "order", 1000, "processor ms", "uuid", uuid)
        results.add("types", "order", 1000, "processor ms", "scru128", scru128)
    results.add("types", "order", 2000, "processor ms", "uuid", 7)
    data = report.frame(Results.load(results.save(tmp_path)))
    ratios = report.ratios(data, "uuid")
    assert list(ratios.value) == [2, 1.5, 0.5]
    assert report.table(ratios, ["workload"], report.with_spread) == (
        "|          | scru128    |\n|:---------|:-----------|\n| ORDER BY | 1.50 ±0.38 |\n"
    )


def test_a_guard_is_compared_with_none_of_the_same_turn(tmp_path: Path):
    """In microseconds for a row."""
    results = Results({"major": 15, "mode": "feed"})
    for without, guard in (100, 110), (200, 230), (300, 320):
        results.add("feed", "guarded", 100_000, "processor ms", "no_guard", without)
        results.add("feed", "guarded", 100_000, "processor ms", "guard", guard)
    for horizon in 4, 5:
        results.add("feed", "read", 2000, "processor ms", "horizon", 4)
        results.add("feed", "read", 2000, "processor ms", "horizon_with_lag", horizon)
    shown = report.feed(report.frame(Results.load(results.save(tmp_path))))
    assert [[cell.strip() for cell in line.split("|")[1:3]] for line in shown.splitlines() if "±" in line] == [
        ["guard", "0.20 ±0.05"],
        ["horizon with a lag", "1.12 ±0.06"],
    ]


@pytest.mark.parametrize("group", [TYPES, EVENTS, SCALE, GROWTH, GENERATE, MIXED, ENCRYPTION, GUARDS, HORIZONS])
def test_each_candidate_has_each_place(group):
    orders = [rotated(group, turn) for turn in range(2 * len(group))]
    assert all(sorted(order, key=group.index) == group for order in orders)
    assert all({order[place] for order in orders} == set(group) for place in range(len(group)))
    assert orders[0][1] != orders[1][1]


@pytest.mark.parametrize("group", [TYPES, EVENTS, SCALE, GROWTH, GENERATE, MIXED, ENCRYPTION, GUARDS, HORIZONS])
def test_each_group_measures_one_candidate_twice(group):
    [control] = [candidate for candidate in group if candidate.label == "baseline again"]
    assert replace(control, key=control.key.removesuffix("_control"), label="") in [replace(c, label="") for c in group]


@pytest.mark.parametrize(
    ("mode", "suites", "name", "is_whole"),
    [
        ("full", WHOLE, "full", True),
        ("full", ("types",), "full", False),
        ("full", ("feed",), "feed", True),
        ("short", WHOLE, "short", False),
        ("short", ("feed",), "feed", False),
        ("long", WHOLE, "long", True),
    ],
)
def test_a_run_has_the_name_of_its_mode_or_suite(mode, suites, name, is_whole):
    run = Run(mode, suites)
    assert (run.results.about["mode"], run.is_whole) == (name, is_whole)
    assert all(callable(getattr(run, suite)) for suite in run.suites)


def test_everything_is_measured_for_every_candidate(connection):
    connection.execute("CREATE EXTENSION scru_uuidv7; CREATE SEQUENCE numbers")
    directory = Path(connection.execute("SHOW data_directory").fetchone()[0])
    session, rows = Session(connection, directory), 20_000

    def measured(some: dict[str, workloads.Workload], candidate: Candidate, read=read_times) -> None:
        for workload in some.values():
            values = session.measure(workload, candidate, rows, read, day=workloads.day(1))
            assert min(values.values()) > 0, (workload, values)

    for candidate in available(EVENTS, MAJOR):
        measured({"insert": workloads.INSERT}, candidate, read_costs)
    for candidate in available(TYPES, MAJOR):
        session.execute(workloads.PREPARE_TYPES, candidate, rows=rows)
        measured(workloads.TYPES, candidate)
    for candidate in available(SCALE, MAJOR):
        session.execute((f"DROP SCHEMA {candidate.key} CASCADE", f"CREATE SCHEMA {candidate.key}"), candidate)
        session.execute(workloads.PREPARE_SCALE, candidate, rows=rows)
        measured(workloads.TIME, candidate, read_plan)
        measured(workloads.SCALE, candidate)
        [(left,)] = connection.execute(f"SELECT count(*) FROM {candidate.key}.events")
        assert left == rows - rows // 30 - 1
    for candidate in MIXED:
        session.execute((f"DROP SCHEMA IF EXISTS {candidate.key} CASCADE", f"CREATE SCHEMA {candidate.key}"), candidate)
        session.execute(workloads.OLD_ROWS, candidate, rows=rows)
        measured({"new_rows": workloads.NEW_ROWS}, candidate, read_costs)
        connection.execute("VACUUM ANALYZE events, old, new")
        measured(workloads.MIXED, candidate, read_look_ups)
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (2 * rows,)
    for candidate in ENCRYPTION:
        session.execute((f"DROP SCHEMA IF EXISTS {candidate.key} CASCADE", f"CREATE SCHEMA {candidate.key}"), candidate)
        session.execute(workloads.PREPARE_ENCRYPTION, candidate, rows=rows)
        measured(workloads.ENCRYPTION, candidate)
    for candidate in GUARDS:
        measured({"guarded": workloads.GUARDED}, candidate)
    for candidate in HORIZONS:
        measured({"read": workloads.READ}, candidate)
    for candidate in CREATED_AT:
        session.execute((f"DROP SCHEMA IF EXISTS {candidate.key} CASCADE", f"CREATE SCHEMA {candidate.key}"), candidate)
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
