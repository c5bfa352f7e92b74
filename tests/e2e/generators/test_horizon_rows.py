"""Many rows of a feed: writers at full speed, and readers in SQL that receive each committed row once.

SCRU_FEED_ROWS sets the number of rows of each type and scope (`make test-feed`). Without it, three of them
get few rows.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep

import psycopg
import pytest

from server import Server, oldest_and_newest, wait_until
from test_horizon_load import A_WRITER, COLUMNS, LAYOUTS, SCOPES, Column, Disturbances, end_all_prepared, running

ROWS = int(os.environ.get("SCRU_FEED_ROWS", "0"))
ARE_MANY = bool(ROWS)
CASES = [
    (COLUMNS[name], scope)
    for name in COLUMNS
    for scope in (["server"] if name in ("scru64", "ulidflake", "bigint") else SCOPES)
]
"""The columns, each with the scopes that its generator has."""
if not ROWS:
    ROWS = 5000
    CASES = CASES[::4]

TRANSACTION = """
\\set rows random(1, 200)
\\set pause random(1, 1000)
\\set ending random(1, 100)
BEGIN;
INSERT INTO {table} (note) SELECT 'row' FROM generate_series(1, :rows);
SAVEPOINT s;
INSERT INTO {table} (note) VALUES ('later');
ROLLBACK TO s;
\\if :pause <= 20
SELECT pg_sleep(:pause / 10.0);
\\endif
\\if :ending <= 4
PREPARE TRANSACTION 'p:client_id';
COMMIT PREPARED 'p:client_id';
\\elif :ending <= 8
COPY {table} (note) FROM '{copied}';
COMMIT;
\\elif :ending <= 40
COMMIT;
\\else
ROLLBACK;
\\endif
"""
"""What a session of pgbench repeats. Of 1,000 transactions, 20 wait for up to 2 s before they end."""

FOLLOW = """
CREATE TABLE positions (reader text PRIMARY KEY, after {type}, received bigint NOT NULL DEFAULT 0);
CREATE TABLE writing ();
CREATE PROCEDURE follow(name text, query text) LANGUAGE plpgsql AS $$
DECLARE
    is_last boolean := false;
    rows bigint;
    id {type};
BEGIN
    LOOP
        EXECUTE query INTO rows, id USING (SELECT after FROM positions WHERE reader = name);
        IF rows > 0 THEN
            UPDATE positions SET after = id, received = received + rows WHERE reader = name;
        ELSE
            EXIT WHEN is_last;
            PERFORM pg_sleep(0.01);
        END IF;
        COMMIT;
        is_last := to_regclass('writing') IS NULL;
    END LOOP;
