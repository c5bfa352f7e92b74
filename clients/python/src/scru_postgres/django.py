"""Django fields, functions for ``db_default``, path converters, and an operation that creates the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from django import forms
from django.contrib.postgres.operations import CreateExtension
from django.core.exceptions import EmptyResultSet, FieldError, ValidationError
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.lookups import Exact, Lookup
from django.urls import register_converter

from scru_postgres.ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

if TYPE_CHECKING:
    from typing import Any, ClassVar

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Field as _Field
    from django.db.models.sql.compiler import SQLCompiler

else:

    class _Field(models.Field):
        """Accepts the type arguments that type checkers know from django-stubs."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


T = TypeVar("T", bound=SortableId)


class ScruExtension(CreateExtension):
    """Creates the extension. It must be the first operation of the first migration that uses a type."""

    def __init__(self) -> None:
        super().__init__("scru")


def _id(id_type: type[T], value: Any) -> T:
    try:
        return id_type(value)
    except (TypeError, ValueError):
        message = '"%(value)s" is not a valid %(type)s.'
        raise ValidationError(message, code="invalid", params={"value": value, "type": id_type.pg_type}) from None


class IdFormField(forms.CharField):
    """A form field for the text of an ID."""

    def __init__(self, *, id_type: type[SortableId], **kwargs: Any) -> None:
        self.id_type = id_type
        super().__init__(**{"empty_value": None, **kwargs})

    def to_python(self, value: Any) -> SortableId | None:
        text = super().to_python(value)
        return None if text is None else _id(self.id_type, text)


class IdField(_Field[T | str | Combinable, T], Generic[T]):
    """Base class of the model fields. Accepts IDs and their text."""

    id_type: type[T]

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return self.id_type.pg_type

    def from_db_value(self, value: str | None, expression: Any, connection: BaseDatabaseWrapper) -> T | None:
        return None if value is None else self.id_type(value)

    def to_python(self, value: Any) -> T | None:
        return None if value is None else _id(self.id_type, value)

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value if hasattr(value, "resolve_expression") else self.to_python(value)

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        # A migration contains the repr() of a str, which names the class of an ID without importing it.
        for option in ("default", "db_default"):
            if isinstance(options.get(option), SortableId):
                options[option] = str(options[option])
        return name, path, args, options

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": IdFormField, "id_type": self.id_type, **kwargs})


class Scru128Field(IdField[Scru128]):
    """A column of type scru128."""

    description = "scru128"
    id_type = Scru128


class UlidField(IdField[Ulid]):
    """A column of type ulid."""

    description = "ulid"
    id_type = Ulid


class Scru160Field(IdField[Scru160]):
    """A column of type scru160."""

    description = "scru160"
    id_type = Scru160


class Scru64Field(IdField[Scru64]):
    """A column of type scru64."""

    description = "scru64"
    id_type = Scru64


class UlidflakeField(IdField[Ulidflake]):
    """A column of type ulidflake."""

    description = "ulidflake"
    id_type = Ulidflake


class GenScru128(models.Func):
    """The SQL function gen_scru128(), for ``db_default``."""

    function = "gen_scru128"
    arity = 0
    output_field = Scru128Field()


class GenUlid(models.Func):
    """The SQL function gen_ulid(), for ``db_default``."""

    function = "gen_ulid"
    arity = 0
    output_field = UlidField()


class GenScru160(models.Func):
    """The SQL function gen_scru160(), for ``db_default``."""

    function = "gen_scru160"
    arity = 0
    output_field = Scru160Field()


class GenScru64(models.Func):
    """The SQL function gen_scru64(), for ``db_default``."""

    function = "gen_scru64"
    arity = 0
    output_field = Scru64Field()


class GenUlidflake(models.Func):
    """The SQL function gen_ulidflake(), for ``db_default``."""

    function = "gen_ulidflake"
    arity = 0
    output_field = UlidflakeField()


@IdField.register_lookup
class IdIExact(Lookup):
    """The lookup ``id__iexact``, for the admin's ``search_fields = ["=id"]``. It can use an index.

    Invalid text matches no rows.
    """

    lookup_name = "iexact"
    prepare_rhs = False

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        try:
            value = self.lhs.output_field.to_python(self.rhs)
        except ValidationError:
            raise EmptyResultSet from None
        return Exact(self.lhs, value).as_sql(compiler, connection)


@models.ForeignKey.register_lookup
@IdField.register_lookup
class IdDuring(Lookup):
    """The lookup ``id__during``: IDs created within a psycopg range of datetimes. It can use an index.

    On a foreign key, as in ``order__during``, it is a condition on the IDs that the key refers to.
    """

    lookup_name = "during"
    prepare_rhs = False

    def __init__(self, lhs: Any, rhs: Any) -> None:
        field = lhs.output_field
        if not isinstance(getattr(field, "target_field", field), IdField):
            raise FieldError(f"Unsupported lookup 'during' for {field.name}: it does not refer to an ID.")
        super().__init__(lhs, rhs)

    def get_db_prep_lookup(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        return "%s", [value]

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        lhs, lhs_params = self.process_lhs(compiler, connection)
        rhs, rhs_params = self.process_rhs(compiler, connection)
        return f"{lhs} <@ {rhs}::tstzrange", [*lhs_params, *rhs_params]


class IdConverter:
    """Base class of the path converters. A malformed ID does not match, so that the response is a 404."""

    id_type: ClassVar[type[SortableId]]
    regex = "[0-9A-Za-z]+"

    def to_python(self, value: str) -> SortableId:
        return self.id_type(value)

    def to_url(self, value: str) -> str:
        return str(value)


def register_converters() -> None:
    """Registers a path converter for each type, such as ``<scru128:id>``. Call it in the module of the URLs."""
    for id_type in TYPES:
        converter = type(f"{id_type.__name__}Converter", (IdConverter,), {"id_type": id_type})
        register_converter(converter, id_type.pg_type)
