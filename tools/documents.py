"""Checks the Markdown files: no line is too long, and the README links to every page.

With --fix it first wraps the paragraphs and list items that have a line that is too long.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 120
FOLDERS = (".", ".github", "clients", "crates", "docs")
# Rendered: `make bench-report` writes the first, and the tables of the others may be wider.
RENDERED = ("docs/bench/",)
RENDERED_TABLES = ("docs/reference",)
NOT_YET = ("README.md", "docs/performance.md")

ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
# What stands on lines of its own, whatever their width: headings, tables, comments.
APART = re.compile(r" *(?:#|\||<!--|-->|---$)")
# A code span and a link stay together, with what is written to them.
WORD = re.compile(r"(?:`[^`]+`|!?\[[^]]+\]\([^)]*\)|\S)+")
# What would begin a heading, an item or a quotation at the start of a line.
MARKUP = re.compile(r"(?:[-+*>]|#+|\d+\.)$")


def pages() -> list[Path]:
    """The Markdown files that are written by hand, and those with rendered tables."""
    found = {path for folder in FOLDERS for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")}
    return sorted(path for path in found if not name(path).startswith((*RENDERED, *NOT_YET)))


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def long_lines(page: Path) -> Iterator[str]:
    """The lines of a page that are too long, with their places."""
    has_wide_tables = name(page).startswith(RENDERED_TABLES)
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if len(line) > WIDTH and not (has_wide_tables and line.startswith("|")):
            yield f"{name(page)}:{number}: {len(line)} columns"


def orphans() -> Iterator[str]:
    """The pages below docs that the README does not link to."""
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / "README.md").read_text())
    linked = {(ROOT / link).resolve() for link in links}
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        if page.resolve() not in linked:
            yield f"{name(page)}: the README has no link to it"


def blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Paragraphs and list items, each as its lines; all other lines alone. With each, whether it is text."""
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
    """A paragraph or an item in lines of the allowed width."""
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
problems = [problem for page in pages() for problem in long_lines(page)] + list(orphans())
print(*problems, sep="\n", end="\n" if problems else "")
sys.exit(bool(problems))
