"""The horizon at its edges: transactions that remain open."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from server import wait_until

PREPARED = {"max_prepared_transactions": "250", "shared_preload_libraries": ""}


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table."""
    connection.execute("CREATE TABLE events (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)")
    return connection


# -------------------------------------------------------------------------------------- transactions that remain open


def test_a_transaction_that_remains_open_reads_the_last_row_of_an_idle_server(feed, database):
    """Its statements have equal snapshots."""
    read = "SELECT id::text FROM events WHERE id < scru64_horizon()"
    with database.connect(autocommit=False) as consumer:
        feed.execute("INSERT INTO events DEFAULT VALUES")
        assert consumer.execute("SELECT count(*) FROM events WHERE id < scru64_horizon()").fetchone()[0] <= 1
        wait_until(lambda: len(consumer.execute(read).fetchall()) == 1, "the transaction reads the row", 20)


def test_a_cursor_keeps_its_horizon_beside_later_statements(feed, database):
    """Also if the snapshots are equal, and if many statements have run since."""
    with database.connect(autocommit=False) as consumer:
        feed.execute("INSERT INTO events SELECT FROM generate_series(1, 3)")
        consumer.execute("DECLARE c CURSOR FOR SELECT scru64_horizon()::text FROM events")
        [(first,)] = consumer.execute("FETCH 1 FROM c").fetchall()
        later = "SELECT scru64_horizon()::text > %s"
        wait_until(lambda: consumer.execute(later, [first]).fetchone()[0], "a later statement has a later horizon", 20)
        for _ in range(200):
            consumer.execute("SELECT scru64_horizon()")
        assert consumer.execute("FETCH ALL FROM c").fetchall() == [(first,)] * 2


def test_a_function_has_one_horizon_however_it_reads_it(feed):
    """Each loop of the function opens a cursor of its own, in one statement of the client."""
    feed.execute(
        "CREATE FUNCTION horizon() RETURNS scru64 STABLE LANGUAGE plpgsql AS $$ DECLARE h scru64; BEGIN"
        " FOR h IN SELECT scru64_horizon() LOOP PERFORM pg_sleep(0.3); RETURN h; END LOOP; END $$"
    )
    feed.execute("INSERT INTO events SELECT FROM generate_series(1, 4)")
    assert feed.execute("SELECT count(DISTINCT horizon()) FROM events").fetchone() == (1,)


def memory(pid: int) -> int:
    """Returns the resident memory of a process that it does not share, in kB."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["RssAnon"].split()[0])


def test_a_transaction_forgets_the_horizons_of_its_statements(new_server):
    """Each snapshot has the numbers of 200 transactions."""
    with new_server(PREPARED).connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        for number in range(200):
            connection.execute("BEGIN; SELECT pg_current_xact_id()")
            connection.execute(f"PREPARE TRANSACTION 'p{number}'")
        # A snapshot lists those before the last one that has ended.
        connection.execute("SELECT pg_current_xact_id()")
        sizes = []
        connection.execute("BEGIN")
        for _ in range(2):
            with connection.pipeline():
                for _ in range(6000):
                    connection.execute("SELECT scru64_horizon()")
            sizes.append(memory(connection.info.backend_pid))
    assert sizes[1] - sizes[0] < 1500, sizes
