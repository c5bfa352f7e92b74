"""docs/core-types.md: IDs in columns of the server's own types, their plans and their row estimates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest

import expect
from idtypes import BY_NAME, of_types
from plans import estimate, explain

PAGE = (Path(__file__).parents[3] / "docs/core-types.md").read_text()
ROWS = 20_000
DAYS = 100

number_types = of_types([BY_NAME["scru64"], BY_NAME["ulidflake"]])


def blocks(heading: str) -> list[str]:
    """Returns the code blocks below a heading."""
    _, *sections = re.split(r"^##+ (.*)\n", PAGE, flags=re.MULTILINE)
    text = dict(zip(sections[::2], sections[1::2], strict=True))[heading]
    return re.findall(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def statements(heading: str, name: str) -> list[str]:
    """Returns the statements of the only block below a heading, for a type."""
    [block] = blocks(heading)
    return [statement.strip() for statement in block.replace("scru64", name).split(";")[:-1]]


def fill(connection: psycopg.Connection, name: str) -> None:
    """Creates the table of the page, with rows of the last days."""
    connection.execute(statements("bigint", name)[0])
    connection.execute(
        f"""INSERT INTO payments (id)
            SELECT {name}_lower(now() - interval '1 day' * {DAYS} * n / {ROWS})::bigint + n % 7
            FROM generate_series(1, {ROWS}) AS n"""
    )
    connection.execute("ANALYZE payments")


@number_types
def test_conditions_on_time_use_the_index(connection, id_type):
    """The plans have an index condition, and find the rows that the same condition finds on a column of the type."""
    name = id_type.name
    fill(connection, name)
    connection.execute(f"CREATE TABLE typed AS SELECT id::{name} AS id FROM payments")
    _, of_page, _ = statements("bigint", name)
    assert "now() - interval '1 day'" in of_page
    day, week = "now() - interval '1 day'", "now() - interval '7 days'"
    pairs = [
        (of_page, f"id >= {day}"),
        (f"SELECT FROM payments WHERE id >= {name}_lower({day})::bigint", f"id >= {name}_lower({day})"),
        (f"SELECT FROM payments WHERE id <= {name}_upper({day})::bigint", f"id <= {name}_upper({day})"),
        (
            f"SELECT FROM payments WHERE id >= {name}_floor({week})::bigint AND id < {name}_floor({day})::bigint",
            f"id <@ tstzrange({week}, {day})",
        ),
    ]
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    for query, condition in pairs:
        with connection.transaction():
            plan = explain(connection, query)
            assert "Index Cond: " in plan
            assert "Filter" not in plan
            found = connection.execute(f"SELECT count(*) FROM ({query}) AS q").fetchone()
            assert found == connection.execute(f"SELECT count(*) FROM typed WHERE {condition}").fetchone()
            assert found > (0,)
    assert "Index Cond" not in explain(connection, f"SELECT FROM payments WHERE id::{name} >= now()")


@number_types
def test_estimates(connection, id_type):
    """The planner estimates the rows by the statistics of the numbers, for constant times and times by the clock."""
    name = id_type.name
    fill(connection, name)
    for bound in f"{name}_floor(now() - interval '3 days')", f"{name}_lower('today'::timestamptz - interval '3 days')":
        query = f"SELECT FROM payments WHERE id >= {bound}::bigint"
        [rows] = connection.execute(f"SELECT count(*) FROM ({query}) AS q").fetchone()
        assert 400 < rows < 900
        assert rows / 1.2 < estimate(connection, query) < rows * 1.2
    from_a_subquery = f"SELECT FROM payments WHERE id >= (SELECT {name}_floor(now() - interval '3 days')::bigint)"
    assert estimate(connection, from_a_subquery) == round(ROWS / 3)


@number_types
def test_times_of_ids(connection, id_type):
    """The last query of the page returns the times of the IDs, and numbers that are not IDs have none."""
    create, _, times = statements("bigint", id_type.name)
    connection.execute(create)
    [before] = connection.execute("SELECT now() - interval '1 second'").fetchone()
    connection.execute("INSERT INTO payments (note) VALUES ('first'), ('second')")
    (first, _), (second, _) = rows = connection.execute(times).fetchall()
    assert [note for _, note in rows] == ["first", "second"]
    assert before < first <= second
    connection.execute("INSERT INTO payments VALUES (-1)")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        connection.execute(times)


@number_types
@pytest.mark.parametrize("kind", ["bigint GENERATED ALWAYS AS IDENTITY", "bigserial"])
def test_an_existing_column(connection, id_type, kind):
    """New rows come after the rows with numbers of a sequence."""
    connection.execute(f"CREATE TABLE payments (id {kind} PRIMARY KEY, note text)")
    insert = "INSERT INTO payments (note) SELECT n FROM generate_series(%s::integer, %s::integer) AS n"
    connection.execute(insert, [1, 100])
    for statement in statements("An existing column", id_type.name):
        connection.execute(statement)
    connection.execute(insert, [101, 200])
    [notes] = connection.execute("SELECT array_agg(note::integer ORDER BY id) FROM payments").fetchone()
    assert notes == [*range(1, 201)]
    old = f"SELECT count(*) FROM payments WHERE id < {id_type.name}_floor(now() - interval '90 days')::bigint"
    assert connection.execute(old).fetchone() == (100,)


def test_numbers_in_json(connection):
    """The server writes a `bigint` as a number, which a double rounds as the page says, and a scru64 as a string."""
    exact, rounded, text = re.search(r'"id": (\d+).*?(\d{18}).*`(0\w{11})`', PAGE, re.DOTALL).groups()
    assert f"{float(exact):.0f}" == rounded != exact
    query = "SELECT to_json(%s::bigint)::text, to_json(%s::bigint::scru64)::text, gen_scru64()::bigint > 2::bigint ^ 53"
    as_number, as_string, is_large = connection.execute(query, [exact, exact]).fetchone()
    assert (as_number, as_string, is_large) == (exact, json.dumps(text), True)


@number_types
def test_change_later(connection, id_type):
    """The type of the extension rewrites the table and refuses other numbers. The way back does not rewrite it."""
    name = id_type.name
    connection.execute(f"CREATE TABLE payments (id bigint PRIMARY KEY DEFAULT {id_type.generator}::bigint)")
    connection.execute("INSERT INTO payments SELECT FROM generate_series(1, 100)")
    [statement] = statements("Change later", name)
    [back] = re.findall(r"`(ALTER TABLE .*? TYPE bigint)`", PAGE)
    before, file = ids(connection, "payments"), "SELECT pg_relation_filenode('payments')"
    connection.execute(statement)
    [typed] = connection.execute(file).fetchone()
    connection.execute(back)
    assert connection.execute(file).fetchone() == (typed,)
    assert ids(connection, "payments") == before
    connection.execute("INSERT INTO payments DEFAULT VALUES")
    connection.execute("INSERT INTO payments VALUES (-5)")
    largest = id_type.largest
    with expect.error(
        "22003", f'value "-5" is out of range for type {name}', f"The valid range is from 0 to {largest}."
    ):
        connection.execute(statement)
    assert connection.execute(file).fetchone() == (typed,)


def ids(connection: psycopg.Connection, table: str) -> list:
    return [id for (id,) in connection.execute(f"SELECT id FROM {table} ORDER BY id")]


def test_uuid_columns(new_database):
    """The statements for uuid columns, and the way to scru128 and back, which rewrites no table."""
    with new_database(extension=False).connect() as connection:
        [setup] = blocks("uuid")
        connection.execute(setup)
        connection.execute("INSERT INTO invoices SELECT FROM generate_series(1, 100)")
        [others] = blocks("Other versions")
        assert connection.execute(others).fetchone() == (0,)
        connection.execute("INSERT INTO invoices SELECT gen_random_uuid() FROM generate_series(1, 10)")
        assert connection.execute(others).fetchone() == (10,)
        before, file = ids(connection, "invoices"), "SELECT pg_relation_filenode('invoices')"
        [uuids] = connection.execute(file).fetchone()
        [to_scru128] = blocks("Change to scru128")
        connection.execute(to_scru128)
        connection.execute("INSERT INTO invoices DEFAULT VALUES")
        connection.execute(
            "ALTER TABLE invoices ALTER id DROP DEFAULT, ALTER id TYPE uuid, ALTER id SET DEFAULT gen_uuidv7()"
        )
        connection.execute("INSERT INTO invoices DEFAULT VALUES")
        assert connection.execute(file).fetchone() == (uuids,)
        after = ids(connection, "invoices")
        assert (len(after), set(before) <= set(after)) == (112, True)


def test_bounds_of_uuids_are_those_of_the_page(connection):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    bounds = "SELECT uuidv7_floor('2026-11-01 12:00+00')::text, uuidv7_upper('2026-11-01 12:00+00')::text"
    assert list(connection.execute(bounds).fetchone()) == re.findall(r"`([0-9a-f-]{36})`", PAGE)
