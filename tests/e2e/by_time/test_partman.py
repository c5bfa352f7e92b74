"""pg_partman on tables with an ID as primary key: it creates partitions, rows are routed to them, and old ones expire.

The tests move the server's clock forward. pg_partman recognizes a column's type by its name, so the columns are of a
domain named `text`; docs/ask-by-time.md describes this.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

import plans
from idtypes import SCRU160, each_type, of_types
from server import since

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class Events:
    """A table `events` that pg_partman partitions by ID, on a server whose clock the test sets."""

    def __init__(self, connection, clock, id_type):
        self.connection = connection
        self.clock = clock
        self.type = id_type.name
        connection.execute(
            f"""
            CREATE SCHEMA ids; CREATE EXTENSION scru SCHEMA ids;
            CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
            SET search_path = public, ids;
            CREATE DOMAIN ids.text AS ids.{self.type};
            CREATE TABLE events (id ids.text PRIMARY KEY DEFAULT gen_{self.type}(), at timestamptz)
                PARTITION BY RANGE (id);
            """
        )

    def partition(self, interval: str, start: datetime, premake: int) -> None:
        """Puts the table under the management of pg_partman."""
        [(done,)] = self.connection.execute(
            f"""
            SELECT partman.create_parent(
                p_parent_table := 'public.events', p_control := 'id', p_interval := %s, p_type := 'range',
                p_premake := %s, p_start_partition := %s,
                p_time_encoder := 'ids.{self.type}_time_encoder', p_time_decoder := 'ids.{self.type}_time_decoder')
            """,
            [interval, premake, start.isoformat()],
        )
        assert done is True

    def set_clock(self, moment: datetime) -> None:
        """Sets the server's clock."""
        self.clock.shift(moment.timestamp() - time.time())

    def maintain(self, **config: object) -> None:
        """Changes the configuration of the table, and runs pg_partman's maintenance."""
        for name, value in config.items():
            self.connection.execute(f"UPDATE partman.part_config SET {name} = %s", [value])
        self.connection.execute("SELECT partman.run_maintenance('public.events')")

    def add_new(self) -> None:
        """Inserts a row with a new ID."""
        self.connection.execute("INSERT INTO events VALUES (DEFAULT, now())")

    def add_of(self, *moments: datetime) -> None:
        """Inserts rows with the first and the last ID of each time. Skips existing IDs: two times may share a tick."""
        for moment in moments:
            for bound in f"{self.type}_lower", f"{self.type}_upper":
                insert = f"INSERT INTO events VALUES ({bound}(%s::timestamptz), %s) ON CONFLICT DO NOTHING"
                self.connection.execute(insert, [moment, moment])

    def names(self) -> list[str]:
        """Returns the names of the partitions, in order."""
        query = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1"
        return [name for (name,) in self.connection.execute(query)]

    def rows(self) -> list[tuple[str, datetime]]:
        """Returns the partition and time of each row."""
        return self.connection.execute("SELECT tableoid::regclass::text, at FROM events ORDER BY at, id").fetchall()


@pytest.fixture
def events(server, new_server, clock, id_type):
    """The table, before pg_partman manages it. The clock is at noon."""
    available = server.rows("SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'")
    if not available or [int(part) for part in available[0][0].split(".")] < [5, 2]:
        pytest.skip("this server has no pg_partman 5.2 or newer, which supports encoders")
    clock.shift(NOON.timestamp() - time.time())
    with new_server(None, clock.environment).connect() as connection:
        yield Events(connection, clock, id_type)


def days(first: int, last: int) -> list[str]:
    """Returns the names of the default partition and of the partitions of these days."""
    return ["events_default", *(f"events_p203001{day:02}" for day in range(first, last + 1))]


@each_type
def test_days_come_and_go(events, id_type):
    events.partition("1 day", start=NOON - 5 * DAY, premake=2)
    assert events.names() == days(5, 12)

    # A row with a new ID, and rows with older IDs around midnight and at noon.
    events.add_new()
    midnight = datetime(2030, 1, 7, tzinfo=UTC)
    tick = timedelta(milliseconds=id_type.tick)
    events.add_of(midnight - tick, midnight, NOON - 2 * DAY)
    [(new, _)] = events.rows()[-1:]
    assert new == "events_p20300110"
    assert [name for name, _ in events.rows()[:-1]] == [f"events_p2030010{day}" for day in (6, 6, 7, 7, 8, 8)]

    # With the operator <@, only the partition with the result is scanned.
    query = "SELECT id FROM events WHERE id <@ '[2030-01-07,2030-01-08)'"
    plan = events.connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchone()[0][0]["Plan"]
    assert {node["Relation Name"] for node in plans.nodes(plan) if "Relation Name" in node} == {"events_p20300107"}
    assert len(events.connection.execute(query).fetchall()) == 2

    # After two days, there are two more partitions. Retention then drops partitions older than three days.
    events.set_clock(NOON + 2 * DAY)
    events.add_new()
    events.maintain()
    assert events.names() == days(5, 14)
    events.maintain(retention="3 days", retention_keep_table=False)
    assert events.names() == days(9, 14)
    assert [name for name, _ in events.rows()] == ["events_p20300110", "events_p20300112"]


