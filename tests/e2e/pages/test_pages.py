"""Pages that agree with the sources and the server: errors, settings and guarantees.

docs/errors.md has every message that the sources raise, with its SQLSTATE, and no other messages. tests/guarantees.md
lists tests of every promise, and these exist.
"""

from __future__ import annotations

import re
from pathlib import Path

import page
from idtypes import TYPES
from server import on_the_oldest, pg_config

ROOT = Path(__file__).parents[3]

compares_with_the_sources = on_the_oldest("compares the page with the sources")

# ------------------------------------------------------------------------------------------------------- docs/errors.md

ERRORS = page.text("errors")
CODE = "\n".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.rs")) if path.name != "tests.rs")

STRING = r'"(?:[^"\\]|\\.)*"'
# What raises an error: its SQLSTATE, and its message as a literal.
RAISES = re.compile(
    rf"(?:sql_error!\(|SqlState::)\s*(ERRCODE_\w+),\s*(?:(?:format!|quoting)\(\s*)?({STRING})", re.DOTALL
)
# What rejects a value of a setting with a message in place of the server's.
REJECTS = re.compile(rf"GucCheckError::new\(format!\(({STRING}).*?SqlState::(ERRCODE_\w+)", re.DOTALL)
# Formatted values, of which two in a row count as one, and line continuations in a string.
VALUES = r"\{[^}]*\}(?: \{[^}]*\})?|\\\n\s*"
# The SQLSTATE of LOG messages, which are not on the page.
NO_ERROR = "ERRCODE_SUCCESSFUL_COMPLETION"
# The page's heading for panics, and the SQLSTATE with which the extension reports them.
PANICS = ("Other messages", "ERRCODE_INTERNAL_ERROR")

# The page names one type, function or argument where the sources have a value.
NAMES = r"(?<![a-z0-9])(?:scru128|scru160|scru64|ulid)(?![a-z0-9])|scru_set_mark|node_id_size …"

Message = tuple[str, ...]
"""The literal parts of a message, between its values."""


def sqlstates() -> dict[str, str]:
    """Returns the SQLSTATEs by name, as the server's header defines them."""
    header = (Path(pg_config("--includedir-server")) / "utils/errcodes.h").read_text()
    found = re.findall(r"#define (ERRCODE_\w+) MAKE_SQLSTATE\(([^)]*)\)", header)
    return {name: "".join(re.findall(r"'(.)'", code)) for name, code in found}


def of_page() -> dict[Message, set[str]]:
    """Returns the messages of the page, with their SQLSTATEs."""
    parts = re.split(r"^### (.*)\n", ERRORS, flags=re.MULTILINE)
    found = {
        heading: set(re.findall(r"\*\*([0-9A-Z]{5})[.*]", text))
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    found |= {text: {code} for text, code in re.findall(r"^\| `(.*)` \| ([0-9A-Z]{5}) \|", ERRORS, re.MULTILINE)}
    return {message(text, "…"): codes for text, codes in found.items()}


def of_sources() -> dict[Message, set[str]]:
    """Returns the messages of the sources, with their SQLSTATEs."""
    names = sqlstates()
    found: dict[Message, set[str]] = {}
    for name, text in [*RAISES.findall(CODE), *(rejects[::-1] for rejects in REJECTS.findall(CODE))]:
        parts = message(text[1:-1].replace('\\"', '"'), VALUES)
        found.setdefault(parts, set()).add(names[name])
    return found


def message(text: str, values: str) -> Message:
    """Splits a text at its values, which match a pattern or are names that differ between types and functions."""
    return tuple(part for part in re.split(rf"{NAMES}|{values}", text) if part)


@compares_with_the_sources
def test_the_page_has_the_messages_of_the_sources():
    listed = of_page()
    heading, name = PANICS
    assert listed.pop((heading,)) == {sqlstates()[name]}
    assert listed == of_sources()
    # What people search for.
    literal = [f"{text} {id_type.name}`" for text in ("for type", "generate a") for id_type in TYPES]
    assert [text for text in literal if text not in ERRORS] == []


@compares_with_the_sources
def test_the_messages_of_the_sources_are_literals():
    """An error in another form would not be compared with the page."""
    literal = [match[0] for match in RAISES.finditer(CODE) if match[0].startswith("sql_error!")]
    assert len(re.findall(r"\bsql_error!\(", CODE)) == len(literal) > 20
    # In the macro, in what reports an error of the server, or a panic, with its own message, and for lack of memory.
    assert len(re.findall(r"\bError::new\(", CODE)) == 2 + 1 + 1 + 1
    # A warning, and a line of the log.
    assert len(re.findall(r"\bErrorReport::new\(", CODE)) == 1 + 1
    assert CODE.count("GucCheckError::new(") == len(REJECTS.findall(CODE)) == 1


@compares_with_the_sources
def test_the_page_has_the_sqlstates_of_the_sources():
    """The page also has the SQLSTATEs of errors whose message is not the extension's own. A comparison raises none."""
    names = sqlstates()
    raised = {names[name] for name in re.findall(r"(?<![!=]= SqlState::)\b(ERRCODE_\w+)", CODE) if name != NO_ERROR}
    assert set.union(*of_page().values()) == raised
    [by_sqlstate] = re.findall(r"^## By SQLSTATE\n(.*?)^## ", ERRORS, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"\b(?=\w*\d)[0-9A-Z]{5}\b", by_sqlstate)) == raised


