"""A page for each order."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from shop.models import Order


def show(request, id):
    return HttpResponse(get_object_or_404(Order, id=id).note)