@each_type
def test_hours_follow_each_other_without_a_gap(events):
    """Partitions are contiguous even if an hour is not a whole number of ticks: a tick of scru64 is 256 ms."""
    events.partition("1 hour", start=NOON - HOUR, premake=1)
    for hour in range(1, 6):
        events.set_clock(NOON + hour * HOUR + HOUR / 2)
        events.add_new()
        events.maintain()
    assert events.names() == ["events_default", *(f"events_p20300110_{hour:02}0000" for hour in range(11, 19))]
    bounds = events.connection.execute(
        r"""
        SELECT substring(bound FROM $$FROM \('(\w+)'$$), substring(bound FROM $$TO \('(\w+)'$$)
        FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid, pg_get_expr(relpartbound, c.oid) AS bound
        WHERE inhparent = 'events'::regclass AND bound <> 'DEFAULT' ORDER BY relname
        """
    ).fetchall()
    expected = f"SELECT {events.type}_lower(%s::timestamptz)::text"
    for hour, (first, after) in zip(range(11, 19), bounds, strict=True):
        for bound, at in ((first, hour), (after, hour + 1)):
            [(text,)] = events.connection.execute(expected, [NOON.replace(hour=at)])
            assert bound == text, f"the bound at {at}:00"
    # Rows around each hour, including the ticks at its end, must be in the partition of their ID's time.
    for hour in range(12, 19):
        events.add_of(*(NOON.replace(hour=hour) + timedelta(milliseconds=ms) for ms in range(-512, 513, 128)))
    misplaced = f"""
        SELECT tableoid::regclass::text, {events.type}_timestamp(id) FROM events
        WHERE tableoid::regclass::text
            <> to_char(date_trunc('hour', {events.type}_timestamp(id)), '"events_p"YYYYMMDD"_"HH24MISS')
        """
    assert events.connection.execute(misplaced).fetchall() == []


@of_types([SCRU160])
def test_the_encoder_may_return_either_form_of_text(events):
    """The encoder's output depends on a setting, which may change between calls."""
    for hour, form in (0, "hex"), (24, "base32hex"), (48, "hex"):
        events.set_clock(NOON + hour * HOUR)
        events.connection.execute(f"SET scru.scru160_output = {form}")
        if hour == 0:
            events.partition("1 day", start=NOON, premake=1)
        events.add_new()
        events.maintain()
    assert events.names() == days(10, 13)
    assert [name for name, _ in events.rows()] == ["events_p20300110", "events_p20300111", "events_p20300112"]


@since(18, "pg_partman 5.5, which the page describes")
@each_type
def test_rows_are_moved_from_the_default_partition(events):
    """One function moves the rows to new partitions. Two others fail and move nothing. If they work, pg_partman has
    changed, and the page may change as well."""
    events.partition("1 day", start=NOON - DAY, premake=1)
    events.add_of(*(NOON - days * DAY for days in range(5)))
    of_days = [(at, f"events_p203001{at.day:02}") for at in (NOON - days * DAY for days in range(4, -1, -1))]
    expected = [(partition, at) for at, partition in of_days for _ in range(2)]
    assert [name for name, _ in events.rows()] == ["events_default"] * 6 + [name for name, _ in expected[6:]]
    for statement, missing in (
        ("CALL partman.partition_data_proc('public.events')", "function partman.partition_data_text"),
        ("SELECT partman.undo_partition('public.events', 'public.target')", "does not exist: ids.text <= text"),
    ):
        events.connection.execute("CREATE TABLE target (LIKE events INCLUDING ALL)")
        with pytest.raises(psycopg.Error, match=missing):
            events.connection.execute(statement)
        assert events.connection.execute("SELECT count(*) FROM target").fetchone() == (0,)
        events.connection.execute("DROP TABLE target")
    move = "SELECT partman.partition_data_time('public.events', p_batch_count := 5)"
    assert events.connection.execute(move).fetchone() == (6,)
    assert events.rows() == expected
    assert events.connection.execute(move).fetchone() == (0,)
