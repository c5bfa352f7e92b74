"""Generators under a clock that steps back, steps ahead or stops.

The generators of scru64 and ulidflake, which all sessions share, must not reset: some steps are errors.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest

import expect
from idtypes import SCRU64, SCRU128, SERVER_WIDE, TYPES, ULID, ULIDFLAKE, each_server_wide_type, each_type, of_types
from load import Load, background, forever, wait_until_it_waits
from server import wait_until

# ------------------------------------------------------------------------------------------------------------ each type

HOUR = timedelta(hours=1)
# An upper bound on the time between two readings of the clock in a test.
SLACK = timedelta(seconds=30)


class Drawing:
    """A session that generates IDs of a type, on a server whose clock the test controls."""

    def __init__(self, server, connection, id_type):
        self.server = server
        self.connection = connection
        self.id_type = id_type

    def draw(self, count: int = 1000) -> list[str]:
        """Returns `count` new IDs. Asserts that each is greater than the one before."""
        query = f"SELECT {self.id_type.generator}::text FROM generate_series(1, {count})"
        ids = [id_ for (id_,) in self.connection.execute(query)]
        assert ids == sorted(set(ids)) and len(ids) == count
        return ids

    def time(self, id_: str):
        """Returns the time of an ID."""
        return self.connection.execute(f"SELECT {self.id_type.name}_timestamp(%s)", [id_]).fetchone()[0]

    def value(self, id_: str) -> int:
        """Returns the value of an ID as an integer."""
        [(binary,)] = self.connection.execute(f"SELECT %s::{self.id_type.name}::bytea", [id_])
        return int.from_bytes(binary, "big")

    def is_active(self) -> bool:
        """Returns whether the session is executing a query."""
        query = f"SELECT state = 'active' FROM pg_stat_activity WHERE pid = {self.connection.info.backend_pid}"
        return self.server.value(query)

    def now(self):
        """Returns the time of the server's clock."""
        return self.connection.execute("SELECT clock_timestamp()").fetchone()[0]


