"""A test that gives up waiting shows the last lines of the programs that it has started."""

from __future__ import annotations

import pytest

from programs import Program
from server import Server, last_lines, on_the_oldest, wait_until

pytestmark = on_the_oldest("tests the tests, which do not depend on the server")


def test_a_timeout_shows_the_last_lines_of_a_program(tmp_path):
    """Also of one that has ended by itself, as opposed to one that the test has ended."""
    program = Program(tmp_path / "log", "sh", "-c", "seq 100; echo cannot lock >&2; exit 1")
    program.start()
    wait_until(lambda: not program.is_running, "the program has ended")
    with pytest.raises(TimeoutError) as caught:
        wait_until(lambda: False, "it answers", seconds=0)
    message = str(caught.value)
    assert message.startswith("timed out after 0 s, waiting until it answers\n")
    assert f"--- {tmp_path}/log\n87\n" in message and "\n100\ncannot lock" in message
    program.stop()
    assert "cannot lock" not in last_lines()


def test_a_timeout_shows_the_last_lines_of_a_server():
    """Until the server is removed."""
    with Server() as server:
        server.value("SELECT pg_reload_conf()")
        wait_until(lambda: "reloading configuration files" in server.log_text(), "the server logs the reload")
        assert f"--- {server.log}\n" in last_lines() and "reloading configuration files" in last_lines()
    assert str(server.directory) not in last_lines()
