"""The packages of `make packages`: built from the archive of the last commit in each Debian, and used in one without a
compiler. A build takes minutes: `make test-long` runs these tests, and CI those of test_deb.py.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from conftest import ROOT, TARGET, VERSION, as_root, run, running
from server import MAJOR, long

pytestmark = [long, as_root]

# Debian 12, 13 and unstable. 19 is in experimental only.
SERVERS = (15, 17, 18, 19)
DIRECTORY = TARGET / "packages"


@pytest.fixture(scope="module", params=SERVERS)
def major(request) -> int:
    """A server, for which the packages have been built."""
    run("make", "packages", f"ONLY={request.param}")
    return request.param


def test_use(major):
    """The package is built by dpkg-buildpackage alone, by Debian's own compiler from Debian 13 on, without an error of
    lintian. The test for autopkgtest uses each type on a new server of a Debian without a compiler and a network."""
    log = (DIRECTORY / f"{major}.log").read_text()
    assert re.search(rf"^dpkg-deb: building package 'postgresql-{major}-scru' in ", log, re.MULTILINE)
    assert not re.search(r"^E: ", log, re.MULTILINE)
    [compiler] = re.findall(rf"^==> Building scru .* for PostgreSQL {major}\D.* with (rustc .*)$", log, re.MULTILINE)
    assert compiler.endswith(" (built from a source tarball)") == (major != 15)
    [built] = DIRECTORY.glob(f"postgresql-{major}-scru_*.deb")
    with running(Path(run("tools/lib/servers.sh", "bare", major).splitlines()[-1]), major) as machine:
        machine.run("apt", "install", "--yes", machine.copy(built))
        run("cp", "-r", ROOT / "packaging/debian/tests", machine.root / "tmp/tests")
        assert machine.run("/tmp/tests/use").endswith(f"\nPostgreSQL {major}: passed\n")


def test_checksums(major):
    """SHA256SUMS has a line for each file."""
    lines = dict(reversed(line.split("  ")) for line in (DIRECTORY / "SHA256SUMS").read_text().splitlines())
    assert lines == {path.name: digest(path) for path in DIRECTORY.glob("*.deb")}
    architecture = run("dpkg", "--print-architecture").strip()
    assert {f"postgresql-{major}-scru{kind}_{VERSION}-1_{architecture}.deb" for kind in ("", "-dbgsym")} <= set(lines)


@pytest.mark.parametrize("major", [MAJOR], indirect=True)
def test_two_compilations_for_debian_have_the_same_bytes(major, packages):
    """`make deb` compiles in this tree, with Cargo's own copies of the crates. `make packages` compiles in another
    directory, as another user, with vendored crates. Both use the same compiler."""
    for path in packages.values():
        assert digest(DIRECTORY / path.name) == digest(path), path.name


def test_two_compilations_for_rpm_have_the_same_files():
    """rpmbuild compiles in its own directory, with vendored crates. The files are those of the package with a library
    of this tree, whose header differs: it has the digest of the source package, which has no crates."""
    server = f"/usr/lib/postgresql/{MAJOR}/bin/pg_config"
    run("make", f"PG_CONFIG={server}")
    compiled = files_of_rpm(server)
    assert files_of_rpm(server, f"LIBRARY={TARGET}/release/libscru.so") == compiled


def files_of_rpm(server: str, *arguments: str) -> str:
    """Returns the digest of the files, with their attributes, in the package that `make rpm` builds."""
    printed = run("make", "rpm", f"PG_CONFIG={server}", *arguments)
    [package] = (line for line in printed.splitlines() if line.startswith("/") and not line.endswith(".src.rpm"))
    return run("rpm", "--query", "--package", "--queryformat", "%{PAYLOADDIGEST}", package)


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
