"""Creates the extension."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS scru")


def downgrade() -> None:
    op.execute("DROP EXTENSION scru")
