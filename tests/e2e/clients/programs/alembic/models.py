"""Orders, items and parcels, and a table with all types."""

from scru_postgres import Scru64, Ulid
from scru_postgres.sqlalchemy import SCRU64, SCRU160, ULID, ULIDFLAKE
from sqlalchemy import ARRAY, ForeignKey

# block 1 of python.md#sqlalchemy


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
