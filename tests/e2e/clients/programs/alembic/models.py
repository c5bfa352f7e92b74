"""Orders, items and parcels, and a table with all types."""

from datetime import datetime

from scru_postgres import Scru64, Scru128, Ulid
from scru_postgres.sqlalchemy import SCRU64, SCRU128, SCRU160, ULID, ULIDFLAKE
from sqlalchemy import ARRAY, DateTime, ForeignKey, cast, text
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[Scru128] = mapped_column(SCRU128, primary_key=True, server_default=text("gen_scru128()"))
    note: Mapped[str | None]
    created_at: Mapped[datetime] = column_property(cast(id.column, DateTime(timezone=True)))


class Item(Base):
    __tablename__ = "items"

    id: Mapped[Ulid] = mapped_column(ULID, primary_key=True, server_default=text("gen_ulid()"))
    order_id: Mapped[Scru128] = mapped_column(ForeignKey("orders.id"), index=True)


class Parcel(Base):
    __tablename__ = "parcels"

    id: Mapped[Scru64] = mapped_column(SCRU64, primary_key=True, server_default=text("gen_scru64()"))
    item_id: Mapped[Ulid] = mapped_column(ForeignKey("items.id"))


class All(Base):
    __tablename__ = "all_types"

    id: Mapped[str] = mapped_column(SCRU64, primary_key=True, server_default=text("gen_scru64()"))
    scru160: Mapped[str] = mapped_column(SCRU160, server_default=text("gen_scru160()"))
    ulidflake: Mapped[str] = mapped_column(ULIDFLAKE, server_default=text("gen_ulidflake()"))
    ids: Mapped[list[str] | None] = mapped_column(ARRAY(SCRU128))
