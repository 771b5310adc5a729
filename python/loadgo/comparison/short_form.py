"""The short form of a comparison: the conditions and the rows that changed most; `--full` has all else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from loadgo.comparison.compare import Comparison
from loadgo.comparison.rows import Row
from loadgo.documents.document import SignPicture
from loadgo.documents.table import Table
from loadgo.notation.figures import counted

MOST_ROWS = 12
"""Rows of the table of responses in the short form, so that it has about 40 lines of 100 characters."""
MOST_CONDITIONS = 6
MIX_LABEL = "Mix"
"""The label of the note on what the total is of."""
HOSTS_LABEL = "Hosts"
"""The label of the note on how to see one host of several."""
_KEPT_NOTES = (MIX_LABEL, HOSTS_LABEL, "Prediction", "Left out", "Threshold")
"""The labels of notes that say what a reader asked for, or what is not in the figures."""
_REST = "the same command with `--full` prints all tables, pictures and notes; with `--format html` it is a page."


def first_tables(tables: Sequence[Table]) -> list[Table]:
    """The tables of the judgement and of the conditions. Of many conditions the short form has the first."""
    return [shown for table in tables for shown in cut_rows(table, range(MOST_CONDITIONS), MOST_CONDITIONS)]


def further_tables(comparison: Comparison, tables: Sequence[Table]) -> list[Table]:
    """All other tables. The short form has the first alone: the rows, of many those that changed most."""
    if not tables:
        return []
    if comparison.is_by_totals:
        return _tables_of_totals(comparison, tables)
    rows = comparison.rows.rows
    is_of_rows = len(tables[0].rows()) == len(rows)
    kept = _most_changed(rows) if is_of_rows else range(MOST_ROWS)
    return [*cut_rows(tables[0], kept, MOST_ROWS), *(table.placed("full") for table in tables[1:])]


def _tables_of_totals(comparison: Comparison, tables: Sequence[Table]) -> list[Table]:
    """The tables where a side has totals alone. The short form has the first two, of the first what both sides have."""
    known = sum(difference.change is not None for difference in comparison.rows.whole.values())
    first = cut_rows(tables[0], range(known), known) if known else [tables[0]]
    return [*first, *tables[1:2], *(table.placed("full") for table in tables[2:])]


def full_pictures(pictures: Sequence[SignPicture]) -> list[SignPicture]:
    """The pictures, for the full form alone: the table of the short form has the same changes."""
    return [replace(picture, shown="full") for picture in pictures]


def short_notes(notes: Sequence[tuple[str, str]], broken_checks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The notes of the short form, and where the rest is. The checks are there where a warning points to them."""
    kept = (*_KEPT_NOTES, "Checks") if broken_checks else _KEPT_NOTES
    return (*(note for note in notes if note[0] in kept), ("More", _REST))


def cut_rows(table: Table, kept: Sequence[int], most: int) -> list[Table]:
    """The table, or, if it has more than `most` rows, the whole one and one with the rows `kept`."""
    count = len(table.rows()) - table.total_rows
    if count <= most:
        return [table]
    left_out = counted(count - most, "row")
    foot = "\n".join(filter(None, (f"{left_out} {'is' if count - most == 1 else 'are'} left out.", table.foot)))
    return [table.placed("full"), table.with_rows(kept[:most], foot).placed("short")]


def _most_changed(rows: Sequence[Row]) -> list[int]:
    """The places of the rows, those that changed most first; sub-totals and the total last."""

    def size(at: int) -> float:
        row = rows[at]
        relative = next(
            (found for name in ("response", "cpu") if (found := row.measures[name].relative) is not None), None
        )
        if row.kind != "row" or relative is None or relative <= -1:
            return -1.0
        return abs(math.log1p(relative))

    return sorted(range(len(rows)), key=size, reverse=True)
