"""FastAPI with psycopg: an ID is a parameter of a path or a query, and malformed text is 422."""

from typing import Annotated

import psycopg
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from journey import OLD, URL
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
    return connection.execute("INSERT INTO orders (note) VALUES (%s) RETURNING *", [note]).fetchone()


@app.get("/orders/{id}")
def show(id: Scru128) -> Order:
    return connection.execute("SELECT * FROM orders WHERE id = %s", [id]).fetchone()


@app.get("/orders")
def orders(ids: Annotated[list[Scru128], Query()]) -> list[Order]:
    return connection.execute("SELECT * FROM orders WHERE id = ANY(%s) ORDER BY id", [ids]).fetchall()


client = TestClient(app)
made = client.post("/orders", params={"note": "made"}).json()["id"]
print("made", made)
print("found", client.get(f"/orders/{made}").json()["note"])
print("listed", *(order["note"] for order in client.get("/orders", params={"ids": [OLD, made]}).json()))
assert client.get("/orders/malformed").status_code == 422
