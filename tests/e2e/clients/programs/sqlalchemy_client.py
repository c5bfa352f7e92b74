"""SQLAlchemy with scru_postgres, on psycopg and asyncpg, and without."""

import asyncio
from datetime import datetime, timezone

from common import IDS, SINCE, URL, report
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128, register
from sqlalchemy import ARRAY, Column, MetaData, Table, any_, create_engine, insert, literal, select, text
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.types import UserDefinedType

# block 1 of python.md#sqlalchemy

# block 3 of python.md#sqlalchemy

since, until = SINCE, datetime(2027, 11, 1, tzinfo=timezone.utc)
given = select(Order.id).where(Order.note == "given").order_by(Order.id)


def on_psycopg(session, ids):
    id = ids[0]
    # block 2 of python.md#sqlalchemy
    report("made", order.id)
    report("found", *[order.id for order in found])
    report("later", *sorted(order.id for order in later))
    report("array", *session.scalars(given.where(Order.id == any_(literal(ids, ARRAY(SCRU128))))))
    literally = given.where(Order.id == id).compile(session.bind, compile_kwargs={"literal_binds": True})
    assert session.scalars(text(str(literally))).all() == [id]
    # block 1 of README.md#sqlalchemy-and-alembic
    assert after == [id for id in sorted(ids) if id.timestamp >= since]
    within = session.scalars(given.where(Order.id.between(since, until))).all()
    assert within == [id for id in after if id.timestamp <= until]
    assert during == [id for id in after if id.timestamp < until]
    assert session.scalars(given.where(Order.id.during(Range(since, None)))).all() == after

    report("null", session.scalar(select(literal(None, SCRU128))))
    lists = Table("lists", MetaData(), Column("ids", ARRAY(SCRU128)))
    report("array_of_null", *session.scalar(insert(lists).values(ids=[None, *ids]).returning(lists.c.ids)))
    try:
        session.get(Order, "!")
    except DBAPIError as error:
        print("malformed", error.orig.sqlstate)


def without_the_package(session, ids):
    plain = Table("orders", MetaData(), Column("id", Scru128Type))
    is_given = plain.c.id == any_(literal(ids, ARRAY(Scru128Type)))
    print("array_in_text", *session.scalars(select(plain.c.id).where(is_given).order_by(plain.c.id)))
    is_later = plain.c.id >= literal(since, DateTime(timezone=True))
    print("later_in_text", *session.scalars(select(plain.c.id).where(is_later).order_by(plain.c.id)))


async def on_asyncpg(engine):
    async with engine.connect() as connection:
        ids = list(await connection.scalars(given))
        report("found_in_binary", *await connection.scalars(given.where(Order.id.in_(ids))))
        after = list(await connection.scalars(given.where(Order.id >= since)))
        assert after == list(await connection.scalars(given.where(Order.id.during(Range(since, None)))))
        assert after == [id for id in ids if id.timestamp >= since]
    await engine.dispose()


registered, plain = (create_engine(URL.replace("postgresql:", "postgresql+psycopg:")) for _ in range(2))
register(registered)
with Session(registered) as session:
    on_psycopg(session, [Scru128(text) for text in IDS])
with Session(plain) as session:
    without_the_package(session, IDS)
asyncio.run(on_asyncpg(create_async_engine(URL.replace("postgresql:", "postgresql+asyncpg:"))))
