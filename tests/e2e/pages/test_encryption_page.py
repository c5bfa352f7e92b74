"""docs/encryption.md: its statements, who may do what, and where the keys are not to be found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise

import psycopg
import pytest

import expect
import page
from plans import explain
from server import Server

ROWS = 2000
# Everything that writes statements, parameters, parse trees and plans to the log.
SETTINGS = {
    "shared_preload_libraries": "pg_stat_statements,auto_explain",
    "autovacuum": "off",
    **dict.fromkeys(("pg_stat_statements.track", "log_statement"), "all"),
    **dict.fromkeys(("log_parameter_max_length", "log_parameter_max_length_on_error"), "-1"),
    **dict.fromkeys(("log_min_duration_statement", "auto_explain.log_min_duration"), "0"),
    **{f"auto_explain.log_{what}": "on" for what in ("verbose", "analyze", "nested_statements")},
    **{f"debug_print_{what}": "on" for what in ("parse", "rewritten", "plan")},
}


def statements(heading: str) -> list[str]:
    """Returns the statements of a section of the page."""
    blocks = "".join(page.sections("encryption")[heading])
    return [each.strip() for each in blocks.split(";\n") if each.strip()]


READ, LOOK_UP = "Read: a view", "Look up: a function"
MIXED, ROTATE = "Columns with UUIDs of version 4", "Change the key"


def query(heading: str) -> str:
    """Returns the query at the end of a section, with a parameter in place of the UUID."""
    [*_, last] = statements(heading)
    assert last.startswith("SELECT")
    return re.sub(r"'[0-9a-f-]{36}'", "%s", last)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that logs as much as it can, on which the page has been followed up to the change of the key."""
    with Server(SETTINGS) as server:
        with server.connect() as connection:
            connection.execute("CREATE EXTENSION pg_stat_statements")
            for statement in statements("Keys") + statements(READ):
                connection.execute(statement)
            for statement in statements(LOOK_UP)[:-1] + statements(MIXED)[:-1]:
                connection.execute(statement)
            connection.execute("ALTER ROLE web LOGIN; ALTER ROLE api LOGIN")
            connection.execute("INSERT INTO invoices (note) SELECT n FROM generate_series(1, %s) AS n", [ROWS])
            connection.execute(
                "INSERT INTO documents SELECT CASE n %% 2 WHEN 0 THEN gen_random_uuid() ELSE gen_uuidv7() END, n"
                " FROM generate_series(1, %s) AS n",
                [ROWS],
            )
            connection.execute("VACUUM ANALYZE")
        yield server


@pytest.fixture
def connect(server) -> Iterator[Callable[..., psycopg.Connection]]:
    """Connects as a role."""
    with ExitStack() as stack:
        yield lambda role="postgres": stack.enter_context(server.connect(user=role))


def test_the_view_hides_time_and_order(connect):
    rows = connect("web").execute("SELECT public_id, note FROM public_invoices").fetchall()
    assert len({uuid for uuid, _ in rows}) == ROWS
    assert {(uuid.version, uuid.variant) for uuid, _ in rows} == {(4, "specified in RFC 4122")}
    notes = [int(note) for _, note in sorted(rows, key=lambda row: row[0].bytes)]
    assert 0.4 < sum(left < right for left, right in pairwise(notes)) / ROWS < 0.6


def test_the_function_finds_the_row_by_the_primary_key(connect):
    rows = connect("web").execute("SELECT public_id, note FROM public_invoices").fetchall()
    api = connect("api")
    for uuid, note in rows[::100]:
        assert api.execute(query(LOOK_UP), [uuid]).fetchall() == [(note,)]
    [example] = re.findall(r"'([0-9a-f-]{36})'", statements(LOOK_UP)[-1])
    [(id,)] = api.execute("SELECT id FROM invoices LIMIT 1").fetchall()
    for other in example, id, None:
        assert api.execute(query(LOOK_UP), [other]).fetchall() == []
    plan = explain(api, statements(LOOK_UP)[-1])
    assert "Index Scan using invoices_pkey" in plan and "Index Cond: (id = invoice_id(" in plan


