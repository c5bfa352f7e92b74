"""Finds an order by its time, creates a table with a guard, which refuses an old ID, and reflects a table."""

import os
from datetime import datetime, timedelta, timezone

from models import Order
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128, guard
from sqlalchemy import create_engine, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visits"

    id: Mapped[Scru128] = mapped_column(SCRU128, primary_key=True, default=Scru128.new)


# block 2 of python.md#alembic

engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
Base.metadata.create_all(engine)
since = datetime.now(timezone.utc) - timedelta(minutes=1)
with Session(engine) as session:
    session.add_all([Order(note="made"), Visit()])
    session.commit()
    recent = select(Order).where(Order.created_at >= since).order_by(Order.created_at)
    [made] = session.scalars(recent)
    print(made.note, made.created_at == made.id.timestamp)
    session.add(Visit(id=Scru128.lower_bound(since)))
    try:
        session.commit()
    except DBAPIError as error:
        print("too old for a feed" in str(error))
for column in sorted(inspect(engine).get_columns("all_types"), key=lambda column: column["name"]):
    print(column["name"], repr(getattr(column["type"], "item_type", column["type"])))
