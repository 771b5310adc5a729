"""A reproduced document as blocks to be printed: tables in their own layout, passages with their figures, the rest."""

from __future__ import annotations

from loadgo.published.document import Passage, Table
from loadgo.reproduction.block import Block, Shown, ShownRow
from loadgo.reproduction.reproduce import DocumentAgain, Reproduced
from loadgo.reproduction.rfc_392_here_layout import here_blocks, remedy_blocks
from loadgo.reproduction.words import mark, ours_text, ratio_text, significant


def blocks(again: DocumentAgain) -> list[Block]:
    """The document's tables and passages in its own order, and what follows from its figures."""
    tables = {table.name: table for table in again.document.tables}
    passages = {passage.line: passage for passage in again.document.passages}
    found = []
    for part in again.document.parts:
        kind, _, name = part.partition(" ")
        if kind == "table":
            found.append(_table(tables[name], again))
        elif passages[int(name)].figures:
            found.append(_passage(passages[int(name)], again))
    return [*found, *_totals(again), *_further(again), *remedy_blocks(again.remedies), *here_blocks(again)]


def _table(table: Table, again: DocumentAgain) -> Block:
    over = tuple(column.over for column in table.columns)
    rows = tuple(
        ShownRow(
            row.label, tuple(_cell(cell.text, again, cell.figure.id if cell.figure else None) for cell in row.cells)
        )
        for row in table.rows
    )
    headings = tuple(column.label for column in table.columns)
    return Block(table.title, "", over if any(over) else (), headings, rows, stacked=True)


def _passage(passage: Passage, again: DocumentAgain) -> Block:
    rows = []
    for figure in passage.figures:
        shown = _cell(figure.text, again, figure.id)
        told = figure.unit in ("", "times", "date", figure.label)
        unit = "" if told else f", {figure.unit}"
        rows.append(ShownRow(f"{figure.label}{unit}", (shown,)))
    return Block("", passage.text, (), ("printed",), tuple(rows), stacked=False)


def _totals(again: DocumentAgain) -> list[Block]:
    rows = tuple(
        ShownRow(
            f"{one.total.label}, {one.total.unit}" if one.total.unit else one.total.label,
            (
                Shown(
                    significant(one.printed),
                    "" if one.ours is None else significant(one.ours),
                    ratio_text(one.ratio),
                    mark(one) if one.rule is not None else "",
                    one.verdict if one.rule is not None else None,
                ),
            ),
        )
        for one in again.totals
    )
    return [Block("What follows from the figures", "", (), ("from print",), rows, stacked=False)] if rows else []


def _further(again: DocumentAgain) -> list[Block]:
    rows = tuple(
        ShownRow(value.how or key, (Shown("", significant(value.value), "", "p", "within", value.how),))
        for key, value in again.further.items()
    )
    return [Block("What the document does not print", "", (), ("",), rows, stacked=False)] if rows else []


def _cell(text: str, again: DocumentAgain, key: str | None) -> Shown:
    if key is None:
        return Shown(text)
    cell: Reproduced = again.cells[key]
    how = cell.ours.how if cell.ours is not None else cell.rule.why
    ours = ours_text(cell)
    return Shown(text, ours, ratio_text(cell.ratio) if ours else "", mark(cell), cell.verdict, how)
