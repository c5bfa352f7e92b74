"""The owner of a database attacks the sequences of her database, while other databases draw and read a feed.

`make test-long` does so for five minutes, beside the same load on a sequence that is not the extension's.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from threading import Event

import psycopg

from idtypes import SCRU64, SCRU128, SCRU160, SERVER_WIDE, ULID, ULIDFLAKE, IdType
from marks import NODE, SEQUENCES
from owner import SHOP, create_shop
from server import IS_LONG, Server

SECONDS = 300 if IS_LONG else 30
# A slow machine needs longer for all changes.
LONGEST = 4 * SECONDS
OTHERS = ["one", "two", "three", "four"]
TABLE = "CREATE TABLE events (id scru128 PRIMARY KEY DEFAULT gen_scru128())"
SCOPE = "-c scru.generator_scope=server -c search_path=scru_internal,public"
# What the owner tries, and a superuser. Alice may change a sequence that a superuser has given to her.
CHANGES = [
    "ALTER SEQUENCE {} SET UNLOGGED",
    "ALTER SEQUENCE {} SET LOGGED",
    "ALTER SEQUENCE {} RENAME TO renamed",
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
    """The owner, and a superuser in her database. Without `is_real`, they write to a sequence of their own."""

    def __init__(self, server: Server):
        self.server = server
        self.is_real = True
        self.values = 0
        self.changes: Counter[str] = Counter()

    def target(self, sequence: str) -> str:
        return sequence if self.is_real else "decoy"

    def change(self, connection: psycopg.Connection, change: str, name: str) -> None:
        """Changes a sequence. Errors are hers."""
        with suppress(psycopg.Error):
            connection.execute(change.format(self.target(random.choice([*SEQUENCES.values()]))))
            self.changes[name] += self.is_real

    def has_tried_all(self) -> bool:
        """Whether each change has succeeded, of those that are not seldom possible."""
        done = {name.removeprefix("alice: ") for name, count in self.changes.items() if count}
        seldom = ("AS integer", "CREATE EXTENSION")
        return done >= {GIFT, *(change for change in CHANGES if not any(part in change for part in seldom))}

    def write(self, connection: psycopg.Connection) -> None:
        """Writes a value and draws. Errors are hers."""
        sequence = random.choice([*SEQUENCES.values()])
        with suppress(psycopg.Error):
            connection.execute(f"SELECT setval('{self.target(sequence)}', {value()})")
            self.values += 1
        with suppress(psycopg.Error):
            connection.execute(f"SELECT {random.choice([SCRU64, ULIDFLAKE, ULID]).generator}")

    def as_owner(self, stopped: Event) -> None:
        while not stopped.is_set():
            with self.server.connect(SHOP, user="alice", options=SCOPE) as connection:
                connection.execute("SET statement_timeout = '100ms'")
                for _ in range(10):
                    for _ in range(5):
                        self.write(connection)
                    change = random.choice(CHANGES)
                    self.change(connection, change, f"alice: {change}")

    def as_superuser(self, stopped: Event) -> None:
        with self.server.connect(SHOP, options=SCOPE) as connection:
            connection.execute("SET statement_timeout = '20s'")
            while not stopped.wait(0.5):
                change = random.choice([GIFT, *CHANGES])
                self.change(connection, change, change)
                self.repair(connection)

    def repair(self, connection: psycopg.Connection) -> None:
        """Gives the owner what she attacks with: the extension, without sequences that are in its way, and a decoy."""
        with suppress(psycopg.Error):
            connection.execute("GRANT CREATE ON SCHEMA public, scru_internal TO alice")
            connection.execute("CREATE SEQUENCE IF NOT EXISTS decoy; GRANT ALL ON SEQUENCE decoy TO alice")
            try:
                connection.execute("SET ROLE alice; CREATE EXTENSION IF NOT EXISTS scru; RESET ROLE")
            except psycopg.errors.DuplicateTable:
                connection.execute(f"DROP SEQUENCE IF EXISTS renamed, {', '.join(SEQUENCES)}")


class Draws:
    """Other databases: their IDs, and what was wrong with them."""

    def __init__(self, server: Server):
        self.server = server
        self.ids: dict[IdType, list[str]] = {t: [] for t in (SCRU64, SCRU128, SCRU160, ULID, ULIDFLAKE)}
        self.furthest = float("-inf")
        self.withdrawn = 0

    def draw(self, dbname: str, id_type: IdType, count: int) -> Callable[[Event], None]:
        query = f"SELECT {id_type.generator}::text FROM generate_series(1, {count})"

        def run(stopped: Event) -> None:
            with self.server.connect(dbname, options=SCOPE) as connection:
                while not stopped.is_set():
                    ids = [id_ for (id_,) in connection.execute(query)]
                    tick = id_type.value(ids[-1]) >> id_type.body_bits
                    self.furthest = max(self.furthest, (tick * id_type.tick + id_type.epoch) / 1000 - time.time())
                    self.ids[id_type] += ids

        return run

    def insert(self, stopped: Event) -> None:
        with self.server.connect("four", options=SCOPE) as connection:
            while not stopped.is_set():
                connection.execute("INSERT INTO events DEFAULT VALUES")

    def read(self, written: Event) -> list[str]:
        """Returns the rows of a reader that stops at the horizon, until after the last row is written."""
        rows: list[str] = []
        with self.server.connect("four") as connection:
            query = "SELECT id::text FROM events WHERE id > %s AND id < scru128_horizon() ORDER BY id"
            while True:
                is_last = written.is_set() and time.sleep(1.5) is None
                after = rows[-1] if rows else "0" * SCRU128.text_length
                rows += [id_ for (id_,) in connection.execute(query, [after])]
                if is_last:
                    return rows

    def watch(self, stopped: Event) -> None:
        """Counts the moments at which a draw would be refused."""
        query = "SELECT count(*) FROM scru_generators() WHERE type = ANY(%s) AND draw = 'refuse'"
        with self.server.connect("one") as connection:
            while not stopped.wait(0.002):
                self.withdrawn += connection.execute(query, [[str(t) for t in SERVER_WIDE]]).fetchone()[0]

    def count(self) -> int:
        return sum(len(ids) for ids in self.ids.values())


def highest(server: Server) -> dict[IdType, str]:
    """Returns a new ID of each type."""
    with server.connect("one", options=SCOPE) as connection:
        types = (SCRU64, SCRU128, SCRU160, ULID, ULIDFLAKE)
        return {t: connection.execute(f"SELECT {t.generator}::text").fetchone()[0] for t in types}


def test_an_owner_cannot_disturb_others(new_server, measured):
    signal.alarm(LONGEST + 270)
    server = create_shop(new_server(NODE), *OTHERS)
    with server.connect("four") as connection:
        connection.execute(TABLE)
    highest(server)
    attack, draws, stopped, written = Attack(server), Draws(server), Event(), Event()
    with ExitStack() as stack:
        standby = stack.enter_context(server.standby())
        programs = [
            attack.as_superuser,
            attack.as_owner,
            draws.insert,
            draws.watch,
            draws.draw("one", SCRU64, 1),
            draws.draw("two", ULIDFLAKE, 500),
            draws.draw("two", SCRU64, 10),
            *(draws.draw("three", id_type, 5) for id_type in (ULID, SCRU128, SCRU160)),
        ]
        pool = ThreadPoolExecutor(len(programs) + 1)
        running = [pool.submit(program, stopped) for program in programs]
        reader = pool.submit(draws.read, written)
        rates = {True: 0, False: 0}
        try:
            # In turns of a quarter of a second, so that what else the machine does slows both.
            for part in range(4 * LONGEST):
                if part >= 4 * SECONDS and (attack.has_tried_all() or not IS_LONG):
                    break
                attack.is_real = part % 4 in (0, 3)
                before = draws.count()
                stopped.wait(0.25)
                rates[attack.is_real] += draws.count() - before
                if any(done.done() for done in running):
                    break
        finally:
            stopped.set()
            wait(running, timeout=60)
            written.set()
        for done in running:
            done.result(timeout=0)
        rows = reader.result(timeout=60)
        ratio = rates[True] / rates[False]
        for change, count in sorted(attack.changes.items()):
            measured(f"{count} times: {change}")
        measured(f"withdrawn {draws.withdrawn}, ahead by {draws.furthest:.3f} s at most")
        measured(f"others beside {attack.values} values: {draws.count()} IDs, {ratio:.2f} times those beside a decoy")
        assert attack.values > SECONDS
        if IS_LONG:
            assert ratio >= 0.9
            assert attack.has_tried_all()
        for ids in draws.ids.values():
            assert ids
            assert len(ids) == len(set(ids))
        assert draws.furthest <= 1.01
        assert draws.withdrawn == 0
        assert rows == [id_ for (id_,) in server.rows("SELECT id::text FROM events ORDER BY id", "four")]
        latest = {id_type: max(ids) for id_type, ids in draws.ids.items()}
        server.restart("immediate")
        restarted = highest(server)
        standby.wait_until_replayed(server)
        server.stop("immediate")
        standby.promote()
        promoted = highest(standby)
        for id_type, before in latest.items():
            assert before < restarted[id_type] < promoted[id_type]
        assert standby.crashes() == []
