"""Cost: what the server's own type of the same size costs is the measure, in space to the byte and in time to 5 %.

Times are what the server's process spends on the processor, so that it matters little what else the machine does;
taken in turns within one run, and compared by the median of the rounds' ratios. Where that is above the limit, as by
chance it may be on a busy machine, more rounds decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import psycopg
import pytest

from bench.process import processor_time
from idtypes import SCRU128, TYPES, of_types
from server import Server

pytestmark = pytest.mark.alone

ROUNDS = range(7, 32)
LIMIT = 1.05

# A type is measured by the server's own of its size, where there is one.
MEASURED = of_types([id_type for id_type in TYPES if id_type.yardstick])


def rows(id_type) -> int:
    """A million, and as others are alike, fewer of them."""
    return 1_000_000 if id_type is SCRU128 else 250_000


@pytest.fixture(scope="module")
def keeping_server() -> Iterator[Server]:
    """A server that keeps the memory that it once had: else it depends on what was sorted before whether a sort has to ask the
    system for it, which can take a tenth of its time."""
    with Server(environment={"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}) as server:
        yield server


@pytest.fixture
def quiet(keeping_server: Server) -> Iterator[psycopg.Connection]:
    """A connection that sorts in memory and alone, for workers come and go."""
    with keeping_server.connect() as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION scru")
        for setting in "work_mem", "maintenance_work_mem":
            connection.execute(f"SET {setting} = '512MB'")
        for setting in "max_parallel_workers_per_gather", "max_parallel_maintenance_workers":
            connection.execute(f"SET {setting} = 0")
        yield connection


def create_table(connection, name: str, query: str) -> None:
    """A table of a query's rows, with all that the first reader of a table would do for the others already done."""
    connection.execute(f"CREATE UNLOGGED TABLE {name} AS {query}")
    connection.execute(f"VACUUM (FREEZE, ANALYZE) {name}")


def create_shuffled(connection, id_type) -> None:
    """Values of the yardstick in no order, the same bytes as IDs, and IDs that one session generated in bulk.

    The last are the hard case: the IDs of a few hundred milliseconds have most of their leading bits in common.
    """
    numbers = f"generate_series(1, {rows(id_type)})"
    create_table(connection, "yardstick", f"SELECT {id_type.random_yardstick} AS id FROM {numbers}")
    create_table(connection, "random", f"SELECT id::{id_type.name} FROM yardstick")
    generated = f"SELECT {id_type.generator} AS id FROM {numbers} OFFSET 0"
    create_table(connection, "bulk", f"SELECT id FROM ({generated}) AS generated ORDER BY random()")


WORK = {
    # The sort alone: its rows are dropped where they come out.
    "ORDER BY": "SELECT id FROM {table} ORDER BY id OFFSET 1000000000",
    "CREATE INDEX": "CREATE INDEX ON {table} (id)",
}


def milliseconds(connection, statement: str) -> float:
    """The processor time of a statement, whose effects are undone."""
    with connection.transaction(force_rollback=True):
        before = processor_time(connection.info.backend_pid)
        connection.execute(statement)
        return (processor_time(connection.info.backend_pid) - before) / 1e6


@MEASURED
@pytest.mark.parametrize("work", WORK)
def test_sorting_takes_no_longer_than_the_yardstick(quiet, measured, id_type, work):
    create_shuffled(quiet, id_type)
    ratios = {"random": [], "bulk": []}
    times = {"yardstick": [], **{table: [] for table in ratios}}

    def too_slow() -> dict[str, float]:
        return {table: median(ratio) for table, ratio in ratios.items() if median(ratio) > LIMIT}

    for turn in range(ROUNDS[-1]):
        # Each table comes first, second and last in its turn.
        for table in [*times, *times][turn % 3 : turn % 3 + 3]:
            times[table].append(milliseconds(quiet, WORK[work].format(table=table)))
        for table, ratio in ratios.items():
            ratio.append(times[table][-1] / times["yardstick"][-1])
        if turn + 1 in ROUNDS and not too_slow():
            break

    for table in ratios:
        measured(
            f"{work} over {rows(id_type)} {table} {id_type}: {median(times[table]):.0f} ms, {id_type.yardstick}:"
            f" {median(times['yardstick']):.0f} ms, ratio {median(ratios[table]):.3f}"
            f" ({min(ratios[table]):.3f} … {max(ratios[table]):.3f} in {len(ratios[table])} rounds)"
        )
    assert too_slow() == {}


def sizes(connection, table: str) -> dict[str, int]:
    """The bytes of a table and of each of its indexes."""
    query = """
        SELECT substr(relname, length(%(table)s) + 1), pg_relation_size(c.oid)
        FROM pg_class AS c LEFT JOIN pg_index ON indexrelid = c.oid
        WHERE %(table)s::regclass IN (c.oid, indrelid)
    """
    return dict(connection.execute(query, {"table": table}).fetchall())


@MEASURED
def test_sizes_are_those_of_the_yardstick(quiet, measured, id_type):
    """The table; its indexes, grown by rows or built at once, of one column or two; and those of tenfold duplicates."""
    values = f"SELECT {id_type.random_yardstick} AS id FROM generate_series(1, {rows(id_type) // 5})"
    quiet.execute(f"CREATE TEMPORARY TABLE same AS {values}")
    for table, type_ in ("_y", id_type.yardstick), ("_t", id_type.name):
        quiet.execute(f"CREATE UNLOGGED TABLE {table} (id {type_} PRIMARY KEY, flag boolean)")
        quiet.execute(f"INSERT INTO {table} SELECT id::{type_}, true FROM same")
        quiet.execute(f"CREATE INDEX {table}_built ON {table} (id)")
        quiet.execute(f"CREATE INDEX {table}_two ON {table} (flag, id)")
        quiet.execute(f"CREATE INDEX {table}_hash ON {table} USING hash (id)")

        duplicates = f"{table}_duplicates"
        quiet.execute(f"CREATE UNLOGGED TABLE {duplicates} (id {type_})")
        quiet.execute(f"CREATE INDEX {duplicates}_grown ON {duplicates} (id)")
        some = "same, generate_series(1, 10) WHERE same.ctid < '(250,0)'"
        quiet.execute(f"INSERT INTO {duplicates} SELECT id::{type_} FROM {some}")
        quiet.execute(f"CREATE INDEX {duplicates}_built ON {duplicates} (id)")
    ours, theirs = ({**sizes(quiet, t), "duplicates": sizes(quiet, f"{t}_duplicates")} for t in ("_t", "_y"))
    measured(f"bytes of {rows(id_type) // 5} {id_type}: {ours}")
    assert ours == theirs
    # An index of tenfold duplicates, deduplicated, needs far less than ten entries each.
    assert ours["duplicates"]["_built"] < ours["duplicates"][""] / 3
