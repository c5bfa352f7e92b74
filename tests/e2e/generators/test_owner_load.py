"""The owner of a database attacks the sequences of her database, while other databases draw and read a feed.

`make test-long` does so for five minutes.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from contextlib import ExitStack, suppress
from functools import partial
from threading import Event

import psycopg

from feed_load import running
from idtypes import SCRU64, SCRU128, SCRU160, SERVER_WIDE, TYPES, ULID, ULIDFLAKE, IdType
from load import Load, assert_all_different
from marks import NODE, SEQUENCES
from owner import SHOP, create_shop
from server import IS_LONG, Server
from test_horizon_load import COLUMNS, Reader

SECONDS = 300 if IS_LONG else 30
# A slow machine needs longer for all changes.
LONGEST = 4 * SECONDS
SCOPE = "-c scru.generator_scope=server -c search_path=scru_internal,public"
# What the owner tries, and a superuser. Alice may change a sequence that a superuser has given to her.
CHANGES = [
    "ALTER SEQUENCE {} SET UNLOGGED",
    "ALTER SEQUENCE {} SET LOGGED",
    "DROP SEQUENCE IF EXISTS renamed; ALTER SEQUENCE {} RENAME TO renamed",
    "ALTER SEQUENCE renamed RENAME TO {}",
    "ALTER SEQUENCE {} AS integer MAXVALUE 99999",
    "ALTER SEQUENCE {} AS bigint MINVALUE -9223372036854775808 NO MAXVALUE",
    "ALTER EXTENSION scru DROP SEQUENCE {}",
    "DROP SEQUENCE {}",
    "CREATE UNLOGGED SEQUENCE {}",
    "ALTER EXTENSION scru ADD SEQUENCE {}",
    "DROP EXTENSION scru",
    "CREATE EXTENSION scru",
]
GIFT = "ALTER EXTENSION scru DROP SEQUENCE {0}; ALTER SEQUENCE {0} OWNER TO alice"


def value() -> int:
    """Returns a random value: around the clock, up to 1 s ahead of it, far from it, or of any bits."""
    chance = random.random()
    ahead = random.uniform(*random.choice([(-5, 0), (0, 1), (-1, 12), (-1, 1e9)]))
    return random.getrandbits(63) >> random.randrange(63) if chance < 0.1 else int((time.time() + ahead) * 1e6)


class Attack:
    """The owner, a superuser in her database, and what a monitor sees of the server."""

    def __init__(self, server: Server):
        self.server = server
        self.stopped = Event()
        self.values = 0
        self.changes: Counter[str] = Counter()
        self.withdrawn, self.furthest = 0, float("-inf")

    def change(self, connection: psycopg.Connection, change: str, name: str) -> None:
        """Changes a sequence. Errors are hers."""
        with suppress(psycopg.Error):
            connection.execute(change.format(random.choice([*SEQUENCES.values()])))
            self.changes[name] += 1

    def has_tried_all(self) -> bool:
        """Whether each change has succeeded, of those that are not seldom possible."""
        done = {name.removeprefix("alice: ") for name in self.changes}
        seldom = ("AS integer", "CREATE EXTENSION", "ALTER SEQUENCE renamed")
        return done >= {GIFT, *(change for change in CHANGES if not any(part in change for part in seldom))}

    def as_owner(self) -> None:
        """Writes values, draws, and changes the sequences. Errors are hers."""
        while not self.stopped.is_set():
            with self.server.connect(SHOP, user="alice", options=SCOPE) as connection:
                connection.execute("SET statement_timeout = '100ms'")
                for turn in range(50):
                    with suppress(psycopg.Error):
                        connection.execute(f"SELECT setval('{random.choice([*SEQUENCES.values()])}', {value()})")
                        self.values += 1
                    with suppress(psycopg.Error):
                        connection.execute(f"SELECT {random.choice([SCRU64, ULIDFLAKE, ULID]).generator}")
                    if turn % 5 == 4:
                        change = random.choice(CHANGES)
                        self.change(connection, change, f"alice: {change}")

    def as_superuser(self) -> None:
        """Changes the sequences, and then gives the owner what she attacks with: the extension, without sequences that
        are in its way."""
        with self.server.connect(SHOP, options=SCOPE) as connection:
            connection.execute("SET statement_timeout = '20s'")
            while not self.stopped.wait(0.5):
                change = random.choice([GIFT, *CHANGES])
                self.change(connection, change, change)
                with suppress(psycopg.Error):
                    connection.execute("GRANT CREATE ON SCHEMA public, scru_internal TO alice")
                    try:
                        connection.execute("SET ROLE alice; CREATE EXTENSION IF NOT EXISTS scru; RESET ROLE")
                    except psycopg.errors.DuplicateTable:
                        connection.execute(f"DROP SEQUENCE IF EXISTS renamed, {', '.join(SEQUENCES)}")

    def watch(self) -> None:
        """Counts the moments at which a draw would be refused, and finds the ID that is furthest ahead of the clock."""
        query = (
            "SELECT count(*) FILTER (WHERE type = ANY(%s) AND draw = 'refuse'),"
            " max(extract(epoch FROM last_time - clock_timestamp()))::float8 FROM scru_generators()"
        )
        with self.server.connect("one", options=SCOPE) as connection:
            while not self.stopped.wait(0.002):
                withdrawn, ahead = connection.execute(query, [[str(t) for t in SERVER_WIDE]]).fetchone()
                self.withdrawn += withdrawn
                self.furthest = max(self.furthest, ahead)


def highest(server: Server) -> dict[IdType, str]:
    """Returns a new ID of each type."""
    with server.connect("one", options=SCOPE) as connection:
        return {t: connection.execute(f"SELECT {t.generator}::text").fetchone()[0] for t in TYPES}


def test_an_owner_cannot_disturb_others(new_server, measured):
    signal.alarm(LONGEST + 270)
    server = create_shop(new_server(NODE), "one", "two")
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        COLUMNS["scru128"].create(connection)
    highest(server)
    attack, begin = Attack(server), time.monotonic()
    reader = Reader(COLUMNS["scru128"], "plain", "AND id < scru128_horizon()", False)
    ended = Event()
    with server.standby() as standby:
        with running(lambda each: each.run(server, ended), [reader]), ExitStack() as stack:
            stack.callback(ended.set)
            drawing = [("one", SCRU64), ("two", SCRU64), ("two", ULIDFLAKE), *(("one", t) for t in (SCRU160, ULID))]
            loads = [Load(partial(server.connect, name, options=SCOPE), id_type, 1) for name, id_type in drawing]
            insert = "INSERT INTO scru128_plain DEFAULT VALUES RETURNING id::text"
            loads.append(Load(partial(server.connect, options=SCOPE), SCRU128, 1, query=insert))
            for load in loads:
                stack.enter_context(load)
            with running(lambda program: program(), [attack.as_superuser, attack.as_owner, attack.watch]) as programs:
                try:
                    while (seconds := time.monotonic() - begin) < SECONDS or (
                        IS_LONG and seconds < LONGEST and not attack.has_tried_all()
                    ):
                        if any(program.done() for program in programs):
                            break
                        time.sleep(0.1)
                finally:
                    attack.stopped.set()
            # A load ends with its first error.
            for load in loads:
                load.wait_for(1)
        for change, count in sorted(attack.changes.items()):
            measured(f"{count} times: {change}")
        measured(f"others beside {attack.values} values: {sum(len(load.ids) for load in loads)} IDs")
        assert attack.values > SECONDS
        assert attack.has_tried_all() or not IS_LONG
        assert (attack.withdrawn, attack.furthest <= 1.01) == (0, True)
        assert_all_different(*(load.ids for load in loads))
        assert reader.received == [id_ for (id_,) in server.rows("SELECT id::text FROM scru128_plain ORDER BY id")]
        server.restart("immediate")
        restarted = highest(server)
        standby.wait_until_replayed(server)
        server.stop("immediate")
        standby.promote()
        promoted = highest(standby)
        for load in loads:
            assert load.latest < restarted[load.id_type] < promoted[load.id_type]
        assert standby.crashes() == []
