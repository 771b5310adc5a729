"""A column of a published document as a side of a comparison: totals, and rows if the document has a table of them.

`[sides.NAME]` in a file of `published/` describes the column; `docs/published.md` has its keys. Figures that are not
printed are unknown. A misprinted cell is corrected if at least two of the document's claims hold with the correction.
The side has a note about each correction.
"""

from __future__ import annotations

import fnmatch
import re
from fractions import Fraction
from typing import Any

import polars as pl

from loadgo.comparison.side import ROW_SCHEMA, Side
from loadgo.errors import BadArgument
from loadgo.measures.account import RunAccount
from loadgo.notation.toml_text import toml_table
from loadgo.published import catalogue, claims
from loadgo.published.consistency import find_contradictions
from loadgo.published.document import Document
from loadgo.published.failures import Numbers
from loadgo.published.finding import Finding

EXTRAPOLATION_WORD = "Extrapolated"
"""The first word of the note that a part of a printed column is extrapolated."""
_CLAIMS_FOR_CORRECTION = 2
"""Fewest claims that must hold with a corrected cell before it replaces the printed one."""
_SECOND_NS = 1e9
_CLOCK_CONDITIONS = {"date": "date", "clock time": "time of day"}
"""Names of printed conditions by unit: one document has the label `Time:` at its dates."""


def is_printed(side_name: str) -> bool:
    """Whether `side_name` names a column of a published document (`mpl-16:ctss`), or a document."""
    return catalogue.is_document(side_name.partition(":")[0])


def printed_side(side_name: str) -> Side:
    """The side `DOCUMENT:NAME`. Raises `ValueError` with the document's sides for an unknown name."""
    name, _, column = side_name.partition(":")
    sides = _sides(name)
    if column not in sides:
        known_names = ", ".join(f"{name}:{known}" for known in sides) or "none"
        raise BadArgument(f"{side_name} is no side of a comparison; {name} has {known_names}")
    section = sides[column]
    document = catalogue.document(name)
    numbers, notes = _corrected(document)
    rows = _rows(document, section, numbers)
    account = _account(document, section, numbers) if "elapsed_s" in section else None
    return Side(
        name=side_name,
        kind="printed",
        title=f"{section['title']} ({document.title})",
        rows=rows,
        accounts=() if account is None else (account,),
        conditions=_conditions(document, section.get("conditions", "")),
        lines=(),
        fault_source="as printed" if rows["page"].count() else "",
        document=name,
        notes=(*section.get("notes", ()), *_extrapolated(section), *_used_corrections(notes, section, document)),
    )


def _sides(name: str) -> dict[str, Any]:
    path = catalogue.DOCUMENTS_FOLDER / f"{name}.toml"
    sides: dict[str, Any] = toml_table(path.read_text(encoding="utf-8")).get("sides", {})
    return sides


def _extrapolated(section: dict[str, Any]) -> tuple[str, ...]:
    return (f"{EXTRAPOLATION_WORD}: {section['extrapolated']}.",) if "extrapolated" in section else ()


def _corrected(document: Document) -> tuple[Numbers, dict[str, str]]:
    """The document's numbers with misprints corrected, and a note for each corrected figure."""
    suspects = [
        suspect
        for finding in find_contradictions(document)
        for suspect in finding.suspects
        if suspect.mended >= _CLAIMS_FOR_CORRECTION
    ]
    corrections: dict[str, Fraction] = {}
    notes: dict[str, str] = {}
    for suspect in sorted(suspects, key=lambda suspect: -suspect.mended):
        if suspect.figure not in corrections:
            corrections[suspect.figure] = suspect.corrected
            notes[suspect.figure] = (
                f"{suspect.figure} is printed {suspect.printed}; {suspect.mended} of the document's own sums ask for "
                f"{suspect.text}, which is used."
            )
    return Numbers(document.figures, corrected=tuple(corrections.items())), notes


