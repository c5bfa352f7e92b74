"""Tortoise ORM: a field of a few lines. A time and the horizon are raw SQL."""

import asyncio
import os
import sys
from datetime import datetime, timedelta, timezone

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


async def main() -> None:
    old = sys.argv[1]
    url = os.environ["DATABASE_URL"].replace("postgresql:", "asyncpg:")
    await Tortoise.init(db_url=url, modules={"models": ["__main__"]})
    connection = Tortoise.get_connection("default")
    [row] = await connection.execute_query_dict("INSERT INTO orders (note) VALUES ('made') RETURNING id")
    made = row["id"]
    print("made", made)
    await connection.execute_query("INSERT INTO items (order_id) VALUES ($1)", [made])
    print("found", (await Order.get(id=made)).note)
    print("listed", *await Order.filter(id__in=[old, made]).order_by("id").values_list("note", flat=True))
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    select = "SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id"
    print("since", *[row["note"] for row in await connection.execute_query_dict(select, [since])])
    print("joined", *await Item.filter(order__id=made).values_list("order__note", flat=True))

    after, notes = old, []
    while "made" not in notes:
        await asyncio.sleep(0.01)
        new = Order.filter(id__gt=after).annotate(horizon=RawSQL("scru128_horizon()")).order_by("id")
        for order in await new.filter(id__lt=RawSQL("scru128_horizon()")):
            after = order.id
            notes.append(order.note)
    print("feed", *notes)
    await Tortoise.close_connections()


asyncio.run(main())
