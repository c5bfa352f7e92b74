"""The migration that makemigrations wrote, with two operations for the extensions added."""

from django.contrib.postgres.operations import CreateExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateExtension("scru"),
        CreateExtension("scru_uuidv7"),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        db_default=models.Func(function="gen_uuidv7"),
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("note", models.TextField()),
            ],
            options={"db_table": "events"},
        ),
    ]
