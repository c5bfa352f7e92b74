"""A value that a database carries bounds the draws of that database, and nothing else: whoever wrote it."""

from __future__ import annotations

import time

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, SCRU160, SERVER_WIDE, TYPES, ULID, ULIDFLAKE
from load import background, wait_until_it_waits
from marks import ALONE, BEHIND_MARK, END_OF_MILLISECOND, NODE, assert_later, create, draw, draw_all
from owner import DECADES, SHOP, alice, create_shop, set_horizon, set_mark
from server import Server

# ALONE leaves 16 bits to the counter of scru64.
END_OF_TICK = 1 << 16


def ahead(server: Server, id_type, dbname: str = "other", scope: str = "server") -> float:
    """Returns by how many seconds a new ID is ahead of the clock."""
    with server.connect(dbname, options=f"-c scru.generator_scope={scope}") as connection:
        query = f"SELECT extract(epoch FROM id::timestamptz - clock_timestamp()) FROM {id_type.generator} id"
        return float(connection.execute(query).fetchone()[0])


def assert_others_follow_the_clock(server: Server) -> None:
    """Asserts that IDs of another database are at most 1 s ahead of the clock, which a slow machine may pass."""
    for id_type in TYPES:
        for scope in "server", "backend":
            assert -60 < ahead(server, id_type, scope=scope) < 1.1
    query = "SELECT extract(epoch FROM scru128_horizon()::timestamptz - clock_timestamp())"
    assert float(server.value(query, "other")) < 1.1


@pytest.mark.parametrize("value", ["decades", "the largest"])
def test_a_horizon_in_the_future_concerns_its_database_only(new_server, value):
    """The owner sets it, and draws. Her private generators continue above it; shared state is refused to her."""
    server = create_shop(new_server(NODE), "other")
    draw_all(server, 1, "other")
    with alice(server) as connection:
        if value == "decades":
            set_horizon(connection, DECADES)
        else:
            connection.execute(f"SELECT setval('scru_horizon_mark', {2**63 - 1})")
    with alice(server) as connection:
        for id_type in SERVER_WIDE:
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=BEHIND_MARK.format(id_type)):
                connection.execute(f"SELECT {id_type.generator}")
        for id_type in (SCRU128, ULID, SCRU160) if value == "decades" else ():
            assert ahead(server, id_type, SHOP, "backend") > DECADES - 60
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=BEHIND_MARK.format(id_type)):
                ahead(server, id_type, SHOP)
        # Consumers of a restored database have positions up to the horizon that it carries.
        after = "scru128_upper(clock_timestamp() + interval '60 years')"
        assert connection.execute(f"SELECT scru128_horizon({after}) < {after}").fetchone() == (True,)
    assert_others_follow_the_clock(server)
    with server.connect(SHOP) as connection:
        for id_type in SERVER_WIDE:
            query = f"SELECT draw, reason FROM scru_generators() WHERE type = '{id_type}'"
            assert connection.execute(query).fetchone() == ("refuse", BEHIND_MARK.format(id_type))
    server.restart("immediate")
    assert_others_follow_the_clock(server)
    # A draw is refused at once.
    start = time.monotonic()
    with alice(server) as connection, pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        connection.execute("SELECT gen_ulidflake()")
    assert time.monotonic() - start < 15
    # A superuser sets it back.
    with server.connect(SHOP) as connection:
        connection.execute("SELECT scru_set_mark('ulidflake', now())")
    assert draw_all(server, 1, SHOP)
    assert ahead(server, SCRU128, SHOP) < 1.1


def test_a_restored_horizon_of_a_wrong_clock_concerns_its_database_only(new_server, clock):
    """The source's clock was a day ahead at one horizon."""
    source, target = create(new_server(NODE, clock.environment)), create_shop(new_server(NODE), "other")
    clock.shift(24 * 3600)
    assert source.value("SELECT scru128_horizon()")
    target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", SHOP, input=source.pg_dump("postgres"))
    assert ahead(target, SCRU128, SHOP, "backend") > 24 * 3600 - 120
    assert_others_follow_the_clock(target)
    target.restart()
    assert_others_follow_the_clock(target)


def test_a_horizon_seconds_ahead_delays_its_database_only(new_server):
    server = create_shop(new_server(NODE), "other")
    with alice(server, options="-c scru.generator_scope=server") as connection:
        set_horizon(connection, 9)
        connection.execute("SET statement_timeout = '200ms'")
        for id_type in TYPES:
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute(f"SELECT {id_type.generator}")
        assert_others_follow_the_clock(server)


def test_a_horizon_that_changes_within_a_transaction_delays_it(new_server):
    """The transaction has drawn above the value. Its owner takes that back, and draws from shared state."""
    server = create_shop(new_server(NODE), "other")
    with alice(server) as connection:
        set_horizon(connection, 9)
    with alice(server) as connection, pytest.raises(psycopg.errors.QueryCanceled), connection.transaction():
        connection.execute("SELECT gen_ulid(), setval('scru_horizon_mark', 1)")
        connection.execute("SELECT scru128_horizon()")
        connection.execute("SET LOCAL scru.generator_scope = 'server'; SET LOCAL statement_timeout = '200ms'")
        connection.execute("SELECT gen_ulid()")
    assert_others_follow_the_clock(server)


