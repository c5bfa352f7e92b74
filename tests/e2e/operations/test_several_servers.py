"""Runs the statements in docs/several-servers.md and docs/citus.md on servers that write, replicate and are copied."""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import expect
import page
from idtypes import SCRU64, ULIDFLAKE
from load import Load, assert_all_different
from programs import needs
from server import TEMPORARY, Server, give_to_server_user, since, wait_until

TABLE = "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)"
ROWS = 200
TERMINATE = page.inline("SELECT pg_terminate_backend")
# A failed apply worker restarts after wal_retrieve_retry_interval, by default 5 s.
LOGICAL = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
PGLOGICAL = {"shared_preload_libraries": "pglogical"}


def nodes_of(ids: list[str], size: int = 4) -> set[int]:
    """Returns the nodes in these scru64 IDs."""
    return {(SCRU64.value(id_) & 0xFFFFFF) >> (24 - size) for id_ in ids}


def set_node(server: Server, number: int) -> None:
    """Sets a server's node as the page describes."""
    text = page.sql("One server")
    text = text.replace("'1/4'", f"'{number}/4'").replace("= 1;", f"= {number};")
    with server.connect() as connection:
        connection.execute(text)


def test_every_block_is_run():
    """Counts the code blocks of both pages.

    A test in this module, test_failover.py, test_pooler.py, test_node.py or test_mark_transfer.py runs each block, or
    compares it with another.
    """
    found = {**page.sections(), **page.sections("citus"), **page.sections(language="yaml")}
    assert {heading: len(blocks) for heading, blocks in found.items()} == {
        "One server": 1,
        "Standbys and failover": 1,
        "Several writers": 1,
        "Nodes of different sizes": 1,
        "Logical replication": 1,
        "pglogical": 1,
        "Nodes": 2,
        "Hosts of a node": 1,
    }


def test_nodes_of_different_sizes(connection):
    """The query of the page returns no row for its nodes, and the pairs of nodes that collide."""
    query = page.sql("Nodes of different sizes")
    assert connection.execute(query).fetchall() == []
    query = query.replace("(VALUES ", "(VALUES ('hot 9', '8/4'), ('last', '0x80ff/16'), ")
    assert sorted(connection.execute(query).fetchall()) == [
        ("cold 1", "0x80/8", "hot 9", "8/4"),
        ("cold 1", "0x80/8", "last", "0x80ff/16"),
        ("cold 2", "0x81/8", "hot 9", "8/4"),
        ("hot 9", "8/4", "last", "0x80ff/16"),
    ]


def test_load_rejects_a_malformed_node_at_once(new_server):
    """Without LOAD, the catalog stores the value, and a new session that generates an ID gets the same error."""
    server = new_server()
    malformed = page.sql("One server").replace("'1/4'", "'16/4'").replace("= 1;", "= 32;")
    refused = 'invalid value for parameter "scru.scru64_node": "16/4"'
    reason = "The node_id 16 does not fit into a node_id_size of 4."
    stored = "SELECT unnest(setconfig) FROM pg_db_role_setting ORDER BY 1"
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; LOAD 'scru'")
        with expect.error(expect.INVALID_SETTING, refused, reason):
            connection.execute(malformed)
        bounds = '32 is outside the valid range for parameter "scru.ulidflake_scalability" (-1 .. 31)'
        with expect.error(expect.INVALID_SETTING, bounds):
            connection.execute(malformed.partition(";")[2])
        assert column(connection, stored) == []
    with server.connect() as connection:
        connection.execute(malformed)
        assert column(connection, stored) == ["scru.scru64_node=16/4", "scru.ulidflake_scalability=32"]
    for id_type in SCRU64, ULIDFLAKE:
        with server.connect() as connection, pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(f"SELECT {id_type.generator}")


# ------------------------------------------------------------------------------------------------------ several writers


