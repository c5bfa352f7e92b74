"""psycopg2: a list needs a cast, a datetime does not."""

import psycopg2
from journey import URL, journey

connection = psycopg2.connect(URL)
connection.autocommit = True
cursor = connection.cursor()


def run(sql, *parameters):
    cursor.execute(sql, parameters)
    return cursor.fetchall()


journey(run, ids="{}::scru128[]")
