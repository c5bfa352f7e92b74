"""scru64 and ulidflake under a clock that steps or stops. To avoid duplicates, some steps are errors."""

from __future__ import annotations

import psycopg
import pytest

import expect
from idtypes import SCRU64, SERVER_WIDE, ULIDFLAKE, each_server_wide_type
from load import Load, background, forever, wait_until_it_waits
from server import oldest_and_newest, wait_until

pytestmark = oldest_and_newest("the generators are in crates/ids, which does not depend on the server")

# An upper bound on the time between two readings of the clock in a test, in seconds.
SLACK = 30


@pytest.fixture
def server(new_server, clock):
    """A server whose clock the test controls, and whose generators have finished their initial wait.

    Within a millisecond, each ulidflake is one greater than the one before, so that a few IDs rarely overflow it.
    """
    server = new_server({"scru.ulidflake_entropy_bits": "1"}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        for id_type in SERVER_WIDE:
            connection.execute(f"SELECT {id_type.generator}")
    return server


def draw(connection, id_type, count: int = 1000) -> list[str]:
    """Returns `count` new IDs. Asserts that each is greater than the one before."""
    ids = [id_ for (id_,) in connection.execute(f"SELECT {id_type.generator}::text FROM generate_series(1, {count})")]
    assert ids == sorted(set(ids)) and len(ids) == count
    return ids


def seconds(connection, id_type, id_: str) -> float:
    """Returns the time of an ID, in seconds since 1970."""
    query = f"SELECT extract(epoch FROM {id_type.name}_timestamp(%s))::float8"
    return connection.execute(query, [id_]).fetchone()[0]


def now(connection) -> float:
    """Returns the time of the server's clock, in seconds since 1970."""
    return connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()[0]


@each_server_wide_type
def test_ids_follow_the_clock_ahead(server, clock, id_type):
    with server.connect() as connection:
        before = draw(connection, id_type)
        clock.shift(3600)
        after = draw(connection, id_type)
        step = seconds(connection, id_type, after[0]) - seconds(connection, id_type, before[-1])
    assert before[-1] < after[0]
    assert 3600 - 2 < step < 3600 + SLACK


@each_server_wide_type
def test_ids_continue_after_a_small_step_back(server, clock, id_type):
    """Under load, IDs keep increasing. If necessary, generation waits until the clock has caught up."""
    with Load(server.connect, id_type) as load:
        load.wait_for(200)
        clock.shift(-0.5)
        load.wait_for(2000)
        clock.shift(0)
        load.wait_for(200)
    assert len(load.ids) == len(set(load.ids))


@pytest.mark.parametrize("back", [5, 3600])
@each_server_wide_type
def test_a_large_step_back_is_an_error(server, clock, id_type, back):
    """Every session gets the error, whatever its settings, until the clock has caught up."""
    with server.connect() as connection, server.connect() as other:
        for setting in "scru.on_clock_rollback = reset", "scru.ulidflake_on_overflow = wait":
            other.execute(f"SET {setting}")
        clock.freeze("2030-01-01 01:00:00")
        before = draw(connection, id_type, 20)
        clock.freeze({5: "2030-01-01 00:59:55", 3600: "2030-01-01 00:00:00"}[back])
        for session in connection, other, connection:
            with pytest.raises(psycopg.Error) as caught:
                draw(session, id_type, 1)
            assert_tells_how_far(caught.value.diag, id_type, seconds(connection, id_type, before[-1]) - now(connection))
        # 2.3 s behind is an error. At 1.3 s behind, generation waits. At 0.7 s behind, it continues.
        clock.freeze("2030-01-01 00:59:57.700")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            draw(connection, id_type, 1)
        clock.freeze("2030-01-01 00:59:58.700")
        with background(connection, f"SELECT {id_type.generator}"):
            wait_until_it_waits(server, connection)
        clock.freeze("2030-01-01 00:59:59.300")
        caught_up = draw(connection, id_type, 20)
        clock.freeze("2030-01-01 01:00:02")
        after = draw(other, id_type, 20)
    assert before[-1] < caught_up[0] and caught_up[-1] < after[0]


def assert_tells_how_far(diag, id_type, behind: float) -> None:
    """Asserts that the error reports the seconds `behind`, and what to do."""
    assert diag.sqlstate == expect.CLOCK_MOVED_BACK
    assert diag.message_primary == f"could not generate a {id_type.name}: the system clock has moved back"
    told = float(diag.message_detail.removeprefix("The clock is ").removesuffix(" s behind the last ID."))
    assert told == pytest.approx(behind, abs=0.001)
    assert diag.message_hint == (
        "Correct the clock, or wait until it has caught up. If the last ID has a wrong time, a superuser can set the"
        " mark back with scru_set_mark()."
    )


def test_time_that_stands_still_for_scru64(server, clock):
    """scru64 runs ahead of the clock by up to a second, and then waits. A cancel or the next tick ends the wait."""
    server.reload(**{"scru.scru64_node": "5/20"})
    with server.connect() as connection:
        clock.freeze("2030-01-01 00:00:00")
        before = draw(connection, SCRU64, 20)
        assert 0 < seconds(connection, SCRU64, before[-1]) - now(connection) <= 1
        with background(connection, forever(SCRU64)):
            wait_until_it_waits(server, connection)
        with background(connection, "SELECT gen_scru64()::text") as drawn:
            wait_until_it_waits(server, connection)
            clock.freeze("2030-01-01 00:00:00.256")
            [(after,)] = drawn.result(timeout=60).fetchall()
        assert before[-1] < after
        assert 0.7 < seconds(connection, SCRU64, after) - now(connection) <= 1


def test_a_new_node_takes_effect_at_once(server, clock):
    """A new node takes effect even in a tick with room: the rest of the tick may now belong to another server."""
    clock.freeze("2030-01-01 00:00:00")
    ids = []
    with server.connect() as connection:
        for node in 5, 42, 5:
            server.reload(**{"scru.scru64_node": f"{node}/8"})
            wait_until(
                lambda node=node: connection.execute("SHOW scru.scru64_node").fetchone() == (f"{node}/8",),
                "the session has the new node",
            )
            ids += draw(connection, SCRU64, 1)
            assert (SCRU64.value(ids[-1]) & 0xFFFFFF) >> 16 == node
    assert ids == sorted(set(ids))


def test_time_that_stands_still_for_ulidflake(server, clock):
    """ulidflake uses its millisecond up, and then waits. A cancel or the next millisecond ends the wait."""
    with server.connect() as connection:
        clock.freeze("2030-01-01 00:00:00")
        before = draw(connection, ULIDFLAKE, 20)
        with background(connection, forever(ULIDFLAKE)):
            wait_until_it_waits(server, connection)
        with background(connection, "SELECT gen_ulidflake()::text") as drawn:
            wait_until_it_waits(server, connection)
            assert not drawn.done()
            clock.freeze("2030-01-01 00:00:00.001")
            [(after,)] = drawn.result(timeout=60).fetchall()
        assert before[-1] < after
        assert seconds(connection, ULIDFLAKE, before[-1]) < seconds(connection, ULIDFLAKE, after) == now(connection)


def test_a_clock_out_of_range(server, clock):
    """A clock at a time that has no IDs causes an error, not a wrong ID. ulidflakes start in 2024."""
    with server.connect() as connection:
        for time, id_type in ("2023-12-31 23:59:59", ULIDFLAKE), ("1970-01-01 00:00:00", SCRU64):
            clock.freeze(time)
            with expect.error(
                "22008",
                f"timestamp out of range for type {id_type.name}",
                "The system clock reads a time for which there are no IDs.",
                "Correct the clock.",
            ):
                connection.execute(f"SELECT {id_type.generator}")
