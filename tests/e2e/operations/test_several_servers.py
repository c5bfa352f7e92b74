"""Runs the statements for administrators in docs/several-servers.md on servers that write, replicate and are copied."""

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
    """Counts the page's code blocks.

    A test in this module, test_failover.py, test_pooler.py, test_node.py or test_mark_transfer.py runs each block, or
    compares it with another.
    """
    assert {heading: len(blocks) for heading, blocks in page.sections().items()} == {
        "One server": 1,
        "Several writers": 1,
        "Two servers with one node": 4,
        "Logical replication": 3,
        "pglogical": 2,
        "Citus": 2,
        "Connection poolers": 2,
        "Clones, copies and snapshots": 3,
        "Hosts of a node": 2,
        "Switch over to a logical subscriber": 2,
    }
    assert {heading: len(blocks) for heading, blocks in page.sections("yaml").items()} == {
        "Patroni": 1,
        "CloudNativePG": 1,
    }


def test_a_new_cluster_of_cloudnativepg_has_the_node():
    """Without Kubernetes: checks that the operator's configuration has the statements of the section "One server"."""
    given = re.findall(r"^ +- (ALTER .*)\n", page.yaml("CloudNativePG"), re.MULTILINE)
    assert given == page.sql("One server").rstrip(";\n").split(";\n")


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
            wait_until(lambda: column(connection, count) == [len(ids)], f"{len(ids)} rows arrive", 120)  # noqa: B023
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
    """Returns two servers that replicate to each other with the row filter for PostgreSQL 15."""
    table, publication = page.sql("Logical replication", 1).split(";\n", 1)
    writers = new_writers(table)
    for number, connection in enumerate(writers.connections, start=1):
        connection.execute(publication.replace("= 1", f"= {number}"))
    writers.subscribe(page.sql("Logical replication", 0).split(";\n")[1].replace("origin = none, ", ""))
    return writers


def test_a_row_filter_replicates_changes_of_own_rows(new_writers):
    """Without the trigger, a change of the other server's rows is not sent."""
    writers = replicate_by_row_filter(new_writers)
    first, second = writers.connections
    insert = "INSERT INTO orders (note) VALUES ('new') RETURNING id::text"
    [of_first], [of_second] = column(first, insert), column(second, insert)
    for connection in writers.connections:
        wait_until(lambda: column(connection, "SELECT count(*) FROM orders") == [2], "both rows arrive")  # noqa: B023
    first.execute("UPDATE orders SET note = 'lost' WHERE writer = 2")
    first.execute("UPDATE orders SET note = 'sent' WHERE writer = 1")
    notes = "SELECT note FROM orders ORDER BY writer"
    wait_until(lambda: column(second, notes) == ["sent", "new"], "the update of the own row arrives")
    assert column(first, notes) == ["sent", "lost"]
    first.execute("UPDATE orders SET note = 'new' WHERE writer = 2")
    for number, connection in enumerate(writers.connections, start=1):
        connection.execute(page.sql("Logical replication", 2).replace("<> 1", f"<> {number}"))
    refused = "only the server that has written a row can change it: {}"
    for statement, id_ in (
        ("UPDATE orders SET note = 'lost' WHERE writer = 2", of_second),
        ("DELETE FROM orders WHERE writer = 2", of_second),
        ("UPDATE orders SET writer = 2 WHERE writer = 1", of_first),
    ):
        with expect.error("P0001", refused.format(id_)):
            first.execute(statement)
    second.execute("UPDATE orders SET note = 'theirs' WHERE writer = 2")
    first.execute("DELETE FROM orders WHERE writer = 1")
    for connection in writers.connections:
        wait_until(lambda: column(connection, notes) == ["theirs"], "both changes arrive")  # noqa: B023


def test_two_servers_with_one_node(new_writers):
    """A new node for one server frees one direction; the steps of the page free both."""
    writers = replicate_by_row_filter(new_writers)
    first, second = writers.servers
    steps = "Two servers with one node"

    def set_nodes(*numbers: int) -> None:
        for server, number in zip(writers.servers, numbers, strict=True):
            statements = page.sql(steps, 0).replace("'2/4'", f"'{number}/4'").replace("= 2;", f"= {number};")
            with server.connect() as connection:
                connection.execute(statements)

    def restart_workers() -> None:
        for server in writers.servers:
            server.psql("postgres", page.sql(steps, 1).encode())

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
    with second.connect() as connection:
        connection.execute(page.sql(steps, 0))
    wait_until(lambda: ids_of(second) == ids, "the second server has the row of the first")
    errors = "SELECT apply_error_count FROM pg_stat_subscription_stats"
    before = first.value(errors)
    wait_until(lambda: first.value(errors) > before + 2, "the first server still refuses")
    [(_, _, retained)] = first.rows(page.sql(steps, 3))
    assert retained.endswith("bytes") or retained.endswith("kB")
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
    second.psql("postgres", page.sql(steps, 2).replace("0/14C0378", lsn).encode())
    wait_until(lambda: "completed skipping transaction" in second.log_text(), "the transaction is skipped")
    assert ids_of(second) == ids


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


