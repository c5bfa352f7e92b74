"""Upgrades of the server by pg_upgrade, and what they leave out."""

from __future__ import annotations

import os

import pytest

import catalog
import expect
import orders
from idtypes import TYPES
from server import MAJOR, Server, bindir_of, major_of, on_every_version, since

pytestmark = on_every_version


@since(18, "temporal keys")
def test_scru_adapt_to_server_adds_support_of_newer_servers(new_database):
    """It adds temporal keys and skip support to a database of an older server. A second call adds nothing."""
    with new_database().connect() as adapted, new_database().connect() as fresh:
        for t in TYPES:
            adapted.execute(f'ALTER OPERATOR FAMILY {t}_gist_ops USING gist DROP FUNCTION 12 ("any", "any")')
            if t.is_server_wide:
                adapted.execute(f"ALTER OPERATOR FAMILY {t}_ops USING btree DROP FUNCTION 6 ({t}, {t})")
        added = adapted.execute("SELECT scru_adapt_to_server()").fetchall()
        temporal = {(f"{id_type}: temporal keys",) for id_type in TYPES}
        skip = {(f"{id_type}: skip support",) for id_type in TYPES if id_type.is_server_wide}
        assert sorted(added) == sorted(temporal | skip)
        assert catalog.everything(adapted) == catalog.everything(fresh)
        assert adapted.execute("SELECT scru_adapt_to_server()").fetchall() == []


OLD_PG_CONFIG = os.environ.get("OLD_PG_CONFIG")


@pytest.mark.skipif(OLD_PG_CONFIG is None, reason="OLD_PG_CONFIG names no pg_config of an older server that has scru")
@pytest.mark.parametrize("mode", ["--copy", "--link", "--clone", pytest.param("--swap", marks=since(18, "--swap"))])
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
            try:
                new.pg_upgrade(old, mode)
            except RuntimeError as error:
                if mode == "--clone" and "could not clone file" in str(error):
                    pytest.skip("this file system cannot clone a file")
                raise
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
