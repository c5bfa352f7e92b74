"""Generators under a clock that moves: back a little, back a lot, ahead, and not at all."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

import expect
from idtypes import SCRU128

HOUR = timedelta(hours=1)
# What may pass between two readings of the clock in a test.
SLACK = timedelta(seconds=30)


class Drawing:
    """A session that draws IDs and keeps the last."""

    def __init__(self, connection):
        self.connection = connection

    def draw(self, count: int = 1000) -> list[str]:
        """So many IDs, each greater than the one before."""
        query = f"SELECT {SCRU128.generator}::text FROM generate_series(1, {count})"
        ids = [id_ for (id_,) in self.connection.execute(query)]
        assert ids == sorted(set(ids)) and len(ids) == count
        return ids

    def time(self, id_: str):
        """The time in an ID."""
        return self.connection.execute("SELECT scru128_timestamp(%s)", [id_]).fetchone()[0]

    def counters(self, id_: str) -> tuple:
        """counter_hi and counter_lo of an ID."""
        query = "SELECT scru128_counter_hi(id), scru128_counter_lo(id) FROM CAST(%s AS scru128) AS id"
        return self.connection.execute(query, [id_]).fetchone()

    def now(self):
        """The server's clock."""
        return self.connection.execute("SELECT clock_timestamp()").fetchone()[0]


@pytest.fixture
def drawing(new_server, clock):
    """A session on a server whose clock the test moves."""
    server = new_server({}, clock.environment)
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        yield Drawing(connection)


def test_ids_follow_the_clock(drawing, clock):
    real = drawing.now()
    clock.shift(3600)
    assert HOUR <= drawing.now() - real < HOUR + SLACK
    [ahead] = drawing.draw(1)
    assert HOUR - SLACK < drawing.time(ahead) - real < HOUR + SLACK


@pytest.mark.parametrize("seconds", [0.5, 5, 9])
@pytest.mark.parametrize("on_rollback", ["reset", "error"])
def test_a_small_step_back_is_ridden_out(drawing, clock, seconds, on_rollback):
    """The IDs go on from the last, with its timestamp, until the clock has caught up."""
    drawing.connection.execute(f"SET scru.on_clock_rollback = {on_rollback}")
    before = drawing.draw()
    clock.shift(-seconds)
    assert drawing.now() < drawing.time(before[-1])
    after = drawing.draw()
    assert before[-1] < after[0]
    assert drawing.time(after[-1]) == drawing.time(before[-1])
    clock.shift(0)
    assert after[-1] < drawing.draw()[0]


def test_a_large_step_back_starts_afresh(drawing, clock):
    before = drawing.draw()
    clock.shift(-3600)
    after = drawing.draw()
    step = drawing.time(after[0]) - drawing.time(before[-1])
    assert -HOUR <= step < -HOUR + SLACK
    # As another generator would: with counters of its own.
    assert drawing.counters(after[0])[0] != drawing.counters(before[-1])[0]


def test_a_large_step_back_is_an_error_where_asked_for(drawing, clock):
    drawing.connection.execute("SET scru.on_clock_rollback = error")
    before = drawing.draw()
    clock.shift(-3600)
    for _ in range(2):
        with pytest.raises(psycopg.Error) as caught:
            drawing.draw(1)
        diag = caught.value.diag
        assert diag.sqlstate == expect.CLOCK_MOVED_BACK
        assert diag.message_primary == "could not generate a scru128: the system clock has moved back"
        behind = float(diag.message_detail.removeprefix("The clock is ").removesuffix(" s behind the last ID."))
        assert 3600 - SLACK.total_seconds() < behind <= 3600
        assert diag.message_hint == (
            "Correct the clock, or wait until it has caught up. To start afresh where it is more than 10 s behind,"
            ' set scru.on_clock_rollback to "reset".'
        )
    # What the error says helps: the clock corrected, or the setting changed.
    clock.shift(0)
    corrected = drawing.draw()
    assert before[-1] < corrected[0]
    clock.shift(-3600)
    drawing.connection.execute("SET scru.on_clock_rollback = reset")
    assert drawing.draw()[0] < corrected[0]


def test_a_step_ahead_and_back(drawing, clock):
    """After a step ahead, the real time is a step back."""
    clock.shift(3600)
    ahead = drawing.draw()
    clock.shift(0)
    back = drawing.draw()
    assert back[0] < ahead[0]
    assert drawing.time(ahead[-1]) - drawing.time(back[0]) > HOUR - SLACK


def test_time_that_stands_still(drawing, clock):
    """One timestamp for all IDs: only the counter tells them apart, and counts each."""
    clock.freeze("2031-02-03 04:05:06")
    ids = drawing.draw(100_000)
    assert {str(drawing.time(id_)) for id_ in (ids[0], ids[-1])} == {"2031-02-03 04:05:06+00:00"}
    (first_hi, first_lo), (last_hi, last_lo) = drawing.counters(ids[0]), drawing.counters(ids[-1])
    assert (last_hi << 24 | last_lo) - (first_hi << 24 | first_lo) == 99_999


def test_a_clock_before_all_ids(drawing, clock):
    """There is no ID of the time before 1970-01-01 00:00:00.001: an error, not a wrong ID."""
    clock.freeze("1970-01-01 00:00:00")
    with expect.error(
        "22008",
        "timestamp out of range for type scru128",
        "The system clock reads a time for which there are no IDs.",
        "Correct the clock.",
    ):
        drawing.connection.execute("SELECT gen_scru128()")
