"""mutants.py [WORD…]: runs the tests with each change of the program in tests/mutants, and stores which of them fails.
With words, runs the changes whose names contain one of them; JOBS of them at a time (default: 2).

A change has a text that occurs once in a file (white space does not matter), and its replacement: an expression.
Without a replacement, the text is a statement or an arm of a `match`, which is removed. A third text is the reason if
no test can notice the change. The concerns that should notice a file's changes come first, as for `make check`. A file
`since 16` has changes of branches for this version and later ones.

All changes of Rust are compiled into one library, in a copy of the tree. The environment variable MUTANT selects one. A
change of the SQL is installed by itself."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import xml.etree.ElementTree as tree
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

STORED = Path("tests/mutants")
RESULTS = STORED / "results.json"
COPY = Path("target/mutants").resolve()
SURVIVES = "survives"
# A change can hang a session.
LIMITED = ("timeout", "--kill-after=30", "600")
MODULE = """
#[allow(dead_code)]
mod mutants {
    use std::env;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    const UNKNOWN: u32 = u32::MAX;
    static SELECTED: AtomicU32 = AtomicU32::new(UNKNOWN);
    pub fn is(number: u32) -> bool {
        if SELECTED.load(Relaxed) == UNKNOWN {
            // First, because the allocator may have changes as well.
            SELECTED.store(0, Relaxed);
            SELECTED.store(env::var("MUTANT").map_or(0, |number| number.parse().unwrap()), Relaxed);
        }
        SELECTED.load(Relaxed) == number
    }
}
"""


class Mutant(NamedTuple):
    number: int
    file: str
    since: str
    tests: list[str]
    old: str
    new: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.file}: {' '.join(self.old.split())} => {' '.join(self.new.split()) or 'nothing'}"

    @property
    def is_sql(self) -> bool:
        return self.file.startswith("sql/")

    def applied(self, text: str) -> str:
        """Returns the text of the file with the change: for Rust, with a branch that takes it if it is selected."""
        pattern = r"\s+".join(map(re.escape, self.old.split()))
        if (found := len(re.findall(pattern, text))) != 1:
            sys.exit(f"{self.file} contains this text {found} times, not once: {self.old}")
        return re.sub(pattern, lambda _: self.new if self.is_sql else self.branch(), text)

    def branch(self) -> str:
        selected = f"crate::mutants::is({self.number})"
        if self.new:
            return f"(if {selected} {{ ({self.new}) }} else {{ ({self.old}) }})"
        if arm := re.fullmatch(r"(.*?)( if .*?)? => (.*),", self.old, re.DOTALL):
            return f"{arm[1]}{arm[2] + ' &&' if arm[2] else ' if'} !{selected} => {arm[3]},"
        return f"if !{selected} {{ {self.old} }}"


def stored() -> list[Mutant]:
    """Returns all changes, with their numbers from 1."""
    mutants, number = [], count(1)
    contents = (tomllib.loads(path.read_text()) for path in sorted(STORED.glob("*.toml")))
    for name, (tests, *changes) in chain.from_iterable(map(dict.items, contents)):
        file, _, since = name.partition(" since ")
        mutants += [Mutant(next(number), file, since, tests, *change) for change in changes]
    return mutants


def copy_tree(mutants: list[Mutant]) -> None:
    """Copies what differs, as new files: Cargo compares their times with those of its last build."""
    changed = {"src/lib.rs": Path("src/lib.rs").read_text() + MODULE}
    for mutant in (mutant for mutant in mutants if not mutant.is_sql):
        changed[mutant.file] = mutant.applied(changed.get(mutant.file) or Path(mutant.file).read_text())
    tops = (top for top in Path().iterdir() if top.name not in (".git", "target"))
    for file in filter(Path.is_file, chain.from_iterable([top, *top.rglob("*")] for top in tops)):
        there, contents = COPY / file, changed[str(file)].encode() if str(file) in changed else file.read_bytes()
        if not there.exists() or there.read_bytes() != contents:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(contents)
            shutil.copymode(file, there)


def run(*command: str | Path, **environment: str) -> str | None:
    """Runs a command in the copy. Returns its output if it fails, otherwise `None`."""
    done = subprocess.run(command, cwd=COPY, env=os.environ | environment, capture_output=True, text=True)
    return None if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"


@cache
def server() -> str:
    """Installs the library into a copy of the server. Returns the copy's pg_config."""
    without = {name: value for name, value in os.environ.items() if name != "PG_CONFIG"}
    config = subprocess.check_output(["tools/server.sh", "copy"], cwd=COPY, env=without, text=True).strip()
    if output := run("tools/install.sh", PG_CONFIG=config, LIBRARY_PROFILE="dev"):
        sys.exit(output)
    return config


