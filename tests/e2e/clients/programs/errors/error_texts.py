"""Prints the errors of programs that do not do what docs/clients.md says, each as one line."""

import os
import sys
from datetime import datetime, timezone
from urllib.parse import urlparse

import adbc_driver_postgresql.dbapi
import connectorx
import django
import pandas
import pg8000.native
import polars
import psycopg
import psycopg2
import pyarrow
from django.conf import settings
from scru_postgres.sqlalchemy import SCRU128
from sqlalchemy import Column, MetaData, String, Table, create_engine, func, select, text, tuple_
from sqlmodel import Field, Session, SQLModel

[old] = sys.argv[1:2]
url = os.environ["DATABASE_URL"]
where = urlparse(url)
engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
adbc = adbc_driver_postgresql.dbapi.connect(url).cursor()
orders = Table("orders", MetaData(), Column("id", SCRU128), Column("note", String))
row = {"id": [old], "note": ["x"]}


class Order(SQLModel, table=True):
    __tablename__ = "orders"

    id: str = Field(default=None, primary_key=True, sa_column_kwargs={"server_default": text("gen_scru128()")})
    note: str


def on_psycopg(sql, *parameters, database=url):
    with psycopg.connect(database) as connection:
        connection.execute(sql, parameters)


def on_sqlalchemy(query):
    with engine.connect() as connection:
        return connection.execute(query).fetchall()


def insert_with_sqlmodel():
    with Session(engine) as session:
        order = Order(note="sqlmodel")
        session.add(order)
        session.commit()
        session.refresh(order)


def list_with_psycopg2():
    psycopg2.connect(url).cursor().execute("SELECT note FROM orders WHERE id = ANY(%s)", [[old]])


def time_with_pg8000():
    connection = pg8000.native.Connection(
        where.username, host=where.hostname, port=where.port, database=where.path[1:], password=where.password
    )
    connection.run("SELECT note FROM orders WHERE id >= :since", since=datetime.now(timezone.utc))


def filter_with_django():
    settings.configure(INSTALLED_APPS=["django_filters"])
    django.setup()
    from django.db import models
    from django_filters import FilterSet
    from scru_postgres.django import Scru128Field

    meta = type("Meta", (), {"app_label": "shop"})
    shop = type("Shop", (models.Model,), {"__module__": "shop", "id": Scru128Field(primary_key=True), "Meta": meta})
    type("ShopFilter", (FilterSet,), {"Meta": type("Meta", (), {"model": shop, "fields": ["id"]})})


assert on_sqlalchemy(select(orders).where(tuple_(orders.c.note, orders.c.id) > ("z", old))) == []
in_order = select(orders).where(tuple_(orders.c.note, orders.c.id) > tuple_("z", old))
for name, attempt in {
    "insert_with_sqlmodel": insert_with_sqlmodel,
    "find_with_sqlmodel": lambda: Session(engine).get(Order, old),
    "horizon_with_sqlalchemy": lambda: on_sqlalchemy(select(func.scru128_horizon(old))),
    "tuples_with_sqlalchemy": lambda: on_sqlalchemy(in_order),
    "without_the_extension": lambda: on_psycopg(
        "CREATE TABLE orders (id scru128)", database=url.rpartition("/")[0] + "/postgres"
    ),
    "show_a_setting": lambda: on_psycopg("SHOW scru.scru64_node"),
    "group_by_the_id": lambda: on_psycopg("SELECT extract(epoch FROM id) FROM orders"),
    "append_with_pandas": lambda: pandas.DataFrame(row).to_sql("orders", engine, if_exists="append", index=False),
    "ingest_with_adbc": lambda: adbc.adbc_ingest("orders", pyarrow.table(row), mode="append"),
    "filter_with_adbc": lambda: (
        adbc_driver_postgresql.dbapi.connect(url).cursor().execute("SELECT note FROM orders WHERE id = $1", [old])
    ),
    "list_with_psycopg2": list_with_psycopg2,
    "time_with_pg8000": time_with_pg8000,
    "time_with_psycopg": lambda: on_psycopg("SELECT note FROM orders WHERE id >= %s", "2026-11-01T00:00:00Z"),
    "filter_with_django": filter_with_django,
    "read_with_connectorx": lambda: connectorx.read_sql(url, "SELECT id FROM orders", return_type="arrow"),
    "read_with_polars": lambda: polars.read_database_uri("SELECT id FROM orders", url),
}.items():
    try:
        attempt()
    except BaseException as error:  # connectorx raises a PanicException
        print(name, type(error).__name__, str(error).replace("\n", " "))
    else:
        print(name, "no error")

with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT id FROM orders LIMIT 1")
    print("read_with_adbc", cursor.fetch_arrow_table().schema.field("id").type)
