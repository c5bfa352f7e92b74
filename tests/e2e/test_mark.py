"""The durable high-water mark: no clock, no crash and no loss of power lets a 64-bit ID come a second time."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import psycopg
import pytest

import expect
from clock import Clock
from disk import small_disk
from ends import ENDS, bring_back
from idtypes import SCRU64, SERVER_WIDE, TYPES, ULID, ULIDFLAKE
from load import Load, assert_all_different, background, forever, wait_until_it_waits
from server import Server, give_to_server_user, send_signal, since, wait_until

NODE = {"scru.scru64_node": "5/20"}
BEHIND_MARK = "could not generate a {}: the system clock is behind the high-water mark"
MARK_HINT = "Correct the clock, or wait until it has caught up. If the mark is wrong, a superuser can set it back with scru_set_mark()."
HOUR = 3600


@pytest.fixture(params=["", "scru"], ids=["not preloaded", "preloaded"])
def preload(request) -> dict[str, str]:
    """The settings that preload the library, or not."""
    return {"shared_preload_libraries": request.param}


def create(server: Server) -> Server:
    """The server, with the extension."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    return server


def draw(server: Server, id_type, count: int = 20) -> list[str]:
    """So many IDs of a session of its own, which draws from the server."""
    query = f"SELECT {id_type.generator}::text FROM generate_series(1, {count})"
    with server.connect(options="-c scru.generator_scope=server") as connection:
        return [id_ for (id_,) in connection.execute(query)]


def draw_all(server: Server, count: int = 20) -> dict:
    """So many IDs of both types that are unique by the server's one state."""
    return {id_type: draw(server, id_type, count) for id_type in SERVER_WIDE}


def assert_later(before: dict, after: dict) -> None:
    """No ID came again, and each is greater than all before."""
    for id_type, ids in after.items():
        assert_all_different(before[id_type], ids)
        assert max(before[id_type]) < min(ids)


def assert_behind_mark(server: Server, id_type, seconds: float) -> None:
    """No ID is generated, because the clock is so far behind the mark, give or take what a slow machine takes."""
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
        draw(server, id_type, 1)
    diag = caught.value.diag
    assert diag.message_primary == BEHIND_MARK.format(id_type)
    detail = diag.message_detail.removeprefix("The clock is ")
    behind = float(detail.removesuffix(" s behind the last ID that may already have been generated."))
    assert behind > 10 and abs(behind - seconds) < 120
    assert diag.message_hint == MARK_HINT


def records(server: Server) -> list[str]:
    """The names of the files."""
    return sorted(path.name for path in (server.data / "scru").glob("*"))


def kinds(server: Server) -> list[str]:
    """Of which types and kinds there are files. A mark and the one that it has replaced are one."""
    return sorted({"-".join(name.split("-")[:2]) for name in records(server)})


# ---------------------------------------------------------------------------------------------------------------- the clock


