"""Reads a file of `published/` into a document, and refuses one that is not whole (`docs/published.md`)."""

from __future__ import annotations

import csv
import fnmatch
import itertools
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.published import claims
from loadgo.published.document import (
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
from loadgo.published.number import read_number

MARKS = ("given", "fitted", "predicted", "not modelled")

_BRACES = re.compile(r"\{([^{}]*)\}")

Told = dict[str, Any]
Find = Callable[[str], tuple[str, ...]]
"""The ids that a pattern within the document stands for."""


def read(path: Path) -> Document:
    """The document in the file at `path`; raises `ValueError` in words for what is wrong in it."""
    try:
        return parse(tomllib.loads(path.read_text(encoding="utf-8")), path.parent)
    except KeyError as mistake:
        raise ValueError(f"{path.name}: {mistake.args[0]!r} is missing") from mistake
    except ValueError as mistake:
        raise ValueError(f"{path.name}: {mistake}") from mistake


def parse(told: Told, folder: Path) -> Document:
    """The document that the file's content tells; `folder` holds the tables that are files of their own."""
    name = told["name"]
    tables = tuple(_table(name, table, folder) for table in told.get("tables", []))
    passages = tuple(_passage(name, passage) for passage in told.get("passages", []))
    ids = tuple(figure.id for figure in figures_of(tables, passages))

    def find(pattern: str) -> tuple[str, ...]:
        return _matching(f"{name}/{pattern}", tables, ids)

    derivations = told.get("derivations", [])
    document = Document(
        name=name,
        title=told["title"],
        by=told["by"],
        dated=told["dated"],
        about=told["about"],
        tables=tables,
        passages=passages,
        parts=_parts(told),
        relations=tuple(_relation(relation, tables, find) for relation in told.get("relations", [])),
        derivations=tuple(_relation({**told, "name": "", "derives": True}, tables, find) for told in derivations),
        totals=tuple(_total(name, total, find) for total in told.get("totals", [])),
        rules=tuple(_rule(name, rule) for rule in told.get("reproduce", [])),
        not_figures={number: int(entry[0]) for number, entry in told.get("not_figures", {}).items()},
    )
    _check(document)
    return document


def _matching(pattern: str, tables: tuple[Table, ...], ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids that match a pattern of a claim: `*` for anything, `@GROUP` for the rows of a group."""
    group = re.search(r"@([\w-]+)", pattern)
    if not group:
        return (pattern,) if pattern in ids else tuple(fnmatch.filter(ids, pattern))
    table = pattern.split("/")[1]
    rows = [row.name for found in tables if found.name == table for row in found.rows if row.group == group[1]]
    wanted = {pattern.replace(group[0], row) for row in rows}
    return tuple(key for key in ids if key in wanted)


def _parts(told: Told) -> tuple[str, ...]:
    """Tables and passages by their lines; a table that is a file of its own comes last."""
    found = [(table.get("line", 10**6), f"table {table['name']}") for table in told.get("tables", [])]
    found += [(passage["line"], f"passage {passage['line']}") for passage in told.get("passages", [])]
    return tuple(part for _, part in sorted(found, key=lambda entry: entry[0]))


@dataclass(frozen=True)
class _Heading:
    """What a table says of a column, or of a row where its rows differ in kind."""

    name: str
    label: str
    unit: str
    text: bool


def _table(document: str, told: Told, folder: Path) -> Table:
    columns = tuple(Column(c["name"], c.get("label", ""), c.get("over", "")) for c in told["columns"])
    headings = [
        _Heading(c["name"], c.get("label", ""), c.get("unit", told.get("unit", "")), bool(c.get("text")))
        for c in told["columns"]
    ]
    at = f"{document}/{told['name']}"
    rows = _csv_rows(told, folder) if "csv" in told else told["rows"]
    return Table(told["name"], told["title"], columns, tuple(_row(at, row, headings) for row in rows))


def _csv_rows(told: Told, folder: Path) -> list[Told]:
    """The rows of a table that is a file: those where the columns of `where` hold what it says, numbered from 1."""
    with (folder / told["csv"]).open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if all(line[k] == v for k, v in told["where"].items())]
    fields = [column["field"] for column in told["columns"]]
    groups = told["groups"]
    return [
        {
            "name": f"{number:02}",
            "label": str(number),
            "line": 0,
            "group": groups[line[told["group_by"]]],
            "cells": [line[field] for field in fields],
        }
        for number, line in enumerate(lines, start=1)
    ]


def _row(at: str, told: Told, headings: list[_Heading]) -> Row:
    if len(told["cells"]) != len(headings):
        raise ValueError(f"row {told['name']} of {at} has {len(told['cells'])} cells for {len(headings)} columns")
    own = _Heading(told["name"], told.get("label", ""), told.get("unit", ""), bool(told.get("text")))
    line = int(told.get("line", 0))
    cells = tuple(_cell(at, own, head, (text, line)) for text, head in zip(told["cells"], headings, strict=True))
    return Row(own.name, own.label, told.get("group", ""), cells)


def _cell(at: str, row: _Heading, column: _Heading, printed: tuple[str, int]) -> Cell:
    """A cell; its number is what stands in braces, or all of it unless the row or column is of text."""
    text, line = printed
    braced = _BRACES.search(text)
    plain = _BRACES.sub(r"\1", text)
    if not braced and (row.text or column.text or not re.search(r"\d", text)):
        return Cell(plain)
    shown = braced[1] if braced else text
    unit = row.unit or column.unit
    key = f"{at}/{row.name}/{column.name}"
    label = " · ".join(part.strip(" :") for part in (row.label, column.label) if part.strip())
    return Cell(plain, Figure(key, plain, _number(shown, unit, key), unit, line, label))


def _number(text: str, unit: str, key: str) -> Any:
    try:
        return read_number(text, unit)
    except ValueError as mistake:
        raise ValueError(f"{key}: {mistake}") from mistake


def _passage(document: str, told: Told) -> Passage:
    units = told.get("units", {})
    figures = []
    for inside in _BRACES.findall(told["text"]):
        name, _, text = inside.partition(":")
        key, unit = f"{document}/text/{name}", units.get(name, told.get("unit", ""))
        label = told.get("labels", {}).get(name, name.replace("-", " "))
        figures.append(Figure(key, text, _number(text, unit, key), unit, told["line"], label))
    plain = _BRACES.sub(lambda found: found[1].partition(":")[2], told["text"])
    return Passage(told["line"], plain, tuple(figures))


def _relation(told: Told, tables: tuple[Table, ...], find: Find) -> Relation:
    places = {name: _values(value, tables) for name, value in told.items() if name.isupper()}
    said = []
    for chosen in itertools.product(*places.values()):
        text = told["claim"]
        for name, value in zip(places, chosen, strict=True):
            text = text.replace(name, value)
        claim = claims.parse(text)
        left, right = claims.resolve(claim.left, find), claims.resolve(claim.right, find)
        said.append(claims.Claim(text, left, right, claim.comparison))
    return Relation(told["name"], told["says"], tuple(said), bool(told.get("derives")))


def _values(value: str | list[str], tables: tuple[Table, ...]) -> list[str]:
    """What a placeholder stands for: the rows of a table (`TABLE/*`) or of a group in it (`TABLE/@GROUP`), or a list;
    in a list, rows are given with their table, as `TABLE/ROW`.
    """
    if isinstance(value, list):
        return [found for part in value for found in (_paths(part, tables) if "/" in part else [part])]
    table, _, rows = value.partition("/")
    found = [row for known in tables if known.name == table for row in known.rows]
    names = [row.name for row in found if rows == "*" or row.group == rows.removeprefix("@")]
    if not names:
        raise ValueError(f"there are no rows {value!r}")
    return names


def _paths(value: str, tables: tuple[Table, ...]) -> list[str]:
    table = value.partition("/")[0]
    return [f"{table}/{row}" for row in _values(value, tables)]


def _total(document: str, told: Told, find: Find) -> Total:
    expression = claims.resolve(claims.parse_expression(told["is"]), find)
    cells = tuple(cell for part in claims.references(expression) for cell in part.cells)
    return Total(
        f"{document}/totals/{told['name']}", told["label"], told.get("unit", ""), expression, told["is"], cells
    )


def _rule(document: str, told: Told) -> Rule:
    if told["mark"] not in MARKS:
        raise ValueError(f"mark {told['mark']!r} is none of {', '.join(MARKS)}")
    within = tolerance(told["within"]) if "within" in told else None
    if (told["mark"] == "predicted") != (within is not None):
        raise ValueError(f"{told['cells']}: what is predicted, and nothing else, has a tolerance (`within`)")
    return Rule(f"{document}/{told['cells']}", told["mark"], told["why"], within)


def tolerance(text: str) -> Tolerance:
    """The tolerance in words: `5 %`, `factor 1.5`, `0.3 points`, `rounding`, or several, of which the widest counts.

    Raises `ValueError`.
    """
    relative, factor, absolute = 0.0, 1.0, 0.0
    for part in text.split(","):
        found = re.fullmatch(r"\s*(?:([\d.]+) %|factor ([\d.]+)|([\d.]+) points|rounding)\s*", part)
        if not found:
            raise ValueError(f"{part!r} is no tolerance: write 5 %, factor 1.5, 0.3 points or rounding")
        relative = float(found[1] or 0) / 100 or relative
        factor = float(found[2] or 1) if found[2] else factor
        absolute = float(found[3] or 0) or absolute
    return Tolerance(text, relative, factor, absolute)


def _check(document: Document) -> None:
    """Every figure has a rule, and no id stands for two figures."""
    ids = [figure.id for figure in figures_of(document.tables, document.passages)]
    for key in ids:
        if not any(fnmatch.fnmatchcase(key, rule.cells) for rule in document.rules):
            raise ValueError(f"no rule says what is to become of {key}")
        if ids.count(key) > 1:
            raise ValueError(f"two figures have the key {key}")
