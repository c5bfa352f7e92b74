"""The durable high-water marks of a server: no clock, crash or loss of power causes duplicate 64-bit IDs.

test_promotion.py has the servers that take over, test_mark_transfer.py what travels without the log, and
test_set_mark.py the functions that set a mark.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest

import expect
from clock import Clock
from faults import ENDS, bring_back, build_library, small_disk
from idtypes import SCRU64, SERVER_WIDE, TYPES, ULID, ULIDFLAKE
from load import Load, background, forever, wait_until_it_waits
from marks import (
    ALONE,
    BEHIND_MARK,
    HOUR,
    NODE,
    WITHOUT_CHECKSUMS,
    assert_all_behind_mark,
    assert_behind_mark,
    assert_later,
    create,
    draw,
    draw_all,
    insert,
    page,
)
from plans import analyze, prefer_parallel_plans
from server import BINDIR, MAJOR, Server, give_to_server_user, on_every_version, since, wait_until

# 15 and 16, 17 and 18, and 19 each allocate shared memory in their own way.
pytestmark = on_every_version


@pytest.mark.parametrize(
    ("end", "preload"),
    [("fast shutdown", ""), ("all killed", "scru"), ("a backend killed", ""), ("a backend killed", "scru")],
)
def test_a_clock_set_back_during_a_shutdown_or_crash_repeats_nothing(new_server, clock, end, preload):
    """The clock is set back by an hour during a shutdown or a crash. Generation fails until the clock is right."""
    server = create(new_server({**NODE, "shared_preload_libraries": preload}, clock.environment))
    before = draw_all(server)
    if end == "a backend killed":
        clock.shift(-HOUR)
        with server.connect() as victim:
            server.kill_backend(victim.info.backend_pid)
            with pytest.raises(psycopg.OperationalError):
                victim.execute("SELECT pg_sleep(60)")
    else:
        ENDS[end](server)
        clock.shift(-HOUR)
    bring_back(server)
    assert_all_behind_mark(server, HOUR)
    clock.shift(0)
    assert_later(before, draw_all(server))


class Unsynced:
    """A server on a disk that forgets what was not synced, and whose syncs a test can suspend."""

    def __init__(self, clock: Clock):
        self.server = Server({**NODE, "fsync": "on", "autovacuum": "off"}, initdb=("--wal-segsize=1",))
        self.shadow = self.server.directory / "shadow"
        self.hang = self.shadow / "hang"
        self.shadow.mkdir()
        give_to_server_user(self.shadow)
        library = build_library(self.server.directory)
        self.server.environment = clock.environment | {
            "LD_PRELOAD": f"{clock.environment['LD_PRELOAD']}:{library}",
            "WATCHED": str(self.server.data),
            "SHADOW": str(self.shadow),
        }

    def lose_power(self) -> None:
        """Kills the server, and removes the content of the log and of the page that was not synced."""
        self.server.kill()
        for path in filter(Path.is_file, [*(self.server.data / "pg_wal").iterdir(), self.server.data / "global/8672"]):
            synced = self.shadow / str(path.stat().st_ino)
            path.unlink()
            if synced.exists():
                shutil.copy(synced, path)
                give_to_server_user(path)


@pytest.fixture
def unsynced(clock) -> Iterator[Unsynced]:
    """A server on a disk that forgets what was not synced."""
    unsynced = Unsynced(clock)
    with ExitStack() as stack:
        create(stack.enter_context(unsynced.server))
        stack.callback(unsynced.hang.unlink, missing_ok=True)
        yield unsynced


@pytest.mark.parametrize("checkpoint", [False, True], ids=["", "after a checkpoint"])
def test_a_loss_of_power_repeats_nothing(unsynced, clock, checkpoint):
    """Power is lost under load, before any row is committed, and the clock is set back."""
    server = unsynced.server
    with ExitStack() as stack:
        loads = [stack.enter_context(Load(server.connect, id_type)) for id_type in SERVER_WIDE]
        for load in loads:
            load.wait_for(150)
        if checkpoint:
            server.psql("postgres", b"CHECKPOINT")
        unsynced.lose_power()
        for load in loads:
            load.wait()
    # Without a checkpoint, the page has no marks yet.
    assert (page(server)["draws"] > 0) == checkpoint
    clock.shift(-HOUR)
    server.start()
    assert_all_behind_mark(server, HOUR)
    clock.shift(0)
    assert_later({load.id_type: load.ids for load in loads}, draw_all(server))


def test_three_marks_per_second_take_less_than_a_kilobyte(new_server, clock, measured):
    """In 20 s of a clock that the test moves by 10 ms. After flushes that take longer, there are fewer."""
    # Checksums would add pages to the WAL whose hint bits are set.
    server = create(new_server({**ALONE, "autovacuum": "off"}, clock.environment, BINDIR, WITHOUT_CHECKSUMS))
    with server.connect() as connection:
        position = "SELECT pg_current_wal_insert_lsn() - '0/0'"
        draw_and_mark = "SELECT gen_ulidflake() IS NULL, mark FROM scru_generators() WHERE type = 'ulidflake'"
        # The first read of a page of pg_proc can prune it, which logs the page.
        connection.execute(draw_and_mark)
        connection.execute("CHECKPOINT")
        [start] = connection.execute(position).fetchone()
        marks = set()
        for step in range(2000):
            clock.freeze(f"2030-01-01 00:00:{step // 100:02}.{step % 100:02}0")
            marks.add(connection.execute(draw_and_mark).fetchone())
        [end] = connection.execute(position).fetchone()
    measured(f"{len(marks) / 20:.2f} marks and {float(end - start) / 20:.0f} bytes of WAL per second")
    assert 1 < len(marks) / 20 < 3.5
    assert 0 < (end - start) / 20 < 1000


def test_a_draw_near_the_end_of_a_reservation_renews_it(new_server, clock):
    """Before it is necessary, so that no draw waits for the log."""
    server = create(new_server(ALONE, clock.environment))
    draw(server, ULIDFLAKE)
    reserved = page(server)["draws"]
    clock.freeze(reserved / 1e6 - 0.05)
    [id_] = draw(server, ULIDFLAKE, 1)
    assert 1000 * ULIDFLAKE.unix_milliseconds(ULIDFLAKE.value(id_)) < reserved < page(server)["draws"]


def test_an_id_is_returned_after_its_mark_is_synced(unsynced, clock):
    """While no sync ends, a session that needs a new reservation returns no ID."""
    server = unsynced.server
    draw(server, SCRU64)
    clock.shift(60)
    with server.connect() as connection:
        connection.execute("SET synchronous_commit = off")
        unsynced.hang.touch()
        with background(connection, "SELECT gen_scru64()::text") as drawing:
            wait_until_it_waits(server, connection, "IO", "LWLock")
            assert not drawing.done()
            unsynced.hang.unlink()
            [(id_,)] = drawing.result(timeout=60).fetchall()
    unsynced.lose_power()
    clock.shift(0)
    server.start()
    assert_behind_mark(server, SCRU64, 60)
    clock.shift(120)
    assert_later({SCRU64: [id_]}, {SCRU64: draw(server, SCRU64)})


def test_checksums_are_enabled_and_disabled(new_server):
    """pg_checksums finds the page, which no catalog lists. A base backup verifies it."""
    server = create(new_server(NODE, None, BINDIR, WITHOUT_CHECKSUMS))
    before = draw_all(server)
    for action, verifies in ("--enable", True), ("--disable", False):
        server.stop()
        server.run("pg_checksums", action, "--pgdata", server.data, as_server=True)
        server.start()
        after = draw_all(server)
        assert_later(before, after)
        before = after
        with server.standby() as standby:
            standby.promote()
            assert_later(before, draw_all(standby))
            standby.stop()
            if verifies:
                standby.run("pg_checksums", "--check", "--pgdata", standby.data, as_server=True)


def test_generation_fails_if_the_disk_is_full():
    """Without space for the page, generation fails. With space, the same session generates IDs."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(200))
        server = Server(NODE)
        server.data = disk.path / "data"
        stack.enter_context(server)
        with create(server).connect() as connection:
            filler = disk.path / "filler"
            with pytest.raises(OSError, match="No space left"), open(filler, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            message = 'could not write file "global/pgsql_tmp_scru": No space left on device'
            for id_type in SERVER_WIDE * 2:
                with expect.error("53100", message, None, "Check free disk space."):
                    connection.execute(f"SELECT {id_type.generator}")
            filler.unlink()
            for id_type in SERVER_WIDE:
                connection.execute(f"SELECT {id_type.generator}")
        assert_later(draw_all(server), draw_all(server))
        assert server.crashes() == []
        server.stop()


@contextmanager
def copy_of(server: Server, clock: Clock) -> Iterator[Server]:
    """A server with a clock, whose data directory the block makes."""
    copy = Server(server.settings, clock.environment)
    copy.settings["unix_socket_directories"] = str(copy.directory)
    try:
        yield copy
    finally:
        copy.remove()


BACKUP = ["--checkpoint=fast", "--no-sync", "--pgdata"]


def test_a_copy_of_the_data_has_the_mark(new_server, clock):
    """The rows and marks change while pg_basebackup copies them. Then the clock of the copy is behind."""
    server = create(new_server(NODE))
    insert(server, 1)
    with copy_of(server, clock) as copy:
        with ExitStack() as stack:
            query = "INSERT INTO {}_orders DEFAULT VALUES RETURNING id::text"
            loads = [stack.enter_context(Load(server.connect, t, query=query.format(t))) for t in SERVER_WIDE]
            for load in loads:
                load.wait_for(50)
            server.run("pg_basebackup", *BACKUP, copy.data, as_server=True)
        clock.shift(-HOUR)
        copy.start()
        assert_all_behind_mark(copy, HOUR)
        clock.shift(-3)
        rows = {t: [id_ for (id_,) in copy.rows(f"SELECT id::text FROM {t}_orders")] for t in SERVER_WIDE}
        assert_later(rows, draw_all(copy))


@since(17, "incremental backups")
def test_an_incremental_backup_has_the_mark(new_server, clock):
    """The mark has changed since the whole backup, in a page that the server finds in the log."""
    server = create(new_server({**NODE, "summarize_wal": "on"}, clock.environment))
    draw_all(server)
    whole, part = server.directory / "whole", server.directory / "part"
    server.run("pg_basebackup", *BACKUP, whole, as_server=True)
    clock.shift(HOUR)
    before = draw_all(server)
    server.run("pg_basebackup", *BACKUP, part, "--incremental", whole / "backup_manifest", as_server=True)
    with copy_of(server, clock) as copy:
        server.run("pg_combinebackup", "--no-sync", "--output", copy.data, whole, part, as_server=True)
        clock.shift(0)
        copy.start()
        assert_all_behind_mark(copy, HOUR)
        clock.shift(HOUR)
        assert_later(before, draw_all(copy))


def test_pg_rewind_takes_over_the_marks_of_the_source(new_server, clock):
    """The promoted server has generated IDs while its clock was an hour ahead. The former primary respects them."""
    primary = create(new_server({**NODE, "wal_log_hints": "on", "wal_keep_size": "1GB"}, clock.environment))
    draw_all(primary)
    with primary.standby() as standby:
        standby.promote()
        with standby.connect() as connection:
            connection.execute("CHECKPOINT")  # up to PostgreSQL 15, pg_rewind reads the timeline from the checkpoint
        clock.shift(HOUR)
        before = insert(standby, 5)
        clock.shift(0)
        insert(primary, 1)
        primary.stop()
        source = f"host={standby.directory} port={standby.port} user=postgres dbname=postgres"
        options = ["--no-sync", "--target-pgdata", primary.data, "--source-server", source]
        primary.run("pg_rewind", *options, as_server=True)
        (primary.data / "standby.signal").unlink(missing_ok=True)
        primary.settings["primary_conninfo"] = ""
        primary.start()
        assert_all_behind_mark(primary, HOUR)
        clock.shift(HOUR + 60)
        assert_later(before, insert(primary, 5))


LAST_ID, NODE_SOURCE = "details->>'last_id'", "details->>'node_source'"
LAST_FAILURE = "(details->>'last_failure')::timestamptz"


def test_scru_generators_reports_every_type(new_server):
    """scru_generators() can be called by members of pg_monitor, but not by other users."""
    server = create(new_server({**NODE, "scru.ulidflake_scalability": "3"}))
    ids = {id_type: draw(server, id_type)[-1] for id_type in TYPES}
    server.psql("postgres", b"CREATE ROLE plain LOGIN; CREATE ROLE monitor LOGIN IN ROLE pg_monitor")
    with server.connect(user="plain") as plain, pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute("SELECT * FROM scru_generators()")
    with server.connect(user="monitor") as monitor:
        columns = f"type, scope, node, {LAST_ID}"
        assert monitor.execute(f"SELECT {columns} FROM scru_generators() ORDER BY type").fetchall() == [
            ("scru128", "session", None, None),
            ("scru160", "session", None, None),
            ("scru64", "server", "5/20", ids[SCRU64]),
            ("ulid", "session", None, ids[ULID]),
            ("ulidflake", "server", "3", ids[ULIDFLAKE]),
            ("uuidv7", "session", None, None),
        ]
        facts = """
            SELECT last_time <= clock_timestamp() + interval '1 s' AND last_time > clock_timestamp() - interval '1 min'
                AND (mark >= last_time) IS NOT DISTINCT FROM CASE WHEN node IS NOT NULL THEN true END
            FROM scru_generators()
        """
        assert monitor.execute(facts).fetchall() == [(True,)] * 5 + [(None,)]
        monitor.execute("SET scru.generator_scope = server")
        one = "SELECT count(DISTINCT scope), count(DISTINCT mark), min(scope) FROM scru_generators()"
        assert monitor.execute(one).fetchall() == [(1, 1, "server")]


def outlook(server: Server, columns: str, dbname: str = "postgres") -> list[tuple]:
    """Returns columns of scru_generators() for scru64 and ulidflake, as a monitor reads them."""
    query = f"SELECT {columns} FROM scru_generators() WHERE type IN ('scru64', 'ulidflake') ORDER BY type"
    return server.rows(query, dbname)


def wait_until_past_the_mark(server: Server) -> None:
    """Waits until the clock has passed the marks of scru64 and ulidflake. ulidflake is never ahead of the clock."""
    wait_until(lambda: outlook(server, "mark < clock_timestamp()") == [(True,)] * 2, "the clock has passed the marks")


def test_scru_generators_tells_what_a_standby_will_do(new_server, clock):
    """Before any ID, on the standby and after its promotion: whether a draw is refused, waits, or continues. It does
    not wait if the clock has passed the mark."""
    primary = create(new_server(NODE))
    with primary.standby(clock.environment) as standby:
        ids = draw_all(primary)
        standby.wait_until_replayed(primary)
        marks = f"type, abs(extract(epoch FROM mark - {{}})) < 120, node, {NODE_SOURCE}"
        expected = [("scru64", True, "5/20", "the configuration file"), ("ulidflake", True, "-1", "the default")]
        draws = "draw, reason, wait IS NULL, extract(epoch FROM mark - clock_timestamp()) BETWEEN 3480 AND 3720"
        refused = [("refuse", BEHIND_MARK.format(id_type), True, True) for id_type in SERVER_WIDE]
        for is_promoted in False, True:
            if is_promoted:
                primary.kill()
                standby.promote()
            clock.shift(0)
            assert outlook(standby, marks.format("clock_timestamp()")) == expected
            types = sorted([*map(str, TYPES), "uuidv7"])
            assert standby.rows("SELECT type FROM scru_generators() ORDER BY type") == [(type_,) for type_ in types]
            wait_until_past_the_mark(standby)
            assert outlook(standby, f"draw, reason, wait, {LAST_ID}") == [("continue", None, None, None)] * 2
            clock.shift(-HOUR)
            assert outlook(standby, draws) == refused
        assert_all_behind_mark(standby, HOUR)
        assert outlook(standby, draws) == refused
        # The clock has passed the mark, and stands still: a wait would be endless.
        clock.freeze(f"{datetime.now() + timedelta(seconds=2):%Y-%m-%d %H:%M:%S}")
        assert_later(ids, draw_all(standby, 1))
        assert outlook(standby, f"draw, reason, {LAST_ID} IS NULL") == [("continue", None, False)] * 2


def test_scru_generators_tells_why_a_draw_fails(new_server):
    """The page is unreadable, or a setting is refused. A failure is reported after it. The session that gets the error
    generates IDs as soon as the page is readable."""
    server = create(new_server(NODE))
    before = draw_all(server)
    server.restart()
    file = server.data / "global/8672"
    file.chmod(0)
    unreadable = 'could not open file "global/8672": Permission denied'
    assert outlook(server, f"draw, reason, {LAST_FAILURE}") == [("refuse", unreadable, None)] * 2
    recent = f"clock_timestamp() - {LAST_FAILURE} BETWEEN '0 s' AND '1 min'"
    with server.connect() as connection:
        for id_type in SERVER_WIDE:
            with expect.error("42501", unreadable):
                connection.execute(f"SELECT {id_type.generator}")
        assert outlook(server, f"draw, reason, {recent}") == [("refuse", unreadable, True)] * 2
        file.chmod(0o600)
        wait_until_past_the_mark(server)
        assert outlook(server, f"draw, reason, {recent}") == [("continue", None, True)] * 2
        after = {id_type: [connection.execute(f"SELECT {id_type.generator}::text").fetchone()[0]] for id_type in before}
    assert_later(before, after)
    server.psql("postgres", b"ALTER DATABASE postgres SET scru.scru64_node = 'no node'")
    refused = 'invalid value for parameter "scru.scru64_node": "no node"'
    assert outlook(server, f"draw, reason, node, {NODE_SOURCE}")[0] == ("refuse", refused, None, None)


def test_the_waits_have_names(unsynced, clock):
    """For the clock, and for the mark: a checkpoint that writes the page locks it, and cannot end before its log is
    flushed, which takes long here. Up to PostgreSQL 16, all extensions share the name "Extension"."""
    for_the_clock, for_the_mark = ("ScruClock", "ScruMark") if MAJOR >= 17 else ("Extension", "Extension")
    server = unsynced.server
    with ExitStack() as stack:
        drawing, checkpointing, waiting = (stack.enter_context(server.connect()) for _ in range(3))
        with background(drawing, forever(SCRU64)):
            wait_until_it_waits(server, drawing, for_the_clock)
        # With checksums, whoever first reads a row may log its page, for which the checkpoint would wait first.
        for connection in drawing, waiting:
            connection.execute("SELECT gen_scru64(), scru_raise_mark('2026-01-01')")
        wait_until_it_waits(server, drawing, "ClientRead")
        checkpointing.execute("CHECKPOINT")
        clock.shift(60)
        unsynced.hang.touch()
        stack.enter_context(background(drawing, "SELECT gen_scru64()"))
        wait_until_it_waits(server, drawing, "WALSync", "WALWrite")
        stack.enter_context(background(checkpointing, "CHECKPOINT"))
        of_checkpoint = "SELECT lower(wait_event) FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
        wait_until(lambda: server.value(of_checkpoint) in ("walsync", "walwrite"), "the checkpointer flushes the log")
        stack.enter_context(background(waiting, "SELECT scru_raise_mark(clock_timestamp())"))
        wait_until_it_waits(server, waiting, for_the_mark)
        unsynced.hang.unlink()


@pytest.mark.parametrize("scope", ["server", "session"])
def test_read_only_transactions_and_parallel_workers_reserve(new_server, scope):
    """The workers generate the IDs of a statement, which are distinct.

    Those of a server lie between the IDs of the statements before and after it. The order of the rows is not
    guaranteed.
    """
    server = create(new_server({"scru.scru64_node": "5/8", "max_parallel_workers": "8"}))
    with server.connect(options=f"-c scru.generator_scope={scope}") as connection:
        connection.execute("CREATE TABLE numbers AS SELECT n FROM generate_series(1, 20000) AS n")
        connection.execute("ALTER TABLE numbers SET (parallel_workers = 4); ANALYZE numbers")
        connection.execute("SET default_transaction_read_only = on; SET parallel_leader_participation = off")
        prefer_parallel_plans(connection)
        for id_type in TYPES:
            query = f"SELECT {id_type.generator}::text FROM numbers WHERE n > 0"
            plan = analyze(connection, query)
            assert plan["Node Type"] == "Gather" and plan["Workers Launched"] >= 2
            assert id_type.generator.removesuffix("()") in str(plan["Plans"][0]["Output"])
            [before, *ids, after] = [
                id_
                for drawn in (f"SELECT {id_type.generator}::text", query, f"SELECT {id_type.generator}::text")
                for (id_,) in connection.execute(drawn)
            ]
            assert len(set(ids)) == 20_000
            assert scope == "session" or (before < min(ids) and max(ids) < after)
