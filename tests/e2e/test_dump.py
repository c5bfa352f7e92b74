"""Tables that leave their database and come back: dumps, and columns that change their type."""

from __future__ import annotations

import pytest

from idtypes import TYPES, IdType, each_type, of_types

ROWS = 2_000


def create_tables(connection, id_type: IdType) -> None:
    """A table with the type in every place that a dump has to restore, and one that is partitioned by its hash; in a
    schema of the type's name."""
    connection.execute(
        f"""
        CREATE SCHEMA {id_type.name};
        SET search_path = {id_type.name}, public;
        CREATE TABLE orders (
            id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator},
            parent {id_type.name} REFERENCES orders,
            others {id_type.name}[],
            note text,
            CHECK (id > '{id_type.text(0)}')
        );
        CREATE INDEX orders_brin ON orders USING brin (id);
        CREATE INDEX orders_multi ON orders USING brin (id {id_type.name}_minmax_multi_ops (values_per_range = 16));
        CREATE INDEX orders_bloom ON orders USING brin (id {id_type.name}_bloom_ops);
        CREATE INDEX orders_hash ON orders USING hash (id);
        CREATE INDEX orders_parent ON orders (parent DESC NULLS LAST, id);
        CREATE TABLE parts (id {id_type.name} PRIMARY KEY DEFAULT {id_type.generator}, n int) PARTITION BY HASH (id);
        CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
        CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
        CREATE TABLE parts_2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
        CREATE VIEW newest AS SELECT max(id) AS id FROM orders;

        INSERT INTO orders (note) SELECT 'order ' || n FROM generate_series(1, {ROWS}) AS n;
        UPDATE orders SET parent = (SELECT min(id) FROM orders), others = ARRAY[id, NULL];
        INSERT INTO parts (n) SELECT n FROM generate_series(1, {ROWS}) AS n;
        """
    )


def contents(connection) -> list[list[tuple]]:
    """All rows of the tables, each with the table that it is in."""
    queries = (
        "SELECT id::text, parent::text, others::text, note FROM orders ORDER BY id",
        "SELECT tableoid::regclass::text, id::text, n FROM parts ORDER BY id",
        "SELECT id::text FROM newest",
    )
    return [connection.execute(query).fetchall() for query in queries]


def schema(server, dbname: str) -> list[bytes]:
    """The database's definition, as a dump says it, without the random keys that guard its replay in psql."""
    lines = server.pg_dump(dbname, "--schema-only").splitlines()
    return [line for line in lines if not line.startswith((b"\\restrict", b"\\unrestrict"))]


def carry(server, source: str, target: str, form: str) -> None:
    """Dumps one database into the other."""
    match form:
        case "plain":
            server.psql(target, server.pg_dump(source))
        case "inserts":
            server.psql(target, server.pg_dump(source, "--inserts"))
        case "custom":
            server.pg_restore(target, server.pg_dump(source, "--format=custom"))
        case "by hash":
            # Loads the rows through the parent table, where each has to find its partition anew.
            server.pg_restore(target, server.pg_dump(source, "--format=custom", "--load-via-partition-root"))


@pytest.mark.parametrize("form", ["plain", "inserts", "custom", "by hash"])
def test_dump_and_restore(server, new_database, form):
    source, target = new_database(), new_database(extension=False)
    before = {}
    with source.connect() as connection:
        for id_type in TYPES:
            create_tables(connection, id_type)
            before[id_type] = contents(connection)
    carry(server, source.name, target.name, form)

    assert schema(server, target.name) == schema(server, source.name)
    with target.connect() as connection:
        for id_type in TYPES:
            connection.execute(f"SET search_path = {id_type.name}, public")
            assert contents(connection) == before[id_type]
            assert connection.execute("SELECT count(*) FROM orders").fetchone() == (ROWS,)
            # The rows are spread over the partitions, and each is in the one that its hash names.
            sizes = connection.execute("SELECT count(*) FROM parts GROUP BY tableoid").fetchall()
            assert len(sizes) == 3 and min(sizes)[0] > ROWS / 3 * 0.8
            misplaced = "SELECT count(*) FROM parts_0 WHERE NOT satisfies_hash_partition('parts'::regclass, 3, 0, id)"
            assert connection.execute(misplaced).fetchone() == (0,)
            # Life goes on: the next ID is the largest.
            [(new,)] = connection.execute("INSERT INTO orders DEFAULT VALUES RETURNING id::text")
            assert connection.execute("SELECT id::text FROM newest").fetchone() == (new,)


@each_type
def test_a_hash_partition_is_pruned(connection, id_type):
    """An equality looks into one partition only, whether the ID is known to the planner or comes as a parameter."""
    create_tables(connection, id_type)
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
    """To the type with the same bytes and back. And the order stays."""
    create_tables(connection, id_type)
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
    # The probe sees a rewrite where there is one.
    connection.execute("ALTER TABLE orders ALTER id TYPE text USING id::text")
    assert connection.execute(file).fetchone() != before[0]


@of_types([id_type for id_type in TYPES if id_type.free_casts])
def test_a_free_cast_reads_the_same_bytes(connection, id_type):
    for value in id_type.samples(200, seed=6):
        for free in id_type.free_casts:
            query = f"SELECT %b::bytea::{id_type.name}::{free}::{id_type.name}::bytea"
            assert connection.execute(query, [id_type.binary(value)]).fetchone() == (id_type.binary(value),)
