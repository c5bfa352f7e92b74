"""docs/feeds.md: the loops of consumers, the outbox, and the heartbeat on standbys and subscribers.

The statements and programs are those of the page.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from threading import Event
from time import sleep

import psycopg
import pytest

import page
from feed_load import running
from server import Server, on_every_version, wait_until
from test_horizon_load import COLUMNS, Reader, writers_of

pytestmark = on_every_version

SMALLEST = "0" * 25
block = partial(page.block, "feeds")


@pytest.fixture
def feed(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table and 2500 rows, more than two reads return."""
    connection.execute("CREATE TABLE events (id scru128 PRIMARY KEY DEFAULT gen_scru128(), payload text)")
    connection.execute("INSERT INTO events (payload) SELECT i FROM generate_series(1, 2500) AS i")
    return connection


def wait_until_passed(connection: psycopg.Connection) -> None:
    """Waits until the horizon is above all rows."""
    passed = "SELECT bool_and(id < scru128_horizon()) FROM (TABLE events ORDER BY id DESC LIMIT 1) AS last"
    wait_until(lambda: connection.execute(passed).fetchone()[0], "the horizon passes the rows")


PAYLOADS = [str(number) for number in range(1, 2502)]


def test_the_loop_in_psql(feed, database):
    wait_until_passed(feed)
    create, loop = block("CREATE TABLE positions").split("\n\n")
    feed.execute(create)
    # Each psql returns the rows, without the numbers of the other statements.
    run = f"\\set QUIET on\n\\pset tuples_only on\n\\pset format unaligned\n{loop}"
    received = []
    for _ in range(4):
        output = database.server.psql(database.name, run.encode()).decode()
        received += [line.split("|")[1] for line in output.splitlines() if "|" in line]
    assert received == PAYLOADS[:2500]


class Stopped(Exception):
    """Ends the endless loop of the page."""


@pytest.mark.parametrize("autocommit", [False, True])
def test_the_loop_in_python(feed, database, autocommit):
    """It receives the last row of an idle server within a second. Psycopg begins a transaction by default."""
    received = []
    positions = [SMALLEST]
    pauses = []

    class Time:
        @staticmethod
        def sleep(seconds: float) -> None:
            # Without autocommit, the session would be idle in transaction.
            status = connection.info.transaction_status
            assert (status == psycopg.pq.TransactionStatus.IDLE) == autocommit
            if len(received) == 2501:
                raise Stopped
            sleep(seconds)
            if len(received) == 2500:
                if not pauses:
                    feed.execute("INSERT INTO events (payload) VALUES ('2501')")
                pauses.append(seconds)
                # The first is before the row.
                assert sum(pauses[1:]) <= 1

    with database.connect(autocommit=autocommit) as connection, pytest.raises(Stopped):
        names = {"connection": connection, "time": Time, "load_position": positions.pop}
        names |= {"save_position": positions.append, "process": received.append}
        exec(block("after =", "python"), names)
    assert received == PAYLOADS
    assert positions[-1] == feed.execute("SELECT max(id) FROM events").fetchone()[0]


def test_a_partition_of_an_outbox_is_dropped_when_all_have_read_it(connection, database):
    """The partitions of the page, whose bound here is a moment from now."""

    def of_page(start: str) -> str:
        return block(start).replace("2026-11-24Z", bound)

    connection.execute(block("CREATE TABLE positions").split("\n\n")[0])
    [bound] = connection.execute("SELECT (now() + interval '4 s')::text").fetchone()
    connection.execute(of_page("CREATE TABLE outbox"))
    can_be_dropped = of_page("SELECT scru128_horizon() >=").rstrip(";\n")
    insert = "INSERT INTO outbox (topic, payload) VALUES ('order', '1') RETURNING tableoid::regclass::text, id"

    def check() -> bool:
        return connection.execute(can_be_dropped).fetchone()[0]

    with database.connect() as late:
        late.execute("BEGIN")
        table, row = late.execute(insert).fetchone()
        assert table == "outbox_1"
        connection.execute("UPDATE positions SET after = scru128_horizon()")
        wait_until(lambda: connection.execute(insert).fetchone()[0] == "outbox_2", "the partition has ended")
        connection.execute("UPDATE positions SET after = scru128_horizon()")
        assert not check()
        late.execute("COMMIT")
        wait_until(lambda: connection.execute("SELECT scru128_horizon() > %s", [row]).fetchone()[0], "it is readable")
    # It can be read, but has not been.
    assert not check()
    connection.execute("UPDATE positions SET after = (SELECT max(id) FROM outbox_1)")
    wait_until(check, "the horizon is above the partition", 20)
    connection.execute("BEGIN; DELETE FROM positions")
    # Nobody says what has been read.
    assert not check()
    connection.execute("ROLLBACK")
    connection.execute("DROP TABLE outbox_1")


def test_an_outbox_has_the_same_bounds_in_each_time_zone(connection):
    outbox, condition = block("CREATE TABLE outbox"), block("SELECT scru128_horizon() >=")
    [bound] = re.findall(r"scru128_horizon\(\) >= (\S+)", condition)
    connection.execute("SET timezone = 'Asia/Tokyo'")
    connection.execute(outbox)
    connection.execute("SET timezone = 'America/Los_Angeles'")
    of_partition = "SELECT pg_get_expr(relpartbound, oid) LIKE '% TO (''' || {} || ''')' FROM pg_class"
    query = f"{of_partition.format(bound)} WHERE relname = 'outbox_1'"
    assert connection.execute(query).fetchone() == (True,)


