"""The migration that makemigrations wrote, with an operation for the extension added."""

import django.db.models.deletion
import scru_postgres.django
import scru_postgres.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        scru_postgres.django.ScruExtension(),
        migrations.CreateModel(
            name="All",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scru128", scru_postgres.django.Scru128Field(db_default=scru_postgres.django.GenScru128())),
                ("ulid", scru_postgres.django.UlidField(db_default=scru_postgres.django.GenUlid())),
                ("scru160", scru_postgres.django.Scru160Field(db_default=scru_postgres.django.GenScru160())),
                ("scru64", scru_postgres.django.Scru64Field(db_default=scru_postgres.django.GenScru64())),
                ("ulidflake", scru_postgres.django.UlidflakeField(db_default=scru_postgres.django.GenUlidflake())),
            ],
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    scru_postgres.django.Scru128Field(
                        default=scru_postgres.ids.Scru128.new, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    scru_postgres.django.Scru128Field(
                        db_default=scru_postgres.django.GenScru128(), editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("note", models.TextField()),
                ("parent", scru_postgres.django.Scru128Field(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    scru_postgres.django.UlidField(
                        db_default=scru_postgres.django.GenUlid(), editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("what", models.TextField()),
                ("order", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="shop.order")),
            ],
        ),
    ]