@pytest.mark.parametrize("end", ["fast shutdown", "all killed", "a backend killed"])
def test_a_clock_set_back_across_an_end_repeats_nothing(new_server, preload, clock, end):
    """By an hour: while the server is down, across a kill, and before a crash restart. It mints nothing until it is right."""
    server = create(new_server({**NODE, **preload}, clock.environment))
    before = draw_all(server)
    if end == "a backend killed":
        clock.shift(-HOUR)
        for id_type in SERVER_WIDE:
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="moved back"):
                draw(server, id_type)
        victim = server.connect()
        server.kill_backend(victim.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            victim.execute("SELECT pg_sleep(60)")
    else:
        ENDS[end](server)
        clock.shift(-HOUR)
    bring_back(server)
    for id_type in SERVER_WIDE:
        assert_behind_mark(server, id_type, HOUR)
    clock.shift(0)
    assert_later(before, draw_all(server))


def test_a_small_step_back_under_load_is_waited_for(new_server, clock):
    """IDs run ahead of the clock as far as they may: a further 0.3 s are no error."""
    server = create(new_server(NODE, clock.environment))
    with Load(server.connect, SCRU64) as load:
        load.wait_for(80)
        clock.shift(-0.3)
        load.wait_for(80)
        clock.shift(-1.2)
        load.wait_for(80)
    assert_all_different(load.ids)


def test_what_the_server_shares_never_goes_back(new_server, clock):
    """Whatever the session has set: an hour back is an error, and then each session's IDs go on."""
    server = create(new_server(None, clock.environment))
    scope = "-c scru.generator_scope=server -c scru.on_clock_rollback="
    with server.connect(options=scope + "error") as careful, server.connect(options=scope + "reset") as careless:
        for id_type in TYPES:
            if id_type.is_server_wide:
                continue
            clock.shift(0)
            query = f"SELECT {id_type.generator}::text"
            [(before,)] = careful.execute(query).fetchall()
            clock.shift(-HOUR)
            for session in careful, careless:
                with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
                    session.execute(query)
                assert caught.value.diag.message_hint == (
                    'Correct the clock, or wait until it has caught up, or set scru.generator_scope to "backend".'
                )
            clock.shift(-5)
            [(ridden_out,)] = careless.execute(query).fetchall()
            [(after,)] = careful.execute(query).fetchall()
            assert before < ridden_out < after


@pytest.mark.alone
def test_an_ordinary_restart_costs_little(new_server, preload):
    """The first draw of each type comes within three seconds of the start; at once, if the last ID is known."""
    server = create(new_server({**NODE, **preload}))
    before = draw_all(server)
    server.restart()
    begin = time.monotonic()
    after = draw_all(server, 1)
    assert time.monotonic() - begin < (1.3 if preload["shared_preload_libraries"] else 3)
    assert_later(before, after)


def test_an_orderly_end_leaves_the_last_id(new_server, clock):
    """Of a preloaded server: the next ID needs no wait, however fast the start, and no crash can take it for its own."""
    server = create(new_server({"shared_preload_libraries": "scru"}, clock.environment))
    draw_all(server)
    clock.freeze("2030-01-01 00:00:00.500")
    before = draw_all(server)
    server.stop()
    assert kinds(server) == ["scru64-last", "scru64-mark", "ulidflake-last", "ulidflake-mark"]
    server.start()
    assert kinds(server) == ["scru64-mark", "ulidflake-mark"]
    after = draw_all(server)
    assert_later(before, after)
    server.kill()
    server.start()
    for id_type in SERVER_WIDE:
        with server.connect() as connection, background(connection, f"SELECT {id_type.generator}"):
            wait_until_it_waits(server, connection)
    clock.freeze("2030-01-01 00:00:02.100")
    assert_later(after, draw_all(server))


# ---------------------------------------------------------------------------------------------------------------- promotion


@contextmanager
def promoted(primary: Server, behind: float | None):
    """A standby that has replayed what its primary committed, promoted with a clock that is so far behind, or that stands still
    since before the commits; and the IDs."""
    clock = Clock()
    standby = primary.standby(clock.environment)
    try:
        if behind is None:
            clock.freeze(f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        before = insert(primary)
        standby.wait_until_replayed(primary)
        primary.kill()
        if behind is not None:
            clock.shift(-behind)
        standby.promote()
        yield standby, clock, before
    finally:
        standby.remove()
        clock.remove()


def insert(server: Server, count: int = 50) -> dict:
    """So many IDs of each type, of the server, each committed on its own."""
    ids = {}
    with server.connect(options="-c scru.generator_scope=server") as connection:
        for id_type in TYPES:
            t = id_type.name
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {t}_orders (id {t} PRIMARY KEY DEFAULT {id_type.generator})"
            )
            query = f"INSERT INTO {t}_orders DEFAULT VALUES RETURNING id::text"
            ids[id_type] = [connection.execute(query).fetchone()[0] for _ in range(count)]
    return ids


def test_a_promoted_server_with_a_clock_a_little_behind_waits(new_server, preload):
    """Three seconds: all its IDs are greater than all that were replayed, those of the wide types of the server as well."""
    primary = create(new_server({**NODE, **preload}))
    with promoted(primary, behind=3) as (standby, _, before):
        assert_later(before, insert(standby, 5))


def test_a_promoted_server_with_a_clock_about_ten_seconds_behind(new_server):
    """Whether it waits or refuses is a matter of moments: its IDs are greater than all that were replayed."""
    primary = create(new_server(NODE))
    with promoted(primary, behind=12) as (standby, _, before):
        wait_until(lambda: is_drawn(standby), "the clock has come up to the mark")
        assert_later(before, insert(standby, 5))


def is_drawn(server: Server) -> bool:
    """Draws, unless the clock is too far behind."""
    try:
        draw(server, SCRU64, 1)
    except psycopg.errors.ObjectNotInPrerequisiteState:
        return False
    return True


def test_a_promoted_server_with_a_clock_far_behind_refuses(new_server, preload):
    """And does so after a restart, too, without having drawn before."""
    primary = create(new_server({**NODE, **preload}))
    with promoted(primary, behind=HOUR) as (standby, clock, before):
        if preload["shared_preload_libraries"]:
            wait_until(lambda: len(records(standby)) >= len(TYPES), "the marks of the promotion are kept")
        for end in "all killed", "fast shutdown", None:
            if end:
                ENDS[end](standby)
                standby.start()
            for id_type in TYPES:
                assert_behind_mark(standby, id_type, HOUR)
        clock.shift(0)
        assert_later(before, insert(standby))


def test_a_promoted_server_that_nobody_asked_refuses_after_a_restart(new_server):
    """What it has to exceed is in the WAL that it has replayed, also where the library was not loaded."""
    primary = create(new_server(NODE))
    with promoted(primary, behind=HOUR) as (standby, clock, before):
        with standby.connect() as connection:
            connection.execute("CHECKPOINT")
        standby.kill()
        standby.start()
        for id_type in TYPES:
            assert_behind_mark(standby, id_type, HOUR)
        clock.shift(0)
        assert_later(before, insert(standby))


@contextmanager
def restarted_standby(primary: Server):
    """A standby that has replayed no commit since its own start, and its clock."""
    clock = Clock()
    standby = primary.standby(clock.environment)
    try:
        with primary.connect() as connection:
            connection.execute("CHECKPOINT")
        standby.wait_until_replayed(primary)
        with standby.connect() as connection:
            connection.execute("CHECKPOINT")
        standby.restart()
        assert standby.value("SELECT pg_last_xact_replay_timestamp()") is None
        yield standby, clock
    finally:
        standby.remove()
        clock.remove()


def test_a_standby_that_has_replayed_nothing_since_its_start(new_server, preload):
    """The last commits are those of before its start."""
    primary = create(new_server({**NODE, **preload, "autovacuum": "off"}))
    before = insert(primary)
    with restarted_standby(primary) as (standby, clock):
        primary.kill()
        clock.shift(-HOUR)
        standby.promote()
        for id_type in TYPES:
            assert_behind_mark(standby, id_type, HOUR)
        clock.shift(0)
        assert_later(before, insert(standby))


def test_a_standby_that_has_replayed_a_prepared_transaction_alone(new_server, preload, clock):
    """The IDs in it are from an hour after the last commit, as the clock of the primary has it."""
    settings = {**NODE, **preload, "autovacuum": "off", "max_prepared_transactions": "2"}
    primary = create(new_server(settings, clock.environment))
    with primary.connect() as connection:
        connection.execute("CREATE TABLE kept (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
    with restarted_standby(primary) as (standby, standby_clock):
        clock.shift(HOUR)
        with primary.connect() as connection:
            prepared = "BEGIN; INSERT INTO kept DEFAULT VALUES; PREPARE TRANSACTION 'prepared'"
            connection.execute(prepared)
        standby.wait_until_replayed(primary)
        primary.kill()
        assert standby.value("SELECT pg_last_xact_replay_timestamp()") is None
        standby.promote()
        assert_behind_mark(standby, SCRU64, HOUR)
        standby_clock.shift(HOUR)
        after = draw(standby, SCRU64)
        with standby.connect() as connection:
            connection.execute("COMMIT PREPARED 'prepared'")
        assert standby.value("SELECT id::text FROM kept") < min(after)


def test_a_primary_ahead_of_its_time(new_server, clock):
    """Its clock was 30 s ahead, that of the standby is right: nothing comes again."""
    primary = create(new_server(NODE, clock.environment))
    clock.shift(30)
    with promoted(primary, behind=None) as (standby, standby_clock, before):
        for id_type in SERVER_WIDE:
            assert_behind_mark(standby, id_type, 32)
        standby_clock.shift(HOUR)
        assert_later(before, insert(standby))


# --------------------------------------------------------------------------------------------------------------- the files


def compile_shim(folder: Path) -> Path:
    """The library that keeps what a loss of power would leave."""
    library = folder / "drop_unsynced.so"
    source = Path(__file__).with_name("drop_unsynced.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    library.chmod(0o755)
    return library


@pytest.fixture
def unsynced(clock):
    """A server of whose marks only what was synced is there after `lose_power`."""
    with ExitStack() as stack:
        server = Server({**NODE, "fsync": "on"})
        stack.callback(server.remove)
        shadow = server.folder / "shadow"
        for folder in shadow, shadow / "names", shadow / "inodes":
            folder.mkdir()
            give_to_server_user(folder)
        preload = f"{clock.environment['LD_PRELOAD']}:{compile_shim(server.folder)}"
        server.environment = clock.environment | {
            "LD_PRELOAD": preload,
            "WATCHED": str(server.data / "scru"),
            "SHADOW": str(shadow),
        }
        server.initialise()
        server.start()
        create(server)
        (shadow / "parent").unlink(missing_ok=True)
        yield server, shadow


def lose_power(server: Server, shadow: Path) -> None:
    """Kills the server, and drops what was not synced."""
    server.kill()
    shutil.rmtree(server.data / "scru")
    if not (shadow / "parent").exists():
        return
    (server.data / "scru").mkdir()
    give_to_server_user(server.data / "scru")
    for path in (shadow / "names").iterdir():
        shutil.copy(path, server.data / "scru")
        give_to_server_user(server.data / "scru" / path.name)


def test_a_loss_of_power_repeats_nothing(unsynced, clock):
    """Under load; what was not synced is gone."""
    server, shadow = unsynced
    with ExitStack() as stack:
        loads = [stack.enter_context(Load(server.connect, id_type)) for id_type in SERVER_WIDE]
        for load in loads:
            load.wait_for(150)
        lose_power(server, shadow)
        for load in loads:
            load.wait()
    clock.shift(-HOUR)
    server.start()
    for id_type in SERVER_WIDE:
        assert_behind_mark(server, id_type, HOUR)
    clock.shift(0)
    assert_later({load.id_type: load.ids for load in loads}, draw_all(server))


def test_a_directory_that_was_left_unsynced_outlives_a_loss_of_power(unsynced, clock):
    """A process has made it, and was killed before it could sync that."""
    server, shadow = unsynced
    (server.data / "scru").mkdir()
    give_to_server_user(server.data / "scru")
    draw_all(server)
    lose_power(server, shadow)
    clock.shift(-HOUR)
    server.start()
    for id_type in SERVER_WIDE:
        assert_behind_mark(server, id_type, HOUR)


@contextmanager
def suspended_writer(server: Server, shadow: Path):
    """A session that is suspended while it writes a record: its draw, and how it resumes."""
    (shadow / "stop").touch()
    with ExitStack() as stack:
        session = stack.enter_context(server.connect())
        pid = session.info.backend_pid
        stack.callback(send_signal, pid, signal.SIGCONT)
        stat = Path(f"/proc/{pid}/stat")
        drawing = stack.enter_context(background(session, "SELECT gen_scru64()::text"))
        wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "the writer is suspended")
        assert any(name.startswith("tmp-") for name in records(server))
        yield drawing, lambda: send_signal(pid, signal.SIGCONT)
    assert not any(name.startswith("tmp-") for name in records(server))


def test_a_writer_that_was_suspended_takes_nothing_back(unsynced, clock):
    """While it writes; others make ten further reservations. Then it goes on, and the server is killed."""
    server, shadow = unsynced
    draw_all(server)
    clock.shift(2)
    with suspended_writer(server, shadow) as (drawing, resume):
        before = {SCRU64: []}
        for second in range(4, 24, 2):
            clock.shift(second)
            before[SCRU64] += draw(server, SCRU64, 5)
        resume()
        before[SCRU64].append(drawing.result(timeout=10).fetchone()[0])
    lose_power(server, shadow)
    clock.shift(-HOUR)
    server.start()
    assert_behind_mark(server, SCRU64, HOUR + 23)
    clock.shift(24)
    assert_later(before, {SCRU64: draw(server, SCRU64)})


def test_a_writer_that_was_suspended_puts_nothing_back(unsynced, clock):
    """What it was writing lies above the mark that is set back meanwhile. A restart finds nothing of it."""
    server, shadow = unsynced
    draw_all(server)
    clock.shift(HOUR)
    with suspended_writer(server, shadow) as (drawing, resume):
        clock.shift(0)
        with server.connect() as connection:
            connection.execute("SELECT scru_set_mark('scru64', clock_timestamp())")
        before = {SCRU64: draw(server, SCRU64)}
        resume()
        before[SCRU64].append(drawing.result(timeout=60).fetchone()[0])
    assert before[SCRU64] == sorted(before[SCRU64])
    lose_power(server, shadow)
    server.start()
    assert_later(before, {SCRU64: draw(server, SCRU64)})


@pytest.mark.parametrize("damage", ["content", "name", "empty"])
def test_a_damaged_file_mints_nothing(new_server, damage):
    server = create(new_server(NODE))
    draw_all(server)
    server.stop()
    *_, path = sorted((server.data / "scru").glob("scru64-mark-*"))
    if damage == "name":
        path = path.rename(path.with_name(path.name.replace("mark-1", "mark-0")))
    else:
        path.write_text(path.read_text().replace("5", "6") if damage == "content" else "")
    server.start()
    with expect.error(
        "XX001",
        f'file "scru/{path.name}" is damaged',
        "Generating a scru64 requires a durable high-water mark.",
        "Remove the file, and use scru_set_mark() to set the mark above all generated IDs.",
    ):
        draw(server, SCRU64)
    assert draw(server, ULIDFLAKE), "the other type's file is sound"
    path.unlink()
    assert draw(server, SCRU64)


def test_an_unreadable_directory_mints_nothing(new_server):
    server = create(new_server(NODE))
    draw_all(server)
    server.stop()
    folder = server.data / "scru"
    folder.chmod(0)
    server.start()
    for id_type in SERVER_WIDE:
        with expect.error(
            "58030",
            'could not read directory "scru": Permission denied',
            f"Generating a {id_type} requires a durable high-water mark.",
            'Check the directory "scru" in the data directory, and its permissions.',
        ):
            draw(server, id_type)
    folder.chmod(0o700)
    assert draw_all(server)


def test_a_full_disk_mints_nothing(clock):
    """What is reserved is still given out; then it is an error, until there is room."""
    with small_disk(1) as disk, Server(NODE, clock.environment) as server:
        (server.data / "scru").symlink_to(disk.path)
        create(server)
        before = draw_all(server)
        filler = disk.path / "filler"
        with pytest.raises(OSError, match="No space left"), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        filler.rename(disk.path / ".filler")
        clock.shift(5)
        for id_type in SERVER_WIDE:
            with pytest.raises(psycopg.errors.DiskFull) as caught:
                draw(server, id_type)
            assert caught.value.diag.message_primary.endswith("No space left on device")
            assert caught.value.diag.message_hint == "Check free disk space."
        (disk.path / ".filler").unlink()
        assert_later(before, draw_all(server))
        server.stop()


def test_leftovers_of_a_killed_writer_are_removed(new_server):
    server = create(new_server(NODE))
    draw_all(server)
    server.kill()
    # The first of a process that is gone, the second of one that is there.
    (server.data / "scru/tmp-2147483646-whatever").write_text("half")
    (server.data / "scru/tmp-1-whatever").write_text("half")
    server.start()
    draw_all(server)
    assert kinds(server) == ["scru64-mark", "tmp-1", "ulidflake-mark"]


def test_a_copy_of_the_data_has_the_mark(new_server, clock):
    """By pg_basebackup: a server of its own that goes on from there, with a clock that is behind, mints nothing."""
    server = create(new_server(NODE, clock.environment))
    draw_all(server)
    standby = server.standby()
    try:
        assert kinds(standby) == ["scru64-mark", "ulidflake-mark"]
        standby.stop()
        (standby.data / "standby.signal").unlink()
        clock.shift(-HOUR)
        standby.start()
        for id_type in SERVER_WIDE:
            assert_behind_mark(standby, id_type, HOUR)
    finally:
        standby.remove()


def test_a_copy_that_is_made_while_a_mark_is_replaced_has_one(new_server, clock):
    """pg_basebackup lists the files first. Whoever wrote the next mark meanwhile has left one of them."""
    server = create(new_server(NODE, clock.environment))
    draw_all(server)
    for minute in 1, 2:
        clock.freeze(f"2030-01-01 00:0{minute}:00")
        draw_all(server, 1)
    listed = set(records(server))
    clock.freeze("2030-01-01 00:03:00")
    draw_all(server, 1)
    server.stop()
    new = set(records(server)) - listed
    assert {name.split("-")[0] for name in new} == {"scru64", "ulidflake"}
    for name in new:
        (server.data / "scru" / name).unlink()
    clock.shift(0)
    server.start()
    for id_type in SERVER_WIDE:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="behind the high-water mark"):
            draw(server, id_type)


def test_pg_rewind_takes_the_source_s_mark(new_server, clock):
    """A primary that comes back as a standby of the server that took over: what it reserved itself concerns nobody."""
    primary = create(new_server({**NODE, "wal_log_hints": "on", "wal_keep_size": "1GB"}, clock.environment))
    draw_all(primary)
    standby = primary.standby()
    try:
        standby.promote()
        clock.shift(HOUR)
        insert(standby, 1)
        insert(primary, 1)
        primary.stop()
        assert records(primary) != records(standby)
        source = f"host={standby.folder} port={standby.port} user=postgres dbname=postgres"
        primary.run(
            "pg_rewind", "--no-sync", "--target-pgdata", primary.data, "--source-server", source, as_server=True
        )
        assert records(primary) == records(standby)
    finally:
        standby.remove()


def test_point_in_time_recovery_goes_on_above_the_last_commit(new_server, clock):
    """From an archive, with a clock that is behind; also after a crash before the first draw."""
    server = create(new_server(NODE))
    archive = server.folder / "archive"
    archive.mkdir()
    give_to_server_user(archive)
    server.restart(archive_mode="on", archive_command=f"cp %p {archive}/%f")
    restored = Server(server.settings, clock.environment)
    restored.settings |= {"unix_socket_directories": str(restored.folder), "restore_command": f"cp {archive}/%f %p"}
    try:
        options = ["--checkpoint=fast", "--wal-method=stream", "--no-sync"]
        server.run("pg_basebackup", *options, "--pgdata", restored.data, as_server=True)
        before = insert(server)
        server.value("SELECT pg_switch_wal()::text")
        server.stop()
        (restored.data / "recovery.signal").touch()
        clock.shift(-HOUR)
        restored.start()
        wait_until(lambda: not restored.value("SELECT pg_is_in_recovery()"), "the server is restored")
        for _ in range(2):
            for id_type in TYPES:
                assert_behind_mark(restored, id_type, HOUR)
            restored.kill()
            restored.start()
        clock.shift(0)
        assert_later(before, insert(restored))
    finally:
        restored.remove()


# ---------------------------------------------------------------------------------------------------- nodes and the way out


def test_marks_are_kept_by_node(new_server, clock):
    """A node that has never been used begins at the clock; one that shares IDs with another respects its mark."""
    server = create(new_server({**NODE, "scru.ulidflake_scalability": "7"}, clock.environment))
    clock.shift(HOUR)
    draw_all(server)
    clock.shift(0)
    for scru64_node, number in ("5/20", "7"), ("0/4", "-1"), ("11/21", "7"):
        server.restart(**{"scru.scru64_node": scru64_node, "scru.ulidflake_scalability": number})
        for id_type in SERVER_WIDE:
            assert_behind_mark(server, id_type, HOUR)
    server.restart(**{"scru.scru64_node": "6/20", "scru.ulidflake_scalability": "8"})
    assert draw_all(server)


def test_two_nodes_in_turn_repeat_nothing(new_server):
    """Each has a mark of its own, and each switch costs no more than a tick."""
    server = create(new_server(NODE))
    ids = []
    for node in "5/20", "6/20", "5/20", "0/4", "5/20":
        server.reload(**{"scru.scru64_node": node})
        ids += draw(server, SCRU64, 3)
    assert ids == sorted(set(ids))
    assert len({name.split("-")[2] for name in records(server) if name.startswith("scru64-mark-")}) == 3


def test_a_mark_is_set_back(new_server, clock, preload):
    """By a superuser alone, after a bad reading of the clock; then IDs go on by the clock, also after a restart."""
    server = create(new_server({**NODE, **preload}, clock.environment))
    clock.shift(365 * 24 * HOUR)
    far = draw_all(server)
    clock.shift(0)
    server.restart("immediate")
    with server.connect() as connection:
        connection.execute("CREATE ROLE plain LOGIN")
        for id_type in SERVER_WIDE:
            assert_behind_mark(server, id_type, 365 * 24 * HOUR)
            set_mark = f"SELECT scru_set_mark('{id_type}', clock_timestamp())"
            with server.connect(user="plain") as plain, pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(set_mark)
            connection.execute(set_mark)
        after = draw_all(server)
        for id_type in SERVER_WIDE:
            assert max(after[id_type]) < min(far[id_type])
    server.restart("immediate")
    assert_later(after, draw_all(server))


def test_a_mark_that_cannot_be_set(connection):
    with expect.error("22023", 'unknown ID type "uuid"'):
        connection.execute("SELECT scru_set_mark('uuid', now())")
    for time_ in "infinity", "-infinity":
        with expect.error("22023", "the high-water mark must be a finite time"):
            connection.execute("SELECT scru_set_mark('scru64', %s)", [time_])


# ------------------------------------------------------------------------------------------------------------------- see it


def test_generators_are_seen(new_server, preload):
    """By members of pg_monitor, and by nobody else."""
    server = create(new_server({**NODE, **preload, "scru.ulidflake_scalability": "3"}))
    ids = {id_type: draw(server, id_type)[-1] for id_type in TYPES}
    with server.connect() as connection:
        connection.execute("CREATE ROLE plain LOGIN; CREATE ROLE monitor LOGIN IN ROLE pg_monitor")
    columns = "type, scope, node, last_id, preloaded"
    with server.connect(user="plain") as plain, pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute("SELECT * FROM scru_generators()")
    preloaded = preload["shared_preload_libraries"] != ""
    with server.connect(user="monitor") as monitor:
        assert monitor.execute(f"SELECT {columns} FROM scru_generators() ORDER BY type").fetchall() == [
            ("scru128", "backend", None, None, preloaded),
            ("scru160", "backend", None, None, preloaded),
            ("scru64", "server", "5/20", ids[SCRU64], preloaded),
            ("ulid", "backend", None, ids[ULID], preloaded),
            ("ulidflake", "server", "3", ids[ULIDFLAKE], preloaded),
        ]
        facts = """
            SELECT last_time <= clock_timestamp() + interval '1 s' AND last_time > clock_timestamp() - interval '1 min'
                AND abs(extract(epoch FROM last_time - clock_timestamp() - ahead)) < 5
                AND (reserved_until > last_time) IS NOT DISTINCT FROM CASE WHEN node IS NOT NULL THEN true END
            FROM scru_generators()
        """
        assert monitor.execute(facts).fetchall() == [(True,)] * 5
        monitor.execute("SET scru.generator_scope = server")
        assert monitor.execute("SELECT DISTINCT scope FROM scru_generators()").fetchall() == [("server",)]


@since(17, "a name for an extension's wait event")
def test_waits_have_a_name(new_server):
    server = create(new_server(NODE))
    with server.connect() as connection, background(connection, forever(SCRU64)):
        query = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
        wait_until(lambda: server.value(query) == "ScruClock", "it waits for the clock by name")


# -------------------------------------------------------------------------------------------------------- where IDs are drawn


def test_read_only_transactions_and_parallel_workers_reserve(new_server):
    """A worker is a generator of its own: IDs of one statement are different, and all between those before and after it. In
    which order their rows are stored is not promised."""
    server = create(new_server({"scru.scru64_node": "5/8", "max_parallel_workers_per_gather": "4"}))
    with server.connect(options="-c scru.generator_scope=server") as connection:
        connection.execute("CREATE TABLE numbers AS SELECT n FROM generate_series(1, 20000) AS n")
        connection.execute("ALTER TABLE numbers SET (parallel_workers = 4); ANALYZE numbers")
        connection.execute("SET default_transaction_read_only = on")
        for setting in "parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size":
            connection.execute(f"SET {setting} = 0")
        for id_type in TYPES:
            query = f"SELECT {id_type.generator}::text FROM numbers WHERE n > 0"
            plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN (VERBOSE) {query}"))
            assert "Workers Planned: 4" in plan and plan.index("Gather") < plan.index(
                id_type.generator.removesuffix("()")
            )
            [(before,)] = connection.execute(f"SELECT {id_type.generator}::text").fetchall()
            ids = [id_ for (id_,) in connection.execute(query)]
            [(after,)] = connection.execute(f"SELECT {id_type.generator}::text").fetchall()
            assert len(set(ids)) == 20_000
            assert before < min(ids) and max(ids) < after
