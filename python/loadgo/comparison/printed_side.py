"""A column of a published document as a side of a comparison: totals, and rows where the document has a table of them.

`[sides.NAME]` in a file of `published/` says what the column tells, in the words of `docs/published.md`. What is not
printed is not known. A cell that the document's other figures correct (two of its claims or more come right with it) is
taken corrected, and the side says so.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from fractions import Fraction
from typing import Any

import polars as pl

from loadgo.comparison.side import ROW_SCHEMA, Side
from loadgo.errors import BadArgument
from loadgo.measures.account import Account
from loadgo.published import catalogue, claims
from loadgo.published.consistency import find_contradictions
from loadgo.published.document import Document
from loadgo.published.failures import Numbers
from loadgo.published.finding import Finding

_MENDED = 2
"""Of so many claims that come right with it a corrected cell is taken for the printed one."""
_SECOND_NS = 1e9


def is_printed(asked: str) -> bool:
    """Whether `asked` names a column of a published document (`mpl-16:ctss`), or a document."""
    return asked.partition(":")[0] in catalogue.names()


def printed_side(asked: str) -> Side:
    """The side `DOCUMENT:NAME`; raises `ValueError` with the names there are."""
    name, _, column = asked.partition(":")
    sides = _sides(name)
    if column not in sides:
        known = ", ".join(f"{name}:{one}" for one in sides) or "none"
        raise BadArgument(f"{asked} is no side of a comparison; {name} has {known}")
    told = sides[column]
    document = catalogue.document(name)
    numbers, notes = _corrected(document)
    rows = _rows(document, told, numbers)
    account = _account(document, told, numbers) if "elapsed_s" in told else None
    return Side(
        name=asked,
        kind="printed",
        title=f"{told['title']} ({document.title})",
        rows=rows,
        accounts=() if account is None else (account,),
        conditions=_conditions(document, told.get("conditions", "")),
        lines=(),
        fault_source="as printed" if rows["page"].count() else "",
        document=name,
        notes=(*told.get("notes", ()), *_extrapolated(told), *_of_side(notes, told, document)),
    )


def _sides(name: str) -> dict[str, Any]:
    path = catalogue.DOCUMENTS_FOLDER / f"{name}.toml"
    told: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("sides", {})
    return told


def _extrapolated(told: dict[str, Any]) -> tuple[str, ...]:
    return (f"Extrapolated: {told['extrapolated']}.",) if "extrapolated" in told else ()


def _corrected(document: Document) -> tuple[Numbers, dict[str, str]]:
    """The document's numbers, misprints set right; and by figure what was set right, in words."""
    suspects = [
        suspect
        for finding in find_contradictions(document)
        for suspect in finding.suspects
        if suspect.mended >= _MENDED
    ]
    taken: dict[str, Fraction] = {}
    words: dict[str, str] = {}
    for suspect in sorted(suspects, key=lambda one: -one.mended):
        if suspect.figure not in taken:
            taken[suspect.figure] = suspect.corrected
            words[suspect.figure] = (
                f"{suspect.figure} is printed {suspect.printed}; {suspect.mended} of the document's own sums ask for "
                f"{suspect.text}, which is used."
            )
    return Numbers(document.figures, corrected=tuple(taken.items())), words


def _of_side(notes: dict[str, str], told: dict[str, Any], document: Document) -> list[str]:
    """The notes of those figures that the side uses."""
    rows = told.get("rows", {})
    columns = [rows[name] for name in ("cpu", "work", "page") if name in rows]
    patterns = [f"{document.name}/{rows['table']}/*/{column}" for column in columns] if rows else []
    text = str(told)
    patterns += [f"{document.name}/{cell}" for cell in re.findall(r"\{([^}+]+)\}", text)]
    return [words for figure, words in notes.items() if any(fnmatch.fnmatchcase(figure, one) for one in patterns)]


def _value(document: Document, expression: str | float, numbers: Numbers) -> float:
    if not isinstance(expression, str):
        return float(expression)

    def find(pattern: str) -> tuple[str, ...]:
        key = f"{document.name}/{pattern}"
        return (key,) if key in document.figures else ()

    found = claims.evaluate(claims.resolve(claims.parse_expression(expression), find), numbers.exact).low
    assert found is not None, f"{expression} of {document.name} has no value"
    return float(found)


def _rows(document: Document, told: dict[str, Any], numbers: Numbers) -> pl.DataFrame:
    """A row for each row of the table, in its passes; page faults where one has a time."""
    rows = told.get("rows")
    if rows is None:
        return pl.DataFrame(schema=ROW_SCHEMA)
    table = next(table for table in document.tables if table.name == rows["table"])
    fault_ns = _value(document, told["fault"], numbers) if "fault" in told else None
    found = []
    for number, group in enumerate(rows["passes"], start=1):
        for line, row in enumerate((row for row in table.rows if row.group == group), start=1):
            cells = {
                measure: _value(document, f"{{{table.name}/{row.name}/{rows[measure]}}}", numbers) * _SECOND_NS
                for measure in ("cpu", "work", "page")
                if measure in rows
            }
            if fault_ns and "page" in cells:
                cells["faults"] = cells["page"] / fault_ns
            place = {"run": 0, "seed": 0, "user": 1, "pass": number, "line": line, "extrapolated": False}
            found.append({**place, "command": re.sub(r"^\d+-", "", row.name), "moment": 0.0, **cells})
    return pl.DataFrame(found, schema=ROW_SCHEMA)


def _account(document: Document, told: dict[str, Any], numbers: Numbers) -> Account:
    def each(name: str, scale: float) -> dict[str, float]:
        return {key: _value(document, text, numbers) * scale for key, text in told.get(name, {}).items()}

    elapsed_ns = _value(document, told["elapsed_s"], numbers) * _SECOND_NS
    return Account(
        interactions=_value(document, told["interactions"], numbers),
        elapsed_ns=elapsed_ns,
        processors=float(told["processors"]),
        time_ns=each("time", elapsed_ns / 100),
        counts=each("counts", 1.0),
        used={"cpu": _value(document, told["cpu_s"], numbers) * _SECOND_NS} if "cpu_s" in told else {},
        charges=each("charges", 1.0),
        roads=each("roads", 1.0),
    )


def _conditions(document: Document, pattern: str) -> dict[str, str]:
    """The cells of a table of conditions, by their rows' labels."""
    if not pattern:
        return {}
    name, _, column = pattern.split("/")
    table = next(table for table in document.tables if table.name == name)
    place = next(at for at, one in enumerate(table.columns) if one.name == column)
    found: dict[str, str] = {}
    for row in table.rows:
        label = row.label.strip(" :") or row.name
        if row.cells[place].text:
            found[label] = row.cells[place].text
    return found


def findings_of(side: Side) -> tuple[Finding, ...]:
    """What the side's document says of its own numbers and they do not bear out; nothing of a run."""
    return find_contradictions(catalogue.document(side.document)) if side.document else ()