def failure(number: int, test: str) -> str | None:
    """Runs a regression test, a file of end-to-end tests, or one test of it. Returns the first test that fails."""
    environment = {"PG_CONFIG": server(), "MUTANT": str(number)}
    if test.endswith(".sql"):
        regress = ["tools/lib/regress.sh", threading.current_thread().name, "fsync=off"]
        return test if run(*LIMITED, *regress, **environment, TESTS=Path(test).stem) else None
    report = COPY / f"target/{threading.current_thread().name}.xml"
    report.unlink(missing_ok=True)
    pytest = ["/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", "-qx", "-m", "not alone"]
    if not run(*LIMITED, *pytest, f"--junit-xml={report}", test, **environment):
        return None
    failed = tree.parse(report).find(".//testcase[failure]") if report.exists() else None
    return test if failed is None else f"{test}::{failed.get('name')}"


@cache
def fails_unchanged(test: str) -> bool:
    return test.startswith("tests/") and failure(0, test) is not None


def files_of(test: str) -> list[Path]:
    """Returns the files of a concern: its regression test first."""
    files = [*Path("tests/pg_regress/sql").glob(f"{test}.sql"), *Path("tests/e2e").rglob(f"test_{test}.py")]
    return files or sys.exit(f"No test is called {test}.")


def killer(mutant: Mutant) -> str | None:
    """Returns the first test that fails with a change."""
    files = sorted(chain.from_iterable(map(files_of, mutant.tests)), key=lambda file: file.suffix != ".sql")
    return next(filter(None, (failure(mutant.number, str(file)) for file in files)), None)


def killer_of_sql(mutant: Mutant) -> str | None:
    file, before = COPY / mutant.file, Path(mutant.file).read_text()
    file.write_text(mutant.applied(before))
    server.cache_clear()
    try:
        return killer(mutant)
    finally:
        file.write_text(before)
        server.cache_clear()


def results(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yields the changes whose names contain one of the words, and what notices them."""
    mutants = stored()
    copy_tree(mutants)
    mutants = [mutant for mutant in mutants if int(mutant.since or 0) <= int(os.environ["PG_MAJOR"])]
    mutants = [mutant for mutant in mutants if not words or any(word in mutant.name for word in words)]
    server()
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2")), "mutants") as pool:
        found = [pool.submit(found_by, mutant) for mutant in mutants if not mutant.is_sql]
        yield from (each.result() for each in as_completed(found))
    yield from map(found_by, (mutant for mutant in mutants if mutant.is_sql))


def found_by(mutant: Mutant) -> tuple[str, str]:
    found = mutant.reason or (killer_of_sql if mutant.is_sql else killer)(mutant) or SURVIVES
    return mutant.name, f"{found}, as without the change" if fails_unchanged(found) else found


def main(words: list[str]) -> None:
    """Stores the results as they come. An earlier one remains if the change survives now."""
    lost = []
    for name, found in results(words):
        print(f"{name}\n    {found}", flush=True)
        all_results = json.loads(RESULTS.read_text())
        if found == SURVIVES and all_results.get(name, SURVIVES) != SURVIVES:
            lost.append(name)
        else:
            all_results[name] = found
            RESULTS.write_text(json.dumps(dict(sorted(all_results.items())), indent=0, ensure_ascii=False) + "\n")
    sys.exit("\n".join(["No test notices any more:", *lost]) if lost else 0)


main(sys.argv[1:])
