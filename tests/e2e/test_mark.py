"""The durable high-water mark: no clock, crash or loss of power causes duplicate 64-bit IDs."""

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
from server import Server, give_to_server_user, oldest_and_newest, send_signal, since, wait_until

pytestmark = oldest_and_newest(
    "the mark depends on the version only in how src/server.rs finds WAL records: in one way up to 18"
)

NODE = {"scru.scru64_node": "5/20"}
BEHIND_MARK = "could not generate a {}: the system clock is behind the high-water mark"
MARK_HINT = (
    "Correct the clock, or wait until it has caught up."
    " If the mark is wrong, a superuser can set it back with scru_set_mark()."
)
HOUR = 3600


@pytest.fixture(params=["", "scru"], ids=["not preloaded", "preloaded"])
def preload(request) -> dict[str, str]:
    """The settings of a server that preloads the library, and of one that does not."""
    return {"shared_preload_libraries": request.param}


def create(server: Server) -> Server:
    """Creates the extension, and returns the server."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    return server


def draw(server: Server, id_type, count: int = 20) -> list[str]:
    """Returns `count` IDs of a new session, which generates them from the shared state of the server."""
    query = f"SELECT {id_type.generator}::text FROM generate_series(1, {count})"
    with server.connect(options="-c scru.generator_scope=server") as connection:
        return [id_ for (id_,) in connection.execute(query)]


def draw_all(server: Server, count: int = 20) -> dict:
    """Returns `count` IDs of each of scru64 and ulidflake."""
    return {id_type: draw(server, id_type, count) for id_type in SERVER_WIDE}


def assert_later(before: dict, after: dict) -> None:
    """Asserts that no ID occurs twice, and that the new IDs are greater than all earlier ones."""
    for id_type, ids in after.items():
        assert_all_different(before[id_type], ids)
        assert max(before[id_type]) < min(ids)


def assert_behind_mark(server: Server, id_type, seconds: float) -> None:
    """Asserts that generation fails because the clock is about `seconds` behind the mark. Tolerates a slow machine."""
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
        draw(server, id_type, 1)
    diag = caught.value.diag
    assert diag.message_primary == BEHIND_MARK.format(id_type)
    detail = diag.message_detail.removeprefix("The clock is ")
    behind = float(detail.removesuffix(" s behind the last ID that may already have been generated."))
    assert behind > 10 and abs(behind - seconds) < 120
    assert diag.message_hint == MARK_HINT


def records(server: Server) -> list[str]:
    """Returns the names of the files in the directory `scru`."""
    return sorted(path.name for path in (server.data / "scru").glob("*"))


def kinds(server: Server) -> list[str]:
    """Returns the types and kinds of the files, such as "scru64-mark", without repetition."""
    return sorted({"-".join(name.split("-")[:2]) for name in records(server)})


# ------------------------------------------------------------------------------------------------------------ the clock


@pytest.mark.parametrize("end", ["fast shutdown", "all killed", "a backend killed"])
def test_a_clock_set_back_during_a_shutdown_or_crash_repeats_nothing(new_server, preload, clock, end):
    """The clock is set back by an hour during a shutdown or a crash. Generation fails until the clock is right."""
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


def test_generation_waits_after_a_small_step_back_under_load(new_server, clock):
    """Under load, IDs run ahead of the clock up to their limit. Setting the clock back a little is then no error."""
    server = create(new_server(NODE, clock.environment))
    with Load(server.connect, SCRU64) as load:
        load.wait_for(80)
        clock.shift(-0.3)
        load.wait_for(80)
        clock.shift(-1.2)
        load.wait_for(80)
    assert_all_different(load.ids)


def test_the_shared_state_never_goes_back(new_server, clock):
    """A clock an hour behind is an error, whatever on_clock_rollback is. IDs continue if the clock is 5 s behind."""
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
            [(continued,)] = careless.execute(query).fetchall()
            [(after,)] = careful.execute(query).fetchall()
            assert before < continued < after


@pytest.mark.alone
def test_ids_are_generated_soon_after_a_restart(new_server, preload):
    """The first IDs are generated within 3 s of a restart, or 1.3 s if the shutdown has stored the last IDs."""
    server = create(new_server({**NODE, **preload}))
    before = draw_all(server)
    server.restart()
    begin = time.monotonic()
    after = draw_all(server, 1)
    assert time.monotonic() - begin < (1.3 if preload["shared_preload_libraries"] else 3)
    assert_later(before, after)


def test_a_shutdown_stores_the_last_id(new_server, clock):
    """The shutdown of a server with the library preloaded stores the last IDs. After a start, generation does not wait.

    The start removes the stored IDs, so that they are not used after a later crash.
    """
    # Consecutive ulidflakes differ by 1. Otherwise they might use up the millisecond in which the clock stands still.
    settings = {"shared_preload_libraries": "scru", "scru.ulidflake_entropy_bits": "1"}
    server = create(new_server(settings, clock.environment))
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


# ------------------------------------------------------------------------------------------------------------ promotion


@contextmanager
def promoted(primary: Server, behind: float | None):
    """Promotes a standby that has replayed all commits. Yields the standby, its clock and the committed IDs.

    The clock of the standby is `behind` seconds behind. If `behind` is `None`, the clock has stood still since before
    the commits.
    """
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
    """Inserts `count` IDs of each type, each in its own transaction, and returns them."""
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
    """With generator_scope = server, IDs of all types are greater than all replayed ones. The clock is 3 s behind."""
    primary = create(new_server({**NODE, **preload}))
    with promoted(primary, behind=3) as (standby, _, before):
        assert_later(before, insert(standby, 5))


def test_a_promoted_server_with_a_clock_about_ten_seconds_behind_waits_or_refuses(new_server):
    """The clock is near the limit between a wait and an error. Either way, IDs are greater than all replayed ones."""
    primary = create(new_server(NODE))
    with promoted(primary, behind=12) as (standby, _, before):
        wait_until(lambda: can_generate(standby), "the clock is near enough to the mark")
        assert_later(before, insert(standby, 5))


def can_generate(server: Server) -> bool:
    """Returns whether the server generates an ID; false if its clock is too far behind."""
    try:
        draw(server, SCRU64, 1)
    except psycopg.errors.ObjectNotInPrerequisiteState:
        return False
    return True


def test_a_promoted_server_with_a_clock_far_behind_refuses(new_server, preload):
    """Generation also fails after restarts, even if no ID was generated since the promotion."""
    primary = create(new_server({**NODE, **preload}))
    with promoted(primary, behind=HOUR) as (standby, clock, before):
        if preload["shared_preload_libraries"]:
            wait_until(lambda: len(records(standby)) >= len(TYPES), "the marks of the promotion are written")
        for end in "all killed", "fast shutdown", None:
            if end:
                ENDS[end](standby)
                standby.start()
            for id_type in TYPES:
                assert_behind_mark(standby, id_type, HOUR)
        clock.shift(0)
        assert_later(before, insert(standby))


def test_a_promoted_server_without_the_library_refuses_after_a_restart(new_server):
    """If the library was not loaded during the promotion, the last time is read from the WAL."""
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
    """Yields a standby that has replayed no commit since its own start, and its clock."""
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


def test_a_promoted_standby_that_replayed_nothing_since_its_start_refuses(new_server, preload):
    """The last commits were replayed before the standby's start."""
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


