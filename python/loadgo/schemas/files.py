"""The JSON Schemas of the TOML files that loadgo reads, made from the key tables of their parsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from loadgo.hosts.fleet import FLEET_SHAPE
from loadgo.measures.tariff import TARIFF_SHAPE
from loadgo.notation.figures import capitalized
from loadgo.notation.file_shapes import Shape
from loadgo.running.file_schemas import machine_schema, script_schema
from loadgo.schemas.formats import FILE_FORMATS, FileFormat
from loadgo.sweeping.grid_file import GRID_SHAPE

_DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def _with_heading(shape: Shape) -> Callable[[str, str], dict[str, Any]]:
    return lambda title, description: {
        "$schema": _DRAFT_4,
        "title": title,
        "description": description,
        **shape,
    }


_SCHEMAS: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "script": script_schema,
    "machine": machine_schema,
    "tariff": _with_heading(TARIFF_SHAPE),
    "hosts": _with_heading(FLEET_SHAPE),
    "grid": _with_heading(GRID_SHAPE),
}
"""By kind of file: its schema with a title and a description."""


def file_schema(known: FileFormat) -> dict[str, Any]:
    """The schema of a kind of file."""
    description = (
        f"{capitalized(known.about)}: {known.page}. The schema has the file's structure, types and "
        "names; loadgo alone checks what texts mean and what they refer to."
    )
    return _SCHEMAS[known.name](f"loadgo {known.name}", description)


def file_schema_texts() -> dict[str, str]:
    """The content of each schema's file, by kind of file."""
    return {known.name: json.dumps(file_schema(known), indent=1, ensure_ascii=False) + "\n" for known in FILE_FORMATS}
