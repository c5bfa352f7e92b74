"""The SQL of the workloads. Placeholders in braces come from the candidate, except {rows}, {turn} and {directory}."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.reads import Read, rate, read_costs, read_plan, read_planning, read_size, read_time

FIRST = "timestamptz '2026-01-01 00:00+00'"
# A month of events.
LAST_HOUR = f"{FIRST} + interval '30 days' - interval '1 hour'"


@dataclass(frozen=True)
class Workload:
    """One or more statements separated by "; ", with those to execute before and after them."""

    title: str
    statement: str
    turns: int = 1
    """How often the workload is measured in a round."""
    plan: str = ""
    """The node that the plan must contain."""
    without: tuple[str, ...] = ()
    """The plan types that the planner may not use."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    read: Read = read_time


INSERT = Workload(
    "insert",
    "INSERT INTO events SELECT FROM generate_series(1, {rows})",
    before=("CREATE TABLE events ({columns})", "{created_at_index}", "CHECKPOINT"),
    after=("DROP TABLE events",),
    read=read_costs,
)
EVENTS = {"events": INSERT}

# Three tables with the same IDs: keyed (in order, with a primary key), shuffled, and texts (as text). All tables are
# shuffled from the same order in the same way, because the order determines the comparisons of a sort.
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
ALL_BUT_INDEX_SCAN = ("hashjoin", "mergejoin", "indexonlyscan", "bitmapscan", "memoize", "material")
MERGE_JOIN = "SELECT count(*) FROM shuffled JOIN shuffled AS again USING (id)"
HASH_JOIN = "SELECT count(*) FROM shuffled JOIN keyed USING (id)"
LOOK_UP = "SELECT count(*) FROM (SELECT id FROM shuffled LIMIT {rows} / 10) AS wanted JOIN keyed USING (id)"
AGGREGATE = "SELECT id FROM shuffled GROUP BY id OFFSET {rows}"
TYPES = {
    "generate": Workload("generate", "SELECT count({generate}) FROM generate_series(1, {rows})", 3),
    "index": Workload("CREATE INDEX", "CREATE INDEX made ON shuffled (id)", 3, after=("DROP INDEX made",)),
    "order": Workload("ORDER BY", "SELECT id FROM shuffled ORDER BY id OFFSET {rows}", 3, "Sort"),
    "merge_join": Workload("merge join", MERGE_JOIN, 1, "Merge Join", ("hashjoin", "nestloop")),
    "hash_join": Workload("hash join", HASH_JOIN, 2, "Hash Join", ("mergejoin", "nestloop")),
    "aggregate": Workload("hash aggregate", AGGREGATE, 2, "HashAggregate", ("sort",)),
    "look_up": Workload("look-up by key", LOOK_UP, 6, "Index Scan using keyed_pkey", ALL_BUT_INDEX_SCAN),
    "text_out": Workload("text out", "SELECT count(id::text) FROM shuffled", 2),
    "text_in": Workload("text in", "SELECT count(id::{type}) FROM texts", 2),
    "copy_out": Workload("COPY binary out", "COPY shuffled TO '{directory}/{key}.copy' (FORMAT binary)"),
    "copy_in": Workload(
        "COPY binary in",
        "COPY target FROM '{directory}/{key}.copy' (FORMAT binary)",
        before=("CREATE TABLE target (id {type})",),
        after=("DROP TABLE target",),
    ),
}

