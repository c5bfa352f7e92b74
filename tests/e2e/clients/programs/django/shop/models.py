"""Orders, some of them gifts, items and parcels, documents with IDs of Python, and a table with all types."""

from django.db import models
from scru_postgres import Scru128
from scru_postgres.django import (
    FeedGuard,
    GenScru64,
    GenScru128,
    GenScru160,
    GenUlid,
    GenUlidflake,
    Scru64Field,
    Scru128Field,
    Scru160Field,
    TimeOfField,
    UlidField,
    UlidflakeField,
)


class Order(models.Model):
    id = Scru128Field(primary_key=True, db_default=GenScru128(), editable=False)
    note = models.TextField()
    parent = Scru128Field(null=True, blank=True)
    created_at = TimeOfField("id")


class Gift(Order):
    card = models.TextField()


class Item(models.Model):
    id = UlidField(primary_key=True, db_default=GenUlid(), editable=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    what = models.TextField(db_default="")
    created_at = TimeOfField("id")


class Parcel(models.Model):
    id = Scru64Field(primary_key=True, db_default=GenScru64(), editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    created_at = TimeOfField("id")


class Document(models.Model):
    id = Scru128Field(primary_key=True, default=Scru128.new, editable=False)
    kind = Scru128Field(default=Scru128("0372ijojuxuhjsfkeryi2mrtm"))

    class Meta:
        constraints = [FeedGuard(name="document_guard", lag="5 s")]


class All(models.Model):
    scru128 = Scru128Field(db_default=GenScru128())
    ulid = UlidField(db_default=GenUlid())
    scru160 = Scru160Field(db_default=GenScru160())
    scru64 = Scru64Field(db_default=GenScru64())
    ulidflake = UlidflakeField(db_default=GenUlidflake())
