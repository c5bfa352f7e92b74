"""The ID types of the PostgreSQL extension scru: values, and a module for each library.

scru_postgres.psycopg, scru_postgres.asyncpg, scru_postgres.sqlalchemy, scru_postgres.django
"""

from scru_postgres.ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

__all__ = ["TYPES", "Scru64", "Scru128", "Scru160", "SortableId", "Ulid", "Ulidflake"]
