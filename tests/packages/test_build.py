"""`make` and `make install` only compile and copy. Third-party tools accept META.json and the workflows.

If such a tool cannot be installed, its test is skipped.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import EXTENSIONS, ROOT, RUST_VERSION, VERSION, extension_files, on_the_oldest, readable_directory, run
from server import MAJOR, MAJORS, pg_config

pytestmark = on_the_oldest

SYSTEM = f"/usr/lib/postgresql/{MAJOR}/bin/pg_config"

# Runs a command as an ordinary user without a network. Mounts the toolchain, which may be in another user's home.
APART = """
mount --bind "$(rustc --print sysroot)" "$0/rust"
PATH=$0/programs:$0/rust/bin:/usr/bin:/bin
cd "$1" && shift
exec setpriv --reuid=nobody --regid=nogroup --clear-groups env --ignore-environment PATH="$PATH" "$@"
"""

FORBIDDEN = ("apt", "apt-get", "dpkg", "sudo", "su", "curl", "wget", "rustup", "pip")


class Place:
    """A directory with sources and crates, in which an ordinary user builds."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.sources = directory / "scru"
        self.home = directory / "home"
        self.target = directory / "target"
        for each in ("rust", "programs", "home", "scru", "target", "destination"):
            (directory / each).mkdir()
        for name in FORBIDDEN:
            # It fails, and records the call.
            program = directory / "programs" / name
            program.write_text(f"#!/bin/sh\necho {name} >>{directory}/called\nexit 1\n")
            program.chmod(0o755)

    def run(self, *command: str, directory: Path | None = None, **environment: str) -> str:
        """Runs a command as the user, with an empty home directory and no network."""
        given = {
            "HOME": self.home,
            "CARGO_HOME": self.home / "cargo",
            "CARGO_TARGET_DIR": self.target,
            "LIBRARY_PROFILE": "quick",
            **environment,
        }
        words = [f"{name}={value}" for name, value in given.items()]
        apart = ("unshare", "--mount", "--net", "bash", "-ec", APART)
        return run(*apart, self.directory, directory or self.sources, *words, *command)

    def called(self) -> str:
        """Returns the names of the forbidden programs that were called."""
        path = self.directory / "called"
        return path.read_text() if path.exists() else ""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A place with the sources of this tree, including uncommitted ones, and their crates from `make vendor`."""
    if os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user without a network")
    with readable_directory() as directory:
        place = Place(directory)
        files = run("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        run("cp", "--parents", *files, place.sources)
        run("make", "vendor", cwd=place.sources)
        run("chown", "--recursive", "nobody:nogroup", directory)
        yield place


def installed(place: Place) -> set[str]:
    """Returns the files in the destination."""
    destination = place.directory / "destination"
    return {f"/{path.relative_to(destination)}" for path in destination.rglob("*") if path.is_file()}


def expected() -> set[str]:
    """Returns the paths of the extension's files in an installation for the system's server."""
    scripts = {f"{pg_config('--sharedir', SYSTEM)}/extension/{name}" for name in extension_files()}
    return scripts | {f"{pg_config('--pkglibdir', SYSTEM)}/scru.so"}


def test_an_ordinary_user_installs_without_a_network(place):
    """`make DESTDIR=… install`, with vendored crates and an empty Cargo home, installs exactly the extension's files,
    and calls no forbidden program."""
    destination = place.directory / "destination"
    place.run("make", "install", f"DESTDIR={destination}", f"PG_CONFIG={SYSTEM}")
    assert installed(place) == expected()
    assert place.called() == ""
    assert not any((place.home / "cargo").glob("registry/*/*"))
    control = (destination / pg_config("--sharedir", SYSTEM).lstrip("/") / "extension/scru.control").read_text()
    assert f"default_version = '{VERSION}'" in control


def test_make_install_after_make_requires_no_compiler(place):
    """After `make`, `sudo make install` does not need Rust. `make uninstall` removes all installed files."""
    destination = place.directory / "destination"
    place.run("make", f"PG_CONFIG={SYSTEM}")
    shutil.rmtree(destination)
    destination.mkdir()
    arguments = (f"DESTDIR={destination}", f"PG_CONFIG={SYSTEM}")
    without_rust = {"PATH": "/usr/bin:/bin", "HOME": "/"}
    without_rust |= {"CARGO_TARGET_DIR": str(place.target), "LIBRARY_PROFILE": "quick"}
    run("make", "install", *arguments, cwd=place.sources, env=without_rust)
    assert installed(place) == expected()
    run("make", "uninstall", *arguments, cwd=place.sources, env=without_rust)
    assert installed(place) == set()


def test_pgxn_installs_the_archive(place, tmp_path):
    """`pgxn install` compiles and installs the archive of `make dist`."""
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, tmp_path / "clone")
    # Without this option, a make that another make runs ends its output with the name of the directory.
    command = ("make", "--no-print-directory", "dist")
    archive = Path(run(*command, cwd=tmp_path / "clone", env={**os.environ, "CARGO_TARGET_DIR": ""}).split()[-1])
    assert archive.name == f"scru-{VERSION}.zip"
    there = Path(shutil.copy(archive, place.directory))
    there.chmod(0o644)
    crates = place.home / "cargo"
    crates.mkdir(exist_ok=True)
    config = (place.sources / "vendor/config.toml").read_text()
    (crates / "config.toml").write_text(config.replace('directory = "', f'directory = "{place.sources}/'))
    destination = place.directory / "destination"
    shutil.rmtree(destination)
    destination.mkdir()
    shutil.chown(destination, "nobody", "nogroup")
    # pgxn calls sudo if the server's directories belong to root. With DESTDIR, sudo is unnecessary: `env` replaces it.
    options = ("--pg_config", SYSTEM, "--sudo", "env")
    place.run("pgxn", "install", str(there), *options, directory=place.home, DESTDIR=str(destination))
    assert installed(place) == expected()
    assert place.called() == ""


@pytest.mark.parametrize("version", ["1.70.0", None])
def test_a_missing_or_old_compiler_is_reported_in_one_line(tmp_path, version):
    """The message names the required version, and says how to install it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    # The distribution may have a compiler.
    for program in Path("/usr/bin").iterdir():
        if not re.match("rust|cargo", program.name):
            (programs / program.name).symlink_to(program)
    if version:
        compiler = programs / "rustc"
        compiler.write_text(f"#!/bin/sh\necho 'rustc {version} (90c541806 2023-05-31)'\n")
        compiler.chmod(0o755)
    with pytest.raises(RuntimeError) as error:
        run("make", env={"PATH": str(programs), "HOME": str(tmp_path), "PG_CONFIG": SYSTEM})
    message = (
        f"Rust {RUST_VERSION} or newer is missing. On Debian, run: make setup. Elsewhere, get it from https://rustup.rs"
    )
    said = [line for line in str(error.value).splitlines()[1:] if line]
    assert said[0] == message
    assert [line.split(" [")[0] for line in said[1:]] == ["make: ***"]


