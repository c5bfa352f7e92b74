"""Prints each column's type as reflection returns it; for an array, the type of its elements."""

import os

import scru_postgres.sqlalchemy  # noqa: F401  (makes reflection recognize the types)
from sqlalchemy import MetaData, create_engine

metadata = MetaData()
metadata.reflect(create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")))
for table in metadata.sorted_tables:
    for column in table.columns:
        type = getattr(column.type, "item_type", column.type)
        print(table.name, column.name, f"{type!r}")
