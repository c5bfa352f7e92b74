"""The application before it has IDs: UUIDs of version 4, numbers, and a column with the time."""

import uuid

from django.db import migrations, models
from django.db.models.deletion import CASCADE
from django.utils.timezone import now


def uuid_key():
    return models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False, serialize=False)


class Migration(migrations.Migration):
    initial = True

    operations = [
        migrations.CreateModel(
            "Order",
            [("id", uuid_key()), ("note", models.TextField()), ("created_at", models.DateTimeField(default=now))],
        ),
        migrations.CreateModel(
            "Item",
            [
                ("id", uuid_key()),
                ("order", models.ForeignKey("shop.order", CASCADE)),
                ("what", models.TextField(db_default="")),
                ("created_at", models.DateTimeField(default=now)),
            ],
        ),
        migrations.CreateModel(
            "Parcel",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("item", models.ForeignKey("shop.item", CASCADE)),
                ("created_at", models.DateTimeField(default=now)),
            ],
        ),
    ]
