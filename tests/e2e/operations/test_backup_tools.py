"""pgBackRest and Barman, from Debian: a server restored by them continues above the marks of its rows.

The backup is taken under load. The restored server has a clock that is behind.
"""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from clock import Clock
from idtypes import SERVER_WIDE
from load import Load
from marks import HOUR, NODE, assert_behind_mark, assert_later, create, draw, insert
from programs import PATH, Program, path_of
from server import BINDIR, SERVER_USER, Server, as_server_user, give_to_server_user, long, wait_until

pytestmark = long


class Tool:
    """A backup tool with its repository in a directory of its own."""

    name: str
    archive: dict[str, str] = {}

    def __init__(self, server: Server):
        self.server = server
        self.directory = server.directory / self.name
        self.directory.mkdir(exist_ok=True)
        give_to_server_user(self.directory)

    def run(self, *arguments: object) -> str:
        """Runs the tool as the server's user, and returns its output."""
        command = as_server_user("env", f"PATH={PATH}:{BINDIR}", *map(str, arguments))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/")
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout


class PgBackRest(Tool):
    name = "pgbackrest"

    def options(self) -> list[str]:
        return [f"--config={self.directory}/conf", "--stanza=main"]

    def prepare(self) -> None:
        paths = "".join(f"{each}-path={self.directory}\n" for each in ("log", "lock", "repo1"))
        (self.directory / "conf").write_text(
            f"[global]\n{paths}start-fast=y\n"
            f"[main]\npg1-path={self.server.data}\npg1-socket-path={self.server.directory}\npg1-user=postgres\n"
        )
        push = " ".join([path_of(self.name), *self.options(), "archive-push", "%p"])
        self.server.restart(archive_mode="on", archive_command=push)
        self.run(self.name, *self.options(), "stanza-create")

    def back_up(self) -> None:
        self.run(self.name, *self.options(), "--type=full", "backup")

    def archive_all(self) -> None:
        """Archives all WAL: the server archives what is left when it stops."""
        self.server.stop()

    def restore(self, data: Path) -> None:
        self.run(self.name, *self.options(), f"--pg1-path={data}", "restore")


class Barman(Tool):
    name = "barman"

    def prepare(self) -> None:
        conninfo = f"host={self.server.directory} port={self.server.port} user=postgres dbname=postgres"
        (self.directory / "conf").write_text(
            f"[barman]\nbarman_user = {SERVER_USER or getpass.getuser()}\nbarman_home = {self.directory}\n"
            f"barman_lock_directory = {self.directory}\nlog_file = {self.directory}/log\n"
            f"[main]\ndescription = main\nconninfo = {conninfo}\nstreaming_conninfo = {conninfo}\n"
            f"backup_method = postgres\nstreaming_archiver = on\nslot_name = barman\ncreate_slot = auto\n"
            f"path_prefix = {BINDIR}\n"
        )
        self.receiver = Program(self.directory / "receiver", *self.barman("receive-wal"))
        self.run(*self.barman("receive-wal", "--create-slot"))
        self.receiver.start()
        wait_until(lambda: self.server.rows("SELECT FROM pg_stat_replication"), "Barman receives WAL")
        self.switch()

    def barman(self, command: str, *options: object) -> list[object]:
        return [path_of(self.name), "-c", self.directory / "conf", command, *options, "main"]

    def switch(self) -> None:
        """Lets Barman receive a whole segment."""
        self.run(*self.barman("switch-wal", "--force", "--archive", "--archive-timeout", 60))

    def back_up(self) -> None:
        self.run(*self.barman("backup", "--immediate-checkpoint"))

    def archive_all(self) -> None:
        self.switch()
        self.receiver.stop()
        self.server.stop()

    def restore(self, data: Path) -> None:
        self.run(*self.barman("recover"), "latest", data)


@pytest.fixture
def successor(clock: Clock) -> Iterator[Server]:
    """A server without data, whose clock is a test's."""
    server = Server(NODE, clock.environment)
    yield server
    server.remove()


@pytest.mark.parametrize("kind", [PgBackRest, Barman], ids=lambda kind: kind.name)
def test_a_restored_backup_continues_above_its_rows(new_server, successor, clock, kind):
    assert path_of(kind.name), f"{kind.name} is not installed (Debian: {kind.name})"
    server = create(new_server({**NODE, "wal_level": "replica", "max_wal_senders": "5"}))
    tool = kind(server)
    tool.prepare()
    insert(server, 1)
    with ExitStack() as stack:
        query = "INSERT INTO {}_orders DEFAULT VALUES RETURNING id::text"
        loads = [stack.enter_context(Load(server.connect, each, query=query.format(each))) for each in SERVER_WIDE]
        for load in loads:
            load.wait_for(50)
        tool.back_up()
        for load in loads:
            load.wait_for(50)
    tool.archive_all()
    tool.restore(successor.data)
    clock.shift(-HOUR)
    successor.start()
    wait_until(lambda: not successor.value("SELECT pg_is_in_recovery()"), "the recovery has ended")
    for id_type in SERVER_WIDE:
        assert_behind_mark(successor, id_type, HOUR)
    clock.shift(0)
    for id_type in SERVER_WIDE:
        rows = [id_ for (id_,) in successor.rows(f"SELECT id::text FROM {id_type}_orders")]
        assert len(rows) > 50
        assert_later({id_type: rows}, {id_type: draw(successor, id_type)})
