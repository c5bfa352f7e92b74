"""BRIN indexes on columns of domains, as pg_partman's recipe creates them."""

from __future__ import annotations

import psycopg
import pytest

import brin
from idtypes import TYPES
from server import oldest_and_newest
from test_upgrade import each_earlier_release

pytestmark = oldest_and_newest("the catalogs of operator classes are the same on all servers")


def test_domains_have_brin_indexes(connection):
    """Each operator class indexes a domain over each type, before and after its index is summarized."""
    brin.create(connection)
    brin.check(connection)
    connection.execute("CREATE INDEX built ON brin.scru128_orders USING brin (minmax)")
    connection.execute("SELECT brin_summarize_new_values('brin.built')")


@each_earlier_release
def test_an_upgrade_repairs_brin_indexes_on_domains(new_database, version):
    """With the SQL of an older version, an INSERT into a column of a domain fails if it has a BRIN index. The upgrade
    repairs existing indexes."""
    with new_database(extension=False).connect() as connection:
        connection.execute(f"CREATE EXTENSION scru VERSION '{version}'")
        brin.create(connection)
        for t in TYPES:
            with pytest.raises(psycopg.errors.InternalError_, match="missing operator 1"):
                for hour in range(1, 3):
                    connection.execute(
                        f"INSERT INTO brin.{t}_orders (minmax) VALUES (timestamptz '2026-01-01 0{hour}:00+00'::{t})"
                    )
        connection.execute("ALTER EXTENSION scru UPDATE")
        brin.check(connection)
