"""FastAPI with psycopg: an ID is a path parameter, and malformed text is 422."""

import os
import sys
import time
from datetime import datetime, timedelta
from typing import Annotated

import psycopg
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from psycopg.rows import dict_row
from pydantic import BaseModel
from scru_postgres import Scru128
from scru_postgres.psycopg import register

connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, row_factory=dict_row)
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
def show(id: Scru128) -> Order:
    return Order(**connection.execute("SELECT * FROM orders WHERE id = %s", [id]).fetchone())


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


old = sys.argv[1]
client = TestClient(app)
made = client.post("/orders", params={"note": "made"}).json()["id"]
print("made", made)
print("found", client.get(f"/orders/{made}").json()["note"])
print("listed", *[order["note"] for order in client.get("/orders", params={"ids": [old, made]}).json()])
hour_ago = (datetime.now().astimezone() - timedelta(hours=1)).isoformat()
print("since", *[order["note"] for order in client.get("/since", params={"time": hour_ago}).json()])
print("joined", *[order["note"] for order in client.get(f"/items/{made}").json()])
assert client.get("/orders/malformed").status_code == 422

after, notes = old, []
while "made" not in notes:
    time.sleep(0.01)
    for order in client.get("/feed", params={"after": after}).json():
        after = order["id"]
        notes.append(order["note"])
print("feed", *notes)
