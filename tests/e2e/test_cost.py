"""Cost relative to a baseline, the server's own type of the same size: equal in bytes, at most 5 % more time.

Times are processor times of the backend, so that other load matters little. Each round measures the types in turn. The
median of the rounds' ratios is compared with the limit. If it is above, as it can be by chance on a busy machine,
further rounds decide.
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

# The types that have a baseline.
MEASURED = of_types([id_type for id_type in TYPES if id_type.baseline])


def rows(id_type) -> int:
    """Returns the number of rows: a million for scru128; fewer for the other types, which behave alike."""
    return 1_000_000 if id_type is SCRU128 else 250_000


@pytest.fixture(scope="module")
def keeping_server() -> Iterator[Server]:
    """A server whose backends never return memory to the system.

    Otherwise some sorts would allocate memory from the system, depending on earlier sorts. That can take a tenth of the
    time of a sort.
    """
    with Server(environment={"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}) as server:
        yield server


@pytest.fixture
def quiet(keeping_server: Server) -> Iterator[psycopg.Connection]:
    """A connection that sorts in memory and without parallel workers, whose number varies."""
    with keeping_server.connect() as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION scru")
        for setting in "work_mem", "maintenance_work_mem":
            connection.execute(f"SET {setting} = '512MB'")
        for setting in "max_parallel_workers_per_gather", "max_parallel_maintenance_workers":
            connection.execute(f"SET {setting} = 0")
        yield connection


def create_table(connection, name: str, query: str) -> None:
    """Creates a table from a query, and does the work that the first reader of a table does for later ones."""
    connection.execute(f"CREATE UNLOGGED TABLE {name} AS {query}")
    connection.execute(f"VACUUM (FREEZE, ANALYZE) {name}")


def create_shuffled(connection, id_type) -> None:
    """Creates shuffled tables of baseline values, of the same bytes as IDs, and of IDs that were generated in bulk.

    The last table is the hard case: IDs of a few hundred milliseconds have most of their leading bits in common.
    """
    numbers = f"generate_series(1, {rows(id_type)})"
    create_table(connection, "baseline", f"SELECT {id_type.random_baseline} AS id FROM {numbers}")
    create_table(connection, "random", f"SELECT id::{id_type.name} FROM baseline")
    generated = f"SELECT {id_type.generator} AS id FROM {numbers} OFFSET 0"
    create_table(connection, "bulk", f"SELECT id FROM ({generated}) AS generated ORDER BY random()")


WORK = {
    # OFFSET discards all rows after the sort.
    "ORDER BY": "SELECT id FROM {table} ORDER BY id OFFSET 1000000000",
    "CREATE INDEX": "CREATE INDEX ON {table} (id)",
}


def milliseconds(connection, statement: str) -> float:
    """Executes a statement, rolls it back, and returns its processor time in milliseconds."""
    with connection.transaction(force_rollback=True):
        before = processor_time(connection.info.backend_pid)
        connection.execute(statement)
        return (processor_time(connection.info.backend_pid) - before) / 1e6


@MEASURED
@pytest.mark.parametrize("work", WORK)
def test_sorting_takes_no_longer_than_the_baseline(quiet, measured, id_type, work):
    create_shuffled(quiet, id_type)
    ratios = {"random": [], "bulk": []}
    times = {"baseline": [], **{table: [] for table in ratios}}

    def too_slow() -> dict[str, float]:
        return {table: median(ratio) for table, ratio in ratios.items() if median(ratio) > LIMIT}

    for turn in range(ROUNDS[-1]):
        # Each table is the first, the second and the last one in turn.
        for table in [*times, *times][turn % 3 : turn % 3 + 3]:
            times[table].append(milliseconds(quiet, WORK[work].format(table=table)))
        for table, ratio in ratios.items():
            ratio.append(times[table][-1] / times["baseline"][-1])
        if turn + 1 in ROUNDS and not too_slow():
            break

    for table in ratios:
        measured(
            f"{work} over {rows(id_type)} {table} {id_type}: {median(times[table]):.0f} ms, {id_type.baseline}:"
            f" {median(times['baseline']):.0f} ms, ratio {median(ratios[table]):.3f}"
            f" ({min(ratios[table]):.3f} … {max(ratios[table]):.3f} in {len(ratios[table])} rounds)"
        )
    assert too_slow() == {}


def sizes(connection, table: str) -> dict[str, int]:
    """Returns the sizes of a table and of its indexes, in bytes."""
    query = """
        SELECT substr(relname, length(%(table)s) + 1), pg_relation_size(c.oid)
        FROM pg_class AS c LEFT JOIN pg_index ON indexrelid = c.oid
        WHERE %(table)s::regclass IN (c.oid, indrelid)
    """
    return dict(connection.execute(query, {"table": table}).fetchall())


@MEASURED
def test_sizes_are_those_of_the_baseline(quiet, measured, id_type):
    """Compares tables and their indexes: grown or built at once, with one column or two, with tenfold duplicates."""
    values = f"SELECT {id_type.random_baseline} AS id FROM generate_series(1, {rows(id_type) // 5})"
    quiet.execute(f"CREATE TEMPORARY TABLE same AS {values}")
    for table, type_ in ("_y", id_type.baseline), ("_t", id_type.name):
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
    # Deduplication makes the index of tenfold duplicates much smaller than the table.
    assert ours["duplicates"]["_built"] < ours["duplicates"][""] / 3
