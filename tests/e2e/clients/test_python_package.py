"""The Python package in clients/python: its values against the test vectors, programs, and types.

The programs run with the packages that tools/lib/clients.sh installs, and with this package as pip installs it from the
tree. test_clients.py has those of drivers and of SQLAlchemy.
"""

from __future__ import annotations

import ast
import json
import operator
import os
import pickle
import re
import shutil
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from doctest import DocTestParser, DocTestRunner
from pathlib import Path

import pytest

from clients import INSTALLED, PACKAGE, PROGRAMS, PYTHON, ROOT, block, copy, node, python
from clients import installed as installed  # a fixture
from clients import run as run_in
from clients import server as server  # a fixture
from idtypes import TYPES, each_form, each_type
from server import on_the_oldest

sys.path.insert(0, str(PACKAGE / "src"))

import scru_postgres

pytestmark = on_the_oldest("the package converts values outside of the server, and io.sql tests what the server sends")


def run(installed: Path, directory: Path, database, *arguments: object) -> str:
    """Runs a program with the package, and returns its output."""
    return run_in(database, [*python(), *arguments], directory, PYTHONPATH=str(installed))


# --------------------------------------------------------------------------------------------------------------- values


def class_of(id_type) -> type:
    """Returns the Python class of a type."""
    [cls] = [cls for cls in scru_postgres.TYPES if cls.pg_type == id_type.name]
    return cls


@each_type
def test_values_of_the_vectors(id_type):
    """Text, bytes and time equal those of the specifications' examples. Input is case-insensitive."""
    cls = class_of(id_type)
    for vector in json.loads((ROOT / "tests" / "vectors" / f"{id_type.name}.json").read_text())["valid"]:
        for text in [vector["text"], *vector["also_read"]]:
            id = cls(text)
            assert (id, bytes(id).hex()) == (vector["text"], vector["bytes"])
        assert cls.from_bytes(bytes.fromhex(vector["bytes"])) == id
        if vector["timestamp_micros"] < 253_402_300_800_000_000:
            assert round(id.timestamp.timestamp() * 1000) * 1000 == vector["timestamp_micros"]
        else:
            with pytest.raises(OverflowError):
                _ = id.timestamp


@each_type
def test_values(id_type):
    """An ID is a str with additional methods. IDs sort in the order of their integer values."""
    cls = class_of(id_type)
    assert (cls.size, cls.text_length, cls.largest) == (id_type.length, id_type.text_length, id_type.largest)
    values = sorted(set(id_type.samples(200)))
    ids = [cls.from_int(value) for value in values]
    assert ids == sorted(ids) == [id_type.text(value) for value in values]
    assert [int(id) for id in ids] == values
    id = ids[-1]
    assert (type(id), type(str(id)), cls(id) is id, hash(id)) == (cls, str, True, hash(str(id)))
    assert (repr(id), json.dumps(id)) == (f"{cls.__name__}('{id!s}')", f'"{id!s}"')
    assert type(pickle.loads(pickle.dumps(id))) is cls


@each_type
def test_invalid_values(id_type):
    cls = class_of(id_type)
    digits = id_type.text(0)
    for text in ["", digits[1:], f"{digits}0", f"+{digits[1:]}", *(f"{digits[1:]}{wrong}" for wrong in "!_\n\u0660")]:
        with pytest.raises(ValueError, match=f"^invalid input syntax for type {id_type}: "):
            cls(text)
    for text in id_type.texts_above_the_largest():
        with pytest.raises(ValueError, match=f"^value .* is out of range for type {id_type}$"):
            cls(text)
    for data in [b"", b"\0" * (id_type.length + 1), *id_type.bytes_above_the_largest()]:
        with pytest.raises(ValueError, match=r"^(value is out of range|expected )"):
            cls.from_bytes(data)


