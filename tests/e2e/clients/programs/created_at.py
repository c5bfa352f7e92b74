"""SQLAlchemy with a created_at that the database fills: a column, or an expression of a view."""

import os
import time
from datetime import datetime

from sqlalchemy import DateTime, FetchedValue, create_engine, delete, func, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.types import UserDefinedType

# block 3 of python.md#sqlalchemy


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    __mapper_args__ = {"eager_defaults": True}

    id: Mapped[str] = mapped_column(Scru128Type, primary_key=True, server_default=FetchedValue())
    note: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=FetchedValue())


engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
with Session(engine) as session:
    since = session.scalar(text("SELECT clock_timestamp() - interval '1 ms'"))
    session.commit()
    made = [Order(note=note) for note in ("one", "two", "three")]
    for order in made:
        session.add(order)
        session.commit()
        assert order.created_at
        time.sleep(0.002)  # the time of an ID is in whole milliseconds
    newest = select(Order.note).order_by(Order.created_at.desc())
    print("since", *session.scalars(newest.where(Order.created_at >= since)))
    print("latest", *session.scalars(newest.limit(2)))
    assert session.scalar(select(func.max(Order.created_at))) == made[2].created_at
    made[0].note = "changed"
    session.commit()
    session.delete(made[1])
    session.commit()
    session.execute(delete(Order).where(Order.created_at >= since, Order.note == "three"))
    print("left", *session.scalars(newest))
