"""Django on a column of type uuid, in one file: `program.py COMMAND` is Django's command line, `program.py run AFTER`
uses the model."""

import datetime
import os
import sys
from urllib.parse import urlparse

import django
from django.conf import settings
from django.core.management import execute_from_command_line

url = urlparse(os.environ["DATABASE_URL"])
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": url.hostname,
            "PORT": url.port,
            "NAME": url.path[1:],
            "USER": url.username,
            "PASSWORD": url.password,
        }
    },
    INSTALLED_APPS=["events"],
    USE_TZ=True,
)


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    print(name, *values)


def run(after):
    from django.db.models import DateTimeField, F, Func, TextField, UUIDField, Value
    from django.db.models.functions import Now
    from django.db.models.lookups import GreaterThanOrEqual
    from events.models import Event

    horizon = Func(function="uuidv7_horizon", output_field=UUIDField())
    feed = Event.objects.filter(id__gt=after, id__lt=horizon).order_by("id")
    report("feed", *(event.id for event in feed))

    made = Event.objects.create(note="made")
    report("made", made.id)

    last_hour = Event.objects.filter(GreaterThanOrEqual(F("id"), Now() - datetime.timedelta(hours=1))).order_by("id")
    report("found_by_time", *(event.id for event in last_hour))

    created_at = Func(F("id"), function="uuidv7_timestamp", output_field=DateTimeField())
    typeid = Func(Value("event"), F("id"), function="uuidv7_prefixed", output_field=TextField())
    made = Event.objects.annotate(created_at=created_at, typeid=typeid).get(id=made.id)
    report("created_at", round(made.created_at.timestamp() * 1000))
    report("typeid", made.typeid)


if sys.argv[1] == "run":
    django.setup()
    run(sys.argv[2])
else:
    execute_from_command_line(sys.argv)
