"""A Django project in one file, with the application `shop`: the settings, the admin site for orders with a search by
ID and a list by day, the page of an order, an API with pages, the URLs, and Django's command line."""

import os
import sys
from urllib.parse import urlparse

import django
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.core.management import execute_from_command_line
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import include, path
from scru_postgres import Scru128
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
        "rest_framework",
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

from rest_framework import routers, serializers, viewsets  # noqa: E402  (they and models require the settings)
from scru_postgres.django_rest import IdCursorPagination  # noqa: E402
from shop.models import Order  # noqa: E402


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["id", "note", "created_at"]
    list_filter = ["created_at"]
    date_hierarchy = "created_at"
    search_fields = ["=id", "note"]


def show(request, id):
    return HttpResponse(get_object_or_404(Order, id=id).note)


def page(request):
    try:
        after = Scru128(request.GET.get("after", "0" * 25))
    except ValueError:
        raise BadRequest("malformed cursor") from None
    next_page = Order.objects.filter(id__gt=after).order_by("id")[:50]
    return JsonResponse({"orders": list(next_page.values("id", "note"))})


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "note", "created_at"]


class OrderPagination(IdCursorPagination):
    page_size = 2


class OrderViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    pagination_class = OrderPagination


router = routers.DefaultRouter()
router.register("orders", OrderViewSet)
register_converters()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include(router.urls)),
    path("orders/", page),
    path("orders/<scru128:id>/", show, name="order"),
]

execute_from_command_line(sys.argv)
