"""The server's number in 64-bit IDs: failover, dumps, the log, warnings, and IDs of the local server."""

from __future__ import annotations

import re

import psycopg
import pytest

import page
from programs import needs
from server import Server, wait_until

NODE, NUMBER = "scru.scru64_node", "scru.ulidflake_scalability"

loaded_or_not = pytest.mark.parametrize("preload", ["", "scru"], ids=["not preloaded", "preloaded"])


def with_extension(server: Server) -> Server:
    """Creates the extension and an ordinary user, and returns the server."""
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
    return server


def store(server: Server, setting: str, value: str) -> None:
    """Stores a setting in the catalog as docs/several-servers.md describes."""
    with server.connect() as connection:
        connection.execute(f"LOAD 'scru'; ALTER ROLE ALL SET {setting} = '{value}'")


def node(connection: psycopg.Connection) -> int:
    """Returns the node of a new scru64 ID."""
    return connection.execute("SELECT scru64_node_id(gen_scru64(), 4)").fetchone()[0]


# ------------------------------------------------------------------------------------------------------------- failover


@loaded_or_not
def test_a_standby_takes_over_the_stored_node(new_server, preload):
    """A promoted standby uses the stored node, even if it was created before the node was set."""
    primary = with_extension(new_server({"shared_preload_libraries": preload}))
    standby = primary.standby()
    try:
        store(primary, NODE, "1/4")
        store(primary, NUMBER, "5")
        with primary.connect(user="plain") as connection:
            assert node(connection) == 1
        standby.wait_until_replayed(primary)
        nodes = "SELECT node, details->>'node_source' FROM scru_generators() WHERE node IS NOT NULL ORDER BY type"
        assert standby.rows(nodes) == [("1/4", "ALTER ROLE ALL"), ("5", "ALTER ROLE ALL")]
        primary.kill()
        standby.promote()
        with standby.connect(user="plain") as connection:
            assert node(connection) == 1
            number = connection.execute("SELECT ulidflake_scalability(gen_ulidflake())").fetchone()
            assert number == (5,)
        assert log_of(standby, "scru64") == [
            'generating scru64 with scru.scru64_node "1/4" (ALTER ROLE ALL), on timeline 2'
        ]
    finally:
        standby.remove()


def test_a_standby_does_not_receive_alter_system(new_server):
    """ALTER SYSTEM writes a file of the primary, so a standby created earlier has the default after its promotion."""
    primary = with_extension(new_server())
    standby = primary.standby()
    try:
        with primary.connect() as connection:
            connection.execute("LOAD 'scru'")
            connection.execute(f"ALTER SYSTEM SET {NODE} = '1/4'")
        primary.reload()
        with primary.connect() as connection:
            assert node(connection) == 1
        standby.wait_until_replayed(primary)
        standby.promote()
        with standby.connect() as connection:
            assert node(connection) == 0
    finally:
        standby.remove()


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
    assert re.findall(rb".*scru64_node.*", dump) == [of_database]
    assert re.findall(rb".*scru64_node.*", server.run("pg_dumpall", "--globals-only").stdout) == []
    assert re.findall(rb".*scru64_node.*", server.pg_dump("other", "--create")) == [of_database]
    assert re.findall(rb".*scru64_node.*", server.pg_dump("other")) == []
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


# -------------------------------------------------------------------------------------------------------------- the log


def log_of(server: Server, type_: str) -> list[str]:
    """Returns the log messages about the server's number in IDs of a type."""
    return re.findall(rf"LOG:  (generating {type_} with .*)", server.log_text())


@loaded_or_not
def test_the_log_names_the_node_once_per_start(new_server, preload):
    """A preloaded library logs the node of each type at the start. Otherwise, the first ID of a type logs it."""
    server = with_extension(new_server({"shared_preload_libraries": preload}))
    ulidflake = 'generating ulidflake with scru.ulidflake_scalability "-1" (the default), on timeline 1'
    lines = {"scru64": [], "ulidflake": [ulidflake] if preload else []}
    wait_until(lambda: log_of(server, "ulidflake") == lines["ulidflake"], "the log has the line")
    for value, source in ("0/4", "the default"), ("2/4", "the configuration file"), ("1/4", "ALTER ROLE ALL"):
        if source == "the configuration file":
            server.settings[NODE] = value
        if source == "ALTER ROLE ALL":
            store(server, NODE, value)
        for mode in "fast", "immediate":
            lines["scru64"] = log_of(server, "scru64")
            server.restart(mode)
            lines["scru64"].append(f'generating scru64 with scru.scru64_node "{value}" ({source}), on timeline 1')
            if preload:
                lines["ulidflake"].append(ulidflake)
                wait_until(lambda: log_of(server, "ulidflake") == lines["ulidflake"], "the log has both lines")
                assert log_of(server, "scru64") == lines["scru64"]
            for user in "plain", "postgres":
                with server.connect(user=user) as connection:
                    connection.execute("SELECT gen_scru64() FROM generate_series(1, 3)")
            assert log_of(server, "scru64") == lines["scru64"]
            assert log_of(server, "ulidflake") == lines["ulidflake"]
    with server.connect() as connection:
        connection.execute("SELECT gen_ulidflake()")
    assert log_of(server, "ulidflake") == (lines["ulidflake"] or [ulidflake])


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


