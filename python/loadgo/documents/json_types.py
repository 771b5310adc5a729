"""The JSON Schema of a result, derived from the types of its members and from the keys that its JSON has."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from functools import cache, cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, NotRequired, Union, get_args, get_origin

from loadgo.documents.as_json import JSON_FORMAT, Keys
from loadgo.stats.resample import Interval

DIALECT_URL = "https://json-schema.org/draft/2020-12/schema"
_Schema = dict[str, Any]
_PLAIN_TYPES: dict[Any, _Schema] = {
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    Any: {},
    object: {},
}
"""The schemas of plain types. A number that is not finite is null."""
_ALWAYS_KNOWN: dict[str, object] = {
    name: kind
    for kind in (Any, Collection, Mapping, Path, PathLike, Sequence, date, datetime, time)
    if (name := getattr(kind, "__name__", ""))
}
"""Names in annotations of modules that import them for the type checker alone."""


@dataclasses.dataclass(frozen=True)
class WithMembers:
    """A mark in `Annotated`: an object with the members of `kind` and those of the typed dict `more`."""

    kind: type
    more: type


def json_schema_of(title: str, description: str, parts: Sequence[type], keys: Keys) -> _Schema:
    """The schema of a JSON object with the members of all `parts`: dataclasses with keys, and typed dicts."""
    derivation = _Derivation({Interval: "low high", **keys})
    root = derivation.object_of(parts)
    members = {"format": {"const": JSON_FORMAT, "description": "The number of the format."}, **root["properties"]}
    return {
        "$schema": DIALECT_URL,
        "title": title,
        "description": description,
        **root,
        "properties": members,
        "required": ["format", *root["required"]],
        "$defs": dict(sorted(derivation.definitions.items())),
    }


class _Derivation:
    """The schema of one format while it is derived, with the definitions that it needs."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self.definitions: dict[str, _Schema] = {}
        self._defined: dict[str, type] = {}

    def object_of(self, kinds: Sequence[type]) -> _Schema:
        """An object with the members of all `kinds` and no others."""
        properties: dict[str, _Schema] = {}
        optional: set[str] = set()
        for kind in kinds:
            for name, (field, annotation) in self._members(kind).items():
                if get_origin(annotation) is NotRequired:
                    optional.add(name)
                    annotation = get_args(annotation)[0]
                words = _in_json(member_words(kind).get(field, ""))
                properties[name] = self.schema_of(annotation) | ({"description": words} if words else {})
        required = [name for name in properties if name not in optional]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def schema_of(self, kind: Any) -> _Schema:
        """The schema of values of the type `kind`. Raises `TypeError` for a type that JSON does not have."""
        if kind is None or (isinstance(kind, type | type(Any)) and kind in _PLAIN_TYPES):
            return dict(_PLAIN_TYPES[kind])
        if isinstance(kind, NewType):
            return self.schema_of(kind.__supertype__)
        origin = get_origin(kind)
        if origin is Annotated:
            return self._annotated(kind)
        if origin in (types.UnionType, Union):
            return _either([self.schema_of(part) for part in get_args(kind)])
        if origin is Literal:
            return {"enum": list(get_args(kind))}
        if origin is not None:
            return self._container(kind, origin)
        if typing.is_typeddict(kind) or kind in self.keys:
            return self._reference(kind)
        if isinstance(kind, type) and issubclass(kind, date | time | PathLike | str):
            return {"type": "string"}
        raise TypeError(f"{kind!r} has no keys, and is no type of JSON")

    def _annotated(self, kind: Any) -> _Schema:
        first, *marks = get_args(kind)
        mark = next((mark for mark in marks if isinstance(mark, WithMembers)), None)
        return self.schema_of(first) if mark is None else self._define(mark.more, (mark.kind, mark.more))

    def _container(self, kind: Any, origin: type) -> _Schema:
        parts = get_args(kind)
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.schema_of(parts[1])}
        if issubclass(origin, tuple) and parts[-1] is not Ellipsis:
            items = [self.schema_of(part) for part in parts]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
        if issubclass(origin, PathLike):
            return {"type": "string"}
        if issubclass(origin, Sequence | AbstractSet | Collection):
            return {"type": "array", "items": self.schema_of(parts[0])}
        raise TypeError(f"{kind!r} is no type of JSON")

    def _reference(self, kind: type) -> _Schema:
        """A reference to the definition of `kind`, or of any type with keys that is derived from it."""
        derived = [known for known in self.keys if not typing.is_typeddict(kind) and issubclass(known, kind)]
        return _either([self._define(known, (known,)) for known in derived or (kind,)])

    def _define(self, kind: type, parts: tuple[type, ...]) -> _Schema:
        name = kind.__name__.lstrip("_").removesuffix("Json")
        if name not in self._defined:
            self._defined[name] = kind
            self.definitions[name] = {"description": _in_json(class_words(parts[0])), **self.object_of(parts)}
        assert self._defined[name] is kind, f"two types of one format have the name {name}"
        return {"$ref": f"#/$defs/{name}"}

    def _members(self, kind: type) -> dict[str, tuple[str, Any]]:
        """The name and the type of each member of `kind`, by key."""
        if typing.is_typeddict(kind):
            hints = _annotations(kind).items()
            return {name: (name, self._evaluated(hint, _module_of(kind))) for name, hint in hints}
        pairs = (key.partition("=") for key in self.keys[kind].split())
        return {key: (field or key, self._field_type(kind, field or key)) for key, _, field in pairs}

    def _field_type(self, kind: type, name: str) -> Any:
        """The type of a field or a property of `kind`."""
        for owner in kind.__mro__:
            found = vars(owner).get(name)
            read = found.fget if isinstance(found, property) else getattr(found, "func", None)
            if isinstance(found, property | cached_property) and read is not None:
                return self._evaluated(read.__annotations__["return"], _module_of(owner))
            if name in (annotations := vars(owner).get("__annotations__", {})):
                return self._evaluated(annotations[name], _module_of(owner))
        raise TypeError(f"{kind.__name__} has no member {name} with a type")

    def _evaluated(self, annotation: Any, module: types.ModuleType) -> Any:
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if not isinstance(annotation, str):
            return annotation
        known = _ALWAYS_KNOWN | {kind.__name__: kind for kind in self.keys}
        return eval(annotation, known | vars(module))


