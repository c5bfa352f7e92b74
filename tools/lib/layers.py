"""Checks the imports of src and crates against the tables in docs/architecture.md.

A folder of src and a crate import those of their rows, which stand above them in the tables, and no others. The files
of a folder or a crate do not import each other in a circle. Tests are not checked: they may import anything."""

import re
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PAGE = Path("docs/architecture.md")
ROW = re.compile(r"^\| `(src|crates)/(\w+)` \|[^|]*\| ([^|]*) \|$", re.MULTILINE)
ALLOWED: dict[str, dict[str, set[str]]] = {"src": {}, "crates": {}}
for kind, name, uses in ROW.findall(PAGE.read_text()):
    ALLOWED[kind][name] = set(re.findall(r"`(\w+)`", uses))


def code(path: Path) -> str:
    """Returns a file without comments and unit tests."""
    return re.sub(r"//.*", "", path.read_text()).split("#[cfg(test)]")[0]


def names(tree: str) -> set[tuple[str, ...]]:
    """Returns the paths in a tree of paths, such as `a::{self, b::C}`, with their first two parts."""
    found, prefixes, path = set(), [], []
    for token in re.findall(r"\w+|::|\{|\}|,|\*", tree):
        if token == "{":
            prefixes.append(path)
            path = list(path)
        elif token in ",}":
            found.add(tuple(path[:2]))
            path = list(prefixes[-1]) if prefixes else []
            if token == "}" and prefixes:
                prefixes.pop()
        elif token not in ("::", "self"):
            path.append(token)
    return {name for name in found | {tuple(path[:2])} if name}


def paths(path: Path) -> set[tuple[str, ...]]:
    """Returns the paths that begin with `crate`, in `use` and elsewhere, also within macros: without `crate`."""
    return set().union(*map(names, re.findall(r"\bcrate::((?:\w+::)*(?:\{[^;]*?\}\s*;|\w+|\*))", code(path))))


def circle(place: str, graph: dict[str, set[str]]) -> list[str]:
    """Returns what is wrong with the imports between the files of a folder."""
    try:
        TopologicalSorter({file: others - {file} for file, others in graph.items()}).prepare()
    except CycleError as error:
        return [f"{place}: the imports are circular: {', '.join(error.args[1])}"]
    return []


def rows(kind: str, used: dict[str, set[str]]) -> list[str]:
    """Returns how the imports of folders or crates differ from their table."""
    allowed = ALLOWED[kind]
    if used.keys() != allowed.keys():
        return [f"{PAGE} and {kind} have different folders: {', '.join(sorted(used.keys() ^ allowed.keys()))}"]
    found, above = [], set()
    for name, others in allowed.items():
        found += [f"{PAGE}: {name} uses {other}, which is not above it" for other in sorted(others - above)]
        found += [f"{kind}/{name} imports {other}" for other in sorted(used[name] - others)]
        found += [f"{PAGE}: {name} does not use {other}" for other in sorted(others - used[name])]
        above.add(name)
    return found


def folders() -> list[str]:
    """Returns what is wrong with the folders of src. What a folder defines beside its files is in `mod.rs`."""
    found, used = [], {}
    for folder in [path.parent for path in Path("src").glob("*/mod.rs")]:
        graph, used[folder.name] = {}, set()
        for path in folder.glob("*.rs"):
            imported = [part for part in paths(path) if part[0] in ALLOWED["src"]]
            used[folder.name] |= {part[0] for part in imported} - {folder.name}
            own = [part[1] for part in imported if part[0] == folder.name and len(part) > 1]
            graph[path.stem] = {name if (folder / f"{name}.rs").exists() else "mod" for name in own}
        found += circle(str(folder), graph)
    # It knows nothing of the extension.
    for path in Path("src/pg").glob("*.rs"):
        found += [f"{path} names scru"] if re.search("scru", code(path), re.IGNORECASE) else []
    return found + rows("src", used)


def crates() -> list[str]:
    """Returns what is wrong with the crates."""
    found, used = [], {}
    for manifest in Path("crates").glob("*/Cargo.toml"):
        crate = manifest.parent
        content = tomllib.loads(manifest.read_text())
        needed = {**content.get("dependencies", {}), **content.get("dev-dependencies", {})}.values()
        used[crate.name] = {Path(each["path"]).name for each in needed if isinstance(each, dict) and "path" in each}
        files = list((crate / "src").glob("*.rs"))
        # `crate::Name` is defined in the file whose `pub use` exports it.
        exports = "".join(code(path) for path in files if path.stem == "lib")
        exported = {}
        for module, items in re.findall(r"^pub use (\w+)::(\{[^}]*\}|\w+);", exports, re.MULTILINE):
            exported |= dict.fromkeys(re.findall(r"\w+", items), module)
        stems = {path.stem for path in files}
        graph = {}
        for path in files:
            parts = {part[0] for part in paths(path)}
            graph[path.stem] = {exported.get(part, part) for part in parts} & stems
        found += circle(str(crate), graph)
    return found + rows("crates", used)


if found := folders() + crates():
    sys.exit("\n".join(found))
