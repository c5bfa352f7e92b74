"""The settings that decide uniqueness: which sources may set them. Values of other sources generate no IDs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import psycopg
import pytest

import expect
from server import MAJOR, Server, wait_until

NODE, NUMBER = "scru.scru64_node", "scru.ulidflake_scalability"
CONFIGURED = {NODE: "1/4", NUMBER: "5"}
FOREIGN = {NODE: "2/4", NUMBER: "6"}
DEFAULTS = {NODE: "0/4", NUMBER: "-1"}
MALFORMED = {NODE: "300/8", NUMBER: "32"}
DRAWN = {NODE: "scru64_node_id(gen_scru64(), 4)", NUMBER: "ulidflake_scalability(gen_ulidflake())"}
TYPE = {NODE: "scru64", NUMBER: "ulidflake"}

WHO_MAY = (
    "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must have"
    " the same value."
)

each_setting = pytest.mark.parametrize("setting", [NODE, NUMBER], ids=["node", "number"])
loaded_or_not = pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])


def number_of(setting: str, value: str) -> int:
    """Returns the server's number in IDs that are generated with this value of a setting."""
    return int(value.removesuffix("/4"))


def draw(connection: psycopg.Connection, setting: str) -> int:
    """Generates an ID, and returns the server's number in it."""
    return connection.execute(f"SELECT {DRAWN[setting]}").fetchone()[0]


def wrong_source(setting: str, value: str, source: str, hint: str):
    """Expects the error of generation with a value from a forbidden source."""
    message = f'parameter "{setting}" must not be set by {source}'
    return expect.error(expect.INVALID_SETTING, message, f'It is set to "{value}". {WHO_MAY}', hint)


def wrong_value(setting: str, value: str, source: str, hint: str):
    """Expects the error of generation with an invalid configured value."""
    detail = f"It is set by {source}. The default is not used instead, because it may be another server's."
    return expect.error(expect.INVALID_SETTING, f'invalid value for parameter "{setting}": "{value}"', detail, hint)


def from_client(setting: str, value: str):
    """Expects the error of generation in a session that sets the value in its connection options."""
    hint = "Remove it from the connection options, and reconnect."
    return wrong_source(setting, value, "the connection options", hint)


CORRECT_THE_FILE = "Correct it in the configuration file, and reload."


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str, tuple], Server]]:
    """Starts servers that the tests share: one for each combination of settings."""
    with ExitStack() as stack:

        @cache
        def start(preload: str, settings: tuple) -> Server:
            return prepared(stack.enter_context(Server(server_settings(preload, dict(settings)))))

        yield start


@pytest.fixture
def configured(servers) -> Iterator[Callable[..., Server]]:
    """Returns a shared server, by default with both settings in its configuration file. After the test, removes what it
    has stored in the catalog."""
    used = set()

    def start(preload: str = "", settings: dict[str, str] = CONFIGURED) -> Server:
        used.add(server := servers(preload, tuple(settings.items())))
        return server

    yield start
    for server in used:
        with server.connect() as connection:
            for target in "ROLE ALL", "DATABASE postgres", "ROLE plain", "ROLE plain IN DATABASE postgres":
                connection.execute(f"ALTER {target} RESET ALL")
            connection.execute(
                f"REVOKE ALL ON PARAMETER {NODE}, {NUMBER} FROM plain; ALTER DATABASE postgres OWNER TO postgres"
            )
            connection.execute("DROP FUNCTION IF EXISTS elsewhere")
            connection.execute("DROP DATABASE IF EXISTS other WITH (FORCE)")


@pytest.fixture
def own_server(new_server) -> Callable[..., Server]:
    """Starts a server whose configuration file the test may change."""
    return lambda preload, settings: prepared(new_server(server_settings(preload, settings)))


def server_settings(preload: str, settings: dict[str, str]) -> dict[str, str]:
    """Returns all settings of a server."""
    return {**settings, "shared_preload_libraries": preload, "max_parallel_workers_per_gather": "2"}


def prepared(server: Server) -> Server:
    """Creates the extension, two roles, a table for parallel plans, and a function that returns the PID of the process
    that runs it. Returns the server."""
    with server.connect() as connection:
        connection.execute(
            """CREATE EXTENSION scru; CREATE ROLE plain LOGIN; CREATE ROLE super LOGIN SUPERUSER;
               CREATE TABLE rows AS SELECT generate_series(1, 1000) AS n; GRANT SELECT ON rows TO plain; ANALYZE rows;
               CREATE FUNCTION process() RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL SAFE
               AS 'BEGIN RETURN pg_backend_pid(); END'"""
        )
    return server


