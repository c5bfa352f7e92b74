"""Prints the class of each column's type, or of its elements' type for an array, as reflection returns it."""

import os

import scru_postgres.sqlalchemy  # noqa: F401  (makes reflection recognise the types)
from sqlalchemy import MetaData, create_engine

metadata = MetaData()
metadata.reflect(create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")))
for table in metadata.sorted_tables:
    for column in table.columns:
        type = getattr(column.type, "item_type", column.type)
        print(table.name, column.name, f"{type!r}")
