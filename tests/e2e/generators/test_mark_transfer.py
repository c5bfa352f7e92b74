"""The mark that travels as data: pg_upgrade, dumps, templates, and a switch-over to a logical subscriber."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

import expect
from idtypes import SCRU64, SERVER_WIDE, ULIDFLAKE
from marks import (
    ALONE,
    HOUR,
    NODE,
    Times,
    assert_behind_mark,
    assert_later,
    create,
    draw_all,
    each_difference,
    insert,
    page,
)
from page import sql as block
from server import OLD_BINDIR, Server, wait_until

CHECKSUMS = ("--data-checksums",)

# ----------------------------------------------------------------------------------------------------------- pg_upgrade


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


@each_difference
def test_a_failover_after_pg_upgrade_repeats_nothing(old, new, times, difference):
    """The old server was promoted once, so that its timeline is that of the new server's promoted standby."""
    promoted = old.standby()
    try:
        old.stop()
        promoted.promote()
        draw_all(promoted, 1)
        promoted.stop()
        new.pg_upgrade(promoted)
    finally:
        promoted.remove()
    new.environment = times.before.environment
    new.start()
    standby = new.standby(times.after.environment)
    try:
        times.stop(new)
        before = insert(new)
        standby.wait_until_replayed(new)
        new.kill()
        times.differ(difference)
        standby.promote()
        times.assert_takes_over(standby, before, difference)
    finally:
        standby.remove()


@pytest.mark.parametrize("schema", ["public", "pg_catalog"])
def test_pg_upgrade_carries_the_floor_of_the_horizons(new, clock, schema):
    """The clock of the new server is an hour behind. Another database has never read a horizon."""
    with Server(ALONE, None, initdb=CHECKSUMS) as old:
        old.value("SELECT 1")
        with old.connect() as connection:
            connection.execute(f"CREATE EXTENSION scru SCHEMA {schema}")
            connection.execute("CREATE DATABASE other")
            horizon = connection.execute("SELECT scru128_horizon()::text").fetchone()[0]
        with old.connect("other") as connection:
            connection.execute("CREATE EXTENSION scru")
        old.stop()
        new.environment = clock.environment
        new.pg_upgrade(old)
    clock.shift(-HOUR)
    new.start()
    with new.connect("other") as connection:
        assert connection.execute("SELECT gen_scru128() < %s", [horizon]).fetchone() == (True,)
    for query in ("SELECT gen_scru128() >= %s", "SELECT gen_ulid() >= %s::scru128::ulid"):
        with new.connect() as connection:
            assert connection.execute(query, [horizon]).fetchone() == (True,)
    with new.connect() as connection:
        assert connection.execute("SELECT scru128_horizon(%s) < %s", [horizon] * 2).fetchone() == (True,)


# ---------------------------------------------------------------------------------------------------------------- dumps


def restore(source: Server, target: Server, form: str, dbname: str = "postgres", user: str = "postgres") -> None:
    """Restores a dump of a database into a database of the same name."""
    dump = source.pg_dump(dbname, f"--username={user}", f"--format={form}")
    if form == "plain":
        target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", user, "-d", dbname, input=dump)
    else:
        target.pg_restore(dbname, dump, f"--username={user}")


@each_difference
@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_carries_the_mark(new_server, times, form, difference):
    source = create(new_server(ALONE, times.before.environment))
    target = new_server(ALONE, times.after.environment)
    times.stop(source)
    before = insert(source, types=SERVER_WIDE)
    times.differ(difference)
    restore(source, target, form)
    times.assert_takes_over(target, before, difference)


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_a_dump_carries_the_floor_of_the_horizons(new_server, clock, form):
    """Sessions of the target that are connected before the dump is restored take it over with their next horizon."""
    source, target = new_server(), new_server(None, clock.environment)
    clock.shift(-HOUR)
    with source.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        horizon = str(connection.execute("SELECT uuidv7_horizon()").fetchone()[0])
    with target.connect() as connected:
        restore(source, target, form)
        connected.execute("SELECT uuidv7_horizon()")
        assert connected.execute("SELECT gen_uuidv7() >= %s", [horizon]).fetchone() == (True,)
    with target.connect() as connection:
        assert connection.execute("SELECT gen_uuidv7() >= %s", [horizon]).fetchone() == (True,)
        connection.execute("SELECT scru_set_mark('scru128', now())")
        assert connection.execute("SELECT uuidv7_horizon() < %s", [horizon]).fetchone() == (True,)
    # The floor that was set back is the one that the sequence carries.
    target.restart()
    with target.connect() as connection:
        assert connection.execute("SELECT gen_uuidv7() < %s", [horizon]).fetchone() == (True,)


