"""A reproduction as JSON and CSV: one entry a figure, with everything that is known of it."""

from __future__ import annotations

import math
from typing import Any

from loadgo.documents.as_csv import csv_lines
from loadgo.documents.as_json import Keys, json_document
from loadgo.reproduction import words
from loadgo.reproduction.models.rfc_392_here import Again, Here
from loadgo.reproduction.models.rfc_392_remedies import Remedied, Remedy
from loadgo.reproduction.reproduce import DocumentAgain, Reproduced, ReproducedTotal, Reproduction
from loadgo.transfers.json_keys import JSON_KEYS as TRANSFER_KEYS

COLUMNS = (
    "document", "id", "line", "label", "printed", "unit", "printed_low", "printed_high", "ours", "ours_high",
    "interval_low", "interval_high", "ratio", "mark", "verdict", "tolerance", "why", "how", "corrected",
)  # fmt: skip
"""What the CSV and JSON say of each figure. Numbers are in `unit`; a date is a day's ordinal from 1 January 1."""


_KEYS: Keys = {
    **TRANSFER_KEYS,
    Remedied: "remedy sends_us receives_us low_us high_us saves cost times agrees",
    Remedy: "name byte_us message_us message_bytes own basis",
    Here: "rows parts then prices host",
    Again: "row load running",
}


def json_reproduction(told: Reproduction) -> str:
    """Everything, as one JSON object."""
    whole = {
        "bad": told.bad,
        "experiments": told.experiments,
        "wall_s": told.wall_s,
        "documents": [_document(again) for again in told.documents],
    }
    return json_document(whole, _KEYS)


def csv_reproduction(told: Reproduction) -> str:
    """A row for each printed figure, and for each total that follows from them."""
    entries = (entry for again in told.documents for entry in _entries(again))
    return csv_lines([COLUMNS, *([entry.get(column) for column in COLUMNS] for entry in entries)])


def _document(again: DocumentAgain) -> dict[str, Any]:
    told = again.document
    return {
        "name": told.name,
        "title": told.title,
        "by": told.by,
        "dated": told.dated,
        "figures": _entries(again),
        "further": {key: {"value": value.value, "how": value.how} for key, value in again.further.items()},
        "findings": [
            {
                "relation": found.relation.name,
                "degree": found.degree,
                "failures": len(found.failures),
                "of": len(found.relation.claims),
                "reading": found.reading,
                "figures": sorted({key for one in found.remaining for key in one.figures}),
                "suspects": [{"figure": one.figure, "corrected": float(one.corrected)} for one in found.suspects],
                "text": words.finding(found, told),
            }
            for found in again.findings
        ],
        "plots": [
            {"name": plot.name, "title": plot.title, "curves": {curve.name: curve.points for curve in plot.curves}}
            for plot in again.plots
        ],
        "remedies": again.remedies,
        "here": again.here,
    }


def _entries(again: DocumentAgain) -> list[dict[str, Any]]:
    name = again.document.name
    return [_figure(name, cell) for cell in again.cells.values()] + [_total(name, total) for total in again.totals]


def _figure(name: str, cell: Reproduced) -> dict[str, Any]:
    number, ours = cell.figure.number, cell.ours
    low, high = (None, None) if ours is None or ours.interval is None else ours.interval
    told = (
        name, cell.figure.id, cell.figure.line or None, cell.figure.label, cell.figure.text, cell.figure.unit,
        float(number.low), float(number.high), ours.value if ours else None, ours.high if ours else None,
        low, high, cell.ratio, ours.mark if ours else cell.rule.mark, cell.verdict,
        cell.rule.within.text if cell.rule.within else None, cell.rule.why, ours.how if ours else None,
        cell.corrected or None,
    )  # fmt: skip
    return dict(zip(COLUMNS, told, strict=True))


def _total(name: str, one: ReproducedTotal) -> dict[str, Any]:
    printed = None if math.isnan(one.printed) else one.printed
    rule = one.rule
    told = (
        name, one.total.id, None, one.total.label, "", one.total.unit, printed, printed, one.ours, None, None, None,
        one.ratio, rule.mark if rule else "follows", one.verdict if rule else "follows",
        rule.within.text if rule and rule.within else None, rule.why if rule else None, one.total.text, None,
    )  # fmt: skip
    return dict(zip(COLUMNS, told, strict=True))
