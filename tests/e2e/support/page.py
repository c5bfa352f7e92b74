"""The code of the pages in docs. Without a name, the page is docs/several-servers.md."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
SEVERAL_SERVERS = "several-servers"
ANY = r"(?!sh\b)\w*"
"""Any language but that of shells."""


@cache
def text(name: str = SEVERAL_SERVERS) -> str:
    return (DOCS / f"{name}.md").read_text()


@cache
def sections(name: str = SEVERAL_SERVERS, language: str = "sql") -> dict[str, list[str]]:
    """Returns the blocks of a language, by the heading above them."""
    parts = re.split(r"^#+ (.*)\n(?=\n)", text(name), flags=re.MULTILINE)
    pattern = re.compile(rf"^ *```{language}\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    found = {heading: pattern.findall(body) for heading, body in zip(parts[1::2], parts[2::2], strict=True)}
    return {heading: [*map(textwrap.dedent, blocks)] for heading, blocks in found.items() if blocks}


def all_blocks(name: str, language: str = "sql") -> list[str]:
    """Returns all blocks of a language."""
    return [block for blocks in sections(name, language).values() for block in blocks]


def sql(heading: str, number: int = 0, name: str = SEVERAL_SERVERS) -> str:
    """Returns a block of SQL below a heading."""
    return sections(name)[heading][number]


def yaml(heading: str) -> str:
    """Returns the only block of YAML below a heading."""
    [block] = sections(language="yaml")[heading]
    return block


def block(name: str, start: str, language: str = "sql") -> str:
    """Returns the block of a language that begins so."""
    [found] = [each for each in all_blocks(name, language) if each.startswith(start)]
    return found


def inline(start: str, name: str = SEVERAL_SERVERS) -> str:
    """Returns the code within a sentence that begins so."""
    [found] = re.findall(rf"`({re.escape(start)}[^`]*)`", text(name))
    return " ".join(found.split())
