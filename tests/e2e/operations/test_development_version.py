"""The recipe of docs/migrate.md for servers of 0.1.0, 0.2.0 and 0.3.0, which were never released.

The tests make the files of 0.2.0 themselves. The casts of these versions are those of this one.
"""

from __future__ import annotations

import pytest

from idtypes import SCRU64, ULIDFLAKE, IdType
from marks import HOUR, NODE, assert_all_behind_mark, assert_later, create, draw, draw_all
from migration import blocks
from server import Server, give_to_server_user

TABLES = {"orders": "scru128", "invoices": "scru64", "logs": "scru160"}
# The node in the file of each type, as a 1 and the bits of the node.
NODES = {SCRU64: 1 << 20 | 5, ULIDFLAKE: 1 << 5 | 7}


def leave_files(server: Server, form: str, last: dict[IdType, int]) -> None:
    """Removes the page with the marks, and creates the files of 0.2.0 in its place, in a server that is stopped."""
    (server.data / "global/8672").unlink()
    directory = server.data / "scru"
    directory.mkdir()
    for id_type, value in last.items():
        tick = value >> id_type.body_bits
        names = {
            # While the server generates IDs, and after a crash. An older node has an earlier mark.
            "mark": [f"mark-{NODES[id_type]:x}-{tick:x}-1b2c", f"mark-1-{tick - 9:x}-0"],
            # After a clean shutdown.
            "last": [f"last-{value:x}-1b2c"],
        }
        for name in names[form]:
            (directory / f"{id_type}-{name}").touch()
    for path in [directory, *directory.iterdir()]:
        give_to_server_user(path)


@pytest.mark.parametrize("form", ["mark", "last", None], ids=["a crash", "a shutdown", "no files"])
def test_the_recipe_repeats_no_id(new_server, clock, form):
    """The old server generated IDs until an hour from now. If it has no files, all of them are in the tables."""
    server = create(new_server({**NODE, "scru.ulidflake_scalability": "7"}, clock.environment))
    out, back = blocks("From a development version")
    clock.shift(HOUR)
    with server.connect() as connection:
        for table, t in TABLES.items():
            connection.execute(f"CREATE TABLE {table} (id {t} PRIMARY KEY DEFAULT gen_{t}(), n integer)")
            connection.execute(f"INSERT INTO {table} (n) SELECT n FROM generate_series(1, 20) AS n")
        contents = {table: f"SELECT n, id::text FROM {table}" for table in TABLES}
        before = {table: connection.execute(query).fetchall() for table, query in contents.items()}
        given_out = draw_all(server) if form else {SCRU64: [id_ for _, id_ in before["invoices"]]}
        connection.execute(out)
        types = [connection.execute(f"SELECT pg_typeof(id)::text FROM {table}").fetchone()[0] for table in TABLES]
        assert types == ["uuid", "bigint", "bytea"]
    server.stop()
    if form:
        leave_files(server, form, {id_type: id_type.value(max(ids)) for id_type, ids in given_out.items()})
    else:
        (server.data / "global/8672").unlink()
    clock.shift(0)
    server.start()
    with server.connect() as connection:
        connection.execute(back)
        assert {table: connection.execute(query).fetchall() for table, query in contents.items()} == before
    assert_all_behind_mark(server, HOUR)
    clock.shift(HOUR)
    assert_later(given_out, {id_type: draw(server, id_type) for id_type in given_out})
    with server.connect() as connection:
        for table in TABLES:
            connection.execute(f"INSERT INTO {table} (n) VALUES (21)")
            newest = f"SELECT n FROM {table} ORDER BY id DESC LIMIT 1"
            assert connection.execute(newest).fetchone() == (21,)
