"""Errors of the server in queries by time, and what replaces a column `created_at`."""

from __future__ import annotations

import re

import psycopg
import pytest

import expect
import page


def test_an_error_of_the_server_is_unchanged(new_server):
    """An error of a server function that the extension calls is unchanged, even with Rust backtraces enabled."""
    server = new_server({}, {"RUST_BACKTRACE": "1"})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE TABLE orders (id scru128 PRIMARY KEY)")
        with expect.error("22000", "range lower bound must be less than or equal to range upper bound"):
            connection.execute("EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(now(), now() - interval '1 day')")
        with expect.error("22008", "timestamp out of range"):
            connection.execute("EXPLAIN SELECT * FROM orders WHERE id >= now() + interval '300000 years'")


# ----------------------------------------------------------------------------------------------- in place of created_at


@pytest.fixture
def orders_with_created_at(connection: psycopg.Connection) -> psycopg.Connection:
    """A table of 10,000 orders, one a minute, with a column `created_at`."""
    connection.execute(
        """CREATE TABLE orders (id scru128 PRIMARY KEY, note text, created_at timestamptz);
           INSERT INTO orders
               SELECT gen_scru128(at), 'note ' || n, at
               FROM generate_series(1, 10000) AS n,
                    CAST(timestamptz '2026-11-01' + n * interval '1 min' AS timestamptz) AS at;
           ANALYZE orders"""
    )
    return connection


def rows_of_table(name: str, heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without markup."""
    section = page.text(name).split(f"\n{heading}\n")[1]
    rows = re.findall(r"^\| (.*) \|$", section.split("\n## ")[0], re.MULTILINE)[1:]
    return [row.split(" | ") for row in rows]


def test_expressions_in_place_of_created_at(orders_with_created_at):
    """The expressions of the page return the same as those with the column."""
    rows = rows_of_table("query-by-time", "## In place of created_at")
    assert len(rows) == 6
    for by_column, by_id in rows:
        found = []
        for cell in by_column, by_id:
            expression = re.sub(r"\bt\b", "timestamptz '2026-11-03'", re.search("`([^`]*)`", cell)[1])
            if expression.startswith("ORDER BY"):
                query = f"SELECT note FROM orders {expression}"
            elif expression.startswith("max"):
                query = f"SELECT {expression} FROM orders"
            else:
                query = f"SELECT note, {expression} FROM orders ORDER BY note"
            found.append(query)
        with orders_with_created_at.transaction():
            by_column, by_id = (orders_with_created_at.execute(query).fetchall() for query in found)
        assert by_column == by_id, found


def test_expressions_without_an_operator(orders_with_created_at):
    """The expressions on the left of the page raise 42883, and those on the right do not."""
    rows = rows_of_table("errors", "## Operators and functions that do not exist")
    assert len(rows) == 8
    wrong, right = ([text for cells in rows for text in re.findall(r"`([^`]*)`", cells[side])] for side in (0, 1))
    for text in wrong:
        if "$1" in text:
            text = f"(SELECT {text.replace('$1', 'NULL::interval')})"
        text = text.replace("…", "00000000-0000-0000-0000-000000000000")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            orders_with_created_at.execute(f"SELECT {text} FROM orders")
    for text in right:
        table = "(SELECT scru64_lower(created_at) AS id FROM orders) AS o" if "scru64" in text else "orders"
        text = text.replace("$1", "now()").replace("…", "00000000-0000-0000-0000-000000000000")
        text = re.sub(r"\b(t|a|b)\b(?= AND|$|\s)", "now()", text)
        orders_with_created_at.execute(f"SELECT {text} FROM {table}")
