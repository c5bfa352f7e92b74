"""ActiveRecord, from Debian's packages: migrations, models, and a schema.rb that recreates the tables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import expect
from idtypes import SCRU128
from programs import missing
from test_clients import PASSWORD, PROGRAMS, ROOT, is_since_november, server  # noqa: F401  (a fixture)


@pytest.fixture(scope="module", autouse=True)
def ruby() -> None:
    """Skips the tests if the packages are missing."""
    if (
        not shutil.which("ruby")
        or subprocess.run(["ruby", "-e", 'require "active_record"; require "pg"'], capture_output=True).returncode
    ):
        missing("ActiveRecord is not installed (Debian: ruby-activerecord, ruby-pg)")


def test_activerecord(new_database, tmp_path):
    database = new_database(extension=False)
    values = list(dict.fromkeys(SCRU128.samples(12)))
    ids = [SCRU128.text(value) for value in values]
    in_order = [SCRU128.text(value) for value in sorted(values)]
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{database.server.port}/{database.name}"

    command = ["ruby", PROGRAMS / "activerecord" / "program.rb", *ids]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "DATABASE_URL": url}, capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")
    reported = {name: texts for name, *texts in map(str.split, done.stdout.splitlines())}
    [made] = reported["made"]
    assert reported == {
        "made": [made],
        "found": in_order,
        "found_by_time": [SCRU128.text(value) for value in sorted(values) if is_since_november(SCRU128, value)],
        "first": in_order[:1],
        "item": reported["item"],
        "array": ["NULL", *ids],
        "order": [made],
        "malformed": [expect.INVALID_TEXT],
        "same": ["true"],
    }
    assert [len(text) for text in (made, *reported["item"])] == [25, 26, 32, 12, 13]
    schema = (tmp_path / "schema.rb").read_text()
    for line in (
        'enable_extension "scru"',
        'create_table "orders", id: :scru128, default: -> { "gen_scru128()" }, force: :cascade do |t|',
        't.ulid "parent"',
        't.scru128 "order_id", null: false',
        't.scru160 "a", default: -> { "gen_scru160()" }',
        't.scru128 "others", array: true',
    ):
        assert line in schema


def test_the_page_shows_what_is_run():
    """Each line of the section's snippets is in one of the programs, and the linked files exist."""
    [section] = re.findall(r"\n## ActiveRecord\n(.*?)\n## ", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL)
    directory = PROGRAMS / "activerecord"
    programs = "".join(path.read_text() for path in sorted(directory.rglob("*.rb")))
    snippets = re.findall(r"```ruby\n(.*?)```", section, re.DOTALL)
    assert len(snippets) == 2
    assert [line for snippet in snippets for line in snippet.splitlines() if line.strip() not in programs] == []
    for link in re.findall(r"\(\.\./([^)]+)\)", section):
        assert Path(ROOT / link).exists()
