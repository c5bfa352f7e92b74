"""The admin site for orders, with a search by ID."""

from django.contrib import admin

from shop.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["id", "note"]
    search_fields = ["=id", "note"]
