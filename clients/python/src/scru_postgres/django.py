"""Django fields, functions, the guard of a feed, path converters, and operations for migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from django import forms
from django.contrib.postgres.operations import CreateExtension
from django.core import checks
from django.core.exceptions import EmptyResultSet, FieldError, ValidationError
from django.db import DEFAULT_DB_ALIAS, models
from django.db.backends.ddl_references import Statement
from django.db.migrations import AddField, AlterField, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.models.expressions import Combinable
from django.db.models.lookups import Exact, Lookup
from django.urls import register_converter

from scru_postgres import _statements
from scru_postgres._ids import TYPES, Scru64, Scru128, Scru160, SortableId, Ulid, Ulidflake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any, ClassVar, Literal, TypedDict, overload

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import ProjectState
    from django.db.models import Field as _Field
    from django.db.models.expressions import Expression
    from django.db.models.sql.compiler import SQLCompiler
    from typing_extensions import Never, Unpack

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

    _DateTimeField = models.DateTimeField[Never, datetime]

else:
    _DateTimeField = models.DateTimeField

    class _Field(models.Field):
        """Accepts the type arguments that type checkers know from django-stubs."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


__all__ = [
    "ConvertKey",
    "FeedGuard",
    "GenScru64",
    "GenScru128",
    "GenScru160",
    "GenUlid",
    "GenUlidflake",
    "IdField",
    "Scru64Field",
    "Scru128Field",
    "Scru160Field",
    "ScruExtension",
    "TimeOf",
    "TimeOfField",
    "UlidField",
    "UlidflakeField",
    "register_converters",
]

_T = TypeVar("_T", bound=SortableId)
# The types that can be assigned to the attribute of a model, and the type that it has. The constructors of the fields
# and the plugin of django-stubs for mypy add None to both if the column is nullable.
_ST = TypeVar("_ST", contravariant=True)
_GT = TypeVar("_GT", covariant=True)


class ScruExtension(CreateExtension):
    """Creates the extension. It must be the first operation of the first migration that uses a type."""

    def __init__(self) -> None:
        super().__init__("scru")


def _id(id_type: type[_T], value: Any) -> _T:
    try:
        return id_type(value)
    except (TypeError, ValueError):
        message = '"%(value)s" is not a valid %(type)s.'
        raise ValidationError(message, code="invalid", params={"value": value, "type": id_type.pg_type}) from None


class _IdFormField(forms.CharField):
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
        """Returns the ID with the text that the driver returns."""
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
        return super().formfield(**{"form_class": _IdFormField, "id_type": self.id_type, **kwargs})


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
class _IdIExact(Lookup):
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
class _IdDuring(Lookup):
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


class TimeOf(models.Func):
    """The time of an ID, as in ``TimeOf("id")``. Conditions on it, and the order by it, use the index on the ID."""

    template = "(%(expressions)s)::timestamptz"
    arity = 1
    output_field = models.DateTimeField()


class TimeOfField(_DateTimeField):
    """A field without a column, whose value is the time of an ID in the same row: ``created_at = TimeOfField("id")``.

    Lookups, order, aggregates and the admin use it like a DateTimeField. It is not in migrations, forms and fixtures.
    """

    description = "the time of an ID"
    generated = True  # so that Django does not validate, assign or save it

    def __init__(self, key: str, verbose_name: Any = None) -> None:
        self.key = key
        super().__init__(verbose_name, editable=False)

    def get_attname_column(self) -> tuple[str, None]:
        return self.get_attname(), None

    def contribute_to_class(self, cls: type[models.Model], name: str, private_only: bool = True, **_: Any) -> None:
        super().contribute_to_class(cls, name, private_only=True)
        setattr(cls, name, property(self._time))

    def _time(self, instance: models.Model) -> datetime | None:
        # Of a foreign key, not the object that it refers to.
        field: Any = self.model._meta.get_field(self.key)
        key = getattr(instance, field.attname)
        # The key of an object that is not saved yet can be None or an expression, such as that of db_default.
        return key.timestamp if isinstance(key, SortableId) else None

    def get_col(self, alias: str, output_field: Any = None) -> Any:
        key: Any = self.model._meta.get_field(self.key)
        # A model that inherits from another has its own column for the primary key.
        column = self.model._meta.pk if key.primary_key else key
        return TimeOf(column.get_col(alias), output_field=output_field or self)