FORCED = (
    "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
    f"SET {'force_parallel_mode' if MAJOR < 16 else 'debug_parallel_query'} = on;"
)


def draw_in_workers(connection: psycopg.Connection, setting: str, leader: str) -> set[int]:
    """Returns the server's numbers in IDs that a parallel plan generates. With `leader` off, checks that only workers
    have generated them."""
    connection.execute(f"{FORCED} SET parallel_leader_participation = {leader}")
    rows = connection.execute(f"SELECT process(), {DRAWN[setting]} FROM rows").fetchall()
    pids = {pid for pid, _ in rows}
    assert pids
    assert leader == "on" or connection.info.backend_pid not in pids
    return {number for _, number in rows}


each_leader = pytest.mark.parametrize("leader", ["off", "on"], ids=["workers alone", "leader as well"])


# ------------------------------------------------------------------------------------------ sources that may not set it


@each_setting
@loaded_or_not
@pytest.mark.parametrize("value", [FOREIGN, DEFAULTS, CONFIGURED], ids=["foreign", "default", "the same"])
def test_connection_options_draw_nothing(configured, setting, preload, value):
    """Generation fails even if the options have the configured value, because they hide the value of the file. With a
    preloaded library, an ordinary user cannot connect with the options."""
    server = configured(preload)
    options = f"-c {setting}={value[setting]}"
    if preload:
        # The setting is defined when the server reads the options.
        with pytest.raises(psycopg.OperationalError, match=f'permission denied to set parameter "{setting}"'):
            server.connect(user="plain", options=options)
    else:
        with server.connect(user="plain", options=options) as connection:
            for _ in range(2):
                with from_client(setting, value[setting]):
                    draw(connection, setting)
            # Neither a change of another setting nor RESET helps.
            connection.execute("SET scru.ulidflake_on_overflow = 'error'")
            connection.execute("RESET ALL")
            with from_client(setting, value[setting]):
                draw(connection, setting)
            assert connection.execute("SELECT gen_scru128() IS NOT NULL").fetchone() == (True,)
    with server.connect(user="super", options=options) as connection, from_client(setting, value[setting]):
        draw(connection, setting)
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


@each_setting
@loaded_or_not
@pytest.mark.parametrize("role", ["plain", "super"])
def test_set_changes_nothing(configured, setting, preload, role):
    server = configured(preload)
    value = FOREIGN[setting]
    drawn = number_of(setting, CONFIGURED[setting])
    privilege = f'permission denied to set parameter "{setting}"'
    state, message, detail = {
        "plain": ("42501", privilege, None),
        "super": (expect.CANNOT_CHANGE_NOW, f'parameter "{setting}" cannot be changed now', WHO_MAY),
    }[role]
    with server.connect(user=role) as connection:
        if not preload:
            # The setting is not defined yet. When the library is loaded, the server rejects the value with a warning.
            warnings = []
            connection.add_notice_handler(lambda diag: warnings.append((diag.sqlstate, diag.message_primary)))
            connection.execute(f"SET {setting} = '{value}'")
            assert draw(connection, setting) == drawn
            assert warnings == [(state, message)]
        for statement in (
            f"SET {setting} = '{value}'",
            f"SET {setting} = '{CONFIGURED[setting]}'",
            f"SET LOCAL {setting} = '{value}'",
            f"SELECT set_config('{setting}', '{value}', true)",
            f"SELECT set_config('{setting}', '{value}', false)",
        ):
            with expect.error(state, message, detail), connection.transaction():
                connection.execute(statement)
            assert draw(connection, setting) == drawn
        for statement in "RESET ALL", "DISCARD ALL", *([f"RESET {setting}"] if role == "super" else []):
            connection.execute(statement)
            assert draw(connection, setting) == drawn


@each_setting
def test_set_in_a_transaction_before_the_library_is_loaded(configured, setting):
    """The values that the server has saved for a rollback are rejected as well."""
    with configured().connect() as connection:
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL {setting} = '{FOREIGN[setting]}'; SAVEPOINT one")
            connection.execute(f"SET {setting} = '{DEFAULTS[setting]}'")
            assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


