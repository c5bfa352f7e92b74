"""The benchmark's report: what is committed is what its results render to, and a missed target is said to be missed."""

from __future__ import annotations

import re

import pytest

from bench import page, readme, tables
from bench.candidates import TYPES
from bench.results import Results
from bench.targets import CANNOT, CHANCE, TARGETS, Row
from bench.workloads import SIZES, TITLES


def test_the_readme_shows_the_committed_results():
    assert readme.rendered_readme() == readme.README.read_text(), "run `make bench-report`"


def test_the_pages_show_the_committed_results():
    for results in readme.committed():
        path = page.DOCS / f"pg{results.major}.md"
        assert page.page(results) == path.read_text(), f"{path}: run `make bench-report`"
        assert {chart.name for chart in page.DOCS.glob(f"pg{results.major}-*.svg")} == {
            f"pg{results.major}-{name}.svg" for name in page.CHARTS
        }


def test_what_cannot_be_reached_has_its_reason_in_the_docs():
    headings = re.findall(r"^#+ (.*)$", (page.ROOT / "docs" / "performance.md").read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {*CANNOT.values(), CHANCE} <= anchors
    rows = {row.workload for row in TARGETS}
    assert all(workload in rows and candidate in TYPES for workload, _, candidate in CANNOT)


def run_of(values: dict[str, dict[str, list[float]]], major: int = 15) -> Results:
    """The results of a run that measured just this."""
    results = Results(
        {
            "server": {"version": f"{major}.1", "major": major, "settings": {}},
            "machine": {"cpu": "some", "cores": 2},
            "rows": 1000,
            "rounds": 3,
            "workloads": {},
            "processor_time": {},
            "instructions": {},
            "memory": {},
        }
    )
    for workload, of_candidates in values.items():
        for candidate, rounds in of_candidates.items():
            for value in rounds:
                results.add(workload, "ms", candidate, value)
    results.add_ratios()
    return results


def cells(table: str) -> list[list[str]]:
    """The cells of a Markdown table, without the rule below its head."""
    head, rule, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    assert set("".join(rule)) == {"-"}
    return [head, *lines]


def test_the_median_of_the_ratios_of_each_round():
    """Not the ratio of the medians, which is 20 / 20: each round is compared with itself."""
    results = run_of({"order": {"uuid": [10, 20, 40], "scru128": [20, 30, 20]}})
    assert results.ratios("order", "scru128", "uuid") == [2, 1.5, 0.5]
    row = Row(workload="order", sixteen=1.0)
    assert tables.full_cell(results, row, "scru128") == "1.50 (0.50 … 2.00) **missed**"
    assert tables.short_cell(results, row, "scru128") == "**1.50** (missed)"
    assert tables.full_cell(results, row, "ulid") == ""


def test_a_table_shows_what_was_measured():
    results = run_of(
        {
            "insert": {"uuid": [10, 10], "scru128": [6.1, 6.1], "scru160": [7, 7], "bigint": [8, 8], "scru64": [4, 4]},
            "generate": {"noop": [10], "ulidflake": [40], "bigint": [20]},
        }
    )
    why = "([why](docs/performance.md#ulidflake-waits-for-the-clock))"
    assert cells(tables.targets_table(results, tables.short_cell)) == [
        ["ratio of", "target", "scru128", "ulid", "scru160", "target", "scru64", "ulidflake"],
        ["generate, to the no-op floor", "≤ 1.25", "", "", "", "≤ 1.25", "", f"**4.00** {why}"],
        ["generate, to gen_random_uuid() or nextval", "≤ 0.25", "", "", "", "≤ 0.5", "", f"**2.00** {why}"],
        ["bulk insert into a primary key", "≤ 0.6", "0.61", "", "**0.70** (missed)", "≤ 1", "0.50", ""],
    ]
    assert tables.summary(results).splitlines() == [
        "2 targets hold, 1 are missed, 0 by chance only, 2 cannot be reached.",
        "  missed   bulk insert into a primary key: scru160 0.70",
        "  cannot   generate, to the no-op floor: ulidflake 4.00: see docs/performance.md",
        "  cannot   generate, to gen_random_uuid() or nextval: ulidflake 2.00: see docs/performance.md",
    ]


def test_generators_are_held_to_the_least_that_an_id_takes():
    generators = {"scru128": [16], "scru64": [13.3], "ulidflake": [39]}
    results = run_of({"generate": {"noop": [10], "least8": [13], "least16": [14], **generators}})
    least, waits = "the-least-that-an-id-takes", "ulidflake-waits-for-the-clock"
    why = "([why](docs/performance.md#{}))".format
    assert cells(tables.targets_table(results, tables.short_cell))[1:] == [
        [
            *("generate, to the no-op floor", "≤ 1.25", f"**1.60** {why(least)}", "", ""),
            *("≤ 1.25", "**1.33** (missed)", f"**3.90** {why(waits)}"),
        ],
        [
            *("generate, to the least that an ID takes", "≤ 1.1", "**1.14** (missed)", "", ""),
            *("≤ 1", "1.02", f"**3.00** {why(waits)}"),
        ],
    ]


def test_from_18_on_the_server_has_such_ids_itself():
    results = run_of({"generate": {"uuidv7": [10], "scru128": [3.2], "scru64": [1]}}, major=18)
    assert cells(tables.targets_table(results, tables.short_cell))[1:] == [
        ["generate, to uuidv7()", "≤ 0.3", "**0.32** (missed)", "", "", "", "", ""],
    ]


def test_a_page_has_every_measurement():
    results = run_of({"order": {"uuid": [10, 10], "scru128": [9, 8], "text_scru128": [27, 16]}})
    results.instructions.add("look_up", "instructions", "uuid", 10000)
    results.instructions.add("look_up", "instructions", "ulid", 9900)
    results.instructions.add_ratios()
    results.data["memory"]["scru128"] = {"ids": 100, "before_kb": 3000, "most_kb": 8000}
    sections = dict(re.findall(r"^## (.*?)\n\n.*?\n\n(\|.*?)\n(?:\n|$)", page.page(results), re.MULTILINE | re.DOTALL))
    assert cells(sections["Ratios"])[1:] == [["ORDER BY", "≤ 1", "0.85 (0.80 … 0.90)", "", "", "≤ 1", "", ""]]
    assert cells(sections["Ratios of instructions"])[1:] == [["point look-ups", "≤ 1", "", "0.99", "", "≤ 1", "", ""]]
    assert cells(sections["Instructions"]) == [["", "uuid", "ulid"], ["point look-ups", "10,000", "9,900"]]
    assert cells(sections["The same IDs as text"])[1:] == [["ORDER BY", "2.50 (2.00 … 3.00)", ""]]
    assert cells(sections["Milliseconds"]) == [
        ["", "uuid", "scru128", "scru128 as text"],
        ["ORDER BY", "10.0", "8.5", "21.5"],
    ]
    assert cells(sections["Memory"])[1:] == [["scru128", "100", "3,000", "8,000", "**grows**"]]


def test_sizes_are_compared_for_the_same_values():
    results = run_of({})
    results.add_size("heap", "uuid", 900, None, None)
    results.add_size("heap", "scru128", 1000, "uuid", 1000)
    results.add_size("heap", "scru160", 1180, "uuid", 1000)
    results.add_ratios()
    why = "([why](docs/performance.md#twenty-bytes))"
    assert cells(tables.targets_table(results, tables.short_cell))[1:] == [
        ["heap", "equal", "1.00", "", f"**1.18** {why}", "equal", "", ""],
    ]


@pytest.mark.parametrize(
    ("workload", "candidate", "ratio", "said"),
    [
        ("order", "scru128", 1.03, "holds"),
        ("order", "scru128", 1.04, "missed"),
        ("order", "scru160", 1.13, "holds"),
        ("order", "scru160", 1.14, "missed"),
        ("order", "scru64", 1.03, "holds"),
        ("insert", "ulid", 0.62, "missed"),
        ("text_in", "scru64", 9.0, ""),
        ("heap", "scru128", 1.0, "holds"),
        ("heap", "scru128", 0.99, "missed"),
        ("heap", "scru160", 1.18, "cannot"),
    ],
)
def test_three_percent_are_noise_but_in_sizes(workload, candidate, ratio, said):
    row = next(row for row in TARGETS if row.workload == workload)
    yardstick = row.against_of(candidate)
    results = run_of({workload: {yardstick: [100], candidate: [ratio * 100]}})
    if workload in SIZES:
        results.data["workloads"].clear()
        results.add_size(workload, candidate, ratio * 100, yardstick, 100)
    assert tables.verdict(results, row, candidate) == said


@pytest.mark.parametrize(
    ("instructions", "said"), [(None, "missed"), (1010, "chance"), (1011, "missed")], ids=["not counted", "hold", "missed"]
)
@pytest.mark.parametrize(("fourth", "times"), [(1.03, "chance"), (1.04, "missed")])
def test_what_may_be_chance_is_not_said_to_be_missed(fourth, times, instructions, said):
    results = run_of({"look_up": {"uuid": [10] * 15, "ulid": [11] * 11 + [10 * fourth] + [9] * 3}})
    if instructions:
        for candidate, count in {"uuid": 1000, "ulid": instructions}.items():
            results.instructions.add("look_up", "instructions", candidate, count)
        results.instructions.add_ratios()
    row = Row(workload="look_up", sixteen=1.0)
    expected = "missed" if "missed" in (said, times) else "chance"
    assert tables.verdict(results, row, "ulid") == expected
    chance = "1.10 ([chance](docs/performance.md#where-chance-decides))"
    assert tables.short_cell(results, row, "ulid") == {"chance": chance, "missed": "**1.10** (missed)"}[expected]
    assert expected in tables.full_cell(results, row, "ulid")


@pytest.mark.parametrize(("turns", "place"), [(1, 0), (4, 0), (5, 0), (7, 0), (8, 1), (9, 1), (15, 3), (27, 8), (30, 10)])
def test_the_sign_test_tells_what_the_median_is_above(turns, place):
    assert tables.least_median([float(turn) for turn in reversed(range(turns))]) == place


def test_every_target_has_a_title():
    assert {row.workload for row in TARGETS} <= set(TITLES)