def _used_corrections(notes: dict[str, str], section: dict[str, Any], document: Document) -> list[str]:
    """The notes of the corrected figures that the side uses."""
    rows = section.get("rows", {})
    columns = [rows[name] for name in ("cpu", "work", "page") if name in rows]
    patterns = [f"{document.name}/{rows['table']}/*/{column}" for column in columns] if rows else []
    patterns += [f"{document.name}/{cell}" for cell in re.findall(r"\{([^}+]+)\}", str(section))]
    return [note for figure, note in notes.items() if any(fnmatch.fnmatchcase(figure, pattern) for pattern in patterns)]


def _value(document: Document, expression: str | float, numbers: Numbers) -> float:
    if not isinstance(expression, str):
        return float(expression)

    def find(pattern: str) -> tuple[str, ...]:
        key = f"{document.name}/{pattern}"
        return (key,) if key in document.figures else ()

    value = claims.evaluate(claims.resolve(claims.parse_expression(expression), find), numbers.exact).low
    assert value is not None, f"{expression} of {document.name} has no value"
    return float(value)


def _rows(document: Document, section: dict[str, Any], numbers: Numbers) -> pl.DataFrame:
    """The interactions of the printed table, pass by pass, with page faults if the document has the time of a fault."""
    rows = section.get("rows")
    if rows is None:
        return pl.DataFrame(schema=ROW_SCHEMA)
    table = next(table for table in document.tables if table.name == rows["table"])
    fault_ns = _value(document, section["fault"], numbers) if "fault" in section else None
    interactions = []
    for number, group in enumerate(rows["passes"], start=1):
        for line, row in enumerate((row for row in table.rows if row.group == group), start=1):
            cells = {
                measure: _value(document, f"{{{table.name}/{row.name}/{rows[measure]}}}", numbers) * _SECOND_NS
                for measure in ("cpu", "work", "page")
                if measure in rows
            }
            if fault_ns and "page" in cells:
                cells["faults"] = cells["page"] / fault_ns
            key = {"run": 0, "seed": 0, "user": 1, "pass": number, "line": line, "extrapolated": False}
            interactions.append({**key, "command": re.sub(r"^\d+-", "", row.name), "moment": 0.0, **cells})
    return pl.DataFrame(interactions, schema=ROW_SCHEMA)


def _account(document: Document, section: dict[str, Any], numbers: Numbers) -> RunAccount:
    def scaled(name: str, scale: float) -> dict[str, float]:
        return {key: _value(document, text, numbers) * scale for key, text in section.get(name, {}).items()}

    elapsed_ns = _value(document, section["elapsed_s"], numbers) * _SECOND_NS
    return RunAccount(
        interactions=_value(document, section["interactions"], numbers),
        elapsed_ns=elapsed_ns,
        processors=float(section["processors"]),
        time_ns=scaled("time", elapsed_ns / 100),
        counts=scaled("counts", 1.0),
        used={"cpu": _value(document, section["cpu_s"], numbers) * _SECOND_NS} if "cpu_s" in section else {},
        charges=scaled("charges", 1.0),
        roads=scaled("roads", 1.0),
    )


def _conditions(document: Document, pattern: str) -> dict[str, str]:
    """The cells of a table of conditions, by their rows' labels. Dates and times of day have names of their own."""
    if not pattern:
        return {}
    name, _, column = pattern.split("/")
    table = next(table for table in document.tables if table.name == name)
    index = next(index for index, printed in enumerate(table.columns) if printed.name == column)
    conditions: dict[str, str] = {}
    for row in table.rows:
        cell = row.cells[index]
        unit = "" if cell.figure is None else cell.figure.unit
        if cell.text:
            conditions[_CLOCK_CONDITIONS.get(unit) or row.label.strip(" :") or row.name.replace("-", " ")] = cell.text
    return conditions


def findings_of(side: Side) -> tuple[Finding, ...]:
    """The contradictions in the side's document. Empty for a run."""
    return find_contradictions(catalogue.document(side.document)) if side.document else ()
