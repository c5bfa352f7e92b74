"""Runs the statements in docs/several-servers.md and docs/citus.md on servers that write and replicate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack

import pytest

import expect
import page
from idtypes import SCRU64
from load import Load, assert_all_different
from programs import needs
from server import Server, since, wait_until

TABLE = "CREATE TABLE orders (id scru64 PRIMARY KEY DEFAULT gen_scru64(), note text)"
ROWS = 200
TERMINATE = page.inline("SELECT pg_terminate_backend")
# A failed apply worker restarts after wal_retrieve_retry_interval, by default 5 s.
LOGICAL = {"wal_level": "logical", "wal_retrieve_retry_interval": "100ms"}
PGLOGICAL = {"shared_preload_libraries": "pglogical"}
INSERT = "INSERT INTO orders DEFAULT VALUES RETURNING id::text"
IDS = "SELECT id::text FROM orders ORDER BY id"
REFUSED = "ERROR:  replicated row bears the node of this server: {}"


def nodes_of(ids: Iterable[str], size: int = 4) -> set[int]:
    """Returns the nodes in these scru64 IDs."""
    return {(SCRU64.value(id_) & 0xFFFFFF) >> (24 - size) for id_ in ids}


def run(server: Server, statements: str) -> None:
    """Executes statements, each in its own transaction."""
    server.psql("postgres", statements.encode())


def column(server: Server, query: str) -> list:
    """Returns the values of a query's only column."""
    return [value for (value,) in server.rows(query)]


def set_node(server: Server, number: int) -> None:
    """Sets a server's node as the page describes."""
    run(server, page.sql("One server").replace("'1/4'", f"'{number}/4'").replace("= 1;", f"= {number};"))


def test_nodes_of_different_sizes(connection):
    """The query of the page returns no row for its nodes, and the pairs of nodes that collide."""
    query = page.sql("Nodes of different sizes")
    assert connection.execute(query).fetchall() == []
    query = query.replace("(VALUES ", "(VALUES ('hot 9', '8/4'), ")
    assert sorted(connection.execute(query).fetchall()) == [
        ("cold 1", "0x80/8", "hot 9", "8/4"),
        ("cold 2", "0x81/8", "hot 9", "8/4"),
    ]


def test_load_rejects_a_malformed_node_at_once(new_server):
    """Without LOAD, the catalog stores the value."""
    server = new_server()
    malformed = page.sql("One server").replace("'1/4'", "'16/4'").replace("= 1;", "= 32;")
    refused = 'invalid value for parameter "scru.scru64_node": "16/4"'
    reason = "The node_id 16 does not fit into a node_id_size of 4."
    stored = "SELECT unnest(setconfig) FROM pg_db_role_setting ORDER BY 1"
    bounds = '32 is outside the valid range for parameter "scru.ulidflake_scalability" (-1 .. 31)'
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru; LOAD 'scru'")
        with expect.error(expect.INVALID_SETTING, refused, reason):
            connection.execute(malformed)
        with expect.error(expect.INVALID_SETTING, bounds):
            connection.execute(malformed.partition(";")[2])
    assert column(server, stored) == []
    run(server, malformed)
    assert column(server, stored) == ["scru.scru64_node=16/4", "scru.ulidflake_scalability=32"]


# ------------------------------------------------------------------------------------------------------ several writers


@pytest.fixture
def new_writers(new_server) -> Iterator[Callable[..., list[Server]]]:
    """Starts two servers with the nodes 1 and 2: new_writers(table, setting='value')."""
    servers = []

    def create(table: str, **settings: str) -> list[Server]:
        for number in 1, 2:
            servers.append(new_server({**LOGICAL, **settings}))
            run(servers[-1], f"CREATE EXTENSION scru; {table.replace('DEFAULT 1', f'DEFAULT {number}')}")
            set_node(servers[-1], number)
        return servers

    yield create
    # Immediate mode, because with a fast shutdown each server would wait for the other to receive its WAL.
    for server in servers:
        server.stop("immediate")


def subscribe(server: Server, other: Server, statement: str, address: str = "host=other dbname=shop") -> None:
    """Subscribes a server to another, whose address replaces the example's."""
    run(server, statement.replace(address, f"host={other.directory} user=postgres dbname=postgres"))


