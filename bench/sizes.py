"""Sizes: bytes on disk, which are the same in every round, of a candidate and of the same values in its yardstick."""

from __future__ import annotations

import psycopg

RELATIONS = {
    "heap": "sized",
    "primary_key": "sized_pkey",
    "built_index": "sized_built",
    "duplicates": "duplicated_built",
}


def sizes(connection: psycopg.Connection, type_: str, value: str, rows: int) -> dict[str, int]:
    """The bytes that the IDs of `keyed` take as `value`, an expression of type `type_`, inserted in their order."""
    tenfold = f"(SELECT id FROM keyed LIMIT {rows // 10}) AS few, generate_series(1, 10)"
    statements = [
        f"CREATE UNLOGGED TABLE sized (id {type_} PRIMARY KEY)",
        f"INSERT INTO sized SELECT {value} FROM keyed",
        "CREATE INDEX sized_built ON sized (id)",
        f"CREATE UNLOGGED TABLE duplicated AS SELECT {value} AS id FROM {tenfold}",
        "CREATE INDEX duplicated_built ON duplicated (id)",
    ]
    for statement in statements:
        connection.execute(statement)
    query = "SELECT pg_relation_size(%s::regclass)"
    bytes_of = {key: connection.execute(query, [name]).fetchone()[0] for key, name in RELATIONS.items()}
    connection.execute("DROP TABLE sized, duplicated")
    return bytes_of
