"""The hosts of a node: a copy of a server does not use the node of its source."""

from __future__ import annotations

import socket
from contextlib import ExitStack, nullcontext

import psycopg
import pytest

import expect
import page
from idtypes import SCRU64, ULIDFLAKE
from load import assert_all_different
from server import Server, wait_until

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
def test_a_copy_does_not_use_the_node_of_its_source(new_server, preload):
    """It runs beside its source, on another port of the host."""
    source = new_server({"port": "5433", "shared_preload_libraries": preload})
    hosts = f"standby-*, {HOST}:5433"
    copy = Server({**source.settings, "port": "5434"})
    copy.settings["unix_socket_directories"] = str(copy.directory)
    with ExitStack() as stack:
        stack.callback(copy.remove)
        source.psql("postgres", b"CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
        source.psql("postgres", HOSTS.replace("db1, db2:5433, standby-*", hosts).encode())
        source.psql("postgres", page.sql("One server").encode())
        source.run("pg_basebackup", "--checkpoint=fast", "--no-sync", "--pgdata", copy.data, as_server=True)
        drawn = draw_many(source)
        copy.start()
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

        copy.psql("postgres", page.sql("Hosts of a node").replace("db7", HOST.upper()).encode())
        drawn += draw_many(copy) + draw_many(source)
        ids, flakes = zip(*drawn, strict=True)
        assert_all_different(ids)
        assert_all_different(flakes)
        nodes = {SCRU64.value(id_) >> 20 & 15 for id_ in ids}
        assert nodes == {ULIDFLAKE.value(flake) & 31 for flake in flakes} == {1, 7}

        # A standby that is not in the list says so before its promotion.
        standby = stack.enter_context(source.standby(port="5435"))
        assert [draw for _, draw, _ in standby.rows(state)] == ["refuse", "refuse"]


def draw_many(server: Server) -> list[tuple[str, str]]:
    return server.rows("SELECT gen_scru64()::text, gen_ulidflake()::text FROM generate_series(1, 1000)")


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
            refuses = connection.execute(query).fetchone() == ("refuse",)
            assert refuses == (hosts in others), hosts
            error = expect.error(*not_of_this_server("scru64_node", "0/4", 5433, hosts))
            with error if refuses else nullcontext():
                connection.execute("SELECT gen_scru64()")


@pytest.mark.parametrize("preload", ["", "scru"], ids=["loaded by sessions", "preloaded"])
def test_who_sets_another_list_of_hosts(new_server, preload):
    """A superuser, and the options of a connection. If the library is preloaded, the server refuses such options."""
    server = new_server({"shared_preload_libraries": preload})
    server.psql("postgres", b"CREATE EXTENSION scru; CREATE ROLE plain LOGIN")
    server.psql("postgres", HOSTS.replace("db1, db2:5433, standby-*", "nobody").encode())
    other, draw = "SET scru.node_hosts = '*'", "SELECT gen_scru64()"
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
    with pytest.raises(psycopg.OperationalError, match=denied) if preload else nullcontext():
        server.connect(user="plain", options="-c scru.node_hosts=*").execute(draw)
    with server.connect() as connection:
        connection.execute(f"{other}; {draw}")
