"""docs/paging.md: its statements, and its queries of SQLAlchemy and Django."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from clients import block, python, run
from clients import installed as installed  # a fixture
from clients import server as server  # a fixture: a server that listens on TCP
from plans import explain
from server import on_the_oldest

pytestmark = on_the_oldest("the statements are those of a btree index on any server")

SIZE = 50
STATEMENTS = [
    block("1 of paging.md#by-the-id"),
    block("1 of paging.md#by-another-column"),
    block("2 of paging.md#by-another-column"),
    block("1 of paging.md#while-rows-are-inserted"),
]


@pytest.fixture
def orders(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection with the table of the page, and with all of its statements prepared."""
    for statements in [block("1 of paging.md#paging"), "ANALYZE", *STATEMENTS]:
        connection.execute(statements)
    return connection


def ids(connection: psycopg.Connection, order: str = "id") -> list[tuple[str, int]]:
    """Returns the IDs and prices of all rows in an order."""
    return connection.execute(f"SELECT id, price FROM orders ORDER BY {order}").fetchall()


def walk(execute: Callable[[tuple], list[tuple]], cursor: tuple) -> Iterator[tuple]:
    """Yields the rows of all pages, each of which begins after the last row of the one before."""
    while rows := execute(cursor):
        assert len(rows) <= SIZE
        yield from rows
        cursor = rows[-1]


def test_pages_by_the_id(orders):
    """Forwards and backwards by the index, each row comes once, also if rows are inserted and deleted meanwhile."""
    rows = ids(orders)
    first = orders.execute("EXECUTE first_page").fetchall()
    last = orders.execute("EXECUTE last_page").fetchall()
    assert [(id, price) for id, price, _ in first] == rows[:SIZE]
    assert [(id, price) for id, price, _ in last] == rows[: -SIZE - 1 : -1]

    def page(name: str) -> Callable[[tuple], list[tuple]]:
        assert "Index Cond" in explain(orders, f"EXECUTE {name}('{rows[500][0]}')")
        return lambda cursor: orders.execute(f"EXECUTE {name}('{cursor[0]}')").fetchall()

    assert [(id, price) for id, price, _ in walk(page("next_page"), first[-1])] == rows[SIZE:]
    seen = []
    for id, *_ in walk(page("previous_page"), last[-1]):
        orders.execute("INSERT INTO orders (price) VALUES (0)")
        orders.execute("DELETE FROM orders WHERE id = %s", [seen[-1] if seen else last[0][0]])
        seen.append(id)
    assert seen == [id for id, _ in rows[-SIZE - 1 :: -1]]


def test_created_at_loses_and_repeats_rows(orders):
    code = block("1 of paging.md#why-not-by-created_at-or-offset")
    counts = [orders.execute(query).fetchone()[0] for query in re.findall(r"SELECT count.*;", code)]
    assert [f"-- {count}" for count in counts] == re.findall(r"^-- \d+$", code, re.MULTILINE) == ["-- 0", "-- 1000"]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("next_by_price", "price, id"),
        ("next_by_price_in_a_view", "price, id"),
        ("next_by_price_descending", "price DESC, id"),
    ],
)
def test_pages_by_another_column(orders, name, order):
    """Each row comes once, in the order, by the index on both columns or, descending, by a sort of its rows."""
    rows = ids(orders, order)
    start = ("0" * 25, rows[0][1] + (1 if "DESC" in order else -1))

    def page(cursor: tuple) -> list[tuple]:
        return orders.execute(f"EXECUTE {name}({cursor[1]}, '{cursor[0]}')").fetchall()

    assert [(id, price) for id, price, _ in walk(page, start)] == rows
    if "DESC" not in order:
        orders.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        plan = explain(orders, f"EXECUTE {name}(3, '{rows[500][0]}')")
        assert "Index Scan using orders_price_id_idx" in plan
        assert ("Filter:" in plan) == (name == "next_by_price_in_a_view")


def test_pages_of_a_feed(orders):
    """The page ends below the horizon, which an open writer holds."""
    rows = ids(orders)
    found = orders.execute(f"EXECUTE next_in_a_feed('{rows[0][0]}')").fetchall()
    assert [(id, price) for id, price, _ in found] == rows[1 : SIZE + 1]
    with orders.transaction():
        orders.execute("INSERT INTO orders (price) VALUES (1)")
        assert orders.execute(f"EXECUTE next_in_a_feed('{rows[-1][0]}')").fetchall() == []


SQLALCHEMY = """\
import scru_postgres.sqlalchemy
from sqlalchemy import create_engine
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session

session = Session(create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")))
Base = automap_base()
Base.prepare(session.bind)
Order = Base.classes.orders
all_of = session.scalars
"""
DJANGO = """\
import django
from django.conf import settings

settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}})
django.setup()
from django.db import models
from scru_postgres.django import Scru128Field

class Order(models.Model):
    id = Scru128Field(primary_key=True)
    price = models.IntegerField()

    class Meta:
        app_label = "shop"
        db_table = "orders"

all_of = list
"""


@pytest.mark.parametrize(
    ("setup", "queries"),
    [(SQLALCHEMY, block("1 of paging.md#sqlalchemy")), (DJANGO, block("1 of paging.md#django"))],
    ids=["sqlalchemy", "django"],
)
def test_pages_of_a_library(orders, database, installed, tmp_path, setup, queries):
    rows, by_price = ids(orders), ids(orders, "price, id")
    after, price = by_price[500]
    place = [id for id, _ in rows].index(after)
    program = (
        f"import json, os\n{setup}\nafter = before = {after!r}; price = {price}\n{queries}\n"
        "pages = [all_of(query) for query in (next_page, previous_page, next_by_price)]\n"
        "print(json.dumps([[str(order.id) for order in page] for page in pages]))"
    )
    printed = run(database, [*python(), "-c", program], tmp_path, PYTHONPATH=str(installed))
    assert json.loads(printed) == [
        [id for id, _ in rows[place + 1 :][:SIZE]],
        [id for id, _ in rows[:place][: -SIZE - 1 : -1]],
        [id for id, _ in by_price[501:551]],
    ]
