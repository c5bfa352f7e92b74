"""A Django project in one file, with the application `shop`: the settings, the admin site for orders with a search by
ID and a list by day, the page of an order, an API with pages, the URLs, and Django's command line."""

import os
import sys

import django
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.core.management import execute_from_command_line
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import include, path
from scru_postgres import Scru128

APPS = ("auth", "messages", "admin", "contenttypes", "sessions", "postgres")
DATABASE = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": os.environ["PGDATABASE"],
    "OPTIONS": {"server_side_binding": os.environ.get("BINDING") == "server"},
}
CONTEXTS = ("template.context_processors.request", *(f"contrib.{app}.context_processors.{app}" for app in APPS[:2]))
TEMPLATE = {
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": [f"django.{name}" for name in CONTEXTS]},
}
MIDDLEWARE = (("sessions", "Session"), ("auth", "Authentication"), ("messages", "Message"))
settings.configure(
    DATABASES={"default": DATABASE},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[*(f"django.contrib.{app}" for app in APPS), "rest_framework", "django_filters", "shop"],
    MIDDLEWARE=[f"django.contrib.{app}.middleware.{name}Middleware" for app, name in MIDDLEWARE],
    TEMPLATES=[TEMPLATE],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of the tests",
    USE_TZ=True,
)
django.setup()

import scru_postgres.django_filters  # noqa: E402  (registers the filters; it and models require the settings)
from django_filters.rest_framework import DjangoFilterBackend  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402
from shop.models import Item, Order  # noqa: E402


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    """Orders by day."""

    # block 1 of django.md#the-time-in-place-of-created_at


def show(request, id):
    return HttpResponse(get_object_or_404(Order, id=id).note)


# block 2 of paging.md#django


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = ["id", "note", "created_at"]


# block 3 of paging.md#django


class OrderViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    pagination_class = OrderPagination
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {"id": ["exact", "in"]}


class ItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = Item
        fields = ["order"]


class ItemViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Item.objects.all()
    serializer_class = ItemSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["order"]


router = routers.DefaultRouter()
router.register("orders", OrderViewSet)
router.register("items", ItemViewSet)
# block 1 of django.md#urls-apis-and-partitions

urlpatterns += [
    path("admin/", admin.site.urls),
    path("api/", include(router.urls)),
    path("orders/", page),
]

execute_from_command_line(sys.argv)
