"""The file of the marks: it appears whole, and a damaged one is an error, never the beginning of a new one."""

from __future__ import annotations

import struct
from zlib import crc32

import pytest

import expect
from idtypes import SCRU64, TYPES
from marks import HOUR, NODE, WITHOUT_CHECKSUMS, assert_later, create, draw, draw_all
from server import BINDIR, give_to_server_user, on_every_version

pytestmark = on_every_version

PAGE = 8192
INVALID = 'file "global/8672" has no valid high-water marks'
DETAIL = "Generating an ID from shared state requires a durable high-water mark."
HINT = (
    "Restore the file from a backup. If there is none, stop the server, remove the file, start the server, and use"
    " scru_raise_mark() to raise the marks above all generated IDs."
)


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
    file = server.data / "global/8672"
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


def test_a_file_that_is_damaged_after_the_start_is_a_failure(new_server):
    """The server has read the marks before: there was no file."""
    server = create(new_server(NODE))
    assert server.value("SELECT gen_ulid() IS NOT NULL"), "no shared state is required"
    file = server.data / "global/8672"
    file.write_bytes(bytes(PAGE))
    give_to_server_user(file)
    with expect.error("XX001", INVALID, DETAIL, HINT):
        draw(server, SCRU64, 1)
    failure = "SELECT bool_and(details->>'last_failure' IS NOT NULL) FROM scru_generators()"
    assert server.value(failure), "a failure is known"
