#!/usr/bin/python3
"""Writes the copyright file of the packages, in Debian's format 1.0, for this project and all crates in its library.

The license of a crate is the expression in its manifest. The text of the license is included in the crate, or in another crate of
its repository. The crates come from the directory that `make vendor` creates, if it exists.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

HEADER = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: scru
Comment: The library contains the files of this project, Rust's standard library, and the crates below.

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

ROOT = Path(__file__).parents[1]
VENDORED = ROOT / "vendor/config.toml"
SOURCE = ("--locked", *(("--offline", f"--config={VENDORED}") if VENDORED.exists() else ()))


def linked_crates() -> list[Crate]:
    """Returns the third-party crates linked into the library, without build dependencies and procedural macros."""
    # `cargo metadata` resolves the features of the whole workspace, `cargo tree` those of one package.
    tree = cargo("tree", "--package=scru", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}")
    linked = {tuple(line.split(" ")[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(cargo("metadata", "--format-version=1"))
    foreign = (crate for crate in metadata["packages"] if crate["id"] not in metadata["workspace_members"])
    chosen = (crate for crate in foreign if (crate["name"], f"v{crate['version']}") in linked)
    return sorted(chosen, key=lambda crate: (crate["name"], crate["version"]))


def cargo(*arguments: str) -> str:
    """Returns the output of a Cargo command."""
    return subprocess.run(
        ["cargo", *arguments, *SOURCE], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def license(crate: Crate) -> str:
    """Returns the license of a crate in Debian's syntax, which has no parentheses."""
    expression = crate["license"].replace("/", " or ").replace(" OR ", " or ").replace(" AND ", " and ")
    return re.sub(r"\((.*)\) and", r"\1, and", expression)


def texts(crate: Crate) -> tuple[str, ...]:
    """Returns the license texts that a crate includes, except the Apache License, which every Debian system has."""
    directory = Path(crate["manifest_path"]).parent
    name = re.compile(r"licen[cs]e|copying|copyright|notice|unlicense", re.IGNORECASE)
    files = sorted(file for file in directory.iterdir() if name.match(file.name) and file.is_file())
    contents = [file.read_text(errors="replace").strip() for file in files]
    return tuple(text for text in contents if not re.match(r"\s*Apache License\s+Version 2.0", text))


def holders(crates: list[Crate], texts: tuple[str, ...]) -> list[str]:
    """Returns the copyright holders named in the texts, or the authors of the crates if the texts name none."""
    notice = re.compile(r"^\s*(?:Portions )?Copyright (.*\d{4}.*)$", re.MULTILINE | re.IGNORECASE)
    named = [name for text in texts for name in notice.findall(text)]
    authors = sorted({author for crate in crates for author in crate["authors"]})
    return list(dict.fromkeys(named)) or authors or [f"the authors of {crates[0]['name']}"]


def paragraph(license: str, texts: tuple[str, ...], crates: list[Crate]) -> str:
    """Returns the paragraph for crates with the same license and the same license texts."""
    files = "\n ".join(f"{crate['name']}-{crate['version']}" for crate in crates)
    copyright = "\n ".join(holders(crates, texts))
    text = "".join(f"\n {line.rstrip()}" if line.strip() else "\n ." for line in "\n\n".join(texts).splitlines())
    return f"Files: {files}\nCopyright: {copyright}\nLicense: {license}{text}"


def main() -> None:
    """Prints the copyright file."""
    crates = linked_crates()
    of_repository = {crate["repository"]: texts(crate) for crate in crates if texts(crate)}
    groups: dict[tuple, list[Crate]] = defaultdict(list)
    for crate in crates:
        own = texts(crate) or of_repository.get(crate["repository"], ())
        groups[license(crate), own, () if own else tuple(crate["authors"])].append(crate)
    paragraphs = (paragraph(name, own, group) for (name, own, _), group in groups.items())
    print("\n\n".join([HEADER.strip(), *paragraphs, TEXTS.strip()]))


main()
