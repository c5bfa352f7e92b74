"""The queries of packaging/postgres_exporter.yaml, and the page docs/alerts.md about them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.request import urlopen

import pytest

import page
from marks import HOUR
from programs import LOOPBACK, Program, free_ports, needs, path_of
from server import Server, give_to_server_user, wait_until

ROOT = Path(__file__).parents[3]
FILE = ROOT / "packaging/postgres_exporter.yaml"
PAGE = page.text("alerts")
QUERIES = {
    name: (query, re.findall(r"^    - (\w+):\n        usage: (\w+)$", metrics, re.MULTILINE))
    for name, query, metrics in re.findall(
        r"^(\w+):\n  query: \|\n((?:    .*\n)+)  metrics:\n((?:    .*\n)+)", FILE.read_text(), re.MULTILINE
    )
}
"""The query and the columns with their usage, by the name of the file's section."""

SOURCE = "the configuration file"


@pytest.fixture
def primary(new_server, clock) -> Server:
    """A server with the extension and a monitoring role."""
    server = new_server({"scru.scru64_node": "5/8"}, clock.environment)
    server.psql("postgres", b"CREATE EXTENSION scru; CREATE ROLE monitor LOGIN IN ROLE pg_monitor")
    return server


def scrape(server: Server, name: str) -> list[dict]:
    """Returns the rows of a query, as the monitoring role reads them. Checks that the file describes their columns."""
    query, columns = QUERIES[name]
    with server.connect(user="monitor") as connection:
        cursor = connection.execute(query)
        names = [column.name for column in cursor.description]
        assert names == [column for column, _ in columns]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
    for row in rows:
        for column, usage in columns:
            assert isinstance(row[column], str if usage == "LABEL" else (int, float, type(None))), column
    return rows


METRICS = {f"{name}_{column}" for name, (_, of) in QUERIES.items() for column, usage in of if usage != "LABEL"}


def test_the_page_has_the_metrics_of_the_file():
    assert len(METRICS) == 10
    assert set(re.findall(r"^\| `(scru_\w+)`", PAGE, re.MULTILINE)) == METRICS
    named = set(re.findall(r"scru_generator_\w+|scru_(?:waits|standby|horizon)_\w+", PAGE))
    assert named <= METRICS | {"scru_generator_", "scru_horizon_"}


def test_the_queries_of_a_server_and_its_standby(primary, new_server, clock):
    """Before and after the first ID, with a clock behind, and without access to the mark."""

    def generators(server: Server) -> dict[str, dict]:
        rows = {row["type"]: row for row in scrape(server, "scru_generator")}
        assert list(rows) == ["scru64", "ulidflake"]
        return rows

    assert scrape(primary, "scru_waits") == [{"sessions": 0}]
    assert scrape(primary, "scru_standby") == []
    before = generators(primary)["scru64"]
    # The first ID of a type for which the server has no mark is 1 s ahead of the clock: it may wait for part of a tick.
    assert 0 <= before.pop("wait_seconds") < 1
    labels = {"type": "scru64", "node": "5/8", "node_source": SOURCE}
    unknown = dict.fromkeys(["mark_ahead_seconds", "last_failure_age_seconds"])
    assert before == {**labels, "in_recovery": 0, "refuses": 0, **unknown}
    with primary.standby() as standby:
        primary.value("SELECT gen_scru64()")
        primary.psql("postgres", b"CREATE TABLE replayed ()")
        standby.wait_until_replayed(primary)
        assert scrape(standby, "scru_standby")[0]["replay_age_seconds"] > 0
        row = generators(standby)["scru64"]
        assert {name: row[name] for name in labels} == labels
        assert (row["in_recovery"], row["refuses"]) == (1, 0)
        clock.shift(-HOUR)
        [age] = [row["replay_age_seconds"] for row in scrape(standby, "scru_standby")]
        assert -HOUR - 120 < age < -HOUR + 120
        row = generators(standby)["scru64"]
        assert (row["in_recovery"], row["refuses"]) == (1, 1)
        assert HOUR - 120 < row["mark_ahead_seconds"] < HOUR + 120
        clock.shift(0)
    primary.restart()
    (primary.data / "global/8672").chmod(0)
    with pytest.raises(Exception, match="Permission denied"):
        primary.value("SELECT gen_scru64()")
    row = generators(primary)["scru64"]
    assert (row["refuses"], 0 <= row["last_failure_age_seconds"] < 120) == (1, True)


