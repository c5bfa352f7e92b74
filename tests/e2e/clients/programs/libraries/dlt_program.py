"""dlt: sql_database reads an ID as text, with scru_postgres.sqlalchemy for the reflection."""

import scru_postgres.sqlalchemy
from dlt.sources.sql_database import sql_table
from journey import FIRST, URL

url = URL.replace("postgresql:", "postgresql+psycopg2:")
print("found", {str(row["id"]): row["note"] for row in sql_table(url, table="orders")}[FIRST])
