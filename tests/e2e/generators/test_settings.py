"""The settings: who may change them, their values, and their scope. Misspelled settings are rejected.

test_settings_sources.py has the sources that may set the settings which decide uniqueness.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq import TransactionStatus

import expect
from idtypes import SCRU64
from server import Server, wait_until

# ----------------------------------------------------------------------------------------------- scru.on_clock_rollback

SETTING = "scru.on_clock_rollback"


@pytest.fixture
def user(plain_user, database):
    """A connection of an ordinary user."""
    with database.connect(user=plain_user) as connection:
        yield connection


def show(connection, setting: str = SETTING) -> str:
    """Returns the value of a setting."""
    return connection.execute(f"SHOW {setting}").fetchone()[0]


def test_a_plain_user_changes_it(user):
    user.execute("SELECT gen_scru128()")
    assert show(user) == "reset"
    for value in "error", "reset", "ERROR", "Reset":
        user.execute(f"SET {SETTING} = '{value}'")
        assert show(user) == value.lower()
        assert user.execute("SELECT gen_scru128() IS NOT NULL").fetchone() == (True,)
    user.execute(f"SET {SETTING} = error; RESET {SETTING}")
    assert show(user) == "reset"


@pytest.mark.parametrize("value", ["", "on", "resets", "1", "reset, error", "éa"])
def test_other_values_are_refused(user, value):
    user.execute("SELECT gen_scru128()")
    message = f'invalid value for parameter "{SETTING}": "{value}"'
    with expect.error(expect.INVALID_SETTING, message, hint="Available values: reset, error."):
        user.execute("SELECT set_config(%s, %s, false)", [SETTING, value])
    assert show(user) == "reset"


def test_it_is_described(connection):
    connection.execute("SELECT gen_scru128()")
    row = connection.execute(
        "SELECT setting, boot_val, enumvals, context, vartype, short_desc <> '' FROM pg_settings WHERE name = %s",
        [SETTING],
    ).fetchone()
    assert row == ("reset", "reset", ["reset", "error"], "user", "enum", True)


def test_it_holds_for_a_transaction(user):
    user.execute("SELECT gen_scru128()")
    with user.transaction():
        user.execute(f"SET LOCAL {SETTING} = error")
        assert show(user) == "error"
    assert show(user) == "reset"


def test_it_can_be_set_before_the_library_is_loaded(database):
    """Connection options and SET may set it before the library is loaded. When the library is loaded, an invalid
    value is rejected with a warning."""
    with database.connect(options=f"-c {SETTING}=error") as connection:
        connection.execute("SELECT gen_scru128()")
        assert show(connection) == "error"
    with database.connect() as connection:
        warnings = []
        connection.add_notice_handler(lambda diag: warnings.append((diag.severity_nonlocalized, diag.message_primary)))
        connection.execute(f"SET {SETTING} = nonsense")
        connection.execute("SELECT gen_scru128()")
        assert warnings == [("WARNING", f'invalid value for parameter "{SETTING}": "nonsense"')]
        assert show(connection) == "reset"


def test_a_database_and_a_reload_change_it(new_server):
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        connection.execute("SELECT gen_scru128()")
        server.reload(**{SETTING: "error"})
        with server.connect() as new:
            new.execute("SELECT gen_scru128()")
            assert show(new) == "error"
            new.execute(f"ALTER DATABASE postgres SET {SETTING} = reset")
    with server.connect() as connection:
        connection.execute("SELECT gen_scru128()")
        assert show(connection) == "reset"
        assert connection.info.transaction_status == TransactionStatus.IDLE


def test_unknown_setting_names_are_rejected(connection):
    """A misspelled setting of the extension is an error, not a setting without effect."""
    connection.execute("SELECT gen_scru128()")
    with expect.error(
        "42602", 'invalid configuration parameter name "scru.on_clock_rolback"', '"scru" is a reserved prefix.'
    ):
        connection.execute("SET scru.on_clock_rolback = error")


# ---------------------------------------------------------------------------------------- the settings of generators


DEFAULTS = {
    "scru.scru64_node": "0/4",
    "scru.ulidflake_scalability": "-1",
    "scru.ulidflake_entropy_bits": "8",
    "scru.scru160_counter": "random",
}
OTHERS = {
    "scru.scru64_node": "9/8",
    "scru.ulidflake_scalability": "7",
    "scru.ulidflake_entropy_bits": "3",
    "scru.scru160_counter": "microsecond",
}
DECIDING = ("scru.scru64_node", "scru.ulidflake_scalability")
"""Settings that decide uniqueness. ALTER ROLE ALL and ALTER DATABASE can set them: see test_settings_sources.py."""

WHO_MAY = (
    "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must have"
    " the same value."
)
each_setting = pytest.mark.parametrize("setting", DEFAULTS)


def load_library(connection) -> None:
    """Loads the library, which defines the extension's settings in the session."""
    connection.execute("SELECT gen_scru128()")


