"""connectorx: a view of text."""

import os
import sys
from datetime import datetime, timedelta, timezone

import connectorx

old, first = sys.argv[1:3]


def notes(condition):
    select = f"SELECT id, created_at, note FROM orders_as_text WHERE {condition} ORDER BY id"
    return connectorx.read_sql(os.environ["DATABASE_URL"], select, return_type="arrow")["note"].to_pylist()


print("found", *notes(f"id = '{first}'"))
print("listed", *notes(f"id IN ('{old}', '{first}')"))
since = datetime.now(timezone.utc) - timedelta(hours=1)
print("since", *notes(f"created_at >= '{since.isoformat()}'"))
