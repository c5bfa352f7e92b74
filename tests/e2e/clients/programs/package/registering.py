"""Registers the types of databases without the extension, with it in another schema, and with a decoy in `public`."""

import asyncio
import os

import asyncpg
import psycopg
import scru_postgres.asyncpg
import scru_postgres.psycopg
from scru_postgres import Ulid

URL = os.environ["DATABASE_URL"]
QUERY = "SELECT scru128, ulid, ulids FROM public.made"
OPTIONS = {"all": {}, "ulid": {"types": [Ulid]}, "ids": {"schema": "ids"}, "public": {"schema": "public"}}


def report(module, options, row):
    """Prints the types of the values. An array of a type that is not registered is a text."""
    print(module, options, *(type(value[0] if isinstance(value, list) else value).__name__ for value in row))


with psycopg.connect(URL) as connection:
    scru_postgres.psycopg.register(connection)
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    connection.execute(
        "CREATE TYPE public.ulid AS ENUM (); CREATE SCHEMA ids; CREATE EXTENSION scru SCHEMA ids;"
        " CREATE TABLE public.made AS"
        " SELECT ids.gen_scru128() AS scru128, ids.gen_ulid() AS ulid, ARRAY[ids.gen_ulid()] AS ulids"
    )


async def main():
    for name, options in OPTIONS.items():
        with psycopg.connect(URL) as connection:
            scru_postgres.psycopg.register(connection, **options)
            report("psycopg", name, connection.execute(QUERY).fetchone())
        async with await psycopg.AsyncConnection.connect(URL) as connection:
            await scru_postgres.psycopg.register_async(connection, **options)
            report("psycopg_async", name, await (await connection.execute(QUERY)).fetchone())
        connection = await asyncpg.connect(URL)
        await scru_postgres.asyncpg.register(connection, **options)
        report("asyncpg", name, await connection.fetchrow(QUERY))
        await connection.close()


asyncio.run(main())