def replicate_by_origin(new_writers, by_row_filter: bool = False) -> list[Server]:
    """Returns two servers that replicate to each other by the statements of the page."""
    filtered = "id scru64 DEFAULT gen_scru64(), writer int DEFAULT 1, note text, PRIMARY KEY (id, writer)"
    servers = new_writers(f"CREATE TABLE orders ({filtered})" if by_row_filter else TABLE)
    publication, subscription = page.sql("Logical replication").split(";\n", 1)
    for number, server in enumerate(servers, start=1):
        run(server, publication + f" WHERE (writer = {number})" * by_row_filter)
    for server, other in zip(servers, reversed(servers), strict=True):
        subscribe(server, other, subscription.replace("origin = none, " * by_row_filter, ""))
    return servers


def replicate_by_row_filter(new_writers) -> list[Server]:
    """As on PostgreSQL 15."""
    return replicate_by_origin(new_writers, by_row_filter=True)


def replicate_by_pglogical(new_writers) -> list[Server]:
    """Returns two servers that replicate to each other with pglogical."""
    servers = new_writers(TABLE, **PGLOGICAL)
    names = ["first", "second"]
    create, subscription = page.sql("pglogical").split("-- When both servers")
    subscription = subscription.partition("\n")[2]
    for server, name in zip(servers, names, strict=True):
        # Newer minor releases run only the output plugins that this setting lists.
        if server.value("SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'"):
            run(server, page.inline("ALTER SYSTEM SET output_plugin_libraries"))
            server.reload()
            assert server.value("SHOW output_plugin_libraries") == "pgoutput, pglogical_output"
        subscribe(server, server, create.replace("'first'", f"'{name}'"), "host=first dbname=shop")
    for server, other, name in zip(servers, reversed(servers), reversed(names), strict=True):
        subscribe(server, other, subscription.replace("from_second", f"from_{name}"), "host=second dbname=shop")
    status = "SELECT status FROM pglogical.show_subscription_status()"
    for server in servers:
        wait_until(lambda: column(server, status) == ["replicating"], "the subscription replicates")  # noqa: B023
    return servers


@pytest.mark.parametrize(
    "replicate",
    [
        pytest.param(replicate_by_origin, id="origin", marks=since(16, "subscriptions with origin = none")),
        pytest.param(replicate_by_row_filter, id="row filter"),
        pytest.param(replicate_by_pglogical, id="pglogical", marks=needs("pglogical")),
    ],
)
def test_two_servers_write_one_table(new_writers, replicate):
    """Each inserts rows singly and concurrently, then in bulk."""
    servers = replicate(new_writers)
    query = "INSERT INTO orders (note) VALUES ('one') RETURNING id::text"
    with ExitStack() as stack:
        loads = [stack.enter_context(Load(server.connect, SCRU64, 2, query=query)) for server in servers]
        for load in loads:
            load.wait_for(ROWS)
    ids = [id_ for load in loads for id_ in load.ids]
    for server in servers:
        ids += column(server, f"INSERT INTO orders SELECT FROM generate_series(1, {ROWS}) RETURNING id::text")
    assert_all_different(ids)
    assert nodes_of(ids) == {1, 2}
    for server in servers:
        wait_until(lambda: server.value("SELECT count(*) FROM orders") == len(ids), "the rows arrive")  # noqa: B023
        assert column(server, IDS) == sorted(ids)
        if replicate is replicate_by_row_filter:
            assert server.value("SELECT count(*) FROM orders WHERE writer <> scru64_node_id(id, 4)") == 0


def test_two_servers_with_one_node(new_writers):
    """A new node for one server frees one direction; the steps of the page free both."""
    servers = replicate_by_row_filter(new_writers)
    first, second = servers

    def set_nodes(*numbers: int) -> None:
        for server, number in zip(servers, numbers, strict=True):
            set_node(server, number)
            server.rows(TERMINATE)

    for server in servers:
        run(server, page.sql("Several writers"))
    set_nodes(1, 1)
    ids = sorted(server.value(INSERT) for server in servers)
    for server in servers:
        [refused] = {*ids} - {*column(server, IDS)}
        wait_until(lambda: REFUSED.format(refused) in server.log_text(), "the row is refused")  # noqa: B023
    set_node(second, 2)
    wait_until(lambda: column(second, IDS) == ids, "the second server has the row of the first")
    errors = "SELECT apply_error_count FROM pg_stat_subscription_stats"
    before = first.value(errors)
    wait_until(lambda: first.value(errors) > before + 2, "the first server still refuses")
    set_nodes(2, 3)
    wait_until(lambda: column(first, IDS) == ids, "the first server has the row of the second")
    assert nodes_of([server.value(INSERT) for server in servers]) == {2, 3}
    for server in servers:
        wait_until(lambda server=server: len(column(server, IDS)) == 4, "the new rows arrive")


