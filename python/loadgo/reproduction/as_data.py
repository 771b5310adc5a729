"""A reproduction as JSON, and the rows of its CSV: one entry for each figure, with all of its facts."""

from __future__ import annotations

import math
from typing import Any

from loadgo.documents.as_json import Keys, json_document
from loadgo.reproduction import words
from loadgo.reproduction.finding_words import finding_lines
from loadgo.reproduction.models.rfc_392_here import LocalTransfers, RepeatedTransfer
from loadgo.reproduction.models.rfc_392_remedies import Remedy, RemedyCost
from loadgo.reproduction.reproduce import ReproducedDocument, ReproducedFigure, ReproducedTotal, Reproduction
from loadgo.transfers.json_keys import JSON_KEYS as TRANSFER_KEYS

CSV_COLUMNS = (
    "document", "id", "line", "label", "printed", "unit", "printed_low", "printed_high", "ours", "ours_high",
    "interval_low", "interval_high", "ratio", "mark", "verdict", "tolerance", "why", "how", "corrected",
    "one_run_low", "one_run_high", "cause", "cause_kind",
)  # fmt: skip
"""Columns of the CSV and keys of the JSON. Numbers are in `unit`; a date is a day's ordinal from 1 January 1."""

JSON_KEYS: Keys = {
    **TRANSFER_KEYS,
    RemedyCost: "remedy sends_us receives_us low_us high_us saves cost times agrees",
    Remedy: "name byte_us message_us message_bytes own basis",
    LocalTransfers: "rows parts then prices host",
    RepeatedTransfer: "row load running",
}


def json_reproduction(reproduction: Reproduction) -> str:
    """The reproduction as one JSON object."""
    content = {
        "answer": words.answer(reproduction),
        "bad": reproduction.bad,
        "experiments": reproduction.experiments,
        "wall_s": reproduction.wall_s,
        "documents": [_document_keys(reproduced) for reproduced in reproduction.documents],
    }
    return json_document(content, JSON_KEYS)


def figure_entries(reproduction: Reproduction) -> list[dict[str, Any]]:
    """The rows of the CSV, by column: one for each printed figure, and for each total that follows from them."""
    return [entry for reproduced in reproduction.documents for entry in _entries(reproduced)]


def _document_keys(reproduced: ReproducedDocument) -> dict[str, Any]:
    document = reproduced.document
    return {
        "name": document.name,
        "title": document.title,
        "by": document.by,
        "dated": document.dated,
        "answer": words.document_answer(reproduced),
        "figures": _entries(reproduced),
        "further": {key: {"value": value.value, "how": value.how} for key, value in reproduced.further.items()},
        "findings": [
            {
                "relation": finding.relation.name,
                "degree": finding.degree,
                "failures": len(finding.failures),
                "of": len(finding.relation.claims),
                "reading": finding.reading,
                "figures": sorted({key for failure in finding.remaining for key in failure.figures}),
                "suspects": [
                    {"figure": suspect.figure, "corrected": float(suspect.corrected)} for suspect in finding.suspects
                ],
                "text": finding_lines(finding, document),
            }
            for finding in reproduced.findings
        ],
        "plots": [
            {"name": plot.name, "title": plot.title, "curves": {curve.name: curve.points for curve in plot.curves}}
            for plot in reproduced.plots
        ],
        "remedies": reproduced.remedies,
        "here": reproduced.here,
    }


def _entries(reproduced: ReproducedDocument) -> list[dict[str, Any]]:
    name = reproduced.document.name
    return [_figure_entry(name, cell) for cell in reproduced.cells.values()] + [
        _total_entry(name, total) for total in reproduced.totals
    ]


def _figure_entry(name: str, cell: ReproducedFigure) -> dict[str, Any]:
    number, ours = cell.figure.number, cell.ours
    low, high = (None, None) if ours is None or ours.interval is None else ours.interval
    one_run_low, one_run_high = (None, None) if ours is None or ours.one_run is None else ours.one_run
    cause, cause_kind = (None, None) if cell.cause is None else (cell.cause.says, cell.cause.kind)
    values = (
        name, cell.figure.id, cell.figure.line or None, cell.figure.label, cell.figure.text, cell.figure.unit,
        float(number.low), float(number.high), ours.value if ours else None, ours.high if ours else None,
        low, high, cell.ratio, ours.mark if ours else cell.rule.mark, cell.verdict,
        cell.rule.within.text if cell.rule.within else None, cell.rule.why, ours.how if ours else None,
        cell.corrected or None, one_run_low, one_run_high, cause, cause_kind,
    )  # fmt: skip
    return dict(zip(CSV_COLUMNS, values, strict=True))


def _total_entry(name: str, total: ReproducedTotal) -> dict[str, Any]:
    printed = None if math.isnan(total.printed) else total.printed
    rule = total.rule
    values = (
        name, total.total.id, None, total.total.label, "", total.total.unit, printed, printed, total.ours,
        None, None, None, total.ratio, rule.mark if rule else "follows", total.verdict if rule else "follows",
        rule.within.text if rule and rule.within else None, rule.why if rule else None, total.total.text, None,
        None, None, None, None,
    )  # fmt: skip
    return dict(zip(CSV_COLUMNS, values, strict=True))
