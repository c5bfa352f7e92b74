"""polars: the default engine reads a view of text."""

import polars
from journey import FIRST, OLD, SINCE, URL


def notes(condition):
    return polars.read_database_uri(f"SELECT note FROM orders_as_text WHERE {condition} ORDER BY id", URL)["note"]


print("found", *notes(f"id = '{FIRST}'"))
print("listed", *notes(f"id IN ('{OLD}', '{FIRST}')"))
print("since", *notes(f"created_at >= '{SINCE.isoformat()}'"))