class Writers:
    """Two servers that write to the same table and replicate to each other."""

    def __init__(self, servers: list[Server], table: str):
        self.servers = servers
        self.connections = []
        for number, server in enumerate(servers, start=1):
            with server.connect() as connection:
                connection.execute("CREATE EXTENSION scru")
                connection.execute(table if number == 1 else table.replace("DEFAULT 1", "DEFAULT 2"))
            set_node(server, number)
            self.connections.append(server.connect())

    def address(self, number: int) -> str:
        """Returns the connection string of one of the servers."""
        return f"host={self.servers[number].directory} user=postgres dbname=postgres"

    def subscribe(self, statement: str, address: str = "host=other dbname=shop") -> None:
        """Subscribes each server to the other, whose address replaces the example's."""
        for number, connection in enumerate(self.connections):
            connection.execute(statement.replace(address, self.address(1 - number)))

    def write(self) -> list[str]:
        """Inserts rows on both servers, singly and concurrently, then in bulk. Returns the IDs."""
        query = "INSERT INTO orders (note) VALUES ('one') RETURNING id::text"
        with ExitStack() as stack:
            loads = [stack.enter_context(Load(server.connect, SCRU64, 2, query=query)) for server in self.servers]
            for load in loads:
                load.wait_for(ROWS)
        ids = [id_ for load in loads for id_ in load.ids]
        for connection in self.connections:
            ids += column(connection, f"INSERT INTO orders SELECT FROM generate_series(1, {ROWS}) RETURNING id::text")
        return ids

    def wait_until_equal(self, ids: list[str]) -> None:
        """Waits until both servers have exactly these rows."""
        assert_all_different(ids)
        count = "SELECT count(*) FROM orders"
        for connection in self.connections:
            wait_until(lambda: column(connection, count) == [len(ids)], f"{len(ids)} rows arrive")  # noqa: B023
            assert column(connection, "SELECT id::text FROM orders ORDER BY id") == sorted(ids)
        assert nodes_of(ids) == {1, 2}


def column(connection: psycopg.Connection, query: str) -> list:
    """Returns the values of a query's only column."""
    return [value for (value,) in connection.execute(query)]


@pytest.fixture
def new_writers(new_server) -> Iterator[Callable[..., Writers]]:
    """Starts two servers: new_writers(table, setting='value')."""
    made = []

    def create(table: str, **settings: str) -> Writers:
        made.append(Writers([new_server({**LOGICAL, **settings}) for _ in range(2)], table))
        return made[-1]

    yield create
    # Immediate mode, because with a fast shutdown each server would wait for the other to receive its WAL.
    for writers in made:
        for connection in writers.connections:
            connection.close()
        for server in writers.servers:
            server.stop("immediate")


@since(16, "subscriptions with origin = none")
def test_two_servers_write_one_table(new_writers):
    writers = new_writers(TABLE)
    publication, subscription = page.sql("Logical replication", 0).split(";\n", 1)
    for connection in writers.connections:
        connection.execute(publication)
    writers.subscribe(subscription)
    writers.wait_until_equal(writers.write())


def replicate_by_row_filter(new_writers) -> Writers:
    """Returns two servers that replicate to each other with a row filter, as on PostgreSQL 15."""
    columns = "id scru64 DEFAULT gen_scru64(), writer int DEFAULT 1, note text, PRIMARY KEY (id, writer)"
    writers = new_writers(f"CREATE TABLE orders ({columns})")
    publication, subscription = page.sql("Logical replication").split(";\n", 1)
    for number, connection in enumerate(writers.connections, start=1):
        connection.execute(f"{publication} WHERE (writer = {number})")
    writers.subscribe(subscription.replace("origin = none, ", ""))
    return writers


