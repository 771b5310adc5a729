"""The only writer of JSON: explicit keys for each type, null for numbers that are not finite, and a format number."""

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
from loadgo.stats.interval import Interval

JSON_FORMAT = 1
"""The number of the present format. It grows when a key is removed or changes its meaning."""

Keys = Mapping[type, str]
"""The keys of each type in order: `key`, or `key=field` if the field or property has another name."""

_UNSAFE = re.compile(r"[^\n -~]")
"""Control characters that a terminal might obey, and all characters beyond ASCII, of which most are harmless."""


def json_document(members: Mapping[str, object], keys: Keys, columns: Mapping[str, object] | None = None) -> str:
    """Writes the members as one JSON object that begins with `"format"`. Each list in `columns` stands on one line.

    Raises `KeyError` for a type without keys in `keys`.
    """
    all_keys = {Interval: "low high", **keys}
    plain_members = _as_plain({"format": JSON_FORMAT, **members}, all_keys)
    text = json.dumps(plain_members, indent=2, ensure_ascii=False, allow_nan=False)
    for name, column in (columns or {}).items():
        line = json.dumps(_as_plain(column, all_keys), ensure_ascii=False, allow_nan=False)
        text = text.removesuffix("\n}") + f',\n  "{name}": {line}\n}}'
    return _UNSAFE.sub(_visible, text) + "\n"


def members_of(value: object, keys: Keys) -> dict[str, Any]:
    """The fields and properties that `keys` names for the type of `value`, by key."""
    pairs = (key.partition("=") for key in keys[type(value)].split())
    return {key: getattr(value, field or key) for key, _, field in pairs}


def _as_plain(member: object, keys: Keys) -> object:
    """A member in JSON's types: null for a number that is not finite, a text for a date or a path."""
    if isinstance(member, float):
        return member if math.isfinite(member) else None
    if dataclasses.is_dataclass(member):
        member = members_of(member, keys)
    if isinstance(member, Mapping):
        return {str(key): _as_plain(inner, keys) for key, inner in member.items()}
    if isinstance(member, list | tuple):
        return [_as_plain(inner, keys) for inner in member]
    return str(member) if isinstance(member, date | time | PathLike) else member


def _visible(match: re.Match[str]) -> str:
    """The matched character, as a JSON escape if a terminal might obey it."""
    character = match[0]
    if plain(character) == character:
        return character
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else f"\\u{ord(character):04x}"
