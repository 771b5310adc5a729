"""The lines of a table in the layout of a printed document: narrow gaps, marks beside figures, further lines below."""

from __future__ import annotations

import textwrap
from itertools import zip_longest

from loadgo.documents.table import Column, Table

Line = tuple[str, str]
"""A line and its style."""

_GAP = "  "
_LEAST_NAME_CHARS = 12
"""Fewest characters that a long name of a row keeps when the other columns need room."""
_LEAST_MARKED_CHARS = 6
_MARK_CHARS = 2
_LONG_CELL_CHARS = 20
"""A longer cell beside a mark is running text, and is wrapped."""
_STYLES = {"p!": "bold red", "!": "bold red", "?": "bold red", "p*": "magenta", "p": "green", "f": "cyan"}
"""The style of a row by its mark. The worst mark comes first."""


def printed_lines(table: Table, page: int) -> list[Line]:
    """The table's headings and rows, of at most `page` characters. A table without marks beside figures is indented."""
    names, *columns = table.columns
    indent = "" if any(column.marks for column in columns) else _GAP
    longest = max([8 if table.below_names else 1, *map(len, names.cells)])
    room = page - len(indent) - len(_GAP) * len(columns)
    widths = _widths(columns, room - min(longest, _LEAST_NAME_CHARS))
    name_width = names.chars or min(longest, max(_LEAST_NAME_CHARS, room - sum(widths)))
    lines = [(line, "dim") for line in _headings(columns, name_width, widths)]
    for row, name in enumerate(names.cells):
        lines += _row(table, row, textwrap.wrap(name, name_width) or [""], widths, name_width)
    return [(f"{indent}{line}", style) for line, style in (_in_halves(lines) if table.in_halves else lines)]


def _in_halves(lines: list[Line]) -> list[Line]:
    """The second half of the lines beside the first."""
    half = (len(lines) + 1) // 2
    pairs = zip_longest(lines[:half], lines[half:], fillvalue=("", ""))
    return [(f"{left}{_GAP}{_GAP}{right}", style) for (left, style), (right, _) in pairs]


def _widths(columns: list[Column], room: int) -> list[int]:
    """The columns' widths. Without enough room, columns of text become narrower, and their cells are wrapped."""
    least = [_least_width(column) for column in columns]
    widths = [max(width, _text_width(column)) for width, column in zip(least, columns, strict=True)]
    over = sum(widths) - room
    for i in sorted(range(len(widths)), key=lambda i: least[i] - widths[i]):
        less = max(0, min(over, widths[i] - max(least[i], 8)))
        widths[i], over = widths[i] - less, over - less
    return widths


def _least_width(column: Column) -> int:
    if column.chars:
        return column.chars - len(_GAP)
    return max(_heading_width(column), _figures_width(column))


def _heading_width(column: Column) -> int:
    return max(map(len, column.heading.split()), default=0) if column.marks else len(column.heading)


def _figures_width(column: Column) -> int:
    """The width that the column's figures need, with their marks."""
    widths = [_LEAST_MARKED_CHARS if column.marks else _MARK_CHARS if column.kind == "mark" else 0]
    for row in range(len(column.cells)):
        if not _is_text(column, row):
            widths.append(max(map(len, _lines(column, row))) + _mark_width(column, row))
    return max(widths)


def _text_width(column: Column) -> int:
    """The width of the column's longest running text, up to a limit."""
    texts = [column.cells[row] for row in range(len(column.cells)) if _is_text(column, row)]
    return min(_LONG_CELL_CHARS, max(map(len, texts), default=0))


def _headings(columns: list[Column], name_width: int, widths: list[int]) -> list[str]:
    over, last = " " * name_width, ""
    for column, width in zip(columns, widths, strict=True):
        at = len(over) + len(_GAP) + width
        over = (f"{over}{_GAP}{column.over}" if column.over != last else over).ljust(at)
        last = column.over
    folded = [textwrap.wrap(column.heading, max(1, width)) for column, width in zip(columns, widths, strict=True)]
    lines = [over]
    for k in range(max(map(len, folded))):
        line = " " * name_width
        for column, heading, width in zip(columns, folded, widths, strict=True):
            text = heading[k] if k < len(heading) else ""
            line += _GAP + text.rjust(width - 2 if column.marks else width).ljust(width)
        lines.append(line)
    return [line for line in lines if line.strip()]


def _row(table: Table, row: int, name: list[str], widths: list[int], name_width: int) -> list[Line]:
    """The row's lines: as many as its name, or its cells, need."""
    columns = table.columns[1:]
    cells = [_cell(column, row, width) for column, width in zip(columns, widths, strict=True)]
    below = any(column.lines_below(row) for column in columns)
    names = [*name, *(f"  {text}" for text in ("", *table.below_names)[len(name) :])] if below else name
    style, lines = _style(table, row), []
    for k in range(max(len(names), *map(len, cells))):
        parts = [cell[k] if k < len(cell) else " " * width for cell, width in zip(cells, widths, strict=True)]
        # A cell that is longer than its column's fixed width extends into the gap before it.
        behind_gap = [part.rjust(len(_GAP) + width) for part, width in zip(parts, widths, strict=True)]
        line = "".join([(names[k] if k < len(names) else "").ljust(name_width), *behind_gap])
        lines.append((line, (style or "dim") if k and below else "" if below else style))
    return lines


def _cell(column: Column, row: int, width: int) -> list[str]:
    """A cell's lines: figures to the right, with room for the mark; text to the left."""
    mark = column.marks[row] if column.marks else ""
    if _is_text(column, row):
        return [line.ljust(width) for line in textwrap.wrap(f"{column.cells[row]} {mark}".rstrip(), width)]
    room = _mark_width(column, row)
    first, *below = [line.rjust(width - room) for line in _lines(column, row)]
    return [f"{first} {mark}".ljust(width) if room else first, *(line.ljust(width) for line in below)]


def _is_text(column: Column, row: int) -> bool:
    return column.kind != "figure" or (bool(column.marks) and len(column.cells[row]) > _LONG_CELL_CHARS)


def _lines(column: Column, row: int) -> list[str]:
    return [column.cells[row], *column.lines_below(row)]


def _mark_width(column: Column, row: int) -> int:
    return 1 + max(1, len(column.marks[row])) if column.marks else 0


def _style(table: Table, row: int) -> str:
    """The style of the row's worst mark."""
    marks = {column.marks[row] for column in table.columns if column.marks}
    marks |= {column.cells[row] for column in table.columns if column.kind == "mark"}
    return next((style for mark, style in _STYLES.items() if mark in marks), "")