def test_the_statements_of_the_page(primary):
    """Who holds the horizon since the first ID of a transaction, in its database only, and not on a standby."""
    reason, nodes, holders = page.all_blocks("alerts")
    none = {"datname": "postgres", "holders": 0, "held_seconds": 0.0, "mark_ahead_seconds": None}
    assert scrape(primary, "scru_horizon") == [none]
    with primary.connect(autocommit=False) as writer, primary.connect(user="monitor") as monitor:
        assert monitor.execute(holders).fetchall() == []
        writer.execute("SELECT gen_scru64(), pg_sleep(0.2)")
        [row] = scrape(primary, "scru_horizon")
        assert (row["datname"], row["holders"]) == ("postgres", 1)
        assert 0.2 <= row["held_seconds"] < 60
        [(pid, held, *rest)] = monitor.execute(holders)
        assert rest == [writer.info.user, "idle in transaction", "SELECT gen_scru64(), pg_sleep(0.2)"]
        assert pid == writer.info.backend_pid and held.total_seconds() >= 0.2
        assert [row[0] for row in monitor.execute(reason)] == ["scru64", "ulidflake"]
        settings = [("scru64", "5/8", SOURCE, False), ("ulidflake", "-1", "the default", False)]
        assert monitor.execute(nodes).fetchall() == settings
        primary.psql("postgres", b"CREATE DATABASE other;\n\\c other\nCREATE EXTENSION scru")
        with primary.connect("other") as other:
            assert other.execute("SELECT count(*) FROM scru_horizon_holders()").fetchone() == (0,)
        with primary.standby() as standby:
            assert scrape(standby, "scru_horizon") == [none]
    assert scrape(primary, "scru_horizon") == [none]


@needs("prometheus-postgres-exporter")
def test_postgres_exporter_reads_the_file(primary):
    """Starts the exporter of Debian with the file, and reads its metrics by HTTP."""
    primary.value("SELECT gen_scru64()")
    file = primary.directory / FILE.name
    shutil.copy(FILE, file)
    give_to_server_user(file)
    [port] = free_ports(1)
    address = f"user=monitor dbname=postgres host={primary.directory} port={primary.port} sslmode=disable"
    exporter = Program(
        primary.directory / "exporter.log",
        f"DATA_SOURCE_NAME={address}",
        path_of("prometheus-postgres-exporter"),
        f"--web.listen-address={LOOPBACK}:{port}",
        f"--extend.query-path={file}",
    )
    exporter.start()
    try:
        exporter.wait_until_it_listens(port)

        def samples() -> dict[str, float]:
            with urlopen(f"http://{LOOPBACK}:{port}/metrics") as answer:
                lines = re.findall(r"^(scru_\w+)\{(.*)\} (\S+)$", answer.read().decode(), re.MULTILINE)
            return {name: float(value) for name, labels, value in lines if 'type="ulidflake"' not in labels}

        wait_until(lambda: "scru_generator_refuses" in samples(), "the exporter has read the metrics")
        found = samples()
        assert -120 < found.pop("scru_generator_mark_ahead_seconds") < 3
        # No value, and no row on a primary.
        unknown = ["scru_generator_last_failure_age_seconds", "scru_horizon_mark_ahead_seconds"]
        assert [name for name, value in found.items() if value != value] == unknown
        absent = {"scru_standby_replay_age_seconds", "scru_generator_mark_ahead_seconds"}
        zero = METRICS - absent - {*unknown}
        assert {name: value for name, value in found.items() if name not in unknown} == dict.fromkeys(zero, 0)
    finally:
        exporter.stop()
