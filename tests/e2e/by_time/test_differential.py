"""Random conditions on an ID return the same rows as the same conditions on a column of times.

CI takes a sample with fixed seeds. `TEST_LONG` in the environment, as in `make test-long`, takes a hundred times
as many tables.
"""

from __future__ import annotations

import random
import signal

import psycopg
import pytest

from differential import SYSTEMS, IdSystem, RandomTable
from server import IS_LONG, on_every_version

pytestmark = on_every_version

TABLES = 2_000 if IS_LONG else 20
QUERIES = 40


@pytest.fixture
def extensions(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a new database with both extensions."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    return connection


@pytest.mark.parametrize("system", SYSTEMS, ids=str)
def test_conditions_on_an_id_are_those_on_its_time(extensions, measured, system: IdSystem):
    different, layouts = [], set()
    signal.alarm(300 + TABLES * QUERIES // 5)
    for seed in range(TABLES):
        table = RandomTable(extensions, system, random.Random(f"{system} {seed}"))
        layouts.add(table.layout)
        for number in range(QUERIES):
            table.settle()
            query = table.query()
            if query.result(extensions, True) != query.result(extensions, False):
                different.append((seed, number, table.layout, query, query.explained(extensions)))
    measured(f"differential: {system}: {TABLES * QUERIES} queries on {TABLES} tables of {len(layouts)} layouts")
    assert not different, "\n".join(map(str, different[:3]))