def _in_json(words: str) -> str:
    """The words of a docstring with JSON's name for None."""
    return re.sub(r"\bNone\b", "null", re.sub(r"(^|\. )None\b", r"\1Null", words))


def _module_of(kind: type) -> types.ModuleType:
    return sys.modules[kind.__module__]


def _annotations(kind: type) -> dict[str, Any]:
    annotations: dict[str, Any] = kind.__annotations__
    return annotations


def _either(schemas: Sequence[_Schema]) -> _Schema:
    """A schema that holds where one of `schemas` does."""
    if len(schemas) == 1:
        return schemas[0]
    if {} in schemas:
        return {}
    if all(schema.keys() == {"type"} for schema in schemas):
        names: dict[str, None] = {}
        for schema in schemas:
            listed = schema["type"]
            names |= dict.fromkeys([listed] if isinstance(listed, str) else listed)
        return {"type": list(names)}
    flat = [part for schema in schemas for part in (schema["anyOf"] if schema.keys() == {"anyOf"} else [schema])]
    return {"anyOf": flat}


def class_words(kind: type) -> str:
    """The first paragraph of the docstring of a class."""
    return _first_paragraph(inspect.cleandoc(kind.__doc__ or ""))


@cache
def member_words(kind: type) -> dict[str, str]:
    """The first paragraph about each field and property of a class and of the classes above it, by name."""
    words: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        if owner.__module__.startswith("loadgo."):
            words |= _own_words(owner)
    return words


def _own_words(owner: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef), f"the source of {owner.__name__} is no class"
    words = {}
    for statement, following in pairwise([*definition.body, ast.Pass()]):
        if isinstance(statement, ast.FunctionDef):
            words[statement.name] = ast.get_docstring(statement) or ""
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            words[statement.target.id] = _text_of(following)
    return {name: _first_paragraph(text) for name, text in words.items() if text}


def _text_of(statement: ast.stmt) -> str:
    """The text that stands as a statement; empty for any other statement."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
