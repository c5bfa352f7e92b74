#!/usr/bin/python3
"""Writes the copyright file of the packages, in Debian's format 1.0: of this project, and of all crates linked into its library.

The arguments are Cargo's, which choose the features and where the crates come from. Each crate's licence is the expression in its
manifest, each text the one that it brings along, or that another crate of the same repository does.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HEADER = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: scru
Comment: The library is made of the files of this project, of Rust's standard library, and of the crates below.

Files: *
Copyright: the maintainers of scru
License: Apache-2.0

Files: rust-std
Copyright: the Rust project's contributors
License: MIT or Apache-2.0
"""

TEXTS = """\
License: Apache-2.0
 On Debian systems, the text of the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0.

License: MIT
 Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
 files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
 modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
 is furnished to do so, subject to the following conditions:
 .
 The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
 .
 THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
 ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

Crate = dict


def linked_crates(arguments: list[str]) -> list[Crate]:
    """The crates of others that are linked into the library: neither those that only build it nor procedural macros."""
    # Cargo's metadata has the features of the whole workspace; its tree has those of one package.
    tree = cargo("tree", "--package=scru", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}", *arguments)
    linked = {tuple(line.split(" ")[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(cargo("metadata", "--format-version=1", *arguments))
    foreign = (crate for crate in metadata["packages"] if crate["id"] not in metadata["workspace_members"])
    chosen = (crate for crate in foreign if (crate["name"], f"v{crate['version']}") in linked)
    return sorted(chosen, key=lambda crate: (crate["name"], crate["version"]))


def cargo(*arguments: str) -> str:
    """What Cargo writes."""
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


def licence(crate: Crate) -> str:
    """The licence as Debian's format writes it, without parentheses."""
    expression = crate["license"].replace("/", " or ").replace(" OR ", " or ").replace(" AND ", " and ")
    return re.sub(r"\((.*)\) and", r"\1, and", expression)


def texts(crate: Crate) -> tuple[str, ...]:
    """The texts of licences that a crate brings along. That of Apache is on every Debian."""
    folder = Path(crate["manifest_path"]).parent
    name = re.compile(r"licen[cs]e|copying|copyright|notice|unlicense", re.IGNORECASE)
    files = sorted(file for file in folder.iterdir() if name.match(file.name) and file.is_file())
    contents = [file.read_text(errors="replace").strip() for file in files]
    return tuple(text for text in contents if not re.match(r"\s*Apache License\s+Version 2.0", text))


def holders(crates: list[Crate], texts: tuple[str, ...]) -> list[str]:
    """Whom the texts name, or else the authors that the crates name."""
    notice = re.compile(r"^\s*(?:Portions )?Copyright (.*\d{4}.*)$", re.MULTILINE | re.IGNORECASE)
    named = [name for text in texts for name in notice.findall(text)]
    authors = sorted({author for crate in crates for author in crate["authors"]})
    return list(dict.fromkeys(named)) or authors or [f"the authors of {crates[0]['name']}"]


def paragraph(licence: str, texts: tuple[str, ...], crates: list[Crate]) -> str:
    """The crates of one licence with one text of it."""
    files = "\n ".join(f"{crate['name']}-{crate['version']}" for crate in crates)
    copyright = "\n ".join(holders(crates, texts))
    text = "".join(f"\n {line.rstrip()}" if line.strip() else "\n ." for line in "\n\n".join(texts).splitlines())
    return f"Files: {files}\nCopyright: {copyright}\nLicense: {licence}{text}"


def main() -> None:
    """Writes the file to standard output."""
    crates = linked_crates(sys.argv[1:])
    of_repository = {crate["repository"]: texts(crate) for crate in crates if texts(crate)}
    groups: dict[tuple, list[Crate]] = defaultdict(list)
    for crate in crates:
        own = texts(crate) or of_repository.get(crate["repository"], ())
        groups[licence(crate), own, () if own else tuple(crate["authors"])].append(crate)
    paragraphs = (paragraph(name, own, group) for (name, own, _), group in groups.items())
    print("\n\n".join([HEADER.strip(), *paragraphs, TEXTS.strip()]))


main()
