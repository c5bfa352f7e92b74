"""The application before it has IDs: UUIDs of version 4, numbers, and a column with the time."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def time():
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade():
    op.create_table("orders", sa.Column("id", sa.UUID(), primary_key=True), sa.Column("note", sa.String()), time())
    order = sa.Column("order_id", sa.UUID(), sa.ForeignKey("orders.id"), nullable=False, index=True)
    op.create_table("items", sa.Column("id", sa.UUID(), primary_key=True), order, time())
    item = sa.Column("item_id", sa.UUID(), sa.ForeignKey("items.id"), nullable=False)
    op.create_table("parcels", sa.Column("id", sa.BigInteger(), sa.Identity(), primary_key=True), item, time())


def downgrade():
    for table in "parcels", "items", "orders":
        op.drop_table(table)
