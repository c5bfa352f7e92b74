"""scru_set_mark() and scru_raise_mark(): what they change, whom they delay, and who may call them."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

import expect
from faults import Pauses
from idtypes import SCRU64, SERVER_WIDE, TYPES
from load import Load, assert_all_different, background, wait_until_it_waits
from marks import ALONE, HOUR, NODE, assert_behind_mark, assert_later, carried, create, draw_all, page, set_back
from server import on_every_version, parent_and_state, send_signal, wait_until
from test_mark import outlook
from test_mark import unsynced as unsynced  # a fixture

pytestmark = on_every_version

each_function = pytest.mark.parametrize("function", ["scru_set_mark", "scru_raise_mark"])


def test_a_mark_is_set_back(new_server, clock):
    """IDs then follow the clock again, even after a crash. A far mark refuses all types that are drawn from shared
    state, of any node."""
    server = create(new_server(NODE, clock.environment))
    clock.shift(365 * 24 * HOUR)
    far = draw_all(server)
    clock.shift(0)
    server.restart("immediate", **{"scru.scru64_node": "6/20"})
    for id_type in TYPES:
        assert_behind_mark(server, id_type, 365 * 24 * HOUR)
    set_back(server)
    after = draw_all(server)
    for id_type in SERVER_WIDE:
        assert max(after[id_type]) < min(far[id_type])
    server.restart("immediate")
    assert_later(after, draw_all(server))


def test_scru_set_mark_only_lowers(new_server):
    """A time in the future does not raise the marks. Nothing that a right clock has reached is lowered."""
    server = create(new_server(NODE))
    draw_all(server)
    server.value("SELECT scru128_horizon() IS NOT NULL")
    before = page(server), carried(server), carried(server, "horizons")
    for time in "clock_timestamp() + interval '1 h'", "'2025-01-01'":
        set_back(server, time)
        assert (page(server), carried(server), carried(server, "horizons")) == before


def test_the_first_ids_after_a_mark_is_set_back_wait(new_server, clock):
    """The mark is then at the last end of 256 ms that is up to 2 s ahead of the clock, which stands still. A scru64
    waits until that is 1 s ahead. Sessions that have waited for a mark 8 s ahead notice the change within 2 s."""
    server = create(new_server(ALONE, clock.environment))
    draw_all(server, 1)
    clock.freeze("2030-01-01 00:00:08")
    draw_all(server, 1)
    clock.freeze("2030-01-01 00:00:00")
    server.restart()
    with ExitStack() as stack:
        waiting = []
        for id_type in SERVER_WIDE:
            connection = stack.enter_context(server.connect())
            waiting.append(stack.enter_context(background(connection, f"SELECT {id_type.generator}")))
            wait_until_it_waits(server, connection)
        set_back(server, "'2026-01-01'")
        ahead = timedelta(seconds=1.792)
        expected = [("wait", ahead - timedelta(seconds=1), ahead), ("wait", ahead, ahead)]
        assert outlook(server, "draw, wait, mark - clock_timestamp()") == expected
        clock.freeze("2030-01-01 00:00:02")
        for drawing in waiting:
            drawing.result(timeout=60)


def test_a_suspended_draw_does_not_undo_scru_set_mark(new_server, clock):
    """The session has read a clock of an hour ahead. While it is suspended, others generate IDs, and the clock is
    corrected."""
    with Pauses() as pauses:
        preload = f"{pauses.environment['LD_PRELOAD']}:{clock.environment['LD_PRELOAD']}"
        server = create(new_server(NODE, {**clock.environment, **pauses.environment, "LD_PRELOAD": preload}))
        before = draw_all(server)
        with server.connect() as connection:
            pid = connection.info.backend_pid
            # A transaction draws at or above the clock of its first ID.
            connection.execute("BEGIN; SELECT gen_scru64()")
            clock.shift(HOUR)
            pauses.begin(pid)
            with background(connection, "SELECT gen_scru64()::text") as drawing:
                pauses.wait_until_reached(pid)
                far = draw_all(server)
                clock.shift(0)
                set_back(server)
                pauses.end(pid)
                [(id_,)] = drawing.result(timeout=60).fetchall()
        after = draw_all(server)
        assert_later({**before, SCRU64: [*before[SCRU64], id_]}, after)
        assert all(max(after[id_type]) < far[id_type][0] for id_type in SERVER_WIDE)
        assert server.value(f"SELECT scru64_timestamp('{id_}') < clock_timestamp() + interval '1 min'")


@each_function
def test_a_suspended_scru_set_mark_blocks_no_session(unsynced, function):
    """The session is suspended in the function, while it waits for the log to be flushed. Others generate IDs."""
    server, hang = unsynced.server, unsynced.hang
    draw_all(server)
    with ExitStack() as stack:
        setting, committing = (stack.enter_context(server.connect()) for _ in range(2))
        committing.execute("CREATE TABLE rows (n int)")
        hang.touch()
        stack.enter_context(background(committing, "INSERT INTO rows VALUES (1)"))
        # It flushes the log, or waits for the process that does.
        wait_until_it_waits(server, committing, "WALSync", "WALWrite")
        marking = stack.enter_context(background(setting, f"SELECT {function}(clock_timestamp())"))
        wait_until_it_waits(server, setting, "WALWrite")
        pid = setting.info.backend_pid
        stack.callback(send_signal, pid, signal.SIGCONT)
        send_signal(pid, signal.SIGSTOP)
        wait_until(lambda: parent_and_state(Path(f"/proc/{pid}/stat"))[1] == "T", "the session is suspended")
        hang.unlink()
        with Load(server.connect, SCRU64) as load:
            load.wait_for(100)
            assert not marking.done()
            send_signal(pid, signal.SIGCONT)
            marking.result(timeout=60)
            load.wait_for(100)
        assert_all_different(load.ids)


def test_scru_raise_mark_only_raises(new_server, clock):
    """New IDs of all types are above the time, also after a crash. An earlier time changes nothing."""
    server = create(new_server(NODE, clock.environment))
    before = draw_all(server)
    with server.connect() as connection:
        for time in "clock_timestamp() + interval '1 h'", "clock_timestamp()", "timestamptz '2025-01-01'":
            connection.execute(f"SELECT scru_raise_mark({time})")
    above = "SELECT gen_ulid() > ulid_upper(clock_timestamp() + interval '58 min')"
    for _ in range(2):
        for id_type in TYPES:
            assert_behind_mark(server, id_type, HOUR)
        assert server.value(above), "a private generator"
        server.kill()
        server.start()
    clock.shift(HOUR + 1)
    after = draw_all(server)
    assert_later(before, after)
    for id_type, ids in after.items():
        assert server.value(f"SELECT {id_type}_timestamp('{min(ids)}') > clock_timestamp() - interval '1 min'")


def test_scru_raise_mark_to_the_present_delays_by_a_tick_at_most(new_server, clock):
    """The clock stands still 256 ms above the mark: a longer wait would be endless. New IDs are above all of that
    time."""
    server = create(new_server(ALONE, clock.environment))
    before = draw_all(server, 1)
    clock.freeze("2030-01-01 00:00:11.500")
    server.psql("postgres", b"SELECT scru_raise_mark(clock_timestamp())")
    clock.freeze("2030-01-01 00:00:11.756")
    after = draw_all(server, 1)
    assert_later(before, after)
    for id_type, [id_] in after.items():
        assert server.value(f"SELECT '{id_}' > {id_type}_upper('2030-01-01 00:00:11.500')::text")


@each_function
def test_who_may_change_the_mark(new_server, function):
    """A superuser, and whoever a superuser grants it to. Not on a standby, and not to a time that is none."""
    server = create(new_server(NODE))
    change = f"SELECT {function}(clock_timestamp())"
    with server.connect() as connection:
        connection.execute("CREATE ROLE plain LOGIN; CREATE ROLE trusted LOGIN")
        connection.execute(f"GRANT EXECUTE ON FUNCTION {function} TO trusted")
        for time in "infinity", "-infinity":
            with expect.error("22023", "the high-water mark must be a finite time"):
                connection.execute(f"SELECT {function}('{time}')")
        assert connection.execute(f"SELECT {function}(NULL) IS NULL").fetchone() == (True,)
    with server.connect(user="plain") as plain, expect.error("42501", f"permission denied for function {function}"):
        plain.execute(change)
    with server.connect(user="trusted") as trusted:
        trusted.execute(change)
    message = f"cannot execute {function}() during recovery"
    hint = "Set the mark on the primary, or after the promotion."
    with server.standby() as standby, standby.connect() as connection:
        with expect.error(expect.READ_ONLY, message, None, hint):
            connection.execute(change)
