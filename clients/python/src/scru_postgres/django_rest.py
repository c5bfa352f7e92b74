"""Pages of Django REST framework by a cursor that is an ID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError as InvalidId
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination

if TYPE_CHECKING:
    from typing import Any


__all__ = ["IdCursorPagination"]


class IdCursorPagination(CursorPagination):
    """Pages in the order of the IDs. A malformed cursor is 400."""

    ordering = "id"

    def paginate_queryset(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().paginate_queryset(*arguments, **options)
        except (InvalidId, NotFound):
            raise ValidationError({self.cursor_query_param: [self.invalid_cursor_message]}) from None
