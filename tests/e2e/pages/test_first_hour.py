"""What a new user reads and tries first: the README and the pages about types, installation and APIs."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, date, datetime
from pathlib import Path

import psycopg
import pytest

import expect
import migration
import page
from idtypes import BY_NAME, TYPES, each_form
from plans import explain
from server import MAJORS, on_the_oldest, wait_until

pytestmark = on_the_oldest("compares pages with each other, and with results that all versions have in common")

ROOT = Path(__file__).parents[3]
README = "../README"
# The regression test `reference` runs the examples of the reference.
PAGES = [README, *sorted(path.stem for path in page.DOCS.glob("*.md") if path.stem != "reference")]


def test_examples_of_the_types(connection):
    """The examples on the page about APIs have the length, the case and the time that it states."""
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\w+) case \| `(\w+)` \|$", page.text("api"), re.MULTILINE)
    assert sorted(name for name, *_ in rows) == sorted(id_type.name for id_type in TYPES)
    for name, length, case, text in rows:
        id_type = BY_NAME[name]
        assert (len(text), id_type.text_length) == (int(length), int(length))
        assert text == getattr(text, case)()
        at = id_type.unix_milliseconds(id_type.value(text))
        assert datetime.fromtimestamp(at // 1000, UTC).date() == date(2026, 11, 22)
        other = text.swapcase()
        [found] = connection.execute(f"SELECT %s::{name}::text, to_json(%s::{name})", [other, other])
        assert found == (text, text)


# ------------------------------------------------------------------------------------------------------- first commands


def commands(heading: str) -> list[str]:
    """Returns the statements that the shell commands of a section of the README send to psql."""
    found = []
    for line in "\n".join(page.sections(README, "sh")[heading]).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        found += [words[n + 1] for n, word in enumerate(words) if word == "-c" and "psql" in words]
    return found


PASSED = "SELECT max(id) < scru128_horizon() FROM orders"


def shown(row: tuple) -> str:
    """Returns a row as the README shows it. IDs and their times differ at each run."""
    return " | ".join(re.sub("^0[0-9a-z]{24}$|^[0-9-]+ [0-9:.+]+$", "…", str(value)) for value in row)


def test_install_and_getting_started_in_one_database(new_database):
    """The statements of both sections run one after the other, and return what the README says. A feed continues after
    the last ID, which is in place of the lower bound."""
    with new_database(extension=False).connect() as connection:
        installed = commands("Install")
        assert len(installed) == 2
        for statement in installed:
            connection.execute(statement)
        block = page.sql("Getting started", 0, README)
        for statement, expected in re.findall(r"^([A-Z].*?);(?: *-- .*)?\n((?:--  .*\n)*)", block, re.MULTILINE):
            if "scru128_horizon" in statement:
                wait_until(lambda: connection.execute(PASSED).fetchone()[0], "the horizon passes the rows")
            cursor = connection.execute(statement)
            rows = [shown(row) for row in cursor] if cursor.description else []
            assert rows == [shown(line[4:].split(" | ")) for line in expected.splitlines()], statement
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)
        [feed] = re.findall(r"^SELECT .*scru128_horizon\(\).*?;", block, re.MULTILINE)
        start = "scru128_lower('-infinity')"
        assert f"`{start}`" in page.text(README).split("\n## Feeds, outbox and pages\n")[1]
        assert start in feed
        after = feed.replace(start, f"'{connection.execute(feed).fetchall()[-1][0]}'")
        assert connection.execute(after).fetchall() == []
        connection.execute("INSERT INTO orders (note) VALUES ('third')")
        wait_until(lambda: [note for _, note in connection.execute(after)] == ["third"], "the new row is readable")


def test_the_readme_names_the_supported_versions():
    versions = re.findall(r"^- \*\*PostgreSQL (\d+)\*\*: tested with ", page.text(README), re.MULTILINE)
    assert versions == list(map(str, MAJORS))


def test_conditions_of_the_readme_use_the_index(connection):
    """Each query by time of the README has an index condition. The one that it warns of has none."""
    for statement in page.sql("Getting started", 0, README).split(";"):
        if "CREATE TABLE" in statement:
            connection.execute(statement)
    connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 1000)")
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    for statement in page.sql("Query by time", 0, README).splitlines():
        assert re.search(r"Index Cond: \(\(?id >= ", explain(connection, statement.rstrip(";"))), statement
    assert "do *not* use the index, such as `id::date = …`" in page.text(README).replace("\n", " ")
    wrong = "SELECT * FROM orders WHERE id::date = '2026-11-01'"
    assert "Index Cond" not in explain(connection, wrong)


def test_the_readme_can_be_pasted(new_server):
    """All SQL of the README runs in one session of psql from top to bottom, and then that of a page that it links."""
    server = new_server()
    sql = [*page.all_blocks(README), page.sql("Partitions by month", 0, "query-by-time")]
    assert len(sql) == 3
    server.psql("postgres", "".join(sql).encode())
    partitions = "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'"
    assert server.value(partitions, "postgres") == 2


# Why the SQL of a page is not tested as a whole.
NOT_PASTED = {
    "citus": "needs Citus: see test_several_servers.py",
    "migrate": "the sections are alternatives: see test_a_migration_can_be_pasted",
    "online-migration": "needs the tables of another page: see test_a_migration_can_be_pasted",
    "operations": "the statements belong to different servers and times",
    "several-servers": "the statements belong to several servers",
    "timescaledb": "the extension is missing on the oldest version: see test_partitions.py",
}
# Blocks that need another extension, or a newer server.
NOT_HERE = re.compile(r"pg_partman|WITHOUT OVERLAPS")
# A plan that a page shows, and its query. It is that of a large table.
PLAN = re.compile(r"^(EXPLAIN \(COSTS OFF\) [^;]*;\n)\n(.*\n)", re.DOTALL)
ONLY_THE_INDEX = "".join(f"SET enable_{node} = off;\n" for node in ("seqscan", "bitmapscan", "indexonlyscan", "sort"))
PASTED = [name for name in PAGES[1:] if name not in NOT_PASTED and page.all_blocks(name)]


def sql_before(name: str) -> str:
    """Returns the SQL that a page assumes: none, Getting started if the page names it, or the extension."""
    if name == "install":
        return ""
    is_named = "README.md#getting-started" in page.text(name)
    return page.sql("Getting started", 0, README) if is_named else "CREATE EXTENSION scru;\n"


@pytest.mark.parametrize("name", PASTED)
def test_a_page_can_be_pasted(new_server, name):
    """All SQL of a page runs in one session of psql from top to bottom. Each block ends with a complete statement or
    with a result. The plans of the page are those of the server."""
    server = new_server()
    sql = page.all_blocks(name)
    of_page = [
        block
        for block in page.all_blocks(name, page.ANY)
        if (block in sql and not NOT_HERE.search(block)) or PLAN.match(block)
    ]
    assert [block for block in sql if not re.search(r"(;( *--.*)?|\n--.*)\n$", block)] == []
    statements = [PLAN.sub(rf"{ONLY_THE_INDEX}\1 RESET ALL;\n", block) for block in of_page]
    output = server.psql("postgres", "".join([sql_before(name), *statements]).encode()).decode()
    assert [plan[1] for block in of_page if (plan := PLAN.match(block)) and plan[2] not in output] == []


@pytest.mark.parametrize("headings", [["In one transaction", "Without created_at"], ["Online migration"]], ids=str)
def test_a_migration_can_be_pasted(new_server, headings):
    """The tables and the blocks of a recipe run in one session of psql, from a clone of this repository."""
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    sql = [*migration.blocks("Tables"), *(block for heading in headings for block in migration.blocks(heading))]
    file = "sql/contrib/fill_in_batches.sql"
    assert f"`psql -f {file}`" in migration.PAGE
    server.run("psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", ROOT / file, "postgres")
    server.psql("postgres", "".join(sql).encode())
    columns = "(attrelid, attname) IN (('orders'::regclass, 'id'), ('items'::regclass, 'order_id'))"
    types = server.rows(f"SELECT atttypid::regtype::text FROM pg_attribute WHERE {columns}")
    assert types == [("scru128",), ("scru128",)]


def test_uninstall(new_server):
    """After the SQL of the README, the statements of the page leave neither objects nor settings behind."""
    server = new_server()
    server.psql("postgres", "".join(page.all_blocks(README)).encode())
    with server.connect() as connection:
        for statement in page.inline("DROP TABLE", "install"), page.sql("Uninstall", 0, "install"):
            connection.execute(statement)
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 2200").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM pg_db_role_setting").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'scru'").fetchone() == (0,)


# -------------------------------------------------------------------------------------------- comparisons with a uuid


def test_few_ids_are_uuids_of_rfc_9562(connection):
    """About one in eight has a version from 1 to 8 and the variant of the RFC, which validators of UUIDs require."""
    made = """SELECT count(*) FILTER (WHERE id::uuid::text ~ '^.{8}-.{4}-[1-8].{3}-[89ab]')
              FROM generate_series(1, 16000) AS n, gen_scru128(timestamptz '2026-01-01' + n * interval '1 h') AS id"""
    assert 1600 < connection.execute(made).fetchone()[0] < 2400


# ------------------------------------------------------------------------------------------------------------ the clock


@each_form
def test_the_time_of_an_id_from_a_client_is_limited(connection, id_type):
    """The CHECK constraint of the page accepts IDs of now, and rejects IDs of the future and of the past."""
    connection.execute(page.sql("IDs from clients", 0, "api").replace("scru128", id_type.name))
    insert = f"INSERT INTO documents (id) VALUES ({id_type.name}_lower(now() + %s::interval))"
    connection.execute(insert, ["-1 min"])
    for wrong in "2 min", "-10 years":
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute(insert, [wrong])


# ------------------------------------------------------------------------------------------------------------- prefixes

EXAMPLE = "03ha79im7bhd25jvqljqkznef"


def test_ids_with_a_prefix(connection):
    """The statements and the error of the page. The condition uses the index."""
    connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY, note text)")
    connection.execute("INSERT INTO orders VALUES (%s, 'first')", [EXAMPLE])
    statements, message = page.sections("api", page.ANY)["Prefixes"]
    shown, condition = statements.split(";")[:2]
    row = connection.execute(shown).fetchone()
    assert f"-- {' | '.join(row)}" in statements
    [query] = re.findall(r"SELECT note FROM .*", condition)
    assert connection.execute(query).fetchall() == [("first",)]
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    assert f"Index Cond: (id = '{EXAMPLE}'::scru128)" in explain(connection, query)
    [primary, detail] = re.findall(r": {2}(.*)", message)
    with expect.error("22P02", primary, detail):
        connection.execute("SELECT scru128_unprefixed('order', %s)", [f"user_{EXAMPLE}"])


@pytest.mark.parametrize(
    ("text", "uuid"),
    [
        ("prefix_0123456789abcdefghjkmnpqrs", "0110c853-1d09-52d8-d73e-1194e95b5f19"),
        ("prefix_01h455vb4pex5vsknk084sn02q", "01890a5d-ac96-774b-bcce-b302099a8057"),
    ],
)
def test_a_uuid_as_a_type_id(connection, text, uuid):
    """The expressions of the page write and read TypeIDs. The values are those of TypeID's `spec/valid.json`."""
    found = page.inline("lower(ulid_prefixed(", "api"), page.inline("ulid_unprefixed(", "api")
    write, read = (each.replace("'order'", "'prefix'") for each in found)
    query = f"SELECT {write}, ({read})::text FROM (VALUES (%s::uuid, %s::text)) AS rows (id, text)"
    assert connection.execute(query, [uuid, text]).fetchone() == (text, uuid)


