"""What a released version promises later ones.

`make release` freezes a version. tools/lib/next-version.sh runs these tests in a copy of the tree whose version is the
next one, so that they have a released version in any case. RELEASED_LIBRARIES names its directory with the libraries of
the released versions, VERSION/scru.so.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest

import catalog
import expect
import orders
from idtypes import SERVER_WIDE, TYPES, IdType
from load import assert_all_different
from server import MAJOR, Server, bindir_of, pg_config, wait_until

ROOT = Path(__file__).parents[3]
SQL = ROOT / "sql"
EXTENSIONS = ("scru", "scru_text", "scru_uuidv7")
RELEASED = sorted(script.stem.removeprefix("scru--") for script in (SQL / "released").glob("scru--*.sql"))
CURRENT = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
pytestmark = pytest.mark.skipif(not RELEASED, reason="no version is released")
each_release = pytest.mark.parametrize("version", RELEASED)
each_earlier_release = pytest.mark.parametrize("version", [version for version in RELEASED if version != CURRENT])

# ------------------------------------------------------------------------------------------------------ what is frozen


def test_what_was_released_is_frozen():
    """Databases exist that were created with the files of released versions, and the upgrade scripts between them."""
    sums = dict(reversed(line.split()) for line in (SQL / "released/SHA256SUMS").read_text().splitlines())
    present = {f"./released/{path.name}" for path in (SQL / "released").iterdir()} - {"./released/SHA256SUMS"}
    assert {name for name in sums if name.startswith("./released/")} == present
    for version in RELEASED:
        frozen = {f"./released/{extension}--{version}.sql" for extension in EXTENSIONS}
        assert frozen | {f"./released/{version}.{kind}" for kind in ("layouts", "names")} <= present
    for name, digest in sums.items():
        assert hashlib.sha256((SQL / name).read_bytes()).hexdigest() == digest, name


@each_release
def test_the_library_keeps_the_symbols_of_a_release(version):
    """Databases call the library by the symbols in the script that created them."""
    library = Path(pg_config("--pkglibdir")) / "scru.so"
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True)
    exported = {line.split()[-1] for line in listing.stdout.splitlines()}
    scripts = "".join((SQL / f"released/{extension}--{version}.sql").read_text() for extension in EXTENSIONS)
    named = set(re.findall(r"'MODULE_PATHNAME', '(\w+)'", scripts))
    assert len(named) > 100
    assert named - exported == set()


@each_release
def test_the_names_of_a_release_remain(version):
    """The list of docs/stability.md keeps all lines of the releases of this major version."""
    if version.split(".")[0] == CURRENT.split(".")[0]:
        present = subprocess.run([ROOT / "tools/lib/names.sh"], check=True, capture_output=True, text=True).stdout
        released = (SQL / f"released/{version}.names").read_text().splitlines()
        assert len(released) > 300
        assert sorted({*released} - {*present.splitlines()}) == []


def layouts(text: str) -> dict[str, str]:
    """Returns the layouts and the words in a file by their names, which contain a version."""
    found = re.findall(r'^    "(.*?)" if .*?, (\w+\s+(?:\d+:|b").*?);$', text, re.MULTILINE | re.DOTALL)
    return {name: " ".join(layout.split()) for name, layout in found}


@each_release
def test_a_changed_layout_has_a_new_name(version):
    """Libraries of two versions use the same shared memory and the same page if they have the same name for it."""
    before = layouts((SQL / f"released/{version}.layouts").read_text())
    after = layouts((ROOT / "src/shared/layouts.rs").read_text())
    assert len(before) >= 14
    assert {name: after[name] for name in before if name in after} == {
        name: layout for name, layout in before.items() if name in after
    }
    # A later version reads the page of an earlier one.
    assert {name for name in before if name.startswith("page")} <= after.keys()


# ---------------------------------------------------------------------------------------------------------- the update


def create(connection: psycopg.Connection, version: str) -> list[IdType]:
    """Creates the extensions in a version, and returns its types."""
    for extension in EXTENSIONS:
        connection.execute(f"CREATE EXTENSION {extension} VERSION '{version}'")
    exists = "SELECT to_regtype(%s) IS NOT NULL"
    return [id_type for id_type in TYPES if connection.execute(exists, [id_type.name]).fetchone()[0]]


def update(connection: psycopg.Connection) -> None:
    """Updates the extensions to the current version."""
    for extension in EXTENSIONS:
        connection.execute(f"ALTER EXTENSION {extension} UPDATE")


@each_earlier_release
def test_an_update_ends_like_a_fresh_installation(new_database, version):
    """With all properties and comments. No released member is dropped or replaced: views and programs name it."""
    with new_database(extension=False).connect() as updated, new_database().connect() as fresh:
        for extension in EXTENSIONS[1:]:
            fresh.execute(f"CREATE EXTENSION {extension}")
        create(updated, version)
        released = catalog.oids(updated)
        update(updated)
        assert released.items() - catalog.oids(updated).items() == set()
        versions = "SELECT DISTINCT extversion FROM pg_extension WHERE extname LIKE 'scru%'"
        assert updated.execute(versions).fetchall() == [(CURRENT,)]
        after, expected = catalog.everything(updated), catalog.everything(fresh)
        for name in expected:
            assert after[name] == expected[name], name


@each_release
def test_the_library_serves_the_sql_of_a_release(new_database, version):
    """The new library works with the SQL of an earlier version, before and after the update."""
    with new_database(extension=False).connect() as connection:
        if expect.has_amcheck(connection):
            expect.install_amcheck(connection)
        types = create(connection, version)
        before = {}
        for id_type in types:
            orders.create(connection, id_type, rows=300)
            before[id_type] = orders.contents(connection)
            orders.check_indexes(connection, id_type)
        update(connection)
        for id_type in types:
            orders.set_search_path(connection, id_type)
            assert orders.contents(connection) == before[id_type]
            orders.check_indexes(connection, id_type)
            orders.assert_new_ids_are_largest(connection)


# ----------------------------------------------------------------------------------------- two libraries in one server

OPERATIONS = (ROOT / "docs/operations.md").read_text().partition("## Upgrade")[2].partition("\n### ")[0]
[OF_VERSION, OLD_SESSIONS, UPDATE] = re.findall(r"^ *```sql\n(.*?)^ *```$", OPERATIONS, re.MULTILINE | re.DOTALL)
KEPT = "Sessions keep the library that they have loaded, and servers the one that they have preloaded."
RESTART = "Restart the server: shared_preload_libraries contains scru."
RECONNECT = "Reconnect, and repeat the command."


class UpgradedServer(Server):
    """A server with its own copy of the programs, so that a test can replace the library while the server runs."""

    def __init__(self, version: str, environment: dict[str, str], preload: str):
        libraries = os.environ.get("RELEASED_LIBRARIES")
        if libraries is None:
            pytest.skip("only tools/lib/next-version.sh has the libraries of released versions")
        copy = [ROOT / "tools/server.sh", "copy", f"released-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"]
        variables = {**os.environ, "PG_MAJOR": str(MAJOR)}
        program = subprocess.run(copy, check=True, capture_output=True, text=True, env=variables).stdout.strip()
        self.library = Path(pg_config("--pkglibdir", program)) / "scru.so"
        self.install(Path(libraries) / version / "scru.so")
        settings = {"scru.scru64_node": "5/8", "shared_preload_libraries": preload}
        super().__init__(settings, environment, bindir_of(program))

    def install(self, library: Path) -> None:
        """Replaces the library as an installation does: processes that have loaded the old library keep it."""
        self.library.unlink(missing_ok=True)
        shutil.copy(library, self.library)
        self.library.chmod(0o755)

    def old_sessions(self) -> set[int]:
        """Returns the process IDs that the query of the page finds. Repeats the query if a process ends meanwhile."""
        while True:
            with suppress(psycopg.errors.InternalError_):
                return {pid for pid, *_ in self.rows(OLD_SESSIONS)}

    def session(self) -> psycopg.Connection:
        """Returns a connection that has loaded the library."""
        connection = self.connect(options="-c scru.generator_scope=server")
        connection.execute("LOAD 'scru'")
        return connection


def too_old(version: str) -> str:
    """Returns the message of the first upgrade script from a version, in a session that has loaded the old library."""
    [script] = SQL.glob(f"scru--{version}--*.sql")
    return f"the library of scru that this session has loaded is older than {script.stem.split('--')[2]}"


def of_version(connection: psycopg.Connection) -> str:
    """Returns the version of the library that a session has loaded."""
    return connection.execute(OF_VERSION.partition(";")[2]).fetchone()[0]


def draw_in_turns(sessions: list[psycopg.Connection], id_type: IdType) -> list[str]:
    """Generates IDs in the sessions alternately, and checks that each is greater than the one before."""
    query = f"SELECT {id_type.generator}::text"
    ids = [session.execute(query).fetchone()[0] for _ in range(50) for session in sessions]
    assert ids == sorted(set(ids))
    return ids


def draw_at_once(old: list[psycopg.Connection], new: list[psycopg.Connection], id_type: IdType) -> list[str]:
    """Generates IDs in sessions of both libraries concurrently. Repeats this until their times overlap."""
    query = f"SELECT {id_type.generator}::text FROM generate_series(1, 5000)"
    ids = []
    with ThreadPoolExecutor(len(old + new)) as pool:

        def overlap() -> bool:
            drawn = list(pool.map(lambda session: [id_ for (id_,) in session.execute(query)], old + new))
            for of_session in drawn:
                assert of_session == sorted(set(of_session))
                ids.extend(of_session)
            return any(a[0] < b[-1] and b[0] < a[-1] for a in drawn[: len(old)] for b in drawn[len(old) :])

        wait_until(overlap, "sessions of both libraries have generated IDs at the same time")
    return ids


@each_earlier_release
def test_sessions_of_two_libraries_share_their_state(clock, version):
    """IDs generated in turns are increasing, concurrent ones are unique, also during the update, and none is repeated
    after a crash. Sessions that have loaded the old library cannot update the extension, and a query lists them."""
    with UpgradedServer(version, clock.environment, "") as server, ExitStack() as stack:
        old = [stack.enter_context(server.session()) for _ in range(2)]
        types = create(old[0], version)
        before = {}
        for id_type in types:
            orders.create(old[0], id_type, rows=100)
            before[id_type] = orders.contents(old[0])
        old[0].execute("RESET search_path")
        drawn = {id_type: draw_in_turns(old, id_type) for id_type in types}
        server.install(Path(pg_config("--pkglibdir")) / "scru.so")
        new = [stack.enter_context(server.session()) for _ in range(2)]
        assert [of_version(session) for session in old + new] == [version] * 2 + [CURRENT] * 2
        assert server.old_sessions() == {session.info.backend_pid for session in old}

        def draw() -> None:
            for id_type in types:
                drawn[id_type] += draw_in_turns([old[0], new[0]], id_type)
                drawn[id_type] += draw_at_once(old, new, id_type)
                assert_all_different(drawn[id_type])

        draw()
        with expect.error("55000", too_old(version), KEPT, RECONNECT):
            old[0].execute(UPDATE)
        assert new[0].execute("SELECT extversion FROM pg_extension WHERE extname = 'scru'").fetchone() == (version,)
        updating = stack.enter_context(ThreadPoolExecutor(1)).submit(update, stack.enter_context(server.session()))
        draw()
        while not updating.done():
            draw()
        updating.result()
        draw()
        for id_type in types:
            orders.set_search_path(new[1], id_type)
            assert orders.contents(new[1]) == before[id_type]
        server.kill()
        clock.shift(-3)
        server.start()
        with server.session() as connection:
            for id_type in SERVER_WIDE:
                if id_type in types:
                    [(after,)] = connection.execute(f"SELECT {id_type.generator}::text").fetchall()
                    assert after > max(drawn[id_type])


@each_earlier_release
def test_a_server_keeps_the_library_that_it_has_preloaded(clock, version):
    """The update requires a restart, after which IDs continue above the mark of the old library."""
    with UpgradedServer(version, clock.environment, "scru") as server:
        with server.session() as connection:
            types = create(connection, version)
        server.install(Path(pg_config("--pkglibdir")) / "scru.so")
        with server.session() as connection:
            assert of_version(connection) == version
            before = {id_type: draw_in_turns([connection], id_type) for id_type in types}
            with expect.error("55000", too_old(version), KEPT, RESTART):
                connection.execute(UPDATE)
        server.stop()
        clock.shift(-3)
        server.start()
        assert server.old_sessions() == set()
        with server.session() as connection:
            assert of_version(connection) == CURRENT
            update(connection)
            for id_type in types:
                assert max(before[id_type]) < min(draw_in_turns([connection], id_type))