def test_two_servers_with_one_node(new_writers):
    """A new node for one server frees one direction; the steps of the page free both."""
    writers = replicate_by_row_filter(new_writers)
    first, second = writers.servers

    def set_nodes(*numbers: int) -> None:
        for server, number in zip(writers.servers, numbers, strict=True):
            set_node(server, number)

    def restart_workers() -> None:
        for server in writers.servers:
            server.rows(TERMINATE)

    def insert(server: Server) -> str:
        return server.value("INSERT INTO orders DEFAULT VALUES RETURNING id::text")

    def wait_until_refused(server: Server, id_: str) -> str:
        """Returns the log of the server from the first refusal of the row on."""
        error = f"replicated row bears the node of this server: {id_}"
        context = re.compile(rf"{error}\n(?:.*\n)*?.*finished at \S+\n")
        wait_until(lambda: context.search(server.log_text()), "the row is refused")
        return server.log_text().partition(error)[2]

    def ids_of(server: Server) -> list[str]:
        return [id_ for (id_,) in server.rows("SELECT id::text FROM orders ORDER BY id")]

    for server in writers.servers:
        server.psql("postgres", page.sql("Several writers").encode())
    set_nodes(1, 1)
    restart_workers()
    ids = sorted(insert(server) for server in writers.servers)
    for server in writers.servers:
        wait_until_refused(server, *set(ids) - set(ids_of(server)))
    set_node(second, 2)
    wait_until(lambda: ids_of(second) == ids, "the second server has the row of the first")
    errors = "SELECT apply_error_count FROM pg_stat_subscription_stats"
    before = first.value(errors)
    wait_until(lambda: first.value(errors) > before + 2, "the first server still refuses")
    set_nodes(2, 3)
    restart_workers()
    wait_until(lambda: ids_of(first) == ids, "the first server has the row of the second")
    assert nodes_of([insert(server) for server in writers.servers]) == {2, 3}
    for server in writers.servers:
        wait_until(lambda server=server: len(ids_of(server)) == 4, "the new rows arrive")

    # Skips a transaction.
    set_nodes(2, 2)
    restart_workers()
    ids = ids_of(second)
    log = wait_until_refused(second, insert(first))
    [lsn] = re.findall(r"finished at (\S+)", log)[:1]
    skip = page.inline("ALTER SUBSCRIPTION from_the_other SKIP").replace("0/14C0378", lsn)
    second.psql("postgres", skip.encode())
    wait_until(lambda: "completed skipping transaction" in second.log_text(), "the transaction is skipped")
    assert ids_of(second) == ids


def test_an_apply_worker_after_a_change_of_the_node(new_writers):
    """The worker keeps its node until it is terminated. It fails if both servers have a row with the same key."""
    writers = new_writers(TABLE, log_line_prefix="%e ")
    first, second = writers.connections
    server = writers.servers[1]
    second.execute(page.sql("Several writers"))
    replicate_natively(writers)
    insert = "INSERT INTO orders (id, note) VALUES (%s, 'of first')"
    rows = "SELECT id::text, note FROM orders ORDER BY id"
    worker = "SELECT pid FROM pg_stat_subscription WHERE pid IS NOT NULL"

    def terminate_the_worker() -> None:
        server.rows(TERMINATE)

    # The worker loads its node, 2.
    first.execute("INSERT INTO orders (note) VALUES ('of first')")
    wait_until(lambda: len(second.execute(rows).fetchall()) == 1, "the row arrives")
    set_node(server, 3)
    accepted, refused = (server.value("SELECT gen_scru64()::text") for _ in range(2))
    first.execute(insert, [accepted])
    wait_until(lambda: (accepted, "of first") in second.execute(rows).fetchall(), "the worker compares with node 2")
    [old] = column(second, worker)
    terminate_the_worker()
    wait_until(lambda: column(second, worker) not in ([], [old]), "the server starts a worker")
    first.execute(insert, [refused])
    error = f"P0001 ERROR:  replicated row bears the node of this server: {refused}"
    wait_until(lambda: error in server.log_text(), "the worker compares with node 3")

    second.execute("INSERT INTO orders (id, note) VALUES (%s, 'of second')", [refused])
    set_node(server, 4)
    terminate_the_worker()
    wait_until(lambda: "23505 ERROR:  " in server.log_text(), "the worker finds the local row")
    second.execute("UPDATE orders SET id = gen_scru64() WHERE note = 'of second'")
    wait_until(lambda: (refused, "of first") in second.execute(rows).fetchall(), "the row is applied")
    assert sorted(note for _, note in second.execute(rows)) == ["of first"] * 3 + ["of second"]


