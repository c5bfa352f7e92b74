"""Dump and restore of tables, and changes of a column's type."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

import expect
import orders
from idtypes import TYPES, each_type, of_types
from marks import carried
from server import Server, on_every_version

pytestmark = on_every_version


def schema(server, dbname: str) -> list[bytes]:
    """Returns the definition of a database as pg_dump writes it, without the random keys of psql's restricted mode."""
    lines = server.pg_dump(dbname, "--schema-only").splitlines()
    return [line for line in lines if not line.startswith((b"\\restrict", b"\\unrestrict"))]


def carry(server, source: str, target: str, form: str) -> None:
    """Dumps the source, and restores the dump into the target."""
    match form:
        case "plain":
            server.psql(target, server.pg_dump(source))
        case "inserts":
            server.psql(target, server.pg_dump(source, "--inserts"))
        case "custom":
            server.pg_restore(target, server.pg_dump(source, "--format=custom"))
        case "by hash":
            # Loads the rows through the parent table, which routes each row to its partition again.
            server.pg_restore(target, server.pg_dump(source, "--format=custom", "--load-via-partition-root"))


@pytest.mark.parametrize(
    ("form", "home"), [("plain", "public"), ("inserts", "ids"), ("custom", "ids"), ("by hash", "public")]
)
def test_dump_and_restore(server, new_database, form, home):
    """If the extension is in another schema, the dump restores it there."""
    source, target = new_database(extension=False), new_database(extension=False)
    before = {}
    with source.connect() as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {home}; CREATE EXTENSION scru SCHEMA {home}")
        for id_type in TYPES:
            orders.create(connection, id_type, f"{home}, public")
            before[id_type] = orders.contents(connection)
    carry(server, source.name, target.name, form)

    assert schema(server, target.name) == schema(server, source.name)
    with target.connect() as connection:
        expect.install_amcheck(connection)
        home_of_extension = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'scru'"
        assert connection.execute(home_of_extension).fetchone() == (home,)
        for id_type in TYPES:
            orders.set_search_path(connection, id_type, f"{home}, public")
            assert orders.contents(connection) == before[id_type]
            assert connection.execute("SELECT count(*) FROM orders").fetchone() == (orders.ROWS,)
            # The partitions are of similar size, and each row of the first is in the partition of its hash.
            sizes = connection.execute("SELECT count(*) FROM parts GROUP BY tableoid").fetchall()
            assert len(sizes) == 3 and min(sizes)[0] > orders.ROWS / 3 * 0.7
            misplaced = "SELECT count(*) FROM parts_0 WHERE NOT satisfies_hash_partition('parts'::regclass, 3, 0, id)"
            assert connection.execute(misplaced).fetchone() == (0,)
            orders.check_indexes(connection, id_type)
            orders.assert_new_ids_are_largest(connection)


def test_a_data_only_dump_restores_into_another_schema(server, new_database):
    """A data-only dump does not name the schema of the types. It restores into tables with types of another schema."""
    source, target = new_database(), new_database(extension=False)
    with source.connect() as here, target.connect() as there:
        expect.install_amcheck(there)
        there.execute("CREATE SCHEMA elsewhere; CREATE EXTENSION scru SCHEMA elsewhere")
        for id_type in TYPES:
            orders.create(here, id_type)
            orders.create(there, id_type, "elsewhere, public", rows=0)
        server.psql(target.name, server.pg_dump(source.name, "--data-only"))
        for id_type in TYPES:
            orders.set_search_path(here, id_type)
            orders.set_search_path(there, id_type, "elsewhere, public")
            assert orders.contents(there) == orders.contents(here)
            orders.check_indexes(there, id_type)
            orders.assert_new_ids_are_largest(there)


def test_a_partial_dump_and_the_documented_statement_repeat_nothing(new_server, clock):
    """The clock of the new server is an hour behind. The dump of one table carries no mark."""
    source, target = new_server(), new_server(None, clock.environment)
    for server in source, target:
        with server.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
    with source.connect() as connection:
        connection.execute("CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64())")
        connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 100)")
        connection.execute("SELECT scru128_horizon()")
    clock.shift(-3600)
    target.psql("postgres", source.pg_dump("postgres", "--table=orders"))
    assert carried(target) == 1
    documented(target)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="behind the high-water mark"):
        target.value("SELECT gen_scru64()")
    clock.shift(0)
    query = "SELECT gen_scru64() > max(id) FROM orders"
    assert target.value(query)


