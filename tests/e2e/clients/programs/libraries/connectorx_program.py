"""connectorx: a view of text."""

import connectorx
from journey import FIRST, OLD, SINCE, URL


def notes(condition):
    select = f"SELECT id, created_at, note FROM orders_as_text WHERE {condition} ORDER BY id"
    return connectorx.read_sql(URL, select, return_type="arrow")["note"].to_pylist()


print("found", *notes(f"id = '{FIRST}'"))
print("listed", *notes(f"id IN ('{OLD}', '{FIRST}')"))
print("since", *notes(f"created_at >= '{SINCE.isoformat()}'"))
