"""SQLAlchemy, with scru-postgres and without. `id` is the first of the IDs. The others are in the table."""

import os
import sys
from datetime import datetime, timezone

from sqlalchemy import ARRAY, Column, MetaData, Table, any_, create_engine, literal, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import UserDefinedType

# block 1 of python.md#sqlalchemy

# block 3 of python.md#sqlalchemy

id, *_ = ids = sys.argv[1:]
since = datetime(2026, 11, 1, tzinfo=timezone.utc)
with Session(create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))) as session:
    # block 2 of python.md#sqlalchemy
    print("made", order.id)
    print("found", *[order.id for order in found])
    print("later", *[order.id for order in later])
    plain = Table("orders", MetaData(), Column("id", Scru128Type))
    is_given = plain.c.id == any_(literal(ids, ARRAY(Scru128Type)))
    print("array", *session.scalars(select(plain.c.id).where(is_given).order_by(plain.c.id)))
    is_later = plain.c.id >= literal(since, DateTime(timezone=True))
    print("later_in_text", *session.scalars(select(plain.c.id).where(is_later).order_by(plain.c.id)))
    try:
        session.scalar(select(plain.c.id).where(plain.c.id == "!"))
    except DBAPIError as error:
        print("malformed", error.orig.sqlstate)