@each_setting
@loaded_or_not
def test_a_function_with_a_setting_draws_nothing(configured, setting, preload):
    server = configured(preload)
    create = f"""CREATE FUNCTION elsewhere() RETURNS int LANGUAGE sql
                 SET {setting} = '{FOREIGN[setting]}' AS 'SELECT {DRAWN[setting]}'"""
    refused = (expect.CANNOT_CHANGE_NOW, f'parameter "{setting}" cannot be changed now', WHO_MAY)
    with server.connect(user="super") as connection:
        if not preload:
            connection.execute(create)
            draw(connection, setting)
            with expect.error(*refused):
                connection.execute("SELECT elsewhere()")
            connection.execute("DROP FUNCTION elsewhere")
        with expect.error(*refused):
            connection.execute(create)
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


@each_setting
@loaded_or_not
@pytest.mark.parametrize("when", ["before it is loaded", "when it is loaded"])
@pytest.mark.parametrize(
    ("target", "source"),
    [("ROLE plain", "ALTER ROLE"), ("ROLE plain IN DATABASE postgres", "ALTER ROLE IN DATABASE")],
    ids=["role", "role in database"],
)
def test_a_role_with_a_setting_draws_nothing(configured, setting, preload, when, target, source):
    server = configured(preload)
    value = FOREIGN[setting]
    with server.connect(user="super") as connection:
        if when == "when it is loaded":
            draw(connection, setting)
        connection.execute(f"ALTER {target} SET {setting} = '{value}'")
    hint = (
        f"Use {source.replace('ROLE', 'ROLE ...').replace('DATABASE', 'DATABASE ...')} RESET {setting}, and reconnect."
    )
    with server.connect(user="plain") as connection, wrong_source(setting, value, source, hint):
        draw(connection, setting)
    with server.connect(user="super") as connection:
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
        connection.execute(f"ALTER {target} RESET {setting}")
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


@each_setting
@loaded_or_not
def test_only_a_superuser_stores_it(configured, setting, preload):
    """Neither a database's owner nor the role itself can store it, unless a superuser has granted the privilege."""
    server = configured(preload)
    with server.connect() as connection:
        connection.execute("ALTER DATABASE postgres OWNER TO plain")
    statement = f"ALTER DATABASE postgres SET {setting} = '{FOREIGN[setting]}'"
    with server.connect(user="plain") as connection:
        if not preload:
            with expect.error("42501", f'permission denied to set parameter "{setting}"'):
                connection.execute(statement)
        draw(connection, setting)
        for command in statement, statement.replace("DATABASE postgres", "ROLE plain"):
            with expect.error("42501", f'permission denied to set parameter "{setting}"'):
                connection.execute(command)
    with server.connect() as connection:
        connection.execute(f"GRANT SET ON PARAMETER {setting} TO plain")
    with server.connect(user="plain", options=f"-c {setting}={FOREIGN[setting]}") as connection:
        with from_client(setting, FOREIGN[setting]):
            draw(connection, setting)
    with server.connect(user="plain") as connection:
        draw(connection, setting)
        with expect.error(expect.CANNOT_CHANGE_NOW, f'parameter "{setting}" cannot be changed now', WHO_MAY):
            connection.execute(f"SET {setting} = '{FOREIGN[setting]}'")
        connection.execute(statement)
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, FOREIGN[setting])


# ------------------------------------------------------------------------------------------------------- invalid values


@each_setting
@loaded_or_not
def test_a_malformed_configured_value_and_a_set(own_server, setting, preload):
    """SET to the default does not hide that the configured value is invalid."""
    server = own_server(preload, MALFORMED)
    with server.connect() as connection:
        if not preload:
            connection.execute(f"SET {setting} = '{DEFAULTS[setting]}'")
        for statement in "SELECT", f"RESET {setting}", "RESET ALL", "DISCARD ALL":
            connection.execute(statement)
            with wrong_value(setting, MALFORMED[setting], "the configuration file", CORRECT_THE_FILE):
                draw(connection, setting)
        server.reload(**{setting: CONFIGURED[setting]})
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
        with server.connect() as fresh:
            assert draw(fresh, setting) == number_of(setting, CONFIGURED[setting])
        del server.settings[setting]
        server.reload()
        for session in connection, server.connect():
            session.execute(f"SELECT gen_{TYPE[setting]}()")
            assert session.execute(f"SHOW {setting}").fetchone() == (DEFAULTS[setting],)


