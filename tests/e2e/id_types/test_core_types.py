"""IDs in columns of built-in types: with the extension (docs/uuid-and-bigint-columns.md), and without it.

The regression test scru_uuid has the bytes and texts of sql/contrib/scru_uuid.sql.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from statistics import median

import psycopg
import pytest

from bench.reads import processor_time
from plans import estimate, explain

# ---------------------------------------------------------------------------------- docs/uuid-and-bigint-columns.md

PAGE = (Path(__file__).parents[3] / "docs/uuid-and-bigint-columns.md").read_text()
ROWS = 20_000
DAYS = 100


def blocks(heading: str) -> list[str]:
    """Returns the code blocks below a heading."""
    _, *sections = re.split(r"^##+ (.*)\n", PAGE, flags=re.MULTILINE)
    text = dict(zip(sections[::2], sections[1::2], strict=True))[heading]
    return re.findall(r"^```sql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def statements(heading: str) -> list[str]:
    """Returns the statements of the only block below a heading."""
    [block] = blocks(heading)
    return [statement.strip() for statement in block.split(";")[:-1]]


def fill(connection: psycopg.Connection) -> None:
    """Creates the table of the page, with rows of the last days."""
    connection.execute(statements("bigint")[0])
    connection.execute(
        f"""INSERT INTO payments (id)
            SELECT scru64_lower(now() - interval '1 day' * {DAYS} * n / {ROWS})::bigint + n % 7
            FROM generate_series(1, {ROWS}) AS n"""
    )
    connection.execute("ANALYZE payments")


def test_conditions_on_time_use_the_index(connection):
    """The plans have an index condition, and find the rows that the same condition finds on a column of the type. The
    planner estimates the rows by the statistics of the numbers, for constant times and times by the clock."""
    fill(connection)
    connection.execute("CREATE TABLE typed AS SELECT id::scru64 AS id FROM payments")
    _, of_page, _ = statements("bigint")
    assert "now() - interval '1 day'" in of_page
    day, week = "now() - interval '1 day'", "now() - interval '7 days'"
    lower = "SELECT FROM payments WHERE id >= scru64_lower"
    today = "'today'::timestamptz - interval '3 days'"
    pairs = [
        (of_page, f"id >= {day}"),
        (f"SELECT FROM payments WHERE id <= scru64_upper({day})::bigint", f"id <= scru64_upper({day})"),
        (f"{lower}({week})::bigint AND id < scru64_lower({day})::bigint", f"id <@ tstzrange({week}, {day})"),
        (f"{lower}({today})::bigint", f"id >= scru64_lower({today})"),
    ]
    connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    for query, condition in pairs:
        with connection.transaction():
            plan = explain(connection, query)
            assert "Index Cond: " in plan
            assert "Filter" not in plan
            [rows] = connection.execute(f"SELECT count(*) FROM ({query}) AS q").fetchone()
            assert (rows,) == connection.execute(f"SELECT count(*) FROM typed WHERE {condition}").fetchone()
            assert rows > 0
            if "<=" not in query:
                assert rows / 1.2 < estimate(connection, query) < rows * 1.2
    assert "Index Cond" not in explain(connection, "SELECT FROM payments WHERE id::scru64 >= now()")
    assert estimate(connection, f"{lower}((SELECT {week}))::bigint") == round(ROWS / 3)


def test_times_of_ids(connection):
    """The last query of the page returns the times of the IDs, and numbers that are not IDs have none."""
    create, _, times = statements("bigint")
    connection.execute(create)
    [before] = connection.execute("SELECT now() - interval '1 second'").fetchone()
    connection.execute("INSERT INTO payments (note) VALUES ('first'), ('second')")
    (first, _), (second, _) = rows = connection.execute(times).fetchall()
    assert [note for _, note in rows] == ["first", "second"]
    assert before < first <= second
    connection.execute("INSERT INTO payments VALUES (-1)")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        connection.execute(times)


@pytest.mark.parametrize("kind", ["bigint GENERATED ALWAYS AS IDENTITY", "bigserial"])
def test_an_existing_column(connection, kind):
    """New rows come after the rows with numbers of a sequence."""
    connection.execute(f"CREATE TABLE payments (id {kind} PRIMARY KEY, note text)")
    insert = "INSERT INTO payments (note) SELECT n FROM generate_series(%s::integer, %s::integer) AS n"
    connection.execute(insert, [1, 100])
    [statement] = re.findall("`(ALTER TABLE payments .*?)`", PAGE)
    connection.execute(statement)
    connection.execute(insert, [101, 200])
    [notes] = connection.execute("SELECT array_agg(note::integer ORDER BY id) FROM payments").fetchone()
    assert notes == [*range(1, 201)]
    old = "SELECT count(*) FROM payments WHERE id < scru64_lower(now() - interval '90 days')::bigint"
    assert connection.execute(old).fetchone() == (100,)


def test_numbers_in_json(connection):
    """The server writes a `bigint` as a number, which a double rounds as the page says, and a scru64 as a string."""
    exact, rounded, text = re.search(r'"id": (\d+).*?(\d{18}).*`(0\w{11})`', PAGE, re.DOTALL).groups()
    assert f"{float(exact):.0f}" == rounded != exact
    query = "SELECT to_json(%s::bigint)::text, to_json(%s::bigint::scru64)::text, gen_scru64()::bigint > 2::bigint ^ 53"
    as_number, as_string, is_large = connection.execute(query, [exact, exact]).fetchone()
    assert (as_number, as_string, is_large) == (exact, json.dumps(text), True)


def test_uuid_columns(new_database):
    """The statements for uuid columns. test_migrate.py has the way to scru128 and back."""
    with new_database(extension=False).connect() as connection:
        [setup] = blocks("uuid")
        connection.execute(setup)
        connection.execute("INSERT INTO invoices SELECT FROM generate_series(1, 100)")
        [others] = re.findall(r"`(SELECT count\(\*\) FROM invoices .*?)`", PAGE)
        assert connection.execute(others).fetchone() == (0,)
        connection.execute("INSERT INTO invoices SELECT gen_random_uuid() FROM generate_series(1, 10)")
        assert connection.execute(others).fetchone() == (10,)


SYSTEMS = dict(re.findall(r"^\| \[([\w, ]+)\]\(.*?\).* \| (\d+ \| \d+) \|$", PAGE, re.MULTILINE))
# An ID of each system, and its time, as documentation, articles and the tests of Baeldung's tutorials publish them.
PUBLISHED = {
    "Twitter, X": (1541815603606036480, "2022-06-28 16:07:40.105+00"),
    "Discord": (175928847299117063, "2016-04-30 11:18:25.796+00"),
    "Instagram": (2384288897814875714, "2020-08-26 13:43:27+00"),
    "Mastodon": (103270115826048975, "2019-12-08 03:48:33+00"),
    "TSID": (809402089079287825, "2026-02-11 12:34:56+00"),
}


@pytest.mark.parametrize("system", PUBLISHED)
def test_a_published_id_has_its_published_time(connection, system):
    """The precision is a millisecond if the published time has one, otherwise a second. The bound of the time is the
    first ID of its millisecond."""
    assert [*SYSTEMS] == [*PUBLISHED]
    epoch_ms, shift = SYSTEMS[system].split(" | ")
    id, published = PUBLISHED[system]
    query = f"""
        SELECT date_trunc('{"milliseconds" if "." in published else "second"}', t) = %s::timestamptz,
               scru_snowflake_lower(t, {epoch_ms}, {shift}) = {id} >> {shift} << {shift}
        FROM scru_snowflake_timestamp({id}, {epoch_ms}, {shift}) AS t"""
    assert connection.execute(query, [published]).fetchone() == (True, True)


def test_ids_of_other_systems(connection):
    """The condition of the page uses the index, with an estimate as good as that of a bigint."""
    [block] = blocks("IDs of other systems")
    create, times, of_page = [statement.strip() for statement in block.split(";")[:-1]]
    connection.execute(create)
    connection.execute(
        f"""INSERT INTO messages
            SELECT scru_snowflake_lower(now() - n * interval '{DAYS} days' / {ROWS}, 1420070400000, 22) + n % 7,
                   n
            FROM generate_series(0, {ROWS} - 1) AS n"""
    )
    connection.execute("ANALYZE messages")
    [(oldest, newest)] = connection.execute(f"SELECT min(created_at), max(created_at) FROM ({times}) AS t").fetchall()
    [now] = connection.execute("SELECT now()").fetchone()
    assert (round((now - newest) / timedelta(days=1)), round((now - oldest) / timedelta(days=1))) == (0, DAYS)
    for days in 1, 3:
        query = of_page.replace("1 day", f"{days} days")
        [rows] = connection.execute(f"SELECT count(*) FROM ({query}) AS q").fetchone()
        assert rows == pytest.approx(ROWS / DAYS * days, abs=2)
        assert estimate(connection, query) == pytest.approx(rows, rel=0.2)
        connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        assert "Index Cond: (id >= scru_snowflake_lower(" in explain(connection, query)
        connection.execute("RESET enable_seqscan; RESET enable_bitmapscan")


def test_conditions_on_uuids_of_version_4(connection):
    """The shares of the page, and its condition without old rows."""
    text = " ".join(PAGE.split())
    [later] = re.findall(r"in (\d+\.\d) % of cases in the future", text)
    [a_day] = re.findall(r"of a billion old rows, a day has (\d+)", text)
    connection.execute("CREATE EXTENSION scru_uuidv7; CREATE TABLE invoices (id uuid PRIMARY KEY)")
    connection.execute("INSERT INTO invoices SELECT gen_random_uuid() FROM generate_series(1, 20000)")
    [now] = connection.execute("SELECT extract(epoch FROM now())::float8 * 1000").fetchone()
    share = 1 - now / 2**48
    assert share * 100 == pytest.approx(float(later), abs=0.3)
    assert round(1e9 * 86_400_000 / 2**48) == int(a_day)
    query = "SELECT count(*) FROM invoices WHERE id >= now()"
    assert connection.execute(query).fetchone()[0] == pytest.approx(20_000 * share, abs=100)
    bounded = re.search(r"`(id <@ tstzrange\(t, .*?\))`", text)[1].replace("t,", "now() - interval '1 day',")
    known = re.search(r"`(AND uuidv7_timestamp\(id\) IS NOT NULL)`", text)[1]
    connection.execute("INSERT INTO invoices SELECT gen_uuidv7() FROM generate_series(1, 100)")
    connection.execute("INSERT INTO invoices SELECT overlay(gen_uuidv7()::text PLACING '4' FROM 15 FOR 1)::uuid")
    assert connection.execute(f"SELECT count(*) FROM invoices WHERE {bounded} {known}").fetchone() == (100,)
    connection.execute("ANALYZE invoices; SET enable_seqscan = off; SET enable_bitmapscan = off")
    assert "Index Cond: ((id >= " in explain(connection, f"SELECT count(*) FROM invoices WHERE {bounded}")


def test_bounds_of_uuids_are_those_of_the_page(connection):
    connection.execute("CREATE EXTENSION scru_uuidv7")
    bounds = "SELECT uuidv7_lower('2026-11-01 12:00+00')::text, uuidv7_upper('2026-11-01 12:00+00')::text"
    assert list(connection.execute(bounds).fetchone()) == re.findall(r"`([0-9a-f-]{36})`", PAGE)


# -------------------------------------------------------------------------------------------- sql/contrib/scru_uuid.sql


ROOT = Path(__file__).parents[3]
SCRIPT = (ROOT / "sql/contrib/scru_uuid.sql").read_text()


def test_the_page_lists_the_functions(connection):
    """docs/without-the-extension.md names exactly the functions for users."""
    connection.execute(SCRIPT)
    query = """SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'scru_uuid'::regnamespace
               AND proname NOT IN ('digits', 'from_digits')"""
    page = (ROOT / "docs/without-the-extension.md").read_text()
    assert {name for (name,) in connection.execute(query)} == set(re.findall(r"`scru_uuid\.(\w+)\(", page))


@pytest.mark.alone
def test_the_speed_of_the_generators(connection, measured):
    """Measures the script's generators relative to gen_scru128(). The header of the script states the ratios."""
    pid = connection.info.backend_pid
    connection.execute(f"{SCRIPT}; SET jit = off")

    def cost(expression: str) -> float:
        before = processor_time(pid)
        connection.execute(f"SELECT count({expression}) FROM generate_series(1, 50000)")
        return processor_time(pid) - before

    rounds = []
    for _ in range(5):
        floor = cost("1")
        own = cost("gen_scru128()") - floor
        rounds.append([(cost(f"scru_uuid.{name}()") - floor) / own for name in ("generate", "generate_increasing")])
    for name, ratios in zip(("generate", "generate_increasing"), zip(*rounds, strict=True), strict=True):
        ratio = median(ratios)
        measured(f"scru_uuid.{name}() to gen_scru128(): {ratio:.0f}")
        assert 1 < ratio < 400
