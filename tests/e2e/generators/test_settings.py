"""scru.on_clock_rollback: who may change it, its values, and its scope. Misspelled settings are rejected."""

from __future__ import annotations

import pytest
from psycopg.pq import TransactionStatus

import expect

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
