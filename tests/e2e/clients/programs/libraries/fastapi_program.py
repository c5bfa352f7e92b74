"""FastAPI with psycopg: an ID is a parameter of a path or a query, and malformed text is 422."""

from datetime import datetime
from typing import Annotated

import psycopg
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from journey import URL, journey
from psycopg.rows import dict_row
from pydantic import BaseModel
from scru_postgres import Scru128
from scru_postgres.psycopg import register

connection = psycopg.connect(URL, autocommit=True, row_factory=dict_row)
register(connection)
app = FastAPI()


class Order(BaseModel):
    id: Scru128
    note: str


@app.post("/orders")
def create(note: str) -> Order:
    order = connection.execute("INSERT INTO orders (note) VALUES (%s) RETURNING *", [note]).fetchone()
    connection.execute("INSERT INTO items (order_id) VALUES (%s)", [order["id"]])
    return Order(**order)


@app.get("/orders/{id}")
def show(id: Scru128) -> list[Order]:
    return connection.execute("SELECT * FROM orders WHERE id = %s", [id]).fetchall()


@app.get("/orders")
def orders(ids: Annotated[list[Scru128], Query()]) -> list[Order]:
    return connection.execute("SELECT * FROM orders WHERE id = ANY(%s) ORDER BY id", [ids]).fetchall()


@app.get("/since")
def since(time: datetime) -> list[Order]:
    return connection.execute("SELECT * FROM orders WHERE id >= %s ORDER BY id", [time]).fetchall()


@app.get("/items/{order_id}")
def items(order_id: Scru128) -> list[Order]:
    select = "SELECT orders.* FROM orders JOIN items ON order_id = orders.id WHERE order_id = %s"
    return connection.execute(select, [order_id]).fetchall()


@app.get("/feed")
def feed(after: Scru128) -> list[Order]:
    select = "SELECT * FROM orders WHERE id > %s AND id < scru128_horizon() ORDER BY id"
    return connection.execute(select, [after]).fetchall()


client = TestClient(app)


def notes(path, **parameters):
    return [order["note"] for order in client.get(path, params=parameters).json()]


assert client.get("/orders/malformed").status_code == 422
journey(
    lambda: client.post("/orders", params={"note": "made"}).json()["id"],
    lambda id: notes(f"/orders/{id}"),
    lambda ids: notes("/orders", ids=ids),
    lambda since: notes("/since", time=since.isoformat()),
    lambda id: notes(f"/items/{id}"),
    lambda after: [order.values() for order in client.get("/feed", params={"after": after}).json()],
)
