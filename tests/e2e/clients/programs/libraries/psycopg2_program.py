"""psycopg2: a list needs a cast, a datetime does not."""

import psycopg2
from journey import URL, journey_in_sql

connection = psycopg2.connect(URL)
connection.autocommit = True
cursor = connection.cursor()


def run(sql, *parameters):
    cursor.execute(sql, parameters)
    return cursor.fetchall()


journey_in_sql(run, ids="{}::scru128[]")
