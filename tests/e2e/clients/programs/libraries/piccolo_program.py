"""Piccolo: a column of six lines. A time is cast in Raw SQL."""

import asyncio
import os
import sys
from datetime import datetime, timedelta, timezone

from piccolo.columns import Column, ForeignKey, Text
from piccolo.engine.postgres import PostgresEngine
from piccolo.querystring import QueryString
from piccolo.table import Table

database = PostgresEngine(config={"dsn": os.environ["DATABASE_URL"]})


GENERATED = QueryString("gen_scru128()")


class Scru128(Column):
    value_type = str
    column_type = "scru128"

    def __init__(self, default=GENERATED, **kwargs):
        self.default = default
        super().__init__(default=default, **kwargs)


class Order(Table, tablename="orders", db=database):
    id = Scru128(primary_key=True)
    note = Text()


class Item(Table, tablename="items", db=database):
    id = Scru128(primary_key=True)
    order_id = ForeignKey(Order)


async def main() -> None:
    old = sys.argv[1]
    [row] = await Order.insert(Order(note="made"))
    made = row["id"]
    print("made", made)
    await Item.insert(Item(order_id=made))
    print("found", (await Order.objects().get(Order.id == made)).note)
    found = await Order.select(Order.note).where(Order.id.is_in([old, made])).order_by(Order.id)
    print("listed", *[row["note"] for row in found])
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    later = await Order.raw("SELECT note FROM orders WHERE id >= {}::timestamptz ORDER BY id", since)
    print("since", *[row["note"] for row in later])
    joined = await Item.select(Item.order_id.note).where(Item.order_id == made)
    print("joined", *[row["order_id.note"] for row in joined])

    after, notes = old, []
    while "made" not in notes:
        await asyncio.sleep(0.01)
        select = "SELECT id, note FROM orders WHERE id > {} AND id < scru128_horizon() ORDER BY id"
        for row in await Order.raw(select, after):
            after = row["id"]
            notes.append(row["note"])
    print("feed", *notes)


asyncio.run(main())
