"""The database that is measured: the tables of every candidate, and sessions whose names are those of one of them."""

from __future__ import annotations

import random

import psycopg

from bench.candidates import Candidate
from bench.progress import Progress
from bench.server import Server
from bench.targets import is_type
from bench.workloads import SHUFFLED, TABLES, Workload, preparations


class Database:
    """The tables of some candidates, each with so many rows."""

    def __init__(self, server: Server, candidates: list[Candidate], rows: int):
        self.server = server
        self.candidates = candidates
        self.rows = rows

    def make(self) -> None:
        """A new database with all tables."""
        self.server.make_database()
        with self.server.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute("CREATE SEQUENCE numbers")
            connection.execute("CREATE FUNCTION noop() RETURNS int LANGUAGE internal VOLATILE AS 'pg_backend_pid'")
            for name, returned in {"least8": "bigint", "least16": "uuid"}.items():
                library = f"{self.server.folder}/least"
                connection.execute(f"CREATE FUNCTION {name}() RETURNS {returned} LANGUAGE c VOLATILE AS '{library}'")
            connection.execute("CREATE UNLOGGED TABLE rows_without_columns ()")
            connection.execute(f"INSERT INTO rows_without_columns SELECT FROM generate_series(1, {self.rows})")
            connection.execute("VACUUM (FREEZE, ANALYZE) rows_without_columns")
        progress = Progress(len(self.candidates))
        with self.session() as connection:
            for candidate in self.candidates:
                progress.step(f"tables of {candidate.label}")
                connection.execute(f"CREATE SCHEMA {candidate.key}")
                connection.execute(names_of(candidate))
                for statement in preparations(candidate) if candidate.type else []:
                    connection.execute(self.fill_in(statement, candidate, self.rows))
                check_shuffled(connection, candidate.key)
            self.check_same_order(connection)
            connection.execute("CHECKPOINT")
        progress.end()

    def check_same_order(self, connection: psycopg.Connection) -> None:
        """Fails unless the rows that are to be sorted come in the same order for all, as the rank of the first one tells."""
        for table in SHUFFLED:
            places = {}
            for candidate in [candidate for candidate in self.candidates if candidate.type]:
                query = f"SELECT count(*) FROM {table} WHERE id < (SELECT id FROM {table} LIMIT 1)"
                connection.execute(names_of(candidate))
                [(places[candidate.key],)] = connection.execute(query)
            # Equal IDs may come in either order.
            assert max(places.values()) - min(places.values()) < 10, f"{table}: {places}"

    def session(self) -> psycopg.Connection:
        """A session that has loaded the library, so that the first to use it does not pay for that."""
        connection = self.server.connect()
        connection.execute(LOAD)
        return connection

    def rows_of(self, workload: Workload) -> int:
        """How many rows a workload takes at once."""
        return self.rows // workload.share

    def fill_in(self, statement: str, candidate: Candidate, rows: int) -> str:
        """The statement for one candidate and so many rows."""
        once = {"type": candidate.type, "folder": self.server.folder, "candidate": candidate.key, "rows": rows}
        return statement.format(generate=candidate.generate, **once)

    def measured_by(self, workload: Workload, number: int) -> list[Candidate]:
        """The candidates of a workload in the order of a round, so that each has other neighbours each time."""
        return shuffled([candidate for candidate in self.candidates if workload.measures(candidate)], number)

    def move(self, number: int) -> None:
        """Starts the server anew, and has it read all tables, in the order of a round.

        How fast a page is reached depends a little on where in memory it is. So a table that kept its place for all rounds
        would be faster or slower than its neighbour in all of them.
        """
        self.server.restart()
        with self.session() as connection:
            connection.execute("SET enable_bitmapscan = off")
            for candidate in shuffled([candidate for candidate in self.candidates if candidate.type], number):
                connection.execute(names_of(candidate))
                for table in TABLES:
                    connection.execute(f"SELECT count(*) FROM {table}")
                connection.execute("SET enable_seqscan = off")
                connection.execute("SELECT count(*) FROM keyed")
                connection.execute("RESET enable_seqscan")
                self.catch_up(connection, candidate)

    def catch_up(self, connection: psycopg.Connection, candidate: Candidate) -> None:
        """Waits for the time of an ID: for the first second of a server, those of some types are ahead of the clock."""
        if is_type(candidate.key):
            connection.execute(f"SELECT pg_sleep_until({candidate.key}_timestamp({candidate.generate}))")


LOAD = "LOAD 'scru'"


def names_of(candidate: Candidate) -> str:
    """From this statement on, names are those of the candidate's tables."""
    return f"SET search_path = {candidate.key}, public"


def shuffled(candidates: list[Candidate], number: int) -> list[Candidate]:
    """The candidates in the order of a round, which is the same in every run."""
    return random.Random(number).sample(candidates, len(candidates))


def check_shuffled(connection: psycopg.Connection, schema: str) -> None:
    """Fails if the rows of a table that is to be sorted are in some order already."""
    query = """
        SELECT tablename, correlation FROM pg_stats
        WHERE schemaname = %s AND tablename = ANY (%s) AND abs(correlation) > 0.1
    """
    ordered = connection.execute(query, [schema, list(SHUFFLED)]).fetchall()
    assert not ordered, f"{schema}: {ordered}"


def check_plan(connection: psycopg.Connection, statement: str, nodes: list[str]) -> None:
    """Fails unless the plan has the nodes. It also reads the catalogs, so that what is timed needs not."""
    if statement.startswith(("SELECT", "INSERT")):
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {statement}"))
        missing = [node for node in nodes if node not in plan]
        assert not missing, f"{statement} has no {missing} in its plan:\n{plan}"