@each_setting
@pytest.mark.parametrize(
    ("target", "source"),
    [("ROLE ALL", "ALTER ROLE ALL"), ("DATABASE postgres", "ALTER DATABASE"), ("ROLE plain", "ALTER ROLE")],
    ids=["all", "database", "role"],
)
def test_a_malformed_value_that_was_stored(configured, setting, target, source):
    """Before the library is loaded, the server stores any value. Afterwards it rejects an invalid one."""
    server = configured()
    with server.connect() as connection:
        connection.execute(f"ALTER {target} SET {setting} = '{MALFORMED[setting]}'")
        draw_or_fail = wrong_value if source != "ALTER ROLE" else wrong_source
        hint = {
            "ALTER ROLE ALL": f"Correct it with ALTER ROLE ALL SET {setting}, and reconnect.",
            "ALTER DATABASE": f"Correct it with ALTER DATABASE ... SET {setting}, and reconnect.",
            "ALTER ROLE": f"Use ALTER ROLE ... RESET {setting}, and reconnect.",
        }[source]
        for _ in range(2):
            with server.connect(user="plain") as fresh, draw_or_fail(setting, MALFORMED[setting], source, hint):
                draw(fresh, setting)
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(f"ALTER {target} SET {setting} = '{MALFORMED[setting]}'")
        connection.execute(f"ALTER {target} RESET {setting}")
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


@each_setting
@pytest.mark.parametrize(
    ("target", "source"),
    [("ROLE ALL", "ALTER ROLE ALL"), ("DATABASE postgres", "ALTER DATABASE")],
    ids=["all", "database"],
)
@pytest.mark.parametrize("value", [None, "abc"], ids=["out of range", "not a number"])
def test_a_malformed_value_that_was_stored_before_preloading(own_server, setting, target, source, value):
    """A server that preloads the library ignores the value: only the catalog shows that one is stored."""
    value = value or MALFORMED[setting]
    server = own_server("", CONFIGURED)
    with server.connect() as connection:
        connection.execute(f"ALTER {target} SET {setting} = '{value}'")
    server.stop()
    server.settings["shared_preload_libraries"] = "scru"
    server.start()
    hint = (
        f"Correct it with ALTER {'ROLE ALL' if target == 'ROLE ALL' else 'DATABASE ...'} SET {setting}, and reconnect."
    )
    with server.connect(user="plain") as connection:
        for _ in range(2):
            with wrong_value(setting, value, source, hint):
                draw(connection, setting)
    with server.connect() as connection:
        connection.execute(f"ALTER {target} SET {setting} = '{FOREIGN[setting]}'")
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, FOREIGN[setting])


@loaded_or_not
@pytest.mark.parametrize("text", ["0x3", " 3 ", "03"])
def test_other_ways_to_write_a_number(configured, preload, text):
    """The extension accepts every notation of a number that the server accepts."""
    server = configured(preload, {"scru.ulidflake_entropy_bits": text, NUMBER: text})
    with server.connect() as connection:
        assert draw(connection, NUMBER) == 3
        assert connection.execute("SHOW scru.ulidflake_entropy_bits").fetchone() == ("3",)


# --------------------------------------------------------------------------------------------- refusals and a reload

CLIENT = ("the connection options", "Remove it from the connection options, and reconnect.")
ROLE = ("ALTER ROLE", "Use ALTER ROLE ... RESET {}, and reconnect.")
ALL = ("ALTER ROLE ALL", "Correct it with ALTER ROLE ALL SET {}, and reconnect.")
DATABASE = ("ALTER DATABASE", "Correct it with ALTER DATABASE ... SET {}, and reconnect.")

REFUSED_IN_LEADER = (
    "The session has a malformed value, or one from a source that may not set it.",
    "Generate an ID without parallel workers: the error then names the value and its source.",
)


@pytest.fixture
def reloaded(configured) -> Iterator[Callable[[str], Server]]:
    """Returns a shared server whose configuration file the test may change. Restores the file after the test."""
    servers = []

    def start(preload: str) -> Server:
        servers.append(configured(preload))
        return servers[-1]

    yield start
    for server in servers:
        server.reload(**CONFIGURED)


