"""The tables of a reproduced document: its own in their layout, its passages' figures, and what follows from them."""

from __future__ import annotations

from loadgo.documents.table import Table
from loadgo.published.document import Passage
from loadgo.published.document import Table as PrintedTable
from loadgo.reproduction.reproduce import DocumentAgain, Reproduced
from loadgo.reproduction.rfc_392_here_tables import here_tables, remedy_tables
from loadgo.reproduction.shown import Shown, ShownRow, listed, stacked
from loadgo.reproduction.words import mark, ours_text, ratio_text, significant


def tables(again: DocumentAgain) -> list[Table]:
    """The document's tables and passages in its own order, and what follows from its figures."""
    printed = {table.name: table for table in again.document.tables}
    passages = {passage.line: passage for passage in again.document.passages}
    found = []
    for part in again.document.parts:
        kind, _, name = part.partition(" ")
        if kind == "table":
            found.append(_table(printed[name], again))
        elif passages[int(name)].figures:
            found.append(_passage(passages[int(name)], again))
    return [*found, *_totals(again), *_further(again), *remedy_tables(again.remedies), *here_tables(again)]


def _table(table: PrintedTable, again: DocumentAgain) -> Table:
    over = tuple(column.over for column in table.columns)
    rows = tuple(
        ShownRow(
            row.label, tuple(_cell(cell.text, again, cell.figure.id if cell.figure else None) for cell in row.cells)
        )
        for row in table.rows
    )
    headings = tuple(column.label for column in table.columns)
    return stacked(table.title, headings, rows, over=over)


def _passage(passage: Passage, again: DocumentAgain) -> Table:
    rows = []
    for figure in passage.figures:
        shown = _cell(figure.text, again, figure.id)
        told = figure.unit in ("", "times", "date", figure.label)
        unit = "" if told else f", {figure.unit}"
        rows.append(ShownRow(f"{figure.label}{unit}", (shown,)))
    return listed("", "printed", rows, lead=passage.text)


def _totals(again: DocumentAgain) -> list[Table]:
    rows = tuple(
        ShownRow(
            f"{one.total.label}, {one.total.unit}" if one.total.unit else one.total.label,
            (
                Shown(
                    significant(one.printed),
                    "" if one.ours is None else significant(one.ours),
                    ratio_text(one.ratio),
                    mark(one) if one.rule is not None else "",
                ),
            ),
        )
        for one in again.totals
    )
    return [listed("What follows from the figures", "from print", rows)] if rows else []


def _further(again: DocumentAgain) -> list[Table]:
    rows = tuple(
        ShownRow(value.how or key, (Shown("", significant(value.value), "", "p", value.how),))
        for key, value in again.further.items()
    )
    return [listed("What the document does not print", "", rows)] if rows else []


def _cell(text: str, again: DocumentAgain, key: str | None) -> Shown:
    if key is None:
        return Shown(text, is_figure=False)
    cell: Reproduced = again.cells[key]
    how = cell.ours.how if cell.ours is not None else cell.rule.why
    ours = ours_text(cell)
    return Shown(text, ours, ratio_text(cell.ratio) if ours else "", mark(cell), how)
