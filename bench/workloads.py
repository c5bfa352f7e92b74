"""What is timed: each workload is one statement, the same for all candidates but for the type and the generator.

A candidate's tables are in a schema of its own, which is the search path while it is its turn:
- `keyed`: IDs in the order in which they were made, with the primary key;
- `bulk`: the same IDs shuffled. Made in bulk, they have most of their leading bits in common: the hard case for a sort
  by the first eight bytes;
- `spread`: IDs whose times are anywhere in a year, shuffled;
- `texts`: the texts of `bulk`.

All are shuffled alike, from their order: how many comparisons a sort takes depends on that, and differs by a hundredth
from one order to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.candidates import Candidate


def has_column(candidate: Candidate) -> bool:
    """All but those that are measured as generators alone."""
    return candidate.type != ""


def has_own_text(candidate: Candidate) -> bool:
    """A text is in a text column already."""
    return has_column(candidate) and candidate.text_of is None


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One thing to time. In the SQL, {type} and {generate} are the candidate's, and {rows} is how many at once."""

    key: str
    title: str
    statement: str
    """What is timed."""
    before: list[str] = field(default_factory=list)
    """What is done before, each time."""
    after: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    plan: list[str] = field(default_factory=list)
    """The nodes without which the plan would measure something else."""
    measures: Callable[[Candidate], bool] = has_column
    clients: int = 0
    """If any, then the statement is run by pgbench, once a row, by so many clients at once."""
    turns: int = 1
    """How often it is timed in a round. More often where chance is as large as what is looked for."""
    share: int = 1
    """It takes one in so many of the rows at once."""
    counted: str | None = None
    """The statement that instructions are counted of instead: what one client does."""
    counts_wal: bool = False
    """Whether the bytes of the write-ahead log are a result, too."""

    def settings_on(self) -> list[str]:
        """The statements that make its settings."""
        return [f"SET {name} = {value}" for name, value in self.settings.items()]

    def settings_off(self) -> list[str]:
        """The statements that take them back."""
        return [f"RESET {name}" for name in self.settings]


def off(*names: str) -> dict[str, str]:
    """The settings that leave the planner no choice."""
    return {f"enable_{name}": "off" for name in names}


# Every page that a statement touches is written to the log in full, for all candidates alike.
def new_table(columns: str) -> dict[str, list[str]]:
    """An empty table before, and none after."""
    return {"before": [f"CREATE TABLE target ({columns})", "CHECKPOINT"], "after": ["DROP TABLE target"]}


# Sorting and hashing wait for memory, and text and a call alone are done in no time: how long that takes differs by a tenth from
# one time to the next.
TURNS = 3


def index(key: str, title: str, table: str) -> Workload:
    return Workload(
        key=key,
        title=title,
        statement=f"CREATE INDEX made ON {table} (id)",
        after=["DROP INDEX made"],
        turns=TURNS,
    )


def order(key: str, title: str, table: str) -> Workload:
    # The sort alone: its rows are dropped where they come out.
    return Workload(
        key=key,
        title=title,
        statement=f"SELECT id FROM {table} ORDER BY id OFFSET {{rows}}",
        plan=["Sort"],
        turns=TURNS,
    )


def text(key: str, title: str, statement: str) -> Workload:
    return Workload(key=key, title=title, statement=statement, measures=has_own_text, turns=TURNS)


