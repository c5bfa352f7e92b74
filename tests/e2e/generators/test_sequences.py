"""The sequences of a database: which ones are the extension's, what a session knows of them, and who writes them."""

from __future__ import annotations

import psycopg
import pytest

import expect
from idtypes import SCRU64, SERVER_WIDE, TYPES
from load import background
from marks import NODE, SEQUENCES, assert_all_behind_mark, assert_later, create, draw, draw_all
from owner import SHOP, alice, create_shop, set_ahead
from server import Server, wait_until


def refused(sequence: str, state: str):
    """Expects the error of a sequence that is missing or has become unlogged."""
    lost = "umps and pg_upgrade would not carry the high-water mark of the database."
    if state == "unlogged":
        message, detail = f'sequence "{sequence}" has become unlogged', f"After a crash, d{lost}"
        hint = f"A superuser can use ALTER SEQUENCE {sequence} SET LOGGED."
    else:
        message, detail = f'sequence "{sequence}" of extension "scru" is missing', f"D{lost}"
        hint = "Restore the database from a dump, or let a superuser undo what has replaced the sequence."
    return expect.error("55000", message, detail, hint)


def assert_refused(server: Server, state: str) -> None:
    """Asserts that shared state and horizons are refused in Alice's database, and nowhere else."""
    for id_type in TYPES:
        with refused(SEQUENCES["draws"], state):
            draw(server, id_type, 1, SHOP)
        assert draw(server, id_type, 1, "other")
    with refused(SEQUENCES["horizons"], state):
        server.value("SELECT ulid_horizon()", SHOP)
    assert server.value("SELECT gen_ulid() IS NOT NULL", SHOP), "a private generator"
    query = "SELECT draw, reason FROM scru_generators() WHERE type = 'scru64'"
    [(action, reason)] = server.rows(query, SHOP)
    assert (action, SEQUENCES["draws"] in reason) == ("refuse", True)


