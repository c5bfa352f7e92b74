"""The file of the marks: it appears whole, and a damaged one is an error, never the beginning of a new one."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from idtypes import SERVER_WIDE, TYPES
from marks import NODE, create, draw, draw_all, page
from server import BINDIR, Server

PAGE = 8192
DAMAGES = {
    "zeros": bytes(PAGE),
    "half": b"half",
    "empty": b"",
    "a byte": b"byte",
}
INVALID = 'file "global/8672" has no valid high-water marks'


def file_of(server: Server) -> Path:
    """Returns the path of the file."""
    return server.data / "global/8672"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_an_error(new_server, clock, damage):
    """The clock is an hour behind. The file is not overwritten. zero_damaged_pages, too, makes no new page of it."""
    settings = {**NODE, "zero_damaged_pages": "on"}
    server = create(new_server(settings, clock.environment, BINDIR, ("--data-checksums",)))
    draw_all(server, 1)
    server.stop()
    file = file_of(server)
    content = file.read_bytes()
    changed = bytearray(content)
    changed[60] ^= 1
    new = {"half": content[: PAGE // 2], "a byte": bytes(changed)}.get(damage, DAMAGES[damage])
    with open(file, "r+b") as opened:
        opened.truncate(0)
        opened.write(new)
    clock.shift(-3600)
    server.start()
    for id_type in TYPES:
        with pytest.raises(psycopg.errors.DataCorrupted) as caught:
            draw(server, id_type, 1)
        assert caught.value.diag.message_primary == INVALID
    assert server.value("SELECT gen_ulid()")
    query = "SELECT draw, reason FROM scru_generators() WHERE type = 'scru64'"
    assert server.rows(query) == [("refuse", INVALID)]
    server.stop()
    assert file.read_bytes() == new


def test_a_new_file_is_a_valid_page(new_server):
    """A value in the page that is no time of the type, with a right checksum, is an error as well."""
    server = create(new_server(NODE, None, BINDIR, ("--data-checksums",)))
    assert not file_of(server).exists()
    draw_all(server, 1)
    assert not (server.data / "global/pgsql_tmp_scru").exists()
    assert {name for name, *_ in page(server)} == {str(id_type) for id_type in SERVER_WIDE}
    server.stop()
    server.run("pg_checksums", "--check", "-D", server.data, as_server=True)


def test_a_file_that_was_removed_begins_anew(new_server):
    """The IDs of the server begin one second ahead of its clock."""
    server = create(new_server(NODE))
    draw_all(server, 1)
    server.stop()
    file_of(server).unlink()
    server.start()
    assert draw_all(server, 1)
    assert len(file_of(server).read_bytes()) == PAGE


def test_workers_of_a_parallel_query_create_the_file_once(new_server):
    """They do not wait for each other's locks, except for those of this type. Each round begins without the file."""
    server = create(new_server({"max_parallel_workers": "8", "max_worker_processes": "16"}))
    with server.connect() as connection:
        connection.execute("CREATE TABLE rows AS SELECT generate_series(1, 20000) AS n")
        connection.execute("ALTER TABLE rows SET (parallel_workers = 6)")
    for _ in range(4):
        server.stop()
        (server.data / "global/8672").unlink(missing_ok=True)
        server.start()
        with server.connect() as connection:
            connection.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
            connection.execute("SET max_parallel_workers_per_gather = 6; SET parallel_leader_participation = off")
            ids = connection.execute("SELECT gen_scru64()::text FROM rows").fetchall()
            assert len(set(ids)) == 20000
