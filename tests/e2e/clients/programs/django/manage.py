"""A Django project in one file, with the application `shop`: the settings, the admin site for orders with a search by
ID, the page of an order, the URLs, and Django's command line."""

import os
import sys
from urllib.parse import urlparse

import django
from django.conf import settings
from django.contrib import admin
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from scru_postgres.django import register_converters

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
            "OPTIONS": {"server_side_binding": os.environ.get("BINDING") == "server"},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.admin",
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.messages",
        "django.contrib.sessions",
        "django.contrib.postgres",
        "shop",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of the tests",
    ALLOWED_HOSTS=["testserver"],
    USE_TZ=True,
)
django.setup()

from shop.models import Order  # noqa: E402  (models require the settings)


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["id", "note"]
    search_fields = ["=id", "note"]


def show(request, id):
    return HttpResponse(get_object_or_404(Order, id=id).note)


register_converters()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("orders/<scru128:id>/", show, name="order"),
]

execute_from_command_line(sys.argv)
