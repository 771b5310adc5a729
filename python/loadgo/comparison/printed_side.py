"""A printed column as a side of a comparison: totals, and rows if the document has a table of them.

The document is a bundled one, or a user's own file. `[sides.NAME]` describes the column; `docs/published.md` has its
keys. Figures that are not printed are unknown. A misprinted cell is corrected if at least two of the document's claims
hold with the correction. The side has a note about each correction.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from loadgo.comparison.side import ROW_SCHEMA, Side
from loadgo.errors import BadArgument, BadRun
from loadgo.measures.account import RunAccount
from loadgo.notation.terms import CATEGORY_TERMS
from loadgo.published import catalogue
from loadgo.published.consistency import find_contradictions
from loadgo.published.document import Document
from loadgo.published.failures import Numbers
from loadgo.published.finding import Finding
from loadgo.published.own_file import read_own_document
from loadgo.published.side_values import part_names, value_of
from loadgo.records.runs import find_run

EXTRAPOLATION_WORD = "Extrapolated"
"""The first word of the note that a part of a printed column is extrapolated."""
_CLAIMS_FOR_CORRECTION = 2
"""Fewest claims that must hold with a corrected cell before it replaces the printed one."""
_SECOND_NS = 1e9
_STORED_NAMES = {term.name: name for name, term in CATEGORY_TERMS.items()}
"""The names of categories in tables by those on pages: a user's file may have either."""
_COMPARABLE_KEYS = ("cpu_s", "elapsed_s", "counts", "charges")
"""Keys of a side of which one, beside the interactions, is enough for a comparison."""
_CLOCK_CONDITIONS = {"date": "date", "clock time": "time of day"}
"""Names of printed conditions by unit: one document has the label `Time:` at its dates."""


def is_printed(side_name: str) -> bool:
    """Whether `side_name` names a column of a published document (`mpl-16:ctss`), a document, or a user's own file."""
    return catalogue.is_document(side_name.partition(":")[0]) or own_file_of(side_name) is not None


def own_file_of(side_name: str) -> tuple[Path, str] | None:
    """The path and the side in `FILE.toml` or `FILE.toml:SIDE`; the side is empty if it is not named.

    None for all other names, and for those of runs that end so.
    """
    stem, ending, suffix = side_name.rpartition(".toml")
    if not ending or (suffix and not suffix.startswith(":")):
        return None
    path = Path(stem + ending)
    if path.is_dir() or Path(side_name).is_dir():
        return None
    try:
        is_run = find_run(side_name).name == Path(side_name).name or not path.exists()
    except BadRun:
        is_run = False
    return None if is_run else (path, suffix.removeprefix(":"))


def printed_side(side_name: str) -> Side:
    """The side `DOCUMENT:NAME`, `FILE.toml` or `FILE.toml:NAME`.

    Raises `BadArgument` with the document's sides for an unknown name, and `Mistake` for a file that is no document.
    """
    file_and_column = own_file_of(side_name)
    if file_and_column is None:
        name, _, column = side_name.partition(":")
        document = catalogue.document(name)
        section = _section(side_name, name, column, document.sides)
        return replace(_side(document, column, section), name=side_name)
    path, column = file_and_column
    document = read_own_document(path)
    column = column or _only_side(document)
    section = _section(side_name, path.name, column, document.sides)
    name = path.name if len(document.sides) == 1 else f"{path.name}:{column}"
    return replace(_side(document, column, section), name=name)


def _section(side_name: str, name: str, column: str, sides: Mapping[str, Any]) -> Mapping[str, Any]:
    """The section of a side. Raises `BadArgument` with the names of all sides."""
    if column not in sides:
        known_names = ", ".join(f"{name}:{known}" for known in sides) or "none"
        raise BadArgument(f"{side_name} is no side of a comparison; {name} has {known_names}")
    section: Mapping[str, Any] = sides[column]
    return section


def _only_side(document: Document) -> str:
    """The side of a user's file that has one. Raises `BadArgument` for another number of sides."""
    names = list(document.sides)
    if not names:
        raise BadArgument(
            f"{document.path} has no side to compare: write [sides.before], with interactions = 4420 and cpu_s = 14213"
        )
    if len(names) > 1:
        named = ", ".join(f"{document.path}:{name}" for name in names)
        raise BadArgument(f"{document.path} has several sides: name one, {named}")
    return names[0]


def _side(document: Document, name: str, section: Mapping[str, Any]) -> Side:
    numbers, notes = _corrected(document)
    rows = _rows(document, section, numbers)
    account = _account(document, section, numbers)
    if account is None and rows.is_empty():
        needs = f"it needs interactions, and {' or '.join(_COMPARABLE_KEYS)}"
        raise BadArgument(f"{document.spec}: [sides.{name}] cannot be compared: {needs}")
    return Side(
        name=name,
        kind="printed",
        title=_title(document, name, section),
        rows=rows,
        accounts=() if account is None else (account,),
        conditions=_conditions(document, section.get("conditions", "")),
        lines=(),
        fault_source="as printed" if rows["page"].count() else "",
        document=document,
        notes=(
            *section.get("notes", ()),
            *([f"{EXTRAPOLATION_WORD}: {section['extrapolated']}."] if "extrapolated" in section else ()),
            *_unscaled(section),
            *_used_corrections(notes, section, document),
        ),
        currency=section.get("currency", ""),
    )