def test_the_trigger_during_the_initial_copy(new_writers):
    """The trigger, here that of ulidflake, refuses a row that the copy returns to its server. Without it, the copy
    completes. Created after the copy, the trigger refuses such a row, and admits those of the other server."""
    writers = new_writers(TABLE.replace("scru64", "ulidflake"))
    first, second = writers.connections
    server = writers.servers[1]
    copied, streamed = (server.value("SELECT gen_ulidflake()::text") for _ in range(2))
    insert = "INSERT INTO orders (id) VALUES (%s)"
    ids = "SELECT id::text FROM orders ORDER BY id"
    first.execute(insert, [copied])
    second.execute(page.sql("Several writers").replace("scru64", "ulidflake"))
    replicate_natively(writers, "copy_data = true")
    refused = "ERROR:  replicated row bears the node of this server: {}"
    wait_until(lambda: refused.format(copied) in server.log_text(), "the copy is refused")
    assert column(second, ids) == []
    second.execute("ALTER TABLE orders DISABLE TRIGGER refuse_local_node")
    state = "SELECT srsubstate FROM pg_subscription_rel"
    wait_until(lambda: column(second, state) == ["r"], "the copy is complete")
    assert column(second, ids) == [copied]
    second.execute("ALTER TABLE orders ENABLE REPLICA TRIGGER refuse_local_node")
    [of_first] = column(first, "INSERT INTO orders DEFAULT VALUES RETURNING id::text")
    wait_until(lambda: column(second, ids) == sorted([copied, of_first]), "the row is applied")
    first.execute(insert, [streamed])
    wait_until(lambda: refused.format(streamed) in server.log_text(), "the row is refused")
    assert column(second, ids) == sorted([copied, of_first])


def test_two_servers_write_one_table_by_row_filter(new_writers):
    writers = replicate_by_row_filter(new_writers)
    ids = writers.write()
    writers.wait_until_equal(ids)
    for connection in writers.connections:
        assert connection.execute("SELECT count(*) FROM orders WHERE writer <> scru64_node_id(id, 4)").fetchone() == (
            0,
        )


@needs("pglogical")
def test_two_servers_write_one_table_by_pglogical(new_writers):
    writers = new_writers(TABLE, **PGLOGICAL)
    replicate_by_pglogical(writers)
    writers.wait_until_equal(writers.write())


@needs("pglogical")
def test_pglogical_keeps_one_of_two_rows_with_the_same_key(new_writers):
    """Each server has one row, and the log of each has both."""
    writers = new_writers(TABLE, **PGLOGICAL)
    replicate_by_pglogical(writers)
    names = ["first", "second"]
    change = "SELECT pglogical.alter_subscription_{}('from_{}', true)"
    for connection, other in zip(writers.connections, reversed(names), strict=True):
        connection.execute(change.format("disable", other))
    first, second = writers.connections
    [id_] = column(first, "INSERT INTO orders (note) VALUES ('of first') RETURNING id::text")
    second.execute("INSERT INTO orders (id, note) VALUES (%s, 'of second')", [id_])
    for connection, other in zip(writers.connections, reversed(names), strict=True):
        connection.execute(change.format("enable", other))
    conflict = re.compile(r"LOG:  CONFLICT: remote INSERT on relation public\.orders .*\n.*\n")
    for server, connection in zip(writers.servers, writers.connections, strict=True):
        found = wait_until(lambda: conflict.search(server.log_text()), "the conflict is logged")  # noqa: B023
        assert all(f"of {name}" in found[0] for name in names)
        assert len(column(connection, "SELECT note FROM orders")) == 1


