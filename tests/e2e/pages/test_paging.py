"""docs/paging.md: its statements, its plans, and its programs for SQLAlchemy, Django and GraphQL."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from plans import explain
from programs import missing
from server import on_the_oldest
from test_clients import ROOT, server  # noqa: F401 (a fixture: a server that listens on TCP)
from test_python_package import PYTHON, url_of

pytestmark = on_the_oldest("the statements are those of a btree index on any server")

PAGE = (Path(__file__).parents[3] / "docs/paging.md").read_text()
SIZE = 50


def block(language: str, start: str) -> str:
    """Returns the code block of the page that starts so."""
    [code] = [code for code in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if code.startswith(start)]
    return code


@pytest.fixture
def orders(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection with the table of the page, and with all of its statements prepared."""
    connection.execute(block("sql", "CREATE TABLE orders"))
    connection.execute("ANALYZE")
    for prepared in re.findall(r"^PREPARE .*?;", PAGE, re.DOTALL | re.MULTILINE):
        connection.execute(prepared)
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
    """Forwards and backwards, each row comes once, also if rows are inserted and deleted meanwhile."""
    rows = ids(orders)
    first = orders.execute("EXECUTE first_page").fetchall()
    last = orders.execute("EXECUTE last_page").fetchall()
    assert [(id, price) for id, price, _ in first] == rows[:SIZE]
    assert [(id, price) for id, price, _ in last] == rows[: -SIZE - 1 : -1]

    def page(name: str) -> Callable[[tuple], list[tuple]]:
        return lambda cursor: orders.execute(f"EXECUTE {name}('{cursor[0]}')").fetchall()

    assert [(id, price) for id, price, _ in walk(page("next_page"), first[-1])] == rows[SIZE:]
    assert [(id, price) for id, price, _ in walk(page("previous_page"), last[-1])] == rows[-SIZE - 1 :: -1]
    seen = []
    for id, *_ in walk(page("previous_page"), last[-1]):
        orders.execute("INSERT INTO orders (price) VALUES (0)")
        orders.execute("DELETE FROM orders WHERE id = %s", [seen[-1] if seen else last[0][0]])
        seen.append(id)
    assert seen == [id for id, _ in rows[-SIZE - 1 :: -1]]


def test_the_plan_of_a_page(orders):
    statement, _, *lines = block("text", "EXPLAIN").splitlines()
    query = statement.removeprefix("EXPLAIN (COSTS OFF) ")
    assert explain(orders, query).splitlines() == [line.removeprefix(" ") for line in lines]


def test_created_at_loses_and_repeats_rows(orders):
    code = block("sql", "SELECT count(*)")
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


# ------------------------------------------------------------------------------------------------------------- programs

SQLALCHEMY = """\
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128, register
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

class Base(DeclarativeBase):
    type_annotation_map = {Scru128: SCRU128}

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[Scru128] = mapped_column(primary_key=True)
    price: Mapped[int]

engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
register(engine)
session = Session(engine)
all_of = lambda query: list(session.scalars(query))
"""
DJANGO = """\
import django
from django.conf import settings
from urllib.parse import urlparse

address = urlparse(url)
settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": address.hostname, "PORT": address.port,
    "NAME": address.path[1:], "USER": address.username, "PASSWORD": address.password}})
django.setup()
from django.db import models
from scru_postgres.django import GenScru128, Scru128Field

class Order(models.Model):
    id = Scru128Field(primary_key=True, db_default=GenScru128())
    price = models.IntegerField()

    class Meta:
        app_label = "shop"
        db_table = "orders"

all_of = list
"""


def run(program: str, database) -> object:
    """Runs a Python program with the installed clients, and returns the value that it prints as JSON."""
    if not PYTHON.exists():
        missing("tools/lib/clients.sh has not installed the Python clients")
    code = f"import json\nurl = {url_of(database)!r}\n{program}"
    environment = {"PYTHONPATH": str(ROOT / "clients/python/src"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("setup", "start"), [(SQLALCHEMY, "from sqlalchemy"), (DJANGO, "from django")], ids=["sqlalchemy", "django"]
)
def test_pages_of_a_library(orders, database, setup, start):
    rows, by_price = ids(orders), ids(orders, "price, id")
    after, price = by_price[500]
    place = [id for id, _ in rows].index(after)
    result = run(
        f"{setup}\nafter = before = {after!r}; price = {price}\n{block('python', start)}\n"
        "pages = [all_of(query) for query in (next_page, previous_page, next_by_price)]\n"
        "print(json.dumps([[str(order.id) for order in page] for page in pages]))",
        database,
    )
    assert result == [
        [id for id, _ in rows[place + 1 :][:SIZE]],
        [id for id, _ in rows[:place][: -SIZE - 1 : -1]],
        [id for id, _ in by_price[501:551]],
    ]


def test_connections_of_graphql(orders):
    """Forwards by `first` and `after`, and backwards by `last` and `before`, as the specification says."""
    names: dict = {}
    exec(block("python", "def orders_connection"), names)
    rows = [id for id, _ in ids(orders)]

    def page(**arguments: object) -> tuple[list[str], dict]:
        found = names["orders_connection"](orders, **arguments)
        assert all(edge["cursor"] == edge["node"]["id"] for edge in found["edges"])
        return [edge["cursor"] for edge in found["edges"]], found["pageInfo"]

    def info(edges: list[str], next: bool, previous: bool) -> dict:
        ends = {"startCursor": edges[0] if edges else None, "endCursor": edges[-1] if edges else None}
        return {**ends, "hasNextPage": next, "hasPreviousPage": previous}

    assert page(first=10) == (rows[:10], info(rows[:10], True, False))
    assert page(first=10, after=rows[9]) == (rows[10:20], info(rows[10:20], True, True))
    assert page(first=10, after=rows[994]) == (rows[995:], info(rows[995:], False, True))
    assert page(first=10, after=rows[-1]) == ([], info([], False, True))
    assert page(last=10) == (rows[-10:], info(rows[-10:], False, True))
    assert page(last=10, before=rows[10]) == (rows[:10], info(rows[:10], True, False))
