"""The ID types of the PostgreSQL extension scru as Python classes.

Each supported library has a module: scru_postgres.psycopg, scru_postgres.asyncpg, scru_postgres.sqlalchemy and
scru_postgres.django.
"""

from scru_postgres.ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

__all__ = ["TYPES", "Scru64", "Scru128", "Scru160", "SortableId", "Ulid", "Ulidflake"]
