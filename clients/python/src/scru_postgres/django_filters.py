"""Filters of django-filter. Importing this module registers them for the fields of scru_postgres.django."""

from __future__ import annotations

from typing import Any

from django_filters import Filter, FilterSet

from scru_postgres.django import IdField, _IdFormField

__all__: list[str] = []


class _IdFilter(Filter):
    """A filter by an ID. Malformed text is a validation error, which Django REST framework answers with 400."""

    field_class = _IdFormField


def _options(field: IdField[Any, Any]) -> dict[str, Any]:
    return {"id_type": field.id_type}


def _register(filterset: type[FilterSet]) -> None:
    filterset.FILTER_DEFAULTS[IdField] = {"filter_class": _IdFilter, "extra": _options}


_register(FilterSet)
try:
    # Has a copy of the defaults.
    from django_filters.rest_framework import FilterSet as RestFilterSet
except ImportError:  # without Django REST framework
    pass
else:
    _register(RestFilterSet)
