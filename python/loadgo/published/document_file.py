"""Reads a file of `published/` into a document, and refuses an incomplete one (`docs/published.md`)."""

from __future__ import annotations

import csv
import fnmatch
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from loadgo.notation.toml_text import toml_table
from loadgo.published import claims
from loadgo.published.document import (
    Cause,
    CauseKind,
    Cell,
    Column,
    Document,
    Figure,
    Passage,
    Relation,
    Row,
    Rule,
    Table,
    Tolerance,
    Total,
    figures_of,
)
from loadgo.published.number import Number, read_number

FIGURE_MARKS = ("given", "fitted", "predicted", "not modelled")

_BRACES = re.compile(r"\{([^{}]*)\}")

DocumentToml = dict[str, Any]
FindCells = Callable[[str], tuple[str, ...]]
"""Returns the ids of the cells that match a pattern within the document."""


def read_document(path: Path) -> Document:
    """Reads the document in the file at `path`. Raises `ValueError` that names the mistake in the file."""
    try:
        return parse_document(toml_table(path.read_text(encoding="utf-8")), path.parent)
    except KeyError as mistake:
        raise ValueError(f"{path.name}: {mistake.args[0]!r} is missing") from mistake
    except ValueError as mistake:
        raise ValueError(f"{path.name}: {mistake}") from mistake


def parse_document(content: DocumentToml, folder: Path) -> Document:
    """Makes a document from the content of its file. `folder` holds the tables that have files of their own."""
    name = content["name"]
    tables = tuple(_table(name, table, folder) for table in content.get("tables", []))
    passages = tuple(_passage(name, passage) for passage in content.get("passages", []))
    ids = tuple(figure.id for figure in figures_of(tables, passages))

    def find(pattern: str) -> tuple[str, ...]:
        return _matching(f"{name}/{pattern}", tables, ids)

    derivations = content.get("derivations", [])
    document = Document(
        name=name,
        title=content["title"],
        by=content["by"],
        dated=content["dated"],
        about=content["about"],
        tables=tables,
        passages=passages,
        parts=_parts(content),
        relations=tuple(_relation(relation, tables, find) for relation in content.get("relations", [])),
        derivations=tuple(_relation({**entry, "name": "", "derives": True}, tables, find) for entry in derivations),
        totals=tuple(_total(name, total, find) for total in content.get("totals", [])),
        rules=tuple(_rule(name, rule) for rule in content.get("reproduce", [])),
        causes=tuple(cause for entry in content.get("causes", []) for cause in _causes(entry, find)),
        not_figures={number: int(entry[0]) for number, entry in content.get("not_figures", {}).items()},
        sides=content.get("sides", {}),
    )
    _check_rules(document)
    return document


