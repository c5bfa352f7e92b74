"""Upgrades of the extension, from every released version, and of the server."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest

import catalog
import expect
import orders
from idtypes import TYPES
from plans import explain
from server import MAJOR, Server, bindir_of, major_of, on_the_oldest, pg_config, since

# -------------------------------------------------------------------------------------------------------- the extension

SQL = Path(__file__).parents[3] / "sql"
FROZEN = dict(reversed(line.split()) for line in (SQL / "released/SHA256SUMS").read_text().splitlines())
CONTROL = Path(pg_config("--sharedir")) / "extension/scru.control"
CURRENT = re.search(r"^default_version = '(.*)'", CONTROL.read_text(), re.MULTILINE)[1]
RELEASED = sorted(script.stem.removeprefix("scru--") for script in (SQL / "released").glob("scru--*.sql"))
each_release = pytest.mark.parametrize("version", RELEASED)
each_earlier_release = pytest.mark.parametrize("version", [version for version in RELEASED if version != CURRENT])


def test_what_was_released_is_frozen():
    """The install scripts of released versions, and the upgrade scripts between them, never change: databases created
    with them exist."""
    assert {name for name in FROZEN if name.startswith("./released/")} == {
        f"./released/scru--{v}.sql" for v in RELEASED
    }
    for name, digest in FROZEN.items():
        assert hashlib.sha256((SQL / name).read_bytes()).hexdigest() == digest, name


def test_each_upgrade_script_adapts_to_the_server():
    """Every upgrade script calls scru_adapt_to_server(), which needs a superuser. The scripts of a trusted extension
    run as superuser, so the owner of a database can upgrade."""
    scripts = sorted(SQL.glob("scru--*--*.sql"))
    assert scripts
    assert [script.name for script in scripts if "SELECT scru_adapt_to_server();" not in script.read_text()] == []


@each_release
def test_the_library_keeps_the_symbols_of_a_release(version):
    """Databases created by a released script call the library by the symbols in that script."""
    library = Path(pg_config("--pkglibdir")) / "scru.so"
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True)
    exported = {line.split()[-1] for line in listing.stdout.splitlines()}
    named = set(re.findall(r"'MODULE_PATHNAME', '(\w+)'", (SQL / f"released/scru--{version}.sql").read_text()))
    assert len(named) > 100
    younger = set() if MAJOR >= 18 else {name for name in named if name.endswith("_skipsupport")}
    assert named - younger - exported == set()


@each_earlier_release
def test_an_upgrade_ends_like_a_fresh_install(new_database, version):
    """All members of the extension have the same properties and comments after an upgrade as after an installation."""
    with new_database(extension=False).connect() as upgraded, new_database().connect() as fresh:
        upgraded.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        upgraded.execute("ALTER EXTENSION scru UPDATE")
        assert_the_same(upgraded, fresh)


NEW_COLUMNS = ["node_source", "mark", "mark_ahead", "draw", "wait", "reason", "last_failure"]


@on_the_oldest("the server stores views alike on all versions")
def test_an_upgrade_keeps_views_on_scru_generators(new_database):
    """The function gets further columns. A view has those that it was created with; so does its dump."""
    with new_database(extension=False).connect() as connection:
        connection.execute("CREATE EXTENSION scru VERSION '0.2.0'")
        connection.execute("CREATE VIEW monitor AS SELECT *, type || scope AS both FROM scru_generators()")
        before = connection.execute("TABLE monitor").description
        connection.execute("ALTER EXTENSION scru UPDATE")
        names = [column.name for column in connection.execute("SELECT * FROM scru_generators()").description]
        assert names[len(before) - 1 :] == NEW_COLUMNS
        after = connection.execute("TABLE monitor")
        assert [column.name for column in after.description] == [column.name for column in before]
        rows = [row[:2] for row in after.fetchall()]
        assert rows == connection.execute("SELECT type, scope FROM scru_generators()").fetchall()
        draw = "SELECT draw FROM scru_generators() WHERE type = 'scru128'"
        assert connection.execute(draw).fetchone() == ("continue",)
        [definition] = connection.execute("SELECT pg_get_viewdef('monitor'::regclass)").fetchone()
        names = [column.name for column in connection.execute(definition).description]
        assert names == [column.name for column in after.description]


@since(18, "skip support")
@each_earlier_release
def test_an_upgrade_adds_what_an_older_server_did_not_have(new_database, version):
    """A database that pg_upgrade has migrated to PostgreSQL 18 gets skip support by the upgrade of the extension."""
    with new_database(extension=False).connect() as upgraded, new_database().connect() as fresh:
        upgraded.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        forget_skip_support(upgraded)
        upgraded.execute("ALTER EXTENSION scru UPDATE")
        assert_the_same(upgraded, fresh)


@since(18, "temporal keys")
def test_scru_adapt_to_server_adds_support_of_newer_servers(new_database):
    """scru_adapt_to_server() adds temporal keys and skip support to a database that has the current version of the
    extension, and that pg_upgrade has migrated to PostgreSQL 18. A second call adds nothing."""
    with new_database().connect() as adapted, new_database().connect() as fresh:
        for t in TYPES:
            adapted.execute(f'ALTER OPERATOR FAMILY {t}_gist_ops USING gist DROP FUNCTION 12 ("any", "any")')
        forget_skip_support(adapted)
        added = adapted.execute("SELECT scru_adapt_to_server()").fetchall()
        temporal = {(f"{id_type}: temporal keys",) for id_type in TYPES}
        assert set(added) == temporal | {(f"{id_type}: skip support",) for id_type in TYPES if id_type.is_server_wide}
        assert len(added) == len(TYPES) + 2
        assert_the_same(adapted, fresh)
        assert adapted.execute("SELECT scru_adapt_to_server()").fetchall() == []


def forget_skip_support(connection: psycopg.Connection) -> None:
    """Drops skip support, as in a database created by an older server."""
    for t in (id_type for id_type in TYPES if id_type.is_server_wide):
        connection.execute(
            f"""ALTER OPERATOR FAMILY {t}_ops USING btree DROP FUNCTION 6 ({t}, {t});
                ALTER EXTENSION scru DROP FUNCTION {t}_skipsupport(internal);
                DROP FUNCTION {t}_skipsupport(internal)"""
        )


def assert_the_same(upgraded: psycopg.Connection, fresh: psycopg.Connection) -> None:
    """Checks that both databases have the current version with the same members."""
    assert upgraded.execute("SELECT extversion FROM pg_extension WHERE extname = 'scru'").fetchone() == (CURRENT,)
    before, after = catalog.everything(fresh), catalog.everything(upgraded)
    for name in before:
        assert after[name] == before[name], name


@each_release
def test_the_library_serves_an_older_script(new_database, version):
    """The new library works with the SQL of an older version, before and after `ALTER EXTENSION … UPDATE`."""
    with new_database(extension=False).connect() as connection:
        if expect.has_amcheck(connection):
            expect.install_amcheck(connection)
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        before = {}
        for id_type in TYPES:
            orders.create(connection, id_type, rows=300)
            before[id_type] = orders.contents(connection)
            orders.check_indexes(connection, id_type)
        connection.execute("ALTER EXTENSION scru UPDATE")
        for id_type in TYPES:
            orders.set_search_path(connection, id_type)
            assert orders.contents(connection) == before[id_type]
            orders.check_indexes(connection, id_type)
            orders.assert_new_ids_are_largest(connection)


@pytest.mark.parametrize("id_type", TYPES, ids=str)
def test_ranges_of_time_survive_the_new_names_of_their_bounds(new_database, id_type):
    """With the SQL of 0.1.0 the planner uses the bounds by their old names, and ignores a user's functions with the new
    names. Views that use the old names survive the upgrade. A dump with the old names has to be edited."""
    t = id_type.name
    within = "SELECT id FROM orders WHERE id <@ tstzrange(now() - interval '1 day', NULL) ORDER BY id"
    with new_database(extension=False).connect() as connection:
        connection.execute(
            f"""CREATE EXTENSION scru VERSION '0.1.0';
                CREATE TABLE orders (id {t} PRIMARY KEY DEFAULT gen_{t}());
                INSERT INTO orders SELECT FROM generate_series(1, 100);
                INSERT INTO orders VALUES ({t}_lower(timestamptz '2025-01-01'));
                CREATE VIEW first AS SELECT {t}_lower(tstzrange('2025-01-01', NULL)) AS id;
                CREATE FUNCTION {t}_range_lower(tstzrange) RETURNS {t} LANGUAGE sql IMMUTABLE AS 'SELECT NULL::{t}';
                SET enable_seqscan = off; SET enable_bitmapscan = off"""
        )
        assert f"Index Cond: ((id >= {t}_lower(tstzrange(" in explain(connection, within)
        before = connection.execute(within).fetchall()
        assert len(before) == 100
        first = connection.execute("SELECT id::text FROM first").fetchone()
        connection.execute(f"DROP FUNCTION {t}_range_lower(tstzrange)")
        connection.execute("ALTER EXTENSION scru UPDATE")
        assert f"Index Cond: ((id >= {t}_range_lower(tstzrange(" in explain(connection, within)
        assert connection.execute(within).fetchall() == before
        assert connection.execute("SELECT id::text FROM first").fetchone() == first
        assert connection.execute(f"SELECT {t}_lower('2025-01-01')::text").fetchone() == first
        [(definition,)] = connection.execute("SELECT pg_get_viewdef('first'::regclass)")
        assert f"{t}_range_lower(tstzrange(" in definition
        with pytest.raises(psycopg.errors.UndefinedFunction, match=rf"^function {t}_lower\(tstzrange\) does not exist"):
            connection.execute(f"CREATE VIEW dumped AS SELECT {t}_lower('[2025-01-01,)'::tstzrange)")


# ----------------------------------------------------------------------------------------------------------- the server

OLD_PG_CONFIG = os.environ.get("OLD_PG_CONFIG")


@pytest.mark.skipif(OLD_PG_CONFIG is None, reason="OLD_PG_CONFIG names no pg_config of an older server that has scru")
@pytest.mark.parametrize("mode", ["--copy", "--link"])
def test_pg_upgrade(mode):
    """Tables and indexes are migrated unchanged, without REINDEX."""
    assert major_of(OLD_PG_CONFIG) < MAJOR
    # The default since PostgreSQL 18. pg_upgrade requires that both servers agree.
    checksums = ("--data-checksums",)
    with Server(bindir=bindir_of(OLD_PG_CONFIG), initdb=checksums) as old:
        before = {}
        with old.connect() as connection:
            connection.execute("CREATE EXTENSION scru")
            for id_type in TYPES:
                orders.create(connection, id_type)
                before[id_type] = orders.contents(connection)
            orders.create_brin_on_domains(connection)
        files = indexes(old)
        old.stop()
        new = Server(initdb=checksums)
        try:
            new.initialize()
            new.pg_upgrade(old, mode)
            new.start()
            assert indexes(new) == files
            with new.connect() as connection:
                if expect.has_amcheck(connection):
                    expect.install_amcheck(connection)
                added = {name.split(": ")[1] for (name,) in connection.execute("SELECT scru_adapt_to_server()")}
                is_new = major_of(OLD_PG_CONFIG) < 18 <= MAJOR
                assert added == {"BRIN indexes on domains", *(["temporal keys", "skip support"] if is_new else [])}
                orders.check_brin_on_domains(connection)
                for id_type in TYPES:
                    orders.set_search_path(connection, id_type)
                    assert orders.contents(connection) == before[id_type]
                    if MAJOR >= 18:
                        connection.execute(
                            f"""CREATE TABLE stays (
                                    id {id_type}, during tstzrange, PRIMARY KEY (id, during WITHOUT OVERLAPS));
                                INSERT INTO stays SELECT id, '[2026-01-01,2026-02-01)' FROM orders"""
                        )
                    connection.execute("ANALYZE")
                    orders.check_indexes(connection, id_type)
                    orders.assert_new_ids_are_largest(connection)
                    orders.check_indexes(connection, id_type)
        finally:
            new.remove()


def indexes(server: Server) -> list[tuple]:
    """Returns all indexes of users with their validity and file nodes. REINDEX would change the file nodes."""
    return server.rows(
        """SELECT indexrelid::regclass::text, indisvalid, indisready, relfilenode FROM pg_index
           JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace > 16384 ORDER BY 1"""
    )
