"""Checks the Markdown files: the length of their lines, and that the README links to every page.

With --fix it first wraps the paragraphs and list items that contain a line longer than WIDTH.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = 120
DIRECTORIES = (".", ".github", "clients", "crates", "docs")
# Pages that `make bench-report` writes, which are not checked, and pages whose tables may be wider.
RENDERED = ("docs/bench/",)
RENDERED_TABLES = ("docs/reference", "README.md")

ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
# Lines that are never wrapped: headings, tables, comments.
APART = re.compile(r" *(?:#|\||<!--|-->|---$)")
# A word for wrapping. A code span or a link is not broken, nor separated from adjoining characters.
WORD = re.compile(r"(?:`[^`]+`|!?\[[^]]+\]\([^)]*\)|\S)+")
# Words that would start a heading, a list item or a quotation if a line began with them.
MARKUP = re.compile(r"(?:[-+*>]|#+|\d+\.)$")


def pages() -> list[Path]:
    """Returns the Markdown pages to check: all but those that are rendered as a whole."""
    found = {
        path for directory in DIRECTORIES for path in (ROOT / directory).glob("*.md" if directory == "." else "**/*.md")
    }
    return sorted(path for path in found if not name(path).startswith(RENDERED))


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def long_lines(page: Path) -> Iterator[str]:
    """Yields the place and length of each line that is longer than WIDTH."""
    has_wide_tables = name(page).startswith(RENDERED_TABLES)
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        is_wide = line.startswith("![") or (has_wide_tables and line.startswith("|"))
        if len(line) > WIDTH and not is_wide:
            yield f"{name(page)}:{number}: {len(line)} columns"


def orphans() -> Iterator[str]:
    """Yields the pages below docs to which none of the pages that list others has a link."""
    linked = set()
    for page in (ROOT / "README.md", ROOT / "docs/reference.md", ROOT / "docs/performance.md"):
        linked |= {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())}
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        if page.resolve() not in linked:
            yield f"{name(page)}: README.md, docs/reference.md and docs/performance.md have no link to it"


def blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yields `(is_text, lines)`: one block per paragraph or list item, and one per other line."""
    block: list[str] = []
    fence = None
    for line in lines:
        mark = re.match(r" *(```|~~~)", line)
        is_alone = fence or mark or not line.strip() or APART.match(line)
        if block and (is_alone or ITEM.match(line)):
            yield True, block
            block = []
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        if is_alone:
            yield False, [line]
        else:
            block.append(line)
    if block:
        yield True, block


def wrapped(block: list[str]) -> list[str]:
    """Returns the lines of a paragraph or list item, wrapped at WIDTH."""
    marker = ITEM.match(block[0])
    first = marker[0] if marker else re.match(" *", block[0])[0]
    indent = " " * len(first)
    lines = [first]
    for word in WORD.findall(" ".join(block)[len(first) :]):
        has_words = len(lines[-1]) > len(indent)
        if has_words and len(lines[-1]) + 1 + len(word) > WIDTH and not MARKUP.match(word):
            lines.append(indent + word)
        else:
            lines[-1] += f" {word}" if has_words else word
    return lines


def fix(page: Path) -> None:
    lines: list[str] = []
    for is_text, block in blocks(page.read_text().splitlines()):
        is_long = any(len(line) > WIDTH for line in block)
        lines += wrapped(block) if is_text and is_long else block
    page.write_text("\n".join(lines) + "\n")


if "--fix" in sys.argv:
    for page in pages():
        fix(page)


problems = [problem for page in pages() for problem in long_lines(page)] + [*orphans()]
print(*problems, sep="\n", end="\n" if problems else "")
sys.exit(bool(problems))
