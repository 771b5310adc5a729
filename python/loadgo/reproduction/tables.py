"""The tables of a reproduced document: its printed tables, its passages' figures, and figures that follow from them."""

from __future__ import annotations

from loadgo.documents.table import Table
from loadgo.published.document import Passage
from loadgo.published.document import Table as PrintedTable
from loadgo.reproduction.reproduce import ReproducedDocument, ReproducedFigure
from loadgo.reproduction.rfc_392_here_tables import here_tables, remedy_tables
from loadgo.reproduction.shown import ShownCell, ShownRow, listed_table, stacked_table
from loadgo.reproduction.words import ours_text, ratio_text, significant, verdict_letter


def tables(reproduced: ReproducedDocument) -> list[Table]:
    """The document's tables and passages in its own order, then totals, further figures and remedies."""
    printed = {table.name: table for table in reproduced.document.tables}
    passages = {passage.line: passage for passage in reproduced.document.passages}
    shown_tables = []
    for part in reproduced.document.parts:
        kind, _, name = part.partition(" ")
        if kind == "table":
            shown_tables.append(_table(printed[name], reproduced))
        elif passages[int(name)].figures:
            shown_tables.append(_passage(passages[int(name)], reproduced))
    return [
        *shown_tables,
        *_totals(reproduced),
        *_further(reproduced),
        *remedy_tables(reproduced.remedies),
        *here_tables(reproduced),
    ]


def _table(table: PrintedTable, reproduced: ReproducedDocument) -> Table:
    over = tuple(column.over for column in table.columns)
    rows = tuple(
        ShownRow(
            row.label,
            tuple(_cell(cell.text, reproduced, cell.figure.id if cell.figure else None) for cell in row.cells),
        )
        for row in table.rows
    )
    headings = tuple(column.label for column in table.columns)
    return stacked_table(table.title, headings, rows, over=over)


def _passage(passage: Passage, reproduced: ReproducedDocument) -> Table:
    rows = []
    for figure in passage.figures:
        is_unit_clear = figure.unit in ("", "times", "date", figure.label)
        unit = "" if is_unit_clear else f", {figure.unit}"
        rows.append(ShownRow(f"{figure.label}{unit}", (_cell(figure.text, reproduced, figure.id),)))
    return listed_table("", "printed", rows, lead=passage.text)


def _totals(reproduced: ReproducedDocument) -> list[Table]:
    rows = tuple(
        ShownRow(
            f"{total.total.label}, {total.total.unit}" if total.total.unit else total.total.label,
            (
                ShownCell(
                    significant(total.printed),
                    "" if total.ours is None else significant(total.ours),
                    ratio_text(total.ratio),
                    verdict_letter(total) if total.rule is not None else "",
                ),
            ),
        )
        for total in reproduced.totals
    )
    return [listed_table("What follows from the figures", "from print", rows)] if rows else []


def _further(reproduced: ReproducedDocument) -> list[Table]:
    rows = tuple(
        ShownRow(value.how or key, (ShownCell("", significant(value.value), "", "p", value.how),))
        for key, value in reproduced.further.items()
    )
    return [listed_table("What the document does not print", "", rows)] if rows else []


def _cell(text: str, reproduced: ReproducedDocument, key: str | None) -> ShownCell:
    if key is None:
        return ShownCell(text, is_figure=False)
    cell: ReproducedFigure = reproduced.cells[key]
    how = cell.ours.how if cell.ours is not None else cell.rule.why
    ours = ours_text(cell)
    return ShownCell(text, ours, ratio_text(cell.ratio) if ours else "", verdict_letter(cell), how)
