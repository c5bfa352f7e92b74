"""The URLs of the admin site, and of orders by their IDs."""

from django.contrib import admin
from django.urls import path
from scru_postgres.django import register_converters
from shop.views import show

register_converters()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("orders/<scru128:id>/", show, name="order"),
]
