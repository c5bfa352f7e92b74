"""Renders the reference pages, docs/reference.md and docs/reference/*.md.

Their text and their examples come from the regression test `reference`. Each comment in it is a line of a page.
`# Title` begins a page. `### OBJECT` documents an object under its own heading, and `| OBJECT` in a row of a table. The
statements up to the next comment are the object's example, and the expected output of the test has their results. The
install scripts supply the definition and the COMMENT of the object.

With --check, the script writes no files. It fails if a page differs from its rendering, or is no longer rendered.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The maximum length of a line outside tables. A longer word has its own line.
WIDTH = 120
SOURCE = "<!-- Rendered by `make gen` from sql/reference.sql.in and the COMMENTs in sql. Do not edit. -->"
STALE = """\
tests/pg_regress/expected/reference.out does not match tests/pg_regress/sql/reference.sql, at: {}
Run the regression test `reference`, copy its output to expected/reference.out, and run `make gen` again."""
# The statements that begin a line. A body in $function$ is omitted.
STATEMENT = re.compile(r"^(?:CREATE|ALTER OPERATOR FAMILY|COMMENT ON) .*?(?:;|\$function\$)$", re.MULTILINE | re.DOTALL)


@dataclass
class Object:
    """An object of the extension."""

    # The kind and the name, as in COMMENT ON. The kind is FUNCTION, OPERATOR CLASS, etc.
    kind: str
    name: str
    comment: str
    # The CREATE statement of a function, a cast or an operator class, in one line, without the body of a function.
    definition: str = ""

    def signature(self) -> str:
        """Returns the signature in Markdown."""
        match self.kind:
            case "CAST":
                return code(self.name.strip("()")).replace(" AS ", "` to `")
            case "OPERATOR":
                return re.sub(r"(?:pg_catalog\.)?(\S+) \((.*), (.*)\)", r"`\2 \1 \3`", self.name)
            case "OPERATOR CLASS":
                return re.sub(r"(.*) USING (.*)", r"`\1` (\2)", self.name)
            case "FUNCTION":
                name, parameters = re.match(r"CREATE FUNCTION (\w+)\(([^)]*)", self.definition).groups()
                return code(f"{name}({', '.join(inputs(parameters))})")
        return code(self.name)

    def properties(self) -> Iterator[str]:
        """Yields the properties that a page shows, such as the volatility of a function."""
        match self.kind:
            case "FUNCTION":
                yield f"returns {self.returns()}"
                yield next((word for word in ("immutable", "stable") if word.upper() in self.definition), "volatile")
                if "LEAKPROOF" in self.definition:
                    yield "leakproof"
            case "CAST":
                yield "*assignment*" if "AS ASSIGNMENT" in self.definition else "*explicit*"
                if "WITHOUT FUNCTION" in self.definition:
                    yield "*without function*"
            case "OPERATOR CLASS":
                symbols = re.findall(r"OPERATOR \d+ ([^ ,;]+)", self.definition)
                yield f"operators {' '.join(map(code, symbols))}"
                if " DEFAULT " in self.definition:
                    yield "default"

    def returns(self) -> str:
        """Returns the result type of a function, or the columns of its rows."""
        if columns := re.findall(r"OUT ([^,)]*)", self.definition):
            return f"rows of {code(', '.join(map(str.strip, columns)))}"
        return code(re.search(r"RETURNS (.*?)(?: AS | LANGUAGE |$)", self.definition)[1].lower())


Catalog = dict[str, Object]


def catalog(script: str) -> Catalog:
    """Returns the objects of an install script that users name, by their `key`.

    The COMMENTs of the others begin with "internal: ". The regression test `catalog` requires a COMMENT of all. The
    catalog of a server has them, too. But pages from it would need a server, and a line of expected output for each
    object, and a change of a COMMENT would take two runs of `make gen` with a regression test between them.
    """
    objects, definitions = {}, {}
    for found in STATEMENT.finditer(script):
        statement = re.sub(r"\s*\n\s*", " ", found[0])
        if commented := re.fullmatch(r"COMMENT ON ([A-Z ]+) (.*?) IS '(.*)';", statement):
            kind, name, comment = commented.groups()
            if comment.startswith("internal: "):
                continue
            objects[key(f"{kind} {name}")] = Object(kind, name, comment.replace("''", "'"))
        elif created := re.match(r"(?:CREATE OPERATOR CLASS|ALTER OPERATOR FAMILY) (\S+).*?( USING \w+)", statement):
            # A class can have its operators in its family.
            name = f"OPERATOR CLASS {created[1]}{created[2]}"
            definitions[name] = definitions.get(name, "") + statement
        elif created := re.match(r"CREATE ((?:FUNCTION|CAST) [^)]*\))", statement):
            definitions[key(created[1])] = statement
    for identity in objects.keys() & definitions.keys():
        objects[identity].definition = definitions[identity]
    return objects


def key(identity: str) -> str:
    """Returns the kind and the name of an object, without parameter names, defaults, OUT parameters and pg_catalog."""
    name, bracket, parameters = identity.replace(" pg_catalog.", " ").removesuffix(")").partition("(")
    if not bracket or identity.startswith("CAST"):
        return identity
    return f"{name}({', '.join(parameter.split(' DEFAULT ')[0].split(' ')[-1] for parameter in inputs(parameters))})"


def inputs(parameters: str) -> list[str]:
    """Returns the parameters of a function except its OUT parameters."""
    return [parameter for parameter in parameters.strip().split(", ") if not parameter.startswith("OUT ")]


def comments(sql: str, output: str) -> list[tuple[str, list[str]]]:
    """Returns the comments of the regression test from the first page title, each with its example.

    An example is the lines of the statements up to the next comment, each followed by its results as comments. Exits if
    the output is not that of the test.
    """
    found: list[tuple[str, list[str]]] = []
    expected = (line for line in from_title(sql) if line)
    line = next(expected, None)
    for printed in from_title(output):
        if printed == line:
            if printed.startswith("--"):
                found.append((printed.removeprefix("--").lstrip(), []))
            else:
                found[-1][1].append(printed)
            line = next(expected, None)
        elif not found or not found[-1][1]:
            raise SystemExit(STALE.format(printed))
        elif printed:  # The result of a function that returns void is an empty line, which the pages omit.
            found[-1][1].append(f"-- {printed}")
    if line is not None:
        raise SystemExit(STALE.format(line))
    return found


def from_title(text: str) -> Iterator[str]:
    return dropwhile(lambda line: not line.startswith("-- # "), text.splitlines())


def pages(sql: str, output: str, objects: Catalog) -> dict[str, str]:
    """Returns the pages by their paths, relative to `docs`.

    Exits if the expected output does not match the regression test. Exits if an object has no COMMENT, has no example,
    or is not documented exactly once.
    """
    rendered: dict[str, list[str]] = {}
    documented = set()
    for text, example in comments(sql, output):
        if text.startswith("# "):
            page = [SOURCE, "", text, ""]
            rendered["reference.md" if text == "# Reference" else f"reference/{text[2:]}.md"] = page
        elif text.startswith(("### ", "| ")):
            identity = text.partition(" ")[2]
            if key(identity) in documented:
                raise SystemExit(f"{identity} is documented twice")
            if key(identity) not in objects:
                raise SystemExit(f"no install script contains COMMENT ON {identity}")
            if not example:
                raise SystemExit(f"{identity} has no example")
            documented.add(key(identity))
            add_object = add_row if text.startswith("|") else add_heading
            add_object(page, objects[key(identity)], example)
        elif text.startswith("#"):
            page += ["", text, ""]
        else:
            page += wrapped(text)
    for missing in sorted(objects.keys() - documented):
        # Operator families have the names of their classes.
        if objects[missing].kind != "OPERATOR FAMILY":
            raise SystemExit(f"sql/reference.sql.in does not document {missing}")
    return {path: re.sub(r"\n{3,}", "\n\n", "\n".join([*page, ""])) for path, page in rendered.items()}


def add_heading(page: list[str], item: Object, example: list[str]) -> None:
    """Adds an object under its own heading."""
    sentences = filter(None, [item.comment, ", ".join(item.properties())])
    text = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)
    page += ["", f"### {item.signature().replace('`', '')}", "", *wrapped(text), "", "```sql", *example, "```"]


def add_row(page: list[str], item: Object, example: list[str]) -> None:
    """Adds an object as a row of a table."""
    if not page[-1].startswith("|"):
        page += ["", f"| {item.kind.lower()} | description | example | result |", "|---|---|---|---|"]
    description = "; ".join([item.comment, *item.properties()])
    statements = " ".join(line for line in example if not line.startswith("--")).rstrip(";")
    results = " ".join(line.removeprefix("-- ") for line in example if line.startswith("--"))
    cells = [item.signature(), description, code(statements), code(results)]
    page.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def wrapped(text: str) -> list[str]:
    """Returns the lines of a paragraph or list item, or an empty line."""
    indent = "  " if text.startswith("- ") else ""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, **options) or [""]


def main() -> None:
    test, docs = ROOT / "tests/pg_regress", ROOT / "docs"
    output = test / "expected/reference.out"
    rendered = pages(
        (test / "sql/reference.sql").read_text(),
        output.read_text() if output.exists() else "",
        catalog("".join(path.read_text() for path in (ROOT / "sql/install").glob("*.sql") if path.stem != "scru_text")),
    )
    if "--check" not in sys.argv:
        for path, page in rendered.items():
            (docs / path).write_text(page)
        return
    committed = [*docs.glob("reference.md"), *docs.glob("reference/*")]
    current = {path.relative_to(docs).as_posix(): path.read_text() for path in committed}
    changed = [path for path in sorted(rendered | current) if rendered.get(path) != current.get(path)]
    if changed:
        sys.exit("\n".join(f"docs/{path} differs from its rendering: run `make gen`" for path in changed))


if __name__ == "__main__":
    main()
