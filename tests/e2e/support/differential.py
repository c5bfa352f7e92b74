"""Random tables with an ID, and random conditions on its time, each in two forms: by the ID, and by a column of times.

The column `at` has the time of the ID, which this module computes from the facts of the type. A condition by the column
truncates each time to the tick with `date_bin`, so that it depends on no function of the extension. The times are one
microsecond before, at and after the ticks of the rows: a bound that is moved by one microsecond changes a result.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import psycopg

from idtypes import TYPES, IdType

MICROS_PER_DAY = 86_400_000_000


@dataclass(frozen=True, kw_only=True)
class IdSystem:
    """An ID system: how to make an ID of a tick."""

    name: str
    tick: int
    """The length of a tick, in milliseconds."""
    epoch: int
    """The start of the first tick, in milliseconds since 1970."""
    ticks: int
    """The number of ticks."""
    make: Callable[[int, random.Random, float], str]
    """Returns the text of an ID of a tick: the first one for 0, the last one for 1, otherwise a random one."""

    def __str__(self) -> str:
        return self.name

    @property
    def sql_type(self) -> str:
        return "uuid" if self.name == "uuidv7" else self.name

    def micros(self, tick: int) -> int:
        """Returns the start of a tick, in microseconds since 1970."""
        return (self.epoch + tick * self.tick) * 1000


def of_type(id_type: IdType) -> IdSystem:
    """Returns the system of a type of the extension."""

    def make(tick: int, source: random.Random, place: float) -> str:
        body = {0: 0, 1: (1 << id_type.body_bits) - 1}.get(place, source.getrandbits(id_type.body_bits))
        return id_type.text(min(tick << id_type.body_bits | body, id_type.largest))

    ticks = (id_type.largest >> id_type.body_bits) + 1
    return IdSystem(name=id_type.name, tick=id_type.tick, epoch=id_type.epoch, ticks=ticks, make=make)


def make_uuidv7(tick: int, source: random.Random, place: float) -> str:
    body = {0: 0, 1: (1 << 74) - 1}.get(place, source.getrandbits(74))
    return str(uuid.UUID(int=tick << 80 | 7 << 76 | body >> 62 << 64 | 2 << 62 | body & (1 << 62) - 1))


SYSTEMS = [*map(of_type, TYPES), IdSystem(name="uuidv7", tick=1, epoch=0, ticks=1 << 48, make=make_uuidv7)]

LAYOUTS = {
    "heap": "",
    "range by ID": "PARTITION BY RANGE (id)",
    "range by group and ID": "PARTITION BY RANGE (g, id)",
    "list by group, range by ID": "PARTITION BY LIST (g)",
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
SETTINGS = ["seqscan", "indexscan", "bitmapscan", "indexonlyscan", "hashjoin", "nestloop", "mergejoin", "material"]
ZONES = ["UTC", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "Europe/London"]

# Functions by which the conditions on the column truncate times to the tick. A core type has no IDs beyond its first
# and last tick: its comparisons count such times as within the nearest tick.
FUNCTIONS = """
    CREATE FUNCTION truncated(t timestamptz) RETURNS timestamptz IMMUTABLE PARALLEL SAFE
        RETURN date_bin('{tick} ms', t, timestamptz '1970-01-01 00:00+00');
    CREATE FUNCTION compared(t timestamptz) RETURNS timestamptz IMMUTABLE PARALLEL SAFE RETURN {compared};
    CREATE FUNCTION within(at timestamptz, r tstzrange) RETURNS boolean IMMUTABLE PARALLEL SAFE RETURN
        CASE WHEN at IS NULL OR r IS NULL THEN NULL ELSE NOT isempty(r)
            AND (lower_inf(r) OR at > truncated(lower(r)) OR at = truncated(lower(r)) AND lower_inc(r))
            AND (upper_inf(r) OR at < truncated(upper(r)) OR at = truncated(upper(r)) AND upper_inc(r))
        END