def _title(document: Document, name: str, section: Mapping[str, Any]) -> str:
    """The titles of the side and of its document, as far as they have any."""
    own = section.get("title", "")
    if document.title == document.name:
        return own or name
    return f"{own} ({document.title})" if own else document.title


def _unscaled(section: Mapping[str, Any]) -> tuple[str, ...]:
    """The note that the table of total time is in no comparison, for want of the time that it is a part of."""
    missing = [key for key in ("elapsed_s", "processors") if key not in section]
    if "time" not in section or not missing:
        return ()
    return (
        f"Its total time table is checked and not compared: without {' and '.join(missing)} its shares cannot be "
        "turned into seconds.",
    )


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


def _used_corrections(notes: dict[str, str], section: Mapping[str, Any], document: Document) -> list[str]:
    """The notes of the corrected figures that the side uses."""
    rows = section.get("rows", {})
    columns = [rows[name] for name in ("cpu", "work", "page") if name in rows]
    patterns = [f"{document.name}/{rows['table']}/*/{column}" for column in columns] if rows else []
    patterns += [f"{document.name}/{cell}" for cell in re.findall(r"\{([^}+]+)\}", str(section))]
    return [note for figure, note in notes.items() if any(fnmatch.fnmatchcase(figure, pattern) for pattern in patterns)]


def _rows(document: Document, section: Mapping[str, Any], numbers: Numbers) -> pl.DataFrame:
    """The interactions of the printed table, pass by pass, with page faults if the document has the time of a fault."""
    rows = section.get("rows")
    if rows is None:
        return pl.DataFrame(schema=ROW_SCHEMA)
    table = next(table for table in document.tables if table.name == rows["table"])
    fault_ns = value_of(document, section["fault"], numbers) if "fault" in section else None
    interactions = []
    for number, group in enumerate(rows["passes"], start=1):
        for line, row in enumerate((row for row in table.rows if row.group == group), start=1):
            cells = {
                measure: value_of(document, f"{{{table.name}/{row.name}/{rows[measure]}}}", numbers) * _SECOND_NS
                for measure in ("cpu", "work", "page")
                if measure in rows
            }
            if fault_ns and "page" in cells:
                cells["faults"] = cells["page"] / fault_ns
            key = {"run": 0, "seed": 0, "user": 1, "pass": number, "line": line, "extrapolated": False}
            interactions.append({**key, "command": re.sub(r"^\d+-", "", row.name), "moment": 0.0, **cells})
    return pl.DataFrame(interactions, schema=ROW_SCHEMA)


def _account(document: Document, section: Mapping[str, Any], numbers: Numbers) -> RunAccount | None:
    """The sums of the column. None if it has no number of interactions, or nothing to divide by it."""
    if "interactions" not in section or not any(key in section for key in _COMPARABLE_KEYS):
        return None

    def amount(key: str) -> float | None:
        return value_of(document, section[key], numbers) if key in section else None

    def amounts(name: str) -> dict[str, float]:
        return {key: value_of(document, text, numbers) for key, text in section.get(name, {}).items()}

    elapsed_s, processors, cpu_s = amount("elapsed_s"), amount("processors"), amount("cpu_s")
    shares = amounts("time") if elapsed_s and processors else {}
    percent_ns = (elapsed_s or 0.0) * (processors or 0.0) * _SECOND_NS / 100
    return RunAccount(
        interactions=value_of(document, section["interactions"], numbers),
        elapsed_ns=None if elapsed_s is None else elapsed_s * _SECOND_NS,
        processors=processors,
        time_ns=_by_stored_name({name: shares[name] * percent_ns for name in part_names(shares)}),
        counts=_by_stored_name(amounts("counts")),
        used={} if cpu_s is None else {"cpu": cpu_s * _SECOND_NS},
        charges=amounts("charges"),
        currency=section.get("currency", "$"),
        roads=amounts("roads"),
    )


def _by_stored_name(amounts: Mapping[str, float]) -> dict[str, float]:
    """The amounts by the names of categories in tables."""
    by_name: dict[str, float] = {}
    for name, amount in amounts.items():
        stored = _STORED_NAMES.get(name, name)
        by_name[stored] = by_name.get(stored, 0.0) + amount
    return by_name


def _conditions(document: Document, pattern: str | Mapping[str, Any]) -> dict[str, str]:
    """The cells of a table of conditions, by their rows' labels; or those that stand in the side itself.

    Dates and times of day have names of their own.
    """
    if not pattern:
        return {}
    if isinstance(pattern, Mapping):
        return {name: str(value) for name, value in pattern.items()}
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
    return find_contradictions(side.document) if side.document else ()
