"""The sequences of a database: which ones are the extension's, what a session knows of them, and who writes them."""

from __future__ import annotations

import psycopg
import pytest

import expect
from idtypes import SCRU64, SERVER_WIDE, ULID
from load import background
from marks import NODE, assert_behind_mark, assert_later, create, draw, draw_all
from owner import SHOP, alice, create_shop, set_horizon
from server import Server, wait_until

ALL = [*(f"{id_type}_mark" for id_type in SERVER_WIDE), "scru_horizon_mark"]


def draws(server: Server, id_type) -> bool:
    """Returns whether an ID is generated in Alice's database; false if its sequence is unlogged."""
    sequence = f"{id_type}_mark"
    try:
        draw(server, id_type, 1, SHOP)
    except psycopg.errors.ObjectNotInPrerequisiteState as refusal:
        assert_unlogged(refusal, sequence)
        return False
    return True


def assert_unlogged(refusal: psycopg.Error, sequence: str) -> None:
    diag = refusal.diag
    assert diag.message_primary == f'sequence "{sequence}" has become unlogged'
    assert diag.message_hint == f"A superuser can use ALTER SEQUENCE {sequence} SET LOGGED."


@pytest.mark.parametrize("takes_over", ["a crash", "a promotion"])
def test_an_unlogged_sequence_is_refused_and_the_server_starts(new_server, takes_over):
    server = create_shop(new_server(NODE), "other")
    draw_all(server, 1, SHOP)
    with server.connect(SHOP) as superuser:
        for sequence in ALL:
            superuser.execute(f"ALTER SEQUENCE {sequence} SET UNLOGGED")
    for id_type in SERVER_WIDE:
        assert not draws(server, id_type)
        assert draw(server, id_type, 1, "other")
    # Only the horizon needs its sequence.
    assert draw(server, ULID, 1, SHOP)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
        server.value("SELECT ulid_horizon()", SHOP)
    assert_unlogged(caught.value, "scru_horizon_mark")
    if takes_over == "a crash":
        server.kill()
        server.start()
        successor = server
    else:
        successor = server.standby()
        successor.wait_until_replayed(server)
        server.stop("immediate")
        successor.promote()
        successor.restart()
    try:
        assert not draws(successor, SCRU64)
        with successor.connect(SHOP) as superuser:
            for sequence in ALL:
                superuser.execute(f"ALTER SEQUENCE {sequence} SET LOGGED")
        assert all(draws(successor, id_type) for id_type in SERVER_WIDE)
        assert successor.value("SELECT ulid_horizon() IS NOT NULL", SHOP)
    finally:
        successor.remove()


def test_only_what_the_extension_created_is_its_sequence(new_server):
    """The owner has her own sequences of these names, unlogged and members of the extension. They are not written."""
    server = create_shop(new_server(NODE))
    with server.connect(SHOP) as superuser:
        for sequence in ALL:
            superuser.execute(f"ALTER EXTENSION scru DROP SEQUENCE {sequence}")
            superuser.execute(f"DROP SEQUENCE {sequence}")
        superuser.execute("GRANT CREATE ON SCHEMA public TO alice")
    with alice(server) as connection:
        for sequence in ALL:
            connection.execute(f"CREATE UNLOGGED SEQUENCE {sequence}")
            connection.execute(f"ALTER EXTENSION scru ADD SEQUENCE {sequence}")
        for id_type in SERVER_WIDE:
            assert connection.execute(f"SELECT {id_type.generator}").fetchone()
        connection.execute("SELECT scru128_horizon()")
        for sequence in ALL:
            assert connection.execute(f"SELECT last_value, is_called FROM {sequence}").fetchone() == (1, False)
    server.kill()
    server.start()
    assert draw_all(server, 1, SHOP)


def test_a_session_writes_the_sequences_of_an_extension_that_was_created_again(new_server, clock):
    """The clock stands still, so that no reservation is due. A millisecond may have room for one ulidflake only."""
    server = create(new_server(NODE, clock.environment))
    draw_all(server, 1)
    with server.connect() as open_, server.connect() as other:
        statements = [*(f"SELECT {id_type.generator}" for id_type in SERVER_WIDE), "SELECT scru128_horizon()"]
        for millisecond in range(2):
            clock.freeze(f"2030-01-01 00:00:00.00{millisecond}")
            for statement in statements:
                open_.execute(statement)
            for sequence in ALL:
                query = f"SELECT is_called, last_value > 1 FROM {sequence}"
                assert other.execute(query).fetchone() == (True, True), sequence
            other.execute("DROP EXTENSION scru; CREATE EXTENSION scru")


