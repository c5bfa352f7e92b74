"""What replaces a column `created_at`: pages by key, functions of the time, and expressions without an operator."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from plans import explain

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def orders(connection: psycopg.Connection) -> psycopg.Connection:
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


def rows_of_table(page: str, heading: str) -> list[list[str]]:
    """Returns the cells of the first table below a heading, without markup."""
    section = (DOCS / page).read_text().split(f"\n{heading}\n")[1]
    rows = re.findall(r"^\| (.*) \|$", section.split("\n## ")[0], re.MULTILINE)[1:]
    return [row.split(" | ") for row in rows]


def code(cell: str) -> list[str]:
    """Returns the pieces of code in a cell."""
    return re.findall(r"`([^`]*)`", cell)


def test_each_page_reads_only_its_own_rows(orders):
    """Forwards and backwards, by the plans on the page."""
    orders.execute("SET enable_bitmapscan = off")
    middle = "(SELECT id FROM orders ORDER BY id OFFSET 5000 LIMIT 1)"
    [(middle,)] = orders.execute(f"SELECT {middle}::text")
    for comparison, order, scan in (">", "id", "Index Scan using"), ("<", "id DESC", "Index Scan Backward using"):
        query = f"SELECT * FROM orders WHERE id {comparison} '{middle}' ORDER BY {order} LIMIT 50"
        plan = explain(orders, query).splitlines()
        assert [line.strip() for line in plan] == [
            "Limit",
            f"->  {scan} orders_pkey on orders",
            f"Index Cond: (id {comparison} '{middle}'::scru128)",
        ]
        numbers = [int(note.split()[1]) for _, note, _ in orders.execute(query)]
        assert numbers == ([*range(5002, 5052)] if comparison == ">" else [*range(5000, 4950, -1)])


def test_expressions_in_place_of_created_at(orders):
    """The expressions of the page return the same as those with the column."""
    rows = rows_of_table("ask-by-time.md", "## In place of created_at")
    assert len(rows) == 10
    for by_column, by_id in rows:
        if "index" in by_column:
            continue
        found = []
        for cell in by_column, by_id:
            expression = re.sub(r"\bt\b", "timestamptz '2026-11-03'", re.search("`([^`]*)`", cell)[1])
            if expression.startswith("GROUP BY"):
                query = f"SELECT count(*) FROM orders {expression} ORDER BY min(note)"
            elif expression.startswith("ORDER BY"):
                query = f"SELECT note FROM orders {expression}"
            elif expression.startswith("max"):
                query = f"SELECT {expression} FROM orders"
            else:
                query = f"SELECT note, {expression} FROM orders ORDER BY note"
            found.append(query)
        with orders.transaction():
            by_column, by_id = (orders.execute(query).fetchall() for query in found)
        assert by_column == by_id, found


def test_expressions_without_an_operator(orders):
    """The expressions on the left of the page raise 42883, and those on the right do not."""
    rows = rows_of_table("errors.md", "## Operators and functions that do not exist")
    assert len(rows) == 9
    wrong = [text for cells in rows for text in code(cells[0])]
    right = [text for cells in rows for text in code(cells[1])]
    for text in wrong:
        if "$1" in text:
            text = f"(SELECT {text.replace('$1', 'NULL::interval')})"
        text = text.replace("…", "00000000-0000-0000-0000-000000000000")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            orders.execute(f"SELECT {text} FROM orders")
    for text in right:
        table = "(SELECT scru64_lower(created_at) AS id FROM orders) AS o" if "scru64" in text else "orders"
        text = text.replace("$1", "now()").replace("…", "00000000-0000-0000-0000-000000000000")
        text = re.sub(r"\b(t|a|b)\b(?= AND|$|\s)", "now()", text)
        orders.execute(f"SELECT {text} FROM {table}")
