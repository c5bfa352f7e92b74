"""What a release changes outside of sql/released. RELEASING.md has the values, and Cargo.toml the version.

check: lists the places that differ from these. fill: writes them, or says why this version cannot be released.
ready TAG: checks a tag before anything is built from it. notes: prints the section of the changelog, and readme the
page of the package for Python, with absolute links. next VERSION: begins a version with upgrade scripts that change
nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNDATED = "not yet released"
# Texts that a release makes wrong, and the files in which they are looked for.
STALE = re.compile(
    r"not yet released|published yet|no release (?:has been|was) made|nothing (?:has been|was) (?:published|submitted)"
    r"|no job has run|never been (?:built|used|released)|not published",
    re.IGNORECASE,
)
# What a release removes from docs and tests: files, sections and lines that name a development version.
DEVELOPMENT = re.compile(r"\n## .*development version\n(?s:.*?)(?=\n## |\Z)|^.*development[-_ ]version.*\n", re.M)
READ_BY_USERS = ("*.md", ":!CONTRIBUTING.md", ":!RELEASING.md", ".github", "packaging", "clients/python/pyproject.toml")


def read(path: str) -> str:
    return (ROOT / path).read_text()


def facts() -> dict[str, str]:
    """Returns the values that a person fills in by their names. Placeholders are in italics."""
    table = read("RELEASING.md").partition("\n|---|")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| (.*?) \| (.*?) \|", table, re.MULTILINE))


def is_placeholder(value: str) -> bool:
    return value.startswith("*") or ".invalid" in value


def current() -> str:
    return re.search(r'^version = "(.*)"', read("Cargo.toml"), re.MULTILINE)[1]


def day_of_release() -> date | None:
    value = facts()["date"]
    return None if is_placeholder(value) else date.fromisoformat(value)


def places(version: str) -> Iterator[tuple[str, str, str]]:
    """Yields the file, the pattern and the value of each place. The group of the pattern is what has the value."""
    known = {name: value.strip("*") for name, value in facts().items()}
    who = f"{known['maintainer']} <{known['address']}>"
    in_toml = f'name = "{known["maintainer"]}", email = "{known["address"]}"'
    newest = r"\A(?s:.*?)^"
    debian, rpm = "packaging/debian/changelog", "packaging/rpm/scru.spec"
    entry = rf"{newest}%changelog\n\* \w+ \w+ \d+ \d+ "

    yield "META.json", r'"version": "([^"]*)"(?!, "url")', version
    yield "clients/python/pyproject.toml", r'^version = "(.*)"', version
    yield debian, r"\Ascru \((.*)-1\)", version
    yield rpm, r"^Version: +(.*)$", version
    yield rpm, rf"{entry}.* - (.*)-1$", version
    yield "packaging/pigsty/extension.csv", r"\{pgrx\},(.*?),Rust", version
    yield "packaging/pigsty/extension.csv", r",scru-(.*?)\.zip", version
    yield "docs/install.md", r"(?:\bscru[-_]|pg18:|:18-)(\d+\.\d+\.\d+)", version
    yield "CHANGELOG.md", rf"{newest}## \[(.*)\] - ", version

    yield "CHANGELOG.md", rf"{newest}## \[.*\] - (.*)$", known["date"]
    if day := day_of_release():
        yield debian, rf"{newest} -- .*?  (.*)$", f"{day:%a, %d %b %Y} 12:00:00 +0000"
        yield rpm, rf"{newest}%changelog\n\* (\w+ \w+ \d+ \d+) ", f"{day:%a %b %d %Y}"

    yield debian, rf"{newest} -- (.*?)  ", who
    yield rpm, r"^Packager: +(.*)$", who
    yield rpm, rf"{entry}(.*) - ", who
    yield "packaging/debian/control", r"^Maintainer: (.*)$", who
    yield "packaging/debian/control.in", r"^Maintainer: (.*)$", who
    yield "META.json", r'"maintainer": "(.*?)"', who
    yield "META.json", r'"release_status": "(.*?)"', "stable" if day_of_release() else "testing"
    yield "clients/python/pyproject.toml", r"^authors = \[\{ (.*) \}\]", in_toml
    yield "README.md", r"^Copyright: (.*?), who maintain it\.", known["copyright holder"]
    yield "packaging/copyright.py", rf"{newest}Copyright: (.*)$", known["copyright holder"]
    yield "META.json", r'"repository": \{ "web": "(.*?)"', known["repository"]
    yield "META.json", r'"bugtracker": \{ "web": "(.*?)"', known["tracker"]
    yield "clients/python/pyproject.toml", r'^Repository = "(.*)"', known["repository"]
    yield "clients/python/pyproject.toml", r'^Issues = "(.*)"', known["tracker"]
    yield "CHANGELOG.md", r"\[tracker\]\((.*?)\)", known["tracker"]
    yield "README.md", r"\[tracker\]\((.*?)\)", known["tracker"]
    yield "SECURITY.md", r"\[private report\]\((.*?)\)", known["vulnerabilities"]
    yield "docs/install.md", r"reference: (\S+):18-", known["images"]
    yield ".github/workflows/release.yml", r"^ +images=(.*)$", known["images"]


def differences(version: str) -> Iterator[str]:
    for path, pattern, value in places(version):
        found = {match[1] for match in re.finditer(pattern, read(path), re.MULTILINE)}
        if found != {value}:
            yield f"{path}: {', '.join(sorted(found)) or pattern} instead of {value}"


def tracked(*patterns: str) -> list[str]:
    listing = ["git", "ls-files", "-z", "--", *patterns]
    found = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in found.rstrip("\0").split("\0") if (ROOT / path).is_file()]


def of_development() -> list[str]:
    """Returns the files that name a development version."""
    return [path for path in tracked("docs/*.md", "tests/*.py") if DEVELOPMENT.search(f"{path}\n{read(path)}")]


def fill(version: str) -> None:
    """Writes the value of each place, and removes the way out of development versions."""
    for path in of_development():
        if DEVELOPMENT.search(f"{path}\n"):
            (ROOT / path).unlink()
        else:
            (ROOT / path).write_text(DEVELOPMENT.sub("", read(path)))
    for path, pattern, value in places(version):

        def replaced(match: re.Match[str], value: str = value) -> str:
            start, end = (place - match.start() for place in match.span(1))
            return match[0][:start] + value + match[0][end:]

        (ROOT / path).write_text(re.sub(pattern, replaced, read(path), flags=re.MULTILINE))


def is_frozen(version: str) -> bool:
    return (ROOT / f"sql/released/scru--{version}.sql").exists()


def section(version: str) -> str:
    """Returns the text of a version in the changelog; an empty string if there is none."""
    pattern = rf"^## \[{re.escape(version)}\] - .*\n(?s:(.*?))(?=^## \[|\Z)"
    found = re.search(pattern, read("CHANGELOG.md"), re.MULTILINE)
    return found[1].strip() if found else ""


def obstacles(version: str) -> Iterator[str]:
    """Yields what only a person can change before a release."""
    for name, value in facts().items():
        if is_placeholder(value):
            yield f"RELEASING.md: {name} is a placeholder: {value}"
    if not section(version):
        yield f"CHANGELOG.md: there is no text for {version}"
    for path in tracked(*READ_BY_USERS):
        # `make release` itself writes the date.
        for number, line in enumerate(read(path).splitlines(), start=1):
            if STALE.search(line) and not line.startswith(f"## [{version}] - "):
                yield f"{path}:{number}: a release makes this wrong: {line.strip()}"


def is_ready(version: str, tag: str) -> Iterator[str]:
    """Yields what contradicts that a commit is the release of a tag."""
    if tag != f"v{version}":
        yield f"the tag is {tag}, and the version {version}"
    if not is_frozen(version):
        yield f"sql/released has no files of {version}: run make release"
    yield from obstacles(version)
    yield from differences(version)
    for path in of_development():
        yield f"{path}: the way out of development versions"


def with_absolute_links(text: str, directory: str, version: str) -> str:
    """Replaces links to files, relative to a directory, by those to the files of a version in the repository."""
    base = f"{facts()['repository'].strip('*')}/blob/v{version}"

    def absolute(match: re.Match[str]) -> str:
        path, _, place = match[1].partition("#")
        target = (ROOT / directory / path).resolve().relative_to(ROOT)
        return f"]({base}/{target}{place and '#' + place})"

    return re.sub(r"\]\((?!\w+:|#)(.*?)\)", absolute, text)


def unwrapped(text: str) -> str:
    """Joins the lines of each paragraph and item: in the notes of a release, each line break is shown."""
    return re.sub(r"(?<=\S)\n *(?![-#\s])", " ", text)


def begin(version: str, following: str) -> str | None:
    """Begins the version that follows, or returns why not."""
    if not is_frozen(version):
        return f"{version} is not released"
    if [int(number) for number in following.split(".")] <= [int(number) for number in version.split(".")]:
        return f"{following} does not follow {version}"
    new = {
        "Cargo.toml": (rf'^version = "{version}"', f'version = "{following}"'),
        "RELEASING.md": (r"^\| date \| .*? \|", f"| date | *{UNDATED}* |"),
        "CHANGELOG.md": (r"\A(?s:(.*?))^## \[", rf"\1## [{following}] - {UNDATED}\n\n## ["),
        "packaging/debian/changelog": (
            r"\A(?s:(.*?)^( -- .*?\n))",
            rf"scru ({following}-1) unstable; urgency=medium\n\n  * New version.\n\n\2\n\1\2",
        ),
        "packaging/rpm/scru.spec": (r"^(%changelog\n)(.* - )", rf"\1\g<2>{following}-1\n- New version\n\n\2"),
    }
    for path, (pattern, replacement) in new.items():
        (ROOT / path).write_text(re.sub(pattern, replacement, read(path), count=1, flags=re.MULTILINE))
    fill(following)
    for extension in json.loads(read("META.json"))["provides"]:
        parts = [read("tools/lib/upgrade.sql"), read("sql/begin.sql.in"), "", read("sql/end.sql.in")]
        if extension == "scru":
            parts[2] = "SELECT scru_adapt_to_server();\n"
        script = "\n".join(parts).replace("@EXTENSION@", extension).replace("@VERSION@", following)
        path = ROOT / f"sql/{extension}--{version}--{following}.sql"
        path.write_text(script.replace("{{ extension }}", extension))
    return None


def main(command: str, *arguments: str) -> list[str]:
    """Executes a command, and returns the problems."""
    version = current()
    if command == "check":
        return [*differences(version)]
    if command == "ready":
        return [*is_ready(version, *arguments)]
    if command == "fill":
        problems = [f"{version} is released: run make next-version"] if is_frozen(version) else [*obstacles(version)]
        if not problems:
            fill(version)
            problems = [*differences(version)]
        return problems
    if command == "notes":
        print(unwrapped(with_absolute_links(section(version), ".", version)))
    elif command == "readme":
        print(with_absolute_links(read("clients/python/README.md"), "clients/python", version), end="")
    elif command == "next":
        problem = begin(version, *arguments)
        return [problem] if problem else []
    return []


if __name__ == "__main__":
    found = main(*sys.argv[1:])
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    sys.exit(bool(found))
