"""The mark that travels as data: pg_upgrade, dumps, templates, and a switch-over to a logical subscriber."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

import expect
import page
from idtypes import SCRU64, SERVER_WIDE, ULIDFLAKE
from marks import (
    ALONE,
    HOUR,
    NODE,
    SEQUENCES,
    Times,
    assert_all_behind_mark,
    assert_covered,
    assert_later,
    carried,
    create,
    draw_all,
    each_difference,
    insert,
    set_back,
)
from owner import SHOP, alice, create_shop
from server import OLD_BINDIR, Server, wait_until

CHECKSUMS = ("--data-checksums",)


@pytest.fixture
def old(times) -> Iterator[Server]:
    """A server of the older version if there is one, otherwise of this version. Its clock is that of `times.before`."""
    with Server(ALONE, times.before.environment, OLD_BINDIR, CHECKSUMS) as server:
        yield create(server)


@pytest.fixture
def new(times) -> Iterator[Server]:
    """An empty server that is not started. Its clock is that of `times.after`."""
    server = Server(ALONE, times.after.environment, initdb=CHECKSUMS)
    try:
        server.initialize()
        yield server
    finally:
        server.remove()


@each_difference
def test_pg_upgrade_carries_the_mark(old, new, times, difference):
    """Nothing is copied by hand. New IDs are greater than those of the old server, which shuts down or crashes."""
    times.stop(old)
    before = insert(old, types=SERVER_WIDE)
    old.stop()
    times.differ(difference)
    new.pg_upgrade(old)
    new.start()
    times.assert_takes_over(new, before, difference)


def test_pg_upgrade_carries_the_floor_of_the_horizons(new, clock):
    """The clock of the new server is an hour behind. Another database has never read a horizon."""
    with Server(ALONE, None, initdb=CHECKSUMS) as old:
        with old.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
            connection.execute("CREATE DATABASE other")
            horizon = connection.execute("SELECT scru128_horizon()::text").fetchone()[0]
        old.psql("other", b"CREATE EXTENSION scru")
        old.stop()
        new.environment = clock.environment
        new.pg_upgrade(old)
    clock.shift(-HOUR)
    new.start()
    for query in ("gen_scru128() >= %s", "gen_ulid() >= %s::scru128::ulid", "scru128_horizon(%s) < %s"):
        with new.connect() as connection:
            assert connection.execute(f"SELECT {query}", [horizon] * query.count("%s")).fetchone() == (True,)
    with new.connect("other") as connection:
        assert connection.execute("SELECT gen_scru128() < %s", [horizon]).fetchone() == (True,)


def restore(source: Server, target: Server, form: str, dbname: str = "postgres") -> None:
    """Restores a dump of a database into a database of the same name."""
    put = target.psql if form == "plain" else target.pg_restore
    put(dbname, source.pg_dump(dbname, f"--format={form}"))


@each_difference
@pytest.mark.parametrize(("form", "schema"), [("plain", "public"), ("custom", "pg_catalog")])
def test_a_dump_carries_the_mark(new_server, times, form, schema, difference):
    source = new_server(ALONE, times.before.environment)
    source.psql("postgres", f"CREATE EXTENSION scru SCHEMA {schema}".encode())
    target = new_server(ALONE, times.after.environment)
    times.stop(source)
    before = insert(source, types=SERVER_WIDE)
    times.differ(difference)
    restore(source, target, form)
    times.assert_takes_over(target, before, difference)


def test_a_dump_carries_the_floor_of_the_horizons(new_server, clock):
    """Sessions of the target that are connected before the dump is restored take it over with their next horizon."""
    source, target = new_server(), new_server(None, clock.environment)
    clock.shift(-HOUR)
    with source.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        horizon = str(connection.execute("SELECT uuidv7_horizon()").fetchone()[0])
    with target.connect() as connected:
        restore(source, target, "custom")
        connected.execute("SELECT uuidv7_horizon()")
        assert connected.execute("SELECT gen_uuidv7() >= %s", [horizon]).fetchone() == (True,)
    with target.connect() as connection:
        assert connection.execute("SELECT gen_uuidv7() >= %s", [horizon]).fetchone() == (True,)
        connection.execute("SELECT scru_set_mark(now())")
        assert connection.execute("SELECT uuidv7_horizon() < %s", [horizon]).fetchone() == (True,)
    # The floor that was set back is the one that the sequence carries.
    target.restart()
    with target.connect() as connection:
        assert connection.execute("SELECT gen_uuidv7() < %s", [horizon]).fetchone() == (True,)


def test_who_may_write_the_sequences(new_server):
    """The owner of the extension and superusers. Everybody may read them, as a dump does."""
    server = create_shop(new_server(NODE))
    server.psql("postgres", b"CREATE ROLE plain LOGIN")
    with alice(server) as owner, server.connect(SHOP, user="plain") as plain:
        for name, sequence in SEQUENCES.items():
            for connection in owner, plain:
                connection.execute(f"SELECT gen_scru64(), last_value FROM {sequence}")
            for statement in f"SELECT setval('{sequence}', 5)", f"SELECT nextval('{sequence}')":
                with expect.error("42501", f"permission denied for sequence {name}"):
                    plain.execute(statement)
            with expect.error("42501", f"must be owner of sequence {name}"):
                owner.execute(f"ALTER SEQUENCE {sequence} RESTART")
        with expect.error("42501", "permission denied for schema scru_internal"):
            owner.execute("CREATE SEQUENCE scru_internal.other")


def test_a_mark_is_set_back_in_each_database(new_server, clock):
    """The clock was a year ahead. Set back in one database, the mark delays none of the server. The dump of a database
    that has generated no ID since still carries it, and it has to be set back where that is restored."""
    year = 365 * 24 * HOUR
    source, target = new_server(NODE, clock.environment), create(new_server(NODE))
    dbnames = ["corrected", "healed", "other"]
    clock.shift(year)
    for dbname in dbnames:
        for server in source, target:
            server.psql("postgres", f"CREATE DATABASE {dbname}".encode())
        source.psql(dbname, b"CREATE EXTENSION scru")
        far = draw_all(source, dbname=dbname)
    clock.shift(0)
    source.restart()
    set_back(source, dbname="corrected")

    def assert_corrected(server: Server, *dbnames: str) -> None:
        for dbname in dbnames:
            assert all(max(ids) < min(far[id_type]) for id_type, ids in draw_all(server, dbname=dbname).items())

    assert_corrected(source, *dbnames[:2])
    for dbname in dbnames:
        restore(source, target, "custom", dbname)
    assert_corrected(target, *dbnames[:2])
    is_far = "SELECT bool_and(mark > now() + interval '300 days') FROM scru_generators() WHERE scope = 'server'"
    assert target.value(is_far, "other")
    assert_all_behind_mark(target, year, "other")
    set_back(target, dbname="other")
    assert_corrected(target, "other")
    before = draw_all(target, dbname="other")
    target.restart("immediate")
    assert_later(before, draw_all(target, dbname="other"))


def test_an_open_session_notices_an_older_dump(new_server, clock):
    """The clock stands still, so that the session needs no further reservation. Afterwards, a dump repeats nothing."""
    server, target = create(new_server(ALONE, clock.environment)), new_server(ALONE, clock.environment)
    draw_all(server, 1)
    server.value("SELECT scru128_horizon() IS NOT NULL")
    older = server.pg_dump("postgres", "--data-only")
    times = {mark: carried(server, mark) for mark in SEQUENCES}
    # The time of the clock, which no reservation covers.
    clock.freeze(f"{datetime.now() + timedelta(seconds=5):%Y-%m-%d %H:%M:%S}")
    with server.connect() as connection:
        draw = "SELECT gen_scru64()::text, gen_ulidflake()::text, scru128_horizon() IS NOT NULL"
        ids = [connection.execute(draw).fetchone()]
        server.psql("postgres", older)
        assert {mark: carried(server, mark) for mark in SEQUENCES} == times
        clock.freeze(f"{datetime.now() + timedelta(seconds=5):%Y-%m-%d %H:%M:%S}.1")
        ids.append(connection.execute(draw).fetchone())
    before = {SCRU64: [id_ for id_, *_ in ids], ULIDFLAKE: [id_ for _, id_, _ in ids]}
    assert_covered(server, before)
    assert carried(server, "horizons") > times["horizons"]
    restore(server, target, "plain")
    clock.shift(6)
    assert_later(before, draw_all(target))


def test_a_database_made_from_a_template_repeats_nothing(new_server, clock):
    """The template is of this server, or was restored from another one, and has not generated an ID since."""
    source, server = create(new_server(NODE)), new_server(NODE, clock.environment)
    before = draw_all(source)
    server.psql("postgres", b"CREATE DATABASE shop TEMPLATE template0")
    server.pg_restore("shop", source.pg_dump("postgres", "--format=custom"))
    server.psql("postgres", b"CREATE DATABASE copy TEMPLATE shop")
    clock.shift(-HOUR)
    assert_all_behind_mark(server, HOUR, "copy")
    clock.shift(0)
    for dbname in "copy", "shop":
        after = draw_all(server, dbname=dbname)
        assert_later(before, after)
        before = after
    server.psql("postgres", b"CREATE DATABASE another TEMPLATE copy")
    assert_later(before, draw_all(server, dbname="another"))


TABLE = "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), flake ulidflake DEFAULT gen_ulidflake())"
OTHER = {**ALONE, "scru.scru64_node": "6/8", "scru.ulidflake_scalability": "6"}


@each_difference
def test_a_switch_over_to_a_subscriber_repeats_nothing(new_server, times: Times, difference):
    """The subscriber takes over the node, and first raises its mark to that of the publisher."""
    settings = {**ALONE, "scru.ulidflake_scalability": "5", "wal_level": "logical"}
    blue = create(new_server(settings, times.before.environment))
    green = create(new_server(OTHER, times.after.environment))
    for server in blue, green:
        server.psql("postgres", TABLE.encode())
    draw_all(green, 5)
    blue.psql("postgres", b"CREATE PUBLICATION blue FOR TABLE orders")
    with green.connect() as connection:
        connection.execute(
            f"CREATE SUBSCRIPTION green CONNECTION 'host={blue.directory} user=postgres' PUBLICATION blue"
        )
    times.stop(blue)
    with blue.connect() as connection:
        rows = [
            connection.execute("INSERT INTO orders DEFAULT VALUES RETURNING id::text, flake::text").fetchone()
            for _ in range(50)
        ]
        [(mark,)] = connection.execute(page.inline("SELECT max(mark)")).fetchall()
    wait_until(lambda: green.value("SELECT count(*) FROM orders") == 50, "the rows arrive")
    times.differ(difference)
    with green.connect() as connection:
        connection.execute("ALTER SUBSCRIPTION green DISABLE; ALTER SUBSCRIPTION green SET (slot_name = NONE)")
        connection.execute("DROP SUBSCRIPTION green")
    blue.stop("immediate")
    green.reload(**{"scru.scru64_node": "5/8", "scru.ulidflake_scalability": "5"})
    with green.connect() as connection:
        connection.execute(page.inline("SELECT scru_raise_mark").replace("2026-11-22 12:00:00+00", str(mark)))
    before = dict(zip(SERVER_WIDE, zip(*rows, strict=True), strict=True))
    times.assert_takes_over(green, before, difference)
