"""Expressions that a dump does not restore, and the query of docs/operations.md that finds them.

A dump does not name the schema of an operator that its expression does not contain, and names one operator for all
columns of a row. Its restore looks for operators in pg_catalog only. The server does so with all types of users.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from server import oldest_and_newest, on_the_oldest

DOCS = Path(__file__).parents[3] / "docs"
DEFINITIONS = [
    line for line in (Path(__file__).parent / "definitions.sql").read_text().splitlines() if not line.startswith("--")
]
TABLES = """
    CREATE TABLE t (id scru128, id2 scru128, x int, ids scru128[]);
    CREATE TABLE t2 (id scru128, x int, ts timestamptz);
    CREATE DOMAIN id_of_order AS scru128;
    CREATE TABLE named (n id_of_order)
"""

of_server = oldest_and_newest("the server stores these expressions without regard to the type")

# --------------------------------------------------------------------------------------------------------- the objects


def outcome(server, new_database, scripts: Iterable[str]) -> tuple[set[int], set[int]]:
    """Creates the objects of each script in a schema of its own, and restores a dump of all.

    Returns which scripts have objects that are missing after the restore, and which have objects that the query finds.
    """
    source, target = new_database(), new_database(extension=False)
    with source.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7")
        connection.execute(DECOYS)
        for index, script in enumerate(scripts):
            connection.execute(f"CREATE SCHEMA d{index}; SET search_path = d{index}, public; {script}")
        path, query = query_of_page()
        connection.execute(path)
        found = {number(identity) for _, identity in connection.execute(query)}
        before = objects(connection)
    dump = source.server.pg_dump(source.name)
    server.run("psql", "-X", "-d", target.name, input=dump)
    with target.connect() as connection:
        missing = {number(identity) for _, identity in before - objects(connection)}
    return missing, found


def number(identity: str) -> int | None:
    """Returns the number of the script that has created an object; `None` if the object is another one."""
    schema = re.search(r"\bd(\d+)\.", identity)
    return schema and int(schema[1])


def objects(connection) -> set[tuple[str, str]]:
    """Returns the types and the identities of the objects that the scripts have created."""
    query = "SELECT type, identity FROM pg_depend, pg_identify_object(classid, objid, 0) WHERE identity IS NOT NULL"
    return {row for row in connection.execute(query) if number(row[1]) is not None}


# Functions in the schema public that match the arguments of the query better than those of the server.
DECOYS = """
    CREATE FUNCTION public.concat(pg_node_tree, pg_node_tree) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'decoy'; END $$;
    CREATE FUNCTION public.pg_identify_object(
        regclass, oid, integer, OUT type text, OUT schema text, OUT name text, OUT identity text)
        LANGUAGE plpgsql AS $$ BEGIN RAISE 'decoy'; END $$
