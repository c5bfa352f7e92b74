"""Expressions that a dump names without the schema of their operators. Those of IDs are restored, except rows that mix
an ID with a value of another extension: sql/contrib/mixed_rows.sql finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from idtypes import SCRU64, SCRU128, IdType
from server import BINDIR, OLD_BINDIR, Server

# One passed by value, one by reference.
TYPES = [SCRU64, SCRU128]
MIXED_ROWS = Path(__file__).parents[3] / "sql/contrib/mixed_rows.sql"
DEFINITIONS = [
    line for line in (Path(__file__).parent / "definitions.sql").read_text().splitlines() if not line.startswith("--")
]
TABLES = """
    CREATE TABLE t (id scru128 PRIMARY KEY, id2 scru128, x int, ids scru128[]);
    INSERT INTO t SELECT gen_scru128(), gen_scru128(), n, ARRAY[gen_scru128()] FROM generate_series(1, 3) AS n;
    CREATE TABLE t2 (id scru128, x int, ts timestamptz);
    CREATE DOMAIN id_of_order AS scru128;
    CREATE TABLE named (n id_of_order);
"""


def scripts(id_type: IdType) -> Iterator[str]:
    """Yields the definitions for a type."""
    for definition in DEFINITIONS:
        script = f"{TABLES}{definition}".replace("scru128", id_type.name)
        yield script.replace("03ha79im7bhd25jvqljqkznef", id_type.text(id_type.largest // 2))


def create(connection: psycopg.Connection, home: str, is_owner: bool = False) -> None:
    """Creates the objects of each definition for each type, in a schema of its own. Only superusers create classes."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {home}")
    connection.execute(f"CREATE EXTENSION scru SCHEMA {home}; CREATE EXTENSION scru_uuidv7 SCHEMA {home}")
    for id_type in TYPES:
        for number, script in enumerate(scripts(id_type)):
            if is_owner and "operator class" in script:
                continue
            name = f"{id_type}_{number}"
            connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}, {home}; {script}")
    connection.execute("RESET search_path")


def contents(server: Server, dbname: str) -> list[str]:
    """Returns the definitions and the rows of a database, without parentheses: a restored BETWEEN has fewer."""
    lines = re.sub("[()]", "", server.pg_dump(dbname).decode()).splitlines()
    return [line for line in lines if not line.startswith(("\\restrict", "\\unrestrict", "SELECT pg_catalog.setval"))]


def plans(connection: psycopg.Connection) -> dict[str, str]:
    """Returns the plans of the views, with indexes where possible."""
    connection.execute("ANALYZE; SET enable_seqscan = off")
    views = connection.execute("SELECT oid::regclass::text FROM pg_class WHERE relname = 'v' ORDER BY 1").fetchall()
    explain = "EXPLAIN (COSTS OFF) SELECT * FROM "
    return {name: "\n".join(line for (line,) in connection.execute(explain + name)) for (name,) in views}


@pytest.mark.parametrize(("home", "is_owner"), [("public", False), ("ids", True)], ids=["superuser", "owner"])
def test_all_definitions_are_restored(server, new_database, plain_user, home, is_owner):
    """By an owner of the database without privileges, or by a superuser, in either form of a dump."""
    user = plain_user if is_owner else "postgres"
    source, plain, custom = (new_database(extension=False, owner=user) for _ in range(3))
    with source.connect(user=user) as connection:
        create(connection, home, is_owner)
        before = plans(connection)
    assert len(before) > 30 * len(TYPES)
    dump = server.pg_dump(source.name)
    server.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", user, "-d", plain.name, input=dump)
    file = server.directory / f"{source.name}.dump"
    server.run("pg_dump", "--format=custom", f"--file={file}", source.name)
    server.run("pg_restore", "--exit-on-error", "-j4", "-U", user, "-d", custom.name, file)
    file.unlink()
    for target in plain, custom:
        assert contents(server, target.name) == contents(server, source.name)
        with target.connect(user=user) as connection:
            assert plans(connection) == before


def test_pg_upgrade_keeps_all_definitions():
    """From an older server, which prints some of them in another way, the views read the same indexes."""
    checksums = ("--data-checksums",)
    with Server(bindir=OLD_BINDIR, initdb=checksums) as old:
        with old.connect() as connection:
            create(connection, "public")
            before = plans(connection)
        definitions = contents(old, "postgres")
        old.stop()
        new = Server(initdb=checksums)
        try:
            new.initialize()
            new.pg_upgrade(old, "--link")
            new.start()
            with new.connect() as connection:
                after = plans(connection)
            if OLD_BINDIR == BINDIR:
                assert contents(new, "postgres") == definitions
                assert after == before
            rows, used = re.compile(r"^COPY .*?^\\\.$", re.M | re.S), re.compile(r"using (\w+) on")
            copied = [sorted(rows.findall("\n".join(each))) for each in (definitions, contents(new, "postgres"))]
            assert copied[0] == copied[1]
            read = [{view: sorted(used.findall(each[view])) for view in each} for each in (before, after)]
            assert read[0] == read[1]
        finally:
            new.remove()


def test_the_query_finds_rows_that_mix_an_id_with_another_extension(new_database):
    """A restore compares the citext as a text, or fails."""
    with new_database().connect() as connection:
        if not connection.execute("SELECT FROM pg_available_extensions WHERE name = 'citext'").rowcount:
            pytest.skip("this server has no citext (contrib)")
        connection.execute(
            """
            CREATE EXTENSION citext; CREATE TABLE mixed (id scru128, name citext, n int);
            CREATE VIEW compared AS SELECT FROM mixed WHERE (id, name) > (id, 'a');
            CREATE VIEW contained AS SELECT FROM mixed WHERE (id, name) IN (SELECT id, name FROM mixed);
            CREATE VIEW restored AS SELECT FROM mixed WHERE (id, n) > (id, 1) AND (id, n) IN (SELECT id, n FROM mixed);
            ALTER TABLE mixed ADD CONSTRAINT checked CHECK ((name, id) > ('a', id))
            """
        )
        path, query = MIXED_ROWS.read_text().split(";\n", 1)
        connection.execute(path)
        assert connection.execute(query).fetchall() == [
            ("rule", '"_RETURN" on public.compared'),
            ("rule", '"_RETURN" on public.contained'),
            ("table constraint", "checked on public.mixed"),
        ]