class FeedGuard(models.BaseConstraint):
    """The guard of a feed, for ``Meta.constraints``: the table refuses IDs that are older than the lag.

    The readers of the feed must have the same lag. The guard is a trigger, which refuses a row when it is inserted.
    """

    def __init__(self, *, name: str, field: str = "id", lag: str = "0", **options: Any) -> None:
        self.field = field
        self.lag = lag
        super().__init__(name=name, **options)

    def deconstruct(self) -> Any:
        path, args, options = super().deconstruct()
        return path, args, {**options, "field": self.field, "lag": self.lag}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeedGuard) and self.deconstruct() == other.deconstruct()

    def constraint_sql(self, model: Any, schema_editor: Any) -> Any:
        # CREATE TABLE cannot contain it.
        schema_editor.deferred_sql.append(self.create_sql(model, schema_editor))

    def create_sql(self, model: Any, schema_editor: Any) -> Any:
        name, table = map(schema_editor.quote_name, (self.name, model._meta.db_table))
        column = model._meta.get_field(self.field).column
        return Statement("%(guard)s", guard=_statements.create_guard(name, table, column, self.lag))

    def remove_sql(self, model: Any, schema_editor: Any) -> Any:
        name, table = map(schema_editor.quote_name, (self.name, model._meta.db_table))
        return Statement("DROP TRIGGER %(name)s ON %(table)s", name=name, table=table)

    def validate(self, model: Any, instance: Any, exclude: Any = None, using: str = DEFAULT_DB_ALIAS) -> None:
        """The server validates the row."""


class ConvertKey(AlterField):
    """Changes the type of a key, as AlterField does, and gives each row a new ID with the time of the field ``time``.

    The foreign keys that refer to it follow. The table TABLE_old_COLUMN has the old keys: the reverse operation
    restores them, and drops this table.
    """

    def __init__(
        self, model_name: str, name: str, field: models.Field[Any, Any], time: str, preserve_default: bool = True
    ) -> None:
        self.time = time
        super().__init__(model_name, name, field, preserve_default)

    def deconstruct(self) -> Any:
        name, args, options = super().deconstruct()
        return name, args, {**options, "time": self.time}

    def describe(self) -> str:
        return f"Convert the key {self.name} on {self.model_name} to IDs with the time of {self.time}"

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model: Any = to_state.apps.get_model(app_label, self.model_name)
        if not model._meta.get_field(self.name).unique:
            raise ValueError(f"{self.model_name}.{self.name} is no key: fill a new field from the old and new keys")
        id_type = model._meta.get_field(self.name).id_type
        time = model._meta.get_field(self.time).column
        self._convert(schema_editor, model, "SELECT pg_temp.convert_key(%s, %s, %s, %s)", id_type.pg_type, time)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model: Any = to_state.apps.get_model(app_label, self.model_name)
        type_ = model._meta.get_field(self.name).db_type(schema_editor.connection)
        self._convert(schema_editor, model, "SELECT pg_temp.revert_key(%s, %s, %s)", type_)

    def _convert(self, schema_editor: BaseDatabaseSchemaEditor, model: Any, call: str, *arguments: str) -> None:
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        field = model._meta.get_field(self.name)
        table, column = map(schema_editor.quote_name, (model._meta.db_table, field.column))
        # Foreign keys of models that this migration creates are among the deferred statements.
        for statement in [*schema_editor.deferred_sql, *_statements.CONVERT_KEY]:
            schema_editor.execute(statement, None)
        schema_editor.deferred_sql.clear()
        schema_editor.execute(call, [table, field.column, *arguments])
        if field.db_default is not models.NOT_PROVIDED:
            default, params = schema_editor.db_default_sql(field)
            schema_editor.execute(f"ALTER TABLE {table} ALTER {column} SET DEFAULT {default}", params)
        elif isinstance(field, IdField):
            schema_editor.execute(f"ALTER TABLE {table} ALTER {column} DROP DEFAULT")


@checks.register(checks.Tags.models)
def _check_migrations(app_configs: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """Warns of migrations that read UUIDs as IDs, which succeeds, and gives most of them a time in the future."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    labels = None if app_configs is None else {config.label for config in app_configs}
    fields: dict[tuple[str, str, str], Any] = {}
    warnings: list[checks.CheckMessage] = []
    for (label, name), migration in sorted(loader.disk_migrations.items()):
        for operation in migration.operations:
            if isinstance(operation, CreateModel):
                fields |= {(label, operation.name_lower, field): type_ for field, type_ in operation.fields}
            elif isinstance(operation, (AddField, AlterField)):
                key = label, operation.model_name_lower, operation.name
                reads_uuids = isinstance(fields.get(key), models.UUIDField) and isinstance(operation.field, IdField)
                if reads_uuids and not isinstance(operation, ConvertKey) and (labels is None or label in labels):
                    warnings.append(_reads_uuids(f"{label}.{name}", operation))
                fields[key] = operation.field
    return warnings


def _reads_uuids(migration: str, operation: Any) -> checks.CheckMessage:
    if operation.field.unique:
        hint = 'write scru_postgres.django.ConvertKey(time="created_at", …) in place of migrations.AlterField(…)'
    else:
        hint = "add a field, and fill it from the table …_old_id of the key that this one refers to"
    return checks.Warning(
        f"The migration {migration} reads the UUIDs in {operation.model_name}.{operation.name} as IDs. The time of an"
        " ID is then random, unless its UUID is of version 7.",
        hint=f"In the migration, {hint}. For UUIDs of version 7, silence scru_postgres.W001.",
        id="scru_postgres.W001",
    )


class _IdConverter:
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
        converter = type(f"{id_type.__name__}Converter", (_IdConverter,), {"id_type": id_type})
        register_converter(converter, id_type.pg_type)
