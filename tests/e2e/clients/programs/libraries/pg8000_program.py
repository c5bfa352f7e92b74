"""pg8000: a time needs a cast."""

from urllib.parse import urlparse

import pg8000.native
from journey import URL, journey

url = urlparse(URL)
connection = pg8000.native.Connection(
    url.username, host=url.hostname, port=url.port, database=url.path[1:], password=url.password
)


def run(sql, value=None):
    return connection.run(sql, value=value)


journey(run, time="CAST({} AS timestamptz)", parameter=":value")