def execute(server, statement: str) -> None:
    """Executes a statement in a new session, which has not loaded the library."""
    with server.connect() as connection:
        connection.execute(statement)


@pytest.fixture(scope="module")
def one_server() -> Iterator[Server]:
    """A server that the tests of this module share."""
    with Server() as server:
        execute(server, "CREATE EXTENSION scru")
        yield server


@pytest.fixture
def own_server(one_server) -> Iterator[Server]:
    """The shared server. Restores its settings after the test."""
    settings = dict(one_server.settings)
    yield one_server
    one_server.settings = settings
    one_server.reload()


@pytest.fixture(scope="module")
def session_with_library(one_server) -> Iterator[psycopg.Connection]:
    """A session that has loaded the library, for tests that change nothing."""
    with one_server.connect() as connection:
        load_library(connection)
        yield connection


# ----------------------------------------------------------------------------------------------------- who may set them


def refusals(setting: str) -> dict[bool, tuple[str, str]]:
    """Returns SQLSTATE and message of the error of SET, for a superuser (`True`) and for other users (`False`)."""
    for_all = (expect.CANNOT_CHANGE_NOW, f'parameter "{setting}" cannot be changed now')
    privilege = ("42501", f'permission denied to set parameter "{setting}"')
    return {True: for_all, False: privilege if setting in DECIDING else for_all}


@each_setting
def test_no_session_changes_them(connection, database, plain_user, setting):
    """Not even a superuser's session can change them: two sessions with different values could generate the same ID."""
    for superuser, session in (True, connection), (False, database.connect(user=plain_user)):
        load_library(session)
        detail = WHO_MAY if superuser and setting in DECIDING else None
        for value in OTHERS[setting], DEFAULTS[setting]:
            with expect.error(*refusals(setting)[superuser], detail):
                session.execute(f"SET {setting} = '{value}'")
        with expect.error(*refusals(setting)[superuser], detail):
            session.execute("SELECT set_config(%s, %s, true)", [setting, OTHERS[setting]])
        assert show(session, setting) == DEFAULTS[setting]


@each_setting
@pytest.mark.parametrize("superuser", [True, False])
def test_values_set_before_the_library_is_loaded_are_discarded(database, plain_user, setting, superuser):
    """A value of SET or of the connection options is discarded when the library is loaded. The exception is a setting
    that decides uniqueness in a superuser's connection options."""
    user = {} if superuser else {"user": plain_user}
    with database.connect(**user) as connection:
        warnings = []
        connection.add_notice_handler(lambda diag: warnings.append((diag.sqlstate, diag.message_primary)))
        connection.execute(f"SET {setting} = '{OTHERS[setting]}'")
        load_library(connection)
        assert show(connection, setting) == DEFAULTS[setting]
        assert warnings == [refusals(setting)[superuser]]
    with database.connect(options=f"-c {setting}={OTHERS[setting]}", **user) as connection:
        load_library(connection)
        # With an option for a setting that decides uniqueness, generation fails: see test_settings_sources.py.
        is_shown = superuser and setting in DECIDING
        assert show(connection, setting) == (OTHERS if is_shown else DEFAULTS)[setting]


@each_setting
def test_a_setting_removed_from_the_file_has_its_default(own_server, setting):
    """A removed setting has its default, even in a session that has a placeholder for it until it loads the library."""
    own_server.reload(**{setting: OTHERS[setting]})
    del own_server.settings[setting]
    own_server.reload()
    with own_server.connect() as connection:
        assert connection.execute("SELECT gen_scru64(), gen_ulidflake(), gen_scru160()").rowcount == 1
        assert show(connection, setting) == DEFAULTS[setting]


@pytest.mark.parametrize("setting", sorted(DEFAULTS.keys() - DECIDING))
def test_no_role_and_no_database_has_its_own(own_server, setting):
    for target in "ROLE postgres", "DATABASE postgres", "ROLE postgres IN DATABASE postgres":
        alter = f"ALTER {target} SET {setting} = '{OTHERS[setting]}'"
        with own_server.connect() as connection:
            load_library(connection)
            with expect.error(expect.CANNOT_CHANGE_NOW, f'parameter "{setting}" cannot be changed now'):
                connection.execute(alter)
        # Before the library is loaded, the server accepts any custom setting; it has no effect.
        execute(own_server, alter)
        with own_server.connect() as connection:
            load_library(connection)
            assert show(connection, setting) == DEFAULTS[setting]
        execute(own_server, f"ALTER {target} RESET ALL")


