"""The Debian packages: their contents, and their installation, upgrade under load and removal on a machine.

The RPM package has the same files.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from machine import Machine

from conftest import ROOT, TARGET, VERSION, as_root, build_packages, extension_files, on_the_oldest, run
from server import MAJOR, SHARES_TESTS

LIBRARY = f"/usr/lib/postgresql/{MAJOR}/lib/scru.so"
PROFILE = os.environ.get("LIBRARY_PROFILE") or "release"
COMPILED = Path(os.environ.get("LIBRARY") or TARGET / PROFILE / "libscru.so")
EXTENSION = f"/usr/share/postgresql/{MAJOR}/extension"
DOCUMENTS = f"/usr/share/doc/postgresql-{MAJOR}-scru"


def files(package: Path) -> set[str]:
    """Returns the paths of the files in a package."""
    listing = run("dpkg-deb", "--contents", package).splitlines()
    return {line.split()[5].removeprefix(".") for line in listing if not line.startswith("d")}


def test_files_and_fields(package):
    """The extension's files are in the directories of Debian's server. The package has a copyright and changelogs. It
    depends on the server, and on the libraries that the extension is linked with."""
    outside = {path for path in files(package) if not path.startswith(DOCUMENTS)}
    assert outside == {LIBRARY, *(f"{EXTENSION}/{name}" for name in extension_files())}
    documents = {"copyright", "changelog.gz", "changelog.Debian.gz"}
    assert {f"{DOCUMENTS}/{name}" for name in documents} <= files(package)
    fields = dict(re.findall(r"^(\w+): (.*)$", run("dpkg-deb", "--field", package), re.MULTILINE))
    assert (fields["Package"], fields["Version"]) == (f"postgresql-{MAJOR}-scru", f"{VERSION}-1")
    assert fields["Architecture"] == run("dpkg", "--print-architecture").strip()
    needed = {entry.split(" ")[0] for entry in fields["Depends"].split(", ")}
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


@on_the_oldest
def test_two_builds_have_the_same_bytes(packages):
    """With the same library. test_matrix.py compares two compilations."""
    before = {path: path.read_bytes() for path in packages.values()}
    build_packages()
    for path, content in before.items():
        assert path.read_bytes() == content, path.name


@pytest.mark.skipif(PROFILE != "release", reason="only the release profile is reproducible")
@pytest.mark.usefixtures("package")
def test_the_library_names_no_directory_of_its_build():
    """The paths of sources in the library, for messages and for debuggers, are not those of this machine."""
    homes = (ROOT, TARGET, os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    content = COMPILED.read_bytes()
    assert [home for home in homes if str(home).encode() in content] == []
    assert f"/usr/src/scru-{VERSION}/vendor/pgrx-".encode() in content


@on_the_oldest
def test_an_rpm_package_has_the_same_files(packages, package, tmp_path):
    """For the same server, the files outside of the documentation have the same paths, and the scripts the same
    contents. rpmlint finds no error. The library is that of the Debian package: it is not compiled again."""
    server = f"/usr/lib/postgresql/{MAJOR}/bin/pg_config"
    printed = run("make", "rpm", f"PG_CONFIG={server}", f"LIBRARY={COMPILED}")
    [rpm] = (line for line in printed.splitlines() if line.startswith("/") and not line.endswith(".src.rpm"))
    run("rpmlint", "--config", ROOT / "packaging/rpm/rpmlint.toml", rpm, ROOT / "packaging/rpm/scru.spec")
    listing = run("rpm", "--query", "--package", "--queryformat", "[%{FILENAMES} %{FILEDIGESTS}\n]", rpm).splitlines()
    # A directory has no digest.
    digests = dict(line.split() for line in listing if len(line.split()) == 2)
    documents = ("/usr/share/doc/", "/usr/share/licenses/")
    ours = {path: digest for path, digest in digests.items() if not path.startswith(documents)}
    assert set(ours) == {path for path in files(package) if not path.startswith(DOCUMENTS)}
    run("dpkg-deb", "--extract", package, tmp_path)
    for path in set(ours) - {LIBRARY}:
        assert hashlib.sha256(Path(f"{tmp_path}{path}").read_bytes()).hexdigest() == ours[path], path


@as_root
def test_installation_and_removal(machine, package):
    """The README's commands install the package, and its first statements and the test for autopkgtest run. The machine
    has neither a compiler nor a network. Purging the package removes its files."""
    # `make test-all` has a machine with the compilers of its host.
    for compiler in () if SHARES_TESTS else ("cargo", "rustc", "cc"):
        with pytest.raises(RuntimeError, match="No such file or directory"):
            machine.run(compiler, "--version")
    before = machine_files(machine)
    readme = (ROOT / "README.md").read_text()
    assert "\nsudo apt install ./target/deb/*/postgresql-*-scru_*.deb\n" in readme
    install(machine, package)
    create, generate = re.findall(r"^sudo -u postgres (psql -c .*)", readme, re.MULTILINE)
    machine.run(*shlex.split(create), user="postgres")
    printed = machine.run(*shlex.split(generate), user="postgres")
    assert re.search(r"^ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", printed, re.MULTILINE)
    with machine.connect() as connection:
        connection.execute(re.search(r"## Getting started\n.*?```sql\n(.*?)```", readme, re.DOTALL)[1])
        rows = connection.execute("SELECT count(*), pg_typeof(id)::text FROM orders GROUP BY 2").fetchall()
        assert rows == [(2, "scru128")]
    shutil.copytree(ROOT / "packaging/debian/tests", machine.root / "tmp/tests")
    assert machine.run("/tmp/tests/use").endswith(f"\nPostgreSQL {MAJOR}: passed\n")
    assert machine_files(machine) > before
    machine.run("apt", "purge", "--yes", f"postgresql-{MAJOR}-scru")
    assert machine_files(machine) == before
    with machine.connect() as connection, pytest.raises(psycopg.errors.UndefinedFile):
        connection.execute("SELECT gen_scru64()")


def machine_files(machine: Machine) -> set[str]:
    """Returns the paths of files and directories below /usr whose names contain `scru`."""
    directories = ("/usr/lib/postgresql", "/usr/share/postgresql", "/usr/share/doc")
    return set(machine.run("find", *directories, "-name", "*scru*").splitlines())


def install(machine: Machine, package: Path) -> None:
    """Installs a package, or upgrades an installed one to it."""
    machine.run("apt", "install", "--yes", machine.copy(package))


# ---------------------------------------------------------------------------------------------------------- the upgrade


@pytest.fixture
def next_package(package, tmp_path) -> Path:
    """The package with another version number, as a later release has it. Its files are copies."""
    run("dpkg-deb", "--raw-extract", package, tmp_path / "next")
    control = tmp_path / "next/DEBIAN/control"
    control.write_text(control.read_text().replace(f"\nVersion: {VERSION}-1\n", f"\nVersion: {VERSION}-2\n"))
    run("dpkg-deb", "--build", tmp_path / "next", tmp_path / "next.deb")
    return tmp_path / "next.deb"


@as_root
@on_the_oldest
def test_upgrade_in_use(machine, package, next_package):
    """A session that has loaded the library of the old package keeps it, while new sessions load the new one. Both
    generate IDs concurrently without duplicates."""
    install(machine, package)
    with machine.connect() as old:
        old.execute(
            """CREATE EXTENSION scru;
               CREATE TABLE drawn (flake ulidflake, id scru64, source text);
               INSERT INTO drawn VALUES (gen_ulidflake(), gen_scru64(), 'before')"""
        )
        install(machine, next_package)
        [(backend,)] = old.execute("SELECT pg_backend_pid()").fetchall()
        assert f"{LIBRARY} (deleted)" in (machine.root / f"proc/{backend}/maps").read_text()
        with machine.connect() as new:
            statement = "INSERT INTO drawn SELECT gen_ulidflake(), gen_scru64(), %s FROM generate_series(1, 200000)"
            with ThreadPoolExecutor() as pool:
                list(pool.map(lambda session, name: session.execute(statement, [name]), (old, new), ("old", "new")))
            assert new.execute("SELECT count(*) FROM drawn").fetchall() == [(400_001,)]
            for column in ("id", "flake"):
                twice = f"SELECT {column}, array_agg(source) FROM drawn GROUP BY 1 HAVING count(*) > 1 LIMIT 10"
                assert new.execute(twice).fetchall() == []
