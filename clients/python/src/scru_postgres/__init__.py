"""The ID types of the PostgreSQL extension scru as Python classes.

Each supported library has a module: scru_postgres.psycopg, scru_postgres.asyncpg, scru_postgres.sqlalchemy and
scru_postgres.django.
"""

from scru_postgres._ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

__all__ = ["TYPES", "Scru64", "Scru128", "Scru160", "SortableId", "Ulid", "Ulidflake"]

# The classes are named by this module in pickled values and in the migrations of Django.
for _type in SortableId, *TYPES:
    _type.__module__ = __name__
