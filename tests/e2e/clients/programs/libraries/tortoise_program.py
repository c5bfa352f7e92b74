"""Tortoise ORM: a field of a few lines. A time and the horizon are raw SQL."""

import asyncio

from journey import URL, journey
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


def wait(query):
    """Runs a query in the loop of `main`, from the thread of the journey, and returns its result."""

    async def result():
        return await query

    return asyncio.run_coroutine_threadsafe(result(), loop).result()


def run(sql, *parameters):
    return wait(Tortoise.get_connection("default").execute_query_dict(sql, list(parameters)))


def insert():
    [row] = run("INSERT INTO orders (note) VALUES ('made') RETURNING id")
    run("INSERT INTO items (order_id) VALUES ($1)", row["id"])
    return row["id"]


def feed(after):
    new = Order.filter(id__gt=after, id__lt=RawSQL("scru128_horizon()")).order_by("id")
    return [(order.id, order.note) for order in wait(new)]


async def main():
    global loop
    loop = asyncio.get_running_loop()
    await Tortoise.init(db_url=URL.replace("postgresql:", "asyncpg:"), modules={"models": ["__main__"]})
    later = "SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id"
    await asyncio.to_thread(
        journey,
        insert,
        lambda id: [wait(Order.get(id=id)).note],
        lambda ids: wait(Order.filter(id__in=ids).order_by("id").values_list("note", flat=True)),
        lambda since: [row["note"] for row in run(later, since)],
        lambda id: wait(Item.filter(order__id=id).values_list("order__note", flat=True)),
        feed,
    )
    await Tortoise.close_connections()


asyncio.run(main())
