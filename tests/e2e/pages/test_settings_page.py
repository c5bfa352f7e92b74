"""docs/settings.md agrees with the server about every setting."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs/settings.md").read_text()


def test_the_table_is_that_of_the_server(connection):
    """The table has the name, default and context of each setting, and the values of numbers and enums."""
    connection.execute("LOAD 'scru'")
    columns = "name, vartype, boot_val, context, min_val, max_val, enumvals"
    query = f"SELECT {columns} FROM pg_settings WHERE name LIKE 'scru.%' AND context <> 'internal'"
    server = connection.execute(query).fetchall()
    rows = re.findall(r"^\| \[`(scru\.\w+)`\]\(#\w+\) \| (.*) \| `(.*)` \| (\w+) \|$", PAGE, re.MULTILINE)
    assert sorted((name, default, context) for name, _, default, context in rows) == sorted(
        (name, default, context) for name, _, default, context, *_ in server
    )
    values = {name: values for name, values, *_ in rows}
    for name, vartype, _, _, least, most, words in server:
        if vartype == "integer":
            assert values[name] == f"{least} to {most}"
        elif vartype == "enum":
            assert values[name] == ", ".join(f"`{word}`" for word in words)


def test_the_examples_return_what_the_page_says(new_server):
    """Executes the code blocks one after another on one server, each in a new session."""
    server = new_server()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION scru")
    for block in re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        lines = block.splitlines()
        with server.connect() as connection:
            results = [connection.execute(line).pgresult for line in lines if not line.startswith("--")]
        returned = [result.get_value(0, 0).decode() for result in results if result.ntuples]
        assert [f"-- {value}" for value in returned] == [line for line in lines if line.startswith("--")]


def test_each_setting_has_its_section(connection):
    connection.execute("LOAD 'scru'")
    query = "SELECT name FROM pg_settings WHERE name LIKE 'scru.%' AND context <> 'internal'"
    names = {name for (name,) in connection.execute(query)}
    assert set(re.findall(r"^## (scru\.\w+)$", PAGE, re.MULTILINE)) == names
