"""tools/setup.sh on machines without a compiler: what it prints, asks and installs.

apt and curl are replaced by programs that record their calls.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from machine import Machine

from conftest import ROOT, RUST_VERSION, as_root, on_the_oldest, run
from server import MAJOR, MAJORS

pytestmark = [as_root, on_the_oldest]

# What apt-cache prints as the candidate of a package of Rust: that of the archive or, if used, that of backports.
APT_CACHE = """#!/bin/sh
version={archive}
grep -qs 'Package: src:rustc' /root/.cache/scru/apt/preferences && version={backports}
case "$*" in *" policy "*) printf 'name:\\n  Candidate: %s\\n' $version ;; esac
"""
APT_GET = """#!/bin/sh
case "$*" in
*indextargets*) echo "$(. /etc/os-release && echo "$VERSION_CODENAME") http://mirror.example/debian" ;;
*" install "*) echo "apt-get ${*#* install }" | tee -a /root/calls ;;
esac
"""
# Prints an installer like that of rustup, whose toolchain has programs that only state their version.
CURL = r"""#!/bin/sh
echo 'curl' >>/root/calls
cat <<'INSTALLER'
echo "rustup $*" | tee -a /root/calls
there=$RUSTUP_HOME/toolchains/stable/bin
mkdir -p "$there"
for name in rustc cargo; do printf '#!/bin/sh\necho %s 9.9.9\n' $name >"$there/$name" && chmod +x "$there/$name"; done
INSTALLER
"""


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """A machine with the server, the scripts of this tree, and no compiler."""
    for path in run("git", "ls-files", "tools", "Cargo.toml", "Cargo.lock").split():
        there = machine.root / "srv/scru" / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes((ROOT / path).read_bytes())
        there.chmod(0o755)
    return machine


def replace_apt(machine: Machine, archive: str, backports: str) -> None:
    """Replaces apt, which offers these versions of Rust and installs nothing, and curl."""
    cache = APT_CACHE.format(archive=archive, backports=backports)
    for name, program in ("apt-get", APT_GET), ("apt-cache", cache), ("curl", CURL):
        path = machine.root / "usr/bin" / name
        path.unlink(missing_ok=True)
        path.write_text(program)
        path.chmod(0o755)


def calls(machine: Machine) -> list[str]:
    """Returns the recorded calls that install something."""
    path = machine.root / "root/calls"
    return path.read_text().splitlines() if path.exists() else []


def set_up(machine: Machine, purpose: str = "", before: str = "", terminal: bool = False) -> str:
    """Runs tools/setup.sh, which finds no compiler after the installation, and fails. Returns what it printed."""
    command = f"cd /srv/scru && {before} tools/setup.sh {purpose} 2>&1"
    if terminal:
        command = f"echo yes | script --quiet --return --command '{command}' /dev/null"
    with pytest.raises(RuntimeError) as error:
        machine.run("bash", "-c", command)
    return str(error.value).replace("\r", "")


def files(directory: Path) -> dict[str, bytes]:
    """Returns the files of a directory with their contents."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


BUILD = (
    "a C compiler (Debian: gcc libc6-dev)",
    "libclang with its headers (Debian: libclang-dev)",
    f"the headers of PostgreSQL {MAJOR} (Debian: postgresql-server-dev-{MAJOR})",
    "ICU's headers (Debian: libicu-dev)",
    f"Rust {RUST_VERSION} or newer with Cargo (Debian: rustc cargo)",
    "rustfmt (Debian: rustfmt)",
)
PACKAGES = f"gcc libc6-dev libclang-dev postgresql-server-dev-{MAJOR} libicu-dev"


def test_a_system_without_apt(machine):
    """One screen names each missing thing. The system has no server either."""
    (machine.root / "usr/bin/apt-get").unlink()
    (machine.root / "etc/os-release").unlink()
    (machine.root / "etc/os-release").write_text("ID=other\n")
    message = set_up(machine).splitlines()
    assert [line[4:] for line in message if line.startswith("  - ")] == list(BUILD)
    machine.run("rm", "-r", f"/usr/lib/postgresql/{MAJOR}/bin")
    message = set_up(machine, "test").splitlines()
    named = [line[4:] for line in message if line.startswith("  - ")]
    between = f"{min(MAJORS)} to {max(MAJORS)}"
    assert f"PostgreSQL {between} (Debian: postgresql-NN)" in named
    assert f"the headers of PostgreSQL {between} (Debian: postgresql-server-dev-NN)" in named
    for part in "a C++ compiler", "Clippy", "Python 3 with pytest", "pytest-xdist", "hypothesis", "libfaketime", "sudo":
        assert [line for line in named if line.startswith(part)], part
    assert len(message) <= 25 and max(map(len, message)) <= 110
    assert "Missing packages can be installed on Debian only." in message


def test_rust_of_the_archive(machine):
    """The plan is printed before apt installs anything."""
    replace_apt(machine, f"{RUST_VERSION}.1+dfsg1-1", "9.9.9")
    printed = set_up(machine)
    command = f"apt-get --yes --no-install-recommends {PACKAGES} rustc cargo rustfmt"
    assert calls(machine) == [command]
    plan, _, installation = printed.partition(f"Installing through apt:\n    {PACKAGES}\n    rustc cargo rustfmt\n")
    assert "apt-get" not in plan and installation.startswith(command)


def test_rust_of_backports(machine):
    """They are used for this installation only: the configuration of apt does not change."""
    replace_apt(machine, "1.85.0+dfsg3-1", f"{RUST_VERSION}.1+dfsg1-2~bpo13+1")
    before = files(machine.root / "etc")
    printed = set_up(machine)
    assert calls(machine) == [f"apt-get --yes --no-install-recommends {PACKAGES} rustc cargo rustfmt"]
    codename = machine.run("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME").strip()
    plan = f"    rustc cargo rustfmt (from {codename}-backports, which is a source of this installation only)\n"
    assert printed.index(plan) < printed.index("apt-get --yes")
    assert files(machine.root / "etc") == before
    sources = (machine.root / "root/.cache/scru/apt/sources.list.d/scru.list").read_text()
    assert sources.endswith(f"http://mirror.example/debian {codename}-backports main\n")


def test_rustup_needs_consent(machine):
    """Without it, nothing is installed, and the last line says what to run."""
    replace_apt(machine, "1.85.0+dfsg3-1", "1.90.0")
    printed = set_up(machine)
    assert printed.rstrip().splitlines()[-1] == (
        f"apt has no Rust {RUST_VERSION}. To install it with rustup's installer as above, run: RUSTUP=yes make …"
    )
    assert calls(machine) == []


@pytest.mark.parametrize("terminal", [False, True], ids=["RUSTUP=yes", "a terminal"])
def test_rustup(machine, terminal):
    """The installer writes into the directory of the project's downloads. The toolchain is found there."""
    replace_apt(machine, "1.85.0+dfsg3-1", "1.90.0")
    printed = set_up(machine, before="" if terminal else "RUSTUP=yes", terminal=terminal)
    assert "Rust, with rustup's installer and its minimal profile, into /root/.cache/scru/rust\n" in printed
    assert calls(machine) == [
        f"apt-get --yes --no-install-recommends {PACKAGES}",
        "curl",
        "rustup -y --no-modify-path --profile minimal --component rustfmt --component clippy",
    ]
    # What remains is what the replaced apt has not installed.
    missing = [line[4:] for line in printed.splitlines() if line.startswith("  - ")]
    assert missing == list(BUILD[:4])
    assert {path.name for path in (machine.root / "root").iterdir()} - {"calls"} == {".bashrc", ".cache", ".profile"}