def store(server: Server, source: tuple[str, str], setting: str, value: str) -> None:
    """Stores a value like ALTER ROLE or ALTER DATABASE in a session that has not loaded the library."""
    database, role = {ROLE: ("0", "'plain'::regrole"), ALL: ("0", "0"), DATABASE: ("d.oid", "0")}[source]
    with server.connect() as connection:
        connection.execute(
            f"""INSERT INTO pg_db_role_setting SELECT {database}, {role}, ARRAY['{setting}={value}']
                FROM pg_database AS d WHERE datname = 'postgres'"""
        )


def reload_in(connection: psycopg.Connection, server: Server, **settings: str) -> None:
    """Changes settings of the configuration file, and waits until a session has them."""
    server.reload(**settings)
    query = "SELECT current_setting('tests.generation')::int"
    wait_until(
        lambda: connection.execute(query).fetchone()[0] == server.generation, "the session has reloaded its settings"
    )


@each_setting
@pytest.mark.parametrize("drawn", [False, True], ids=["not drawn", "drawn"])
@pytest.mark.parametrize(
    ("preload", "source", "user", "values"),
    [
        ("", CLIENT, "plain", FOREIGN),
        ("", CLIENT, "super", FOREIGN),
        ("scru", CLIENT, "super", FOREIGN),
        ("", CLIENT, "super", MALFORMED),
        ("", ROLE, "plain", FOREIGN),
        ("scru", ROLE, "plain", FOREIGN),
        ("", ALL, "plain", MALFORMED),
        ("scru", ALL, "plain", MALFORMED),
        ("", DATABASE, "plain", MALFORMED),
        ("scru", DATABASE, "plain", MALFORMED),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else None,
)
def test_a_reload_does_not_clear_a_refusal(reloaded, setting, preload, source, user, values, drawn):
    """A value of the configuration file does not replace a refused value of a source with a higher rank, neither in the
    session nor in its parallel workers."""
    server = reloaded(preload)
    value, parameters = values[setting], {"user": user}
    if source == CLIENT:
        parameters["options"] = f"-c {setting}={value}"
    else:
        store(server, source, setting, value)
    name, hint = source
    refused = wrong_value if source in (ALL, DATABASE) else wrong_source
    with server.connect(**parameters) as connection:
        connection.execute("SELECT gen_scru128()")
        if drawn:
            with refused(setting, value, name, hint.format(setting)):
                draw(connection, setting)
        for file_value in {NODE: "7/4", NUMBER: "7"}[setting], CONFIGURED[setting]:
            reload_in(connection, server, **{setting: file_value})
            for leader in "off", "on":
                with pytest.raises(psycopg.errors.InvalidParameterValue):
                    draw_in_workers(connection, setting, leader)
            connection.execute("RESET ALL")
            with refused(setting, value, name, hint.format(setting)):
                draw(connection, setting)


@each_setting
@each_leader
def test_workers_of_a_session_with_a_refused_value_that_was_corrected(reloaded, setting, leader):
    """The session keeps the malformed value that was stored when it started, and so do its workers, although they start
    after the correction and a reload."""
    server = reloaded("")
    store(server, DATABASE, setting, MALFORMED[setting])
    with server.connect(user="plain") as connection:
        connection.execute("SELECT gen_scru128()")
        with server.connect() as superuser:
            superuser.execute(f"ALTER DATABASE postgres SET {setting} = '{FOREIGN[setting]}'")
        reload_in(connection, server, **{setting: {NODE: "7/4", NUMBER: "7"}[setting]})
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            draw_in_workers(connection, setting, leader)
        if leader == "off":
            diag = caught.value.diag
            assert diag.message_primary == f'parameter "{setting}" is refused in this session'
            assert (diag.message_detail, diag.message_hint) == REFUSED_IN_LEADER
    with server.connect(user="plain") as connection:
        assert draw(connection, setting) == number_of(setting, FOREIGN[setting])


@each_setting
@each_leader
@pytest.mark.parametrize("value", [FOREIGN, MALFORMED], ids=["valid", "malformed"])
def test_workers_keep_the_value_of_a_session_older_than_a_stored_one(reloaded, setting, leader, value):
    server = reloaded("")
    with server.connect(user="plain") as connection:
        connection.execute("SELECT gen_scru128()")
        store(server, DATABASE, setting, value[setting])
        assert draw_in_workers(connection, setting, leader) == {number_of(setting, CONFIGURED[setting])}


@each_setting
@each_leader
def test_workers_that_load_the_library_before_their_leader(configured, setting, leader):
    """The settings are defined during the parallel operation, in which the server otherwise lets no setting change."""
    server = configured("")
    with server.connect() as connection:
        if connection.info.server_version < {15: 150009, 16: 160005, 17: 170001}.get(MAJOR, 0):
            pytest.skip("the server has no flag for settings that may change during a parallel operation")
        connection.execute(
            f"""CREATE FUNCTION elsewhere() RETURNS int LANGUAGE plpgsql PARALLEL SAFE
                AS 'BEGIN RETURN {DRAWN[setting]}; END'"""
        )
    with server.connect(user="plain") as connection:
        connection.execute(f"{FORCED} SET parallel_leader_participation = {leader}")
        rows = connection.execute("SELECT DISTINCT elsewhere() FROM rows").fetchall()
        assert rows == [(number_of(setting, CONFIGURED[setting]),)]


# ---------------------------------------------------------------------------------------------- sources that may set it


@each_setting
@loaded_or_not
def test_the_precedence_of_sources(configured, setting, preload):
    """ALTER ROLE ALL overrides the file, and ALTER DATABASE overrides both, for new sessions. It does not matter
    whether the session that stores the value has loaded the library."""
    server = configured(preload)
    of = {"file": CONFIGURED[setting], "all": FOREIGN[setting], "database": {NODE: "9/4", NUMBER: "9"}[setting]}

    def drawn(dbname: str = "postgres") -> int:
        with server.connect(dbname, user="plain") as connection:
            return draw(connection, setting)

    with server.connect() as connection:
        connection.execute("CREATE DATABASE other")
    with server.connect("other") as connection:
        connection.execute("CREATE EXTENSION scru")
    assert drawn() == drawn("other") == number_of(setting, of["file"])
    for loaded in False, True:
        with server.connect() as connection, server.connect(user="plain") as old:
            if loaded:
                draw(connection, setting)
            assert draw(old, setting) == number_of(setting, of["file"])
            connection.execute(f"ALTER ROLE ALL SET {setting} = '{of['all']}'")
            assert drawn() == drawn("other") == number_of(setting, of["all"])
            connection.execute(f"ALTER DATABASE other SET {setting} = '{of['database']}'")
            assert drawn() == number_of(setting, of["all"])
            assert drawn("other") == number_of(setting, of["database"])
            # A running session keeps its value.
            assert draw(old, setting) == number_of(setting, of["file"])
            connection.execute(f"ALTER DATABASE other RESET {setting}; ALTER ROLE ALL RESET {setting}")
    assert drawn() == drawn("other") == number_of(setting, of["file"])


@each_setting
@loaded_or_not
def test_a_stored_value_needs_no_file(own_server, setting, preload):
    server = own_server(preload, {})
    with server.connect() as connection:
        connection.execute(f"ALTER ROLE ALL SET {setting} = '{CONFIGURED[setting]}'")
    server.restart()
    for user in "plain", "super":
        with server.connect(user=user) as connection:
            assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
            # The stored value also overrides the file after a reload.
            server.reload(**{setting: FOREIGN[setting]})
            assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])
            connection.execute("RESET ALL")
            assert draw(connection, setting) == number_of(setting, CONFIGURED[setting])


