"""Django with a created_at that the database fills: a column, or an expression of a view."""

import os
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connection, models
from django.db.models.functions import Now

url = urlsplit(os.environ["DATABASE_URL"])
database = {"ENGINE": "django.db.backends.postgresql", "NAME": url.path[1:], "USER": url.username}
database |= {"PASSWORD": url.password, "HOST": url.hostname, "PORT": url.port}
settings.configure(DATABASES={"default": database}, USE_TZ=True)
django.setup()


class Scru128Field(models.Field):
    def db_type(self, connection):
        return "scru128"


class Order(models.Model):
    id = Scru128Field(primary_key=True, db_default=models.Func(function="gen_scru128"))
    note = models.TextField()
    created_at = models.GeneratedField(expression=Now(), output_field=models.DateTimeField(), db_persist=True)

    class Meta:
        app_label = "shop"
        db_table = "orders"


def report(name, *values):
    print(name, *(str(value).lower() if isinstance(value, bool) else value for value in values))


with connection.cursor() as cursor:
    cursor.execute("SELECT clock_timestamp() - interval '1 ms'")
    [since] = cursor.fetchone()
made = [Order.objects.create(note=note) for note in ("one", "two", "three")]
report("has_time", all(order.created_at for order in made))
after = Order.objects.filter(created_at__gte=since)
report("since", *after.order_by("-created_at").values_list("note", flat=True))
report("latest", *Order.objects.order_by("-created_at").values_list("note", flat=True)[:2])
report("is_largest", Order.objects.aggregate(last=models.Max("created_at"))["last"] == made[2].created_at)
Order.objects.filter(pk=made[0].pk).update(note="changed")
report("changed", Order.objects.get(pk=made[0].pk).note)
made[1].delete()
report("deleted", after.filter(note="old").delete()[0])
report("left", *Order.objects.order_by("created_at").values_list("note", flat=True))