"""


def query_of_page() -> tuple[str, str]:
    """Returns the statements of docs/operations.md: the search path without objects of users, and the query."""
    section = (DOCS / "operations.md").read_text().split("\n## Before a dump\n")[1]
    path, query = re.search(r"```sql\n(.*?;)\n\n(.*?)```", section, re.DOTALL).groups()
    assert path == "SET search_path = pg_catalog, pg_temp;"
    return path, query


@of_server
def test_the_query_finds_what_a_dump_does_not_restore(server, new_database):
    missing, found = outcome(server, new_database, [TABLES + ";" + definition for definition in DEFINITIONS])
    assert [DEFINITIONS[index] for index in sorted(missing ^ found)] == []
    assert (len(missing), len(DEFINITIONS)) == (29, 66)


# -------------------------------------------------------------------------------------------------- the replacements


def rows_of_page() -> list[tuple[list[str], str]]:
    """Returns the rows of the table in docs/surprises.md: what is not restored, and what to write."""
    section = (DOCS / "surprises.md").read_text().split("\n## Dumps\n")[1].split("\n## ")[0]
    rows = [row.split(" | ") for row in re.findall(r"^ *\| (`.*`) \|$", section, re.MULTILINE)]
    return [([text.replace("THEN …", "THEN true") for text in re.findall("`([^`]*)`", a)], b) for a, b in rows]


def condition(text: str) -> str:
    """Returns an expression as a condition."""
    text = text.strip("`").replace("THEN …", "THEN true")
    if (text.startswith("CASE WHEN") and "END" not in text) or text.startswith("CASE id"):
        return f"{text} END"
    return f"{text} IS NULL" if "NULLIF" in text or "ELSE id" in text else text


ORDERS = "CREATE TABLE orders (id scru128, prev scru128, x int, y int); CREATE TABLE items (id scru128, x int);"
KINDS = {
    "CHECK": "ALTER TABLE orders ADD CHECK ({})",
    "a generated column": "ALTER TABLE orders ADD same boolean GENERATED ALWAYS AS ({}) STORED",
    "a partial index": "CREATE INDEX ON orders (x) WHERE {}",
    "a trigger": """
        CREATE TRIGGER t BEFORE UPDATE ON orders FOR EACH ROW WHEN ({new})
        EXECUTE FUNCTION suppress_redundant_updates_trigger()
    """,
    "a policy": "CREATE POLICY p ON orders USING ({})",
    "a view": "CREATE VIEW v AS SELECT {} AS same FROM orders",
    "a function": "CREATE FUNCTION f() RETURNS boolean BEGIN ATOMIC SELECT {} FROM orders; END",
}
KINDS_WITH_SUBQUERY = ("a policy", "a view", "a function")


def scripts_of(text: str) -> Iterable[str]:
    """Returns scripts with objects of all kinds that can have this expression or join."""
    if "JOIN" in text:
        yield f"{ORDERS} CREATE VIEW v AS SELECT orders.y FROM orders {text}"
        return
    for kind, script in KINDS.items():
        if not re.search("SELECT|TABLE", text) or kind in KINDS_WITH_SUBQUERY:
            of_trigger = re.sub(r"\b(id|prev|x|y)\b", r"NEW.\1", condition(text))
            yield ORDERS + script.format(condition(text), new=of_trigger)


@of_server
def test_the_replacements_of_the_page_are_restored(server, new_database):
    rows = rows_of_page()
    assert len(rows) == 10
    wrong = [script for texts, _ in rows for text in texts for script in scripts_of(text)]
    right = [script for _, instead in rows for script in scripts_of(instead.strip("`"))]
    missing, found = outcome(server, new_database, wrong + right)
    assert found == missing
    assert missing == set(range(len(wrong)))


@on_the_oldest("the expressions have the same meaning on all servers")
def test_the_replacements_have_the_same_result(connection):
    """Those of one column also agree if one or both of the IDs are NULL."""
    connection.execute(ORDERS)
    connection.execute(
        """
        INSERT INTO orders SELECT a, b, x, y
            FROM (VALUES (scru128_lower('2026-01-01')), (scru128_lower('2026-01-02')), (NULL)) AS a(a),
                 (VALUES (scru128_lower('2026-01-01')), (scru128_lower('2026-01-02')), (NULL)) AS b(b),
                 generate_series(6, 8) AS x, generate_series(6, 8) AS y;
        INSERT INTO items VALUES (scru128_lower('2026-01-02'), 7), (scru128_lower('2026-01-01'), 6)
        """
    )
    for texts, instead in rows_of_page():
        of_columns = not re.search(r"\(\w+, \w+\)|JOIN", texts[0])
        among = "" if of_columns else "WHERE id IS NOT NULL AND prev IS NOT NULL"
        for text in texts:
            if "JOIN" in text:
                counts = [
                    connection.execute(f"SELECT count(*) FROM {of} {join}").fetchone()
                    for of, join in (("(SELECT id, y FROM orders) AS orders", each) for each in (text, instead[1:-1]))
                ]
                assert counts[0] == counts[1] and counts[0] > (0,)
                continue
            query = f"SELECT {condition(text)}, {condition(instead)} FROM orders {among}"
            found = connection.execute(query).fetchall()
            assert len({one for one, _ in found}) > 1, text
            assert all(one == other for one, other in found), text
