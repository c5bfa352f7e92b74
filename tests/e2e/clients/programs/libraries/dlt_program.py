"""dlt: sql_database reads an ID as text, with scru_postgres.sqlalchemy for the reflection."""

import os
import sys

import scru_postgres.sqlalchemy  # noqa: F401  (registers the types)
from dlt.sources.sql_database import sql_table

first = sys.argv[2]
url = os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg2:")
rows = {str(row["id"]): row["note"] for row in sql_table(url, table="orders")}
print("found", rows[first])