def test_an_unsupported_server_is_reported(tmp_path):
    """The message is about the server, not about Cargo's features or pgrx."""
    program = tmp_path / "pg_config"
    program.write_text("#!/bin/sh\necho PostgreSQL 14.2\n")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match=r"PostgreSQL 14 is not supported: 15 to 19 are\."):
        run("make", f"PG_CONFIG={program}")


def test_metadata_agree_with_the_tree():
    """META.json lists the extensions, and its files exist. The packages require the compiler of Cargo.toml.
    tools/lib/release.py compares the versions."""
    meta = json.loads((ROOT / "META.json").read_text())
    assert set(meta["provides"]) == set(EXTENSIONS)
    for provided in meta["provides"].values():
        assert (ROOT / provided["file"]).is_file()
        assert (ROOT / provided["docfile"]).is_file()
    dependencies = (ROOT / "packaging/debian/control.in").read_text()
    needed = [(name, RUST_VERSION) for name in ("cargo", "rustc", "rustfmt")]
    assert re.findall(r"(cargo|rustc|rustfmt) \(>= ([\d.]+)\)", dependencies) == needed


def test_the_rows_for_a_catalog_agree_with_the_extensions():
    """The rows for Pigsty's catalog state what the control files and Cargo.toml do."""
    with (ROOT / "packaging/pigsty/extension.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(EXTENSIONS)
    pgrx = re.search(r'^pgrx = .*"=([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    yes = {"true": "t", "false": "f"}
    for name, row in rows.items():
        [path] = [path for path in (ROOT / f"{name}.control", ROOT / f"sql/{name}.control") if path.exists()]
        control = dict(re.findall(r"^(\w+) = '?(.*?)'?$", path.read_text(), re.MULTILINE))
        assert (row["trusted"], row["relocatable"]) == (yes[control["trusted"]], yes[control["relocatable"]])
        assert row["requires"] == f"{{{control['requires']}}}"
        assert row["pg_ver"] == f"{{{','.join(str(major) for major in sorted(MAJORS, reverse=True))}}}"
        assert json.loads(row["extra"]) == {"pgrx": pgrx}
        assert (row["pkg"], row["lead_ext"], row["lead"]) == ("scru", "scru", "t" if name == "scru" else "f")
        assert (row["license"], row["lang"], row["tags"]) == ("Apache-2.0", "Rust", "{pgrx}")
        assert (row["deb_pkg"], row["rpm_pkg"]) == ("postgresql-$v-scru", "scru_$v")
    spec = (ROOT / "packaging/rpm/scru.spec").read_text()
    assert "\nName:           scru_%{pgmajorversion}\n" in spec
    assert "\nPackage: postgresql-PGVERSION-scru\n" in (ROOT / "packaging/debian/control.in").read_text()


def test_the_workflow_calls_existing_targets():
    """The release workflow calls only targets of the Makefile, and no script in tools/."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = set(re.findall(r"^ +(?:run: )?make (?:--silent )?([\w-]+)", workflow, re.MULTILINE))
    assert called == {"setup", "deb", "rpm", "image", "dist", "python", "release-check", "release-notes"}
    assert called <= targets
    assert "tools/" not in workflow


def test_the_copyright_names_all_crates():
    """The copyright file lists exactly the crates linked into the library, with their versions and licenses."""
    lines = ("--edges=normal,no-proc-macro", "--prefix=none", "--format={p}")
    tree = run("cargo", "tree", "--locked", "--package=scru", *lines)
    linked = {line.split(" (")[0].replace(" v", "-") for line in tree.splitlines() if not line.startswith("scru")}
    written = run(ROOT / "packaging/copyright.py")
    paragraphs = written.split("\n\n")
    fields = [re.match(r"Files: (.*?)\nCopyright: ", each, re.DOTALL) for each in paragraphs]
    named = {crate for field in fields if field for crate in field[1].split()}
    assert named - {"*", "rust-std"} == linked
    for each in paragraphs[1:]:
        assert re.search(r"^License: (MIT|Apache-2.0|Unlicense|Zlib)", each, re.MULTILINE), each