# ----------------------------------------------------------------------------------------------------- docs/settings.md

SETTINGS = page.text("settings")


def test_the_table_is_that_of_the_server(connection):
    """The table has the name, default and context of each setting, and the values of numbers and enums."""
    connection.execute("LOAD 'scru'")
    columns = "name, vartype, boot_val, context, min_val, max_val, enumvals"
    query = f"SELECT {columns} FROM pg_settings WHERE name LIKE 'scru.%' AND context <> 'internal'"
    server = connection.execute(query).fetchall()
    rows = re.findall(r"^\| \[`(scru\.\w+)`\]\(#\w+\) \| (.*) \| `(.*)` \| (\w+) \|$", SETTINGS, re.MULTILINE)
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
    server.psql("postgres", b"CREATE EXTENSION scru")
    for block in page.all_blocks("settings"):
        lines = block.splitlines()
        with server.connect() as connection:
            results = [connection.execute(line).pgresult for line in lines if not line.startswith("--")]
        returned = [result.get_value(0, 0).decode() for result in results if result.ntuples]
        assert [f"-- {value}" for value in returned] == [line for line in lines if line.startswith("--")]


# --------------------------------------------------------------------------------------------------- docs/guarantees.md


def items(text: str, marker: str) -> list[tuple[str, str]]:
    """Returns the label and the text of each item of a list, whose lines are joined."""
    found = re.findall(rf"^- {marker} (.*(?:\n  .*)*)", text, re.MULTILINE)
    return [(label, " ".join(text.split())) for label, text in found]


def has_test(name: str, path: Path) -> bool:
    """Returns whether a file has a test of this name, or is itself the test."""
    if path.suffix in (".py", ".rs"):
        return re.search(rf"^(def|fn) {name}\b", path.read_text(), re.MULTILINE) is not None
    return path.stem == name


@compares_with_the_sources
def test_every_promise_has_tests():
    promises = page.text("guarantees").split("\n## What is not promised\n")[0]
    labels = [label for label, _ in items(promises, r"\*\*(\w+)\.\*\*")]
    assert len(labels) == len(re.findall("^- ", promises, re.MULTILINE)) > 50
    listed = items((ROOT / "tests/guarantees.md").read_text(), r"(\w+):")
    assert [label for label, _ in listed] == labels
    parts = [re.fullmatch(r"`(.*)` ?(.*)", part).groups() for _, text in listed for part in text.split("; ")]
    for file, names in parts:
        paths = [path for each in ("tests", "crates", "tools") for path in (ROOT / each).rglob(file)]
        for name in names.split(", "):
            assert any(has_test(name or path.stem, path) for path in paths), (file, name)
