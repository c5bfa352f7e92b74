"""A value that a database carries bounds the draws of that database, and nothing else: whoever wrote it."""

from __future__ import annotations

import time

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, SCRU160, SERVER_WIDE, TYPES, ULID
from marks import ALONE, BEHIND_MARK, NODE, SEQUENCES, assert_later, create, draw_all, page, set_back
from owner import DECADES, SHOP, alice, create_shop, set_ahead, set_sequence
from server import Server

PRIVATE = [SCRU128, ULID, SCRU160]


def ahead(server: Server, id_type, dbname: str = "other", scope: str = "server") -> float:
    """Returns by how many seconds a new ID is ahead of the clock."""
    with server.connect(dbname, options=f"-c scru.generator_scope={scope}") as connection:
        query = f"SELECT extract(epoch FROM id::timestamptz - clock_timestamp()) FROM {id_type.generator} id"
        return float(connection.execute(query).fetchone()[0])


def assert_others_follow_the_clock(server: Server) -> None:
    """Asserts that IDs of another database are at most 1 s ahead of the clock."""
    for id_type in TYPES:
        for scope in "server", "session":
            assert -60 < ahead(server, id_type, scope=scope) < 1.1
    query = "SELECT extract(epoch FROM scru128_horizon()::timestamptz - clock_timestamp())"
    assert float(server.value(query, "other")) < 1.1


@pytest.mark.parametrize("value", [DECADES, None], ids=["decades", "the largest"])
@pytest.mark.parametrize("mark", SEQUENCES)
def test_a_value_in_the_future_concerns_its_database_only(new_server, mark, value):
    """The owner sets it. Shared state is refused to her at once. Her private generators continue above the horizons."""
    server = create_shop(new_server(NODE), "other")
    draw_all(server, 1, "other")
    with alice(server) as connection:
        set_sequence(connection, mark, int((time.time() + value) * 1e6) if value else 2**63 - 1)
    for _ in range(2):
        with alice(server, options="-c scru.generator_scope=server") as connection:
            for id_type in TYPES:
                with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=BEHIND_MARK.format(id_type)):
                    connection.execute(f"SELECT {id_type.generator}")
            query = "SELECT draw, reason FROM scru_generators() WHERE type = 'scru64'"
            with server.connect(SHOP) as superuser:
                assert superuser.execute(query).fetchone() == ("refuse", BEHIND_MARK.format(SCRU64))
            # Consumers of a restored database have positions up to what it carries.
            after = "scru128_upper(clock_timestamp() + interval '60 years')"
            assert connection.execute(f"SELECT scru128_horizon({after}) < {after}").fetchone() == (True,)
        for id_type in PRIVATE if value else ():
            is_far = ahead(server, id_type, SHOP, "session") > DECADES - 60
            assert is_far == (mark == "horizons")
        assert_others_follow_the_clock(server)
        assert max(page(server).values()) < (time.time() + 60) * 1e6
        # It still counts as one that has arrived.
        server.value("SELECT scru_raise_mark(now())", SHOP)
        server.restart("immediate")
    set_back(server, dbname=SHOP)
    assert draw_all(server, 1, SHOP)
    assert ahead(server, SCRU128, SHOP) < 2.1


@pytest.mark.parametrize("mark", SEQUENCES)
def test_a_value_seconds_ahead_delays_its_database_only(new_server, mark):
    server = create_shop(new_server(NODE), "other")
    with alice(server, options="-c scru.generator_scope=server") as connection:
        for id_type in TYPES:
            set_ahead(connection, mark, 9)
            with pytest.raises(psycopg.errors.QueryCanceled), connection.transaction():
                connection.execute("SET LOCAL statement_timeout = '200ms'")
                connection.execute(f"SELECT {id_type.generator}")
        assert_others_follow_the_clock(server)


def test_a_horizon_that_changes_within_a_transaction_delays_it(new_server):
    """The transaction has drawn above the value. Its owner takes that back, and draws from shared state."""
    server = create_shop(new_server(NODE), "other")
    with alice(server) as connection:
        set_ahead(connection, "horizons", 9)
    with alice(server) as connection, pytest.raises(psycopg.errors.QueryCanceled), connection.transaction():
        connection.execute("SELECT gen_ulid()")
        set_sequence(connection, "horizons", 1)
        connection.execute("SELECT scru128_horizon()")
        connection.execute("SET LOCAL scru.generator_scope = 'server'; SET LOCAL statement_timeout = '200ms'")
        connection.execute("SELECT gen_ulid()")
    assert_others_follow_the_clock(server)


def test_marks_in_the_past_withdraw_no_reservation(new_server, times):
    """The owner sets a mark and draws, again and again. The clock stands still: others need no further tick."""
    server = create(create_shop(new_server(ALONE, times.before.environment), "other"))
    draw_all(server, 1, "other")
    times.stop(server)
    before, present = draw_all(server, 1, "other"), page(server)
    with alice(server) as connection:
        for number in range(20):
            for id_type in SERVER_WIDE:
                set_ahead(connection, "draws", times.last - time.time() - 5 + number / 10)
                connection.execute(f"SELECT {id_type.generator}")
    assert_later(before, draw_all(server, 1, "other"))
    assert page(server) == present


def test_a_value_that_is_no_time_repeats_nothing(new_server):
    """A negative one counts as none."""
    server = create_shop(new_server(NODE), "other")
    before = {**draw_all(server, 1, "other"), **draw_all(server, 1, SHOP)}
    with server.connect(SHOP) as superuser, alice(server) as connection:
        for sequence in SEQUENCES.values():
            superuser.execute(f"ALTER SEQUENCE {sequence} MINVALUE {-(2**63)}")
        for value in -(2**63), -1, 0:
            for mark in SEQUENCES:
                set_sequence(connection, mark, value)
            after = {t: [connection.execute(f"SELECT {t.generator}::text").fetchone()[0]] for t in SERVER_WIDE}
            assert_later(before, after)
            before = after
            connection.execute("SELECT scru128_horizon()")
    for mark, time_ in page(server).items():
        assert server.value(f"SELECT last_value <= {time_} AND last_value > 1 FROM {SEQUENCES[mark]}", SHOP)
