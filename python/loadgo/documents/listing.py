"""A list of records as a single table, or as JSON and CSV with the records' own keys."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size

from rich.cells import cell_len

from loadgo.documents.as_json import json_document
from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.documents.table import COLUMN_GAP_CHARS, Column, Table
from loadgo.notation.figures import plain

_ANSWER_CHARS = 100
"""Width of the answer above a list where no width is known."""


@dataclass(frozen=True)
class Listing:
    """A named list, such as `runs`: headings and rows for people, keys and full records for JSON and CSV."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: tuple[str, ...]
    """The names of a record's values in JSON and CSV."""
    records: tuple[Mapping[str, object], ...]
    figures: frozenset[int] = frozenset()
    """Columns of the rows that are aligned to the right, counted from 0."""
    answer: str = ""
    """A sentence above the rows; empty for a list that needs none."""
    warnings: tuple[str, ...] = ()
    """Warnings over an HTML page and over Markdown. A command prints them beside the other formats."""


def listing_presentation(listed: Listing) -> Presentation:
    """The parts of a list. Its frame has the records' own keys."""
    return Presentation(
        lambda: _document(listed),
        lambda: json_document({listed.name: listed.records}, {}),
        {listed.name: lambda: frame_of(listed.records, " ".join(listed.keys))},
        text=lambda width, _color: _text(listed, width),
    )


def _text(listed: Listing, width: int | None) -> str:
    rows = listing(listed.headings, listed.rows, listed.figures, width)
    chars = width or asked_chars() or _ANSWER_CHARS
    return f"{textwrap.fill(listed.answer, chars)}\n\n{rows}" if listed.answer else rows


def _document(listed: Listing) -> Document:
    table = _table(listed.headings, listed.rows, listed.figures)
    name = listed.name.removesuffix("s") if len(listed.rows) == 1 else listed.name
    return Document(listed.name, listed.answer or f"{len(listed.rows):,} {name}", (table,), warnings=listed.warnings)


def listing(
    headings: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int] = (), width: int | None = None
) -> str:
    """The rows under their headings as text. Columns in `figures`, counted from 0, are aligned to the right.

    The text is empty without headings. Without a `width`, the table has the width of `asked_chars()`. If that is too
    narrow or not known, the table is as wide as its cells need. Names that a user may copy are then not cut.
    """
    if not headings:
        return ""
    table = _table(headings, rows, figures)
    narrowest = table.columns[0].width + sum(COLUMN_GAP_CHARS + len(heading) for heading in headings[1:])
    asked = asked_chars()
    double_wide = sum(max(cell_len(cell) - len(cell) for cell in ("", *column.cells)) for column in table.columns)
    shown = width or (asked if asked >= narrowest else table.width + double_wide)
    return text_document(Document("", "", (table,)), width=shown)


def asked_chars() -> int:
    """Width of the standard output: the terminal's, or that of `COLUMNS`. 0 for another output without `COLUMNS`."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return get_terminal_size((100, 24)).columns if is_terminal or os.environ.get("COLUMNS", "").isdigit() else 0


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int]) -> Table:
    columns = tuple(
        Column(
            plain(heading),
            tuple(row[i] for row in rows),
            kind="figure" if i in figures else "words" if i else "name",
            verbatim=True,
        )
        for i, heading in enumerate(headings)
    )
    return Table("", columns, name_width=columns[0].width)
