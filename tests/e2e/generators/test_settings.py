"""The settings that decide uniqueness: which sources may set them, in sessions and in their parallel workers.

crates/server/tests/unit/setting_state.rs has the rule in every order of events. These tests have the server's part:
from which source it assigns or rejects a value, and what it passes to workers. tests/pg_regress/sql/settings.sql has
what one session sees of all settings, and crates/ids the syntax of a node.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext

import psycopg
import pytest

import expect
from idtypes import SCRU64
from marks import create
from server import MAJOR, Server, wait_until

NODE, NUMBER = "scru.scru64_node", "scru.ulidflake_scalability"
CONFIGURED, FOREIGN, OTHER, DEFAULT, MALFORMED = "1/4", "2/4", "9/4", "0/4", "300/8"
DRAWN = "scru64_node_id(gen_scru64(), 4)"

WHO_MAY = (
    "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must have"
    " the same value."
)
CANNOT_CHANGE = (expect.CANNOT_CHANGE_NOW, f'parameter "{NODE}" cannot be changed now', WHO_MAY)
DENIED = ("42501", f'permission denied to set parameter "{NODE}"')

loaded_or_not = pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])


def draw(connection: psycopg.Connection, drawn: str = DRAWN) -> int:
    """Generates an ID, and returns the server's number in it."""
    return connection.execute(f"SELECT {drawn}").fetchone()[0]


def in_workers(connection: psycopg.Connection, leader: str = "off", number: str = DRAWN) -> set[int]:
    """Returns the server's numbers in IDs that a parallel plan generates. With `leader` off, only workers generate."""
    with connection.transaction():
        connection.execute(
            f"""SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
                SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL parallel_leader_participation = {leader};
                SET LOCAL {"force_parallel_mode" if MAJOR < 16 else "debug_parallel_query"} = on"""
        )
        rows = connection.execute(f"SELECT pid(), {number} FROM rows").fetchall()
    assert rows and (leader == "on" or connection.info.backend_pid not in {pid for pid, _ in rows})
    return {number for _, number in rows}


def draws(connection: psycopg.Connection) -> set[int]:
    """Returns the server's numbers in scru64 IDs of a session, and in those of its workers."""
    return {draw(connection)} | in_workers(connection) | in_workers(connection, "on")


@pytest.fixture
def configured(new_server) -> Callable[..., Server]:
    """Starts a server with these settings in its configuration file, the extension, two roles, a table for parallel
    plans, and a function with the PID of the process."""

    def start(preload: str = "", **settings: str) -> Server:
        settings = settings or {NODE: CONFIGURED}
        server = new_server({"shared_preload_libraries": preload, "max_parallel_workers_per_gather": "2", **settings})
        with server.connect() as connection:
            connection.execute(
                """CREATE EXTENSION scru; CREATE ROLE plain LOGIN; CREATE ROLE super LOGIN SUPERUSER;
                   CREATE TABLE rows AS SELECT generate_series(1, 1000) AS n; GRANT SELECT ON rows TO plain;
                   CREATE FUNCTION pid() RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL SAFE
                   AS 'BEGIN RETURN pg_backend_pid(); END'; ANALYZE rows"""
            )
        return server

    return start


def reload_in(connection: psycopg.Connection, server: Server, **settings: str) -> None:
    """Changes settings of the configuration file, and waits until a session has them."""
    server.reload(**settings)
    query = "SELECT current_setting('tests.generation')::int"
    wait_until(lambda: connection.execute(query).fetchone()[0] == server.generation, "the session has reloaded")


# The source of a value, as messages name it, and the HINT.
FILE = ("the configuration file", "Correct it in the configuration file, and reload.")
CLIENT = ("the connection options", "Remove it from the connection options, and reconnect.")
ROLE = ("ALTER ROLE", "Use ALTER ROLE ... RESET {}, and reconnect.")
ROLE_IN_DATABASE = ("ALTER ROLE IN DATABASE", "Use ALTER ROLE ... IN DATABASE ... RESET {}, and reconnect.")
ALL = ("ALTER ROLE ALL", "Correct it with ALTER ROLE ALL SET {}, and reconnect.")
DATABASE = ("ALTER DATABASE", "Correct it with ALTER DATABASE ... SET {}, and reconnect.")
# The database and the role of a stored value in the catalog.
STORED = {ROLE: ("0", "'plain'::regrole"), ROLE_IN_DATABASE: ("d.oid", "'plain'::regrole"), ALL: ("0", "0")}
STORED[DATABASE] = ("d.oid", "0")


