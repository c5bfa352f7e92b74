"""Tests of the application. `manage.py test` runs them on a separate database, which the migrations create."""

import base64
import datetime
import time
import uuid

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import FieldError, ValidationError
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, Func, Max, Min, UUIDField
from django.db.models.functions import Now, TruncDay
from django.db.models.lookups import GreaterThanOrEqual
from django.forms import modelform_factory
from django.test import TestCase, TransactionTestCase
from django.urls import reverse
from django.utils import timezone
from scru_postgres import TYPES, Scru128, Ulid
from scru_postgres.django import Scru128Field

from shop.models import All, Document, Event, Gift, Item, Order

DAY = datetime.timedelta(days=1)
OLD = datetime.datetime(2025, 6, 1, 12, tzinfo=datetime.timezone.utc)
MALFORMED = "!"
SMALLEST = "0" * 25


class Models(TestCase):
    def test_the_database_makes_the_id(self):
        order = Order.objects.create(note="made")
        self.assertIs(type(order.id), Scru128)
        self.assertLess(abs(order.id.timestamp - timezone.now()), datetime.timedelta(minutes=1))
        self.assertEqual(Order.objects.get(id=str(order.id).upper()), order)
        order.note = "changed"
        with self.assertNumQueries(1):
            order.save()
        self.assertEqual([(o.id, o.note) for o in Order.objects.all()], [(order.id, "changed")])
        row = All.objects.create()
        row.refresh_from_db()
        self.assertEqual([type(getattr(row, id_type.pg_type)) for id_type in TYPES], list(TYPES))

    def test_queries(self):
        Order.objects.bulk_create(Order(note=str(n)) for n in range(5))
        orders = list(Order.objects.order_by("id"))  # bulk_create does not set primary keys with a db_default
        ids = [order.id for order in orders]
        self.assertEqual([order.note for order in orders], ["0", "1", "2", "3", "4"])
        self.assertEqual(Order.objects.filter(id__in=ids[:2]).count(), 2)
        self.assertEqual(Order.objects.filter(id__gt=ids[1], id__lte=ids[3]).count(), 2)
        self.assertEqual(Order.objects.aggregate(Min("id"), Max("id")), {"id__min": ids[0], "id__max": ids[-1]})
        orders[1].parent = ids[0]
        Order.objects.bulk_update(orders, ["parent"])
        self.assertEqual((Order.objects.get(parent=ids[0]), Order.objects.filter(parent=None).count()), (orders[1], 4))

    def test_by_time(self):
        Order.objects.create(id=SMALLEST, note="1970")
        order = Order.objects.create(note="now")
        item = Item.objects.create(order=order)
        # block 2 of django.md#the-time-in-place-of-created_at
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
        for orders in during, recent:
            self.assertEqual(list(orders), [order])
            self.assertIn("Index Cond", orders.explain())

        self.assertEqual(list(items), [item])
        self.assertNotIn("JOIN", str(items.query))
        before = DateTimeTZRange(None, since)
        self.assertEqual(Item.objects.filter(order__during=before).count(), 0)
        with self.assertRaises(FieldError):
            LogEntry.objects.filter(user__during=before)

    def test_the_time_is_a_field(self):
        """Lookups, order, aggregates and days, each by the index or as those of a DateTimeField."""
        old = Order.objects.create(id=Scru128.lower_bound(OLD), note="old")
        new = Order.objects.create(note="new")
        self.assertEqual((Order(note="n").created_at, old.created_at), (None, OLD))
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
        for condition, expected in ({"created_at__gte": OLD + DAY}, new), ({"created_at__year": 2025}, old):
            self.assertEqual(Order.objects.get(**condition), expected)
            self.assertIn("Index Cond", Order.objects.filter(**condition).explain())
        newest = Order.objects.order_by("-created_at")
        self.assertEqual(list(newest), [new, old])
        self.assertNotIn("Sort", newest.explain())
        self.assertEqual(Order.objects.latest("created_at"), new)
        self.assertEqual(Order.objects.aggregate(Min("created_at"))["created_at__min"], OLD)
        self.assertEqual(Order.objects.dates("created_at", "day")[0], OLD.date())
        self.assertEqual(list(Order.objects.filter(created_at__date=OLD.date()).values_list("created_at")), [(OLD,)])
        days = Order.objects.values(day=TruncDay("created_at")).annotate(Count("id")).order_by("day")
        self.assertEqual([row["id__count"] for row in days], [1, 1])
        item = Item.objects.create(order=old)
        self.assertEqual(item.ordered_at, OLD)
        self.assertEqual(list(Item.objects.filter(order__created_at=OLD, ordered_at=OLD)), [item])
        self.assertEqual((Item.objects.select_related("order").get().order.note, old.item_set.get()), ("old", item))
        old.delete()
        self.assertEqual(Item.objects.count(), 0)
        gift = Gift.objects.create(note="gift", card="to you")
        self.assertEqual(list(Gift.objects.filter(created_at__gte=OLD)), [gift])
        self.assertEqual([field.name for field in Order._meta.concrete_fields], ["id", "note", "parent"])

    def test_ids_of_python(self):
        with self.assertRaisesMessage(DatabaseError, "too old for a feed"), transaction.atomic():
            Document.objects.create(id=Scru128.lower_bound(OLD))
        documents = Document.objects.bulk_create([Document(), Document()])
        ids = [document.id for document in documents]
        self.assertEqual([type(id) for id in ids], [Scru128, Scru128])
        self.assertEqual([document.id for document in Document.objects.order_by("id")], ids)
        for id in Ulid.new(), *ids:
            self.assertLess(abs(id.timestamp - timezone.now()), datetime.timedelta(minutes=1))

    def test_urls(self):
        order = Order.objects.create(note="shown")
        page = reverse("order", args=[order.id])
        self.assertEqual(page, f"/orders/{order.id}/")
        self.assertEqual(self.client.get(page).content, b"shown")
        self.assertEqual(self.client.get(page.upper().replace("ORDERS", "orders")).content, b"shown")
        for wrong in (SMALLEST, SMALLEST[1:], MALFORMED, "z" * 25):
            self.assertEqual(self.client.get(f"/orders/{wrong}/").status_code, 404)

    def test_malformed(self):
        for query in lambda: Order.objects.get(id=MALFORMED), Order(id=MALFORMED).full_clean:
            with self.assertRaisesMessage(ValidationError, '"!" is not a valid scru128.'):
                query()
        self.assertEqual(Order.objects.filter(id__iexact=MALFORMED).count(), 0)

    def test_form(self):
        form = modelform_factory(Order, fields=["note", "parent"])
        valid = form({"note": "n", "parent": f" {SMALLEST} "})
        self.assertIs(type(valid.save().parent), Scru128)
        self.assertIsNone(form({"note": "n", "parent": ""}).save().parent)
        self.assertEqual(form({"note": "n", "parent": MALFORMED}).errors, {"parent": ['"!" is not a valid scru128.']})


