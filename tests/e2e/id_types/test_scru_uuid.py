"""sql/contrib/scru_uuid.sql gives the same bytes and texts as the extension, but does not require it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from uuid import UUID

import psycopg
import pytest

import expect
from bench.server import processor_time
from idtypes import SCRU128, ULID, IdType, of_types
from server import oldest_and_newest

pytestmark = oldest_and_newest("the functions are SQL and PL/pgSQL of features that all versions have")

ROOT = Path(__file__).parents[3]
SCRIPT = (ROOT / "sql" / "contrib" / "scru_uuid.sql").read_text()

of_both = of_types([SCRU128, ULID])


@pytest.fixture
def connection(database) -> Iterator[psycopg.Connection]:
    """A connection to a database with the script, and with the extension for comparison."""
    with database.connect() as connection:
        connection.execute(SCRIPT)
        yield connection


def vectors(id_type: IdType, kind: str = "valid") -> list[dict]:
    """Returns the test vectors of a type."""
    return json.loads((ROOT / "tests" / "vectors" / f"{id_type.name}.json").read_text())[kind]


def test_it_needs_no_extension(new_database):
    """The schema can be created, used and dropped on a server without the extension."""
    with new_database(extension=False).connect() as connection:
        connection.execute(SCRIPT)
        connection.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT scru_uuid.generate(), n int)")
        connection.execute("INSERT INTO orders (n) SELECT generate_series(1, 1000)")
        [(texts,)] = connection.execute("SELECT count(DISTINCT scru_uuid.to_ulid(id)) FROM orders")
        assert texts == 1000
        connection.execute("DROP SCHEMA scru_uuid CASCADE")


@of_both
def test_texts_and_times_of_the_vectors(connection, id_type):
    """Texts and times equal those of the specifications' examples. Input is case-insensitive."""
    name = id_type.name
    for vector in vectors(id_type):
        id = UUID(vector["bytes"])
        texts = [vector["text"], *vector["also_read"]]
        query = f"""SELECT scru_uuid.to_{name}(%s), scru_uuid.timestamp(%s) = %s::timestamptz,
                           (SELECT array_agg(DISTINCT scru_uuid.from_{name}(text)) FROM unnest(%s::text[]) AS text)"""
        row = connection.execute(query, [id, id, vector["timestamp"], texts]).fetchone()
        assert row == (vector["text"], True, [id])


@of_both
def test_the_same_texts_and_times_as_the_extension(connection, id_type):
    """Conversions in both directions agree on random values of every magnitude."""
    name = id_type.name
    ids = [UUID(bytes=id_type.binary(value)) for value in id_type.samples(1000, seed=20)]
    query = f"""
        SELECT count(*) FROM unnest(%s::uuid[]) AS id
        WHERE scru_uuid.to_{name}(id) = id::{name}::text
          AND scru_uuid.from_{name}(id::{name}::text) = id
          AND scru_uuid.timestamp(id) = {name}_timestamp(id::{name})"""
    assert connection.execute(query, [ids]).fetchone() == (1000,)


@of_both
def test_bounds_by_time(connection, id_type):
    """Bounds equal the extension's for times in microseconds, at ticks and next to them, and for infinite times."""
    name = id_type.name
    times = """
        SELECT timestamptz 'epoch' + n * interval '977 days 3 hours 1 minute 0.123457 seconds'
            FROM generate_series(0, 3000) AS n
        UNION ALL SELECT timestamptz '2026-11-01' + n * interval '1 microsecond' FROM generate_series(-1001, 1001) AS n
        UNION ALL VALUES (timestamptz 'epoch'), ('10889-08-02 05:31:50.655+00'), ('-infinity'), ('infinity')"""
    query = f"""
        SELECT count(*), count(*) FILTER (
            WHERE scru_uuid.lower(t) = {name}_lower(t)::uuid AND scru_uuid.upper(t) = {name}_upper(t)::uuid)
        FROM ({times}) AS times (t)"""
    count, equal = connection.execute(query).fetchone()
    assert (count, equal) == (3001 + 2003 + 4, count)


@of_both
def test_malformed_texts(connection, id_type):
    """Invalid texts raise the same SQLSTATE and message as in the extension. Only the extension adds a DETAIL."""
    digit = id_type.text(0)[1:]
    malformed = ["", digit, f"{digit}00", f"{digit}!", f"{digit} ", f"{digit}\u212a", f"{digit}\u0660"]
    for text in malformed:
        with expect.error(expect.INVALID_TEXT, f'invalid input syntax for type {id_type}: "{text}"'):
            connection.execute(f"SELECT scru_uuid.from_{id_type}(%s)", [text])
    for text in id_type.texts_above_the_largest():
        with expect.error(expect.OUT_OF_RANGE, f'value "{text}" is out of range for type {id_type}'):
            connection.execute(f"SELECT scru_uuid.from_{id_type}(%s)", [text])


