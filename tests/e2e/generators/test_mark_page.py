"""The file of the marks: it appears whole, and a damaged one is an error, never the beginning of a new one."""

from __future__ import annotations

import struct
from pathlib import Path
from zlib import crc32

import pytest

import expect
from idtypes import TYPES
from marks import HOUR, NODE, WITHOUT_CHECKSUMS, assert_later, create, draw, draw_all
from server import BINDIR, Server, on_every_version

pytestmark = on_every_version

PAGE = 8192
INVALID = 'file "global/8672" has no valid high-water marks'
DETAIL = "Generating an ID from shared state requires a durable high-water mark."
HINT = (
    "Restore the file from a backup. If there is none, stop the server, remove the file, start the server, and use"
    " scru_raise_mark() to raise the marks above all generated IDs."
)


def file_of(server: Server) -> Path:
    """Returns the path of the file."""
    return server.data / "global/8672"


def flipped(page: bytes, offset: int) -> bytes:
    """Returns a page with another byte at an offset."""
    return page[:offset] + bytes([page[offset] ^ 1]) + page[offset + 1 :]


def sealed(page: bytes, offset: int, part: bytes) -> bytes:
    """Returns a page with another part and its right CRC-32."""
    content = (page[:offset] + part + page[offset + len(part) :])[24:48]
    return page[:24] + content + struct.pack("<I", crc32(content)) + page[52:]


DAMAGES = {
    "zeros": lambda page: bytes(PAGE),
    "half": lambda page: page[: PAGE // 2],
    "empty": lambda page: b"",
    "magic": lambda page: flipped(page, 24),
    "time": lambda page: flipped(page, 32),
    "CRC": lambda page: flipped(page, 48),
    "version": lambda page: sealed(page, 28, struct.pack("<I", 1)),
    "no time": lambda page: sealed(page, 40, struct.pack("<q", -1)),
}


@pytest.mark.parametrize("initdb", [WITHOUT_CHECKSUMS, ("--data-checksums",)], ids=str)
def test_a_damaged_file_is_an_error(new_server, clock, initdb):
    """The clock is an hour behind. The file is not overwritten. zero_damaged_pages, too, makes no new page of it, nor
    do checksums of all pages, with which the server makes zeros of it."""
    server = create(new_server({**NODE, "zero_damaged_pages": "on"}, clock.environment, BINDIR, initdb))
    before = draw_all(server)
    server.stop()
    file = file_of(server)
    page = file.read_bytes()
    clock.shift(-HOUR)
    for damage in DAMAGES.values() if initdb == WITHOUT_CHECKSUMS else [lambda page: flipped(page, 60)]:
        new = damage(page)
        file.write_bytes(new)
        server.start()
        for id_type in TYPES:
            with expect.error("XX001", INVALID, DETAIL, HINT):
                draw(server, id_type, 1)
        with expect.error("XX001", INVALID, DETAIL, HINT):
            server.value("SELECT scru64_horizon()")
        assert server.value("SELECT gen_ulid() IS NOT NULL"), "no shared state is required"
        query = "SELECT draw, reason FROM scru_generators() WHERE type = 'scru64'"
        assert server.rows(query) == [("refuse", INVALID)]
        server.stop()
        assert file.read_bytes() == new
    file.unlink()
    clock.shift(0)
    server.start()
    server.psql("postgres", b"SELECT scru_raise_mark(clock_timestamp())")
    assert_later(before, draw_all(server))


def test_workers_of_a_parallel_query_create_the_file_once(new_server):
    """They do not wait for each other's locks, except for those of this type. Each round begins without the file."""
    server = create(new_server({"max_parallel_workers": "8", "max_worker_processes": "16"}))
    with server.connect() as connection:
        connection.execute("CREATE TABLE rows AS SELECT generate_series(1, 20000) AS n")
        connection.execute("ALTER TABLE rows SET (parallel_workers = 6)")
    for _ in range(3):
        server.stop()
        file_of(server).unlink(missing_ok=True)
        server.start()
        with server.connect() as connection:
            connection.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
            connection.execute("SET max_parallel_workers_per_gather = 6; SET parallel_leader_participation = off")
            ids = connection.execute("SELECT gen_scru64()::text FROM rows").fetchall()
            assert len(set(ids)) == 20000
        assert len(file_of(server).read_bytes()) == PAGE
        assert not (server.data / "global/pgsql_tmp_scru").exists()
