"""Checks the folders of src against the table in docs/architecture.md.

A folder imports the folders of its row, which stand above it in the table, and no others. The files of a folder do not
import each other in a circle."""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PAGE = Path("docs/architecture.md")
ROW = re.compile(r"^\| `src/(\w+)` \|[^|]*\| ([^|]*) \|$", re.MULTILINE)
ALLOWED = {folder: set(re.findall(r"`(\w+)`", uses)) for folder, uses in ROW.findall(PAGE.read_text())}


def imports(path: Path) -> set[tuple[str, str]]:
    """Returns the folders of src that a file refers to, in `use` or in a path, each with its file or `""`."""
    code = re.sub(r"//.*", "", path.read_text())
    found = set()
    for folder, rest in re.findall(r"\bcrate::(\w+)((?:::(?:\w+|\{[^;]*\}))?)", code):
        names = re.findall(r"\w+", rest)
        files = [name for name in names if Path(f"src/{folder}/{name}.rs").exists()]
        found |= {(folder, name) for name in files or [""]}
    return {(folder, name) for folder, name in found if folder in ALLOWED}


def problems() -> list[str]:
    """Returns what differs from the table."""
    folders = {path.parent.name for path in Path("src").glob("*/mod.rs")}
    if folders != set(ALLOWED):
        return [f"{PAGE} and src have different folders: {', '.join(sorted(folders ^ set(ALLOWED)))}"]
    found = []
    above: set[str] = set()
    for folder, allowed in ALLOWED.items():
        found += [f"{PAGE}: {folder} uses {other}, which is not above it" for other in sorted(allowed - above)]
        above.add(folder)
        graph = {}
        used: set[str] = set()
        for path in Path("src", folder).glob("*.rs"):
            others = imports(path)
            graph[path.stem] = {name for other, name in others if other == folder and name}
            used |= {other for other, _ in others} - {folder}
            found += [f"{path} imports {other}" for other in sorted({o for o, _ in others} - allowed - {folder})]
        found += [f"{PAGE}: {folder} does not use {other}" for other in sorted(allowed - used)]
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            found.append(f"src/{folder}: the imports are circular: {', '.join(error.args[1])}")
    return found


if found := problems():
    sys.exit("\n".join(found))
for folder, allowed in ALLOWED.items():
    print(folder, "<-", *sorted(allowed))
