"""The sides of a user's own document, in which numbers may stand without a table.

Each number of a side becomes a figure of the table `sides`, and the side refers to it: `cpu_s = 14213` in
`[sides.before]` is the figure `sides/cpu_s/before`. So sides are read, checked and corrected as those of a bundled
document are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from loadgo.published import claims
from loadgo.published.document import Document
from loadgo.published.failures import Numbers
from loadgo.published.own_text import AMOUNT_KEYS, NUMBER_EXAMPLE, OwnText, toml_value
from loadgo.published.side_values import value_of

SIDES_TABLE = "sides"
"""The table of the numbers that stand in sides."""
_LABELS = {
    "interactions": "interactions",
    "elapsed_s": "elapsed time, s",
    "cpu_s": "processor time, s",
    "fault": "processor time of a page fault, ns",
}
"""The amounts of a side, each with its label. The number of processors is one more, and is exact."""
_GROUP_LABELS = {"time": "{}, % of all time", "counts": "{}, number", "charges": "charge, {}", "roads": "{}, s"}
"""The tables of amounts in a side, each with the label of its rows."""
_ROWS_KEYS = ("table", "passes", "cpu", "work", "page")
_WORDS_KEYS = ("title", "extrapolated", "currency")
_SIDE_KEYS = (*_WORDS_KEYS, "notes", "conditions", *_LABELS, "processors", *_GROUP_LABELS, "rows")
_UNSAFE_NAME_CHARS = "{}[]*?@"
"""Characters that have a meaning in patterns of figures."""


@dataclass
class OwnSides:
    """The sides of a file while they are read."""

    source: OwnText
    sides: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The sides with references in place of numbers."""
    _labels: dict[str, str] = field(default_factory=dict)
    """The rows of the table of numbers with their labels."""
    _cells: dict[tuple[str, str], str] = field(default_factory=dict)
    """The printed numbers by row and side."""

    def read(self, written: Any) -> None:
        """Reads the content of `[sides]`. Raises `Mistake`."""
        if not isinstance(written, Mapping):
            raise self.source.mistake(("sides",), "sides are tables: write [sides.before]")
        for name, section in written.items():
            self._check_name(("sides", name), name)
            if not isinstance(section, Mapping):
                raise self.source.mistake(
                    ("sides", name), f"a side is a table: write [sides.{name}], and its keys below"
                )
            self.sides[name] = self._side(name, section)

    def table(self) -> list[dict[str, Any]]:
        """The table of the numbers that stand in sides, as the file could have it. Empty without any."""
        if not self._labels:
            return []
        rows = [
            {"name": row, "label": label, "cells": [self._cells.get((row, side), "") for side in self.sides]}
            for row, label in self._labels.items()
        ]
        columns = [{"name": side, "label": side} for side in self.sides]
        return [{"name": SIDES_TABLE, "title": "The sides", "columns": columns, "rows": rows}]

    def check_values(self, document: Document) -> None:
        """Checks that each expression has a value that is possible. Raises `Mistake`."""
        for name, section in document.sides.items():
            amounts: dict[tuple[str, ...], Any] = {
                (key,): section[key] for key in (*_LABELS, "processors") if key in section
            }
            amounts |= {(group, key): text for group in _GROUP_LABELS for key, text in section.get(group, {}).items()}
            for keys, expression in amounts.items():
                path = ("sides", name, *keys)
                try:
                    value = value_of(document, expression, Numbers(document.figures))
                except ValueError as mistake:
                    raise self.source.mistake(path, f"{keys[-1]}: {mistake}") from None
                self.source.check_number(path, value)
            self._check_rows(document, name)
            self._check_conditions(document, name)

    def _side(self, name: str, written: Mapping[str, Any]) -> dict[str, Any]:
        path = ("sides", name)
        self.source.check_keys(path, written, _SIDE_KEYS)
        side: dict[str, Any] = {}
        for key, value in written.items():
            if key in _GROUP_LABELS:
                side[key] = self._group(name, key, value)
            elif key in _LABELS or key == "processors":
                side[key] = self._amount((*path, key), value, key, _LABELS.get(key, ""))
            else:
                side[key] = self._words((*path, key), value)
        return side

    def _group(self, name: str, group: str, written: Any) -> dict[str, Any]:
        path = ("sides", name, group)
        if not isinstance(written, Mapping):
            raise self.source.mistake(path, f"{group} is a table: write [sides.{name}.{group}], and its numbers below")
        for key in written:
            self._check_name((*path, key), key)
        label = _GROUP_LABELS[group]
        return {
            key: self._amount((*path, key), value, f"{group}/{key}", label.format(key))
            for key, value in written.items()
        }

    def _amount(self, path: tuple[str, ...], written: Any, row: str, label: str) -> str | int | Decimal:
        """The expression of an amount. A number becomes a figure, but for the number of processors."""
        key = path[-1]
        if isinstance(written, str):
            try:
                claims.parse_expression(written)
            except ValueError as mistake:
                raise self.source.mistake(path, f"{key} cannot be read: {mistake}; {NUMBER_EXAMPLE}") from None
            return written
        if isinstance(written, bool) or not isinstance(written, int | Decimal):
            raise self.source.mistake(path, f"{key} = {toml_value(written)} is no number; {NUMBER_EXAMPLE}")
        self.source.check_number(path, written)
        if key == "processors" and len(path) == AMOUNT_KEYS:
            return written
        self._labels.setdefault(row, label)
        self._cells[row, path[1]] = f"{written:f}" if isinstance(written, Decimal) else str(written)
        return f"{{{SIDES_TABLE}/{row}/{path[1]}}}"

    def _words(self, path: tuple[str, ...], written: Any) -> Any:
        """The value of a key that holds words, or names of a table."""
        key = path[-1]
        if key in _WORDS_KEYS and not isinstance(written, str):
            raise self.source.mistake(path, f'{key} is a text: write {key} = "…"')
        if key == "notes" and not (isinstance(written, list) and all(isinstance(note, str) for note in written)):
            raise self.source.mistake(path, 'notes are a list of texts: write notes = ["…"]')
        if key == "rows":
            if not isinstance(written, Mapping) or "table" not in written or "cpu" not in written:
                raise self.source.mistake(path, 'rows names a table and its columns: rows = { table = "…", cpu = "…" }')
            kinds = {name: "a text or a list of texts" if name == "passes" else "a text" for name in _ROWS_KEYS}
            self.source.check_kinds(path, written, kinds)
            passes = written.get("passes", "")
            return {**written, "passes": [passes] if isinstance(passes, str) else passes}
        if key == "conditions" and not isinstance(written, str | Mapping):
            raise self.source.mistake(path, 'conditions are texts by name, or "TABLE/*/COLUMN"')
        return written

    def _check_name(self, path: tuple[str, ...], name: str) -> None:
        if not name.strip() or set(name) & set(_UNSAFE_NAME_CHARS):
            raise self.source.mistake(
                path, f"{name!r} is no name of a figure: leave {' '.join(_UNSAFE_NAME_CHARS)} out of it"
            )

    def _check_conditions(self, document: Document, name: str) -> None:
        """Checks that conditions are texts by name, or the column of a table."""
        conditions = document.sides[name].get("conditions", {})
        if isinstance(conditions, Mapping):
            return
        columns = [f"{table.name}/*/{column.name}" for table in document.tables for column in table.columns]
        if conditions not in columns:
            known = f"; there are {', '.join(columns)}" if columns else ""
            raise self.source.mistake(
                ("sides", name, "conditions"), f"conditions: {conditions} is no column TABLE/*/COLUMN of a table{known}"
            )

    def _check_rows(self, document: Document, name: str) -> None:
        """Checks that the table and the columns of `rows` exist, and that each row has its figures."""
        rows = document.sides[name].get("rows")
        if rows is None:
            return
        path = ("sides", name, "rows")
        tables = {table.name: table for table in document.tables}
        if rows["table"] not in tables:
            raise self.source.mistake(
                path, f"rows: there is no table {rows['table']}; there are {', '.join(tables) or 'none'}"
            )
        table = tables[rows["table"]]
        typed = [row for row in table.rows if row.group in rows["passes"]]
        if not typed:
            groups = ", ".join(dict.fromkeys(row.group or "none" for row in table.rows))
            raise self.source.mistake(
                path, f"rows: no row has a group of passes = {rows['passes']}; the groups are {groups}"
            )
        for row in typed:
            for column in (rows[key] for key in ("cpu", "work", "page") if key in rows):
                if f"{document.name}/{table.name}/{row.name}/{column}" not in document.figures:
                    raise self.source.mistake(path, f"rows: {table.name}/{row.name}/{column} is no figure")
