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


def insert():
    [row] = Order.insert(Order(note="made")).run_sync()
    Item.insert(Item(order_id=row["id"])).run_sync()
    return row["id"]


def notes(query, column="note"):
    return [row[column] for row in query.run_sync()]


def feed(after):
    new = "SELECT id, note FROM orders WHERE id > {} AND id < scru128_horizon() ORDER BY id"
    return [(row["id"], row["note"]) for row in Order.raw(new, after).run_sync()]


later = "SELECT note FROM orders WHERE id >= {}::timestamptz ORDER BY id"
journey(
    insert,
    lambda id: [Order.objects().get(Order.id == id).run_sync().note],
    lambda ids: notes(Order.select(Order.note).where(Order.id.is_in(ids)).order_by(Order.id)),
    lambda since: notes(Order.raw(later, since)),
    lambda id: notes(Item.select(Item.order_id.note).where(Item.order_id == id), "order_id.note"),
    feed,
)
