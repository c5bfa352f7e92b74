"""SQLAlchemy on psycopg 3. IDs are strings. For COPY, use psycopg."""

import os
import sys
from datetime import datetime, timezone

from psycopg.types import TypeInfo
from sqlalchemy import ARRAY, Column, DateTime, MetaData, Table
from sqlalchemy import any_, create_engine, event, insert, literal, null, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.types import UserDefinedType


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    print(name, *("NULL" if value is None else value for value in values))


class Scru128(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_):
        return "scru128"


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[str] = mapped_column(Scru128, primary_key=True, server_default=text("gen_scru128()"))
    note: Mapped[str | None]


engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))


@event.listens_for(engine, "connect")
def register(connection, _):
    TypeInfo.fetch(connection, "scru128").register(connection)


def query(session, ids):
    order = Order(note="made")
    session.add(order)
    session.add_all(Order(id=id, note="given") for id in ids)
    session.commit()
    report("made", order.id)

    given = select(Order.id).where(Order.note == "given").order_by(Order.id)
    found = session.scalars(given.where(Order.id.in_(ids))).all()
    found_by_any = session.scalars(given.where(Order.id == any_(literal(ids, ARRAY(Scru128))))).all()
    report("found", *found)
    report("found_by_any", *found_by_any)


def nullable(session, ids):
    report("null", session.scalar(insert(Order.__table__).values(id=null(), note="null").returning(Order.id)))

    lists = Table("lists", MetaData(), Column("ids", ARRAY(Scru128)))
    report("array", *session.scalar(insert(lists).values(ids=[None, *ids]).returning(lists.c.ids)))
    session.commit()


def by_time(session):
    since = literal(datetime(2026, 11, 1, tzinfo=timezone.utc), DateTime(timezone=True))
    given = select(Order.id).where(Order.note == "given").order_by(Order.id)
    found = session.scalars(given.where(Order.id >= since)).all()
    report("found_by_time", *found)


def malformed(session):
    try:
        session.get(Order, "!")
    except DBAPIError as error:
        report("malformed", error.orig.sqlstate)


with Session(engine) as session:
    query(session, sys.argv[1:])
    nullable(session, sys.argv[1:])
    by_time(session)
    malformed(session)