WORKLOADS = [
    Workload(
        key="generate",
        title="generate",
        statement="SELECT count({generate}) FROM generate_series(1, {rows})",
        measures=lambda candidate: candidate.text_of is None,
        # Where a target is near, a nanosecond decides; and one turn in ten takes twice as long as the others.
        turns=15,
    ),
    # The leanest source of rows, for the cost of the call itself.
    Workload(
        key="generate_lean",
        title="generate, for rows without columns",
        statement="SELECT count({generate}) FROM public.rows_without_columns",
        measures=lambda candidate: candidate.text_of is None,
        turns=TURNS,
    ),
    Workload(
        key="insert",
        title="bulk insert into a primary key",
        statement="INSERT INTO target SELECT {generate} FROM generate_series(1, {rows})",
        **new_table("id {type} PRIMARY KEY"),
        counts_wal=True,
    ),
    Workload(
        key="clients",
        title="single-row inserts by 8 clients",
        statement="INSERT INTO target VALUES (DEFAULT)",
        **new_table("id {type} PRIMARY KEY DEFAULT {generate}"),
        clients=8,
        # Single rows take long, and clients get in one another's way by chance: fewer at once, but more often.
        share=20,
        turns=6,
        counted="DO $$ BEGIN FOR i IN 1..{rows} LOOP INSERT INTO target VALUES (DEFAULT); COMMIT; END LOOP; END $$",
    ),
    index("index", "CREATE INDEX", "bulk"),
    index("index_spread", "CREATE INDEX, a year of IDs", "spread"),
    order("order", "ORDER BY", "bulk"),
    order("order_spread", "ORDER BY, a year of IDs", "spread"),
    Workload(
        key="merge_join",
        title="merge join",
        statement="SELECT count(*) FROM bulk JOIN bulk AS again USING (id)",
        settings=off("hashjoin", "nestloop"),
        plan=["Merge Join", "Sort"],
        turns=TURNS,
    ),
    Workload(
        key="aggregate",
        title="hash aggregate",
        statement="SELECT id FROM bulk GROUP BY id OFFSET {rows}",
        settings=off("sort"),
        plan=["HashAggregate"],
        turns=TURNS,
    ),
    Workload(
        key="hash_join",
        title="hash join",
        statement="SELECT count(*) FROM bulk JOIN keyed USING (id)",
        settings=off("mergejoin", "nestloop"),
        plan=["Hash Join"],
        turns=TURNS,
    ),
    # One statement, so that it is the index that is timed and not a client: each row of bulk is looked up in the key,
    # and its row is fetched. The fewer at once, the closer in time are those that are compared.
    Workload(
        key="look_up",
        title="point look-ups",
        statement="SELECT count(*) FROM (SELECT id FROM bulk LIMIT {rows}) AS wanted JOIN keyed USING (id)",
        settings=off("hashjoin", "mergejoin", "indexonlyscan", "bitmapscan", "memoize", "material"),
        plan=["Nested Loop", "Index Scan using keyed_pkey"],
        share=10,
        turns=10 * TURNS,
    ),
    text("text_out", "text out", "SELECT count(id::text) FROM bulk"),
    text("text_in", "text in", "SELECT count(id::{type}) FROM texts"),
    Workload(key="copy_out", title="COPY binary out", statement="COPY bulk TO '{folder}/out.copy' (FORMAT binary)"),
    Workload(
        key="copy_in",
        title="COPY binary in",
        statement="COPY target FROM '{folder}/{candidate}.copy' (FORMAT binary)",
        **new_table("id {type}"),
    ),
]

WAL = "wal"
SIZES = {
    "heap": "heap",
    "primary_key": "primary key, grown row by row",
    "built_index": "index, built at once",
    "duplicates": "index of tenfold duplicates",
}
TITLES = {workload.key: workload.title for workload in WORKLOADS} | {WAL: "WAL bytes per inserted row"} | SIZES

# All have the same names: each candidate's are in a schema of its own.
SHUFFLED = ("bulk", "spread")
TABLES = ("keyed", *SHUFFLED, "texts")


def preparations(candidate: Candidate) -> list[str]:
    """The statements that make a candidate's tables, in one session. They write no log: none of it is of interest here."""
    made = "SELECT {generate} AS id FROM generate_series(1, {rows})"
    if candidate.text_of:
        made = f"SELECT id::text FROM {candidate.text_of}.keyed"
        spread = f"SELECT id::text FROM {candidate.text_of}.spread"
    else:
        spread = "SELECT {spread} AS id FROM generate_series(1, {rows})".replace("{spread}", candidate.spread)
    return [
        "CREATE UNLOGGED TABLE keyed (id {type} PRIMARY KEY)",
        f"INSERT INTO keyed {made}",
        *shuffled("bulk", "SELECT id FROM keyed"),
        *shuffled("spread", spread),
        "CREATE UNLOGGED TABLE texts AS SELECT id::text FROM bulk",
        *(f"VACUUM (FREEZE, ANALYZE) {table}" for table in TABLES),
        "COPY bulk TO '{folder}/{candidate}.copy' (FORMAT binary)",
    ]


def shuffled(table: str, ids: str) -> list[str]:
    """The statements that make a table of some IDs, in an order that depends on nothing but how many there are."""
    return [
        f"CREATE TEMP TABLE in_order AS SELECT id FROM ({ids}) AS made ORDER BY id",
        # Only now, for to make some of the IDs takes random numbers, too.
        "SELECT setseed(0.5)",
        f"CREATE UNLOGGED TABLE {table} AS SELECT id FROM in_order ORDER BY random()",
        "DROP TABLE in_order",
    ]
