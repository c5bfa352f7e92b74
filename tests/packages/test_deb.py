"""The Debian packages: their contents, and their installation, upgrade under load and removal on a machine."""

from __future__ import annotations

import os
import re
import shlex
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from machine import Machine

from conftest import ROOT, VERSION, as_root, make_deb, on_the_oldest, run
from server import MAJOR

LIBRARY = f"/usr/lib/postgresql/{MAJOR}/lib/scru.so"
EXTENSIONS = ("scru", "scru_uuidv7")
EXTENSION = f"/usr/share/postgresql/{MAJOR}/extension"
DOCUMENTS = f"/usr/share/doc/postgresql-{MAJOR}-scru"


def field(package: Path, name: str) -> str:
    """Returns a field of a package's control file."""
    return run("dpkg-deb", "--field", package, name).strip()


def files(package: Path) -> set[str]:
    """Returns the paths of the files in a package."""
    listing = run("dpkg-deb", "--contents", package).splitlines()
    return {line.split()[5].removeprefix(".") for line in listing if not line.startswith("d")}


def test_files(package):
    """The extension's files are in the directories of Debian's server. The package has a copyright and changelogs."""
    committed = [*(ROOT / "sql/released").glob("*.sql"), *(ROOT / "sql").glob("*--*.sql")]
    names = [*(f"{name}--{VERSION}.sql" for name in EXTENSIONS), *(f"{name}.control" for name in EXTENSIONS)]
    # Upgrades to this version, which the build composes if the versions are not adjacent.
    names += [f"scru--{path.stem.split('--')[1]}--{VERSION}.sql" for path in (ROOT / "sql").glob("scru--*--*.sql")]
    scripts = {f"{EXTENSION}/{name}" for name in [*names, *(path.name for path in committed)]}
    outside = {path for path in files(package) if not path.startswith(DOCUMENTS)}
    assert outside == {LIBRARY, *scripts}
    documents = {"copyright", "changelog.gz", "changelog.Debian.gz"}
    assert {f"{DOCUMENTS}/{name}" for name in documents} <= files(package)


def test_fields(package):
    """The name, the version, and the dependencies: the server, and the libraries that the extension is linked with."""
    assert field(package, "Package") == f"postgresql-{MAJOR}-scru"
    assert field(package, "Version") == f"{VERSION}-1"
    assert field(package, "Architecture") == run("dpkg", "--print-architecture").strip()
    needed = {entry.split(" ")[0] for entry in field(package, "Depends").split(", ")}
    assert needed == {f"postgresql-{MAJOR}", "libc6", "libgcc-s1"}


