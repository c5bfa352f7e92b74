"""The statements of docs/text.md, and what else of the extension scru_text its regression test cannot see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from plans import explain
from server import MAJOR
from test_dump import schema
from test_sanity import bare, expressions, resolutions  # noqa: F401  (a fixture)

PAGE = (Path(__file__).parents[3] / "docs" / "text.md").read_text()
[EXTENSION, FOREIGN_KEYS, REPAIR] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
CREATE, TABLES = EXTENSION.split("\n", 1)


@pytest.fixture
def connection(connection) -> Iterator[psycopg.Connection]:
    """A connection to a database with both extensions."""
    connection.execute(CREATE)
    return connection


def test_the_statements_of_the_page(connection):
    """Conditions on text use the index of the primary key."""
    connection.execute(TABLES)
    connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 1000); ANALYZE orders")
    [(first,)] = connection.execute("SELECT min(id)::text FROM orders").fetchall()
    for query in f"EXECUTE by_text ('{first}')", f"EXECUTE by_list (ARRAY['{first}'])":
        assert connection.execute(query).rowcount == 1
        assert "Index Cond" in explain(connection, query)
    connection.execute("EXECUTE insert_text ('0372ijojuxuhjsfkeryi2mrtm')")


def test_a_foreign_key_from_text_is_found_and_repaired(connection):
    """Older servers accept the key, and each DELETE of a parent fails. The query of the page finds it."""
    connection.execute(TABLES)
    if MAJOR >= 18:
        with pytest.raises(psycopg.errors.InternalError_, match="key columns are not both collatable"):
            connection.execute("ALTER TABLE items ADD FOREIGN KEY (order_id) REFERENCES orders (id)")
        return
    assert connection.execute(FOREIGN_KEYS).fetchall() == []
    connection.execute(
        """
        INSERT INTO orders (note) VALUES ('1');
        ALTER TABLE items ADD FOREIGN KEY (order_id) REFERENCES orders (id);
        CREATE TABLE proper (order_id scru128 REFERENCES orders (id));
        INSERT INTO items SELECT id::text FROM orders
        """
    )
    with pytest.raises(psycopg.errors.InternalError_, match="cache lookup failed for collation 0"):
        connection.execute("DELETE FROM orders")
    assert connection.execute(FOREIGN_KEYS).fetchall() == [("items", "items_order_id_fkey")]
    connection.execute(REPAIR)
    assert connection.execute(FOREIGN_KEYS).fetchall() == []
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        connection.execute("DELETE FROM orders")
    connection.execute("DELETE FROM items; DELETE FROM orders")


# What depends on a cast, or is checked with one when the dump is restored.
DEPENDENTS = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.notes (
        ref text NOT NULL,
        id scru128 GENERATED ALWAYS AS (ref) STORED,
        latest scru128 DEFAULT lower('0372IJOJUXUHJSFKERYI2MRTM'),
        CHECK (id <= ref),
        PRIMARY KEY (id)
    );
    INSERT INTO shop.notes (ref) SELECT gen_scru128()::text FROM generate_series(1, 100);
    CREATE VIEW shop.found AS
        SELECT count(*) FROM shop.notes WHERE id = ref AND latest = text '0372ijojuxuhjsfkeryi2mrtm';
    CREATE INDEX ON shop.notes (scru128_timestamp(ref))
"""


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_dump_and_restore(server, new_database, form):
    """In the restored database, the casts exist before the objects that need them, which depend on them as before."""
    source, target = new_database(extension=False), new_database(extension=False)
    with source.connect() as connection:
        connection.execute(f"CREATE SCHEMA ids; {CREATE.replace(' CASCADE', ' SCHEMA ids CASCADE')}")
        connection.execute(f"SET search_path = public, ids; {DEPENDENTS}")
    restore = server.pg_restore if form == "custom" else server.psql
    restore(target.name, server.pg_dump(source.name, f"--format={form}"))
    assert schema(server, target.name) == schema(server, source.name)
    with target.connect() as connection:
        assert connection.execute("SELECT * FROM shop.found").fetchone() == (100,)
        casts = "SELECT count(*) FROM pg_cast WHERE castfunc::regproc::text ~ '_from_text'"
        assert connection.execute(casts).fetchone() == (10,)
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as raised:
            connection.execute("DROP EXTENSION scru_text")
    for dependent in "column id of table shop.notes", "default value for column latest", "view shop.found":
        assert dependent in raised.value.diag.message_detail


def test_scru_text_changes_only_one_error(bare):  # noqa: F811  (the fixture)
    """What resolved before resolves alike. A text with a time or a range of times raises 42725 instead of 42883."""
    bare.execute("CREATE EXTENSION scru")
    tried = expressions(bare)
    assert len(tried) > 10_000
    tried += [
        f"{one} {operator} {other}"
        for operator in ("=", "<", ">=", "<@", "@>", "||", "LIKE")
        for text in ("NULL::text", "NULL::varchar")
        for partner in ("NULL::timestamptz", "NULL::text", "NULL::uuid", "NULL::jsonb", "NULL::date", "'x'", "$1")
        for one, other in ((text, partner), (partner, text))
    ]
    before = resolutions(bare, tried)
    bare.execute("CREATE EXTENSION scru_text")
    after = resolutions(bare, tried)
    changed = {each: (before[each][:5], after[each][:5]) for each in tried if before[each] != after[each]}
    assert set(changed.values()) == {("42883", "42725")}
    times = r"NULL::(tstzrange|during|timestamp with(out)? time zone|timestamptz|date|since)"
    strings = r"NULL::(text|varchar|character varying|name|character|\"char\")"
    operators = r"(<|<=|>=|>|<@|@>)"
    for expression in changed:
        known = rf"{times} {operators} {strings}|{strings} {operators} {times}"
        assert re.fullmatch(known, expression), expression
