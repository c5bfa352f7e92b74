"""docs/errors.md has every message that the sources raise, with its SQLSTATE, and no other messages."""

from __future__ import annotations

import re
from pathlib import Path

from server import on_the_oldest, pg_config

pytestmark = on_the_oldest("compares the page with the sources")

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/errors.md").read_text()
CODE = "\n".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.rs")) if path.name != "tests.rs")

STRING = r'"(?:[^"\\]|\\.)*"'
DEFINITION = re.compile(r"(?:let intro =([^;]*);\s*)?let message =(.*?);\n", re.DOTALL)
ARGUMENT = re.compile(rf"::new\(\s*SqlState::(\w+),\s*(?:format!\(\s*)?({STRING})", re.DOTALL)
# Formatted values, of which two in a row count as one, and line continuations in a string.
VALUES = r"\{[^}]*\}(?: \{[^}]*\})?|\\\n\s*"
# The SQLSTATE of LOG messages, which are not on the page.
NO_ERROR = "ERRCODE_SUCCESSFUL_COMPLETION"
# The page's heading for panics, and the SQLSTATE with which the extension reports them.
PANICS = ("Other messages", "ERRCODE_INTERNAL_ERROR")

Message = tuple[str, ...]
"""The literal parts of a message, between its values."""


def sqlstates() -> dict[str, str]:
    """Returns the SQLSTATEs by name, as the server's header defines them."""
    header = (Path(pg_config("--includedir-server")) / "utils/errcodes.h").read_text()
    found = re.findall(r"#define (ERRCODE_\w+) MAKE_SQLSTATE\(([^)]*)\)", header)
    return {name: "".join(re.findall(r"'(.)'", code)) for name, code in found}


def of_page() -> dict[Message, set[str]]:
    """Returns the messages of the page, with their SQLSTATEs."""
    parts = re.split(r"^### (.*)\n", PAGE, flags=re.MULTILINE)
    return {
        message(heading, r"…|(?<![A-Za-z])T(?![A-Za-z])"): set(re.findall(r"\*\*([0-9A-Z]{5})[.*]", text))
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def of_sources() -> dict[Message, set[str]]:
    """Returns the messages of the sources, with their SQLSTATEs."""
    names = sqlstates()
    found: dict[Message, set[str]] = {}
    for match in DEFINITION.finditer(CODE):
        rest_of_function = re.split(r"^(?: {4})?}$", CODE[match.end() :], maxsplit=1, flags=re.MULTILINE)[0]
        raised = set(re.findall(r"SqlState::(ERRCODE_\w+)", rest_of_function))
        if raised != {NO_ERROR}:
            found[literals(*match.groups(default=""))] = {names[name] for name in raised}
    for name, text in ARGUMENT.findall(CODE):
        found[literals(text)] = {names[name]}
    return {message: states for message, states in found.items() if message}


def literals(*code: str) -> Message:
    """Returns the literal parts of the strings in pieces of Rust code."""
    strings = [text[1:-1] for piece in code for text in re.findall(STRING, piece, re.DOTALL)]
    return tuple(part for text in strings for part in message(text.replace('\\"', '"'), VALUES))


def message(text: str, values: str) -> Message:
    """Splits a text at its values, which match a pattern."""
    return tuple(part for part in re.split(values, text) if part)


def test_the_page_has_the_messages_of_the_sources():
    page, sources = of_page(), of_sources()
    heading, name = PANICS
    assert page.pop((heading,)) == {sqlstates()[name]}
    assert len(sources) > 20
    assert page == sources


def test_the_page_has_the_sqlstates_of_the_sources():
    """The page also has the SQLSTATEs of errors whose message is not the extension's own. A comparison raises none."""
    names = sqlstates()
    raised = {names[name] for name in re.findall(r"(?<![!=]= )SqlState::(ERRCODE_\w+)", CODE) if name != NO_ERROR}
    assert set.union(*of_page().values()) == raised