def test_debug_symbols_are_in_a_separate_package(packages, package, tmp_path):
    """The library has no debug symbols. Those of the dbgsym package match it by build ID."""
    debug = packages[f"postgresql-{MAJOR}-scru-dbgsym"]
    run("dpkg-deb", "--extract", package, tmp_path)
    library = f"{tmp_path}{LIBRARY}"
    assert ".debug_info" not in run("readelf", "--sections", "--wide", library)
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "--notes", library))[1]
    assert files(debug) >= {f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"}


@on_the_oldest
def test_lintian(packages):
    """Debian's own checks find no error."""
    run("lintian", "--fail-on=error", *packages.values())


@as_root
@on_the_oldest
def test_three_commands_of_the_readme(machine, package):
    """The README's commands install the package, generate an ID and return its time, in less than a minute. The machine
    has neither a compiler nor a network."""
    for compiler in ("cargo", "rustc", "cc"):
        with pytest.raises(RuntimeError, match="No such file or directory"):
            machine.run(compiler, "--version")
    commands = readme_commands()
    assert len(commands) == 3
    machine.copy(package)
    begin = time.monotonic()
    printed = ""
    for command in commands:
        words = shlex.split(command.replace("apt install", "apt install --yes"))
        assert words.pop(0) == "sudo"
        user = words[1] if words[0] == "-u" else "root"
        printed = machine.run(*words[2 if words[0] == "-u" else 0 :], user=user)
    assert time.monotonic() - begin < 60
    assert re.search(r"^ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", printed, re.MULTILINE)
    with machine.connect() as connection:
        connection.execute(getting_started())


def readme_commands() -> list[str]:
    """Returns the README's commands that install the package and generate an ID."""
    readme = (ROOT / "README.md").read_text()
    block = re.search(r"^sudo apt install \./target/deb/15/(.*?)```", readme, re.DOTALL | re.MULTILINE)[1]
    block = f"sudo apt install ./{block}"
    assert f"postgresql-15-scru_{VERSION}-1_amd64.deb" in block
    return block.replace("\\\n", " ").strip().splitlines()


@as_root
def test_getting_started_and_removal(machine, package):
    """The README's first statements run with the package. Purging the package removes all its files."""
    before = machine_files(machine)
    install(machine, package)
    with machine.connect() as connection:
        connection.execute(getting_started())
        rows = connection.execute("SELECT count(*), pg_typeof(id)::text FROM orders GROUP BY 2").fetchall()
        assert rows == [(2, "scru128")]
    assert machine_files(machine) > before
    machine.run("apt", "purge", "--yes", f"postgresql-{MAJOR}-scru")
    assert machine_files(machine) == before
    with machine.connect() as connection, pytest.raises(psycopg.errors.UndefinedFile):
        connection.execute("SELECT gen_scru64()")


def getting_started() -> str:
    """Returns the README's first statements."""
    return re.search(r"## Getting started\n.*?```sql\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def machine_files(machine: Machine) -> set[str]:
    """Returns the paths of files and directories below /usr whose names contain `scru`."""
    directories = ("/usr/lib/postgresql", "/usr/share/postgresql", "/usr/share/doc")
    return set(machine.run("find", *directories, "-name", "*scru*").splitlines())


def install(machine: Machine, package: Path) -> None:
    """Installs a package, or upgrades an installed one to it."""
    machine.run("apt", "install", "--yes", machine.copy(package))


# ---------------------------------------------------------------------------------------------------------- the upgrade


RELEASED = "0.1.0"


@pytest.fixture(scope="session")
def released_package(tmp_path_factory) -> Path:
    """The package of the release: its library and SQL, with the packaging of this tree."""
    if not run("git", "log", "--format=%H", "--", f"sql/released/scru--{RELEASED}.sql"):
        pytest.skip(f"the history of this clone does not include the release of {RELEASED}")
    # Built for the system's server, like the packages.
    system = {"PG_CONFIG": f"/usr/lib/postgresql/{MAJOR}/bin/pg_config"}
    source = Path(run("tools/lib/old-library.sh", "--quick", RELEASED, env={**os.environ, **system}).splitlines()[-1])
    directory = tmp_path_factory.mktemp("released")
    run("cp", "--recursive", f"{source}/.", directory)
    run("cp", "--recursive", "Makefile", "packaging", "tools", directory)
    made = make_deb(directory, LIBRARY=str(source / "scru.so"), CARGO_TARGET_DIR=str(directory / "target"))
    return next(path for path in made if "dbgsym" not in path.name)


@as_root
@on_the_oldest
def test_upgrade_in_use(machine, released_package, package):
    """A session that has loaded the library of 0.1.0 keeps it, while new sessions load the new one. Both generate IDs
    concurrently without duplicates, before and after the update of the extension."""
    install(machine, released_package)
    with machine.connect() as old:
        old.execute(
            """CREATE EXTENSION scru;
               CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text);
               INSERT INTO orders (note) VALUES ('of 0.1.0');
               CREATE TABLE drawn (flake ulidflake, id scru64, source text)"""
        )
        install(machine, package)
        [(backend,)] = old.execute("SELECT pg_backend_pid()").fetchall()
        assert f"{LIBRARY} (deleted)" in (machine.root / f"proc/{backend}/maps").read_text()
        with machine.connect() as new:
            draw_at_once(old=old, new=new)
            new.execute("ALTER EXTENSION scru UPDATE")
            draw_at_once(old=old, new=new)
            assert new.execute("SELECT extversion FROM pg_extension WHERE extname = 'scru'").fetchall() == [(VERSION,)]
            assert new.execute("SELECT count(*) FROM orders WHERE id < now()").fetchall() == [(1,)]
            for column in ("id", "flake"):
                twice = f"SELECT {column}, array_agg(source) FROM drawn GROUP BY 1 HAVING count(*) > 1 LIMIT 10"
                assert new.execute(twice).fetchall() == []


def draw_at_once(**sessions: psycopg.Connection) -> None:
    """Generates IDs in all sessions concurrently."""
    together = threading.Barrier(len(sessions))
    statement = "INSERT INTO drawn SELECT gen_ulidflake(), gen_scru64(), %s FROM generate_series(1, 20000)"

    def draw(name: str) -> None:
        for _ in range(10):
            together.wait()
            sessions[name].execute(statement, [name])

    with ThreadPoolExecutor() as pool:
        list(pool.map(draw, sessions))