# ---------------------------------------------------------------------------------------------------------- the warning

UNSET = {
    "scru64": 'scru.scru64_node is not set, and its default "0/4" may not be unique among servers',
    "ulidflake": 'scru.ulidflake_scalability is not set, and its default "-1" may not be unique among servers',
}
PLACE = {
    "subscription": "with ALTER ROLE ALL SET",
    "pglogical": "with ALTER ROLE ALL SET",
    "Citus": "(on the coordinator in its configuration file, on workers with ALTER ROLE ALL SET while"
    " citus.enable_alter_role_set_propagation is off)",
}


def hint(type_: str, place: str) -> str:
    """Returns the HINT of a warning."""
    name = {"scru64": NODE, "ulidflake": NUMBER}[type_]
    return f"Give each server its own {name} {place}, and reconnect."


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
    place = PLACE[request.param]
    if request.param == "Citus":
        reason = "This server is a Citus node, and other nodes may have the same value."
        return with_extension(new_server({"citus.shard_count": "32"})), reason, place
    subscribes = "This server subscribes to another one, which may have the same value."
    if request.param == "pglogical":
        server = with_extension(new_server({"wal_level": "logical", "shared_preload_libraries": "pglogical"}))
        with server.connect() as connection:
            connection.execute(
                """CREATE EXTENSION pglogical;
                   SELECT pglogical.create_node('here', 'host=/none dbname=postgres');
                   INSERT INTO pglogical.subscription
                   SELECT 1, 'other', node_id, node_id, if_id, if_id, false, 'other', '{}'
                   FROM pglogical.node JOIN pglogical.node_interface ON if_nodeid = node_id"""
            )
        return server, subscribes, place
    server = with_extension(new_server({"wal_level": "logical"}))
    # The subscription is in another database.
    with server.connect("template1") as connection:
        connection.execute("CREATE SUBSCRIPTION other CONNECTION 'host=/none' PUBLICATION other WITH (connect = false)")
    return server, subscribes, place


@pytest.mark.parametrize("type_", ["scru64", "ulidflake"])
def test_a_session_is_warned_once_where_the_node_is_not_set(one_of_several, type_):
    """On a Citus node, only the first session after a start is warned: one statement can open many connections."""
    server, reason, place = one_of_several
    expected = [("WARNING", "01000", UNSET[type_], reason, hint(type_, place))]
    for user in "plain", "postgres", None, "plain":
        if user is None:
            server.restart()
            expected = expected or [("WARNING", "01000", UNSET[type_], reason, hint(type_, place))]
            continue
        with server.connect(user=user) as connection:
            warnings = warnings_of(connection)
            connection.execute("SELECT gen_scru128(), gen_ulid(), gen_scru160()")
            assert warnings == []
            for _ in range(2):
                connection.execute(f"SELECT gen_{type_}() FROM generate_series(1, 3)")
                assert warnings == expected
        assert f"WARNING:  {UNSET[type_]}" in server.log_text()
        if place == PLACE["Citus"]:
            expected = []
    store(server, *{"scru64": (NODE, "0/4"), "ulidflake": (NUMBER, "-1")}[type_])
    with server.connect(user="plain") as connection:
        warnings = warnings_of(connection)
        connection.execute(f"SELECT gen_{type_}()")
        assert warnings == []


def test_workers_leave_the_warning_to_their_leader(new_server):
    server = with_extension(new_server({"citus.shard_count": "32"}))
    reason = "This server is a Citus node, and other nodes may have the same value."
    with server.connect() as connection:
        connection.execute(
            """CREATE TABLE rows AS SELECT generate_series(1, 1000); ANALYZE rows;
               SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
               SET parallel_leader_participation = off"""
        )
        warnings = warnings_of(connection)
        plan = connection.execute("EXPLAIN (ANALYZE, VERBOSE) SELECT gen_scru64() FROM rows").fetchall()
        assert "Workers Launched: 0" not in str(plan) and "Workers Launched" in str(plan)
        assert warnings == []
        connection.execute("SELECT gen_scru64()")
        assert warnings == [("WARNING", "01000", UNSET["scru64"], reason, hint("scru64", PLACE["Citus"]))]


