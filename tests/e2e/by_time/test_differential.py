"""Random queries by an ID and its time return the same rows as those by a column of times.

The column `at` has the time of the ID, which is computed from the facts of the type. A condition by the column, in
place of the ID, truncates each time to the tick with `date_bin`, so that it depends on no function of the extension.
The times are one microsecond before, at and after the ticks of the rows: a bound that is moved by one microsecond
changes a result.

CI takes a sample with fixed seeds, of which other versions than the oldest take a third, and `make test-long` 100
tables of each system on each version. On the same day, the digests of their rows are the same on each version.
"""

from __future__ import annotations

import random
import re
import signal
import uuid
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import pairwise

import psycopg
import pytest
from psycopg.types.string import TextLoader

from idtypes import SCRU128, TYPES, IdType
from plans import explain
from server import IS_LONG, SHARES_TESTS, on_every_version

pytestmark = on_every_version

TABLES = 100 if IS_LONG else 5 if SHARES_TESTS else 15
QUERIES = 40
ROWS = 200


class Uuidv7(IdType):
    """The IDs of gen_uuidv7(): their values are the bits beside the version and the variant."""

    def text(self, value: int) -> str:
        tick, body = divmod(value, 1 << self.body_bits)
        return str(uuid.UUID(int=tick << 80 | 7 << 76 | body >> 62 << 64 | 2 << 62 | body & (1 << 62) - 1))


UUIDV7 = Uuidv7(**{**vars(SCRU128), "name": "uuidv7", "largest": (1 << 122) - 1, "body_bits": 74})

LAYOUTS = {
    "heap": "",
    "range by ID": "PARTITION BY RANGE (id)",
    "range by group and ID": "PARTITION BY RANGE (g, id)",
    "list by group, range by number, range by ID": "PARTITION BY LIST (g)",
    "range by ID, hash, range by ID": "PARTITION BY RANGE (id)",
    "list by ID": "PARTITION BY LIST (id)",
    "hash": "PARTITION BY HASH (id)",
    "inheritance": "",
}
INDEXES = [
    "btree (id)",
    "btree (id DESC)",
    "btree (g, id)",
    "btree (id, n)",
    "brin (id) WITH (pages_per_range = 1)",
    "hash (id)",
    "btree (greatest(id))",
    "btree (n) WHERE {}",
]
GROUPS = 4
BOUNDS = 12
IN_ORDER = ["btree (id)", "btree (g, id DESC NULLS LAST)"]
OPERATORS = ["<", "<=", ">=", ">"]
NODES = ["seqscan", "indexscan", "bitmapscan", "indexonlyscan", "hashjoin", "nestloop", "mergejoin", "material", "sort"]
ZONES = ["UTC", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "Europe/London"]

# Functions by which the conditions on the column truncate times to the tick. A core type has no IDs beyond its first
# and last tick: its comparisons count such times as within the nearest tick. From PostgreSQL 17 on, a time in an empty
# range that is constant is false, also if the time is NULL. So ranges are not constant here.
FUNCTIONS = """
    CREATE FUNCTION truncated(t timestamptz) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
        RETURN date_bin('{tick} ms', t, timestamptz '1970-01-01 00:00+00');
    CREATE FUNCTION compared(t timestamptz) RETURNS timestamptz IMMUTABLE PARALLEL SAFE RETURN {compared};
    CREATE FUNCTION compared(r tstzrange) RETURNS tstzrange STABLE SECURITY DEFINER PARALLEL SAFE RETURN
        CASE WHEN isempty(r) THEN r ELSE tstzrange(truncated(lower(r)), truncated(upper(r)),
            CASE WHEN lower_inc(r) THEN '[' ELSE '(' END || CASE WHEN upper_inc(r) THEN ']' ELSE ')' END) END
"""

