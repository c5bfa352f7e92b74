"""polars: the default engine reads a view of text."""

import os
import sys
from datetime import datetime, timedelta, timezone

import polars

old, first = sys.argv[1:3]
url = os.environ["DATABASE_URL"]


def notes(condition):
    return polars.read_database_uri(f"SELECT note FROM orders_as_text WHERE {condition} ORDER BY id", url)["note"]


print("found", *notes(f"id = '{first}'"))
print("listed", *notes(f"id IN ('{old}', '{first}')"))
since = datetime.now(timezone.utc) - timedelta(hours=1)
print("since", *notes(f"created_at >= '{since.isoformat()}'"))