@each_form
def test_a_generated_column_with_a_prefix(connection, id_type):
    """The column has the text with the prefix, also after an update of the ID."""
    [column] = re.findall(r"`(public_id text GENERATED ALWAYS .*?)`", page.text("api"))
    name, generator = id_type.name, id_type.generator
    connection.execute(f"CREATE TABLE tickets (id {name} DEFAULT {generator}, {column.replace('scru128', name)})")
    connection.execute(f"INSERT INTO tickets DEFAULT VALUES; UPDATE tickets SET id = {generator}")
    assert connection.execute("SELECT public_id = 'ticket_' || id FROM tickets").fetchall() == [(True,)]


def test_domain_representations_of_postgrest(connection):
    """The casts convert IDs in both directions. PostgREST finds them in pg_cast, and calls their functions."""
    connection.execute(page.sql("PostgREST", 0, "api"))
    casts = """SELECT castsource::regtype || ' to ' || casttarget::regtype, castfunc::regproc::text
               FROM pg_cast WHERE 'product_id'::regtype IN (castsource, casttarget) AND castcontext = 'i'"""
    function = dict(connection.execute(casts).fetchall())
    assert sorted(function) == ["json to product_id", "product_id to json", "text to product_id"]
    prefixed = f"product_{EXAMPLE}"
    insert = f"""INSERT INTO products (id, name) SELECT {function["json to product_id"]}(body -> 'id'), body ->> 'name'
                 FROM CAST(%s AS json) AS body RETURNING {function["product_id to json"]}(id)::text"""
    [shown] = connection.execute(insert, [f'{{"id": "{prefixed}", "name": "first"}}']).fetchone()
    assert shown == f'"{prefixed}"'
    condition = f"id = {function['text to product_id']}('{prefixed}')"
    assert connection.execute(f"SELECT id::text FROM products WHERE {condition}").fetchall() == [(EXAMPLE,)]
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    assert "Index Cond" in explain(connection, f"SELECT * FROM products WHERE {condition}")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        connection.execute(f"SELECT {function['text to product_id']}(%s)", [f"user_{EXAMPLE}"])


def test_the_plan_of_a_view_in_the_readme(connection):
    """The plan that README shows for a view in place of created_at."""
    [(query, plan)] = [each.groups() for block in page.all_blocks(README, page.ANY) if (each := PLAN.match(block))]
    connection.execute("SET timezone = 'UTC'; CREATE TABLE orders (id scru128 PRIMARY KEY, note text)")
    connection.execute("ALTER TABLE orders RENAME TO order_rows")
    connection.execute("CREATE VIEW orders AS SELECT *, id::timestamptz AS created_at FROM order_rows")
    connection.execute(
        """INSERT INTO order_rows SELECT gen_scru128(timestamptz '2026-10-01' + n * interval '1 minute')
           FROM generate_series(1, 60000) AS n"""
    )
    connection.execute("ANALYZE order_rows")
    found = [line for (line,) in connection.execute(query)]
    assert [line.rstrip() for line in found] == [line[1:] for line in plan.splitlines()]
