"""Runs the recipes of docs/migrate.md and docs/online-migration.md while applications write."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event

import psycopg

ROOT = Path(__file__).parents[3]
# Both pages, as one: docs/migrate.md, and the section that has its own page.
PAGE = "\n#".join((ROOT / "docs" / page).read_text() for page in ("migrate.md", "online-migration.md"))
FILL_IN_BATCHES = (ROOT / "sql" / "contrib" / "fill_in_batches.sql").read_text()
NUMBERS = "bigint, integer, serial"
SCRU_UUID = (ROOT / "sql" / "contrib" / "scru_uuid.sql").read_text()

# ------------------------------------------------------------------------------------------------------------- the page


def blocks(heading: str, language: str = "sql") -> list[str]:
    """Returns the code blocks between a heading and the next one. "Tables" is the part before the first heading."""
    sections = dict(
        zip(["Tables", *re.findall(r"^###? (.*)$", PAGE, re.M)], re.split(r"^###? .*\n", PAGE, flags=re.M), strict=True)
    )
    return re.findall(rf"^```{language}\n(.*?)^```$", sections[heading], re.M | re.S)


def statements(block: str) -> Iterator[str]:
    """Yields the statements of a block. A statement ends at the end of a line; a function's body is not split."""
    statement = ""
    for line in block.splitlines(keepends=True):
        statement += line
        if re.search(r";( *--.*)?$", line.rstrip()) and statement.count("$$") % 2 == 0:
            yield statement.strip()
            statement = ""
    assert not statement.strip(), f"unterminated: {statement}"


def transaction(source: str, new: str) -> tuple[str, str]:
    """Returns the transaction of the page, with the expressions in the row of its table for a pair of types, and what
    the row says about rewrites and times."""
    [block] = blocks("In one transaction")
    row = rf"^\| {source} \| `({new}\b[^`]*)` \| `(.*?)` \| `(.*?)` \| (.*) \|$"
    [(type_, cast, default, effects)] = re.findall(row, PAGE, re.MULTILINE)
    for column in "id", "order_id":
        assert f"TYPE scru128 USING {column}::scru128" in block
        block = block.replace(f"TYPE scru128 USING {column}::scru128", f"TYPE {type_} USING {column}{cast}")
    return block.replace("SET DEFAULT gen_scru128()", f"SET DEFAULT {default}"), effects


# ----------------------------------------------------------------------------------------------------------- the runner


@dataclass
class Run:
    """Executes code blocks, and repeats a transaction after each lock timeout."""

    connection: psycopg.Connection
    longest_lock: float = 0
    """The longest time from the end of LOCK TABLE to the end of the transaction, in seconds."""
    retries: int = 0

    def __call__(self, block: str) -> None:
        transaction: list[str] = []
        for statement in statements(block):
            if statement == "BEGIN;" or transaction:
                transaction.append(statement)
            else:
                self.connection.execute(statement)
            if statement == "COMMIT;":
                self._transaction(transaction)
                transaction = []
        assert not transaction

    def _transaction(self, transaction: list[str]) -> None:
        """Executes a transaction, and repeats it after each lock timeout."""
        while True:
            locked = None
            try:
                for statement in transaction:
                    self.connection.execute(statement)
                    if statement.startswith("LOCK TABLE"):
                        locked = time.monotonic()
            except psycopg.errors.LockNotAvailable:
                self.connection.execute("ROLLBACK")
                self.retries += 1
                assert self.retries < 100
            else:
                assert locked
                self.longest_lock = max(self.longest_lock, time.monotonic() - locked)
                return


class Writers:
    """Sessions that insert orders with their items, update old orders and read the view, until the `with` block ends.

    As applications do, they reconnect if a prepared statement no longer matches the table.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], sessions: int = 3, pause: float = 0):
        self.connect = connect
        self.sessions = sessions
        self.pause = pause
        self.written = [0] * sessions
        self.reconnected = 0
        self.longest_wait = 0.0
        self._stopped = Event()

    def __enter__(self) -> Writers:
        pool = ThreadPoolExecutor(self.sessions)
        self._futures = [pool.submit(self._write, number) for number in range(self.sessions)]
        pool.shutdown(wait=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for future in self._futures:
            future.result(timeout=120)

    def wait_for(self, count: int) -> None:
        """Waits until each session has written `count` more orders."""
        goal = [written + count for written in self.written]
        while any(written < enough for written, enough in zip(self.written, goal, strict=True)):
            if any(future.done() for future in self._futures):
                self.__exit__()
            time.sleep(0.01)

    def _write(self, number: int) -> None:
        random = Random(number)
        while not self._stopped.is_set():
            with self.connect() as connection:
                with suppress(psycopg.errors.FeatureNotSupported, psycopg.errors.DatatypeMismatch):
                    while not self._stopped.is_set():
                        began = time.monotonic()
                        old = f"old {random.randrange(1, 100)}"
                        self._order(connection, f"new {number} {self.written[number]}", old)
                        self.written[number] += 1
                        connection.execute("SELECT id FROM order_items WHERE what = %s", [old]).fetchall()
                        self.longest_wait = max(self.longest_wait, time.monotonic() - began)
                        self._stopped.wait(self.pause)
                    return
            self.reconnected += 1

    def _order(self, connection: psycopg.Connection, note: str, old: str) -> None:
        with connection.transaction():
            insert = "INSERT INTO orders (note) VALUES (%s) RETURNING id"
            [id] = connection.execute(insert, [note]).fetchone()
            connection.execute("INSERT INTO items (order_id, what) VALUES (%s, %s)", [id, note])
            connection.execute("UPDATE orders SET note = note WHERE note = %s", [old])


def create_tables(connection: psycopg.Connection, rows: int, id_type: str, key: str, id: str) -> None:
    """Creates the page's tables with the type `id_type` instead of uuid, and with the primary key `key`.

    The rows are from the last weeks. Their IDs are the values of the SQL expression `id`.
    """
    for table in statements(*blocks("Tables")):
        connection.execute(table.replace("uuid PRIMARY KEY DEFAULT gen_random_uuid()", key).replace("uuid", id_type))
    connection.execute("CREATE INDEX orders_note_idx ON orders (note)")
    connection.execute(
        f"""
        INSERT INTO orders (id, note, created_at)
        SELECT {id}, 'old ' || n, at
        FROM generate_series(1, {rows}) AS n,
            LATERAL (SELECT date_trunc('ms', now() - (20e6 - n) * interval '0.1 s')) AS t (at);
        INSERT INTO items SELECT id, note FROM orders"""
    )
