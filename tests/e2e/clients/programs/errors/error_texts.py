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
engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))


class Order(SQLModel, table=True):
    __tablename__ = "orders"

    id: str = Field(default=None, primary_key=True, sa_column_kwargs={"server_default": text("gen_scru128()")})
    note: str


def insert_with_sqlmodel() -> None:
    with Session(engine) as session:
        order = Order(note="sqlmodel")
        session.add(order)
        session.commit()
        session.refresh(order)


def find_with_sqlmodel() -> None:
    with Session(engine) as session:
        session.get(Order, old)


def horizon_with_sqlalchemy() -> None:
    with engine.connect() as connection:
        connection.execute(select(func.scru128_horizon(old)))


def tuples_with_sqlalchemy() -> None:
    orders = Table("orders", MetaData(), Column("id", SCRU128), Column("note", String))
    with engine.connect() as connection:
        in_order = select(orders).where(tuple_(orders.c.note, orders.c.id) > ("z", old))
        assert connection.execute(in_order).fetchall() == []
        connection.execute(select(orders).where(tuple_(orders.c.note, orders.c.id) > tuple_("z", old)))


def without_the_extension() -> None:
    with psycopg.connect(url.rpartition("/")[0] + "/postgres") as connection:
        connection.execute("CREATE TABLE orders (id scru128)")


def show_a_setting() -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SHOW scru.scru64_node")


def group_by_the_id() -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT extract(epoch FROM id) FROM orders")


def append_with_pandas() -> None:
    pandas.DataFrame({"id": [old], "note": ["x"]}).to_sql("orders", engine, if_exists="append", index=False)


def ingest_with_adbc() -> None:
    with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("orders", pyarrow.table({"id": [old], "note": ["x"]}), mode="append")


def filter_with_adbc() -> None:
    with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT note FROM orders WHERE id = $1", [old])


def list_with_psycopg2() -> None:
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT note FROM orders WHERE id = ANY(%s)", [[old]])


def time_with_psycopg() -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SELECT note FROM orders WHERE id >= %s", ["2026-11-01T00:00:00Z"])


def time_with_pg8000() -> None:
    where = urlparse(url)
    connection = pg8000.native.Connection(
        where.username, host=where.hostname, port=where.port, database=where.path[1:], password=where.password
    )
    connection.run("SELECT note FROM orders WHERE id >= :since", since=datetime.now(timezone.utc))


def filter_with_django() -> None:
    settings.configure(INSTALLED_APPS=["django_filters"])
    django.setup()
    from django.db import models
    from django_filters import FilterSet
    from scru_postgres.django import Scru128Field

    class Shop(models.Model):
        id = Scru128Field(primary_key=True)

        class Meta:
            app_label = "shop"

    class ShopFilter(FilterSet):
        class Meta:
            model = Shop
            fields = ["id"]


def read_with_connectorx() -> None:
    connectorx.read_sql(url, "SELECT id FROM orders", return_type="arrow")


def read_with_polars() -> None:
    polars.read_database_uri("SELECT id FROM orders", url)


for attempt in (
    insert_with_sqlmodel,
    find_with_sqlmodel,
    horizon_with_sqlalchemy,
    tuples_with_sqlalchemy,
    without_the_extension,
    show_a_setting,
    group_by_the_id,
    append_with_pandas,
    ingest_with_adbc,
    filter_with_adbc,
    list_with_psycopg2,
    time_with_pg8000,
    time_with_psycopg,
    filter_with_django,
    read_with_connectorx,
    read_with_polars,
):
    try:
        attempt()
    except BaseException as error:  # connectorx raises a PanicException
        print(attempt.__name__, type(error).__name__, str(error).replace("\n", " "))
    else:
        print(attempt.__name__, "no error")

with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT id FROM orders LIMIT 1")
    print("read_with_adbc", cursor.fetch_arrow_table().schema.field("id").type)