END $$
"""
"""A reader, whose position is in a table. It ends when it finds no row after the table `writing` has been dropped."""

PAGE = """
SELECT count(*), (array_agg(id ORDER BY id DESC))[1]
FROM (SELECT id FROM {table} WHERE id > $1 {condition} ORDER BY id LIMIT {limit}) AS page
"""


class ManyReaders:
    """Procedures that read each table by its index, or by sequential scans."""

    def __init__(self, server: Server, column: Column):
        self.server = server
        self.refusals = 0
        horizon = f"AND id < {column.horizon}"
        self.queries = {layout: PAGE.format(table=layout, condition=horizon, limit=1000) for layout in LAYOUTS}
        # A sequential scan reads the whole table, so it returns all new rows at once.
        self.queries["sequential"] = PAGE.format(table="range", condition=horizon, limit="ALL")
        self.queries["repeatable read"] = self.queries["hash"]
        self.queries["naive"] = PAGE.format(table="plain", condition="", limit=1000)
        with server.connect() as connection:
            connection.execute(FOLLOW.format(type=column.sql_type))
            for reader in self.queries:
                connection.execute("INSERT INTO positions VALUES (%s, %s)", [reader, column.smallest])

    def run(self, reader: str) -> None:
        """Reads until the end. The server may stop and start again, or have started just before."""
        options = {
            "sequential": " ".join(f"-c enable_{kind}=off" for kind in ("indexscan", "indexonlyscan", "bitmapscan")),
            "repeatable read": r"-c default_transaction_isolation=repeatable\ read",
        }
        while True:
            try:
                with self.server.connect(options=options.get(reader, "")) as session:
                    session.execute("CALL follow(%s, %s)", [reader, self.queries[reader]])
                    return
            except psycopg.errors.ObjectNotInPrerequisiteState:
                self.refusals += 1
            except psycopg.OperationalError:
                sleep(0.02)

    def received(self) -> dict[str, int]:
        return dict(self.server.rows("SELECT reader, received FROM positions"))


def write(server: Server, seconds: int) -> None:
    """Runs 32 sessions of pgbench. Those that lose their connection, or whose generator refuses, end."""
    copied = server.directory / "copied"
    copied.write_text("copied\n" * 50)
    copied.chmod(0o644)
    scripts = []
    for layout in LAYOUTS:
        script = server.directory / f"{layout}.sql"
        script.write_text(TRANSACTION.format(table=layout, copied=copied))
        scripts.append(f"--file={script}")
    with suppress(RuntimeError):
        server.run("pgbench", "--no-vacuum", "--client=32", f"--time={seconds}", *scripts, "postgres")


@oldest_and_newest("the decisions are those of crates/ids/src/horizon.rs; test_horizon_load.py runs on all")
@pytest.mark.parametrize(("column", "scope"), CASES, ids=[f"{column.sql_type}-{scope}" for column, scope in CASES])
def test_readers_receive_as_many_rows_as_were_committed(new_server, clock, measured, column, scope):
    """Each reader receives as many rows as were committed, in order of ID, and so each of them once."""
    signal.alarm(300 + ROWS // 1000)
    settings = {"max_prepared_transactions": "50", "max_connections": "60", "scru.generator_scope": scope}
    server = new_server({**settings, "shared_preload_libraries": "scru"}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        column.create(connection)
        for layout in LAYOUTS:
            connection.execute(f"ALTER TABLE {column.sql_type}_{layout} RENAME TO {layout}")
    readers = ManyReaders(server, column)
    disturbances = Disturbances(server, clock)
    with running(readers.run, list(readers.queries)):
        try:
            while sum(readers.received()[layout] for layout in LAYOUTS) < ROWS:
                with ThreadPoolExecutor(1) as pool:
                    writing = pool.submit(write, server, min(10, 1 + ROWS // 20_000))
                    while not writing.done():
                        sleep(0.5)
                        clock.shift(disturbances.dice.uniform(-1.5, 1.5))
                        with suppress(psycopg.OperationalError), server.connect() as connection:
                            connection.execute(f"SELECT pg_terminate_backend(({A_WRITER}))")
                disturbances.next()
            disturbances.end()
            end_all_prepared(server, disturbances.dice)
            for layout in LAYOUTS:
                passed = f"SELECT NOT EXISTS (SELECT FROM {layout} WHERE id >= {column.horizon})"
                wait_until(lambda: server.value(passed), "the horizon has passed all rows")  # noqa: B023
        finally:
            with server.connect() as connection:
                connection.execute("DROP TABLE writing")
    committed = {layout: server.value(f"SELECT count(*) FROM {layout}") for layout in LAYOUTS}
    received = readers.received()
    naive = received.pop("naive")
    assert received == {**committed, "sequential": committed["range"], "repeatable read": committed["hash"]}
    # Of few rows, a reader may be too slow to miss any.
    assert naive < committed["plain"] or not ARE_MANY
    assert readers.refusals <= disturbances.crashes * len(readers.queries)
    measured(
        f"feed of {column.sql_type}, scope {scope}: {sum(committed.values()):,} rows,"
        f" {committed['plain'] - naive:,} missed without a horizon, {disturbances.crashes} crashes"
    )