# `<E>` stands for the time of the ID, `<other.E>` for that of another row, and `<C>` for a condition.
KINDS = [
    "SELECT count(*), sum(n), min(n) FROM t WHERE <C>",
    "SELECT n FROM t WHERE <C> ORDER BY n",
    "SELECT n FROM t WHERE <C> ORDER BY id, n LIMIT 7",
    "SELECT g, count(*) FILTER (WHERE <C>), bool_and(<C>) FROM t GROUP BY g ORDER BY g",
    "SELECT count(*), sum(n), min(n) FROM t, b WHERE i < 5 AND <C>",
    "SELECT i, count(t.n), sum(n) FROM b LEFT JOIN t ON <C> GROUP BY i ORDER BY i",
    "SELECT count(*), sum(i) FROM b WHERE EXISTS (SELECT FROM t WHERE <C>)",
    "SELECT <E> FROM t WHERE <C> ORDER BY <E> <D> LIMIT 7",
    "SELECT <E> FROM t WHERE g = 1 AND <C> ORDER BY <E> <D> LIMIT 9 OFFSET 2",
    "SELECT <E>, n FROM t WHERE <C> ORDER BY <E> <D>, n",
    "SELECT min(<E>), max(<E>), count(<E>) FROM t WHERE <C>",
    "SELECT min(<E>), max(<E>) FROM t",
    "SELECT DISTINCT <E> FROM t WHERE <C> ORDER BY 1 LIMIT 5",
    "SELECT <E>, count(*) FROM t WHERE <C> GROUP BY 1 ORDER BY 1",
    "SELECT n, row_number() OVER (PARTITION BY g ORDER BY <E>, n) FROM t WHERE <C> ORDER BY n",
    "SELECT count(*), sum(t.n + 3 * other.n) FROM t JOIN t AS other ON <E> = <other.E> WHERE t.n < 90",
    "SELECT count(*), sum(t.n) FROM t LEFT JOIN t AS other ON <E> = <other.E> AND <other.E> < '<T>' AND other.n < 50",
    "SELECT i, count(t.n) FROM b LEFT JOIN t ON <E> >= b.x AND <E> < b.y GROUP BY i ORDER BY i",
    "SELECT count(*), sum(n) FROM t, b WHERE <E> = b.x OR <E> <= b.x AND n < 20",
    """SELECT e, n FROM (SELECT <E> AS e, n FROM t UNION ALL SELECT <E>, -n FROM t) AS u
       WHERE e >= '<T>' ORDER BY e, n LIMIT 9""",
    "SELECT <E>, t.id FROM t WHERE <C> ORDER BY <E> <D>, t.id <D> LIMIT 20",
    "SELECT n, t.id FROM t ORDER BY g <D>, <E> <D>, t.id <D>, n LIMIT 20",
    "SELECT <E> FROM t WHERE <C> ORDER BY <E> <D> FETCH FIRST 5 ROWS WITH TIES",
    "SELECT <E> FROM t WHERE <C> ORDER BY <E> <D> LIMIT 7 FOR UPDATE",
    "SELECT e FROM (SELECT <E> AS e FROM t ORDER BY <E> <D> LIMIT 20) AS s ORDER BY e DESC LIMIT 5",
    "SELECT i, count(t.n) FROM b LEFT JOIN t ON <E> >= b.d AND <E> < b.d + 1 GROUP BY i ORDER BY i",
    "SELECT i, (SELECT max(<E>) FROM t WHERE <E> <= b.l) FROM b ORDER BY i",
    "SELECT count(*), sum(n), min(n) FROM (SELECT b.* FROM b, generate_series(1, 50)) AS b JOIN t ON <C>",
]
DIRECTIONS = ["", "DESC", "DESC NULLS LAST", "NULLS FIRST"]
DATES = ["current_date", "current_date - 7", "localtimestamp", "date 'infinity'", "date '4714-11-24 BC'", "NULL::date"]
DATES += ["date '5874897-12-31'", "timestamp '294276-12-31 23:59:59'", "timestamp '-infinity'", "date '2026-11-01'"]
DATES += ["current_date - interval '7 days'", "now()::date - 10", "date_trunc('month', now())::date", "b.d", "b.l"]
DATES += ["(now() AT TIME ZONE 'utc') - interval '1 day'", "(SELECT max(d) FROM b)", "(SELECT l FROM b WHERE i = 3)"]
# Moments near which clocks go forward or back, a date repeats, or one is missing.
MOMENTS = ["2010-11-07 00:00", "2011-12-29 06:00", "2026-03-08 03:00", "2026-03-28 22:00", "2026-11-01 00:00"]