def test_two_databases_with_different_nodes(configured):
    """All databases share one state, so that IDs are unique. Each change of the node starts a new tick."""
    server = configured("", {})
    with ExitStack() as stack:
        connections = []
        with server.connect() as connection:
            connection.execute("CREATE DATABASE other")
        with server.connect("other") as connection:
            connection.execute("CREATE EXTENSION scru")
        for node, dbname in (1, "postgres"), (2, "other"):
            with server.connect() as connection:
                connection.execute(f"ALTER DATABASE {dbname} SET {NODE} = '{node}/4'")
            connections.append(stack.enter_context(server.connect(dbname)))
        query = "SELECT id::text, scru64_node_id(id, 4) FROM gen_scru64() AS id"
        connections[0].execute(query)
        begin = time.monotonic()
        drawn = [connections[turn % 2].execute(query).fetchone() for turn in range(12)]
        seconds = time.monotonic() - begin
    assert [node for _, node in drawn] == [1, 2] * 6
    assert sorted({id_ for id_, _ in drawn}) == [id_ for id_, _ in drawn]
    assert seconds > 1


# ------------------------------------------------------------------------------------------------------- parallel plans


@each_setting
@loaded_or_not
@each_leader
@pytest.mark.parametrize("first", [False, True], ids=["first draw", "later draw"])
def test_workers_draw_with_the_configured_node(configured, setting, preload, leader, first):
    server = configured(preload)
    for user in "plain", "super":
        with server.connect(user=user) as connection:
            if first:
                draw(connection, setting)
            assert draw_in_workers(connection, setting, leader) == {number_of(setting, CONFIGURED[setting])}
    with server.connect() as connection:
        connection.execute(f"ALTER ROLE ALL SET {setting} = '{FOREIGN[setting]}'")
    with server.connect(user="plain") as connection:
        assert draw_in_workers(connection, setting, leader) == {number_of(setting, FOREIGN[setting])}


