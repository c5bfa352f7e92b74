"""pandas: read_sql works; to_sql needs the type of the column, because pandas sends text."""

import os
import sys
import time
from datetime import datetime, timedelta, timezone

import pandas
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128
from sqlalchemy import create_engine, text

old = sys.argv[1]
engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))


def read(sql, **parameters):
    return pandas.read_sql(text(sql), engine, params=parameters)


made = str(Scru128.new())
rows = pandas.DataFrame({"id": [made], "note": ["made"]})
rows.to_sql("orders", engine, if_exists="append", index=False, dtype={"id": SCRU128})
print("made", *read("SELECT id FROM orders WHERE note = 'made'").id)
items = pandas.DataFrame({"order_id": [made]})
items.to_sql("items", engine, if_exists="append", index=False, dtype={"order_id": SCRU128})
print("found", *read("SELECT note FROM orders WHERE id = CAST(:id AS scru128)", id=made).note)
listed = "SELECT note FROM orders WHERE id = ANY(CAST(:ids AS scru128[])) ORDER BY id"
print("listed", *read(listed, ids=[old, made]).note)
since = datetime.now(timezone.utc) - timedelta(hours=1)
print("since", *read("SELECT note FROM orders WHERE id >= :since ORDER BY id", since=since).note)
joined = read("SELECT * FROM orders").merge(read("SELECT order_id FROM items"), left_on="id", right_on="order_id")
print("joined", *joined.note)

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    new = "SELECT id, note FROM orders WHERE id > CAST(:after AS scru128) AND id < scru128_horizon() ORDER BY id"
    frame = read(new, after=after)
    if not frame.empty:
        after = frame.id.iloc[-1]
        notes += list(frame.note)
print("feed", *notes)
