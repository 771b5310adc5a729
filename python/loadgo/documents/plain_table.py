"""A table as lines without colours: the lines that Rich draws for the same table, in a tenth of the time."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

from loadgo.documents.table import COLUMN_GAP_CHARS, Column, Table
from loadgo.notation.figures import plain

_GAP = " " * COLUMN_GAP_CHARS


def plain_table(table: Table, page_chars: int) -> str | None:
    """The table's lines; None for a table with cells of several lines, and for one that does not fit the page."""
    columns = [_cells(column) for column in table.columns]
    if not columns or any("\n" in cell for cells in columns for cell in cells):
        return None
    below = [
        [list(map(plain, column.lines_below(row))) for row in range(len(column.cells))] for column in table.columns
    ]
    widths = [
        max(map(cell_len, [*cells, *(line for lines in column_below for line in lines)]))
        for cells, column_below in zip(columns, below, strict=True)
    ]
    if table.name_width and table.columns[0].kind != "words":
        widths[0] = min(widths[0], table.name_width)
    chars = sum(widths) + COLUMN_GAP_CHARS * (len(widths) - 1)
    if min(widths) == 0 or chars > page_chars:
        return None
    rows = [[cells[place] for cells in columns] for place in range(len(columns[0]))]
    to_right = [place > 0 and column.kind not in ("words", "name") for place, column in enumerate(table.columns)]
    laid = [_line(row, widths, to_right) for row in rows]
    return "\n".join([laid[0], "─" * chars, *_body(table, laid[1:], below, widths, to_right)])


def _cells(column: Column) -> list[str]:
    return [column.heading, *map(plain, column.cells)]


def _body(
    table: Table, rows: list[str], below: list[list[list[str]]], widths: list[int], to_right: list[bool]
) -> Iterator[str]:
    """The rows, each with the lines below it, and an empty line before the total rows."""
    last = len(rows) - table.total_rows - 1
    for place, row in enumerate(rows):
        yield row
        lines = [column[place] for column in below]
        for at in range(max(map(len, lines))):
            yield _line([column[at] if at < len(column) else "" for column in lines], widths, to_right)
        if table.total_rows and place == last:
            yield ""


def _line(cells: list[str], widths: list[int], to_right: list[bool]) -> str:
    """The cells side by side. Only a row's name may be longer than its column, and is cut."""
    return _GAP.join(
        " " * (width - cell_len(cell.rstrip())) + cell.rstrip() if right else _padded(cell, width)
        for cell, width, right in zip(cells, widths, to_right, strict=True)
    )


def _padded(cell: str, width: int) -> str:
    if cell_len(cell) > width:
        return set_cell_size(cell, width - 1) + "…"
    return cell + " " * (width - cell_len(cell))