def test_an_older_dump_of_the_same_database_heals_at_the_next_draw(new_server):
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        connection.execute("SELECT gen_scru64(), gen_ulidflake(), scru128_horizon()")
    older = server.pg_dump("postgres", "--data-only")
    values = "SELECT a.last_value, b.last_value FROM scru_internal.draws AS a, scru_internal.horizons AS b"
    with server.connect() as connection:
        connection.execute("SELECT pg_sleep(2); SELECT gen_scru64(), gen_ulidflake(), scru128_horizon()")
    [before] = server.rows(values)
    server.psql("postgres", older)
    [restored] = server.rows(values)
    assert all(now < then for now, then in zip(restored, before, strict=True))
    server.value("SELECT (gen_scru64(), gen_ulidflake(), scru128_horizon())")
    [healed] = server.rows(values)
    assert all(now >= then for now, then in zip(healed, before, strict=True))


def documented(server: Server) -> None:
    """Runs the block of docs/operations.md about dumps as it is written."""
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    section = page.split("\n## Dumps\n")[1].split("\n## ")[0]
    [block] = re.findall(r"^```sql\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    server.psql("postgres", block.encode())


@each_type
def test_a_hash_partition_is_pruned(connection, id_type):
    """An equality scans one partition only, whether the ID is a constant or a parameter."""
    orders.create(connection, id_type)
    [(id_text,)] = connection.execute("SELECT id::text FROM parts LIMIT 1")
    by_constant = connection.execute(f"EXPLAIN SELECT * FROM parts WHERE id = '{id_text}'").fetchall()
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute(f"PREPARE find({id_type.name}) AS SELECT count(*) FROM parts WHERE id = $1")
    by_parameter = connection.execute(f"EXPLAIN EXECUTE find('{id_text}')").fetchall()
    for plan in by_constant, by_parameter:
        assert sum("parts_" in line and "Scan" in line and "Bitmap Index" not in line for (line,) in plan) == 1
    assert connection.execute(f"EXECUTE find('{id_text}')").fetchone() == (1,)


@of_types([id_type for id_type in TYPES if id_type.free_casts])
def test_a_column_changes_its_type_and_no_table_is_rewritten(connection, id_type):
    """A change to a type with the same bytes, and back, keeps the table's file, the bytes and the order."""
    orders.create(connection, id_type)
    connection.execute("ALTER TABLE orders DROP COLUMN parent, DROP CONSTRAINT orders_id_check; DROP VIEW newest")
    connection.execute("DROP INDEX orders_multi, orders_bloom")
    connection.execute("ALTER TABLE orders ALTER id DROP DEFAULT")
    file = "SELECT pg_relation_filenode('orders')"
    hexadecimal = "SELECT encode(id::bytea, 'hex') FROM orders ORDER BY id"
    before = connection.execute(file).fetchone(), connection.execute(hexadecimal).fetchall()
    for free in id_type.free_casts:
        connection.execute(f"ALTER TABLE orders ALTER id TYPE {free} USING id::{free}")
        assert connection.execute("SELECT pg_typeof(id)::text FROM orders LIMIT 1").fetchone() == (free,)
        assert connection.execute(file).fetchone() == before[0]
        if free == "uuid":
            as_uuid = connection.execute("SELECT replace(id::text, '-', '') FROM orders ORDER BY id").fetchall()
            assert as_uuid == before[1]
        connection.execute(f"ALTER TABLE orders ALTER id TYPE {id_type.name} USING id::{id_type.name}")
        assert (connection.execute(file).fetchone(), connection.execute(hexadecimal).fetchall()) == before
    # As a control, a change to text rewrites the table.
    connection.execute("ALTER TABLE orders ALTER id TYPE text USING id::text")
    assert connection.execute(file).fetchone() != before[0]


@of_types([id_type for id_type in TYPES if id_type.free_casts])
def test_a_free_cast_reads_the_same_bytes(connection, id_type):
    for value in id_type.samples(200, seed=6):
        for free in id_type.free_casts:
            query = f"SELECT %b::bytea::{id_type.name}::{free}::{id_type.name}::bytea"
            assert connection.execute(query, [id_type.binary(value)]).fetchone() == (id_type.binary(value),)
