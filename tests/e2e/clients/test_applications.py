"""Two applications that grow from an old key to a feed: a project of Django, and one of Alembic.

They start with UUIDs of version 4, numbers, and a column with the time. The tests change them as the pages say.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from clients import PROGRAMS, block, copy, python, run, url_of
from clients import installed as installed  # a fixture
from clients import server as server  # a fixture
from idtypes import TYPES
from server import on_the_oldest

PAGE = Path(__file__).parents[3] / "docs/django.md"

pytestmark = on_the_oldest("the frameworks send the same statements to all versions")

ROWS = 1_000
FILL = """
    INSERT INTO %(orders)s (id, note, created_at)
    SELECT gen_random_uuid(), n, '2025-01-01Z'::timestamptz + n * interval '1 min 1 ms'
    FROM generate_series(1, %(rows)s) AS n;
    INSERT INTO %(items)s (id, order_id, created_at)
    SELECT gen_random_uuid(), id, created_at + interval '1 s' FROM %(orders)s;
    INSERT INTO %(parcels)s (item_id, created_at) SELECT id, created_at + interval '1 s' FROM %(items)s;
"""
# The parcels whose item and order are still theirs, and whether each key has the time of its row.
JOINED = """
    SELECT count(*), bool_and(o.id::timestamptz = o.created_at AND i.id::timestamptz = i.created_at
        AND p.id::timestamptz BETWEEN p.created_at - interval '256 ms' AND p.created_at + interval '256 ms')
    FROM %(parcels)s p JOIN %(items)s i ON item_id = i.id JOIN %(orders)s o ON order_id = o.id
    WHERE i.created_at = o.created_at + interval '1 s' AND p.created_at = i.created_at + interval '1 s'
"""


class Application:
    """A copy of a project, where it may write files, with a database that has no IDs yet."""

    def __init__(self, name: str, directory: Path, installed: Path, database, *command: str, **tables: str):
        self.directory = copy(PROGRAMS / name, directory)
        self.environment = {"PYTHONPATH": str(installed)}
        self.database = database
        self.connection = database.connect()
        self.command = command
        self.tables = tables

    def run(self, *arguments: str, **environment: str) -> str:
        """Runs a program with the package, and returns its output."""
        command = [*python(), *arguments]
        return run(self.database, command, self.directory, **self.environment, **environment)

    def manage(self, *arguments: str, **environment: str) -> str:
        """Runs a command of the framework."""
        return self.run(*self.command, *arguments, **environment)

    def fill(self) -> None:
        """Inserts rows with keys that are no IDs."""
        self.connection.execute(FILL % {**self.tables, "rows": ROWS})

    def sums(self) -> list[tuple]:
        """Returns the number of rows and a checksum of each table."""
        query = "SELECT count(*), sum(hashtextextended(row::text, 0)) FROM {} AS row"
        return [self.connection.execute(query.format(table)).fetchone() for table in self.tables.values()]

    def is_converted(self) -> bool:
        """Whether each key has the time of its row, and the rows are still joined."""
        return self.connection.execute(JOINED % self.tables).fetchone() == (ROWS, True)

    def replace(self, file: str, *replacements: tuple[str, str], count: int = 1) -> None:
        """Replaces parts of a file, each of which is in it so often."""
        path = self.directory / file
        text = path.read_text()
        for old, new in replacements:
            text, found = re.subn(old, new.replace("\\", "\\\\"), text)
            assert found == count, old
        path.write_text(text)


UUIDV7 = 'migrations.RunSQL("CREATE EXTENSION scru_uuidv7", "DROP EXTENSION scru_uuidv7"),'


def test_django(installed, new_database, tmp_path):
    """The keys become IDs with the times of the rows, back, and again. Then the column with the time goes, and the
    project's own tests pass with client-side and server-side binding of parameters."""
    tables = {"orders": "shop_order", "items": "shop_item", "parcels": "shop_parcel"}
    shop = Application("django", tmp_path, installed, new_database(extension=False), "manage.py", **tables)
    shop.manage("migrate", "--verbosity=0", "shop", "0001")
    shop.fill()
    before = shop.sums()
    column = "created_at = models.DateTimeField(auto_now_add=True)"
    shop.replace("shop/models.py", (r'created_at = TimeOfField\("id"\)', column), count=3)
    shop.manage("makemigrations", "shop", "--name=ids")
    migration = shop.directory / "shop/migrations/0002_ids.py"
    # Migrations of users have these names, which must not change.
    for field in (
        *(f"{cls}Field(db_default=scru_postgres.django.Gen{cls}())" for cls in (t.name.title() for t in TYPES)),
        "Scru128Field(default=scru_postgres.Scru128.new, editable=False, primary_key=True, serialize=False)",
        "Scru128Field(blank=True, null=True)",
        "Scru128Field(default='0372ijojuxuhjsfkeryi2mrtm')",
        "FeedGuard(field='id', lag='5 s', name='document_guard')",
    ):
        assert f"scru_postgres.django.{field}" in migration.read_text()
    # Two of the three keys are UUIDs.
    with pytest.raises(AssertionError, match=r"(?s)W001.*W001.*identified 2 issues"):
        shop.manage("check", "--fail-level=WARNING")
    extensions = "scru_postgres.django.ScruExtension()," + UUIDV7
    shop.replace("shop/migrations/0002_ids.py", (r"operations = \[", f"operations = [{extensions}"))
    key = r"migrations\.AlterField\(\s+(?=model_name='(?:order|item|parcel)',\s+name='id')"
    shop.replace("shop/migrations/0002_ids.py", (key, block("1 of django.md#from-an-existing-key")), count=3)
    shop.manage("check", "--fail-level=WARNING")
    shop.manage("migrate", "--verbosity=0")
    assert shop.is_converted()
    shop.manage("migrate", "--verbosity=0", "shop", "0001")
    assert shop.sums() == before
    shop.manage("migrate", "--verbosity=0")
    shop.connection.execute("DROP TABLE shop_order_old_id, shop_item_old_id, shop_parcel_old_id")

    copy(PROGRAMS / "django/shop/models.py", shop.directory / "shop")
    shop.manage("makemigrations", "shop", "--name=times")
    assert (shop.directory / "shop/migrations/0003_times.py").read_text().count("migrations.RemoveField(") == 3
    [keep] = re.findall(r"`(migrations\.RunSQL\(.*?\),)`", PAGE.read_text())
    shop.replace("shop/migrations/0003_times.py", (r"operations = \[", f"operations = [{keep}"))
    shop.manage("migrate", "--verbosity=0")
    shop.manage("migrate", "--verbosity=0", "shop", "0002")
    changed = "SELECT count(*) FROM shop_order WHERE id::timestamptz <> created_at"
    assert shop.connection.execute(changed).fetchone() == (0,)
    shop.manage("migrate", "--verbosity=0")
    assert "No changes detected" in shop.manage("makemigrations", "--check", "--dry-run")
    inserted = shop.connection.execute("INSERT INTO shop_order (note) VALUES ('by SQL') RETURNING pg_typeof(id)::text")
    assert inserted.fetchone() == ("scru128",)
    # Only the project's own tables.
    inspected = re.findall(r"db_table = '(\w+?)_", shop.manage("inspectdb", "--include-views"))
    assert set(inspected) == {"auth", "django", "shop"}
    for binding in "client", "server":
        shop.manage("test", "shop.tests", "--verbosity=0", BINDING=binding)

    shop.connection.execute("TRUNCATE shop_parcel, shop_item; DELETE FROM shop_order WHERE note > '1'")
    dumped = shop.manage("dumpdata", "shop")
    (shop.directory / "dumped.json").write_text(dumped)
    shop.manage("flush", "--no-input")
    shop.manage("loaddata", "dumped.json")
    assert shop.manage("dumpdata", "shop") == dumped