@pytest.fixture
def drawing(new_server, clock, id_type):
    """A session on a server whose clock the test controls."""
    server = new_server({}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        yield Drawing(server, connection, id_type)


# Unique by their random bits: their generators may reset.
of_a_session = of_types([id_type for id_type in TYPES if not id_type.is_server_wide])
# Unique by the shared state of the server, which must not reset.
of_the_server = of_types([id_type for id_type in TYPES if id_type.is_server_wide])


@each_type
def test_ids_follow_the_clock(drawing, clock):
    drawing.draw()
    real = drawing.now()
    clock.shift(3600)
    assert HOUR <= drawing.now() - real < HOUR + SLACK
    [ahead] = drawing.draw(1)
    assert HOUR - SLACK < drawing.time(ahead) - real < HOUR + SLACK


@each_type
def test_ids_continue_after_a_step_back_of_half_a_second(drawing, clock):
    """IDs of every type keep increasing.

    A new shared state may start ahead of the clock by a second, its maximum. The test waits for the clock first.
    """
    wait_until(lambda: drawing.time(drawing.draw(1)[0]) <= drawing.now(), "IDs are no longer ahead of the clock")
    before = drawing.draw()
    clock.shift(-0.5)
    after = drawing.draw()
    assert before[-1] < after[0]
    clock.shift(0)
    assert after[-1] < drawing.draw()[0]


@of_a_session
@pytest.mark.parametrize("on_rollback", ["reset", "error"])
def test_ids_continue_after_a_step_back_of_nine_seconds(drawing, clock, on_rollback):
    """The IDs continue after the last one, with its timestamp, until the clock has caught up."""
    drawing.connection.execute(f"SET scru.on_clock_rollback = {on_rollback}")
    clock.freeze("2030-01-01 01:00:09")
    before = drawing.draw()
    clock.freeze("2030-01-01 01:00:00")
    after = drawing.draw()
    assert before[-1] < after[0]
    assert drawing.time(after[-1]) == drawing.time(before[-1])
    clock.freeze("2030-01-01 01:00:10")
    assert after[-1] < drawing.draw()[0]


@of_a_session
def test_a_large_step_back_restarts_at_the_clock(drawing, clock):
    before = drawing.draw()
    clock.shift(-3600)
    after = drawing.draw()
    step = drawing.time(after[0]) - drawing.time(before[-1])
    assert -HOUR <= step < -HOUR + SLACK


def assert_moved_back(drawing, seconds: float, hint: str) -> None:
    """Asserts that generation fails because the clock has moved back by `seconds`, less the time since then."""
    with pytest.raises(psycopg.Error) as caught:
        drawing.draw(1)
    diag = caught.value.diag
    assert diag.sqlstate == expect.CLOCK_MOVED_BACK
    assert diag.message_primary == f"could not generate a {drawing.id_type}: the system clock has moved back"
    behind = float(diag.message_detail.removeprefix("The clock is ").removesuffix(" s behind the last ID."))
    # The last ID of a shared state may be up to a second ahead of the clock.
    assert seconds - SLACK.total_seconds() < behind <= seconds + drawing.id_type.is_server_wide
    assert diag.message_hint == hint


@of_a_session
def test_a_large_step_back_is_an_error_if_on_clock_rollback_is_error(drawing, clock):
    drawing.connection.execute("SET scru.on_clock_rollback = error")
    before = drawing.draw()
    clock.shift(-3600)
    hint = 'Correct the clock, or wait until it has caught up, or set scru.on_clock_rollback to "reset".'
    for _ in range(2):
        assert_moved_back(drawing, 3600, hint)
    # Both remedies in the HINT work: correcting the clock and changing the setting.
    clock.shift(0)
    corrected = drawing.draw()
    assert before[-1] < corrected[0]
    clock.shift(-3600)
    drawing.connection.execute("SET scru.on_clock_rollback = reset")
    assert drawing.draw()[0] < corrected[0]


@of_the_server
@pytest.mark.parametrize("seconds", [60, 3600])
def test_a_step_back_is_an_error_for_the_whole_server(drawing, clock, seconds):
    """The settings of the session do not matter, because no ID may be generated twice."""
    before = drawing.draw()
    clock.shift(-seconds)
    hint = (
        "Correct the clock, or wait until it has caught up. If the last ID has a wrong time, a superuser can set the"
        " mark back with scru_set_mark()."
    )
    for on_rollback in "reset", "error":
        drawing.connection.execute(f"SET scru.on_clock_rollback = {on_rollback}")
        assert_moved_back(drawing, seconds, hint)
    clock.shift(0)
    assert before[-1] < drawing.draw()[0]


@of_a_session
def test_a_step_ahead_and_back(drawing, clock):
    """After a step ahead, the return to the real time is a step back."""
    clock.shift(3600)
    ahead = drawing.draw()
    clock.shift(0)
    back = drawing.draw()
    assert back[0] < ahead[0]
    assert drawing.time(ahead[-1]) - drawing.time(back[0]) > HOUR - SLACK


@of_types([SCRU128, ULID])
def test_time_that_stands_still(drawing, clock):
    """All IDs have one timestamp. The bits below it, without the entropy of a scru128, count the IDs."""
    clock.freeze("2031-02-03 04:05:06")
    ids = drawing.draw(100_000)
    assert {str(drawing.time(id_)) for id_ in (ids[0], ids[-1])} == {"2031-02-03 04:05:06+00:00"}
    entropy = 32 if drawing.id_type is SCRU128 else 0
    assert (drawing.value(ids[-1]) >> entropy) - (drawing.value(ids[0]) >> entropy) == 99_999


@of_types([ULIDFLAKE])
def test_a_wait_for_the_clock_can_be_cancelled(drawing, clock):
    """When a millisecond has no room for another ID, generation waits for the clock. A cancel ends the wait."""
    drawing.draw()
    clock.freeze("2031-02-03 04:05:06")
    with ThreadPoolExecutor() as pool:
        # A millisecond has a million values, and each ID takes at least one of them.
        drawn = pool.submit(drawing.draw, 2_000_000)
        wait_until(drawing.is_active, "the session is active")
        drawing.connection.cancel()
        with pytest.raises(psycopg.errors.QueryCanceled):
            drawn.result(timeout=60)
    clock.freeze("2031-02-03 04:05:07")
    drawing.draw(1)


@each_type
def test_a_clock_before_all_ids(drawing, clock):
    """A clock at the first tick, which has no IDs, causes an error, not a wrong ID."""
    clock.freeze("2024-01-01 00:00:00" if drawing.id_type is ULIDFLAKE else "1970-01-01 00:00:00")
    with expect.error(
        "22008",
        f"timestamp out of range for type {drawing.id_type}",
        "The system clock reads a time for which there are no IDs.",
        "Correct the clock.",
    ):
        drawing.draw(1)


# ------------------------------------------------------------------------------------------- the generators of a server


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
    assert 3600 - 2 < step < 3600 + SLACK.total_seconds()


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
    # A millisecond of ulidflake may start near its end.
    count = 1 if id_type is ULIDFLAKE else 20
    with server.connect() as connection, server.connect() as other:
        for setting in "scru.on_clock_rollback = reset", "scru.ulidflake_on_overflow = wait":
            other.execute(f"SET {setting}")
        clock.freeze("2030-01-01 01:00:00")
        before = draw(connection, id_type, count)
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
        caught_up = draw(connection, id_type, count)
        clock.freeze("2030-01-01 01:00:02")
        after = draw(other, id_type, count)
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
        before = draw(connection, ULIDFLAKE, 1)
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
