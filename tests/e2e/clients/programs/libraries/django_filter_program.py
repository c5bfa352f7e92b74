"""django-filter with Django REST framework: filters by key, by list and by foreign key; a malformed ID is 400."""

import datetime
import os
import sys
import time
from urllib.parse import urlparse

import django
from django.conf import settings

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
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "django_filters"],
    REST_FRAMEWORK={"DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"]},
    ROOT_URLCONF=__name__,
    SECRET_KEY="of the tests",
    ALLOWED_HOSTS=["testserver"],
    USE_TZ=True,
)
django.setup()

import scru_postgres.django_filters  # noqa: E402, F401  (registers the filters)
from django.db import models  # noqa: E402
from django.db.models.functions import Now  # noqa: E402
from django.db.models.lookups import GreaterThanOrEqual, LessThan  # noqa: E402
from rest_framework import routers, serializers, viewsets  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402
from scru_postgres.django import GenScru128, Scru128Field  # noqa: E402


class Order(models.Model):
    id = Scru128Field(primary_key=True, db_default=GenScru128(), editable=False)
    note = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "orders"


class Item(models.Model):
    id = Scru128Field(primary_key=True, db_default=GenScru128(), editable=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)

    class Meta:
        app_label = "shop"
        db_table = "items"


class OrderSerializer(serializers.ModelSerializer):
    id = serializers.CharField(read_only=True)

    class Meta:
        model = Order
        fields = ["id", "note"]


class OrderViewSet(viewsets.ModelViewSet):
    queryset = Order.objects.order_by("id")
    serializer_class = OrderSerializer
    filterset_fields = {"id": ["exact", "in", "gt"]}


class ItemSerializer(serializers.ModelSerializer):
    note = serializers.CharField(source="order.note", read_only=True)

    class Meta:
        model = Item
        fields = ["note"]


class ItemViewSet(viewsets.ModelViewSet):
    queryset = Item.objects.select_related("order")
    serializer_class = ItemSerializer
    filterset_fields = ["order"]


router = routers.DefaultRouter()
router.register("orders", OrderViewSet)
router.register("items", ItemViewSet)
urlpatterns = router.urls

old = sys.argv[1]
client = APIClient()


def notes(path, **filters):
    response = client.get(path, filters)
    assert response.status_code == 200, response.json()
    return [order["note"] for order in response.json()]


made = client.post("/orders/", {"note": "made"}).json()["id"]
print("made", made)
Item.objects.create(order_id=made)
print("found", *notes("/orders/", id=made.upper()))
print("listed", *notes("/orders/", id__in=f"{old},{made}"))
hour_ago = Now() - datetime.timedelta(hours=1)
since = Order.objects.filter(GreaterThanOrEqual(models.F("id"), hour_ago)).order_by("id")
print("since", *since.values_list("note", flat=True))
print("joined", *notes("/items/", order=made))
for query in "/orders/?id=malformed", "/orders/?id__in=malformed", "/items/?order=malformed":
    assert client.get(query).status_code == 400, query
assert client.get("/orders/malformed/").status_code == 404

after, feed = old, []
while "made" not in feed:
    time.sleep(0.01)
    horizon = models.Func(function="scru128_horizon", output_field=Scru128Field())
    for order in Order.objects.filter(LessThan(models.F("id"), horizon), id__gt=after).order_by("id"):
        after = order.id
        feed.append(order.note)
print("feed", *feed)