def test_alembic(installed, new_database, tmp_path):
    """The keys become IDs with the times of the rows, back, and again. Then autogenerate writes what the models have
    and the tables lack, and detects only real differences. The environment is the one that `alembic init` creates, with
    the changes that the page describes."""
    database = new_database(extension=False)
    tables = {"orders": "orders", "items": "items", "parcels": "parcels"}
    shop = Application("alembic", tmp_path, installed, database, "-m", "alembic", **tables)
    shop.manage("init", "migrations")
    url = url_of(database).replace("postgresql:", "postgresql+psycopg:")
    shop.replace("alembic.ini", ("driver://user:pass@localhost/dbname", url))
    shop.replace(
        "migrations/env.py",
        ("target_metadata = None", "from models import Base\ntarget_metadata = Base.metadata"),
        # Also detects differences of the defaults.
        ("connection=connection,", "connection=connection, compare_server_default=True,"),
    )
    imports = "import sqlalchemy as sa\n"
    shop.replace("migrations/script.py.mako", (imports, f"{imports}import scru_postgres.sqlalchemy\n"))
    shutil.copytree(shop.directory / "versions", shop.directory / "migrations/versions", dirs_exist_ok=True)
    shop.manage("upgrade", "0001")
    shop.fill()
    before = shop.sums()
    shop.manage("upgrade", "0002")
    assert shop.is_converted()
    shop.manage("downgrade", "0001")
    assert shop.sums() == before
    shop.manage("upgrade", "0002")
    shop.connection.execute("DROP TABLE orders_old_id, items_old_id, parcels_old_id")

    shop.manage("revision", "--autogenerate", "--message", "times", "--rev-id", "0003")
    written = (shop.directory / "migrations/versions/0003_times.py").read_text()
    for operation in (
        "sa.Column('id', scru_postgres.sqlalchemy.SCRU64(), server_default=sa.text('gen_scru64()'), nullable=False)",
        "sa.Column('ids', sa.ARRAY(scru_postgres.sqlalchemy.SCRU128()), nullable=True)",
        *(f"op.drop_column('{table}', 'created_at')" for table in tables),
    ):
        assert operation in written
    shop.manage("upgrade", "head")
    assert "No new upgrade operations detected." in shop.manage("check")
    reflected = ["id SCRU64()", "ids SCRU128()", "scru160 SCRU160()", "ulidflake ULIDFLAKE()"]
    assert shop.run("program.py").splitlines() == ["made True", "True", *reflected]
    shop.replace("models.py", (r"mapped_column\(SCRU160", "mapped_column(ULID"))
    shop.manage("revision", "--autogenerate", "--message", "change", "--rev-id", "0004")
    changed = (shop.directory / "migrations/versions/0004_change.py").read_text()
    assert changed.count("type_=scru_postgres.sqlalchemy.ULID()") == 1
