"""Piccolo: a column of six lines. A time is cast in Raw SQL."""

from journey import URL, journey
from piccolo.columns import Column, ForeignKey, Text
from piccolo.engine.postgres import PostgresEngine
from piccolo.querystring import QueryString
from piccolo.table import Table

database = PostgresEngine(config={"dsn": URL})
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


async def insert():
    [row] = await Order.insert(Order(note="made"))
    await Item.insert(Item(order_id=row["id"]))
    return row["id"]


async def values(query):
    return [tuple(row.values()) if len(row) > 1 else next(iter(row.values())) for row in await query]


later = "SELECT note FROM orders WHERE id >= {}::timestamptz ORDER BY id"
new = "SELECT id, note FROM orders WHERE id > {} AND id < scru128_horizon() ORDER BY id"
journey(
    insert,
    lambda id: values(Order.select(Order.note).where(Order.id == id)),
    lambda ids: values(Order.select(Order.note).where(Order.id.is_in(ids)).order_by(Order.id)),
    lambda since: values(Order.raw(later, since)),
    lambda id: values(Item.select(Item.order_id.note).where(Item.order_id == id)),
    lambda after: values(Order.raw(new, after)),
)