class Admin(TestCase):
    def setUp(self):
        self.client.force_login(User.objects.create_superuser("admin"))
        self.order = Order.objects.create(note="to be found")
        Order.objects.create(note="another")

    def found(self, text):
        response = self.client.get("/admin/shop/order/", {"q": text})
        self.assertEqual(response.status_code, 200)
        return [order.note for order in response.context["cl"].result_list]

    def test_search(self):
        self.assertEqual(self.found(self.order.id), ["to be found"])
        self.assertEqual(self.found(self.order.id.upper()), ["to be found"])
        self.assertEqual(self.found("another"), ["another"])
        self.assertEqual(self.found(self.order.id[:-1]), [])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
        self.assertIn("Index Cond", Order.objects.filter(id__iexact=self.order.id).explain())

    def test_days(self):
        Order.objects.create(id=Scru128.lower_bound(OLD), note="old")
        day = {f"created_at__{part}": getattr(OLD, part) for part in ("year", "month", "day")}
        since = {"created_at__gte": timezone.now() - DAY}
        for query, count in (({}, 3), (day, 1), (since, 2)):
            response = self.client.get("/admin/shop/order/", query)
            self.assertEqual((response.status_code, response.context["cl"].result_count), (200, count))

    def test_change(self):
        page = f"/admin/shop/order/{self.order.id}/change/"
        self.assertEqual(self.client.get(page).status_code, 200)
        self.assertEqual(self.client.post(page, {"note": "n", "parent": SMALLEST}).status_code, 302)
        self.assertEqual(Order.objects.get(id=self.order.id).parent, SMALLEST)
        self.assertEqual(self.client.get("/admin/shop/order/!/change/").status_code, 302)


class Pages(TestCase):
    def setUp(self):
        for note in "first", "second", "third":
            Order.objects.create(note=note)

    def test_pages(self):
        first = self.client.get("/api/orders/").json()
        self.assertEqual([order["note"] for order in first["results"]], ["first", "second"])
        second = self.client.get(first["next"]).json()
        self.assertEqual([order["note"] for order in second["results"]], ["third"])
        after = first["results"][1]["id"]
        self.assertEqual(self.client.get(f"/orders/?after={after}").json()["orders"][0]["note"], "third")
        cursor = base64.b64encode(f"p={after}0".encode()).decode()
        for malformed in f"orders/?after={after}0", f"api/orders/?cursor={cursor}", "api/orders/?cursor=A":
            self.assertEqual(self.client.get(f"/{malformed}").status_code, 400)

    def test_filters(self):
        first, second, _ = (order.id for order in Order.objects.order_by("id"))
        Item.objects.create(order_id=first)
        both = f"{first},{second}"
        for filters, notes in ({"id": second.upper()}, ["second"]), ({"id__in": both}, ["first", "second"]):
            found = self.client.get("/api/orders/", filters).json()["results"]
            self.assertEqual([order["note"] for order in found], notes)
        self.assertEqual(self.client.get("/api/items/", {"order": first}).json(), [{"order": first}])
        self.assertEqual(self.client.get("/api/items/", {"order": second}).json(), [])
        for malformed in "orders/?id=!", "orders/?id__in=!", "items/?order=!":
            self.assertEqual(self.client.get(f"/api/{malformed}").status_code, 400)
        self.assertEqual(self.client.get("/api/orders/!/").status_code, 404)


class Feed(TransactionTestCase):
    """Not a TestCase: a reader sees no rows of its own transaction."""

    def test_each_order_arrives_once(self):
        after = Scru128.from_int(0)
        for note in "first", "second":
            Order.objects.create(note=note)
        notes = []
        while len(notes) < 2:
            time.sleep(0.01)
            # block 1 of django.md#a-feed
            for order in feed:
                notes.append(order.note)
                after = order.id
        self.assertEqual(notes, ["first", "second"])

    def test_a_feed_of_uuids(self):
        after = uuid.UUID(int=0)
        event = Event.objects.create()
        found = []
        while not found:
            # block 1 of django.md#a-column-of-type-uuid
            found = list(feed)
        self.assertEqual((found, list(last_hour)), ([event], [event]))
