"""Prints the layers of src, lowest first: a file uses only files of earlier layers. Fails on cyclic dependencies."""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FILES = {path.stem: path.read_text() for path in Path("src").glob("*.rs") if path.stem not in ("lib", "tests")}


def used_by(text: str) -> set[str]:
    """Returns the files of src that a source text refers to, in `use` or in a path."""
    code = re.sub(r"//.*", "", text)
    paths = re.findall(r"crate::(\{[^}]*\}|\w+)", code)
    return {word for path in paths for word in re.findall(r"\w+", path)} & FILES.keys()


sorter = TopologicalSorter({name: used_by(text) - {name} for name, text in FILES.items()})
try:
    sorter.prepare()
except CycleError as error:
    sys.exit(f"The dependencies of these files of src are cyclic: {', '.join(error.args[1])}")
while layer := sorter.get_ready():
    print(*sorted(layer))
    sorter.done(*layer)