# A month of events, evenly distributed: events (id, created_at if the candidate has it, n) in order, and shuffled.
PREPARE_SCALE = (
    "CREATE UNLOGGED TABLE events (id {type}{time_column}, n int)",
    "INSERT INTO events SELECT {at}{at_created}, n FROM (SELECT n, " + FIRST + " + n * interval '1 day' *"
    " (30::float8 / {rows}) AS t FROM generate_series(0, {rows} - 1) AS n) AS events",
    "ALTER TABLE events ADD PRIMARY KEY (id)",
    "{created_at_index}",
    SHUFFLE.replace("{table}", "events"),
    "VACUUM (FREEZE, ANALYZE) events, shuffled",
)
WINDOW = "count(*) OVER (ORDER BY {time} RANGE BETWEEN '1 minute' PRECEDING AND CURRENT ROW)"
WINDOW = f"SELECT max(c) FROM (SELECT {WINDOW} AS c FROM events WHERE {{within_hour}}) AS counted"
SINCE_LAST_HOUR = f"SELECT count(n) FROM events WHERE {{time}} >= {LAST_HOUR}"
TIME = {
    "last_hour": Workload("the last hour, `>=`", SINCE_LAST_HOUR, 5, read=read_plan),
    "range": Workload("an hour, `<@`", "SELECT count(n) FROM events WHERE {within_hour}", 5, read=read_plan),
    "window": Workload("a window of a minute over an hour", WINDOW, 5, "WindowAgg", read=read_plan),
}
LOOK_UP_EVENTS = "SELECT count(n) FROM (SELECT id FROM shuffled LIMIT 100000) AS wanted JOIN events USING (id)"
DELETE_A_DAY = f"DELETE FROM events WHERE {{time}} < {FIRST} + interval '1 day' * ({{turn}} + 1); VACUUM events"
SCALE = {
    "index": replace(TYPES["index"], turns=1),
    "order": replace(TYPES["order"], turns=1),
    "look_up": Workload("look-up by key", LOOK_UP_EVENTS, 2, "Index Scan using events_pkey", ALL_BUT_INDEX_SCAN),
    "retention": Workload("delete the oldest day, VACUUM", DELETE_A_DAY),
}

# By clients of pgbench, each in its own session.
GENERATED = 100_000
GENERATE = f"SET scru.generator_scope = {{scope}}; SELECT count({{generate}}) FROM generate_series(1, {GENERATED})"
DRAWS = {"draws": Workload("generate", GENERATE, read=lambda *about: {"IDs/s": rate(*about) * GENERATED})}
INSERTS = {
    "inserts": replace(
        INSERT,
        statement="INSERT INTO {key}.events DEFAULT VALUES",
        read=lambda *about: {"rows/s": rate(*about)},
    )
}

# The same events with and without created_at, evenly distributed over the 90 days before now.
RECENT = (
    "CREATE TABLE events (id {type} PRIMARY KEY{time_column}, what text)",
    "{created_at_index}",
    "INSERT INTO events SELECT {at}{at_created}, 'event no. ' || n FROM (SELECT n, now() - ({rows} - n) *"
    " (interval '90 days' / {rows}) AS t FROM generate_series(1, {rows}) AS n) AS events",
    "VACUUM ANALYZE events",
    "{with_time}",
)
SINCE = "SELECT * FROM {events} WHERE {time} >= now() - interval '1 hour'"
NEWEST = "SELECT * FROM {events} ORDER BY {time} DESC LIMIT 10"
WITHIN = "SELECT * FROM {events} WHERE {time} >= timestamptz '2026-01-15' AND {time} < timestamptz '2026-01-16'"
CREATED_AT = {
    "table": Workload("table", "SELECT pg_table_size('events')", read=read_size),
    "indexes": Workload("indexes", "SELECT pg_indexes_size('events')", read=read_size),
    "last hour": Workload("last hour", SINCE, 1, "Index Scan", read=read_plan),
    "newest": Workload("the newest ten", NEWEST, 1, "Index Scan", read=read_plan),
}
PLANNING = {
    "since": Workload("the last hour", SINCE, 3, "Index Scan", read=read_planning),
    "within": Workload("a day, by constants", WITHIN, 3, "Index Scan", read=read_planning),
    "newest": Workload("the newest ten", NEWEST, 3, "Index Scan", read=read_planning),
}

# The expression on a table of IDs or uuids, with the forms of docs/encryption.md.
PREPARE_ENCRYPTION = (
    "CREATE TABLE keys AS SELECT sha256('a benchmark') AS key",
    "CREATE FUNCTION invoice_id(public_id uuid) RETURNS uuid LANGUAGE sql STABLE STRICT PARALLEL SAFE SECURITY DEFINER"
    " RETURN uuidv7_decrypt(public_id, (SELECT key FROM keys))",
    "CREATE UNLOGGED TABLE ids AS SELECT {generate} AS id FROM generate_series(1, {rows}) AS n",
    "VACUUM (FREEZE, ANALYZE) ids",
)
ENCRYPTION = {"encryption": Workload("for each row", "SELECT count({at}) FROM ids")}

TITLES = {key: workload.title for key, workload in (TYPES | SCALE | TIME | CREATED_AT | PLANNING | ENCRYPTION).items()}
