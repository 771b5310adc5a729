"""A list as a single table, whose width is the terminal's, its own, or a given one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from shutil import get_terminal_size

from rich.cells import cell_len

from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document
from loadgo.documents.table import COLUMN_GAP_CHARS, Column, Table


def listing(
    heads: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int] = (), width: int | None = None
) -> str:
    """The rows under `heads` as text. Columns in `figures`, counted from 0, are aligned to the right.

    The text is empty without heads. Without a `width`, the table has the terminal's width. It has its own width if the
    terminal is too narrow or the output is no terminal. A name that a user may copy is then not cut.
    """
    if not heads:
        return ""
    columns = tuple(
        Column(head, tuple(row[i] for row in rows), kind="figure" if i in figures else "words" if i else "name")
        for i, head in enumerate(heads)
    )
    table = Table("", columns, name_width=columns[0].width)
    narrowest = columns[0].width + sum(COLUMN_GAP_CHARS + len(head) for head in heads[1:])
    terminal = get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 0
    double_wide = sum(max(cell_len(cell) - len(cell) for cell in ("", *column.cells)) for column in columns)
    shown = width or (terminal if terminal >= narrowest else table.width + double_wide)
    return text_document(Document("", "", (table,)), width=shown)