# What a superuser does to a sequence and undoes: the extension's is then not what she created, or nothing.
OWN = "ALTER EXTENSION scru {} SEQUENCE {{0}}"
CHANGES = {
    "unlogged": (["ALTER SEQUENCE {0} SET UNLOGGED"], ["ALTER SEQUENCE {0} SET LOGGED"]),
    "renamed": (["ALTER SEQUENCE {0} RENAME TO {1}_old"], ["ALTER SEQUENCE {0}_old RENAME TO {1}"]),
    "given away": (
        [OWN.format("DROP"), "ALTER SEQUENCE {0} OWNER TO alice", OWN.format("ADD")],
        [OWN.format("DROP"), "ALTER SEQUENCE {0} OWNER TO postgres", OWN.format("ADD")],
    ),
    "a table": (
        ["ALTER SEQUENCE {0} RENAME TO {1}_old", "CREATE TABLE {0} (last_value bigint)"],
        ["DROP TABLE {0}", "ALTER SEQUENCE {0}_old RENAME TO {1}"],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_sequence_that_is_not_accepted_is_an_error(new_server, change):
    """Sessions that are open notice it. The server starts after a crash, and its standby after a promotion."""
    server = create_shop(new_server(NODE), "other")
    before = draw_all(server, 1, SHOP)
    there, back = CHANGES[change]

    def alter(connection: psycopg.Connection, statements: list[str]) -> None:
        for mark, sequence in SEQUENCES.items():
            for statement in statements:
                connection.execute(statement.format(sequence, mark))

    with server.connect(SHOP) as open_, server.connect(SHOP) as superuser:
        open_.execute("SELECT gen_scru64(), scru64_horizon()")
        alter(superuser, there)
        with refused(SEQUENCES["draws"], change):
            open_.execute("SELECT gen_scru64()")
    assert_refused(server, change)
    with server.standby() as standby:
        standby.wait_until_replayed(server)
        server.kill()
        standby.promote()
        server.start()
        for successor in server, standby:
            assert_refused(successor, change)
            with successor.connect(SHOP) as superuser:
                alter(superuser, back)
            assert_later(before, draw_all(successor, 1, SHOP))
            assert successor.value("SELECT ulid_horizon() IS NOT NULL", SHOP)


def test_a_session_writes_the_sequences_of_an_extension_that_was_created_again(new_server, clock):
    """The clock stands still, so that no reservation is due. A millisecond may have room for one ulidflake only."""
    server = create(new_server(NODE, clock.environment))
    before = draw_all(server, 1)
    with server.connect() as open_, server.connect() as other:
        for millisecond in range(2):
            clock.freeze(f"2030-01-01 00:00:00.00{millisecond}")
            ids = open_.execute("SELECT gen_scru64()::text, gen_ulidflake()::text, scru128_horizon()").fetchone()
            after = {id_type: [id_] for id_type, id_ in zip(SERVER_WIDE, ids, strict=False)}
            assert_later(before, after)
            before = after
            for sequence in SEQUENCES.values():
                query = f"SELECT is_called, last_value > 1 FROM {sequence}"
                assert other.execute(query).fetchone() == (True, True), sequence
            other.execute("DROP EXTENSION scru; CREATE EXTENSION scru")


def test_a_sequence_that_is_locked_is_an_error(new_server):
    """A superuser changes it, after a horizon of an hour ahead was restored."""
    server = create_shop(new_server(NODE), "other")
    with alice(server) as connection:
        set_ahead(connection, "horizons", 3600)
    with server.connect(SHOP) as altering, alice(server) as connection:
        altering.execute(f"BEGIN; ALTER SEQUENCE {SEQUENCES['horizons']} CACHE 1")
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
    target.psql("template1", b"CREATE EXTENSION scru")
    with target.connect() as connection:
        connection.execute("CREATE ROLE alice LOGIN")
        connection.execute(f"CREATE DATABASE {SHOP} OWNER alice")
    clock.shift(-3600)
    dump = source.pg_dump(SHOP, "--username=alice", "--no-comments")
    target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "alice", "-d", SHOP, input=dump)
    assert_all_behind_mark(target, 3600, SHOP)
    clock.shift(0)
    assert_later(before, draw_all(target, dbname=SHOP))


def test_a_crash_with_minimal_log_keeps_the_sequences(new_server):
    """Also where one transaction makes new files and writes them: the server logs those as little as the extension."""
    server = new_server({**NODE, "wal_level": "minimal", "max_wal_senders": "0", "wal_skip_threshold": "0"})
    insert = "INSERT INTO ids SELECT gen_scru64(), gen_ulidflake() FROM generate_series(1, 100)"
    last = [1] * len(SEQUENCES)
    install = "CREATE EXTENSION scru; CREATE TABLE ids (id scru64, flake ulidflake)"
    for change in install, "SELECT", *(f"ALTER SEQUENCE {sequence} CACHE 1" for sequence in SEQUENCES.values()):
        with server.connect() as connection:
            connection.execute(f"BEGIN; {change}; {insert}; SELECT scru128_horizon()")
            for sequence in SEQUENCES.values():
                connection.execute(f"SELECT setval('{sequence}', last_value + 1) FROM {sequence}")
            connection.execute("COMMIT")
        before, last = last, [server.value(f"SELECT last_value FROM {sequence}") for sequence in SEQUENCES.values()]
        assert all(old < new for old, new in zip(before, last, strict=True))
        server.kill()
        server.start()
        assert [server.value(f"SELECT last_value FROM {sequence}") for sequence in SEQUENCES.values()] == last
    assert server.value("SELECT gen_scru64() > max(id) AND gen_ulidflake() > max(flake) FROM ids")


def test_an_uncommitted_drop_of_the_extension_delays_nobody_else(new_server):
    """The owner's other session needs the sequence for its next reservation, and waits for the lock. It holds no lock
    that others need for theirs."""
    server = create_shop(new_server(NODE), "other")
    reserved = "SELECT mark FROM scru_generators() WHERE type = 'scru64'"
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