"""


def ranges(table: str, *bounds: str) -> str:
    """Returns the statements that create the partitions of a table: the ranges from each bound to the next."""
    part = "CREATE TABLE {0}_{1} PARTITION OF {0} FOR VALUES FROM ({2}) TO ({3});"
    return "".join(part.format(table, number, *pair) for number, pair in enumerate(pairwise(bounds)))


@dataclass(frozen=True)
class Condition:
    """A condition in two forms."""

    by_id: str
    by_time: str


@dataclass(frozen=True)
class Query(Condition):
    """A query in two forms that return the same rows."""

    parameters: tuple[tuple[str, str], ...] = ()
    """The type and the literal of each parameter $1, $2 and so on."""

    def result(self, connection: psycopg.Connection, by_id: bool) -> list[tuple]:
        """Returns the rows of one form."""
        query = self.by_id if by_id else self.by_time
        if not self.parameters:
            return connection.execute(query).fetchall()
        types, values = (", ".join(each) for each in zip(*self.parameters, strict=True))
        connection.execute(f"PREPARE query ({types}) AS {query}")
        rows = connection.execute(f"EXECUTE query ({values})").fetchall()
        connection.execute("DEALLOCATE query")
        return rows

    def explained(self, connection: psycopg.Connection) -> str:
        """Returns the rows of both forms again, and their plans, to explain a difference."""
        found = []
        for by_id in True, False:
            query = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {self.by_id if by_id else self.by_time}"
            found.append(repr(self.result(connection, by_id)))
            if not self.parameters:
                found += [line for (line,) in connection.execute(query)]
        return "\n".join(found)


class RandomTable:
    """A random table `t` with the columns id, at, g and n, a table `b` with times and ranges, and their conditions.

    The same source of random numbers gives the same tables and conditions.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        system: IdSystem,
        source: random.Random,
        rows: int = 200,
        first: int | None = None,
        step: int = 1,
    ):
        """Without `first`, the first tick of the rows is a random one. They are `step` ticks apart."""
        self.connection, self.system, self.source = connection, system, source
        self.layout = source.choice(list(LAYOUTS))
        first = source.randrange(system.ticks // 4, system.ticks // 2) if first is None else first
        of_rows = [first + step * source.randrange(rows // 3) for _ in range(rows)]
        if source.random() < 0.5:
            of_rows[:6] = [0, 0, 1, system.ticks - 2, system.ticks - 1, system.ticks - 1]
        places = [source.choice((0, 0.5, 0.5, 1)) for _ in of_rows]
        self.ids = [system.make(tick, source, place) for tick, place in zip(of_rows, places, strict=True)]
        self.times = self._times(of_rows)
        self._create(of_rows)

    # -------------------------------------------------------------------------------------------------------- the table

    def _times(self, ticks: list[int]) -> list[str]:
        """Returns literals of times around the ticks, and of some far from them."""
        source, length = self.source, self.system.tick * 1000
        offsets = (-1, 0, 0, 1, length // 2, length - 1)
        some = [self.system.micros(tick) + source.choice(offsets) for tick in source.sample(ticks, 60)]
        some += [self.system.micros(tick) for tick in (0, self.system.ticks - 1, self.system.ticks)]
        return [*self._literals(some), "infinity", "-infinity", "0044-03-15 00:00+00 BC", "20000-01-01 00:00+00"]

    def _literals(self, micros: list[int]) -> list[str]:
        """Returns literals of times in microseconds since 1970. Years after 9999 are beyond Python's datetime."""
        with self.connection.transaction():
            self.connection.execute("SET LOCAL timezone = 'UTC'")
            query = """
                SELECT (timestamptz 'epoch' + days * interval '1 day' + micros * interval '1 microsecond')::text
                FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS t(days, micros, i) ORDER BY i
            """
            split = [divmod(each, MICROS_PER_DAY) for each in micros]
            columns = [[days for days, _ in split], [rest for _, rest in split]]
            return [text for (text,) in self.connection.execute(query, columns)]

    def _create(self, ticks: list[int]) -> None:
        """Creates the functions, the tables and their indexes."""
        execute, system, source = self.connection.execute, self.system, self.source
        # A core type counts times beyond its ticks as within the nearest one.
        bounds = self._literals([system.micros(0), system.micros(system.ticks - 1)])
        nearest = "least(greatest(truncated(t), timestamptz '{}'), timestamptz '{}')".format(*bounds)
        compared = nearest if system.sql_type == "uuid" else "truncated(t)"
        execute("DROP SCHEMA IF EXISTS tests CASCADE; CREATE SCHEMA tests; SET search_path = tests, public")
        execute(FUNCTIONS.format(tick=system.tick, compared=compared))
        columns = ["gone int", f"id {system.sql_type}", "at timestamptz", "g int", "n int"]
        table = f"CREATE TABLE t ({', '.join(columns)}) {LAYOUTS[self.layout]}; ALTER TABLE t DROP gone"
        execute(f"{table}; {self._parts()}")
        rows = list(zip(self.ids, self._literals([system.micros(tick) for tick in ticks]), strict=True))
        children = [name for (name,) in execute("SELECT inhrelid::regclass::text FROM pg_inherits ORDER BY 1")]
        values = [f"('{id_}', '{at}', {n % GROUPS}, {n})" for n, (id_, at) in enumerate(rows)]
        if "ID" not in self.layout:
            values[::50] = [f"(NULL, NULL, {n % GROUPS}, {n})" for n in range(0, len(values), 50)]
        for number, table in enumerate(children if self.layout == "inheritance" else ["t"]):
            of_table = values[number::3] if self.layout == "inheritance" else values
            execute(f"INSERT INTO {table} (id, at, g, n) VALUES {', '.join(of_table)}")
        for index in source.sample(INDEXES, source.randrange(5)):
            condition = self._comparison(constant=True).by_id
            for table in children if self.layout == "inheritance" else ["t"]:
                execute(f"CREATE INDEX ON {table} USING {index.format(condition)}")
        if system.sql_type != "uuid" and source.random() < 0.3:
            execute("CREATE INDEX ON t USING gist (id)")
        execute("CREATE TABLE b (i int, x timestamptz, y timestamptz, r tstzrange)")
        for i in range(BOUNDS):
            x, y = self._two_times()
            execute(f"INSERT INTO b VALUES ({i}, '{x}', '{y}', {self._range()})")
        if source.random() < 0.8:
            execute("ANALYZE t, b")

    def _parts(self) -> str:
        """Returns the statements that create the partitions or the children."""
        a, b, c = (f"'{each}'" for each in sorted(self.source.sample(sorted(set(self.ids)), 3)))
        type_, low, high = self.system.sql_type, "MINVALUE", "MAXVALUE"
        match self.layout:
            case "range by ID":
                return ranges("t", low, a, b, c, high)
            case "range by group and ID":
                return ranges("t", f"{low}, {low}", *(f"{g}, {b}" for g in range(3)), f"{high}, {high}")
            case "list by group, range by ID":
                # The partition of a group has its columns in another order, and is itself partitioned.
                of_group = """CREATE TABLE t_{g} (n int, g int, at timestamptz, id {type}) PARTITION BY RANGE (id);
                    {parts} ALTER TABLE t ATTACH PARTITION t_{g} FOR VALUES IN ({g});"""
                bounds = {f"t_{g}": (low, b, high) for g in range(GROUPS)}
            case "list by group, range by number, range by ID":
                # Each level has its columns in another order. None is the default partition: PostgreSQL 15.18 skips it
                # by mistake if a condition with OR has values that only the execution knows, for columns of any type.
                of_group = """CREATE TABLE t_{g} (n int, g int, at timestamptz, id {type}) PARTITION BY RANGE (n);
                    CREATE TABLE t_{g}_a PARTITION OF t_{g} FOR VALUES FROM (MINVALUE) TO (100);
                    CREATE TABLE t_{g}_b (at timestamptz, id {type}, n int, g int) PARTITION BY RANGE (id);
                    {parts} ALTER TABLE t_{g} ATTACH PARTITION t_{g}_b FOR VALUES FROM (100) TO (MAXVALUE);
                    ALTER TABLE t ATTACH PARTITION t_{g} FOR VALUES IN ({g});"""
                bounds = {f"t_{g}_b": (low, a, c, high) for g in range(GROUPS)}
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
        parts = (ranges(table, *of_table) for table, of_table in bounds.items())
        return "".join(of_group.format(g=g, type=type_, parts=each) for g, each in enumerate(parts))

    # ------------------------------------------------------------------------------------------------------- conditions

    def _two_times(self) -> tuple[str, str]:
        return self.source.choice(self.times), self.source.choice(self.times)

    def _range(self) -> str:
        """Returns an expression for a range."""
        bounds = [self.source.choice([*self.times, "NULL"]) for _ in range(2)]
        kind = self.source.choice(["[)", "[]", "(]", "()", "empty"])
        if kind == "empty":
            return "tstzrange 'empty'"
        x, y = (each if each == "NULL" else f"timestamptz '{each}'" for each in bounds)
        order = f"tstzrange(least({x}, {y}), greatest({x}, {y}), '{kind}')"
        return order if "NULL" not in bounds else f"tstzrange({x}, {y}, '{kind}')"

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

    def _comparison(self, parameters: list | None = None, constant: bool = False) -> Condition:
        """Returns a comparison of the ID with a time or a range of times."""
        source = self.source
        parameters = [] if parameters is None else parameters
        if not constant and source.random() < 0.35:
            r = self._operand(self._range(), "tstzrange", parameters, "r")
            return Condition(source.choice([f"id <@ {r}", f"{r} @> id"]), f"within(at, {r})")
        operator = source.choice(["<", "<=", ">=", ">"])
        literal = f"timestamptz '{source.choice(self.times)}'"
        time = literal if constant else self._operand(literal, "timestamptz", parameters, source.choice("xy"))
        match 0 if constant else source.randrange(6):
            case 0:
                commuted = operator.translate(str.maketrans("<>", "><"))
                return Condition(f"{time} {commuted} id", f"at {operator} compared({time})")
            case 1:
                other = f"timestamptz '{source.choice(self.times)}'"
                by_id = f"id {operator} ANY (ARRAY[{time}, {other}])"
                return Condition(by_id, f"(at {operator} compared({time}) OR at {operator} compared({other}))")
            case 2:
                other = f"timestamptz '{source.choice(self.times)}'"
                by_time = f"at BETWEEN compared({time}) AND compared({other})"
                return Condition(f"id BETWEEN {time} AND {other}", by_time)
        return Condition(f"id {operator} {time}", f"at {operator} compared({time})")

    def _condition(self, parameters: list, depth: int) -> Condition:
        """Returns a condition of comparisons, with parameters from a list that it extends."""
        source = self.source
        if depth == 0 or source.random() < 0.3:
            return self._comparison(parameters)
        match source.randrange(8):
            case 0 | 1 | 2 | 3:
                word = source.choice([" AND ", " AND ", " OR "])
                parts = [self._condition(parameters, depth - 1) for _ in range(source.choice([2, 2, 3]))]
                if source.random() < 0.3:
                    other = source.choice(["g = 1", "n < 150", "g IN (1, 2)", "id IS NOT NULL"])
                    parts.append(Condition(other, other))
                return Condition(*(f"({word.join(getattr(p, of) for p in parts)})" for of in ("by_id", "by_time")))
            case 4 | 5:
                part = self._condition(parameters, depth - 1)
                return Condition(f"(NOT ({part.by_id}))", f"(NOT ({part.by_time}))")
            case 6:
                part = self._condition(parameters, depth - 1)
                test = source.choice(["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NULL", "= false"])
                return Condition(f"(({part.by_id}) {test})", f"(({part.by_time}) {test})")
        one, other = (self._condition(parameters, depth - 1) for _ in range(2))
        return Condition(
            *(f"(CASE WHEN g < 2 THEN {getattr(one, of)} ELSE {getattr(other, of)} END)" for of in ("by_id", "by_time"))
        )

    def query(self) -> Query:
        """Returns a random query."""
        parameters: list = []
        condition = self._condition(parameters, self.source.randrange(4))
        kinds = [
            "SELECT count(*), sum(n), min(n) FROM t, b WHERE i < 5 AND {}",
            "SELECT i, count(t.n), sum(n) FROM b LEFT JOIN t ON {} GROUP BY i ORDER BY i",
            "SELECT count(*), sum(i) FROM b WHERE EXISTS (SELECT FROM t WHERE {})",
        ]
        if "b." not in condition.by_id:
            kinds = [
                "SELECT count(*), sum(n), min(n) FROM t WHERE {}",
                "SELECT n FROM t WHERE {} ORDER BY n",
                "SELECT n FROM t WHERE {} ORDER BY id, n LIMIT 7",
                "SELECT g, count(*) FILTER (WHERE {}), bool_and({}) FROM t GROUP BY g ORDER BY g",
                *kinds[1:3],
            ]
        kind = self.source.choice(kinds)
        by_id, by_time = (kind.replace("{}", form) for form in (condition.by_id, condition.by_time))
        return Query(by_id, by_time, tuple(parameters))

    def settle(self) -> None:
        """Sets random settings, which the next query is planned with."""
        # The costs of disabled plans would otherwise have them compiled, which takes longer than the query.
        source = self.source
        for setting in (
            "jit = off",
            *(f"enable_{name} = {source.random() < 0.7}" for name in SETTINGS),
            f"plan_cache_mode = force_{source.choice(['custom', 'generic'])}_plan",
            f"constraint_exclusion = {source.choice(['on', 'partition'])}",
            f"enable_partitionwise_join = {source.random() < 0.5}",
            f"timezone = '{source.choice(ZONES)}'",
        ):
            self.connection.execute(f"SET {setting}")
