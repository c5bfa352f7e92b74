"""SQLModel: each column has an sa_type of scru_postgres.sqlalchemy, also a foreign key."""

from typing import Optional

from journey import ON_PSYCOPG, journey
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128
from sqlalchemy import func, text
from sqlmodel import Field, Session, SQLModel, create_engine, select


def key():
    column = {"server_default": text("gen_scru128()")}
    return Field(default=None, primary_key=True, sa_type=SCRU128, sa_column_kwargs=column)


class Order(SQLModel, table=True):
    __tablename__ = "orders"

    id: Optional[Scru128] = key()
    note: str


class Item(SQLModel, table=True):
    __tablename__ = "items"

    id: Optional[Scru128] = key()
    order_id: Scru128 = Field(foreign_key="orders.id", sa_type=SCRU128)


def insert():
    order = Order(note="made")
    session.add(order)
    session.commit()
    session.refresh(order)
    session.add(Item(order_id=order.id))
    session.commit()
    return order.id


def orders(*columns, where):
    session.rollback()
    return session.exec(select(*columns).where(where).order_by(Order.id)).all()


with Session(create_engine(ON_PSYCOPG)) as session:
    journey(
        insert,
        lambda id: [session.get(Order, id).note],
        lambda ids: orders(Order.note, where=Order.id.in_(ids)),
        lambda since: orders(Order.note, where=Order.id >= since),
        lambda id: session.exec(select(Order.note).join(Item, Item.order_id == Order.id).where(Order.id == id)),
        lambda after: orders(
            Order.id, Order.note, where=(Order.id > after) & (Order.id < func.scru128_horizon(type_=SCRU128))
        ),
    )