def replicate_by_pglogical(writers: Writers) -> None:
    """Replicates each server's writes to the other with pglogical."""
    names = ["first", "second"]
    # Newer minor releases run only the output plugins that this setting lists.
    for server in writers.servers:
        if server.value("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'"):
            statement = page.inline("ALTER SYSTEM SET output_plugin_libraries")
            plugins = "pgoutput, pglogical_output"
            quoted = statement.replace(plugins, f"'{plugins}'")
            for change, value in (quoted, f'"{plugins}"'), (statement, plugins):
                with server.connect() as connection:
                    connection.execute(change)
                server.reload()
                assert server.value("SHOW output_plugin_libraries") == value
    create, subscribe = page.sql("pglogical").split("-- When both servers")
    subscribe = subscribe.partition("\n")[2]
    for number, connection in enumerate(writers.connections):
        node = create.replace("host=first dbname=shop", writers.address(number))
        connection.execute(node.replace("'first'", f"'{names[number]}'"))
    for number, connection in enumerate(writers.connections):
        other = subscribe.replace("host=second dbname=shop", writers.address(1 - number))
        connection.execute(other.replace("from_second", f"from_{names[1 - number]}"))
    for connection in writers.connections:
        status = "SELECT status FROM pglogical.show_subscription_status()"
        wait_until(lambda: column(connection, status) == ["replicating"], "the subscription replicates")  # noqa: B023


def replicate_natively(writers: Writers, options: str = "copy_data = false") -> None:
    """Replicates the first server's writes to the second with logical replication."""
    first, second = writers.connections
    first.execute("CREATE PUBLICATION written_here FOR TABLE orders")
    address = writers.address(0)
    second.execute(f"CREATE SUBSCRIPTION theirs CONNECTION '{address}' PUBLICATION written_here WITH ({options})")


@pytest.mark.parametrize(
    ("replicate", "settings"),
    [
        pytest.param(replicate_natively, {}, id="logical replication"),
        pytest.param(replicate_by_pglogical, PGLOGICAL, id="pglogical", marks=needs("pglogical")),
    ],
)
def test_the_trigger_refuses_the_local_node(new_writers, replicate, settings):
    """A row from another server with the local node stops the replication until the local node is changed."""
    writers = new_writers(TABLE, **settings)
    first, second = writers.connections
    second.execute(page.sql("Several writers"))
    set_node(writers.servers[1], 1)
    replicate(writers)
    [id_] = column(first, "INSERT INTO orders DEFAULT VALUES RETURNING id::text")
    error = f"ERROR:  replicated row bears the node of this server: {id_}"
    wait_until(lambda: error in writers.servers[1].log_text(), "the row is refused")
    assert column(second, "SELECT count(*) FROM orders") == [0]
    set_node(writers.servers[1], 2)
    if replicate is replicate_by_pglogical:
        # pglogical retries after a long interval. Enabling the subscription anew makes it retry at once.
        for change in "disable", "enable":
            second.execute(f"SELECT pglogical.alter_subscription_{change}('from_first', true)")
    wait_until(lambda: column(second, "SELECT id::text FROM orders") == [id_], "the row has been applied")
    # The trigger ignores rows that clients insert.
    second.execute("INSERT INTO orders DEFAULT VALUES")


# ---------------------------------------------------------------------------------------------------------------- Citus


@pytest.mark.parametrize("group", [0, 7, 40])
def test_a_citus_node_takes_the_number_of_its_group(new_server, group):
    """Without Citus: a table and a function stand in for those of Citus. Group 40 has no number for ulidflake."""
    server = new_server()
    with server.connect() as connection:
        connection.execute(
            f"""
            CREATE EXTENSION scru;
            CREATE TABLE pg_dist_local_group AS SELECT {group} AS groupid;
            CREATE FUNCTION run_command_on_all_nodes(command text, OUT nodeid int, OUT success bool, OUT result text)
                RETURNS SETOF record LANGUAGE plpgsql AS $$
                BEGIN
                    IF command ~ 'SELECT string_agg' THEN
                        EXECUTE command INTO result;
                    ELSE
                        EXECUTE command;
                    END IF;
                    RETURN QUERY VALUES (1, true, result), (2, true, 'scru64 7/8,ulidflake 9');
                END $$
            """
        )
        connection.execute(page.sql("Nodes", 0, "citus"))
        stored = [f"scru.scru64_node={group}/8"] if group else []
        stored += [f"scru.ulidflake_scalability={group}"] if 0 < group < 32 else []
        assert column(connection, "SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = 0") == stored
    assert nodes_of([server.value("SELECT gen_scru64()::text")], size=8 if group else 4) == {group}
    number = "SELECT ulidflake_scalability(gen_ulidflake())"
    if group == 7:
        assert server.value(number) == group
    assert server.rows(page.sql("Nodes", 1, "citus")) == ([("scru64 7/8", [1, 2])] if group == 7 else [])


