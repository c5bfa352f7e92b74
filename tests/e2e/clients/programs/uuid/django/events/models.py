"""Events, in the order of their IDs."""

from django.db import models


class Event(models.Model):
    id = models.UUIDField(primary_key=True, db_default=models.Func(function="gen_uuidv7"), editable=False)
    note = models.TextField()

    class Meta:
        db_table = "events"
