"""SQLModel: each column has an sa_type of scru_postgres.sqlalchemy, also a foreign key."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone
from typing import Optional

from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128
from sqlalchemy import func, text
from sqlmodel import Field, Session, SQLModel, create_engine, select


class Order(SQLModel, table=True):
    __tablename__ = "orders"

    id: Optional[Scru128] = Field(
        default=None, primary_key=True, sa_type=SCRU128, sa_column_kwargs={"server_default": text("gen_scru128()")}
    )
    note: str


class Item(SQLModel, table=True):
    __tablename__ = "items"

    id: Optional[Scru128] = Field(
        default=None, primary_key=True, sa_type=SCRU128, sa_column_kwargs={"server_default": text("gen_scru128()")}
    )
    order_id: Scru128 = Field(foreign_key="orders.id", sa_type=SCRU128)


old = sys.argv[1]
engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
with Session(engine) as session:
    order = Order(note="made")
    session.add(order)
    session.commit()
    session.refresh(order)
    print("made", order.id)
    session.add(Item(order_id=order.id))
    session.commit()
    print("found", session.get(Order, order.id).note)
    found = session.exec(select(Order.note).where(Order.id.in_([old, order.id])).order_by(Order.id))
    print("listed", *found)
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    print("since", *session.exec(select(Order.note).where(Order.id >= since).order_by(Order.id)))
    joined = select(Order.note).join(Item, Item.order_id == Order.id).where(Order.id == order.id)
    print("joined", *session.exec(joined))

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    with Session(engine) as session:
        new = select(Order).where(Order.id > after, Order.id < func.scru128_horizon(type_=SCRU128)).order_by(Order.id)
        for row in session.exec(new):
            after = row.id
            notes.append(row.note)
print("feed", *notes)
