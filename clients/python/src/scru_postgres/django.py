"""Django fields, functions for ``db_default``, path converters, and an operation that creates the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from django import forms
from django.contrib.postgres.operations import CreateExtension
from django.core.exceptions import EmptyResultSet, FieldError, ValidationError
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.lookups import Exact, Lookup
from django.urls import register_converter

from scru_postgres.ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, ClassVar, Literal, TypedDict, overload

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Field as _Field
    from django.db.models.expressions import Expression
    from django.db.models.sql.compiler import SQLCompiler
    from typing_extensions import Unpack

    class _Options(TypedDict, total=False):
        name: str | None
        primary_key: bool
        unique: bool
        blank: bool
        db_index: bool
        default: object
        db_default: Expression | str
        editable: bool
        serialize: bool
        choices: Any
        help_text: Any
        db_column: str | None
        db_comment: str | None
        db_tablespace: str | None
        validators: Iterable[Callable[[Any], None]]
        error_messages: Mapping[str, Any] | None

else:

    class _Field(models.Field):
        """Accepts the type arguments that type checkers know from django-stubs."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


T = TypeVar("T", bound=SortableId)
# The types that can be assigned to the attribute of a model, and the type that it has. The constructors of the fields
# and the plugin of django-stubs for mypy add None to both if the column is nullable.
_ST = TypeVar("_ST", contravariant=True)
_GT = TypeVar("_GT", covariant=True)


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


class IdField(_Field[_ST, _GT]):
    """Base class of the model fields. Accepts IDs and their text."""

    id_type: type[SortableId]

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return self.id_type.pg_type

    def from_db_value(self, value: str | None, expression: Any, connection: BaseDatabaseWrapper) -> SortableId | None:
        return None if value is None else self.id_type(value)

    def to_python(self, value: Any) -> SortableId | None:
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


class Scru128Field(IdField[_ST, _GT]):
    """A column of type scru128."""

    description = "scru128"
    id_type = Scru128

    if TYPE_CHECKING:
        _pyi_private_set_type: Scru128 | str | Combinable
        _pyi_private_get_type: Scru128

        @overload
        def __init__(
            self: Scru128Field[Scru128 | str | Combinable, Scru128],
            verbose_name: Any = ...,
            *,
            null: Literal[False] = ...,
            **options: Unpack[_Options],
        ) -> None: ...
        @overload
        def __init__(
            self: Scru128Field[Scru128 | str | Combinable | None, Scru128 | None],
            verbose_name: Any = ...,
            *,
            null: Literal[True],
            **options: Unpack[_Options],
        ) -> None: ...
        def __init__(self, *arguments: Any, **options: Any) -> None: ...


class UlidField(IdField[_ST, _GT]):
    """A column of type ulid."""

    description = "ulid"
    id_type = Ulid

    if TYPE_CHECKING:
        _pyi_private_set_type: Ulid | str | Combinable
        _pyi_private_get_type: Ulid

        @overload
        def __init__(
            self: UlidField[Ulid | str | Combinable, Ulid],
            verbose_name: Any = ...,
            *,
            null: Literal[False] = ...,
            **options: Unpack[_Options],
        ) -> None: ...
        @overload
        def __init__(
            self: UlidField[Ulid | str | Combinable | None, Ulid | None],
            verbose_name: Any = ...,
            *,
            null: Literal[True],
            **options: Unpack[_Options],
        ) -> None: ...
        def __init__(self, *arguments: Any, **options: Any) -> None: ...


class Scru160Field(IdField[_ST, _GT]):
    """A column of type scru160."""

    description = "scru160"
    id_type = Scru160

    if TYPE_CHECKING:
        _pyi_private_set_type: Scru160 | str | Combinable
        _pyi_private_get_type: Scru160

        @overload
        def __init__(
            self: Scru160Field[Scru160 | str | Combinable, Scru160],
            verbose_name: Any = ...,
            *,
            null: Literal[False] = ...,
            **options: Unpack[_Options],
        ) -> None: ...
        @overload
        def __init__(
            self: Scru160Field[Scru160 | str | Combinable | None, Scru160 | None],
            verbose_name: Any = ...,
            *,
            null: Literal[True],
            **options: Unpack[_Options],
        ) -> None: ...
        def __init__(self, *arguments: Any, **options: Any) -> None: ...


class Scru64Field(IdField[_ST, _GT]):
    """A column of type scru64."""

    description = "scru64"
    id_type = Scru64

    if TYPE_CHECKING:
        _pyi_private_set_type: Scru64 | str | Combinable
        _pyi_private_get_type: Scru64

        @overload
        def __init__(
            self: Scru64Field[Scru64 | str | Combinable, Scru64],
            verbose_name: Any = ...,
            *,
            null: Literal[False] = ...,
            **options: Unpack[_Options],
        ) -> None: ...
        @overload
        def __init__(
            self: Scru64Field[Scru64 | str | Combinable | None, Scru64 | None],
            verbose_name: Any = ...,
            *,
            null: Literal[True],
            **options: Unpack[_Options],
        ) -> None: ...
        def __init__(self, *arguments: Any, **options: Any) -> None: ...


class UlidflakeField(IdField[_ST, _GT]):
    """A column of type ulidflake."""

    description = "ulidflake"
    id_type = Ulidflake

    if TYPE_CHECKING:
        _pyi_private_set_type: Ulidflake | str | Combinable
        _pyi_private_get_type: Ulidflake

        @overload
        def __init__(
            self: UlidflakeField[Ulidflake | str | Combinable, Ulidflake],
            verbose_name: Any = ...,
            *,
            null: Literal[False] = ...,
            **options: Unpack[_Options],
        ) -> None: ...
        @overload
        def __init__(
            self: UlidflakeField[Ulidflake | str | Combinable | None, Ulidflake | None],
            verbose_name: Any = ...,
            *,
            null: Literal[True],
            **options: Unpack[_Options],
        ) -> None: ...
        def __init__(self, *arguments: Any, **options: Any) -> None: ...


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