@each_setting
@each_leader
@pytest.mark.parametrize("first", [False, True], ids=["first draw", "later draw"])
@pytest.mark.parametrize("value", [FOREIGN, DEFAULTS], ids=["foreign", "default"])
@pytest.mark.parametrize(
    ("preload", "user"), [("", "plain"), ("", "super"), ("scru", "super")], ids=["plain", "super", "super preloaded"]
)
def test_workers_of_a_session_with_connection_options(configured, setting, preload, user, leader, value, first):
    """A worker fails like its leader."""
    server = configured(preload)
    with server.connect(user=user, options=f"-c {setting}={value[setting]}") as connection:
        if first:
            with from_client(setting, value[setting]):
                draw(connection, setting)
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            draw_in_workers(connection, setting, leader)
        # If the leader takes part, it or a worker fails first.
        by_leader, by_worker = "must not be set by the connection options", "is refused in this session"
        if user == "super":
            by_worker = by_leader
        problems = {by_worker} if leader == "off" else {by_leader, by_worker}
        assert caught.value.diag.message_primary in {f'parameter "{setting}" {problem}' for problem in problems}


@each_setting
@loaded_or_not
@each_leader
def test_workers_of_a_session_that_tried_set(configured, setting, preload, leader):
    server = configured(preload)
    for user in "plain", "super":
        with server.connect(user=user) as connection:
            if not preload:
                connection.execute(f"SET {setting} = '{FOREIGN[setting]}'")
            assert draw_in_workers(connection, setting, leader) == {number_of(setting, CONFIGURED[setting])}


@each_setting
@loaded_or_not
@each_leader
def test_workers_of_a_role_with_a_setting(configured, setting, preload, leader):
    server = configured(preload)
    with server.connect() as connection:
        connection.execute(f"ALTER ROLE plain SET {setting} = '{DEFAULTS[setting]}'")
    with server.connect(user="plain") as connection:
        for _ in range(2):
            hint = f"Use ALTER ROLE ... RESET {setting}, and reconnect."
            with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
                draw_in_workers(connection, setting, leader)
            assert caught.value.diag.message_primary == f'parameter "{setting}" must not be set by ALTER ROLE'
            assert caught.value.diag.message_hint == hint


@each_setting
@loaded_or_not
@each_leader
def test_workers_with_a_malformed_value(configured, setting, preload, leader):
    server = configured(preload, MALFORMED)
    with server.connect(user="plain") as connection:
        for _ in range(2):
            with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
                draw_in_workers(connection, setting, leader)
            message = f'invalid value for parameter "{setting}": "{MALFORMED[setting]}"'
            assert caught.value.diag.message_primary == message


@each_setting
@loaded_or_not
@each_leader
@pytest.mark.parametrize("first", [False, True], ids=["first draw", "later draw"])
def test_workers_of_an_old_session(configured, setting, preload, leader, first):
    """A session that started before a node was stored keeps the configured one or the default, and so do its workers,
    which start later."""
    server = configured(preload)
    with server.connect(user="plain") as old, server.connect() as connection:
        if first:
            draw(old, setting)
        connection.execute(f"ALTER ROLE ALL SET {setting} = '{FOREIGN[setting]}'")
        assert draw_in_workers(old, setting, leader) == {number_of(setting, CONFIGURED[setting])}
    server = configured(preload, {})
    with server.connect(user="plain") as old, server.connect() as connection:
        if first:
            draw(old, setting)
        connection.execute(f"ALTER ROLE ALL SET {setting} = '{CONFIGURED[setting]}'")
        numbers = draw_in_workers(old, setting, leader)
        # A stand-alone ulidflake has random bits in place of the number.
        assert numbers == {0} if setting == NODE else len(numbers) > 1
        assert draw_in_workers(server.connect(), setting, leader) == {number_of(setting, CONFIGURED[setting])}