def test_a_column_with_both_versions(connect):
    """All are shown as version 4, those of version 4 as they are. The look-up is one index scan, and accepts no ID of
    version 7. For another version, the view raises an error, which does not show the UUID, and so not its time."""
    connection = connect()
    rows = connection.execute("SELECT public_id, title FROM public_documents").fetchall()
    assert {uuid.version for uuid, _ in rows} == {4}
    as_they_are = "SELECT count(*) FROM documents JOIN public_documents ON id = public_id"
    assert connection.execute(as_they_are).fetchone() == (ROWS // 2,)
    for uuid, title in rows[::99]:
        assert connection.execute(query(MIXED), [uuid]).fetchall() == [(title,)]
    [(id,)] = connection.execute("SELECT id FROM documents WHERE uuidv7_timestamp(id) IS NOT NULL LIMIT 1").fetchall()
    assert connection.execute(query(MIXED), [id]).fetchall() == []
    plan = explain(connection, statements(MIXED)[-1])
    assert len(re.findall("Index Scan (?:using|on) documents_pkey", plan)) == len(re.findall("Index.* Scan", plan)) == 1
    assert "Index Cond: (id = ANY (document_ids(" in plan and "Seq Scan" not in plan
    with connection.transaction(force_rollback=True):
        connection.execute("INSERT INTO documents VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846')")
        hint = "UUIDs of version 4 have no time, and need no encryption."
        with expect.error("22023", "uuid is not of version 7", "Its version is 1.", hint):
            connection.execute("SELECT public_id FROM public_documents")


def test_roles_have_no_more_rights_than_they_need(connect):
    """The role of the view reads neither keys nor IDs, and cannot decrypt. The other role reads no keys."""
    for role, statement in (
        ("web", "SELECT key FROM public_id_keys"),
        ("web", "SELECT id FROM invoices"),
        ("web", "SELECT invoice_id(public_id) FROM public_invoices"),
        ("web", "SELECT document_ids(gen_random_uuid())"),
        ("api", "SELECT key FROM public_id_keys"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect(role).execute(statement)


def test_a_caller_cannot_replace_the_names_in_the_function(connect):
    """The names in the body are bound when the function is created."""
    connection, api = connect(), connect("api")
    [(uuid, note)] = connection.execute("SELECT public_id, note FROM public_invoices LIMIT 1").fetchall()
    connection.execute("CREATE SCHEMA trap AUTHORIZATION api")
    try:
        api.execute("CREATE TABLE trap.public_id_keys (audience text, key bytea)")
        api.execute("CREATE FUNCTION trap.uuidv7_decrypt(uuid, bytea) RETURNS uuid LANGUAGE sql RETURN $1")
        api.execute("SET search_path = trap, public, pg_catalog")
        assert api.execute(query(LOOK_UP), [uuid]).fetchall() == [(note,)]
    finally:
        connection.execute("DROP SCHEMA trap CASCADE")


def test_another_key_leaves_shown_uuids_valid(connect):
    """After the change, the UUIDs of both keys are found, and the view shows others."""
    connection = connect()
    shown = "SELECT note, public_id FROM public_invoices"
    with connection.transaction(force_rollback=True):
        before = dict(connection.execute(shown).fetchall())
        for statement in statements(ROTATE)[:-1]:
            connection.execute(statement)
        after = dict(connection.execute(shown).fetchall())
        assert not set(before.values()) & set(after.values())
        for note in map(str, range(1, ROWS, 99)):
            for uuid in before[note], after[note]:
                assert connection.execute(query(ROTATE), [uuid]).fetchall() == [(note,)]
        plan = explain(connection, statements(ROTATE)[-1])
        assert re.search("Index Scan (?:using|on) invoices_pkey", plan)
        assert "Index Cond: (id = ANY (invoice_ids(" in plan


# ------------------------------------------------------------------------------------------------ where no key is found


def forms_of(connection: psycopg.Connection, key: bytes) -> list[str]:
    """Returns the forms in which the server writes a key: in hexadecimal digits, escaped, and in a parse tree."""
    [escaped] = connection.execute("SELECT encode(%s::bytea, 'escape')", [key]).fetchone()
    in_a_tree = " ".join(str(byte - 256 if byte > 127 else byte) for byte in key)
    return [key.hex(), escaped, in_a_tree]


def catalogs(connection: psycopg.Connection) -> dict[str, str]:
    """Returns the text of all system catalogs."""
    tables = connection.execute(
        "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'"
    ).fetchall()
    assert len(tables) > 50
    return {
        name: connection.execute(f"SELECT string_agg(t::text, E'\n') FROM {name} AS t").fetchone()[0] or ""
        for (name,) in tables
    }


def places(connection: psycopg.Connection, server: Server, key: bytes, plans: str) -> set[str]:
    """Returns the places where a key is found."""
    statements = connection.execute("SELECT string_agg(query, E'\n') FROM pg_stat_statements").fetchone()[0]
    texts = {"plans": plans, "pg_stat_statements": statements, "log": server.log_text(), **catalogs(connection)}
    forms = forms_of(connection, key)
    return {name for name, text in texts.items() if any(form in text for form in forms)}


def verbose(connection: psycopg.Connection, statement: str, *parameters: object) -> str:
    """Executes a statement with parameters of the protocol, and returns its plan with all expressions."""
    connection.execute(statement, parameters, prepare=True).fetchall()
    plan = connection.execute(f"EXPLAIN (ANALYZE, VERBOSE) {statement}", parameters)
    return "\n".join(line for (line,) in plan)


def test_no_key_is_found_outside_of_its_table(connect, server):
    """The key is in no plan, catalog, statistics of statements or log. A key in a statement is in each of these."""
    connection, web, api = connect(), connect("web"), connect("api")
    plans = [verbose(each, "SELECT * FROM public_invoices WHERE note = %s", "7") for each in (connection, web)]
    [(uuid,)] = web.execute("SELECT public_id FROM public_invoices LIMIT 1").fetchall()
    [(document,)] = connection.execute("SELECT public_id FROM public_documents LIMIT 1").fetchall()
    plans += [verbose(each, query(LOOK_UP), uuid) for each in (connection, api)]
    plans += [verbose(connection, "SELECT * FROM public_documents"), verbose(connection, query(MIXED), document)]
    for statement in statements(ROTATE)[:-1]:
        connection.execute(statement)
    plans += [verbose(connection, query(ROTATE), uuid), verbose(connection, "SELECT * FROM public_invoices")]
    connection.execute("ANALYZE")
    keys = [key for (key,) in connection.execute("SELECT key FROM public_id_keys")]
    assert [len(key) for key in keys] == [32, 32]
    assert {place for key in keys for place in places(connection, server, key, "\n".join(plans))} == set()

    shown = bytes(range(200, 216))
    connection.execute(f"CREATE VIEW literal AS SELECT uuidv7_encrypt(id, '\\x{shown.hex()}') FROM invoices")
    connection.execute("CREATE TABLE counted AS SELECT %s::bytea AS key FROM generate_series(1, 10)", [shown])
    connection.execute("ANALYZE counted")
    plan = verbose(connection, "SELECT * FROM literal")
    found = places(connection, server, shown, plan)
    assert found == {"plans", "pg_stat_statements", "log", "pg_rewrite", "pg_statistic"}