@each_type
def test_bounds_are_those_of_the_server(connection, id_type):
    """As T_lower and T_upper return them: on and around ticks, and at and beyond the ends of the type and of Python."""
    cls, t = class_of(id_type), id_type.name
    tick, epoch = timedelta(milliseconds=id_type.tick), datetime.fromtimestamp(id_type.epoch // 1000, UTC)
    largest = id_type.largest >> id_type.body_bits
    last = epoch + min(largest, (datetime.max.replace(tzinfo=UTC) - epoch) // tick) * tick
    ticks = [epoch, epoch + tick, epoch + largest // 5 * tick, last]
    near = [time + timedelta(microseconds=micros) for time in ticks for micros in (-1, 0, 1)]
    ends = [datetime(1, 1, 1, tzinfo=UTC), datetime(1960, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
    for time in [*near, *ends]:
        found = connection.execute(f"SELECT {t}_lower(%(t)s)::text, {t}_upper(%(t)s)::text", {"t": time}).fetchone()
        assert found == (cls.lower_bound(time), cls.upper_bound(time)), time
    assert cls.lower_bound(ends[1]) == cls.from_int(0)
    with pytest.raises(ValueError, match="time zone"):
        cls.lower_bound(datetime(2026, 11, 1))


@each_form
def test_prefixes_are_those_of_the_server(connection, id_type):
    """As T_prefixed returns them."""
    cls, t = class_of(id_type), id_type.name
    id = cls.from_int(id_type.largest // 3)
    texts = connection.execute(f"SELECT {t}_prefixed('order', %s::{t}), {t}_prefixed('', %s::{t})", [id, id]).fetchone()
    assert (id.prefixed("order"), id.prefixed("")) == texts
    assert [cls.unprefixed("order", texts[0]), cls.unprefixed("", texts[1])] == [id, id]
    with pytest.raises(ValueError, match="expected the prefix"):
        cls.unprefixed("item", texts[0])
    with pytest.raises(ValueError, match="invalid prefix"):
        id.prefixed("Order")


def test_errors_name_the_constructor():
    """A value that is not a text is a TypeError. IDs of two types have no order."""
    cls, ulid = scru_postgres.Scru128, scru_postgres.Ulid
    value = uuid.uuid4()
    for wrong, constructor in (5, "from_int"), (value, "from_uuid"), (b"x", "from_bytes"):
        with pytest.raises(TypeError, match=rf"^Scru128\(\) takes text, not \w+: use Scru128\.{constructor}\(\)$"):
            cls(wrong)
    assert cls.from_uuid(value).uuid == value
    for compare in operator.lt, operator.le, operator.gt, operator.ge:
        with pytest.raises(TypeError, match=r"^Scru128 and Ulid have no common order$"):
            compare(cls.from_int(5), ulid.from_int(5))
        assert compare(cls.from_int(5), cls.from_int(5)) == compare(0, 0)


def test_new_scru160():
    """They are strictly increasing, and of this minute."""
    ids = [scru_postgres.Scru160.new() for _ in range(10_000)]
    assert ids == sorted(set(ids))
    assert abs(ids[-1].timestamp - datetime.now(UTC)).total_seconds() < 60


@pytest.mark.parametrize(("seconds", "continues"), [(9, True), (11, False)])
def test_new_scru160_after_a_step_of_the_clock(monkeypatch, seconds, continues):
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(seconds=seconds)

    last = scru_postgres.Scru160.new()
    monkeypatch.setattr(scru_postgres._ids.dt, "datetime", Clock)
    id = scru_postgres.Scru160.new()
    assert (id > last) is continues
    # Later tests start from the clock again.
    monkeypatch.setattr(scru_postgres.Scru160, "_last", -1)


FIELDS = {name for cls in scru_postgres.TYPES for name in (f"{cls.__name__}Field", f"Gen{cls.__name__}")}
PUBLIC = {
    "": {"TYPES", "SortableId", *(cls.__name__ for cls in scru_postgres.TYPES)},
    ".alembic": {"convert_key", "create_guard", "drop_guard", "revert_key"},
    ".asyncpg": {"register"},
    ".django": {"ConvertKey", "FeedGuard", "IdField", "ScruExtension", "TimeOf", "TimeOfField", "register_converters"}
    | FIELDS,
    ".django_filters": set(),
    ".django_partitions": {"IdPartitioningStrategy"},
    ".django_rest": {"IdCursorPagination"},
    ".psycopg": {"register", "register_async"},
    ".sqlalchemy": {"guard", "register", *(cls.__name__.upper() for cls in scru_postgres.TYPES)},
}


def test_public_names():
    """They are these. All other modules are private."""
    names = {}
    for path in (PACKAGE / "src/scru_postgres").glob("[!_]*.py"):
        names[f".{path.stem}"] = re.search(r"^__all__[^=]* = (\[.*?\])", path.read_text(), re.MULTILINE | re.DOTALL)[1]
    found = {module: set(ast.literal_eval(listed)) for module, listed in names.items()}
    assert {"": set(scru_postgres.__all__), **found} == PUBLIC
    assert {cls.pg_type for cls in scru_postgres.TYPES} == {*map(str, TYPES)}
    assert {cls.__module__ for cls in scru_postgres.TYPES} == {"scru_postgres"}  # of pickled values and migrations


def test_the_example_of_the_readme():
    example = DocTestParser().get_doctest(block("1 of README.md#scru-postgres"), {}, "README.md", None, 0)
    assert DocTestRunner().run(example) == (0, 5)


# ------------------------------------------------------------------------------------------------------------- programs


def test_types_are_found_by_the_extension(installed, new_database, tmp_path):
    """Or by the schema, if it is given, but not by search_path. Types that the database lacks are skipped."""
    printed = run(installed, tmp_path, new_database(extension=False), PROGRAMS / "package" / "registering.py")
    found = {"all": "Scru128 Ulid Ulid", "ulid": "str Ulid Ulid", "ids": "Scru128 Ulid Ulid", "public": "str str str"}
    modules = ["psycopg", "psycopg_async", "asyncpg"]
    assert printed.splitlines() == [f"{module} {name} {found[name]}" for name in found for module in modules]


@each_form
def test_pydantic(installed, database, id_type, tmp_path):
    """Models accept text in any case, and reject malformed text as a validation error."""
    program = copy(PROGRAMS / "package/with_pydantic.py", tmp_path)
    program.write_text(program.read_text().replace("Scru128", class_of(id_type).__name__))
    texts = [id_type.text(value) for value in id_type.samples(12)]
    errors = ["value_error", "value_error", "string_type", "string_type"]
    assert run(installed, tmp_path, database, program, *texts).splitlines() == [f"malformed id {e}" for e in errors]


def test_partitions_of_django_postgres_extra(installed, database, connection, tmp_path):
    """The first and the last ID of a month are in its partition, and the next one in that of the next month."""
    names = run(installed, tmp_path, database, copy(PROGRAMS / "package/with_postgres_extra.py", tmp_path)).split()
    notes = "SELECT tableoid::regclass::text, string_agg(note, ' ' ORDER BY id) FROM events GROUP BY 1 ORDER BY 2"
    assert connection.execute(notes).fetchall() == [*zip(names, ["first now last", "next"], strict=True)]


PYRIGHT = INSTALLED / "node/node_modules/pyright/index.js"
# With the plugin of django-stubs, which runs Django, and without.
SETTINGS = """
[mypy]
strict = true
plugins = mypy_django_plugin.main
[mypy.plugins.django-stubs]
django_settings_module = settings
"""
MYPY = [PYTHON, "-m", "mypy", "--cache-dir=/dev/null"]


@pytest.mark.parametrize("checker", ["mypy", "mypy with the plugin", "pyright"])
def test_types(installed, tmp_path, checker):
    """The package passes the type checkers. The fields of Django have the types of their IDs."""
    project = shutil.copytree(PACKAGE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))
    (project / "typed").mkdir()
    (project / "typed/__init__.py").touch()
    for copied in "models.py", "typed/models.py":
        shutil.copy(PROGRAMS / "package/typed.py", project / copied)
    (project / "settings.py").write_text('SECRET_KEY = "of the tests"\nINSTALLED_APPS = ["typed"]\n')
    (project / "plugin.ini").write_text(SETTINGS)
    (project / "pyrightconfig.json").write_text('{"extraPaths": ["src"]}')
    command = {
        "mypy": [*MYPY, "src", "models.py"],
        "mypy with the plugin": [*MYPY, "--config-file=plugin.ini", "-p", "typed"],
        "pyright": [*node(), PYRIGHT, "--pythonpath", PYTHON, "models.py"],
    }[checker]
    environment = {**os.environ, "MYPYPATH": "src", "PYTHONPATH": f"{project}:{project}/src"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