@pytest.mark.parametrize("id_type", SERVER_WIDE, ids=str)
def test_setting_the_mark_wakes_who_waits_for_it(new_server, clock, id_type):
    """The clock stands still, 8 s behind the mark. After scru_set_mark(), it needs to advance by 3 s only."""
    server = create_shop(new_server(NODE, clock.environment))
    # The first IDs of a server wait for the clock.
    draw_all(server, 1, SHOP)
    start = int(time.time()) + 5

    def advance(seconds: float) -> None:
        clock.freeze(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(start + seconds)))

    advance(0)
    with alice(server) as connection, server.connect(SHOP) as superuser:
        connection.execute("RESET statement_timeout")
        set_mark(connection, id_type, start + 8 - time.time())
        with background(connection, f"SELECT {id_type.generator}") as drawing:
            wait_until_it_waits(server, connection)
            superuser.execute(f"SELECT scru_set_mark('{id_type}', now())")
            advance(4)
            assert drawing.result(timeout=60).fetchone()


def test_marks_in_the_past_withdraw_no_reservation(new_server, clock):
    """The owner sets a mark and draws, again and again. The clock stands still: others need no further tick.

    A tick starts at a random place. One that starts near its end has no room for these IDs: it is left for a later one.
    """
    server = create_shop(new_server(ALONE, clock.environment), "other")
    draw_all(server, 1, "other")
    now = int(time.time()) + 4
    has_room = False
    while not has_room:
        now += 1
        clock.freeze(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)))
        before = draw_all(server, 1, "other")
        [scru64], [ulidflake] = before.values()
        counter, place = SCRU64.value(scru64) % END_OF_TICK, ULIDFLAKE.value(ulidflake) % END_OF_MILLISECOND
        has_room = counter < 0.9 * END_OF_TICK and place < 0.9 * END_OF_MILLISECOND
    reserved = "SELECT type, reserved_until FROM scru_generators() WHERE reserved_until IS NOT NULL"
    present = server.rows(reserved, "other")
    with alice(server) as connection:
        for number in range(20):
            for id_type in SERVER_WIDE:
                behind = now - time.time() - 5 + number / 10
                set_mark(connection, id_type, behind, (1 << 20 | 7) if id_type == SCRU64 else 1)
                connection.execute(f"SELECT {id_type.generator}")
    with server.connect("other") as connection:
        connection.execute("SET statement_timeout = '10s'")
        after = {t: [connection.execute(f"SELECT {t.generator}::text").fetchone()[0]] for t in SERVER_WIDE}
    assert_later(before, after)
    assert server.rows(reserved, "other") == present


def test_a_mark_just_ahead_of_the_clock_delays_nobody_else(new_server):
    """The owner sets a mark that the clock reaches in 0.9 s. Others need not wait for it, and it is then hers."""
    server = create_shop(new_server(NODE), "other")
    draw_all(server, 1, "other")
    with alice(server) as connection:
        set_mark(connection, ULIDFLAKE, 0.9)
        with background(connection, "SELECT gen_ulidflake()::text") as drawing:
            assert ahead(server, ULIDFLAKE) < 0.5
            [(later,)] = drawing.result(timeout=60).fetchall()
        assert connection.execute("SELECT log_cnt <> 0 FROM ulidflake_mark").fetchone() == (True,)
    assert later < draw(server, ULIDFLAKE, 1, "other")[0]


# The tick of the first is one whose start, in microseconds, wraps to a time in the past.
VALUES = {
    ULIDFLAKE: [((2**63 // 1000 >> 43) + 1 << 43) * 64 + 1, 2**63 - 1, -(2**63) + 1, -1],
    SCRU64: [2**63 - 1, -(2**63) + 1, -1],
}


@pytest.mark.parametrize("id_type", SERVER_WIDE, ids=str)
def test_a_value_that_is_no_time_counts_as_the_last_one(new_server, id_type):
    server = create_shop(new_server(NODE), "other")
    before = draw_all(server, 1, "other")
    with server.connect(SHOP) as superuser, alice(server) as connection:
        superuser.execute(f"ALTER SEQUENCE {id_type}_mark MINVALUE {-(2**63)}")
        for value in VALUES[id_type]:
            connection.execute(f"SELECT setval('{id_type}_mark', {value % 2**63 if value > 0 else value})")
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=BEHIND_MARK.format(id_type)):
                connection.execute(f"SELECT {id_type.generator}")
    assert_later(before, draw_all(server, dbname="other"))


def test_a_new_node_is_not_refused_after_many_nodes_of_a_wrong_clock(new_server, clock):
    """32 nodes have drawn while the clock was a day ahead."""
    server = create(new_server(None, clock.environment))
    clock.shift(24 * 3600)
    for node in range(32):
        assert ahead_of_node(server, f"{node}/20") < 1.1
    server.stop()
    clock.shift(0)
    server.start()
    # They have no bits in common with the others, nor with each other.
    for node in "1048575/20", "524288/20", "1048575/20":
        assert ahead_of_node(server, node) < 1.1
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        ahead_of_node(server, "31/20")


def ahead_of_node(server: Server, node: str) -> float:
    """As `ahead`, for a scru64 of a node."""
    with server.connect() as connection:
        connection.execute(f"ALTER DATABASE postgres SET scru.scru64_node = '{node}'")
    with server.connect() as connection:
        query = "SELECT extract(epoch FROM gen_scru64()::timestamptz - clock_timestamp())"
        return float(connection.execute(query).fetchone()[0])