def replicate_by_pglogical(writers: Writers) -> None:
    """Replicates each server's writes to the other with pglogical."""
    names = ["first", "second"]
    # Newer minor releases run only the output plugins that this setting lists.
    for server in writers.servers:
        if server.value("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'"):
            [statement] = re.findall(r"`(ALTER SYSTEM SET output_plugin_libraries = .*?)`", page.PAGE.read_text())
            with server.connect() as connection:
                connection.execute(statement)
            server.reload()
            assert server.value("SHOW output_plugin_libraries") == "pgoutput, pglogical_output"
    for number, connection in enumerate(writers.connections):
        node = page.sql("pglogical", 0).replace("host=first dbname=shop", writers.address(number))
        connection.execute(node.replace("'first'", f"'{names[number]}'"))
    for number, connection in enumerate(writers.connections):
        subscription = page.sql("pglogical", 1).replace("host=second dbname=shop", writers.address(1 - number))
        connection.execute(subscription.replace("from_second", f"from_{names[1 - number]}"))
    for connection in writers.connections:
        status = "SELECT status FROM pglogical.show_subscription_status()"
        wait_until(lambda: column(connection, status) == ["replicating"], "the subscription replicates")  # noqa: B023


def replicate_natively(writers: Writers) -> None:
    """Replicates the first server's writes to the second with logical replication."""
    first, second = writers.connections
    first.execute("CREATE PUBLICATION written_here FOR TABLE orders")
    address = writers.address(0)
    second.execute(
        f"CREATE SUBSCRIPTION theirs CONNECTION '{address}' PUBLICATION written_here WITH (copy_data = false)"
    )


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
        connection.execute(page.sql("Citus"))
        stored = [f"scru.scru64_node={group}/8"] if group else []
        stored += [f"scru.ulidflake_scalability={group}"] if 0 < group < 32 else []
        assert column(connection, "SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = 0") == stored
    assert nodes_of([server.value("SELECT gen_scru64()::text")], size=8 if group else 4) == {group}
    number = "SELECT ulidflake_scalability(gen_ulidflake())"
    if group == 7:
        assert server.value(number) == group
    assert server.rows(page.sql("Citus", 1)) == ([("scru64 7/8", [1, 2])] if group == 7 else [])


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
        with copy.connect() as connection:
            connection.execute(page.sql("Clones, copies and snapshots"))
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
            connection.execute(page.sql("Hosts of a node").replace("db1, db2:5433, standby-*", hosts))
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
            connection.execute(page.sql("Hosts of a node", 1).replace("db7", HOST.upper()))
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


def test_a_file_of_a_copy_does_not_override_the_catalog(new_server):
    server = new_server({"scru.scru64_node": "7/4", "scru.ulidflake_scalability": "1"})
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    set_node(server, 1)
    assert nodes_of([server.value("SELECT gen_scru64()::text")]) == {1}
    with server.connect() as connection:
        load, query = page.sql("Clones, copies and snapshots", 1).split(";\n", 1)
        connection.execute(load)
        assert connection.execute(query).fetchall() == [("scru.scru64_node", "7/4", "1/4")]


def test_which_dumps_include_the_node(new_server):
    source = new_server()
    with source.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    set_node(source, 1)
    with source.connect() as connection:
        connection.execute("CREATE DATABASE shop")
        connection.execute("ALTER DATABASE shop SET scru.scru64_node = '2/4'")
    setting = re.compile(rb'ALTER (\w+) .* SET "?scru.scru64_node"? TO \'(.*)\'')
    dumps = {
        "pg_dumpall": source.run("pg_dumpall", "--schema-only").stdout,
        "pg_dump --create": source.pg_dump("shop", "--create"),
        "pg_dump": source.pg_dump("shop"),
    }
    assert {how: setting.findall(dump) for how, dump in dumps.items()} == {
        "pg_dumpall": [(b"DATABASE", b"2/4")],
        "pg_dump --create": [(b"DATABASE", b"2/4")],
        "pg_dump": [],
    }