HEARTBEAT = block("CREATE TABLE heartbeat").splitlines()
OF_HEARTBEAT = re.split(":'after'|ORDER", block("SELECT * FROM events WHERE id > :'after' AND id < (SELECT"))[1]


def follow(primary: Server, replica: Server) -> None:
    """Asserts that a reader of a replica misses nothing while writers of the primary commit late."""
    reader = Reader(COLUMNS["scru128"], "plain", OF_HEARTBEAT, False)
    naive = Reader(COLUMNS["scru128"], "plain", "", False)
    writers = writers_of(primary, ["scru128_plain"])
    stopped, ended = Event(), Event()

    def beat(_: object) -> None:
        with primary.connect() as connection:
            while not stopped.wait(0.05):
                connection.execute(HEARTBEAT[2])

    # Each `running` ends when its threads do: what follows it on the stack stops them.
    with ExitStack() as stack:
        stack.enter_context(running(beat, [None]))
        stack.callback(stopped.set)
        stack.enter_context(running(lambda each: each.run(replica, ended), [reader, naive]))
        stack.callback(ended.set)
        with running(writers.run, list(range(6))), ExitStack() as writing:
            writing.callback(writers.stopped.set)
            wait_until(lambda: len(reader.received) > 500, "the reader has received rows")
        rows = "SELECT count(*) FROM scru128_plain"
        wait_until(lambda: replica.value(rows) == primary.value(rows), "the replica has all rows")
    committed = [row for (row,) in primary.rows("SELECT id::text FROM scru128_plain ORDER BY id")]
    assert reader.received == committed
    assert len(set(committed) - set(naive.received)) > 0


def create(server: Server) -> None:
    """Creates the extension, the tables of the writers and that of the heartbeat."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        COLUMNS["scru128"].create(connection)
        connection.execute(HEARTBEAT[0])


def subscribe(replica: psycopg.Connection, publisher: Server) -> None:
    address = f"host={publisher.directory} port={publisher.port} user=postgres dbname=postgres"
    replica.execute(f"CREATE SUBSCRIPTION feed CONNECTION '{address}' PUBLICATION feed")


SETTINGS = {"max_prepared_transactions": "20", "wal_level": "logical"}


def test_a_heartbeat_carries_the_horizon_to_a_standby(new_server):
    primary = new_server(SETTINGS)
    create(primary)
    with primary.connect() as connection:
        connection.execute(HEARTBEAT[1])
    with primary.standby() as standby:
        standby.wait_until_replayed(primary)
        follow(primary, standby)


def test_a_heartbeat_carries_the_horizon_to_a_subscriber(new_server):
    publisher, subscriber = new_server(SETTINGS), new_server(SETTINGS)
    for server in (publisher, subscriber):
        create(server)
    with publisher.connect() as connection, subscriber.connect() as replica:
        connection.execute(HEARTBEAT[1])
        connection.execute("CREATE PUBLICATION feed FOR TABLE scru128_plain, heartbeat")
        subscribe(replica, publisher)
        wait_until(lambda: replica.execute("SELECT count(*) FROM heartbeat").fetchone() == (1,), "the row has arrived")
    follow(publisher, subscriber)


def test_a_reader_of_a_subscriber_waits_for_the_initial_copies(new_server):
    """The tables are copied in any order: here, an old partition last."""
    publisher, subscriber = new_server(SETTINGS), new_server(SETTINGS)
    outbox = block("CREATE TABLE outbox")
    with publisher.connect() as source, subscriber.connect() as replica, subscriber.connect() as lock:
        for connection in (source, replica):
            connection.execute("CREATE EXTENSION scru")
            connection.execute(HEARTBEAT[0])
            connection.execute(outbox.replace("outbox", "events").replace("2026-11-24Z", "2026-01-02Z"))
        source.execute(HEARTBEAT[1])
        columns = "INSERT INTO events (id, topic, payload)"
        source.execute(f"{columns} SELECT gen_scru128('2026-01-01Z'), '', '1' FROM generate_series(1, 100)")
        source.execute(f"{columns} VALUES (gen_scru128('2026-01-03Z'), '', '1')")
        source.execute("CREATE PUBLICATION feed FOR TABLE events, heartbeat")
        lock.execute("BEGIN")
        lock.execute("LOCK TABLE events_1 IN SHARE MODE")
        subscribe(replica, publisher)
        others = "SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate = 'r'"
        wait_until(lambda: replica.execute(others).fetchone()[0], "the other tables are copied")
        read = f"SELECT count(*) FROM events WHERE id > '{SMALLEST}' "
        assert replica.execute(f"{read} {OF_HEARTBEAT.split('AND NOT')[0]}").fetchone() == (1,)
        assert replica.execute(f"{read} {OF_HEARTBEAT}").fetchone() == (0,)
        lock.execute("COMMIT")
        counts, complete = set(), f"{read} {OF_HEARTBEAT}"
        wait_until(lambda: counts.add(replica.execute(complete).fetchone()[0]) or 101 in counts, "all rows are read")
        assert counts <= {0, 101}
