"""Orders, some of them gifts, items and parcels, documents with IDs of Python, events, and a table with all types."""

from scru_postgres import Scru128
from scru_postgres.django import *

# block 1 of django.md#a-model

Order.add_to_class("parent", Scru128Field(null=True, blank=True))


class Gift(Order):
    card = models.TextField()


class Item(models.Model):
    id = UlidField(primary_key=True, db_default=GenUlid(), editable=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    created_at = TimeOfField("id")
    ordered_at = TimeOfField("order")


class Parcel(models.Model):
    id = Scru64Field(primary_key=True, db_default=GenScru64(), editable=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    created_at = TimeOfField("id")


# block 1 of django.md#where-the-id-is-generated

Document.add_to_class("kind", Scru128Field(default=Scru128("0372ijojuxuhjsfkeryi2mrtm")))


class Event(models.Model):
    id = models.UUIDField(primary_key=True, db_default=models.Func(function="gen_uuidv7"), editable=False)


class All(models.Model):
    scru128 = Scru128Field(db_default=GenScru128())
    ulid = UlidField(db_default=GenUlid())
    scru160 = Scru160Field(db_default=GenScru160())
    scru64 = Scru64Field(db_default=GenScru64())
    ulidflake = UlidflakeField(db_default=GenUlidflake())