@each_setting
def test_alter_system_and_reload_reach_running_sessions(own_server, setting):
    with own_server.connect() as connection, own_server.connect() as fresh:
        load_library(connection)
        connection.execute(f"ALTER SYSTEM SET {setting} = '{OTHERS[setting]}'")
        assert show(connection, setting) == DEFAULTS[setting]
        connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: show(connection, setting) == OTHERS[setting], "the session has the new value")
        load_library(fresh)
        wait_until(
            lambda: show(fresh, setting) == OTHERS[setting], "a session that loads the library has the new value"
        )
        connection.execute(f"ALTER SYSTEM RESET {setting}")
        connection.execute("SELECT pg_reload_conf()")
        wait_until(lambda: show(connection, setting) == DEFAULTS[setting], "the session has the default")


@pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])
def test_they_are_described(new_server, preload):
    server = new_server({**OTHERS, "shared_preload_libraries": preload})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        load_library(connection)
        rows = connection.execute(
            "SELECT name, setting, boot_val, context, short_desc <> '' FROM pg_settings WHERE name = ANY(%s)",
            [[*DEFAULTS]],
        ).fetchall()
        bounds = connection.execute(
            "SELECT name, min_val, max_val FROM pg_settings"
            " WHERE name LIKE 'scru.%' AND vartype = 'integer' ORDER BY name"
        ).fetchall()
    context = {name: "superuser" if name in DECIDING else "sighup" for name in DEFAULTS}
    assert sorted(rows) == sorted((name, OTHERS[name], DEFAULTS[name], context[name], True) for name in DEFAULTS)
    assert bounds == [("scru.ulidflake_entropy_bits", "1", "16"), ("scru.ulidflake_scalability", "-1", "31")]


# --------------------------------------------------------------------------------------------------------------- values

ONE_SLASH = 'A node is specified as node_id/node_id_size with one slash, such as "42/8".'


def wrong_size(size: str) -> str:
    """Returns the DETAIL for an invalid size."""
    return f'The node_id_size after the slash must be a number from 1 to 23, not "{size}".'


def wrong_node(node: str) -> str:
    """Returns the DETAIL for an invalid node."""
    return (
        f'"{node}" before the slash is neither a node_id of at most 8 characters, decimal or hexadecimal with "0x", nor'
        " a SCRU64 ID of 12 digits."
    )


def wrong_id(node: str, why: str) -> str:
    """Returns the DETAIL for an invalid previous ID."""
    return f'"{node}" before the slash is not a valid SCRU64 ID: {why}.'


def too_large(node: str, size: int) -> str:
    """Returns the DETAIL for a node that does not fit into the size."""
    return f"The node_id {node} does not fit into a node_id_size of {size}."


MALFORMED_NODES = {
    "": ONE_SLASH, "42": ONE_SLASH, "42/8/8": ONE_SLASH,
    "/": wrong_size(""), "42/": wrong_size(""), "/8": wrong_node(""),
    "1/0": wrong_size("0"), "1/24": wrong_size("24"), "1/-1": wrong_size("-1"), "1/+8": wrong_size("+8"),
    "1/ 8": wrong_size(" 8"), "1/8 ": wrong_size("8 "), "1/0x8": wrong_size("0x8"), "1/0008": wrong_size("0008"),
    "1/eight": wrong_size("eight"), "1/99999999999": wrong_size("99999999999"),
    " 1/8": wrong_node(" 1"), "-1/8": wrong_node("-1"), "+1/8": wrong_node("+1"), "0x/8": wrong_node("0x"),
    "0x+1/8": wrong_node("0x+1"), "0xg/8": wrong_node("0xg"), "b00/12": wrong_node("b00"), "1.0/8": wrong_node("1.0"),
    "000000001/8": wrong_node("000000001"), "é/8": wrong_node("é"), "0u2r85hm2pt/16": wrong_node("0u2r85hm2pt"),
    "0u2r85hm2pt33/16": wrong_node("0u2r85hm2pt33"), "99999999/23": too_large("99999999", 23),
    "256/8": too_large("256", 8), "0x100/8": too_large("0x100", 8), "2/1": too_large("2", 1),
    "0u2r85hm2p_3/16": wrong_id("0u2r85hm2p_3", "invalid digit at position 11"),
}  # fmt: skip


