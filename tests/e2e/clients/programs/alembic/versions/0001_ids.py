"""Each row gets an ID with its time."""

import sqlalchemy as sa
from alembic import op
from scru_postgres.alembic import convert_key, create_guard, drop_guard, revert_key
from scru_postgres.sqlalchemy import SCRU64, SCRU128, ULID

revision = "0001"
down_revision = None


def upgrade():
    # block 1 of python.md#alembic
    convert_key("items", "id", ULID, time="created_at")
    convert_key("parcels", "id", SCRU64, time="created_at")
    create_guard("orders", lag="5 s")


def downgrade():
    drop_guard("orders")
    revert_key("parcels", "id", sa.BigInteger())
    revert_key("items", "id", sa.UUID())
    revert_key("orders", "id", sa.UUID())
    op.execute("DROP EXTENSION scru")