def test_a_locked_catalog_delays_no_generation(new_server):
    """If the catalog is locked, the warning is omitted."""
    server = with_extension(new_server())
    with server.connect() as locker, server.connect() as connection, locker.transaction():
        locker.execute("LOCK pg_subscription IN ACCESS EXCLUSIVE MODE")
        connection.execute("SET statement_timeout = '5s'")
        assert node(connection) == 0


def test_a_single_server_is_not_warned(new_server):
    with with_extension(new_server()).connect() as connection:
        warnings = warnings_of(connection)
        connection.execute("SELECT gen_scru64(), gen_ulidflake()")
        assert warnings == []


# ------------------------------------------------------------------------------------------------------------- is_local


def test_which_ids_are_local(new_server):
    server = with_extension(new_server({NODE: "5/8", NUMBER: "7"}))
    of_scru64 = "SELECT scru64_is_local(((1::bigint << 24 | {} << 16) | 65535)::scru64)"
    of_ulidflake = "SELECT ulidflake_is_local((1::bigint << 20 | {})::ulidflake)"
    with server.connect() as connection:
        assert connection.execute(
            "SELECT scru64_is_local(gen_scru64()), ulidflake_is_local(gen_ulidflake())"
        ).fetchone() == (
            True,
            True,
        )
        local = [n for n in range(256) if connection.execute(of_scru64.format(n)).fetchone() == (True,)]
        assert local == [5]
        local = [n for n in range(128) if connection.execute(of_ulidflake.format(n)).fetchone() == (True,)]
        assert local == [7, 39, 71, 103]
        server.reload(**{NUMBER: "-1"})
        stand_alone = "SELECT ulidflake_is_local(id) FROM generate_series(1, 64) AS n, gen_ulidflake() AS id GROUP BY 1"
        wait_until(lambda: connection.execute(f"SHOW {NUMBER}").fetchone() == ("-1",), "the session has the new value")
        assert connection.execute(stand_alone).fetchall() == [(False,)]
    # If generation fails, so does the function, instead of returning a wrong answer.
    with server.connect(options=f"-c {NODE}=0/8") as connection, pytest.raises(psycopg.errors.InvalidParameterValue):
        connection.execute("SELECT scru64_is_local(scru64_lower(now()))")


def test_a_trigger_refuses_replicated_rows_of_the_local_node(new_server):
    """Replicated rows of another node are applied, and local rows are inserted. A replicated row with the local node
    stops the subscription."""
    settings = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
    publisher = with_extension(new_server({**settings, NODE: "2/4"}))
    subscriber = with_extension(new_server({**settings, NODE: "1/4"}))
    table = "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)"
    with publisher.connect() as there, subscriber.connect() as here:
        there.execute(
            f"{table}; INSERT INTO orders (note) VALUES ('copied'); CREATE PUBLICATION orders FOR TABLE orders"
        )
        here.execute(f"{table}; {page.sql('Several writers')}")
        here.execute(
            f"CREATE SUBSCRIPTION orders CONNECTION 'host={publisher.directory} dbname=postgres user=postgres'"
            " PUBLICATION orders"
        )

        def notes() -> list[str]:
            return [note for (note,) in here.execute("SELECT note FROM orders ORDER BY note")]

        wait_until(lambda: notes() == ["copied"], "the initial copy is complete")
        there.execute("INSERT INTO orders (note) VALUES ('streamed')")
        here.execute("INSERT INTO orders (note) VALUES ('own')")
        wait_until(lambda: notes() == ["copied", "own", "streamed"], "the row is applied")
        # An UPDATE generates no ID.
        there.execute("UPDATE orders SET note = 'updated' WHERE note = 'streamed'")
        wait_until(lambda: notes() == ["copied", "own", "updated"], "the update is applied")
        publisher.reload(**{NODE: "1/4"})
        with publisher.connect() as connection:
            [(id_,)] = connection.execute("INSERT INTO orders (note) VALUES ('foreign') RETURNING id::text")
        message = f"ERROR:  replicated row bears the node of this server: {id_}"
        wait_until(lambda: message in subscriber.log_text(), "the row is refused")
        assert notes() == ["copied", "own", "updated"]
        errors = "SELECT apply_error_count > 0 FROM pg_stat_subscription_stats"
        wait_until(lambda: here.execute(errors).fetchone() == (True,), "the refusal is counted")
        here.execute("ALTER SUBSCRIPTION orders DISABLE; ALTER SUBSCRIPTION orders SET (slot_name = NONE)")
        here.execute("DROP SUBSCRIPTION orders")
        there.execute("SELECT pg_drop_replication_slot('orders') FROM pg_replication_slots WHERE NOT active")
