"""The words that stand in a table in place of a figure, explained below the table and, on a page, at each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NEVER_TEXT, NOT_MEASURED, TOO_FEW_TEXT

ABSENT_MEANINGS: Mapping[str, str] = {
    TOO_FEW_TEXT: "too few answers to tell this figure",
    NEVER_TEXT: "so many lines had no answer that this quantile has no time",
    NOT_MEASURED: "not measured or not known, which is not zero",
}
"""The meaning of each word for an absent figure. A table may have a meaning of its own."""
_NO_INTERVAL = "no interval, since there is too little for one"
"""The meaning of a dash in a column of intervals."""


def with_absent_explained(table: Table) -> Table:
    """The table with a line below it on each such word that it shows, and with the meaning at each cell."""
    if table.as_printed:
        return table
    meanings = {**ABSENT_MEANINGS, **table.absent}
    names, *others = table.columns
    in_figures = {word for column in others if not _is_interval(column) for word in _words_in(column)}
    in_intervals = {word for column in others if _is_interval(column) for word in _words_in(column)}
    texts = [f"{word}: {meaning}." for word, meaning in meanings.items() if word in in_figures | in_intervals]
    if NOT_MEASURED in in_intervals:
        dash = f"{meanings[NOT_MEASURED]}; under 95 %, {_NO_INTERVAL}" if NOT_MEASURED in in_figures else _NO_INTERVAL
        texts = [text for text in texts if not text.startswith(f"{NOT_MEASURED}:")] + [f"{NOT_MEASURED}: {dash}."]
    foot = "\n".join(filter(None, (table.foot, *texts)))
    return replace(table, columns=(names, *(_with_hints(column, meanings) for column in others)), foot=foot)


def _is_interval(column: Column) -> bool:
    return "95 %" in column.heading


def _words_in(column: Column) -> set[str]:
    """The words for an absent figure that the column shows, also as the end of an interval."""
    return {word for row in range(len(column.cells)) for word in _words_at(column, row)}


def _words_at(column: Column, row: int) -> list[str]:
    """The words for an absent figure that a cell shows, or a line below it."""
    if column.verbatim:
        return []
    lines = [column.cells[row], *column.lines_below(row)]
    return [word for word in ABSENT_MEANINGS if any(line == word or line.endswith(f"–{word}") for line in lines)]


def _with_hints(column: Column, meanings: Mapping[str, str]) -> Column:
    """The column with the meaning of each absent word as the hint of its cell, where the cell has no other hint."""
    hints = list(column.hints) or [""] * len(column.cells)
    for row, hint in enumerate(hints):
        words = _words_at(column, row)
        if words and not hint:
            is_dash = words == [NOT_MEASURED] and _is_interval(column)
            hints[row] = _NO_INTERVAL if is_dash else "; ".join(meanings[word] for word in words)
    return replace(column, hints=tuple(hints)) if any(hints) else column