def test_a_sequence_that_cannot_be_read_is_an_error(new_server):
    """An open ALTER EXTENSION locks the sequences, after a horizon of an hour ahead was restored."""
    server = create_shop(new_server(NODE), "other")
    with alice(server) as connection:
        set_horizon(connection, 3600)
    with server.connect(SHOP) as altering, alice(server) as connection:
        altering.execute("CREATE SCHEMA elsewhere")
        altering.execute("BEGIN; ALTER EXTENSION scru SET SCHEMA elsewhere")
        connection.execute("SET lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("SELECT gen_ulid()")
        altering.execute("ROLLBACK")
        query = "SELECT gen_ulid()::timestamptz > now() + interval '50 minutes'"
        assert connection.execute(query).fetchone() == (True,)


def test_an_owner_restores_where_the_extension_stood_in_template1(new_server, clock):
    """Her database has the extension from the template. The clock of the new server is an hour behind."""
    source, target = create_shop(new_server(NODE)), new_server(NODE, clock.environment)
    before = draw_all(source, dbname=SHOP)
    source.value("SELECT scru128_horizon()::text", SHOP)
    with target.connect("template1") as connection:
        connection.execute("CREATE EXTENSION scru")
    with target.connect() as connection:
        connection.execute("CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN")
        connection.execute(f"CREATE DATABASE {SHOP} OWNER alice")
    clock.shift(-3600)
    dump = source.pg_dump(SHOP, "--username=alice", "--no-comments")
    target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "alice", "-d", SHOP, input=dump)
    for id_type in SERVER_WIDE:
        assert_behind_mark(target, id_type, 3600, SHOP)
    clock.shift(0)
    assert_later(before, draw_all(target, dbname=SHOP))
    with target.connect(SHOP, user="bob") as stranger:
        for sequence in ALL:
            with expect.error("42501", f"permission denied for sequence {sequence}"):
                stranger.execute(f"SELECT setval('{sequence}', 5)")


def test_a_crash_with_minimal_log_keeps_the_sequences(new_server):
    """The sequences are created and written in one transaction, whose new files the server does not log."""
    server = new_server({**NODE, "wal_level": "minimal", "max_wal_senders": "0", "wal_skip_threshold": "0"})
    with server.connect() as connection:
        connection.execute("BEGIN; CREATE EXTENSION scru; CREATE TABLE ids (id scru64, flake ulidflake)")
        connection.execute("INSERT INTO ids SELECT gen_scru64(), gen_ulidflake() FROM generate_series(1, 100)")
        connection.execute("SELECT scru128_horizon(); COMMIT")
    values = {sequence: server.value(f"SELECT last_value FROM {sequence}") for sequence in ALL}
    assert all(value > 1 for value in values.values())
    server.kill()
    server.start()
    for sequence, value in values.items():
        assert server.value(f"SELECT last_value FROM {sequence}") == value
    query = "SELECT gen_scru64() > max(id) AND gen_ulidflake() > max(flake) FROM ids"
    assert server.value(query)


def test_an_uncommitted_drop_of_the_extension_delays_nobody_else(new_server):
    """The owner's other session needs the sequence for its next reservation, and waits for the lock. It holds no lock
    that others need for theirs."""
    server = create_shop(new_server(NODE), "other")
    reserved = "SELECT reserved_until FROM scru_generators() WHERE type = 'scru64'"
    draw_until_blocked = "DO $$ BEGIN FOR i IN 1 .. 10 LOOP PERFORM gen_scru64(), pg_sleep(0.2); END LOOP; END $$"
    with alice(server) as dropping, alice(server) as drawing, server.connect("other") as other:
        draw(server, SCRU64, 1, "other")
        dropping.execute("BEGIN; DROP EXTENSION scru")
        with background(drawing, draw_until_blocked) as running:
            pids = [dropping.info.backend_pid, drawing.info.backend_pid]
            waits = "SELECT %s = ANY (pg_blocking_pids(%s))"
            wait_until(lambda: other.execute(waits, pids).fetchone()[0], "the owner's session waits")
            other.execute("SET statement_timeout = '20s'")
            [(until,)] = other.execute(reserved)
            more = "SELECT gen_scru64() IS NULL"
            wait_until(lambda: other.execute(more) and other.execute(reserved).fetchone()[0] > until, "others reserve")
            assert not running.done()
            dropping.execute("ROLLBACK")
            running.result(timeout=60)