@pytest.mark.parametrize("form", ["plain", "custom"])
def test_the_owner_of_a_database_carries_the_mark(new_server, clock, form):
    """The owner is not a superuser: extensions are trusted. The clock of the new server is an hour behind."""
    source, target = new_server(NODE), new_server(NODE, clock.environment)
    for server in source, target:
        with server.connect() as connection:
            connection.execute("CREATE ROLE alice LOGIN")
            connection.execute("CREATE DATABASE shop OWNER alice TEMPLATE template0")
    with source.connect("shop", user="alice") as connection:
        connection.execute("CREATE EXTENSION scru")
    before = draw_all(source, dbname="shop")
    clock.shift(-HOUR)
    restore(source, target, form, "shop", "alice")
    for id_type in SERVER_WIDE:
        assert_behind_mark(target, id_type, HOUR, "shop")
    clock.shift(0)
    with target.connect("shop", user="alice") as connection:
        after = {t: [connection.execute(f"SELECT {t.generator}::text").fetchone()[0]] for t in SERVER_WIDE}
    assert_later(before, after)


def test_who_may_write_the_sequences(new_server):
    """The owner of the extension and superusers. Everybody may read them, as a dump does."""
    server = new_server(NODE)
    with server.connect() as connection:
        connection.execute("CREATE ROLE alice LOGIN; CREATE ROLE plain LOGIN")
        connection.execute("CREATE DATABASE shop OWNER alice TEMPLATE template0")
    with server.connect("shop", user="alice") as owner, server.connect("shop", user="plain") as plain:
        owner.execute("CREATE EXTENSION scru")
        for id_type in SERVER_WIDE:
            for connection in owner, plain:
                connection.execute(f"SELECT {id_type.generator}, last_value FROM {id_type}_mark")
            for statement in f"SELECT setval('{id_type}_mark', 5)", f"SELECT nextval('{id_type}_mark')":
                with expect.error("42501", f"permission denied for sequence {id_type}_mark"):
                    plain.execute(statement)
            with expect.error("42501", f"must be owner of sequence {id_type}_mark"):
                owner.execute(f"ALTER SEQUENCE {id_type}_mark RESTART")


def test_a_dump_does_not_delay_another_database(new_server, clock):
    """The mark of a restored database is an hour ahead. Other databases generate IDs."""
    source, target = create(new_server(NODE, clock.environment)), new_server(NODE)
    clock.shift(HOUR)
    draw_all(source)
    with target.connect() as connection:
        connection.execute("CREATE DATABASE shop")
    with target.connect("shop") as connection:
        connection.execute("CREATE EXTENSION scru")
    before = draw_all(target, dbname="shop")
    restore(source, target, "custom")
    for id_type in SERVER_WIDE:
        assert_behind_mark(target, id_type, HOUR)
    after = draw_all(target, dbname="shop")
    assert_later(before, after)
    target.restart()
    assert_later(after, draw_all(target, dbname="shop"))