def assert_is_refused(connection, setting: str, value: str, detail: str | None, hint: str | None) -> None:
    """Checks that ALTER SYSTEM rejects a value."""
    message = f'invalid value for parameter "{setting}": "{value}"'
    with expect.error(expect.INVALID_SETTING, message, detail, hint):
        connection.execute(f"ALTER SYSTEM SET {setting} = '{value}'")


@pytest.mark.parametrize("value", MALFORMED_NODES)
def test_malformed_nodes_are_refused(session_with_library, value):
    assert_is_refused(session_with_library, "scru.scru64_node", value, MALFORMED_NODES[value], None)


@pytest.mark.parametrize(
    ("setting", "bounds", "values"),
    [
        ("scru.ulidflake_scalability", "-1 .. 31", (-2, 32, 2147483647)),
        ("scru.ulidflake_entropy_bits", "1 .. 16", (-1, 0, 17)),
    ],
)
def test_numbers_out_of_bounds_are_refused(session_with_library, setting, bounds, values):
    for value in values:
        message = f'{value} is outside the valid range for parameter "{setting}" ({bounds})'
        with expect.error(expect.INVALID_SETTING, message):
            session_with_library.execute(f"ALTER SYSTEM SET {setting} = {value}")
    assert_is_refused(session_with_library, setting, "many", None, None)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("scru.generator_scope", "session, server"),
        ("scru.scru160_counter", "random, microsecond"),
        ("scru.ulidflake_on_overflow", "wait, error"),
    ],
)
def test_other_words_are_refused(session_with_library, setting, words):
    for value in "", "default", words:
        assert_is_refused(session_with_library, setting, value, None, f"Available values: {words}.")


def test_a_malformed_node_in_the_file_leaves_the_old_one(own_server):
    own_server.reload(**{"scru.scru64_node": "5/8"})
    with own_server.connect() as connection:
        load_library(connection)
        own_server.reload(**{"scru.scru64_node": "300/8"})
        assert show(connection, "scru.scru64_node") == "5/8"
        assert connection.execute("SELECT scru64_node_id(gen_scru64(), 8)").fetchone() == (5,)


def test_a_malformed_node_in_the_file_leaves_the_old_one_if_preloaded(new_server):
    server = new_server({"shared_preload_libraries": "scru", "scru.scru64_node": "5/8"})
    execute(server, "CREATE EXTENSION scru")
    server.reload(**{"scru.scru64_node": "300/8"})
    assert too_large("300", 8) in server.log_text()
    assert server.value("SELECT scru64_node_id(gen_scru64(), 8)") == 5


@pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])
@pytest.mark.parametrize(
    ("type_", "setting", "malformed", "default", "log"),
    [
        ("scru64", "scru64_node", "300/8", "0/4", too_large("300", 8)),
        ("ulidflake", "ulidflake_scalability", "32", "-1", "32 is outside the valid range for parameter"),
    ],
)
def test_a_malformed_value_at_the_start(new_server, preload, type_, setting, malformed, default, log):
    """As for any extension's setting, the server logs a warning with the reason, and uses the default. Because the
    default may be another server's, generation fails until the value is corrected, even if it is corrected to the
    default."""
    server = new_server({"shared_preload_libraries": preload, f"scru.{setting}": malformed})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        load_library(connection)
        assert show(connection, f"scru.{setting}") == default
        for _ in range(2):
            with expect.error(
                expect.INVALID_SETTING,
                f'invalid value for parameter "scru.{setting}": "{malformed}"',
                "It is set by the configuration file."
                " The default is not used instead, because it may be another server's.",
                "Correct it in the configuration file, and reload.",
            ):
                connection.execute(f"SELECT gen_{type_}()")
            # A change of another setting does not help.
            connection.execute("SET scru.ulidflake_on_overflow = 'wait'")
        connection.execute("SELECT gen_scru128(), gen_ulid(), gen_scru160()")
        server.reload(**{f"scru.{setting}": default})
        connection.execute(f"SELECT gen_{type_}()")
    with server.connect() as connection:
        connection.execute(f"SELECT gen_{type_}()")
    assert log in server.log_text()


# -------------------------------------------------------------------------------------------------------------- effects


