"""Partitions by month with django-postgres-extra. The names of the partitions are those of their months."""

import os
from datetime import datetime, timezone

import django
from dateutil.relativedelta import relativedelta
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "psqlextra.backend", "NAME": os.environ["PGDATABASE"]}},
    INSTALLED_APPS=["psqlextra"],
    USE_TZ=True,
)
django.setup()

from django.db import connection, models  # noqa: E402
from psqlextra.models import PostgresPartitionedModel  # noqa: E402
from psqlextra.partitioning import (  # noqa: E402
    PostgresPartitioningConfig,
    PostgresPartitioningManager,
    PostgresTimePartitionSize,
)
from psqlextra.types import PostgresPartitioningMethod  # noqa: E402
from scru_postgres import Scru128  # noqa: E402
from scru_postgres.django import GenScru128, Scru128Field  # noqa: E402


class Event(PostgresPartitionedModel):
    class PartitioningMeta:
        method = PostgresPartitioningMethod.RANGE
        key = ["id"]

    id = Scru128Field(primary_key=True, db_default=GenScru128(), editable=False)
    note = models.TextField()

    class Meta:
        app_label = "events"
        db_table = "events"


with connection.schema_editor() as editor:
    editor.create_partitioned_model(Event)

# block 2 of django.md#urls-apis-and-partitions
manager.plan().apply(using="default")
assert manager.plan().model_plans == [], "all partitions exist"

month = datetime.now(timezone.utc).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
following = Scru128.lower_bound(month + relativedelta(months=1))
Event.objects.create(note="now")
Event.objects.create(id=Scru128.lower_bound(month), note="first")
Event.objects.create(id=Scru128.from_int(int(following) - 1), note="last")
Event.objects.create(id=following, note="next")
print(*(f"events_{each:%Y_%b}".lower() for each in (month, month + relativedelta(months=1))))
