"""Kinds of values in TOML files as JSON Schemas of Draft 4, with which parsers list their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Shape = Mapping[str, Any]
"""The JSON Schema of a value."""

FILE_SCHEMAS_FOLDER = Path(__file__).parent.parent / "data" / "file_schemas"
"""The folder of the package with the schema of each kind of file."""

FLAG_SHAPE: Shape = {"type": "boolean"}


def schema_line(kind: str) -> str:
    """The first line of a file, by which editors of TOML find the schema of its kind: that of this installation."""
    return f"#:schema {(FILE_SCHEMAS_FOLDER / f'{kind}.json').as_uri()}\n"


def text_shape(notation: str, pattern: str = "") -> Shape:
    """A text; its notation is a word for readers, and a validator checks the pattern alone."""
    return {"type": "string", "format": notation} | ({"pattern": pattern} if pattern else {})


def one_of_shape(names: Sequence[str]) -> Shape:
    """A text from a list."""
    return {"enum": list(names)}


def whole_shape(least: int, most: int | None = None) -> Shape:
    """A whole number."""
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def number_shape(least: float, most: float, *, above_least: bool = False) -> Shape:
    """A number, whole or not; `above_least`, the least number itself is refused."""
    ends = {"minimum": least, "maximum": most}
    return {"type": "number", **ends} | ({"exclusiveMinimum": True} if above_least else {})


def list_shape(item: Shape, most: int | None = None, *, unique: bool = False) -> Shape:
    """A list of one value or more."""
    size = {"minItems": 1} | ({} if most is None else {"maxItems": most})
    return {"type": "array", "items": item, **size} | ({"uniqueItems": True} if unique else {})


def any_shape(*shapes: Shape) -> Shape:
    """Any of some kinds of values."""
    return {"anyOf": list(shapes)}


def table_shape(keys: Mapping[str, Shape], needed: Sequence[str] = (), **rules: Any) -> Shape:
    """A table with known keys, some of which it must have; `rules` are further members of the schema."""
    required = {"required": list(needed)} if needed else {}
    return {"type": "object", "properties": dict(keys), "additionalProperties": False, **required, **rules}


def map_shape(value: Shape, fewest: int = 0) -> Shape:
    """A table whose keys are names that the file chooses."""
    return {"type": "object", "additionalProperties": value, "minProperties": fewest}