@pytest.mark.parametrize(
    ("node", "size", "node_id"),
    [("42/8", 8, 42), ("0xb00/12", 12, 0xB00), ("0XFF/8", 8, 255), ("1/1", 1, 1), ("0/23", 23, 0)],
)
def test_the_node_is_in_the_ids(own_server, node, size, node_id):
    own_server.reload(**{"scru.scru64_node": node})
    with own_server.connect() as connection:
        query = f"SELECT DISTINCT scru64_node_id(gen_scru64(), {size}) FROM generate_series(1, 6)"
        assert connection.execute(query).fetchall() == [(node_id,)]
        assert show(connection, "scru.scru64_node") == node


def test_the_node_can_be_a_previous_id(own_server):
    """A previous ID sets the node, and the next ID is greater even if the clock is behind it."""
    with own_server.connect() as connection:
        connection.execute("SELECT gen_scru64()")
        query = "SELECT scru64_upper(clock_timestamp() + '0.7 s')::text"
        [(previous,)] = connection.execute(query)
    own_server.reload(**{"scru.scru64_node": f"{previous}/16"})
    with own_server.connect() as connection:
        [(first, node)] = connection.execute("SELECT id::text, scru64_node_id(id, 16) FROM gen_scru64() AS id")
    assert previous < first
    assert node == (SCRU64.value(previous) & 0xFFFFFF) >> 8


def test_the_microsecond_is_in_the_counter(own_server):
    """With `microsecond`, the specification's alternative, the upper 10 bits of the counter are 0 to 999."""
    own_server.reload(**{"scru.scru160_counter": "microsecond"})
    with own_server.connect() as connection:
        source = "SELECT gen_scru160() AS id FROM generate_series(1, 20000) OFFSET 0"
        query = f"SELECT scru160_counter(id) >> 6 FROM ({source}) AS t"
        micros = [micro for (micro,) in connection.execute(query)]
        assert min(micros) >= 0 and max(micros) <= 999 and len(set(micros)) > 500
        ids = [id_ for (id_,) in connection.execute("SELECT gen_scru160()::text FROM generate_series(1, 20000)")]
    assert ids == sorted(set(ids))


def test_the_microsecond_is_that_of_the_clock(new_server, clock):
    server = new_server({"scru.scru160_counter": "microsecond"}, clock.environment)
    clock.freeze("2030-01-01 00:00:00.123456")
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
        [(micros, low, milliseconds)] = connection.execute(
            "SELECT scru160_counter(id) >> 6, scru160_counter(id) & 63, to_char(scru160_timestamp(id), 'MS')"
            " FROM gen_scru160() AS id"
        )
    assert (micros, milliseconds) == (456, "123")
    assert low < 32


def test_the_number_is_in_the_ulidflakes(own_server):
    own_server.reload(**{"scru.ulidflake_scalability": "7"})
    with own_server.connect() as connection:
        connection.execute("CREATE TABLE drawn AS SELECT gen_ulidflake() AS id FROM generate_series(1, 10000)")
        assert connection.execute("SELECT DISTINCT ulidflake_scalability(id) FROM drawn").fetchall() == [(7,)]
        assert connection.execute("SELECT count(DISTINCT id) FROM drawn").fetchone() == (10_000,)


@pytest.mark.parametrize("bits", [1, 3, 8])
@pytest.mark.parametrize("number", ["-1", "31"])
def test_steps_use_the_entropy_bits(own_server, bits, number):
    """Within a millisecond each ulidflake exceeds the one before by 1 to 2^bits - 1, so by exactly 1 with one bit. All
    of these steps occur."""
    own_server.reload(**{"scru.ulidflake_entropy_bits": str(bits), "scru.ulidflake_scalability": number})
    randomness = "ulidflake_randomness" if number == "-1" else "ulidflake_scalable_randomness"
    with own_server.connect() as connection:
        steps = connection.execute(
            f"SELECT DISTINCT {randomness}(id)"
            f" - lag({randomness}(id)) OVER (PARTITION BY ulidflake_timestamp(id) ORDER BY id)"
            " FROM (SELECT gen_ulidflake() AS id FROM generate_series(1, 20000) OFFSET 0) AS drawn"
        )
        found = {step for (step,) in steps if step is not None}
    assert found == set(range(1, 1 << bits))


def test_scope_is_a_sessions_choice(connection):
    """A session can change the scope. The IDs of each statement are increasing in either scope."""
    for id_type in ("scru128", "ulid", "scru160"):
        for scope in "session", "server", "session", "server":
            connection.execute(f"SET scru.generator_scope = {scope}")
            ids = [id_ for (id_,) in connection.execute(f"SELECT gen_{id_type}()::text FROM generate_series(1, 500)")]
            assert ids == sorted(set(ids))