def store(server: Server, source: tuple[str, str], value: str, setting: str = NODE) -> None:
    """Stores a value like ALTER ROLE or ALTER DATABASE in a session that has not loaded the library."""
    database, role = STORED[source]
    with server.connect() as connection:
        connection.execute(
            f"""INSERT INTO pg_db_role_setting SELECT {database}, {role}, ARRAY['{setting}={value}']
                FROM pg_database AS d WHERE datname = 'postgres'"""
        )


def refused(value: str, source: tuple[str, str], setting: str = NODE):
    """Expects the error of generation with a malformed value, or with a value from a forbidden source."""
    name, hint = source
    if source in (FILE, ALL, DATABASE):
        message = f'invalid value for parameter "{setting}": "{value}"'
        detail = f"It is set by {name}. The default is not used instead, because it may be another server's."
    else:
        message, detail = f'parameter "{setting}" must not be set by {name}', f'It is set to "{value}". {WHO_MAY}'
    return expect.error(expect.INVALID_SETTING, message, detail, hint.format(setting))


@pytest.mark.parametrize(
    ("preload", "source", "user", "value"),
    [
        ("", CLIENT, "plain", FOREIGN),
        ("", CLIENT, "plain", DEFAULT),
        ("", CLIENT, "super", MALFORMED),
        ("scru", CLIENT, "super", CONFIGURED),
        ("", ROLE, "plain", MALFORMED),
        ("scru", ROLE, "plain", FOREIGN),
        ("", ROLE_IN_DATABASE, "plain", DEFAULT),
        ("", ALL, "plain", MALFORMED),
        ("scru", ALL, "plain", MALFORMED),
        ("", DATABASE, "plain", MALFORMED),
        ("scru", DATABASE, "plain", MALFORMED),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_refused_value_generates_no_id(configured, preload, source, user, value):
    """Neither in the session nor in its workers, although the file has a valid value, which the refused one hides, and
    whatever is set, reset or reloaded meanwhile."""
    server = configured(preload)
    parameters = {"user": user}
    if source == CLIENT:
        parameters["options"] = f"-c {NODE}={value}"
    else:
        store(server, source, value)
    with server.connect(**parameters) as connection:
        for statement in "SELECT", "SET scru.ulidflake_on_overflow = 'error'", "RESET ALL", "DISCARD ALL":
            connection.execute(statement)
            with refused(value, source):
                draw(connection)
        assert connection.execute("SELECT gen_scru128() IS NOT NULL").fetchone() == (True,)
        reload_in(connection, server, **{NODE: OTHER})
        for leader in "off", "on":
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                in_workers(connection, leader)
        with refused(value, source):
            draw(connection)
    server.psql("postgres", b"DELETE FROM pg_db_role_setting")
    with server.connect(user=user) as connection:
        assert draw(connection) == 9


def test_the_server_skips_a_malformed_value_of_a_role(configured):
    """If the library is preloaded. What is stored for a role decides nothing."""
    server = configured("scru")
    for source in ROLE, ROLE_IN_DATABASE:
        store(server, source, MALFORMED)
    for user in "plain", "super":
        with server.connect(user=user) as connection:
            assert draws(connection) == {1}


@loaded_or_not
def test_a_malformed_value_of_the_file(configured, preload):
    """The server uses the default, which neither SET nor RESET makes valid. A correction does, even one to the default.
    A process that has a valid value keeps it when the file becomes malformed."""
    server = configured(preload, **{NODE: MALFORMED})
    with server.connect() as connection:
        if not preload:
            connection.execute(f"SET {NODE} = '{DEFAULT}'")
        for statement in "SELECT", f"RESET {NODE}", "RESET ALL", "DISCARD ALL":
            connection.execute(statement)
            with refused(MALFORMED, FILE):
                draw(connection)
        with refused(MALFORMED, FILE):
            in_workers(connection)
        for value, drawn in (DEFAULT, 0), (CONFIGURED, 1), (MALFORMED, 1), (FOREIGN, 2):
            reload_in(connection, server, **{NODE: value})
            assert draw(connection) == drawn
        del server.settings[NODE]
        server.reload()
        for session in connection, server.connect():
            assert draw(session) == 0
            assert session.execute(f"SHOW {NODE}").fetchone() == (DEFAULT,)


@loaded_or_not
def test_the_number_of_ulidflakes(configured, preload):
    """It has the rule of the node, and any notation that the server accepts. With -1, a ulidflake has random bits
    instead."""
    server = configured(preload, **{NUMBER: "5"})
    for value, drawn in (" 0x3 ", {3}), ("-1", set(range(32))), ("32", None), ("abc", None):
        store(server, DATABASE, value, NUMBER)
        with server.connect(user="plain") as connection, nullcontext() if drawn else refused(value, DATABASE, NUMBER):
            assert draw(connection, "ulidflake_scalability(gen_ulidflake())") in drawn
        server.psql("postgres", b"DELETE FROM pg_db_role_setting")


def test_a_worker_of_a_refused_session_names_no_value(configured):
    """It starts after the correction of the malformed value that was stored when the session started."""
    server = configured()
    store(server, DATABASE, MALFORMED)
    with server.connect(user="plain") as connection:
        connection.execute("SELECT gen_scru128()")
        server.psql("postgres", f"ALTER DATABASE postgres SET {NODE} = '2/4'".encode())
        with expect.error(
            expect.INVALID_SETTING,
            f'parameter "{NODE}" is refused in this session',
            "The session has a malformed value, or one from a source that may not set it.",
            "Generate an ID without parallel workers: the error then names the value and its source.",
        ):
            in_workers(connection)


@loaded_or_not
@pytest.mark.parametrize("user", ["plain", "super"])
def test_set_changes_nothing(configured, preload, user):
    """Before the library is loaded, the server accepts SET, and discards the value with a warning later, together with
    the values that it has saved for a rollback."""
    error = DENIED if user == "plain" else CANNOT_CHANGE
    with configured(preload).connect(user=user) as connection:
        if not preload:
            warnings = []
            connection.add_notice_handler(lambda diag: warnings.append((diag.sqlstate, diag.message_primary)))
            with connection.transaction(force_rollback=True):
                connection.execute(f"SET LOCAL {NODE} = '{FOREIGN}'; SAVEPOINT one")
                connection.execute(f"SET {NODE} = '{DEFAULT}'")
                assert draw(connection) == 1
            assert set(warnings) == {error[:2]}
        for set_ in f"SET {NODE} = '2/4'", f"SET LOCAL {NODE} = '2/4'", f"SELECT set_config('{NODE}', '2/4', false)":
            with expect.error(*error), connection.transaction():
                connection.execute(set_)
            assert draws(connection) == {1}
        for statement in "RESET ALL", "DISCARD ALL", *([f"RESET {NODE}"] if user == "super" else []):
            connection.execute(statement)
            assert draw(connection) == 1


def test_a_function_with_a_setting_generates_no_id(configured):
    create = f"CREATE FUNCTION elsewhere() RETURNS int LANGUAGE sql SET {NODE} = '2/4' AS 'SELECT {DRAWN}'"
    with configured().connect(user="super") as connection:
        connection.execute(create)
        assert draw(connection) == 1
        for statement in "SELECT elsewhere()", create.replace("elsewhere", "other"):
            with expect.error(*CANNOT_CHANGE):
                connection.execute(statement)


@loaded_or_not
def test_only_a_superuser_stores_it(configured, preload):
    """Neither a database's owner nor the role itself can store it, unless a superuser has granted the privilege."""
    server = configured(preload)
    statement, options = f"ALTER DATABASE postgres SET {NODE} = '2/4'", f"-c {NODE}=2/4"
    server.psql("postgres", b"ALTER DATABASE postgres OWNER TO plain")
    with server.connect(user="plain") as connection:
        for command in statement, statement.replace("DATABASE postgres", "ROLE plain"):
            draw(connection)
            with expect.error(*DENIED):
                connection.execute(command)
    if preload:
        with pytest.raises(psycopg.OperationalError, match=DENIED[1]):
            server.connect(user="plain", options=options)
    server.psql("postgres", f"GRANT SET ON PARAMETER {NODE} TO plain".encode())
    with server.connect(user="plain", options=options) as connection, refused(FOREIGN, CLIENT):
        draw(connection)
    with server.connect(user="plain") as connection:
        draw(connection)
        with expect.error(*CANNOT_CHANGE):
            connection.execute(f"SET {NODE} = '2/4'")
        connection.execute(statement)
    with server.connect(user="plain") as connection:
        assert draw(connection) == 2


@loaded_or_not
def test_the_precedence_of_sources(configured, preload):
    """ALTER ROLE ALL overrides the file, also after a reload, and ALTER DATABASE overrides both, for new sessions and
    their workers. A running session keeps its value, and so do its workers, which start later."""
    server = configured(preload)

    def drawn(dbname: str = "postgres") -> set[int]:
        with server.connect(dbname, user="plain") as connection:
            return draws(connection)

    server.psql("postgres", b"CREATE DATABASE other TEMPLATE postgres")
    with server.connect() as connection, server.connect(user="plain") as old:
        assert draws(old) == drawn("other") == {1}
        store(server, ALL, FOREIGN)
        assert drawn() == drawn("other") == {2}
        draw(connection)  # loads the library
        connection.execute(f"ALTER DATABASE other SET {NODE} = '{OTHER}'")
        assert (drawn("other"), drawn()) == ({9}, {2})
        assert draws(old) == {1}
    with server.connect(user="super") as connection:
        assert draw(connection) == 2
        reload_in(connection, server, **{NODE: OTHER})
        connection.execute("RESET ALL")
        assert draws(connection) == {2}


def test_two_databases_with_different_nodes(configured):
    """All databases share one state, so that IDs are unique. Each change of the node starts a new tick."""
    server = configured()
    with ExitStack() as stack:
        with server.connect() as connection:
            connection.execute("CREATE DATABASE other TEMPLATE postgres")
            for node, dbname in (1, "postgres"), (2, "other"):
                connection.execute(f"ALTER DATABASE {dbname} SET {NODE} = '{node}/4'")
        connections = [stack.enter_context(server.connect(dbname)) for dbname in ("postgres", "other")]
        query = "SELECT id::text, scru64_node_id(id, 4) FROM gen_scru64() AS id"
        drawn = [connections[turn % 2].execute(query).fetchone() for turn in range(12)]
    assert [node for _, node in drawn] == [1, 2] * 6
    ticks = [SCRU64.value(id_) >> SCRU64.body_bits for id_, _ in drawn]
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize("leader", ["off", "on"])
def test_workers_that_load_the_library_before_their_leader(configured, leader):
    """The settings are defined during the parallel operation, in which the server otherwise lets no setting change."""
    server = configured()
    with server.connect() as connection:
        if connection.info.server_version < {15: 150009, 16: 160005, 17: 170001}.get(MAJOR, 0):
            pytest.skip("the server has no flag for settings that may change during a parallel operation")
        connection.execute(
            f"""CREATE FUNCTION elsewhere() RETURNS int LANGUAGE plpgsql PARALLEL SAFE
                AS 'BEGIN RETURN {DRAWN}; END'"""
        )
    with server.connect(user="plain") as connection:
        assert in_workers(connection, leader, "elsewhere()") == {1}


def test_the_node_can_be_a_previous_id(configured):
    """A previous ID sets the node, and the next ID is greater even if the clock is behind it."""
    server = configured()
    previous = server.value("SELECT scru64_upper(scru64_timestamp(gen_scru64()) + '0.7 s')::text")
    server.reload(**{NODE: f"{previous}/16"})
    [(first, node)] = server.rows("SELECT id::text, scru64_node_id(id, 16) FROM gen_scru64() AS id")
    assert previous < first
    assert node == (SCRU64.value(previous) & 0xFFFFFF) >> 8


def test_the_microsecond_is_that_of_the_clock(new_server, clock):
    """With `microsecond`, the specification's alternative, in the upper 10 bits of the counter."""
    server = create(new_server({"scru.scru160_counter": "microsecond"}, clock.environment))
    clock.freeze("2030-01-01 00:00:00.123456")
    query = "SELECT scru160_counter(id) >> 6, scru160_counter(id) & 63 < 32, to_char(scru160_timestamp(id), 'MS')"
    assert server.rows(f"{query} FROM gen_scru160() AS id") == [(456, True, "123")]
