"""A server restored by pgBackRest or Barman, from a backup under load, continues above the marks of its rows."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from idtypes import SERVER_WIDE
from load import Load
from marks import HOUR, NODE, assert_behind_mark, assert_later, create, draw, insert
from programs import PATH, Program, path_of
from server import BINDIR, SERVER_USER, Server, as_server_user, give_to_server_user, long, wait_until

pytestmark = long


def run(*arguments: object) -> None:
    """Runs a tool as the server's user."""
    command = as_server_user("env", f"PATH={PATH}:{BINDIR}", *map(str, arguments))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/")
    assert done.returncode == 0, f"{arguments} ended with {done.returncode}:\n{done.stdout}"


def pgbackrest(server: Server, directory: Path, data: Path) -> Iterator[None]:
    """Prepares pgBackRest; takes a backup; stops the server, and restores it into `data`."""
    paths = "".join(f"{each}-path={directory}\n" for each in ("log", "lock", "repo1"))
    (directory / "conf").write_text(
        f"[global]\n{paths}start-fast=y\n"
        f"[main]\npg1-path={server.data}\npg1-socket-path={server.directory}\npg1-user=postgres\n"
    )
    tool = [path_of("pgbackrest"), f"--config={directory}/conf", "--stanza=main"]
    server.restart(archive_mode="on", archive_command=" ".join([*tool, "archive-push", "%p"]))
    run(*tool, "stanza-create")
    yield
    run(*tool, "--type=full", "backup")
    yield
    # The server archives what is left when it stops.
    server.stop()
    run(*tool, f"--pg1-path={data}", "restore")
    yield


def barman(server: Server, directory: Path, data: Path) -> Iterator[None]:
    """As `pgbackrest`. Barman receives the WAL while the server runs."""
    conninfo = f"host={server.directory} port={server.port} user=postgres dbname=postgres"
    (directory / "conf").write_text(
        f"[barman]\nbarman_user = {SERVER_USER or getpass.getuser()}\nbarman_home = {directory}\n"
        f"barman_lock_directory = {directory}\nlog_file = {directory}/log\n"
        f"[main]\ndescription = main\nconninfo = {conninfo}\nstreaming_conninfo = {conninfo}\n"
        f"backup_method = postgres\nstreaming_archiver = on\nslot_name = barman\ncreate_slot = auto\n"
        f"path_prefix = {BINDIR}\n"
    )
    tool = [path_of("barman"), "-c", directory / "conf"]
    switch = [*tool, "switch-wal", "--force", "--archive", "--archive-timeout", 60, "main"]
    receiver = Program(directory / "receiver", *tool, "receive-wal", "main")
    run(*tool, "receive-wal", "--create-slot", "main")
    receiver.start()
    wait_until(lambda: server.rows("SELECT FROM pg_stat_replication"), "Barman receives WAL")
    run(*switch)
    yield
    run(*tool, "backup", "--immediate-checkpoint", "main")
    yield
    run(*switch)
    receiver.stop()
    server.stop()
    run(*tool, "recover", "main", "latest", data)
    yield


@pytest.mark.parametrize("tool", [pgbackrest, barman], ids=lambda tool: tool.__name__)
def test_a_restored_backup_continues_above_its_rows(new_server, clock, request, tool):
    name = tool.__name__
    assert path_of(name), f"{name} is not installed (Debian: {name})"
    server = create(new_server({**NODE, "wal_level": "replica", "max_wal_senders": "5"}))
    successor = Server(NODE, clock.environment)
    request.addfinalizer(successor.remove)
    directory = server.directory / name
    directory.mkdir()
    give_to_server_user(directory)
    steps = tool(server, directory, successor.data)
    next(steps)
    insert(server, 1)
    with ExitStack() as stack:
        query = "INSERT INTO {}_orders DEFAULT VALUES RETURNING id::text"
        loads = [stack.enter_context(Load(server.connect, each, query=query.format(each))) for each in SERVER_WIDE]
        for load in loads:
            load.wait_for(50)
        next(steps)
        for load in loads:
            load.wait_for(50)
    next(steps)
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
