"""Libraries of JavaScript that validate UUIDs, and encrypted IDs."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from clients import PACKAGES, PROGRAMS, node
from server import on_the_oldest

pytestmark = on_the_oldest("the libraries use no server, and test_encryption.py compares the versions")

IDS = 1000
# The SQL expression for an ID of each kind, with a number `n`.
KINDS = {
    "uuidv7": "gen_uuidv7()",
    "scru64": "(scru64_lower(now())::bigint + n)::scru64",
    "ulidflake": "(ulidflake_lower(now())::bigint + n)::ulidflake",
    "scru_bigint": "n",
    "scru128": "gen_scru128()",
    "ulid": "gen_ulid()",
}


@pytest.mark.parametrize("kind", KINDS)
def test_validators_take_encrypted_ids(connection, kind, tmp_path):
    """zod, uuid and validator take every result as version 4, except for scru128 and ulid, which have no version."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    encrypted = f"{kind}_encrypt({KINDS[kind]}, sha256(int8send(n % 10)))"
    query = f"SELECT {encrypted}::text FROM generate_series(1, {IDS}::bigint) AS n"
    uuids = [uuid for (uuid,) in connection.execute(query)]
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    program = shutil.copy(PROGRAMS / "validators.mjs", tmp_path)
    done = subprocess.run([*node(), program], input="\n".join(uuids), capture_output=True, text=True, check=True)
    taken = {name: int(number) for name, number in map(str.split, done.stdout.splitlines())}
    assert set(taken) == {"zod", "uuid", "validator"}
    for number in taken.values():
        assert number < IDS / 10 if kind in ("scru128", "ulid") else number == IDS