@pytest.mark.parametrize("ahead", [8, HOUR])
@pytest.mark.parametrize("node", [(1 << 20 | 5, 1), (1, 1), (1 << 20 | 6, 1 << 5 | 6)], ids=["own", "all", "other"])
def test_the_owner_of_a_database_delays_no_other_database(new_server, ahead, node):
    """The owner sets the sequences to a mark in the future, for any node. The page of the server does not get it."""
    server = new_server(NODE)
    with server.connect() as connection:
        connection.execute("CREATE ROLE alice LOGIN")
        connection.execute("CREATE DATABASE shop OWNER alice TEMPLATE template0")
        connection.execute("CREATE DATABASE other TEMPLATE template0")
        connection.execute("ALTER DATABASE other SET scru.scru64_node = '6/20'")
        connection.execute("ALTER DATABASE other SET scru.ulidflake_scalability = 6")
    with server.connect("other") as connection:
        connection.execute("CREATE EXTENSION scru")
    before = draw_all(server, 1, "other")
    ticks = {}
    with server.connect("shop", user="alice") as owner:
        owner.execute("CREATE EXTENSION scru")
        for id_type, code in zip(SERVER_WIDE, node, strict=True):
            mark = f"{id_type}_upper(clock_timestamp() + interval '{ahead} s')"
            tick = id_type.value(owner.execute(f"SELECT {mark}::text").fetchone()[0]) >> id_type.body_bits
            ticks[str(id_type)] = tick
            bits = {SCRU64: 24, ULIDFLAKE: 6}[id_type]
            owner.execute(f"SELECT setval('{id_type}_mark', {tick << bits | code})")
            error = psycopg.errors.QueryCanceled if ahead == 8 else psycopg.errors.ObjectNotInPrerequisiteState
            with pytest.raises(error):
                owner.execute(f"SET statement_timeout = '200ms'; SELECT {id_type.generator}")
            owner.execute("RESET statement_timeout")
        assert {name for name, *_ in page(server)} == set(ticks)
        assert all(tick < ticks[name] for name, _, tick, _ in page(server))
    assert_later(before, draw_all(server, dbname="other"))


def test_a_mark_that_arrived_is_set_back(new_server, clock):
    """The source's clock was a year ahead. After scru_set_mark(), the restored database generates IDs."""
    source, target = create(new_server(NODE, clock.environment)), new_server(NODE)
    clock.shift(365 * 24 * HOUR)
    far = draw_all(source)
    restore(source, target, "custom")
    with target.connect() as connection:
        for id_type in SERVER_WIDE:
            assert_behind_mark(target, id_type, 365 * 24 * HOUR)
            connection.execute(f"SELECT scru_set_mark('{id_type}', clock_timestamp())")
    after = draw_all(target)
    for id_type in SERVER_WIDE:
        assert max(after[id_type]) < min(far[id_type])
    target.restart("immediate")
    assert_later(after, draw_all(target))


def test_a_mark_is_set_back_in_each_database(new_server, clock):
    """The clock was a year ahead. Set back in one database, the mark delays none of the server. The dump of the other
    database still carries it, and it has to be set back where that is restored."""
    year = 365 * 24 * HOUR
    source, target = new_server(NODE, clock.environment), create(new_server(NODE))
    dbnames = ["corrected", "other"]
    clock.shift(year)
    far = {}
    for dbname in dbnames:
        for server in source, target:
            with server.connect() as connection:
                connection.execute(f"CREATE DATABASE {dbname}")
        with source.connect(dbname) as connection:
            connection.execute("CREATE EXTENSION scru")
        far = far or draw_all(source, dbname=dbname)
        draw_all(source, dbname=dbname)
    clock.shift(0)
    source.restart()

    def set_back(server: Server, dbname: str) -> None:
        with server.connect(dbname) as connection:
            for id_type in SERVER_WIDE:
                connection.execute(f"SELECT scru_set_mark('{id_type}', clock_timestamp())")

    def assert_corrected(server: Server, dbname: str) -> None:
        for id_type, ids in draw_all(server, dbname=dbname).items():
            assert max(ids) < min(far[id_type])

    for id_type in SERVER_WIDE:
        assert_behind_mark(source, id_type, year, "other")
    set_back(source, "corrected")
    for dbname in dbnames:
        assert_corrected(source, dbname)
        restore(source, target, "custom", dbname)
    assert_corrected(target, "corrected")
    for id_type in SERVER_WIDE:
        assert_behind_mark(target, id_type, year, "other")
    set_back(target, "other")
    assert_corrected(target, "other")


