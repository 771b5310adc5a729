"""Values of dataclasses read back from the JSON that was written of them, by the same keys and the fields' types."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from loadgo.documents.as_json import Keys
from loadgo.stats.resample import Interval

_Value = TypeVar("_Value")


def stored_value(kind: type[_Value], member: object, keys: Keys) -> _Value:
    """The value of the dataclass `kind` from its JSON. Raises `ValueError` for JSON that is none of it."""
    value = _dataclass_value(kind, member, {Interval: "low high", **keys})
    assert isinstance(value, kind)
    return value


def _dataclass_value(kind: type, member: object, keys: Keys) -> object:
    if not isinstance(member, Mapping):
        raise ValueError(f"{kind.__name__} is no object")
    names = {known.__name__: known for known in keys} | {"Mapping": Mapping}
    hints = typing.get_type_hints(kind, localns=names)
    fields = {field.name for field in dataclasses.fields(kind)}
    pairs = (key.partition("=") for key in keys[kind].split())
    given = {field or key: key for key, _, field in pairs if (field or key) in fields and key in member}
    try:
        return kind(**{name: _value(hints[name], member[key], keys) for name, key in given.items()})
    except TypeError as error:
        raise ValueError(f"{kind.__name__} is not whole: {error}") from error


def _value(kind: Any, member: object, keys: Keys) -> object:
    """A member of JSON as a value of the type `kind`. A number that was infinite is null in JSON."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if member is None else _value(next(part for part in parts if part is not type(None)), member, keys)
    if origin is Literal:
        return _checked(member in parts, kind, member)
    if origin is tuple and isinstance(member, list):
        kinds = parts[:1] * len(member) if parts[-1] is Ellipsis else parts
        return tuple(_value(part, one, keys) for part, one in zip(kinds, member, strict=True))
    if origin in (dict, Mapping) and isinstance(member, Mapping):
        return {str(name): _value(parts[1], one, keys) for name, one in member.items()}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_value(kind, member, keys)
    return _plain_value(kind, member)


def _plain_value(kind: Any, member: object) -> object:
    if kind is float:
        if member is None:
            return math.inf
        return _checked(isinstance(member, int | float), kind, member)
    if kind is Path:
        return Path(str(member))
    is_right = isinstance(kind, type) and type(member) is kind
    return _checked(is_right, kind, member)


def _checked(is_right: bool, kind: Any, member: object) -> object:
    if not is_right:
        raise ValueError(f"{member!r} is no {kind}")
    return member
