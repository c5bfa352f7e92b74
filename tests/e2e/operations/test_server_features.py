"""Features of the server that touch IDs, marks or guards on their way: each once."""

from __future__ import annotations

import re
import subprocess

import psycopg
import pytest

import orders
from idtypes import SCRU64, SERVER_WIDE, TYPES
from marks import SEQUENCES, assert_later, create, draw_all
from programs import needs, path_of
from server import long, since, wait_until


def test_a_member_of_pg_write_all_data_sets_the_mark_of_a_database(new_server):
    """He may call setval(), as the owner of the database may: whatever he writes, no ID repeats."""
    server = create(new_server({"scru.node": "6/12"}))
    before = draw_all(server)
    with server.connect() as superuser:
        superuser.execute("CREATE ROLE writer LOGIN IN ROLE pg_write_all_data")
        superuser.execute("CREATE DATABASE other")
    with server.connect(user="writer") as writer:
        for value in 1, 2**62:
            for sequence in SEQUENCES.values():
                writer.execute("SELECT setval(%s, %s)", [sequence, value])
            with server.connect("other") as other:
                other.execute("CREATE EXTENSION IF NOT EXISTS scru")
                assert_later(before, before := draw_all(server, dbname="other"))
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        server.value("SELECT gen_scru64()")


def test_pg_resetwal_loses_a_mark_that_was_not_written(new_server):
    """As docs/guarantees.md says, the mark is then to be raised: above all rows, IDs continue."""
    server = create(new_server({"scru.node": "6/12"}))
    with server.connect() as superuser:
        superuser.execute("CHECKPOINT")
    before = draw_all(server)
    server.kill()
    (server.data / "postmaster.pid").unlink()
    server.run("pg_resetwal", "--force", server.data, as_server=True)
    server.start()
    [(newest,)] = server.rows(f"SELECT '{before[SCRU64][-1]}'::scru64::timestamptz + interval '1 second'")
    with server.connect() as superuser:
        superuser.execute("SELECT scru_raise_mark(%s)", [newest])
    assert_later({t: before[t] for t in SERVER_WIDE}, draw_all(server))


@since(17, "transaction_timeout")
def test_a_transaction_timeout_ends_a_wait_for_the_clock(new_server, clock):
    server = create(new_server({"scru.node": "6/12"}, clock.environment))
    draw_all(server)
    clock.shift(-1.5)
    with server.connect() as connection, pytest.raises(psycopg.errors.TransactionTimeout):
        connection.execute("SET transaction_timeout = '100ms'")
        connection.execute("SELECT gen_scru64()")


@since(19, "publications of all sequences")
def test_a_subscription_to_all_sequences_carries_the_mark(new_server, clock):
    """The clock of the subscriber is behind: it draws nothing below what the publisher has drawn."""
    publisher = create(new_server({"scru.node": "6/12", "wal_level": "logical"}))
    subscriber = create(new_server({"scru.node": "6/12"}, clock.environment))
    before = draw_all(publisher)
    clock.shift(-3600)
    with publisher.connect() as connection, subscriber.connect() as there:
        connection.execute("CREATE PUBLICATION everything FOR ALL SEQUENCES")
        address = f"host={publisher.directory} port={publisher.port} user=postgres dbname=postgres"
        there.execute(f"CREATE SUBSCRIPTION everything CONNECTION '{address}' PUBLICATION everything")
        states = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
        wait_until(lambda: there.execute(states).fetchone()[0], "the sequences are copied")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            there.execute("SELECT gen_scru64()")
    clock.shift(0)
    assert_later(before, draw_all(subscriber))


@long
@needs("sqlsmith")
def test_random_queries_crash_nothing(new_server):
    """Those of sqlsmith call functions and operators with any values. An internal error of the server is not ours."""
    server = create(new_server({"log_error_verbosity": "verbose", "statement_timeout": "2s"}))
    with server.connect() as connection:
        for id_type in TYPES:
            orders.create(connection, id_type, rows=100)
            connection.execute(f"GRANT USAGE ON SCHEMA {id_type} TO PUBLIC")
            connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {id_type} TO PUBLIC")
        connection.execute("CREATE ROLE smith LOGIN")
    address = f"--target=host={server.directory} dbname=postgres user=smith"
    command = [path_of("sqlsmith"), address, "--exclude-catalog", "--max-queries=5000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, server.crashes()) == (0, []), done.stderr[-2000:]
    log = server.log_text()
    assert "scru" in log and not re.findall(r"(?: XX\d{3}: .*\n(?:(?!.*ERROR: ).*\n)*?.*LOCATION: .*\.rs:\d+)", log)