def test_a_dump_into_the_same_server_refuses_nobody(new_server):
    """The mark of the dump is that of the server itself. Old and new databases continue above it."""
    server = create(new_server(ALONE))
    before = draw_all(server, 5)
    with server.connect() as connection:
        connection.execute("CREATE DATABASE copy")
    server.pg_restore("copy", server.pg_dump("postgres", "--format=custom"))
    after = draw_all(server, 5, "copy")
    assert_later(before, after)
    assert_later(after, draw_all(server, 5))


# ----------------------------------------------------------------------------------------------------------- pg_catalog


def create_in_pg_catalog(server: Server) -> Server:
    """Creates the extension in pg_catalog, which permits no sequences, and returns the server."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru SCHEMA pg_catalog")
    return server


def test_an_extension_in_pg_catalog_carries_the_mark_in_dumps(new_server, clock):
    """Its sequences are in a schema of their own, which nobody needs a privilege on."""
    source, target = create_in_pg_catalog(new_server(NODE)), new_server(NODE, clock.environment)
    with source.connect() as connection:
        connection.execute("CREATE ROLE plain LOGIN")
    with source.connect(user="plain") as plain:
        before = {t: [plain.execute(f"SELECT {t.generator}::text").fetchone()[0]] for t in SERVER_WIDE}
    for id_type in SERVER_WIDE:
        assert source.value(f"SELECT last_value > 1 FROM scru_marks.{id_type}_mark")
    clock.shift(-HOUR)
    restore(source, target, "custom")
    for id_type in SERVER_WIDE:
        assert_behind_mark(target, id_type, HOUR)
    clock.shift(0)
    assert_later(before, draw_all(target))
    with target.connect() as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match='extension "scru" does not support SET SCHEMA'):
            connection.execute("ALTER EXTENSION scru SET SCHEMA public")
        connection.execute("DROP EXTENSION scru")
        assert connection.execute("SELECT to_regnamespace('scru_marks')").fetchone() == (None,)


def test_a_dump_of_an_extension_that_was_moved_into_pg_catalog_is_not_restored(new_server):
    """The dump sets sequences in pg_catalog, where a new extension has none."""
    source, target = create(new_server(NODE)), new_server(NODE)
    with source.connect() as connection:
        connection.execute("ALTER EXTENSION scru SET SCHEMA pg_catalog")
    assert draw_all(source)
    with pytest.raises(RuntimeError, match=r'relation "pg_catalog\.scru64_mark" does not exist'):
        restore(source, target, "plain")


def test_an_extension_in_pg_catalog_carries_the_mark_through_pg_upgrade(new_server, times):
    settings = (ALONE, times.before.environment, OLD_BINDIR, CHECKSUMS)
    with Server(*settings) as old:
        before = draw_all(create_in_pg_catalog(old))
        old.stop()
        new = Server(ALONE, times.after.environment, initdb=CHECKSUMS)
        try:
            new.initialize()
            new.pg_upgrade(old)
            times.after.shift(-HOUR)
            new.start()
            for id_type in SERVER_WIDE:
                assert_behind_mark(new, id_type, HOUR)
            times.after.shift(0)
            assert_later(before, draw_all(new))
        finally:
            new.remove()


# ------------------------------------------------------------------------------------------------------------ templates


def test_a_database_made_from_a_template_repeats_nothing(new_server, clock):
    """The template is of this server, or was restored from another one, and has not generated an ID since."""
    source, server = create(new_server(NODE)), new_server(NODE, clock.environment)
    before = draw_all(source)
    with server.connect() as connection:
        connection.execute("CREATE DATABASE shop TEMPLATE template0")
    server.pg_restore("shop", source.pg_dump("postgres", "--format=custom"))
    with server.connect() as connection:
        connection.execute("CREATE DATABASE copy TEMPLATE shop")
    clock.shift(-HOUR)
    for id_type in SERVER_WIDE:
        assert_behind_mark(server, id_type, HOUR, "copy")
    clock.shift(0)
    for dbname in "copy", "shop":
        after = draw_all(server, dbname=dbname)
        assert_later(before, after)
        before = after
    with server.connect() as connection:
        connection.execute("CREATE DATABASE another TEMPLATE copy")
    assert_later(before, draw_all(server, dbname="another"))


# --------------------------------------------------------------------------------------------------------- the sequence


def test_a_server_without_the_sequences_repeats_nothing(new_server):
    """The sequences of an extension that was dropped and created again carry no mark. The page has it."""
    server = new_server(NODE)
    before = {id_type: [] for id_type in SERVER_WIDE}
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")

        def continues() -> bool:
            for id_type, ids in before.items():
                ids.append(connection.execute(f"SELECT {id_type.generator}::text").fetchone()[0])
            return all(ids == sorted(set(ids)) for ids in before.values())

        assert continues()
        connection.execute("BEGIN; DROP EXTENSION scru; CREATE EXTENSION scru")
        assert continues()
        connection.execute("ROLLBACK")
        assert continues()
        connection.execute("CREATE SCHEMA elsewhere; DROP EXTENSION scru; CREATE EXTENSION scru SCHEMA elsewhere")
        connection.execute("SET search_path = elsewhere")
        assert continues()
    server.kill()
    server.start()
    with server.connect() as connection:
        connection.execute("ALTER EXTENSION scru SET SCHEMA public")
    assert_later(before, draw_all(server))


def test_the_sequence_covers_the_ids_of_its_database(new_server):
    """The value of the sequence is a tick and the code of the node. The page may have the next reservation already."""
    server = create(new_server({"scru.scru64_node": "5/20", "scru.ulidflake_scalability": "7"}))
    ids = draw_all(server)
    values = {id_type: server.value(f"SELECT last_value FROM {id_type}_mark") for id_type in SERVER_WIDE}
    pages = {name: (node, tick) for name, node, tick, _ in page(server)}
    for id_type, bits, code in (SCRU64, 24, 1 << 20 | 5), (ULIDFLAKE, 6, 1 << 5 | 7):
        node, tick = pages[id_type.name]
        assert (values[id_type] & (1 << bits) - 1, node) == (code, code)
        assert id_type.value(max(ids[id_type])) >> id_type.body_bits <= values[id_type] >> bits <= tick


# ---------------------------------------------------------------------------------------------------------- switch-over

SWITCH_OVER = "Switch over to a logical subscriber"
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
    with blue.connect() as connection:
        connection.execute("CREATE PUBLICATION blue FOR TABLE orders")
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
        reserved = dict(connection.execute(block(SWITCH_OVER, 0)).fetchall())
        assert sorted(reserved) == ["scru64", "ulidflake"]
    wait_until(lambda: green.value("SELECT count(*) FROM orders") == 50, "the rows arrive")
    times.differ(difference)
    with green.connect() as connection:
        connection.execute("ALTER SUBSCRIPTION green DISABLE; ALTER SUBSCRIPTION green SET (slot_name = NONE)")
        connection.execute("DROP SUBSCRIPTION green")
    blue.stop("immediate")
    green.reload(**{"scru.scru64_node": "5/8", "scru.ulidflake_scalability": "5"})
    with green.connect() as connection:
        for statement in block(SWITCH_OVER, 1).rstrip(";\n").split(";\n"):
            [name] = [name for name in reserved if f"'{name}'" in statement]
            connection.execute(statement.replace("2026-11-22 12:00:00+00", str(reserved.pop(name))))
    assert reserved == {}
    before = dict(zip(SERVER_WIDE, zip(*rows, strict=True), strict=True))
    times.assert_takes_over(green, before, difference)
