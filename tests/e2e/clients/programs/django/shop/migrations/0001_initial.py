"""The application before it has IDs: UUIDs of version 4, numbers, and a column with the time."""

import uuid

from django.db import migrations, models
from django.db.models.deletion import CASCADE
from django.utils.timezone import now


def table(name, key, **fields):
    return migrations.CreateModel(
        name, [("id", key), *fields.items(), ("created_at", models.DateTimeField(default=now))]
    )


def uuid_key():
    return models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False, serialize=False)


class Migration(migrations.Migration):
    initial = True

    number = models.BigAutoField(primary_key=True, serialize=False)
    operations = [
        table("Order", uuid_key(), note=models.TextField()),
        table("Item", uuid_key(), order=models.ForeignKey("shop.order", CASCADE)),
        table("Parcel", number, item=models.ForeignKey("shop.item", CASCADE)),
    ]
