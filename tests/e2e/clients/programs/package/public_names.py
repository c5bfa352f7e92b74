"""Prints the public names of modules as JSON. Raises AssertionError for one without a docstring or without types."""

import importlib
import inspect
import json
import sys

from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "psqlextra.backend"}}, INSTALLED_APPS=["django.contrib.contenttypes", "psqlextra"]
)
__import__("django").setup()


def check(name: str, value: object) -> None:
    """Checks a public object, and the members that a class adds to those of its bases."""
    if isinstance(value, property):
        value = value.fget
    value = getattr(value, "__func__", value)
    assert value.__doc__, f"{name} has no docstring"
    if inspect.isfunction(value):
        parameters = [p for p in inspect.signature(value).parameters if p not in ("self", "cls")]
        assert {*parameters, "return"} <= {*value.__annotations__}, f"{name} has no types"
    elif inspect.isclass(value):
        bases = {member for base in value.__mro__[1:] for member in vars(base)}
        for member, of_class in vars(value).items():
            is_code = inspect.isroutine(of_class) or isinstance(of_class, property)
            if is_code and member not in bases and not member.startswith("_"):
                check(f"{name}.{member}", of_class)


names = {}
for suffix in sys.argv[1:]:
    module = importlib.import_module(f"scru_postgres{suffix}")
    names[suffix] = sorted(module.__all__)
    for name in names[suffix]:
        if name != "TYPES":
            check(f"{module.__name__}.{name}", getattr(module, name))
print(json.dumps(names))