def test_times_out_of_range(connection):
    """Generators reject the first and the last timestamp, which are reserved. lower() rejects times after the last
    timestamp, and upper() those before the first."""
    for call in (
        "generate(timestamptz 'epoch')",
        "generate(timestamptz '10889-08-02 05:31:50.655+00')",
        "lower(timestamptz '10889-08-02 05:31:50.655001+00')",
        "upper(timestamptz '1969-12-31')",
    ):
        with expect.error("22008", "timestamp out of range"):
            connection.execute(f"SELECT scru_uuid.{call}")
    assert connection.execute("SELECT scru_uuid.generate(NULL)").fetchone() == (None,)


def test_a_random_id_of_a_time(connection):
    query = """
        SELECT count(DISTINCT id), array_agg(DISTINCT scru_uuid.timestamp(id)) = '{2026-11-01 12:00:00.001+00}'
        FROM (SELECT scru_uuid.generate('2026-11-01 12:00:00.001999+00') FROM generate_series(1, 1000)) AS t (id)"""
    assert connection.execute(query).fetchone() == (1000, True)


@pytest.mark.parametrize("generator", ["generate", "generate_increasing"])
def test_an_id_has_the_time_and_random_bits(connection, generator):
    """An ID contains the time of the call in milliseconds. Each of the other 80 bits is set in some IDs. With
    `generate`, each is also clear in some."""
    query = f"""
        SELECT count(*), count(DISTINCT id),
               bool_and(scru_uuid.timestamp(id) BETWEEN date_trunc('milliseconds', before) AND after),
               bit_or(body)::text, bit_and(body)::text
        FROM (SELECT clock_timestamp() AS before, scru_uuid.{generator}() AS id, clock_timestamp() AS after
              FROM generate_series(1, 20000)) AS made,
             LATERAL (SELECT ('x' || right(replace(id::text, '-', ''), 20))::bit(80) AS body) AS bits"""
    made, different, in_time, any_bit, each_bit = connection.execute(query).fetchone()
    assert (made, different, in_time, any_bit) == (20000, 20000, True, "1" * 80)
    if generator == "generate":
        assert each_bit == "0" * 80


def test_increasing_within_a_session(connection):
    """Each ID is greater than the one before and has new random low bits, even after a rollback."""
    made = []
    for rolled_back in (False, True, False):
        with connection.transaction(force_rollback=rolled_back):
            query = "SELECT scru_uuid.generate_increasing() FROM generate_series(1, 5000)"
            ids = [id for (id,) in connection.execute(query)]
            made += [] if rolled_back else ids
    assert made == sorted(made) and len(set(made)) == 10_000
    tails = {id.int & 0xFFFFFFFF for id in made}
    assert len(tails) > 9_990


@pytest.mark.parametrize(
    ("ahead", "continues"), [("0", True), ("9 seconds", True), ("11 seconds", False)], ids=["now", "9 s", "11 s"]
)
def test_increasing_when_the_clock_has_moved_back(connection, ahead, continues):
    """If the clock is up to 10 s behind, generation continues from the last ID, and the counter carries into the
    timestamp. If it is further behind, generation starts anew."""
    last = f"""SELECT left(replace(scru_uuid.lower(clock_timestamp() + '{ahead}'::interval)::text, '-', ''), 12)
                      || 'ffffffffffff00000000'"""
    query = f"SELECT set_config('scru_uuid.last', ({last}), false)::uuid, scru_uuid.generate_increasing()"
    before, id = connection.execute(query).fetchone()
    assert (id > before) == continues
    if continues and ahead != "0":
        assert id.int >> 80 == (before.int >> 80) + 1


def test_moving_to_the_extension_rewrites_nothing(connection):
    """The table keeps its file, and the texts and order of its IDs."""
    connection.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT scru_uuid.generate_increasing(), n serial)")
    connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 1000)")
    file = "SELECT pg_relation_filenode('orders')"
    before = connection.execute(file).fetchone()
    texts = connection.execute("SELECT scru_uuid.to_scru128(id) FROM orders ORDER BY n").fetchall()
    connection.execute(
        """ALTER TABLE orders ALTER id DROP DEFAULT, ALTER id TYPE scru128 USING id::scru128,
                              ALTER id SET DEFAULT gen_scru128()"""
    )
    connection.execute("DROP SCHEMA scru_uuid CASCADE")
    assert connection.execute(file).fetchone() == before
    assert connection.execute("SELECT id::text FROM orders ORDER BY id").fetchall() == texts
    connection.execute("INSERT INTO orders DEFAULT VALUES")
    assert connection.execute("SELECT n FROM orders ORDER BY id DESC LIMIT 1").fetchone() == (1001,)


def test_the_page_lists_the_functions(connection):
    """docs/migrate.md names exactly the functions for users."""
    query = """SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'scru_uuid'::regnamespace
               AND proname NOT IN ('digits', 'from_digits')"""
    page = (ROOT / "docs" / "migrate.md").read_text()
    assert {name for (name,) in connection.execute(query)} == set(re.findall(r"`scru_uuid\.(\w+)\(", page))


@pytest.mark.alone
def test_the_speed_of_the_generators(connection, measured):
    """Measures the script's generators relative to gen_scru128(). The header of the script states the ratios."""
    pid = connection.info.backend_pid
    connection.execute("SET jit = off")

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
