"""Frames of records: a row for each record, and a column for each of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def frame_of(records: Iterable[object], columns: str) -> pl.DataFrame:
    """A frame with a row for each record.

    `columns` names the columns in order: `name`, or `name=field.field` for a field of a field. A field may be a
    property or a mapping's key. The cell is null if any field on the way is None or missing.
    A column without any value is one of numbers, since most fields that may be None are numbers.
    """
    # Here and not above, since a text needs no frame.
    import polars as pl

    fields = {name: field or name for name, _, field in (column.partition("=") for column in columns.split())}
    rows = list(records)
    cells = {name: [_cell(_found(row, field.split("."))) for row in rows] for name, field in fields.items()}
    return pl.DataFrame(cells, strict=False).cast({pl.Null: pl.Float64})


def _found(record: object, fields: list[str]) -> object:
    """The value at the end of a path of fields; None if the path ends before."""
    value = record
    for field in fields:
        if value is None:
            return None
        value = value.get(field) if isinstance(value, Mapping) else getattr(value, field)
    return value


def _cell(value: object) -> object:
    """A value as a frame can hold it: text for a path, a list for a tuple."""
    if isinstance(value, PathLike):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