def ranges(table: str, *bounds: str) -> str:
    """Returns the statements that create the partitions of a table: the ranges from each bound to the next."""
    part = "CREATE TABLE {0}_{1} PARTITION OF {0} FOR VALUES FROM ({2}) TO ({3});"
    return "".join(part.format(table, number, *pair) for number, pair in enumerate(pairwise(bounds)))


@dataclass(frozen=True)
class Query:
    """A query in two forms that return the same rows."""

    by_id: str
    by_time: str
    parameters: list[tuple[str, str]]
    """The type and the literal of each parameter $1, $2 and so on."""

    def rows(self, connection: psycopg.Connection, form: str, zones: list[str]) -> list:
        """Returns the rows of one form; with parameters, those of one plan in two time zones."""
        if not self.parameters:
            return connection.execute(form).fetchall()
        types, values = (", ".join(each) for each in zip(*self.parameters, strict=True))
        connection.execute(f"PREPARE query ({types}) AS {form}")
        rows = []
        for zone in zones:
            connection.execute(f"SET timezone = '{zone}'")
            rows.append(connection.execute(f"EXECUTE query ({values})").fetchall())
        connection.execute(f"DEALLOCATE query; SET timezone = '{zones[0]}'")
        return rows


class RandomTable:
    """A random table `t` with the columns id, at, g and n, and a table `b` with times, dates and ranges.

    The same source of random numbers gives the same tables and queries.
    """

    def __init__(self, connection: psycopg.Connection, system: IdType, source: random.Random):
        """The rows are within a few ticks, or within hours around a moment."""
        self.connection, self.system, self.source = connection, system, source
        self.sql_type = "uuid" if system == UUIDV7 else system.name
        # Shares of comparisons of the time of an ID. The time of a uuid is no column of times: the page says so.
        self.shares = [0] if system == UUIDV7 else [0, 0, 0.5, 1]
        self.layout = source.choice(list(LAYOUTS))
        self.last = last = system.largest >> system.body_bits
        first, step = source.randrange(last // 4, last // 2), 1
        if source.random() < 0.5:
            moment = datetime.fromisoformat(f"{source.choice(MOMENTS)}+00:00").timestamp() * 1000
            first, step = max(0, int(moment - system.epoch) // system.tick), 600_000 // system.tick
        of_rows = [first + step * source.randrange(ROWS // 3) for _ in range(ROWS)]
        if source.random() < 0.5:
            of_rows[:6] = [0, 0, 1, last - 1, last, last]
        self.ids = [self._id(tick) for tick in of_rows]
        self.times = self._times(of_rows)
        self._create(of_rows)

    # -------------------------------------------------------------------------------------------------------- the table

    def _id(self, tick: int) -> str:
        """Returns the text of the first ID of a tick, of the last one, or of a random one."""
        bits = self.system.body_bits
        body = self.source.choice([0, (1 << bits) - 1, *(self.source.getrandbits(bits) for _ in range(2))])
        return self.system.text(min(tick << bits | body, self.system.largest))

    def _micros(self, tick: int) -> int:
        """Returns the start of a tick, in microseconds since 1970."""
        return (self.system.epoch + tick * self.system.tick) * 1000

    def _times(self, ticks: list[int]) -> list[str]:
        """Returns literals of times around the ticks, and of some far from them."""
        source, length = self.source, self.system.tick * 1000
        offsets = (-1, 0, 0, 1, length // 2, length - 1)
        some = [self._micros(tick) + source.choice(offsets) for tick in source.sample(ticks, 60)]
        some += [self._micros(tick) for tick in (0, self.last, self.last + 1)]
        return [*self._literals(some), "infinity", "-infinity", "0044-03-15 00:00+00 BC", "20000-01-01 00:00+00"]

    def _literals(self, micros: list[int]) -> list[str]:
        """Returns literals of times in microseconds since 1970. Years after 9999 are beyond Python's datetime."""
        with self.connection.transaction():
            self.connection.execute("SET LOCAL timezone = 'UTC'")
            query = """
                SELECT (timestamptz 'epoch' + days * interval '1 day' + micros * interval '1 microsecond')::text
                FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS t(days, micros, i) ORDER BY i
            """
            split = [divmod(each, 86_400_000_000) for each in micros]
            columns = [[days for days, _ in split], [rest for _, rest in split]]
            return [text for (text,) in self.connection.execute(query, columns)]

    def _create(self, ticks: list[int]) -> None:
        """Creates the functions, the tables and their indexes."""
        execute, system, source = self.connection.execute, self.system, self.source
        # A core type counts times beyond its ticks as within the nearest one.
        bounds = self._literals([self._micros(0), self._micros(self.last)])
        nearest = "least(greatest(truncated(t), timestamptz '{}'), timestamptz '{}')".format(*bounds)
        compared = nearest if self.sql_type == "uuid" else "truncated(t)"
        execute("DROP SCHEMA IF EXISTS tests CASCADE; CREATE SCHEMA tests; SET search_path = tests, public")
        execute(FUNCTIONS.format(tick=system.tick, compared=compared))
        columns = ["gone int", f"id {self.sql_type}", "at timestamptz", "g int", "n int"]
        table = f"CREATE TABLE t ({', '.join(columns)}) {LAYOUTS[self.layout]}; ALTER TABLE t DROP gone"
        execute(f"{table}; {self._parts()}")
        rows = list(zip(self.ids, self._literals([self._micros(tick) for tick in ticks]), strict=True))
        children = [name for (name,) in execute("SELECT inhrelid::regclass::text FROM pg_inherits ORDER BY 1")]
        values = [f"('{id_}', '{at}', {n % GROUPS}, {n})" for n, (id_, at) in enumerate(rows)]
        if "ID" not in self.layout:
            values[::50] = [f"(NULL, NULL, {n % GROUPS}, {n})" for n in range(0, len(values), 50)]
        for number, table in enumerate(children if self.layout == "inheritance" else ["t"]):
            of_table = values[number::3] if self.layout == "inheritance" else values
            execute(f"INSERT INTO {table} (id, at, g, n) VALUES {', '.join(of_table)}")
        for index in source.sample(INDEXES, source.randrange(5)) + source.choice([[], IN_ORDER]):
            condition = f"id {source.choice(OPERATORS)} timestamptz '{source.choice(self.times)}'"
            for table in children if self.layout == "inheritance" else ["t"]:
                execute(f"CREATE INDEX ON {table} USING {index.format(condition)}")
        if self.sql_type != "uuid" and source.random() < 0.3:
            execute("CREATE INDEX ON t USING gist (id)")
        execute("CREATE TABLE b (i int, x timestamptz, y timestamptz, r tstzrange, d date, l timestamp)")
        for i in range(BOUNDS):
            x, y = (f"timestamptz '{source.choice(self.times)}'" for _ in "xy")
            execute(f"INSERT INTO b VALUES ({i}, {x}, {y}, {self._range()}, {x}, {y})")
        if source.random() < 0.8:
            execute("ANALYZE t, b")

    def _parts(self) -> str:
        """Returns the statements that create the partitions or the children."""
        a, b, c = (f"'{each}'" for each in sorted(self.source.sample(sorted(set(self.ids)), 3)))
        low, high = "MINVALUE", "MAXVALUE"
        match self.layout:
            case "range by ID":
                return ranges("t", low, a, b, c, high)
            case "range by group and ID":
                return ranges("t", f"{low}, {low}", *(f"{g}, {b}" for g in range(3)), f"{high}, {high}")
            case "list by group, range by number, range by ID":
                # Each level has its columns in another order. None is the default partition: PostgreSQL 15.18 skips it
                # by mistake if a condition with OR has values that only the execution knows, for columns of any type.
                of_group = """CREATE TABLE t_{g} (n int, g int, at timestamptz, id {type}) PARTITION BY RANGE (n);
                    CREATE TABLE t_{g}_a PARTITION OF t_{g} FOR VALUES FROM (MINVALUE) TO (100);
                    CREATE TABLE t_{g}_b (at timestamptz, id {type}, n int, g int) PARTITION BY RANGE (id);
                    {parts} ALTER TABLE t_{g} ATTACH PARTITION t_{g}_b FOR VALUES FROM (100) TO (MAXVALUE);
                    ALTER TABLE t ATTACH PARTITION t_{g} FOR VALUES IN ({g});"""
                parts = (ranges(f"t_{g}_b", low, a, c, high) for g in range(GROUPS))
                return "".join(of_group.format(g=g, type=self.sql_type, parts=each) for g, each in enumerate(parts))
            case "range by ID, hash, range by ID":
                of_group = """CREATE TABLE t_{g}_a PARTITION OF t_{g} FOR VALUES WITH (MODULUS 2, REMAINDER 0);
                    CREATE TABLE t_{g}_b PARTITION OF t_{g} FOR VALUES WITH (MODULUS 2, REMAINDER 1)
                        PARTITION BY RANGE (id); {parts}"""
                first = ranges("t", low, b, high).replace(";", " PARTITION BY HASH (id);")
                return first + "".join(
                    of_group.format(g=g, parts=ranges(f"t_{g}_b", low, within, high)) for g, within in enumerate((a, c))
                )
            case "list by ID":
                return f"""CREATE TABLE t_0 PARTITION OF t FOR VALUES IN ({a}, {b}, {c});
                    CREATE TABLE t_1 PARTITION OF t DEFAULT"""
            case "hash":
                part = "CREATE TABLE t_{0} PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER {0});"
                return "".join(map(part.format, range(3)))
            case "inheritance":
                return "".join(map("CREATE TABLE t_{} () INHERITS (t);".format, range(3)))
            case _:
                return ""

    # ---------------------------------------------------------------------------------------------------------- queries

    def _range(self) -> str:
        """Returns an expression for a range."""
        bounds = [self.source.choice([*self.times, "NULL"]) for _ in range(2)]
        kind = self.source.choice(["[)", "[]", "(]", "()", "empty"])
        if kind == "empty":
            return "tstzrange 'empty'"
        x, y = (each if each == "NULL" else f"timestamptz '{each}'" for each in bounds)
        order = f"{x}, {y}" if "NULL" in bounds else f"least({x}, {y}), greatest({x}, {y})"
        return f"tstzrange({order}, '{kind}')"

    def _operand(self, literal: str, type_: str, parameters: list, column: str) -> str:
        """Returns an expression for a value: a constant, a stable one, a parameter, a subquery or another table's."""
        text = literal.removeprefix("timestamptz ") if type_ == "timestamptz" else f"({literal})::text"
        match self.source.randrange(8):
            case 0 | 1:
                return literal
            case 2 | 3:
                parameters.append((type_, literal))
                return f"${len(parameters)}"
            case 4:
                return f"({text}::text || left(current_setting('search_path'), 0))::{type_}"
            case 5:
                return f"(SELECT {column} FROM b AS other WHERE i = {self.source.randrange(BOUNDS)})"
            case 6:
                return f"(SELECT {literal})"
        return f"b.{column}"

    def _time(self, parameters: list, is_time: bool) -> str:
        """Returns an expression for a time. The time of an ID is also compared with dates and timestamps."""
        source = self.source
        time = source.choice(self.times)
        match source.randrange(10 if is_time else 6):
            case 6:
                return source.choice(["now()", "now() - interval '5000 years'", "NULL::timestamptz", "t.at"])
            case 7 | 8 | 9:
                local = time.split("+")[0] + (" BC" if "BC" in time else "")
                literal = source.choice([f"date '{local}'", f"timestamp '{local}'", source.choice(DATES)])
                type_ = literal.split(" ")[0]
                if type_ in ("date", "timestamp") and source.random() < 0.4:
                    parameters.append((type_, literal))
                    return f"${len(parameters)}"
                return literal
        return self._operand(f"timestamptz '{time}'", "timestamptz", parameters, source.choice("xy"))

    def _comparison(self, parameters: list) -> str:
        """Returns a comparison of the ID, or of its time, with a time or a range of times."""
        source = self.source
        is_time = source.random() < self.share
        subject, start = ("<E>", "(") if is_time else ("<id>", "compared(")
        operator = source.choice(OPERATORS + ["=", "<>"] * is_time)
        time = f"{start}{self._time(parameters, is_time)})"
        some = source.choices(self.times, k=source.choice([0, 1, 2, 3, 9, 20]))
        match source.randrange(13 if is_time else 8):
            case 0 | 1:
                of_range = f"{start}{self._operand(self._range(), 'tstzrange', parameters, 'r')})"
                return source.choice([f"{subject} <@ {of_range}", f"{of_range} @> {subject}"])
            case 2:
                return f"{time} {operator} {subject}"
            case 3:
                times = ", ".join(f"{start}{self._time(parameters, False)})" for _ in range(2))
                return f"{subject} {operator} ANY (ARRAY[{times}])"
            case 4:
                return f"{subject} BETWEEN {time} AND {start}{self._time(parameters, is_time)})"
            case 5:
                return f"({subject} IS {source.choice(['', 'NOT '])}NULL OR {subject} {operator} {time})"
            case 8:
                return f"({subject}, n) {source.choice(OPERATORS)} ({time}, {source.randrange(ROWS)})"
            case 9 | 10:
                type_ = source.choice(["timestamptz", "timestamptz", "timestamp", "date"])
                of_type = (each if type_ == "timestamptz" else each.split("+")[0] for each in some if "BC" not in each)
                values = ", ".join(f"{type_} '{each}'" for each in of_type)
                return f"{subject} {source.choice(['', 'NOT '])}IN ({values or 'NULL'})"
            case 11:
                type_ = source.choice(["timestamptz", "timestamptz", "date"])
                values = ", ".join(f'"{each}"' for each in some[:3] if type_ != "date" or "BC" not in each)
                parameters.append((f"{type_}[]", f"'{{{values}}}'"))
                return f"{subject} {source.choice(['= ANY', '= ANY', '<> ALL', '>= ANY'])} (${len(parameters)})"
        return f"{subject} {operator} {time}"

    def _condition(self, parameters: list, depth: int) -> str:
        """Returns a condition of comparisons, with parameters from a list that it extends."""
        source = self.source
        if depth == 0 or source.random() < 0.3:
            return self._comparison(parameters)
        parts = [self._condition(parameters, depth - 1) for _ in range(source.choice([2, 2, 3]))]
        match source.randrange(8):
            case 0 | 1:
                return f"(NOT ({parts[0]}))"
            case 2:
                return f"(({parts[0]}) {source.choice(['IS TRUE', 'IS NOT TRUE', 'IS FALSE', 'IS NULL', '= false'])})"
            case 3:
                return f"(CASE WHEN g < 2 THEN {parts[0]} ELSE {parts[1]} END)"
        if source.random() < 0.3:
            parts.append(source.choice(["g = 1", "n < 150", "g IN (1, 2)", "t.id IS NOT NULL"]))
        return f"({source.choice([' AND ', ' AND ', ' OR ']).join(parts)})"

    def query(self) -> Query:
        """Returns a random query by the ID, by its time, or by both."""
        source, parameters = self.source, []
        self.share = source.choice(self.shares)
        kind = source.choice(KINDS)
        condition = self._condition(parameters, source.randrange(4)) if "<C>" in kind else ""
        if re.search(r"\bb\.", condition) and not re.search(r"\bb\b", kind):
            other = " CROSS JOIN (SELECT * FROM b WHERE i = 4) AS b "
            kind = kind.replace(" FROM t ", f" FROM t{other}").replace("FOR UPDATE", "")
        text = kind.replace("<C>", condition).replace("<D>", source.choice(DIRECTIONS))
        text = text.replace("<T>", source.choice(self.times))
        calls = [f"{self.system}_timestamp({{}}.id)", "{}.id::timestamptz"]
        call = calls[0] if self.sql_type == "uuid" else source.choice(calls)
        by_id, by_time = (
            text.replace("<E>", of.format("t")).replace("<other.E>", of.format("other")).replace("<id>", column)
            for of, column in ((call, "t.id"), ("{}.at", "t.at"))
        )
        return Query(by_id.replace("compared(", "("), by_time, parameters)

    def settle(self) -> list[str]:
        """Sets random settings for the next query, and returns two time zones: that of the session, and another."""
        source = self.source
        zones, workers = source.sample(ZONES, 2), 2 if source.random() < 0.1 else 0
        settings = (
            # The costs of disabled plans would otherwise have them compiled, which takes longer than the query.
            "jit = off",
            *(f"enable_{name} = {source.random() < 0.7}" for name in NODES),
            f"plan_cache_mode = force_{source.choice(['custom', 'generic'])}_plan",
            f"constraint_exclusion = {source.choice(['on', 'partition'])}",
            f"enable_partitionwise_join = {source.random() < 0.5}",
            f"max_parallel_workers_per_gather = {workers}",
            f"parallel_setup_cost = {0 if workers else 1000}",
            f"min_parallel_table_scan_size = {0 if workers else 1024}",
            f"timezone = '{zones[0]}'",
            "scru.enable_time_of_id = on",
        )
        self.connection.execute(";".join(f"SET {setting}" for setting in settings))
        return zones


@pytest.mark.parametrize("system", [*TYPES, UUIDV7], ids=str)
def test_conditions_on_an_id_are_those_on_its_time(connection, measured, system: IdType):
    """With the hooks on and off, and with workers: the same rows, in the same order."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    # Years after 9999 are beyond Python's datetime.
    connection.adapters.register_loader("timestamptz", TextLoader)
    different, digest, by_index = [], sha256(), 0
    signal.alarm(300 + TABLES * QUERIES // 2)
    for seed in range(TABLES):
        table = RandomTable(connection, system, random.Random(f"{system} {seed}"))
        for number in range(QUERIES):
            zones, query, plan = table.settle(), table.query(), ""
            with connection.transaction():
                # One now() for all of them.
                rows = query.rows(connection, query.by_id, zones)
                if not query.parameters:
                    plan = explain(connection, query.by_id)
                by_time = query.rows(connection, query.by_time, zones)
                connection.execute("SET scru.enable_time_of_id = off")
                off = query.rows(connection, query.by_id, zones)
            by_index += table.share == table.shares[-1] and "Index Cond: (id" in plan
            digest.update(repr(rows).encode())
            if not rows == by_time == off:
                different.append((seed, number, table.layout, query, rows, by_time, off, plan))
    queries = f"{TABLES * QUERIES} queries on {TABLES} tables"
    measured(f"differential: {system}: {queries}, {by_index} by an index on the ID, rows {digest.hexdigest()[:16]}")
    assert not different, "\n".join(map(str, different[:3]))
    assert by_index > 0
