"""Encryption of IDs in SQL: the vectors of the second implementation. Python as a program that validates UUIDs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from uuid import RFC_4122, UUID

import psycopg
import pytest

from programs import missing
from server import on_the_oldest

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/encryption/vectors.json").read_text())
# The prefix of the functions of each kind, and the SQL expression for an ID with the hexadecimal digits `id`.
KINDS = {
    "uuidv7": ("uuidv7", "id::uuid"),
    "bigint": ("scru_bigint", "('x' || id)::bit(64)::bigint"),
    **{name: (name, f"decode(id, 'hex')::{name}") for name in ("scru64", "ulidflake", "scru128", "ulid")},
}
WITHOUT_VERSION = ("scru128", "ulid")


@pytest.fixture
def encrypting(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a new database with both extensions."""
    connection.execute("CREATE EXTENSION scru_uuidv7")
    return connection


@pytest.mark.parametrize("kind", KINDS)
def test_encrypted_ids_are_those_of_the_second_implementation(encrypting, kind):
    prefix, id = KINDS[kind]
    vectors = [[each["key"], each["id"], each["uuid"]] for each in VECTORS["encrypted"] if each["kind"] == kind]
    assert len(vectors) > 50
    query = f"""
        SELECT key, id, {prefix}_encrypt({id}, decode(key, 'hex'))::text
        FROM unnest(%s::text[], %s::text[], %s::uuid[]) AS vectors (key, id, uuid)
        WHERE {prefix}_decrypt(uuid, decode(key, 'hex')) = {id}"""
    columns = list(map(list, zip(*vectors, strict=True)))
    assert encrypting.execute(query, columns).fetchall() == list(map(tuple, vectors))


@pytest.mark.parametrize("kind", KINDS)
def test_foreign_uuids_are_null(encrypting, kind):
    """The UUIDs are of version 4, and made with the key, but from no ID: bits after the ID, or an ID out of range."""
    vectors = [(each["key"], each["uuid"]) for each in VECTORS["foreign"] if each["kind"] == kind]
    assert bool(vectors) == (kind in ("bigint", "scru64", "ulidflake"))
    for key, uuid in vectors:
        query = f"SELECT {KINDS[kind][0]}_decrypt(%s, decode(%s, 'hex'))"
        assert encrypting.execute(query, [uuid, key]).fetchone() == (None,)


@on_the_oldest("uses no server")
def test_the_vectors_are_those_that_their_program_makes():
    if not find_spec("cryptography"):
        missing("Python has no package cryptography (Debian: python3-cryptography)")
    from tests.vectors.encryption.vectors import vectors

    assert vectors() == VECTORS


@on_the_oldest("uses no server")
def test_python_takes_the_uuids():
    """Python's `uuid` reads version 4, except for the kinds without a version."""
    versions = {}
    for each in VECTORS["encrypted"]:
        uuid = UUID(each["uuid"])
        versions.setdefault(each["kind"], set()).add((uuid.variant, uuid.version))
    for kind, found in versions.items():
        assert (found == {(RFC_4122, 4)}) == (kind not in WITHOUT_VERSION)
