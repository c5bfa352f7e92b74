"""Instructions: how many the server executes for a row, as valgrind counts them.

They depend neither on what else the machine does nor on where in memory anything is, so they show whether a
type gives the server more work to do than its yardstick. They do not tell how long one takes: some wait for another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from bench.candidates import TYPES, Candidate, yardstick
from bench.database import LOAD, Database, check_plan, names_of
from bench.progress import Progress
from bench.results import Results
from bench.server import Server
from bench.workloads import WORKLOADS, Workload

# Fewer than are timed, for under valgrind all takes many times as long.
ROWS = 100_000
# Those that read tables, and wait for nothing, and what a client does by itself.
COUNTED = (
    "clients",
    *("index", "index_spread", "order", "order_spread", "merge_join", "aggregate", "hash_join", "look_up"),
    *("text_out", "text_in"),
)
MEASURED = {*TYPES, *map(yardstick, TYPES)}
COUNTER = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def count_instructions(server: Server, candidates: list[Candidate], results: Results) -> None:
    """Adds what a row of each workload takes to the results. The server is stopped afterwards."""
    database = Database(server, [candidate for candidate in candidates if candidate.key in MEASURED], ROWS)
    database.make()
    cases = list(cases_of(database))
    for case in cases:
        case.check_plan(database)
    server.stop()
    progress = Progress(len(cases))
    for case in cases:
        progress.step(f"instructions: {case.workload.title}, {case.candidate.label}")
        # The second time, all is loaded and looked up that has to be once.
        first, both = (instructions(server, case.before + case.repeated * times + case.after) for times in (1, 2))
        results.add(case.workload.key, "instructions", case.candidate.key, (both - first) / case.rows)
    results.add_ratios()
    progress.end()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One workload of one candidate."""

    workload: Workload
    candidate: Candidate
    rows: int
    before: list[str]
    repeated: list[str]
    after: list[str]

    def check_plan(self, database: Database) -> None:
        """Fails if few rows have another plan than many."""
        if not self.workload.plan:
            return
        with database.session() as connection:
            for statement in self.before:
                connection.execute(statement)
            check_plan(connection, self.repeated[0], self.workload.plan)


def cases_of(database: Database) -> Iterator[Case]:
    """All that are counted, with the server's settings as far as a session can have them."""
    settings = [f"SET {name} = '{value}'" for name, value in database.server.settings_of_sessions().items()]
    for workload in [workload for workload in WORKLOADS if workload.key in COUNTED]:
        for candidate in [candidate for candidate in database.candidates if workload.measures(candidate)]:
            # A table that is made before is filled twice; an index has to go before it is made again.
            again, after = ([], workload.after) if workload.before else (workload.after, [])
            rows = database.rows_of(workload)
            filled = partial(filled_in, database, candidate, rows)
            yield Case(
                workload=workload,
                candidate=candidate,
                rows=rows,
                before=[LOAD, *settings, *workload.settings_on(), names_of(candidate), *filled(workload.before)],
                repeated=filled([workload.counted or workload.statement, *again]),
                after=filled(after),
            )


def filled_in(database: Database, candidate: Candidate, rows: int, statements: list[str]) -> list[str]:
    """The statements for one candidate and so many rows."""
    return [database.fill_in(statement, candidate, rows) for statement in statements]


def instructions(server: Server, statements: list[str]) -> int:
    """How many the server executes from its start to its end."""
    said = server.single(COUNTER, statements)
    assert "ERROR:" not in said, said
    [count] = re.findall(r"I\s+refs:\s+([\d,]+)", said)
    return int(count.replace(",", ""))