def _matching(pattern: str, tables: tuple[Table, ...], ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids that match a pattern of a claim: `*` for anything, `@GROUP` for the rows of a group."""
    group = re.search(r"@([\w-]+)", pattern)
    if not group:
        return (pattern,) if pattern in ids else tuple(fnmatch.filter(ids, pattern))
    table = pattern.split("/")[1]
    rows = [row for candidate in tables if candidate.name == table for row in candidate.rows]
    in_group = [row for row in rows if row.group == group[1]]
    wanted = {pattern.replace(group[0], row.name) for row in in_group}
    return tuple(key for key in ids if key in wanted)


def _parts(content: DocumentToml) -> tuple[str, ...]:
    """Tables and passages by their lines. A table that has a file of its own comes last."""
    parts = [(table.get("line", 10**6), f"table {table['name']}") for table in content.get("tables", [])]
    parts += [(passage["line"], f"passage {passage['line']}") for passage in content.get("passages", [])]
    return tuple(part for _, part in sorted(parts, key=lambda entry: entry[0]))


@dataclass(frozen=True)
class _Heading:
    """The heading of a column or a row. A row has a unit only if the rows differ in unit."""

    name: str
    label: str
    unit: str
    holds_words: bool
    """Whether the cells hold words, so that a digit in them is no figure."""


def _table(document: str, table: DocumentToml, folder: Path) -> Table:
    columns = tuple(Column(c["name"], c.get("label", ""), c.get("over", "")) for c in table["columns"])
    headings = [
        _Heading(c["name"], c.get("label", ""), c.get("unit", table.get("unit", "")), bool(c.get("text")))
        for c in table["columns"]
    ]
    prefix = f"{document}/{table['name']}"
    rows = _csv_rows(table, folder) if "csv" in table else table["rows"]
    return Table(table["name"], table["title"], columns, tuple(_row(prefix, row, headings) for row in rows))


def _csv_rows(table: DocumentToml, folder: Path) -> list[DocumentToml]:
    """The rows of a table in a CSV file, numbered from 1: the lines that have the values of `where`."""
    with (folder / table["csv"]).open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if all(line[k] == v for k, v in table["where"].items())]
    fields = [column["field"] for column in table["columns"]]
    groups = table["groups"]
    return [
        {
            "name": f"{number:02}",
            "label": str(number),
            "line": 0,
            "group": groups[line[table["group_by"]]],
            "cells": [line[field] for field in fields],
        }
        for number, line in enumerate(lines, start=1)
    ]


def _row(prefix: str, row: DocumentToml, columns: list[_Heading]) -> Row:
    if len(row["cells"]) != len(columns):
        raise ValueError(f"row {row['name']} of {prefix} has {len(row['cells'])} cells for {len(columns)} columns")
    heading = _Heading(row["name"], row.get("label", ""), row.get("unit", ""), bool(row.get("text")))
    line = int(row.get("line", 0))
    cells = tuple(
        _cell(prefix, heading, column, (text, line)) for text, column in zip(row["cells"], columns, strict=True)
    )
    return Row(heading.name, heading.label, row.get("group", ""), cells)


def _cell(prefix: str, row: _Heading, column: _Heading, printed: tuple[str, int]) -> Cell:
    """A cell. Its number is the text in braces, or the whole text unless the row or column holds words."""
    text, line = printed
    braced = _BRACES.search(text)
    plain = _BRACES.sub(r"\1", text)
    if not braced and (row.holds_words or column.holds_words or not re.search(r"\d", text)):
        return Cell(plain)
    number_text = braced[1] if braced else text
    unit = row.unit or column.unit
    key = f"{prefix}/{row.name}/{column.name}"
    label = " · ".join(name.strip(" :") for name in (row.label, column.label) if name.strip())
    return Cell(plain, Figure(key, plain, _number(number_text, unit, key), unit, line, label))


def _number(text: str, unit: str, key: str) -> Number:
    try:
        return read_number(text, unit)
    except ValueError as mistake:
        raise ValueError(f"{key}: {mistake}") from mistake


def _passage(document: str, passage: DocumentToml) -> Passage:
    units = passage.get("units", {})
    figures = []
    for inside in _BRACES.findall(passage["text"]):
        name, _, text = inside.partition(":")
        key, unit = f"{document}/text/{name}", units.get(name, passage.get("unit", ""))
        label = passage.get("labels", {}).get(name, name.replace("-", " "))
        figures.append(Figure(key, text, _number(text, unit, key), unit, passage["line"], label))
    plain = _BRACES.sub(lambda match: match[1].partition(":")[2], passage["text"])
    return Passage(passage["line"], plain, tuple(figures))


def _relation(relation: DocumentToml, tables: tuple[Table, ...], find: FindCells) -> Relation:
    replacements = {name: _replacements(spec, tables) for name, spec in relation.items() if name.isupper()}
    resolved = []
    for combination in itertools.product(*replacements.values()):
        text = relation["claim"]
        for name, replacement in zip(replacements, combination, strict=True):
            text = text.replace(name, replacement)
        try:
            claim = claims.parse_claim(text)
            left, right = claims.resolve(claim.left, find), claims.resolve(claim.right, find)
        except ValueError as mistake:
            raise ValueError(f"relation {relation['name']}: {mistake}") from mistake
        resolved.append(claims.Claim(text, left, right, claim.comparison))
    return Relation(relation["name"], relation["says"], tuple(resolved), bool(relation.get("derives")))


def _replacements(spec: str | list[str], tables: tuple[Table, ...]) -> list[str]:
    """The texts that replace a placeholder: rows of a table (`TABLE/*`), of a group (`TABLE/@GROUP`), or a list.

    A list names rows with their table, as `TABLE/ROW`.
    """
    if isinstance(spec, list):
        return [path for entry in spec for path in (_paths(entry, tables) if "/" in entry else [entry])]
    table_name, _, row_pattern = spec.partition("/")
    rows = [row for table in tables if table.name == table_name for row in table.rows]
    names = [row.name for row in rows if row_pattern == "*" or row.group == row_pattern.removeprefix("@")]
    if not names:
        raise ValueError(f"there are no rows {spec!r}")
    return names


def _paths(spec: str, tables: tuple[Table, ...]) -> list[str]:
    table = spec.partition("/")[0]
    return [f"{table}/{row}" for row in _replacements(spec, tables)]


def _total(document: str, total: DocumentToml, find: FindCells) -> Total:
    expression = claims.resolve(claims.parse_expression(total["is"]), find)
    cells = tuple(cell for reference in claims.references(expression) for cell in reference.cells)
    return Total(
        f"{document}/totals/{total['name']}", total["label"], total.get("unit", ""), expression, total["is"], cells
    )


def _rule(document: str, rule: DocumentToml) -> Rule:
    if rule["mark"] not in FIGURE_MARKS:
        raise ValueError(f"mark {rule['mark']!r} is none of {', '.join(FIGURE_MARKS)}")
    within = parse_tolerance(rule["within"]) if "within" in rule else None
    if (rule["mark"] == "predicted") != (within is not None):
        raise ValueError(f"{rule['cells']}: a rule has a tolerance (`within`) exactly if its mark is `predicted`")
    return Rule(f"{document}/{rule['cells']}", rule["mark"], rule["why"], within)


def _causes(cause: DocumentToml, find: FindCells) -> list[Cause]:
    """A cause for each of its rows; `ROW` in the evidence stands for the row."""
    if cause["kind"] not in get_args(CauseKind):
        raise ValueError(f"kind {cause['kind']!r} of a cause is none of {', '.join(get_args(CauseKind))}")
    causes = []
    for row in cause["rows"]:
        cells: list[str] = []
        for column in cause["columns"]:
            matching = find(f"{row}/{column}")
            if not matching:
                raise ValueError(f"a cause names {row}/{column}, and the document has no such figure")
            cells += matching
        claim = claims.parse_claim(cause["evidence"].replace("ROW", row))
        if claim.comparison == "=":
            raise ValueError(f"the evidence {claim.text!r} must be an inequality, with <= or >=")
        left, right = claims.resolve(claim.left, find), claims.resolve(claim.right, find)
        causes.append(
            Cause(cause["kind"], cause["says"], tuple(cells), claims.Claim(claim.text, left, right, claim.comparison))
        )
    return causes


def parse_tolerance(text: str) -> Tolerance:
    """Parses a tolerance: `5 %`, `factor 1.5`, `0.3 points`, `rounding`, or several, of which the widest counts.

    Raises `ValueError`.
    """
    relative, factor, absolute = 0.0, 1.0, 0.0
    for term in text.split(","):
        match = re.fullmatch(r"\s*(?:([\d.]+) %|factor ([\d.]+)|([\d.]+) points|rounding)\s*", term)
        if not match:
            raise ValueError(f"{term!r} is no tolerance: write 5 %, factor 1.5, 0.3 points or rounding")
        relative = float(match[1] or 0) / 100 or relative
        factor = float(match[2] or 1) if match[2] else factor
        absolute = float(match[3] or 0) or absolute
    return Tolerance(text, relative, factor, absolute)


def _check_rules(document: Document) -> None:
    """Checks that every figure has a rule, and that no two figures have the same id."""
    ids = [figure.id for figure in figures_of(document.tables, document.passages)]
    for key in ids:
        if not any(fnmatch.fnmatchcase(key, rule.cells) for rule in document.rules):
            raise ValueError(f"no rule of [[reproduce]] matches {key}")
        if ids.count(key) > 1:
            raise ValueError(f"two figures have the key {key}")
