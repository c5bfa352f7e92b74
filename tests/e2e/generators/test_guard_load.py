"""IDs generated elsewhere, on one server or two: readers with the lag of the guard miss no row.

`make test-long` runs the load for longer.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from threading import Event
from time import monotonic, sleep

import psycopg
import pytest

from faults import Pauses
from feed_load import running
from load import background
from server import IS_LONG, Server, wait_until
from test_guard_nodes import FIRST, HORIZON, create, minimum, read, wait_until_below

LAG = 2.0
SECONDS, MANY = (25, 5000) if IS_LONG else (3, 100)
WRITERS = 20
PAGE = (
    "SELECT id::text FROM events WHERE id > %(after)s AND id < uuidv7_horizon(%(after)s, %(lag)s::interval)"
    " ORDER BY id LIMIT 1000"
)


@pytest.mark.parametrize(("lag", "is_missed"), [("2 s", False), ("0.5 s", True)])
def test_a_reader_passes_a_held_row_only_if_its_lag_is_too_short(new_server, clock, lag, is_missed):
    """The row is 1.8 s old when it is written, and the clock passes it by the lag."""
    server = new_server(None, clock.environment)
    with server.connect() as connection, server.connect() as writer:
        create(connection)
        clock.freeze("2030-01-01 00:00:00")
        writer.execute("BEGIN")
        insert = "INSERT INTO events VALUES (gen_uuidv7(clock_timestamp() - %s::interval)) RETURNING id::text"
        [late] = writer.execute(insert, ["1.8 s"]).fetchone()
        [later] = connection.execute(insert, ["1.6 s"]).fetchone()
        clock.freeze("2030-01-01 00:00:02.2")
        after, expected = FIRST, [[later], []] if is_missed else [[], [late, later]]
        for rows in expected:
            received = [row for (row,) in connection.execute(PAGE, {"after": after, "lag": lag})]
            assert received == rows
            after = received[-1] if received else after
            writer.execute("COMMIT")


def test_the_guard_compares_with_what_was_loaded_after_publishing(new_server):
    """A writer pauses between its clock and its bound, while a reader passes the ID, which is after the bound."""
    with Pauses() as pauses:
        server = new_server(None, pauses.environment)
        with server.connect() as reader, server.connect() as writer:
            create(reader)
            # Each reads the floor first.
            for session in (reader, writer):
                session.execute("SELECT gen_uuidv7(), uuidv7_horizon()")
            writer.execute("BEGIN")
            [late] = reader.execute("SELECT uuidv7_lower(clock_timestamp())::text").fetchone()
            pid = writer.info.backend_pid
            pauses.begin(pid)
            with background(writer, f"INSERT INTO events VALUES ('{late}')") as insert:
                pauses.wait_until_reached(pid)
                wait_until_below(reader, late, HORIZON)
                pauses.end(pid)
                with pytest.raises(psycopg.errors.CheckViolation, match="is too old for a feed"):
                    insert.result(timeout=60)


class Load:
    """Sessions that write rows whose IDs are up to 1.2 lags old, in transactions on all servers, and readers."""

    def __init__(self, servers: list[Server]):
        self.servers = servers
        self.refused = 0
        self.stopped, self.written = Event(), Event()

    def sessions(self, stack: ExitStack) -> list[psycopg.Connection]:
        return [stack.enter_context(server.connect()) for server in self.servers]

    def write(self, number: int) -> None:
        """Runs transactions until the load ends."""
        dice = random.Random(number)
        with ExitStack() as stack:
            sessions = self.sessions(stack)
            while not self.stopped.is_set():
                for session in sessions:
                    session.execute("BEGIN")
                try:
                    for _ in range(dice.choice([1, 1, 2, 4])):
                        self.insert(dice.choice(sessions), dice)
                    sleep(dice.choice([0, 0, 0.005, 0.05, 0.5]))
                    self.end(sessions, dice, number)
                except psycopg.errors.CheckViolation:
                    self.refused += 1
                    for session in sessions:
                        session.execute("ROLLBACK")

    def insert(self, session: psycopg.Connection, dice: random.Random) -> None:
        """Makes an ID, and inserts it in one of several ways."""
        age = dice.choice([0, 0, 0.3, 0.6, 0.9, 1.2]) * LAG
        made = f"gen_uuidv7(clock_timestamp() - interval '{age} s')"
        match dice.choice(["insert", "insert", "copy", "merge", "conflict", "update", "savepoint"]):
            case "copy":
                [row] = session.execute(f"SELECT {made}::text").fetchone()
                with session.cursor().copy("COPY events (id) FROM STDIN") as copy:
                    copy.write_row([row])
            case "merge":
                session.execute(
                    f"MERGE INTO events USING (SELECT {made} AS id) AS new ON events.id = new.id"
                    " WHEN NOT MATCHED THEN INSERT VALUES (new.id)"
                )
            case "conflict":
                session.execute(f"INSERT INTO events VALUES ({made}) ON CONFLICT (id) DO UPDATE SET id = excluded.id")
            case "update":
                # The row is of this transaction: a row that readers may have received must keep its ID.
                [row] = session.execute("INSERT INTO events VALUES (gen_uuidv7()) RETURNING id").fetchone()
                session.execute(f"UPDATE events SET id = {made} WHERE id = %s", [row])
            case "savepoint":
                session.execute("SAVEPOINT s; INSERT INTO events VALUES (gen_uuidv7()); ROLLBACK TO s")
                session.execute(f"INSERT INTO events VALUES ({made})")
            case _:
                session.execute(f"INSERT INTO events VALUES ({made})")

    def end(self, sessions: list[psycopg.Connection], dice: random.Random, number: int) -> None:
        """Ends the transaction in one of several ways. One of several servers commits later."""
        is_prepared = len(sessions) > 1 or dice.random() < 0.2
        end = f"PREPARE TRANSACTION 'p{number}'" if is_prepared else dice.choice(["COMMIT"] * 7 + ["ROLLBACK"])
        for session in sessions:
            session.execute(end)
        for session in dice.sample(sessions, len(sessions)) if is_prepared else []:
            sleep(dice.choice([0, 0.05, 0.3]))
            session.execute(f"COMMIT PREPARED 'p{number}'")

    def read(self, _: int) -> list[str]:
        """Reads until the load has ended and the last row is read. Of several servers, by the recipe."""
        received: list[str] = []
        with ExitStack() as stack:
            sessions = self.sessions(stack)

            def page(after: str) -> list[str]:
                if len(sessions) > 1:
                    return read(sessions, after, [minimum(sessions[0], sessions)] * len(sessions))
                return [row for (row,) in sessions[0].execute(PAGE, {"after": after, "lag": f"{LAG} s"})]

            while not self.written.is_set() or received[-1:] != self.rows()[-1:]:
                received += page(received[-1] if received else FIRST)
                sleep(0.01)
            return received

    def rows(self) -> list[str]:
        """Returns the committed rows."""
        return sorted(row for server in self.servers for (row,) in server.rows("SELECT id::text FROM events"))


@pytest.mark.parametrize(("number", "preloaded"), [(1, ""), (2, ""), (1, "scru")][: 3 if IS_LONG else 2])
def test_readers_miss_no_row_whose_id_was_made_elsewhere(new_server, measured, number, preloaded):
    settings = {"shared_preload_libraries": preloaded, "max_prepared_transactions": "30", "max_connections": "60"}
    load = Load([new_server(settings) for _ in range(number)])
    for server in load.servers:
        with server.connect() as connection:
            create(connection)
    end = monotonic() + SECONDS
    with running(load.read, [1, 2]) as reading:
        try:
            with running(load.write, list(range(WRITERS))) as writing:
                try:
                    wait_until(
                        lambda: (
                            any(each.done() for each in reading + writing)
                            or (monotonic() > end and load.refused > 0 and len(load.rows()) >= MANY)
                        ),
                        "many rows are written, and some are refused",
                    )
                finally:
                    load.stopped.set()
        finally:
            load.written.set()
    committed = load.rows()
    for reader in reading:
        assert reader.result() == committed
    measured(f"feed of {number} servers: {len(committed):,} rows, {load.refused:,} transactions refused")
