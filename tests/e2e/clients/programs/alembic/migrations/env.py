"""Alembic's environment: migrates the database of DATABASE_URL to the models."""

import os

from alembic import context
from models import Base
from sqlalchemy import create_engine

engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()
