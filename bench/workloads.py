"""The SQL of what is measured. What stands in braces is the candidate's, but for {rows}, which is how many, and {day}."""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST = "timestamptz '2026-01-01 00:00+00'"
DAYS = 30
LAST_HOUR = f"{FIRST} + interval '{DAYS} days' - interval '1 hour'"


@dataclass(frozen=True)
class Workload:
    """A statement, or some separated by "; ", and what is done before and after it."""

    title: str
    statement: str
    turns: int = 1
    """How often it is measured in a round."""
    plan: str = ""
    """The node without which the plan would measure something else, and the nodes that the planner may not use."""
    without: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def day(number: int) -> str:
    """The SQL of the time at which a day of the month begins, counted from 0."""
    return f"{FIRST} + interval '{number} days'"


# The same IDs in their order with the primary key (keyed), shuffled (shuffled), and their texts (texts).
ALL_BUT_INDEX_SCAN = ("hashjoin", "mergejoin", "indexonlyscan", "bitmapscan", "memoize", "material")
MERGE_JOIN = "SELECT count(*) FROM shuffled JOIN shuffled AS again USING (id)"
HASH_JOIN = "SELECT count(*) FROM shuffled JOIN keyed USING (id)"
LOOK_UP = "SELECT count(*) FROM (SELECT id FROM shuffled LIMIT {rows} / 10) AS wanted JOIN keyed USING (id)"
TYPES = {
    "generate": Workload("generate", "SELECT count({generate}) FROM generate_series(1, {rows})", 3),
    "index": Workload("CREATE INDEX", "CREATE INDEX made ON shuffled (id)", 3, after=("DROP INDEX made",)),
    "order": Workload("ORDER BY", "SELECT id FROM shuffled ORDER BY id OFFSET {rows}", 3, "Sort"),
    "merge_join": Workload("merge join", MERGE_JOIN, 1, "Merge Join", ("hashjoin", "nestloop")),
    "hash_join": Workload("hash join", HASH_JOIN, 2, "Hash Join", ("mergejoin", "nestloop")),
    "aggregate": Workload(
        "hash aggregate", "SELECT id FROM shuffled GROUP BY id OFFSET {rows}", 2, "HashAggregate", ("sort",)
    ),
    "look_up": Workload("look-up by key", LOOK_UP, 6, "Index Scan using keyed_pkey", ALL_BUT_INDEX_SCAN),
    "text_out": Workload("text out", "SELECT count(id::text) FROM shuffled", 2),
    "text_in": Workload("text in", "SELECT count(id::{type}) FROM texts", 2),
    "copy_out": Workload("COPY binary out", "COPY shuffled TO '{folder}/{key}.copy' (FORMAT binary)"),
    "copy_in": Workload(
        "COPY binary in",
        "COPY target FROM '{folder}/{key}.copy' (FORMAT binary)",
        before=("CREATE TABLE target (id {type})",),
        after=("DROP TABLE target",),
    ),
}

# A month of events, as many in each hour, in their order: events (id, created_at if it has one, n), and shuffled.
LOOK_UP = "SELECT count(n) FROM (SELECT id FROM shuffled LIMIT 100000) AS wanted JOIN events USING (id)"
SCALE = {
    "index": replace(TYPES["index"], turns=1),
    "order": replace(TYPES["order"], turns=1),
    "look_up": Workload("look-up by key", LOOK_UP, 2, "Index Scan using events_pkey", ALL_BUT_INDEX_SCAN),
    "retention": Workload("delete the oldest day, VACUUM", "DELETE FROM events WHERE {time} < {day}; VACUUM events"),
}
# These are run by EXPLAIN (ANALYZE, BUFFERS), which tells the pages and the time of the planner, too.
WINDOW = "count(*) OVER (ORDER BY {time} RANGE BETWEEN '1 minute' PRECEDING AND CURRENT ROW)"
TIME = {
    "last_hour": Workload("the last hour, `>=`", f"SELECT count(n) FROM events WHERE {{time}} >= {LAST_HOUR}", 5),
    "range": Workload("an hour, `<@`", "SELECT count(n) FROM events WHERE {within_hour}", 5),
    "window": Workload(
        "a window of a minute over an hour",
        f"SELECT max(c) FROM (SELECT {WINDOW} AS c FROM events WHERE {{within_hour}}) AS counted",
        5,
        "WindowAgg",
    ),
}

INSERT = Workload(
    "insert",
    "INSERT INTO events SELECT FROM generate_series(1, {rows})",
    before=("CREATE TABLE events ({columns})", "{created_at_index}", "CHECKPOINT"),
    after=("DROP TABLE events",),
)

TITLES = {key: workload.title for key, workload in (TYPES | SCALE | TIME).items()}

# All shuffled alike, from the same order: how many comparisons a sort takes depends on that.
SHUFFLE = (
    "CREATE UNLOGGED TABLE shuffled AS SELECT id FROM"
    " (SELECT id, row_number() OVER (ORDER BY id) AS n FROM {table}) AS numbered ORDER BY hashint8(n)"
)

PREPARE_TYPES = (
    "CREATE UNLOGGED TABLE keyed (id {type} PRIMARY KEY)",
    "INSERT INTO keyed SELECT {generate} FROM generate_series(1, {rows})",
    SHUFFLE.replace("{table}", "keyed"),
    "CREATE UNLOGGED TABLE texts AS SELECT id::text FROM shuffled",
    "VACUUM (FREEZE, ANALYZE) keyed, shuffled, texts",
)
PREPARE_SCALE = (
    "CREATE UNLOGGED TABLE events (id {type}{time_column}, n int)",
    "INSERT INTO events SELECT {at}{at_created}, n FROM (SELECT n, " + FIRST + " + n * interval '1 day' *"
    f" ({DAYS}::float8 / {{rows}}) AS t FROM generate_series(0, {{rows}} - 1) AS n) AS events",
    "ALTER TABLE events ADD PRIMARY KEY (id)",
    "{created_at_index}",
    SHUFFLE.replace("{table}", "events"),
    "VACUUM (FREEZE, ANALYZE) events, shuffled",
)
