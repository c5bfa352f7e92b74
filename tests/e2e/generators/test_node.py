"""The server's number in 64-bit IDs: failover, dumps, the log, warnings, and IDs of the local server."""

from __future__ import annotations

import re

import psycopg
import pytest

import page
from plans import analyze, prefer_parallel_plans
from programs import needs
from server import Server, wait_until

NODE, NUMBER = "scru.scru64_node", "scru.ulidflake_scalability"

loaded_or_not = pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])


def with_extension(server: Server) -> Server:
    """Creates the extension and an ordinary user, and returns the server."""
    server.psql("postgres", b"CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
    return server


def store(server: Server, setting: str, value: str) -> None:
    """Stores a setting in the catalog as docs/several-servers.md describes."""
    server.psql("postgres", f"LOAD 'scru'; ALTER ROLE ALL SET {setting} = '{value}'".encode())


def node(connection: psycopg.Connection) -> int:
    """Returns the node of a new scru64 ID."""
    return connection.execute("SELECT scru64_node_id(gen_scru64(), 4)").fetchone()[0]


@loaded_or_not
def test_a_standby_takes_over_the_stored_node(new_server, preload):
    """A promoted standby uses the stored node, even if it was created before the node was set."""
    primary = with_extension(new_server({"shared_preload_libraries": preload}))
    with primary.standby() as standby:
        store(primary, NODE, "1/4")
        store(primary, NUMBER, "5")
        standby.wait_until_replayed(primary)
        nodes = "SELECT node, details->>'node_source' FROM scru_generators() WHERE node IS NOT NULL ORDER BY type"
        assert standby.rows(nodes) == [("1/4", "ALTER ROLE ALL"), ("5", "ALTER ROLE ALL")]
        primary.kill()
        standby.promote()
        with standby.connect(user="plain") as connection:
            assert node(connection) == 1
            assert connection.execute("SELECT ulidflake_scalability(gen_ulidflake())").fetchone() == (5,)
        assert log_of(standby, "scru64") == [
            'generating scru64 with scru.scru64_node "1/4" (ALTER ROLE ALL), on timeline 2'
        ]


def test_which_dumps_include_stored_settings(new_server):
    """pg_dumpall, which pg_upgrade uses, omits settings of ALTER ROLE ALL. It includes those of ALTER DATABASE."""
    server = with_extension(new_server())
    store(server, NODE, "3/4")
    with server.connect() as connection:
        connection.execute("CREATE DATABASE other")
        connection.execute("LOAD 'scru'")
        connection.execute(f"ALTER DATABASE other SET {NODE} = '9/4'")
    dump = server.run("pg_dumpall").stdout
    of_database = b"ALTER DATABASE other SET \"scru.scru64_node\" TO '9/4';"
    for dumped, expected in (dump, [of_database]), (server.pg_dump("other"), []):
        assert re.findall(rb".*scru64_node.*", dumped) == expected
    copy = new_server()
    # One error is expected: the role that restores the dump already exists.
    copy.run("psql", "-X", "-d", "postgres", input=dump)
    with copy.connect() as connection:
        assert node(connection) == 0
    with copy.connect("other") as connection:
        connection.execute("CREATE EXTENSION scru")
        assert node(connection) == 9
    # The page's query for the stored settings.
    assert server.value(page.inline("SELECT setconfig")) == ["scru.scru64_node=3/4"]


def test_single_user_mode_takes_the_node_from_its_command_line(new_server):
    """Single-user mode does not read settings from the catalog."""
    server = with_extension(new_server())
    store(server, NODE, "3/4")
    server.stop()
    query = b"SELECT scru64_node_id(gen_scru64(), 4)\n"
    for options, number in ((), b"0"), (("-c", f"{NODE}=3/4"), b"3"):
        done = server.run("postgres", "--single", *options, "-D", server.data, "postgres", as_server=True, input=query)
        assert b'scru64_node_id = "' + number + b'"' in done.stdout
    server.start()
    with server.connect() as connection:
        assert node(connection) == 3


def log_of(server: Server, type_: str = r"\w+") -> list[str]:
    """Returns the log messages about the server's number in IDs."""
    return re.findall(rf"LOG:  (generating {type_} with .*)", server.log_text())


@loaded_or_not
def test_the_log_names_the_node_once_per_start(new_server, preload):
    """A preloaded library logs the node of each type at the start. Otherwise, the first ID of a type logs it."""
    server = with_extension(new_server({"shared_preload_libraries": preload}))
    for value, source in ("0/4", "the default"), ("2/4", "the configuration file"), ("1/4", "ALTER ROLE ALL"):
        if source == "the configuration file":
            server.settings[NODE] = value
        if source == "ALTER ROLE ALL":
            store(server, NODE, value)
        seen = len(log_of(server))
        server.restart("fast" if source == "the default" else "immediate")
        expected = [
            f'generating scru64 with scru.scru64_node "{value}" ({source}), on timeline 1',
            'generating ulidflake with scru.ulidflake_scalability "-1" (the default), on timeline 1',
        ]
        if preload:
            wait_until(lambda: sorted(log_of(server)[seen:]) == expected, "the log has both lines")  # noqa: B023
        assert preload or log_of(server)[seen:] == []
        for user in "plain", "postgres":
            with server.connect(user=user) as connection:
                connection.execute("SELECT gen_scru64(), gen_ulidflake() FROM generate_series(1, 3)")
        assert sorted(log_of(server)[seen:]) == expected


@loaded_or_not
def test_the_log_names_the_node_again_when_it_changes(new_server, preload):
    """A new session has the stored node. A session that draws while the configuration file changes logs it, too."""
    server = with_extension(new_server({"shared_preload_libraries": preload}))
    line = 'generating scru64 with scru.scru64_node "{}" ({}), on timeline 1'
    with server.connect() as connection:
        assert node(connection) == 0
        expected = [line.format("0/4", "the default")]
        assert log_of(server, "scru64") == expected
        server.reload(**{NODE: "2/4"})
        wait_until(lambda: node(connection) == 2, "the session has the new node")
        expected.append(line.format("2/4", "the configuration file"))
        assert log_of(server, "scru64") == expected
    store(server, NODE, "1/4")
    for user in "plain", "postgres":
        with server.connect(user=user) as connection:
            assert node(connection) == 1
    expected.append(line.format("1/4", "ALTER ROLE ALL"))
    assert log_of(server, "scru64") == expected
    with server.connect() as connection:
        connection.execute("LOAD 'scru'")
        connection.execute("CREATE DATABASE other TEMPLATE postgres")
        connection.execute(f"ALTER DATABASE other SET {NODE} = '3/4'")
    expected.append(line.format("3/4", "ALTER DATABASE"))
    for dbname in ("other", "postgres") * 2:
        with server.connect(dbname) as connection:
            assert node(connection) == {"other": 3, "postgres": 1}[dbname]
    assert log_of(server, "scru64") == expected, "sessions of the two databases alternate"


BY_ROLE = "with ALTER ROLE ALL SET"
ON_CITUS = (
    "(on the coordinator in its configuration file, on workers with ALTER ROLE ALL SET while"
    " citus.enable_alter_role_set_propagation is off)"
)


def warnings_of(connection: psycopg.Connection) -> list[tuple]:
    """Returns a list to which the connection's notices are added from now on."""
    warnings = []
    connection.add_notice_handler(
        lambda diag: warnings.append(
            (diag.severity, diag.sqlstate, diag.message_primary, diag.message_detail, diag.message_hint)
        )
    )
    return warnings


@pytest.fixture(params=["subscription", pytest.param("pglogical", marks=needs("pglogical")), "Citus"])
def one_of_several(request, new_server) -> tuple[Server, str, str]:
    """A server with a subscription, one of pglogical, or settings of Citus; the DETAIL and place of its warnings."""
    if request.param == "Citus":
        reason = "This server is a Citus node, and other nodes may have the same value."
        return with_extension(new_server({"citus.shard_count": "32"})), reason, ON_CITUS
    settings = {"wal_level": "logical", "shared_preload_libraries": request.param.removeprefix("subscription")}
    server = with_extension(new_server(settings))
    # The subscription is in another database.
    with server.connect("postgres" if request.param == "pglogical" else "template1") as connection:
        connection.execute(
            """CREATE EXTENSION pglogical;
               SELECT pglogical.create_node('here', 'host=/none dbname=postgres');
               INSERT INTO pglogical.subscription
               SELECT 1, 'other', node_id, node_id, if_id, if_id, false, 'other', '{}'
               FROM pglogical.node JOIN pglogical.node_interface ON if_nodeid = node_id"""
            if request.param == "pglogical"
            else "CREATE SUBSCRIPTION other CONNECTION 'host=/none' PUBLICATION other WITH (connect = false)"
        )
    return server, "This server subscribes to another one, which may have the same value.", BY_ROLE


def test_a_session_is_warned_once_where_the_node_is_not_set(one_of_several):
    """On a Citus node, only the first session after a start is warned: one statement can open many connections. Workers
    leave the warning to their leader."""
    server, reason, place = one_of_several
    messages = {
        name: f'{name} is not set, and its default "{default}" may not be unique among servers'
        for name, default in ((NODE, "0/4"), (NUMBER, "-1"))
    }
    expected = [
        ("WARNING", "01000", message, reason, f"Give each server its own {name} {place}, and reconnect.")
        for name, message in messages.items()
    ]
    server.psql("postgres", b"CREATE TABLE rows AS SELECT generate_series(1, 1000); GRANT SELECT ON rows TO plain")
    drawn = "SELECT gen_scru64(), gen_ulidflake() FROM generate_series(1, 3)"
    for _ in range(2):
        server.restart()
        for user, is_warned in ("plain", True), ("postgres", place == BY_ROLE):
            with server.connect(user=user) as connection:
                warnings = warnings_of(connection)
                connection.execute("SELECT gen_scru128(), gen_ulid(), gen_scru160()")
                prefer_parallel_plans(connection)
                connection.execute("SET parallel_leader_participation = off")
                assert analyze(connection, "SELECT gen_scru64() FROM rows")["Workers Launched"] > 0
                assert warnings == []
                for _ in range(2):
                    connection.execute(drawn)
                    assert warnings == (expected if is_warned else [])
    assert all(f"WARNING:  {message}" in server.log_text() for message in messages.values())
    store(server, NODE, "0/4")
    store(server, NUMBER, "-1")
    with server.connect(user="plain") as connection:
        warnings = warnings_of(connection)
        connection.execute(drawn)
        assert warnings == []


def test_a_single_server_is_not_warned(new_server):
    """Nor is a session while the catalog is locked, which delays no generation."""
    server = with_extension(new_server())
    with server.connect() as locker, locker.transaction():
        for lock in "SELECT", "LOCK pg_subscription IN ACCESS EXCLUSIVE MODE":
            locker.execute(lock)
            with server.connect() as connection:
                warnings = warnings_of(connection)
                connection.execute("SET statement_timeout = '5s'")
                connection.execute("SELECT gen_scru64(), gen_ulidflake()")
                assert warnings == []


def test_which_ids_are_local(new_server):
    server = with_extension(new_server({NODE: "5/8", NUMBER: "7"}))
    of_scru64 = "SELECT scru64_is_local(((1::bigint << 24 | {} << 16) | 65535)::scru64)"
    of_ulidflake = "SELECT ulidflake_is_local((1::bigint << 20 | {})::ulidflake)"
    with server.connect() as connection:
        own = "SELECT scru64_is_local(gen_scru64()) AND ulidflake_is_local(gen_ulidflake())"
        assert connection.execute(own).fetchone() == (True,)
        for query, count, local in (of_scru64, 256, [5]), (of_ulidflake, 128, [7, 39, 71, 103]):
            assert [n for n in range(count) if connection.execute(query.format(n)).fetchone() == (True,)] == local
        server.reload(**{NUMBER: "-1"})
        stand_alone = "SELECT ulidflake_is_local(id) FROM generate_series(1, 64) AS n, gen_ulidflake() AS id GROUP BY 1"
        wait_until(lambda: connection.execute(f"SHOW {NUMBER}").fetchone() == ("-1",), "the session has the new value")
        assert connection.execute(stand_alone).fetchall() == [(False,)]
    # If generation fails, so does the function, instead of returning a wrong answer.
    with server.connect(options=f"-c {NODE}=0/8") as connection, pytest.raises(psycopg.errors.InvalidParameterValue):
        connection.execute("SELECT scru64_is_local(scru64_lower(now()))")
