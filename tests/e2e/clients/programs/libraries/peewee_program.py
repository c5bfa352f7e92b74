"""peewee: a field of two lines. A time is cast in SQL."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone

from peewee import SQL, Field, ForeignKeyField, Model, TextField, fn
from playhouse.db_url import connect

database = connect(os.environ["DATABASE_URL"])


class Scru128Field(Field):
    field_type = "scru128"


class Order(Model):
    id = Scru128Field(primary_key=True, constraints=[SQL("DEFAULT gen_scru128()")])
    note = TextField()

    class Meta:
        database = database
        table_name = "orders"


class Item(Model):
    id = Scru128Field(primary_key=True, constraints=[SQL("DEFAULT gen_scru128()")])
    order = ForeignKeyField(Order)

    class Meta:
        database = database
        table_name = "items"


old = sys.argv[1]
made = Order.insert(note="made").execute()
print("made", made)
Item.insert(order=made).execute()
print("found", Order.get_by_id(made).note)
print("listed", *[order.note for order in Order.select().where(Order.id.in_([old, made])).order_by(Order.id)])
since = datetime.now(timezone.utc) - timedelta(hours=1)
later = Order.select().where(Order.id >= SQL("%s::timestamptz", [since])).order_by(Order.id)
print("since", *[order.note for order in later])
print("joined", *[item.order.note for item in Item.select(Item, Order).join(Order).where(Order.id == made)])

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    new = Order.select().where((Order.id > after) & (Order.id < fn.scru128_horizon())).order_by(Order.id)
    for order in new:
        after = order.id
        notes.append(order.note)
print("feed", *notes)
