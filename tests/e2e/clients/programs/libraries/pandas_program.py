"""pandas: read_sql works; to_sql needs the type of the column, because pandas sends text."""

import pandas
from journey import ON_PSYCOPG, journey
from scru_postgres import Scru128
from scru_postgres.sqlalchemy import SCRU128
from sqlalchemy import create_engine, text

engine = create_engine(ON_PSYCOPG)


def read(sql, **parameters):
    return pandas.read_sql(text(sql), engine, params=parameters)


def insert():
    made = str(Scru128.new())
    for table, column, rows in ("orders", "id", {"note": ["made"]}), ("items", "order_id", {}):
        frame = pandas.DataFrame({column: [made], **rows})
        frame.to_sql(table, engine, if_exists="append", index=False, dtype={column: SCRU128})
    return made


def joined(_made):
    items = read("SELECT order_id FROM items")
    return read("SELECT * FROM orders").merge(items, left_on="id", right_on="order_id").note


new = "SELECT id, note FROM orders WHERE id > CAST(:after AS scru128) AND id < scru128_horizon() ORDER BY id"
journey(
    insert,
    lambda id: read("SELECT note FROM orders WHERE id = CAST(:id AS scru128)", id=id).note,
    lambda ids: read("SELECT note FROM orders WHERE id = ANY(CAST(:ids AS scru128[])) ORDER BY id", ids=ids).note,
    lambda since: read("SELECT note FROM orders WHERE id >= :since ORDER BY id", since=since).note,
    joined,
    lambda after: read(new, after=after).itertuples(index=False),
)
