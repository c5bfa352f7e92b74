"""What type checkers know of the fields of Django and of the classes."""

import datetime

from django.db import models
from scru_postgres import Scru128, Ulid
from scru_postgres.django import GenScru128, Scru128Field, TimeOfField, UlidField
from typing_extensions import assert_type


class Order(models.Model):
    id = Scru128Field(primary_key=True, db_default=GenScru128(), editable=False)
    parent = UlidField()
    created_at = TimeOfField("id")
    invoice = Scru128Field("invoice", null=True, blank=True, db_default="0372ijojuxuhjsfkeryi2mrtm")


def check(order: Order) -> None:
    assert_type(order.id, Scru128)
    assert_type(order.parent, Ulid)
    assert_type(order.id.timestamp, datetime.datetime)
    assert_type(order.created_at, datetime.datetime)
    assert_type(Scru128.from_uuid(order.id.uuid), Scru128)
    order.parent = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    assert_type(order.invoice, Scru128 | None)
    order.invoice = None
    order.id = None  # type: ignore[assignment]
    order.invoice = order.id