# --------------------------------------------------------------------------------------------------------------- copies


def test_a_copy_takes_a_node_of_its_own(new_server):
    """A copy has the node of its source until the node is changed. A server cannot detect that it is a copy."""
    source = new_server()
    with source.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    set_node(source, 1)
    copy = Server(source.settings)
    copy.settings["unix_socket_directories"] = str(copy.directory)
    try:
        options = ["--checkpoint=fast", "--wal-method=stream", "--no-sync"]
        source.run("pg_basebackup", *options, "--pgdata", copy.data, as_server=True)
        copy.start()
        assert nodes_of([copy.value("SELECT gen_scru64()::text")]) == {1}
        set_node(copy, 7)
        with ExitStack() as stack:
            loads = [
                stack.enter_context(Load(server.connect, id_type))
                for server in (source, copy)
                for id_type in (SCRU64, ULIDFLAKE)
            ]
            for load in loads:
                load.wait_for(ROWS)
        assert [nodes_of(load.ids) for load in loads[::2]] == [{1}, {7}]
        assert [{ULIDFLAKE.value(id_) & 31 for id_ in load.ids} for load in loads[1::2]] == [{1}, {7}]
        assert_all_different(*(load.ids for load in loads[::2]))
        assert_all_different(*(load.ids for load in loads[1::2]))
    finally:
        copy.remove()


HOST = socket.gethostname()
HOSTS = page.inline("ALTER ROLE ALL SET scru.node_hosts")


def not_of_this_server(name: str, value: str, port: int, hosts: str) -> tuple[str, str, str, str]:
    """Returns the error of a server that `scru.node_hosts` does not name."""
    return (
        "55000",
        f'scru.{name} "{value}" does not belong to this server',
        f'This server is {HOST}:{port}, and scru.node_hosts is "{hosts}". It may be a copy of another server.',
        f"If it is a copy, set its own scru.{name} and its scru.node_hosts with ALTER ROLE ALL SET, and reconnect. If"
        " it replaces another server, add it to scru.node_hosts.",
    )


