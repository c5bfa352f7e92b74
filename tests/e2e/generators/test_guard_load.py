"""IDs generated elsewhere, under load: readers with the lag of the guard miss no row.

`make test-long` runs the load for longer.
"""

from __future__ import annotations

import random
from time import monotonic, sleep

import psycopg
import pytest

from load import FeedLoad
from server import IS_LONG, Server

LAG = 1.0
SECONDS = 25 if IS_LONG else 3
WRITERS = 20
MANY = 5000 if IS_LONG else 100
FIRST = "00000000-0000-0000-0000-000000000000"


def create_feed(connection: psycopg.Connection) -> None:
    """Creates a guarded table with a lag of 1 s."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE")
    connection.execute("CREATE TABLE events (id uuid PRIMARY KEY, note text)")
    connection.execute(
        "CREATE TRIGGER guard AFTER INSERT OR UPDATE ON events FOR EACH ROW"
        " EXECUTE FUNCTION scru_feed_guard('id', '1 s')"
    )


def page(connection: psycopg.Connection, after: str, lag: str) -> list[str]:
    """Returns the IDs that a reader with a lag receives after its position."""
    query = (
        "SELECT id::text FROM events WHERE id > %(after)s AND id < uuidv7_horizon(%(after)s, %(lag)s::interval)"
        " ORDER BY id LIMIT 1000"
    )
    return [row for (row,) in connection.execute(query, {"after": after, "lag": lag}).fetchall()]


@pytest.mark.parametrize(("lag", "age", "is_missed"), [("1 s", 0.8, False), ("0.5 s", 0.8, True), ("0", 0.4, True)])
def test_a_reader_passes_a_held_row_only_if_its_lag_is_too_short(new_server, clock, lag, age, is_missed):
    server = new_server(None, clock.environment)
    received: list[str] = []
    with server.connect() as connection, server.connect() as writer:

        def insert(session: psycopg.Connection, seconds: float) -> str:
            """Inserts an ID that is so many seconds old, and returns it. The guard accepts it for less than its lag."""
            time = "clock_timestamp() - make_interval(secs => %s)"
            return session.execute(
                f"INSERT INTO events VALUES (gen_uuidv7({time})) RETURNING id::text", [seconds]
            ).fetchone()[0]

        def read() -> list[str]:
            received.extend(page(connection, received[-1] if received else FIRST, lag))
            return received

        create_feed(connection)
        clock.freeze("2030-01-01 00:00:00")
        writer.execute("BEGIN")
        late = insert(writer, age)
        next_row = insert(connection, age - 0.15)
        # The clock passes both rows and the lag.
        clock.freeze("2030-01-01 00:00:01.2")
        assert read() == ([next_row] if is_missed else [])
        writer.execute("COMMIT")
        assert read() == ([next_row] if is_missed else [late, next_row])


class Load(FeedLoad):
    """Sessions that write rows whose IDs are up to 1.2 lags old, and readers."""

    def __init__(self, server: Server):
        super().__init__()
        self.server = server
        self.refused = 0

    def write(self, number: int) -> None:
        """Runs transactions until the load ends."""
        dice = random.Random(number)
        with self.server.connect() as session:
            while not self.stopped.is_set():
                try:
                    session.execute("BEGIN")
                    for _ in range(dice.choice([1, 1, 2, 4])):
                        self.insert(session, dice)
                    sleep(dice.choice([0, 0, 0.005, 0.05, 0.5]))
                    self.end(session, dice, number)
                except psycopg.errors.CheckViolation:
                    self.refused += 1
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
                session.execute(f"INSERT INTO events VALUES ({made}) ON CONFLICT (id) DO UPDATE SET note = 'again'")
            case "update":
                # The row is of this transaction: a row that readers may have received must keep its ID.
                [row] = session.execute("INSERT INTO events VALUES (gen_uuidv7()) RETURNING id").fetchone()
                session.execute(f"UPDATE events SET id = {made} WHERE id = %s", [row])
            case "savepoint":
                session.execute("SAVEPOINT s")
                session.execute("INSERT INTO events VALUES (gen_uuidv7())")
                session.execute("ROLLBACK TO s")
                session.execute(f"INSERT INTO events VALUES ({made})")
            case _:
                session.execute(f"INSERT INTO events VALUES ({made})")

    def end(self, session: psycopg.Connection, dice: random.Random, number: int) -> None:
        """Ends the transaction in one of several ways."""
        ending = dice.random()
        if ending < 0.2:
            session.execute(f"PREPARE TRANSACTION 'p{number}'")
            sleep(dice.choice([0, 0.05, 0.3]))
            session.execute(f"COMMIT PREPARED 'p{number}'")
        else:
            session.execute("ROLLBACK" if ending < 0.3 else "COMMIT")

    def read(self) -> list[str]:
        """Reads until the load has ended and the last row is read."""
        with self.server.connect() as session:
            return self.receive(lambda after: page(session, after, f"{LAG} s"), FIRST, 3 * LAG)


@pytest.mark.parametrize("preloaded", ["scru", ""] if IS_LONG else [""])
def test_two_readers_miss_no_row_whose_id_was_made_elsewhere(new_server, measured, preloaded):
    server = new_server(
        {"shared_preload_libraries": preloaded, "max_prepared_transactions": "30", "max_connections": "60"}
    )
    with server.connect() as connection:
        create_feed(connection)
    load = Load(server)
    end = monotonic() + SECONDS

    def is_enough() -> bool:
        return monotonic() > end and load.refused > 0 and server.value("SELECT count(*) FROM events") >= MANY

    received = load.run(2, WRITERS, is_enough)
    with server.connect() as connection:
        committed = [row for (row,) in connection.execute("SELECT id::text FROM events ORDER BY id")]
    assert load.refused > 0
    assert len(committed) >= MANY
    for rows in received:
        assert sorted(set(committed) - set(rows)) == []
        assert rows == committed
    measured(f"feed of IDs generated elsewhere: {len(committed):,} rows, {load.refused:,} transactions refused")
