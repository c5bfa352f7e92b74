"""docs/if-scru-breaks.md: what the types leave in the log, files and memory, and rows whose library is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

import page
from conftest import Database
from idtypes import TYPES
from server import MAJOR, on_the_oldest

PAGE = page.text("if-scru-breaks")
TABLES, READ, CONVERT, RESCUE, TEXT = page.all_blocks("if-scru-breaks")

pytestmark = on_the_oldest("reads catalogs and pages that all versions have in common")


# ------------------------------------------------------------------------------------------------------ what runs where


def test_a_plain_type_leaves_nothing_behind_but_rows(new_server):
    """In the default scope, an INSERT logs changes of its table and index only. There is no file of marks, no state of
    the generator in shared memory, and no process of the extension."""
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE EXTENSION pg_walinspect")
        connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128(), n int)")
        start = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]
        with connection.transaction():
            connection.execute("INSERT INTO orders (n) SELECT generate_series(1, 10000)")
            [xid] = connection.execute("SELECT pg_current_xact_id()::xid").fetchone()
        records = """SELECT DISTINCT resource_manager, (regexp_matches(block_ref, 'rel (\\S+)', 'g'))[1]
                     FROM pg_get_wal_records_info(%s, pg_current_wal_flush_lsn()) WHERE xid = %s"""
        logged = connection.execute(records, [start, xid]).fetchall()
        files = """SELECT dattablespace || '/' || d.oid || '/' || pg_relation_filenode(relation)
                   FROM pg_database d, (VALUES ('orders'), ('orders_pkey')) AS r (relation)
                   WHERE datname = current_database()"""
        assert {file for _, file in logged} == {file for (file,) in connection.execute(files)}
        assert {manager for manager, _ in logged} <= {"Heap", "Heap2", "Btree", "XLOG"}
        memory = "SELECT name FROM pg_shmem_allocations WHERE name ~ 'scru'"
        # From PostgreSQL 17 on, all is in dynamic shared memory.
        names = [("scru horizon v2",), ("scru marks v1",)] if MAJOR < 17 else []
        assert sorted(connection.execute(memory).fetchall()) == names
        processes = "SELECT backend_type FROM pg_stat_activity WHERE backend_type ~ 'scru'"
        assert connection.execute(processes).fetchall() == []
        assert not (server.data / "global/8672").exists()
        # A type that has all this.
        connection.execute("SELECT gen_scru64()")
        assert (server.data / "global/8672").exists()
        assert len(connection.execute(memory).fetchall()) == (3 if MAJOR < 17 else 0)


# -------------------------------------------------------------------------------------------------- without the library


@pytest.fixture
def without_library(new_database) -> Iterator[tuple[Database, list[tuple[str, ...]]]]:
    """A database with the rows of the page, whose functions refer to a missing library, and the texts of its IDs."""
    database = new_database()
    with database.connect() as connection:
        connection.execute(TABLES)
        select = "SELECT id::text, extract(epoch FROM {}_timestamp(id)) * 1000 FROM {} ORDER BY id"
        tables = (("scru128", "orders"), ("scru64", "items"), ("scru160", "files"))
        texts = [connection.execute(select.format(*each)).fetchall() for each in tables]
        connection.execute("UPDATE pg_proc SET probin = '$libdir/missing' WHERE probin = '$libdir/scru'")
    yield database, texts


def statements(block: str) -> list[str]:
    return [part.strip() for part in re.sub(r" *--.*", "", block).split(";\n") if part.strip()]


def test_ids_need_the_library(without_library):
    """Otherwise, the other tests would prove nothing."""
    database, _ = without_library
    # The message of PostgreSQL 18 leaves out the directory.
    library = "$libdir/missing" if MAJOR < 18 else "missing"
    for statement in ("SELECT * FROM orders", "INSERT INTO orders DEFAULT VALUES", "SELECT min(id) FROM orders"):
        with database.connect() as connection, pytest.raises(psycopg.errors.UndefinedFile) as raised:
            connection.execute(statement)
        assert raised.value.sqlstate == "58P01"
        assert raised.value.diag.message_primary == f'could not access file "{library}": No such file or directory'
    with pytest.raises(RuntimeError, match=re.escape(f'could not access file "{library}"')):
        database.server.pg_dump(database.name)


def test_rows_can_be_read_without_the_library(without_library):
    database, _ = without_library
    with database.connect() as connection:
        orders, items, _, joined = statements(READ)
        assert [note for _, note in connection.execute(orders)] == ["first", "second"]
        assert connection.execute(items).rowcount == 2
        assert sorted(connection.execute(joined)) == [("first",), ("second",)]
        with connection.cursor().copy("COPY (SELECT id::uuid, note FROM orders) TO STDOUT") as copy:
            assert b"".join(copy).count(b"\n") == 2
        # Other statements do not need it either.
        connection.execute("VACUUM orders")
        assert connection.execute("DELETE FROM files WHERE name = 'a'").rowcount == 1


def test_columns_can_be_converted_without_the_library(without_library):
    """No row is rewritten. The texts and times that the page computes are those of the library, and the database can
    be dumped and restored."""
    database, (orders, items, files) = without_library
    with database.connect() as connection:
        nodes = "SELECT pg_relation_filenode('orders'), pg_relation_filenode('items')"
        before = connection.execute(nodes).fetchone()
        connection.execute(CONVERT)
        assert connection.execute(nodes).fetchone() == before
        connection.execute(RESCUE)
        connection.execute(TEXT)
        expected = (orders, "orders", "scru128"), (items, "items", "scru64"), (files, "rescued", "scru160")
        for rows, table, name in expected:
            text, millis = formulas(name)
            assert connection.execute(f"SELECT {text}, {millis} FROM {table} ORDER BY id").fetchall() == rows
        connection.execute("DROP TABLE files; DROP EXTENSION scru")
    restored = Database(database.server, f"{database.name}_restored")
    with database.server.connect() as connection:
        connection.execute(f"CREATE DATABASE {restored.name}")
        try:
            database.server.psql(restored.name, database.server.pg_dump(database.name))
            joined = "SELECT count(*) FROM orders JOIN items ON order_id = orders.id"
            assert database.server.value(joined, restored.name) == 2
        finally:
            connection.execute(f"DROP DATABASE {restored.name} WITH (FORCE)")


def formulas(name: str) -> tuple[str, str]:
    """Returns the expressions of the page for the text and the milliseconds of a type."""
    [(text, millis)] = re.findall(rf"^\| {name} \| `(.*?)` \| (.*?) \|$", PAGE, re.MULTILINE)
    if millis == "the first 6 bytes":
        bits = "replace(id::text, '-', '')" if "uuid_send" in text else "encode(id, 'hex')"
        [first] = re.findall(r"^The first 6 bytes of a `uuid` as a number: `(.*)`", PAGE, re.MULTILINE)
        return text, first.replace("replace(id::text, '-', '')", bits)
    return text, millis.strip("`")


@pytest.mark.parametrize("id_type", TYPES, ids=str)
def test_texts_and_times_of_the_page(connection, id_type):
    """For random IDs of each type, and for the smallest and the largest."""
    connection.execute(TEXT)
    bare = {"scru160": "id::bytea", "scru64": "id::bigint", "ulidflake": "id::bigint"}.get(id_type.name, "id::uuid")
    ids = f"""SELECT {id_type.generator} AS id FROM generate_series(1, 100)
              UNION ALL SELECT {id_type.name}_lower('-infinity') UNION ALL SELECT {id_type.name}_upper('infinity')"""
    text, millis = formulas(id_type.name)
    expected = f"id::text, extract(epoch FROM {id_type.name}_timestamp(id)) * 1000"
    query = f"SELECT {text}, {millis}, text, ms FROM (SELECT {bare}, {expected} FROM ({ids}) AS i) AS b (id, text, ms)"
    rows = connection.execute(query).fetchall()
    assert len(rows) == 102
    assert [(a, b) for a, b, _, _ in rows] == [(a, b) for _, _, a, b in rows]
