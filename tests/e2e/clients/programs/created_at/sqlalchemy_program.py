"""SQLAlchemy with a created_at that the database fills: a column, or an expression of a view."""

import os
from datetime import datetime

from sqlalchemy import DateTime, FetchedValue, create_engine, delete, func, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.types import UserDefinedType


class Scru128(UserDefinedType):
    cache_ok = True

    def get_col_spec(self, **_):
        return "scru128"


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    __mapper_args__ = {"eager_defaults": True}

    id: Mapped[str] = mapped_column(Scru128, primary_key=True, server_default=FetchedValue())
    note: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=FetchedValue())


def report(name, *values):
    print(name, *(str(value).lower() if isinstance(value, bool) else value for value in values))


engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
with Session(engine) as session:
    since = session.scalar(text("SELECT clock_timestamp() - interval '1 ms'"))
    session.commit()
    made = []
    for note in ("one", "two", "three"):
        made.append(Order(note=note))
        session.add(made[-1])
        session.commit()
    report("has_time", all(order.created_at for order in made))
    query = select(Order.note).where(Order.created_at >= since).order_by(Order.created_at.desc())
    report("since", *session.scalars(query))
    report("latest", *session.scalars(select(Order.note).order_by(Order.created_at.desc()).limit(2)))
    report("is_largest", session.scalar(select(func.max(Order.created_at))) == made[2].created_at)
    made[0].note = "changed"
    session.commit()
    report("changed", session.get(Order, made[0].id).note)
    session.delete(made[1])
    session.commit()
    report("deleted", session.execute(delete(Order).where(Order.created_at >= since, Order.note == "old")).rowcount)
    report("left", *session.scalars(select(Order.note).order_by(Order.created_at)))
