"""ADBC: cast IDs to text, in both directions. A list is a text with commas."""

import adbc_driver_postgresql.dbapi
from journey import URL, journey

connection = adbc_driver_postgresql.dbapi.connect(URL, autocommit=True)
cursor = connection.cursor()


def run(sql, *parameters):
    cursor.execute(sql, [",".join(value) if isinstance(value, list) else value for value in parameters])
    return cursor.fetchall()


ids = "string_to_array({}::text, ',')::scru128[]"
journey(run, "{}::text::scru128", ids, "{}::timestamptz", text="id::text", parameter="$1")
