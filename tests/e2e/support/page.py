"""The code blocks of docs/several-servers.md."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "several-servers.md"


@cache
def sections(language: str = "sql") -> dict[str, list[str]]:
    """Returns the blocks of a language, by the heading above them."""
    parts = re.split(r"^#+ (.*)\n", PAGE.read_text(), flags=re.MULTILINE)
    blocks = {
        heading: [
            textwrap.dedent(block)
            for block in re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
        ]
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return {heading: found for heading, found in blocks.items() if found}


def sql(heading: str, number: int = 0) -> str:
    """Returns a block of SQL below a heading."""
    return sections()[heading][number]


def yaml(heading: str) -> str:
    """Returns the only block of YAML below a heading."""
    [block] = sections("yaml")[heading]
    return block
