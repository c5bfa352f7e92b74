"""Tortoise ORM: a field of a few lines. A time and the horizon are raw SQL."""

import asyncio

from journey import URL, steps
from tortoise import Tortoise, fields
from tortoise.expressions import RawSQL
from tortoise.models import Model


class Scru128Field(fields.Field[str], str):
    SQL_TYPE = "scru128"

    class _db_postgres:
        SQL_TYPE = "scru128"


class Order(Model):
    id = Scru128Field(primary_key=True, default=lambda: None)
    note = fields.TextField()

    class Meta:
        table = "orders"


class Item(Model):
    id = Scru128Field(primary_key=True)
    order = fields.ForeignKeyField("models.Order")

    class Meta:
        table = "items"


def run(sql, *parameters):
    return Tortoise.get_connection("default").execute_query_dict(sql, list(parameters))


async def insert():
    [row] = await run("INSERT INTO orders (note) VALUES ('made') RETURNING id")
    await run("INSERT INTO items (order_id) VALUES ($1)", row["id"])
    return row["id"]


async def later(since):
    return [row["note"] for row in await run("SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id", since)]


async def main():
    await Tortoise.init(db_url=URL.replace("postgresql:", "asyncpg:"), modules={"models": ["__main__"]})
    orders = Order.all().order_by("id")
    await steps(
        insert,
        lambda id: orders.filter(id=id).values_list("note", flat=True),
        lambda ids: orders.filter(id__in=ids).values_list("note", flat=True),
        later,
        lambda id: Item.filter(order__id=id).values_list("order__note", flat=True),
        lambda after: orders.filter(id__gt=after, id__lt=RawSQL("scru128_horizon()")).values_list("id", "note"),
    )
    await Tortoise.close_connections()


asyncio.run(main())
