"""Bars of signs of what an interaction costs, by command or user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from loadgo.costs.priced import Priced, Row
from loadgo.costs.words import cost_by, is_told
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import bar, cut
from loadgo.notation.figures import money

_NAME_CHARS = 24
_MOST_BAR_CHARS = 72


def row_pictures(priced: Priced, rows: Sequence[Row], by: str) -> list[SignPicture]:
    """A bar for each row whose cost can be told, the dearest first. Empty for fewer than two."""
    told = sorted(
        (row for row in rows if is_told(row) and row.each.value is not None), key=lambda row: -(row.each.value or 0.0)
    )
    if len(told) < 2 or not told[0].each.value:
        return []
    tariff = priced.tariff
    return [SignPicture(cost_by(by, tariff), partial(_lines, told, tariff.currency, tariff.counted))]


def _lines(rows: Sequence[Row], currency: str, scale: int, width: int) -> list[str]:
    names = [cut(row.name, _NAME_CHARS) for row in rows]
    cells = [money(row.each.value, currency, scale) for row in rows]
    left, right = max(map(len, names)), max(map(len, cells))
    room = max(8, min(_MOST_BAR_CHARS, width - left - right - 4))
    most = rows[0].each.value or 1.0
    bars = [bar((row.each.value or 0.0) / most, room) for row in rows]
    return [
        f"{name:<{left}}  {cell:>{right}}  {drawn}".rstrip()
        for name, cell, drawn in zip(names, cells, bars, strict=True)
    ]
