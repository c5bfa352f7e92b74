"""The server's own regression tests have the same output in a database with the extension as in one without it.

They are in the server's source only, which `tools/lib/server-source.sh` downloads. If that fails, the test is skipped:
a mirror may have no sources of a version. The server of 16 is from a wheel: it runs the scripts of 15, which
Debian 12 has.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
from difflib import unified_diff
from pathlib import Path

import pytest

from conftest import Database
from server import MAJOR

ROOT = Path(__file__).parents[3]
# The tests of the types that the extension's operators and casts refer to, and those that look for inconsistent
# catalogs. They run after test_setup, which creates tables and types.
TESTS = (
    "rangetypes",
    "multirangetypes",
    "timestamptz",
    "uuid",
    "date",
    "timestamp",
    "int8",
    "opr_sanity",
    "type_sanity",
)

# What opr_sanity lists in addition to the server's own objects.
LISTED = {
    # Casts without a function in one direction only: every ID is a bigint, but not every bigint is an ID.
    "+ scru64            | bigint            |        0 | a",
    "+ ulidflake         | bigint            |        0 | a",
    # The operators of the operator classes for GIN.
    "+       2742 |            1 | <",
    "+       2742 |            2 | <=",
    "+       2742 |            3 | =",
    "+       2742 |            4 | >=",
    "+       2742 |            5 | >",
}


@pytest.fixture(scope="module")
def scripts() -> dict[str, bytes]:
    """The scripts of the tests, by name."""
    major = "15" if MAJOR == 16 else str(MAJOR)
    found = subprocess.run([ROOT / "tools/lib/server-source.sh", major], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"no source of PostgreSQL (apt, deb-src): {found.stderr.strip()[-200:]}")
    wanted = {f"src/test/regress/sql/{name}.sql": name for name in ("test_setup", *TESTS)}
    with tarfile.open(found.stdout.strip()) as archive:
        of_tests = [(member, wanted.get(member.name.partition("/")[2])) for member in archive]
        return {name: archive.extractfile(member).read() for member, name in of_tests if name}


def outputs(database: Database, scripts: dict[str, bytes]) -> dict[str, list[str]]:
    """Returns the lines that each test prints in a database, with the settings of the server's own test runs."""
    with database.connect() as connection:
        for setting in "timezone = 'PST8PDT'", "datestyle = 'Postgres, MDY'", "intervalstyle = postgres_verbose":
            connection.execute(f"ALTER DATABASE {database.name} SET {setting}")
    # The tests expect errors, which psql prints between the results.
    psql = f"exec '{database.server.bindir}/psql' -X -a -q -d {database.name} 2>&1"
    run = database.server.run
    return {name: run("/bin/sh", "-c", psql, input=scripts[name]).stdout.decode().splitlines() for name in scripts}


def test_the_tests_of_the_server_print_the_same(new_database, scripts):
    assert {"test_setup", *TESTS} == scripts.keys()
    without = outputs(new_database(extension=False), scripts)
    with_extension = outputs(new_database(), scripts)
    differences = {}
    for name in TESTS:
        assert len(without[name]) > 100, name
        difference = unified_diff(without[name], with_extension[name], lineterm="", n=0)
        differences[name] = {line for line in difference if not line.startswith(("---", "+++", "@@"))}
    rows = {line for line in differences["opr_sanity"] if re.fullmatch(r"[+-]\(\d+ rows\)", line)}
    assert differences.pop("opr_sanity") == LISTED | rows
    # The numbers of rows of both lists, without the extension and with it.
    assert sum(int(line[0] + line[2:].split()[0]) for line in rows) == len(LISTED)
    assert differences == {name: set() for name in differences}