def test_a_promoted_standby_that_replayed_only_a_prepared_transaction_refuses(new_server, preload, clock):
    """The prepared transaction has an ID from an hour after the last commit, by the clock of the primary."""
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


def test_a_promoted_server_after_a_primary_with_a_clock_ahead_refuses(new_server, clock):
    """The clock of the primary was 30 s ahead. The clock of the standby is right."""
    primary = create(new_server(NODE, clock.environment))
    clock.shift(30)
    with promoted(primary, behind=None) as (standby, standby_clock, before):
        for id_type in SERVER_WIDE:
            assert_behind_mark(standby, id_type, 32)
        standby_clock.shift(HOUR)
        assert_later(before, insert(standby))


# ---------------------------------------------------------------------------------------------------------------- files


def compile_shim(directory: Path) -> Path:
    """Compiles drop_unsynced.c, and returns the path of the library."""
    library = directory / "drop_unsynced.so"
    source = Path(__file__).with_name("drop_unsynced.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    library.chmod(0o755)
    return library


@pytest.fixture
def unsynced(clock):
    """A server that keeps only synced marks after `lose_power`, and the directory of drop_unsynced.c."""
    with ExitStack() as stack:
        server = Server({**NODE, "fsync": "on"})
        stack.callback(server.remove)
        shadow = server.directory / "shadow"
        for directory in shadow, shadow / "names", shadow / "inodes":
            directory.mkdir()
            give_to_server_user(directory)
        preload = f"{clock.environment['LD_PRELOAD']}:{compile_shim(server.directory)}"
        server.environment = clock.environment | {
            "LD_PRELOAD": preload,
            "WATCHED": str(server.data / "scru"),
            "SHADOW": str(shadow),
        }
        server.initialize()
        server.start()
        create(server)
        (shadow / "parent").unlink(missing_ok=True)
        yield server, shadow


def lose_power(server: Server, shadow: Path) -> None:
    """Kills the server, and removes the files and the content that were not synced."""
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
    """Power is lost under load, and the clock is set back."""
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


def test_a_directory_with_an_unsynced_parent_survives_a_loss_of_power(unsynced, clock):
    """The directory exists, but its parent was not synced, as after a kill of the process that created it."""
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
    """Suspends a session while it writes a mark. Yields the future of its query, and a function that resumes it."""
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


def test_a_suspended_writer_does_not_lower_the_mark(unsynced, clock):
    """Other sessions make ten reservations while the writer is suspended. The writer resumes, and power is lost."""
    server, shadow = unsynced
    draw_all(server)
    clock.shift(2)
    with suspended_writer(server, shadow) as (drawing, resume):
        before = {SCRU64: []}
        for second in range(4, 24, 2):
            clock.shift(second)
            before[SCRU64] += draw(server, SCRU64, 5)
        resume()
        before[SCRU64].append(drawing.result(timeout=60).fetchone()[0])
    lose_power(server, shadow)
    clock.shift(-HOUR)
    server.start()
    assert_behind_mark(server, SCRU64, HOUR + 23)
    clock.shift(24)
    assert_later(before, {SCRU64: draw(server, SCRU64)})


def test_a_suspended_writer_does_not_undo_scru_set_mark(unsynced, clock):
    """While the writer is suspended, the mark is set back. After a restart, the writer's higher mark does not exist."""
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
def test_generation_fails_if_a_file_is_damaged(new_server, damage):
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
    assert draw(server, ULIDFLAKE), "the file of the other type is not damaged"
    path.unlink()
    assert draw(server, SCRU64)


def test_generation_fails_if_the_directory_is_unreadable(new_server):
    server = create(new_server(NODE))
    draw_all(server)
    server.stop()
    directory = server.data / "scru"
    directory.chmod(0)
    server.start()
    for id_type in SERVER_WIDE:
        with expect.error(
            "58030",
            'could not read directory "scru": Permission denied',
            f"Generating a {id_type} requires a durable high-water mark.",
            'Check the directory "scru" in the data directory, and its permissions.',
        ):
            draw(server, id_type)
    directory.chmod(0o700)
    assert draw_all(server)


def test_generation_fails_if_the_disk_is_full(clock):
    """When the reserved time is used up, generation fails until there is space."""
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
    # The process of the first file does not exist; that of the second does.
    (server.data / "scru/tmp-2147483646-whatever").write_text("half")
    (server.data / "scru/tmp-1-whatever").write_text("half")
    server.start()
    draw_all(server)
    assert kinds(server) == ["scru64-mark", "tmp-1", "ulidflake-mark"]


def test_a_copy_of_the_data_has_the_mark(new_server, clock):
    """A copy by pg_basebackup has the mark. As an independent server whose clock is behind, it generates no IDs."""
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


def test_a_copy_made_while_a_mark_is_replaced_has_a_mark(new_server, clock):
    """pg_basebackup lists the files before it copies them. Writing a mark does not remove all listed marks."""
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


def test_pg_rewind_copies_the_marks_of_the_source(new_server, clock):
    """The former primary gets the marks of the promoted server in place of its own."""
    primary = create(new_server({**NODE, "wal_log_hints": "on", "wal_keep_size": "1GB"}, clock.environment))
    draw_all(primary)
    standby = primary.standby()
    try:
        standby.promote()
        with standby.connect() as connection:
            connection.execute("CHECKPOINT")  # up to PostgreSQL 15, pg_rewind reads the timeline from the checkpoint
        clock.shift(HOUR)
        insert(standby, 1)
        insert(primary, 1)
        primary.stop()
        assert records(primary) != records(standby)
        source = f"host={standby.directory} port={standby.port} user=postgres dbname=postgres"
        primary.run(
            "pg_rewind", "--no-sync", "--target-pgdata", primary.data, "--source-server", source, as_server=True
        )
        assert records(primary) == records(standby)
    finally:
        standby.remove()


def test_ids_after_point_in_time_recovery_are_above_the_last_commit(new_server, clock):
    """A server restored from an archive generates no IDs while its clock is behind, even after a crash."""
    server = create(new_server(NODE))
    archive = server.directory / "archive"
    archive.mkdir()
    give_to_server_user(archive)
    server.restart(archive_mode="on", archive_command=f"cp %p {archive}/%f")
    restored = Server(server.settings, clock.environment)
    restored.settings |= {"unix_socket_directories": str(restored.directory), "restore_command": f"cp {archive}/%f %p"}
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


# -------------------------------------------------------------------------------------------- nodes and scru_set_mark()


def test_marks_are_kept_per_node(new_server, clock):
    """An unused node starts at the clock. A node that shares IDs with another one respects the other's mark."""
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


def test_nodes_in_turn_repeat_nothing(new_server):
    """Each node has its own mark."""
    server = create(new_server(NODE))
    ids = []
    for node in "5/20", "6/20", "5/20", "0/4", "5/20":
        server.reload(**{"scru.scru64_node": node})
        ids += draw(server, SCRU64, 3)
    assert ids == sorted(set(ids))
    assert len({name.split("-")[2] for name in records(server) if name.startswith("scru64-mark-")}) == 3


def test_a_mark_is_set_back(new_server, clock, preload):
    """Only a superuser can set the mark back. IDs then follow the clock again, even after a crash."""
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


def test_scru_set_mark_rejects_invalid_arguments(connection):
    with expect.error("22023", 'unknown ID type "uuid"'):
        connection.execute("SELECT scru_set_mark('uuid', now())")
    for time_ in "infinity", "-infinity":
        with expect.error("22023", "the high-water mark must be a finite time"):
            connection.execute("SELECT scru_set_mark('scru64', %s)", [time_])


# ----------------------------------------------------------------------------------------------------------- monitoring


def test_scru_generators_reports_every_type(new_server, preload):
    """scru_generators() can be called by members of pg_monitor, but not by other users."""
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
def test_the_wait_event_has_a_name(new_server):
    server = create(new_server(NODE))
    with server.connect() as connection, background(connection, forever(SCRU64)):
        query = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {connection.info.backend_pid}"
        wait_until(lambda: server.value(query) == "ScruClock", "the wait event is ScruClock")


# -------------------------------------------------------------------------- read-only transactions and parallel workers


def test_read_only_transactions_and_parallel_workers_reserve(new_server):
    """Each parallel worker generates IDs. The IDs of a statement are distinct.

    They lie between the IDs of the statements before and after it. The order of the rows is not guaranteed.
    """
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