def test_the_trigger_during_the_initial_copy_and_after_a_change_of_the_node(new_writers):
    """The trigger, here that of ulidflake, refuses a row that the copy returns to its server. Without it, the copy
    completes. Created after the copy, it admits rows of the other server. A worker keeps its node until it ends."""
    first, second = new_writers(TABLE.replace("scru64", "ulidflake"))

    def write() -> str:
        """Writes an ID of the second server on the first."""
        id_ = second.value("SELECT gen_ulidflake()::text")
        run(first, f"INSERT INTO orders VALUES ('{id_}')")
        return id_

    copied = write()
    run(second, page.sql("Several writers").replace("scru64", "ulidflake"))
    publication, subscription = page.sql("Logical replication").split(";\n", 1)
    run(first, publication)
    subscribe(second, first, subscription.replace("origin = none, copy_data = false", "copy_data = true"))
    wait_until(lambda: REFUSED.format(copied) in second.log_text(), "the copy is refused")
    assert column(second, IDS) == []
    run(second, "ALTER TABLE orders DISABLE TRIGGER refuse_local_node")
    state = "SELECT srsubstate FROM pg_subscription_rel"
    wait_until(lambda: column(second, state) == ["r"], "the copy is complete")
    assert column(second, IDS) == [copied]

    run(second, "ALTER TABLE orders ENABLE REPLICA TRIGGER refuse_local_node")
    rows = [copied, first.value(INSERT)]
    wait_until(lambda: column(second, IDS) == sorted(rows), "the row is applied, by a worker with the node 2")
    set_node(second, 3)
    rows.append(write())
    wait_until(lambda: column(second, IDS) == sorted(rows), "the worker compares with node 2")
    worker = "SELECT pid FROM pg_stat_subscription WHERE pid IS NOT NULL"
    [old] = column(second, worker)
    second.rows(TERMINATE)
    wait_until(lambda: column(second, worker) not in ([], [old]), "the server starts a worker")
    refused = write()
    wait_until(lambda: REFUSED.format(refused) in second.log_text(), "the worker compares with node 3")
    assert column(second, IDS) == sorted(rows)


@needs("pglogical")
def test_the_trigger_refuses_the_local_node(new_writers):
    """With pglogical: a row of the other server with the local node stops the replication until the node is changed."""
    first, second = replicate_by_pglogical(new_writers)
    run(second, page.sql("Several writers"))
    set_node(first, 2)
    id_ = first.value(INSERT)
    wait_until(lambda: REFUSED.format(id_) in second.log_text(), "the row is refused")
    assert column(second, IDS) == []
    set_node(second, 1)
    # pglogical retries after a long interval. Enabling the subscription anew makes it retry at once.
    for change in "disable", "enable":
        second.rows(f"SELECT pglogical.alter_subscription_{change}('from_first', true)")
    wait_until(lambda: column(second, IDS) == [id_], "the row has been applied")


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
                    IF command ~ 'SELECT string_agg' THEN EXECUTE command INTO result; ELSE EXECUTE command; END IF;
                    RETURN QUERY VALUES (1, true, result), (2, true, 'scru64 7/8,ulidflake 9');
                END $$
            """
        )
        connection.execute(page.sql("Nodes", 0, "citus"))
    stored = [f"scru.scru64_node={group}/8"] if group else []
    stored += [f"scru.ulidflake_scalability={group}"] if 0 < group < 32 else []
    assert column(server, "SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = 0") == stored
    assert nodes_of([server.value("SELECT gen_scru64()::text")], size=8 if group else 4) == {group}
    assert group != 7 or server.value("SELECT ulidflake_scalability(gen_ulidflake())") == group
    assert server.rows(page.sql("Nodes", 1, "citus")) == ([("scru64 7/8", [1, 2])] if group == 7 else [])
