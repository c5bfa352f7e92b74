"""scru_postgres.sqlalchemy, on psycopg and asyncpg: IDs are instances of their class. Reflection returns the types."""

import asyncio
import os
import sys
from datetime import datetime, timezone

from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128, register
from sqlalchemy import ARRAY, Column, MetaData, Table, any_, create_engine, insert, literal, null, select, text
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    assert all(value is None or type(value) is Scru128 for value in values)
    print(name, *("NULL" if value is None else value for value in values))


def time_of(id):
    """Returns the time of an ID, or the latest time if it is after the year 9999."""
    try:
        return id.timestamp
    except OverflowError:
        return datetime.max.replace(tzinfo=timezone.utc)


since, until = datetime(2026, 11, 1, tzinfo=timezone.utc), datetime(2027, 11, 1, tzinfo=timezone.utc)


class Base(DeclarativeBase):
    type_annotation_map = {Scru128: SCRU128}


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[Scru128] = mapped_column(primary_key=True, server_default=text("gen_scru128()"))
    note: Mapped[str | None]


def query(session, ids):
    order = Order(note="made")
    session.add(order)
    session.add_all(Order(id=id, note="given") for id in ids)
    session.commit()
    report("made", order.id)

    given = select(Order.id).where(Order.note == "given").order_by(Order.id)
    report("found", *session.scalars(given.where(Order.id.in_(ids))))
    report("found_by_any", *session.scalars(given.where(Order.id == any_(literal(ids, ARRAY(SCRU128))))))
    literally = given.where(Order.id == ids[0]).compile(session.bind, compile_kwargs={"literal_binds": True})
    assert session.scalars(text(str(literally))).all() == [ids[0]]
    # block 1 of README.md#sqlalchemy-and-alembic
    assert after == [id for id in sorted(ids) if time_of(id) >= since]
    within = session.scalars(given.where(Order.id.between(since, until))).all()
    assert within == [id for id in after if time_of(id) <= until]
    assert during == [id for id in after if time_of(id) < until]
    assert session.scalars(given.where(Order.id.during(Range(since, None)))).all() == after

    report("null", session.scalar(insert(Order.__table__).values(id=null(), note="null").returning(Order.id)))
    lists = Table("lists", MetaData(), Column("ids", ARRAY(SCRU128)))
    report("array", *session.scalar(insert(lists).values(ids=[None, *ids]).returning(lists.c.ids)))
    session.commit()
    try:
        session.get(Order, "!")
    except DBAPIError as error:
        print("malformed", error.orig.sqlstate)


async def on_asyncpg(url):
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        given = select(Order.id).where(Order.note == "given").order_by(Order.id)
        ids = list(await connection.scalars(given))
        report("found_by_asyncpg", *await connection.scalars(given.where(Order.id.in_(ids))))
        after = list(await connection.scalars(given.where(Order.id >= since)))
        assert after == list(await connection.scalars(given.where(Order.id.during(Range(since, None)))))
        assert after == [id for id in ids if time_of(id) >= since]
    await engine.dispose()


url = os.environ["DATABASE_URL"]
engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
register(engine)

with Session(engine) as session:
    query(session, [Scru128(text) for text in sys.argv[1:]])
asyncio.run(on_asyncpg(url.replace("postgresql:", "postgresql+asyncpg:")))
