"""The one writer of JSON: explicit keys for each type, null for what is not finite, and always the format's number."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from datetime import date, time
from os import PathLike
from typing import Any

from loadgo.notation.figures import plain
from loadgo.stats.resample import Interval

FORMAT = 1
"""The number of the present format; it grows when a key is taken away or changes its meaning."""

Keys = Mapping[type, str]
"""By type its keys in their order: `key`, or `key=field` where the field or property has another name."""

_UNSAFE = re.compile(r"[^\n -~]")
"""Characters that a terminal might obey, and harmless ones beyond ASCII."""


def json_document(members: Mapping[str, object], keys: Keys, columns: Mapping[str, object] | None = None) -> str:
    """The members as one JSON object after `"format"`; each of `columns`, which are long, on a line of its own.

    Raises `KeyError` for a type of which `keys` names no keys.
    """
    every = {Interval: "low high", **keys}
    text = json.dumps(_written({"format": FORMAT, **members}, every), indent=2, ensure_ascii=False, allow_nan=False)
    for name, value in (columns or {}).items():
        line = json.dumps(_written(value, every), ensure_ascii=False, allow_nan=False)
        text = text.removesuffix("\n}") + f',\n  "{name}": {line}\n}}'
    return _UNSAFE.sub(_visible, text) + "\n"


def members_of(value: object, keys: Keys) -> dict[str, Any]:
    """The fields and properties that `keys` names for the type of `value`, by key."""
    pairs = (key.partition("=") for key in keys[type(value)].split())
    return {key: getattr(value, field or key) for key, _, field in pairs}


def _written(value: object, keys: Keys) -> object:
    """The value in JSON's types: None for a number that is not finite, the text of a date or a path."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if dataclasses.is_dataclass(value):
        value = members_of(value, keys)
    if isinstance(value, Mapping):
        return {str(key): _written(part, keys) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_written(part, keys) for part in value]
    return str(value) if isinstance(value, date | time | PathLike) else value


def _visible(found: re.Match[str]) -> str:
    """A character that a terminal might obey, as JSON may write it."""
    sign = found[0]
    if plain(sign) == sign:
        return sign
    return json.dumps(sign)[1:-1] if ord(sign) > 0x7F else f"\\u{ord(sign):04x}"
