"""Partitions by time for django-postgres-extra, of a model whose partitioning key is an ID."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from psqlextra.partitioning import PostgresCurrentTimePartitioningStrategy

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from psqlextra.partitioning import PostgresTimePartition

    from scru_postgres import SortableId


__all__ = ["IdPartitioningStrategy"]


class IdPartitioningStrategy(PostgresCurrentTimePartitioningStrategy):
    """Partitions of equal size, such as months, from now on. The bounds are the first IDs of their times.

    The options are those of PostgresCurrentTimePartitioningStrategy.
    """

    def __init__(self, id_type: type[SortableId], **options: Any) -> None:
        super().__init__(**options)
        self.id_type = id_type

    def get_start_datetime(self) -> datetime:
        # A partition that is larger than an hour would begin at the hour of this time.
        return super().get_start_datetime().replace(hour=0, minute=0, second=0, microsecond=0)

    def to_create(self) -> Generator[PostgresTimePartition, None, None]:
        for partition in super().to_create():
            partition.from_values = self._first_id(partition.start_datetime)
            partition.to_values = self._first_id(partition.end_datetime)
            yield partition

    def _first_id(self, time: datetime) -> SortableId:
        # psqlextra's times are in UTC, and some have no time zone.
        return self.id_type.lower_bound(time.replace(tzinfo=timezone.utc))
