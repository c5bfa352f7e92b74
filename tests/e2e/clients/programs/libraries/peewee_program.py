"""peewee: a field of two lines. A time is cast in SQL."""

from journey import URL, journey
from peewee import SQL, Field, ForeignKeyField, Model, TextField, fn
from playhouse.db_url import connect


class Scru128Field(Field):
    field_type = "scru128"


class Base(Model):
    id = Scru128Field(primary_key=True, constraints=[SQL("DEFAULT gen_scru128()")])

    class Meta:
        database = connect(URL)


class Order(Base):
    note = TextField()

    class Meta:
        table_name = "orders"


class Item(Base):
    order = ForeignKeyField(Order)

    class Meta:
        table_name = "items"


def insert():
    made = Order.insert(note="made").execute()
    Item.insert(order=made).execute()
    return made


def orders(condition):
    return Order.select(Order.id, Order.note).where(condition).order_by(Order.id).tuples()


def notes(condition):
    return [note for _, note in orders(condition)]


journey(
    insert,
    lambda id: [Order.get_by_id(id).note],
    lambda ids: notes(Order.id.in_(ids)),
    lambda since: notes(Order.id >= SQL("%s::timestamptz", [since])),
    lambda id: [item.order.note for item in Item.select(Item, Order).join(Order).where(Order.id == id)],
    lambda after: orders((Order.id > after) & (Order.id < fn.scru128_horizon())),
)
