"""The statements in docs/types.md about the server's `uuid`, and about features of PostgreSQL 19."""

from __future__ import annotations

import psycopg
import pytest

from server import since


@since(18, "uuidv7()")
def test_a_version_7_uuid_keeps_its_bytes_order_and_time(connection):
    query = """
        SELECT bool_and(id::scru128::uuid = id AND scru128_timestamp(id::scru128) = uuid_extract_timestamp(id)),
               array_agg(id ORDER BY id) = array_agg(id ORDER BY id::scru128)
        FROM (SELECT uuidv7() AS id FROM generate_series(1, 1000)) AS ids
    """
    assert connection.execute(query).fetchone() == (True, True)


def test_a_uuid_has_no_minimum(connection):
    with pytest.raises(psycopg.errors.UndefinedFunction, match=r"function min\(uuid\) does not exist"):
        connection.execute("SELECT min(gen_random_uuid())")


@since(19, "base32hex")
def test_base32hex_is_the_text_of_a_scru160(connection):
    query = """
        SELECT bool_and(encode(id::bytea, 'base32hex') = id::text AND decode(id::text, 'base32hex')::scru160 = id)
        FROM (SELECT gen_scru160() AS id FROM generate_series(1, 1000)) AS ids
    """
    assert connection.execute(query).fetchone() == (True,)


@since(19, "pg_get_dsm_registry_allocations()")
def test_the_server_lists_the_memory_of_generators(connection):
    connection.execute("SELECT gen_scru64()")
    query = "SELECT size FROM pg_get_dsm_registry_allocations() WHERE name = 'scru scru64 generator v1'"
    assert connection.execute(query).fetchone() == (16,)