@pytest.mark.parametrize("preload", ["", "scru"], ids=["loaded by sessions", "preloaded"])
def test_a_copy_by_recovery_does_not_use_the_node_of_its_source(new_server, preload):
    """A server that point-in-time recovery has created runs beside its source, on another port of the host."""
    archive = Path(tempfile.mkdtemp(prefix="scru-archive-", dir=TEMPORARY))
    give_to_server_user(archive)
    settings = {"archive_mode": "on", "archive_command": f"cp %p {archive}/%f", "port": "5433"}
    source = new_server({**settings, "shared_preload_libraries": preload})
    copy = Server({**source.settings, "port": "5434", "archive_mode": "off", "restore_command": f"cp {archive}/%f %p"})
    copy.settings["unix_socket_directories"] = str(copy.directory)
    standby = None
    hosts = f"standby-*, {HOST}:5433"
    try:
        with source.connect() as connection:
            connection.execute("CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
            connection.execute(HOSTS.replace("db1, db2:5433, standby-*", hosts))
        set_node(source, 1)
        source.run("pg_basebackup", "--checkpoint=fast", "--no-sync", "--pgdata", copy.data, as_server=True)
        (copy.data / "recovery.signal").touch()
        give_to_server_user(copy.data / "recovery.signal")
        drawn = source.rows("SELECT gen_scru64()::text FROM generate_series(1, 1000)")
        segment = source.value("SELECT pg_walfile_name(pg_switch_wal())")
        wait_until((archive / segment).exists, "the WAL is archived")
        copy.start()
        wait_until(lambda: not copy.value("SELECT pg_is_in_recovery()"), "the recovery has finished")

        errors = {
            "scru64": not_of_this_server("scru64_node", "1/4", 5434, hosts),
            "ulidflake": not_of_this_server("ulidflake_scalability", "1", 5434, hosts),
        }
        for type_, error in errors.items():
            for user in "plain", "postgres":
                with copy.connect(user=user) as connection, expect.error(*error):
                    connection.execute(f"SELECT gen_{type_}()")
        state = "SELECT type, draw, reason FROM scru_generators() WHERE node IS NOT NULL ORDER BY type"
        assert copy.rows(state) == [(type_, "refuse", error[1]) for type_, error in errors.items()]
        assert copy.rows("SELECT gen_scru128() IS NULL, gen_ulid() IS NULL, gen_scru160() IS NULL") == [(False,) * 3]
        assert {reason for _, _, reason in source.rows(state)} == {None}
        if preload:
            wait_until(lambda: f"ERROR:  {errors['scru64'][1]}" in copy.log_text(), "the log has the error")

        with copy.connect() as connection:
            connection.execute(page.sql("Hosts of a node").replace("db7", HOST.upper()))
        drawn += copy.rows("SELECT gen_scru64()::text FROM generate_series(1, 1000)")
        drawn += source.rows("SELECT gen_scru64()::text FROM generate_series(1, 1000)")
        assert_all_different([id_ for (id_,) in drawn])
        assert nodes_of([id_ for (id_,) in drawn]) == {1, 7}

        # A standby that is not in the list says so before its promotion.
        standby = source.standby(port="5435")
        assert [draw for _, draw, _ in standby.rows(state)] == ["refuse", "refuse"]
    finally:
        copy.remove()
        if standby:
            standby.remove()
        shutil.rmtree(archive, ignore_errors=True)


def test_which_hosts_a_list_names(new_server):
    server = new_server({"port": "5433"})
    named = ["*", HOST, f"nobody,{HOST}", f" {HOST.upper()} ", f"{HOST}:5433", f"{HOST[0]}*", f"*{HOST[-1]}", "*:5433"]
    named += [f"{HOST[0]}*{HOST[-1]}:5433"] if len(HOST) > 1 else []
    others = ["", "nobody", f"{HOST}:5432", f"{HOST}x", f"x{HOST}", f"{HOST}x*", f"*x{HOST}", "*:543", f"{HOST}:"]
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; LOAD 'scru'")
        query = "SELECT draw FROM scru_generators() WHERE type = 'scru64'"
        for hosts in named + others:
            connection.execute("SELECT set_config('scru.node_hosts', %s, false)", [hosts])
            refused = column(connection, query) == ["refuse"]
            assert refused == (hosts in others), hosts
            if refused:
                with expect.error(*not_of_this_server("scru64_node", "0/4", 5433, hosts)):
                    connection.execute("SELECT gen_scru64()")
            else:
                connection.execute("SELECT gen_scru64()")


@pytest.mark.parametrize("preload", ["", "scru"], ids=["loaded by sessions", "preloaded"])
def test_who_sets_another_list_of_hosts(new_server, preload):
    """A superuser, and the options of a connection. If the library is preloaded, the server refuses such options."""
    server = new_server({"shared_preload_libraries": preload})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
        connection.execute(HOSTS.replace("db1, db2:5433, standby-*", "nobody"))
    other, draw = "SET scru.node_hosts = '*'", "SELECT gen_scru64()"
    options = {"user": "plain", "options": "-c scru.node_hosts=*"}
    denied = 'permission denied to set parameter "scru.node_hosts"'
    with server.connect(user="plain") as connection:
        if not preload:
            # The server discards the value when it loads the library.
            connection.execute(other)
        for _ in range(2):
            with expect.error(*not_of_this_server("scru64_node", "0/4", 5432, "nobody")):
                connection.execute(draw)
            with expect.error("42501", denied):
                connection.execute(other)
    if preload:
        with pytest.raises(psycopg.OperationalError, match=denied):
            server.connect(**options)
    else:
        with server.connect(**options) as connection:
            connection.execute(draw)
    with server.connect() as connection:
        connection.execute(other)
        connection.execute(draw)


def test_a_file_of_a_copy_does_not_override_the_catalog(new_server):
    server = new_server({"scru.scru64_node": "7/4", "scru.ulidflake_scalability": "1"})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    set_node(server, 1)
    assert nodes_of([server.value("SELECT gen_scru64()::text")]) == {1}
