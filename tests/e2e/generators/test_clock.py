"""Generators under a clock that steps back, steps ahead or stops.

The generators of scru64 and ulidflake, which all sessions share, must not reset: some steps are errors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest

import expect
from clock import Clock
from idtypes import SCRU64, SCRU128, TYPES, ULID, ULIDFLAKE, each_server_wide_type, each_type, of_types
from load import background, forever, wait_until_it_waits
from marks import HOUR, create, draw_all
from server import Server

of_a_session = of_types([id_type for id_type in TYPES if not id_type.is_server_wide])
"""The types that are unique by their random bits: their generators may reset."""

ENTROPY = "scru.ulidflake_entropy_bits"


class Session:
    """A session that generates IDs of a type. All times are seconds since the test has begun, at 0."""

    def __init__(self, server: Server, clock: Clock, begin: int, connection: psycopg.Connection, id_type):
        self.server, self.clock, self.begin, self.id_type = server, clock, begin, id_type
        self.connection, self.execute = connection, connection.execute
        # A tick that stands still may have room for a single ID of the server.
        self.many = 1 if id_type.is_server_wide else 1000

    def at(self, seconds: float) -> None:
        """Stops the clock at a time."""
        self.clock.freeze(self.begin + seconds)

    def draw(self, count: int = 1) -> list[str]:
        """Returns `count` new IDs. Asserts that each is greater than the one before."""
        query = f"SELECT {self.id_type.generator}::text FROM generate_series(1, {count})"
        ids = [id_ for (id_,) in self.execute(query)]
        assert ids == sorted(set(ids)) and len(ids) == count
        return ids

    def time(self, id_: str) -> float:
        """Returns the time of an ID."""
        return self.id_type.unix_milliseconds(self.id_type.value(id_)) / 1000 - self.begin

    def use_up(self) -> None:
        """Generates all IDs that the clock permits: in few steps, and then the last ones. A cancel ends each wait."""
        for bits in "8", "1":
            self.server.reload(**{ENTROPY: bits})
            with background(self.connection, forever(self.id_type)):
                wait_until_it_waits(self.server, self.connection)

    def moved_back(self, behind: float, remedy: str):
        """Expects that generation fails, because the clock is behind the last ID."""
        message = f"could not generate a {self.id_type}: the system clock has moved back"
        detail = f"The clock is {round(behind, 3):.8g} s behind the last ID."
        hint = f"Correct the clock, or wait until it has caught up{remedy}"
        return expect.error(expect.CLOCK_MOVED_BACK, message, detail, hint)


@pytest.fixture(scope="module")
def clocked() -> Iterator[tuple[Server, Clock, Iterator[int]]]:
    """A server for all tests, its clock, and the time at which the next test begins: a day after the one before, above
    all IDs. scru64 has four bits for its counter, and each ulidflake of a millisecond is one greater than the last."""
    with Clock() as clock, Server({"scru.scru64_node": "5/20", ENTROPY: "1"}, clock.environment) as server:
        draw_all(create(server), 1)
        yield server, clock, count(1_893_456_000, 24 * HOUR)
        assert server.crashes() == []


@pytest.fixture
def session(clocked, id_type) -> Iterator[Session]:
    """A session of the test."""
    server, clock, begins = clocked
    with server.connect() as connection:
        session = Session(server, clock, next(begins), connection, id_type)
        session.at(0)
        yield session


@each_type
def test_ids_follow_the_clock(session):
    """Those of a session also follow it back."""
    before = session.draw(session.many)
    session.at(HOUR)
    [ahead] = session.draw()
    assert before[-1] < ahead
    assert 0 <= HOUR - session.time(ahead) < session.id_type.tick / 1000
    if not session.id_type.is_server_wide:
        session.at(0)
        [back] = session.draw()
        assert back < ahead and session.time(back) == 0


CONTINUES = [(id_type, 0.5, "error") for id_type in TYPES if id_type.is_server_wide]
CONTINUES += [(t, 9, on_rollback) for t in TYPES if not t.is_server_wide for on_rollback in ("reset", "error")]


@pytest.mark.parametrize(("id_type", "back", "on_rollback"), CONTINUES, ids=str)
def test_ids_continue_after_a_small_step_back(session, back, on_rollback):
    """Those of a session have the timestamp of the last one until the clock has caught up."""
    session.execute(f"SET scru.on_clock_rollback = {on_rollback}")
    session.at(9)
    before = session.draw(session.many)
    session.at(9 - back)
    after = session.draw(session.many)
    session.at(10)
    assert before[-1] < after[0] and after[-1] < session.draw()[0]
    assert session.id_type.is_server_wide or session.time(after[-1]) == session.time(before[-1])


@of_a_session
def test_a_large_step_back_is_an_error_if_on_clock_rollback_is_error(session):
    """Both remedies in the HINT work: correcting the clock and changing the setting."""
    session.execute("SET scru.on_clock_rollback = error")
    session.at(HOUR)
    before = session.draw(session.many)
    session.at(0)
    for _ in range(2):
        with session.moved_back(HOUR, ', or set scru.on_clock_rollback to "reset".'):
            session.draw()
    session.at(HOUR)
    assert before[-1] < session.draw()[0]
    session.at(0)
    session.execute("SET scru.on_clock_rollback = reset")
    assert session.draw()[0] < before[0]


@pytest.mark.parametrize("back", [5, HOUR])
@each_server_wide_type
def test_a_large_step_back_is_an_error(session, back):
    """For every session, whatever its settings. 1.3 s behind, generation waits, and 0.7 s behind, it continues."""
    session.at(HOUR)
    [before] = session.draw()
    remedy = ". If the last ID has a wrong time, a superuser can set the mark back with scru_set_mark()."
    for seconds in back, 2.3:
        session.at(HOUR - seconds)
        for setting in "on_clock_rollback=reset", "on_clock_rollback=error", "ulidflake_on_overflow=wait":
            with (
                session.server.connect(options=f"-c scru.{setting}") as other,
                session.moved_back(session.time(before) - HOUR + seconds, remedy),
            ):
                other.execute(f"SELECT {session.id_type.generator}")
    session.at(HOUR - 1.3)
    with background(session.connection, f"SELECT {session.id_type.generator}"):
        wait_until_it_waits(session.server, session.connection)
    session.at(HOUR - 0.7)
    [caught_up] = session.draw()
    session.at(HOUR + 2)
    assert before < caught_up < session.draw()[0]


@of_a_session
def test_the_shared_state_never_goes_back(session):
    """A clock an hour behind is an error, whatever on_clock_rollback is. IDs continue if the clock is 5 s behind."""
    session.execute("SET scru.generator_scope = server")
    session.at(HOUR)
    ids = session.draw()
    for on_rollback in "error", "reset":
        session.execute(f"SET scru.on_clock_rollback = {on_rollback}")
        session.at(0)
        with session.moved_back(HOUR, ', or set scru.generator_scope to "session".'):
            session.draw()
        session.at(HOUR - 5)
        ids += session.draw()
    assert ids == sorted(set(ids))


@of_types([SCRU128, ULID])
def test_time_that_stands_still(session):
    """All IDs have one timestamp. The bits below it, without the entropy of a scru128, count the IDs."""
    ids = session.draw(100_000)
    assert session.time(ids[0]) == session.time(ids[-1]) == 0
    first, last = (session.id_type.value(id_) >> (32 if session.id_type is SCRU128 else 0) for id_ in (ids[0], ids[-1]))
    assert last - first == 99_999


@each_server_wide_type
def test_time_that_stands_still_ends_in_a_wait(session):
    """scru64 runs ahead of the clock by up to a second, and ulidflake uses its millisecond up. The next tick ends the
    wait."""
    [before] = session.draw()
    session.use_up()
    tick = session.id_type.tick / 1000
    with background(session.connection, f"SELECT {session.id_type.generator}::text") as drawn:
        wait_until_it_waits(session.server, session.connection)
        session.at(tick)
        [(after,)] = drawn.result(timeout=60).fetchall()
    ahead = round(session.time(after) - tick, 3)
    assert before < after and (0.7 < ahead <= 1 if session.id_type is SCRU64 else ahead == 0)


@of_types([ULIDFLAKE])
def test_the_bits_of_entropy_are_those_of_the_setting(session):
    """With one bit, each ID of a millisecond is one greater than the last one."""
    first, second = (session.id_type.value(id_) for _ in range(2) for id_ in session.draw())
    assert second == first + 1


@of_types([ULIDFLAKE])
def test_an_overflow_is_an_error_if_ulidflake_on_overflow_is_error(session):
    session.draw()
    session.use_up()
    session.execute("SET scru.ulidflake_on_overflow = error")
    with expect.error(
        expect.EXHAUSTED,
        "could not generate a ulidflake: its random part overflows",
        "There is no greater ID within this tick.",
        "Try again: the next tick begins with a new random number.",
    ):
        session.draw()
    session.at(0.001)
    assert session.draw()


CANCELED = (expect.CANCELED, "canceling statement due to user request")
CANCELS = {"pg_cancel_backend": CANCELED, "Ctrl-C": CANCELED}


@pytest.mark.parametrize("end", [*CANCELS, "pg_terminate_backend"])
@of_types([SCRU64])
def test_a_cancel_ends_the_wait(session, end):
    """The next ID of another session follows those of the one that waited, which has used all ticks up to a second
    ahead."""
    [before] = session.draw()
    with session.server.connect() as waiter, background(waiter, forever(SCRU64)) as waiting:
        wait_until_it_waits(session.server, waiter)
        if end == "Ctrl-C":
            waiter.cancel()
        else:
            session.execute(f"SELECT {end}({waiter.info.backend_pid})")
        with expect.error(*CANCELS[end]) if end in CANCELS else pytest.raises(psycopg.OperationalError):
            waiting.result(timeout=60)
    session.at(0.256)
    [after] = session.draw()
    assert before < after and session.time(after) > 1


@of_types([SCRU64])
def test_a_waiting_session_blocks_no_other_session(session):
    """It locks only its virtual transaction ID. Others generate IDs of other types, and wait only for the clock."""
    with session.server.connect() as waiter, background(waiter, forever(SCRU64)):
        wait_until_it_waits(session.server, waiter)
        locks = f"SELECT DISTINCT locktype FROM pg_locks WHERE pid = {waiter.info.backend_pid}"
        assert session.server.rows(locks) == [("virtualxid",)]
        for id_type in TYPES:
            if id_type is not SCRU64:
                session.execute(f"SELECT {id_type.generator}")
        # The waiting session generates most of the IDs, but not all.
        session.clock.shift(session.begin + 2 - time.time())
        ids = [id_ for _ in range(5) for id_ in session.draw()]
    assert ids == sorted(set(ids))


@each_type
def test_a_clock_before_all_ids(session):
    """A clock at the first tick, which has no IDs, causes an error, not a wrong ID."""
    session.clock.freeze("2024-01-01 00:00:00" if session.id_type is ULIDFLAKE else "1970-01-01 00:00:00")
    with expect.error(
        "22008",
        f"timestamp out of range for type {session.id_type}",
        "The system clock reads a time for which there are no IDs.",
        "Correct the clock.",
    ):
        session.draw()
