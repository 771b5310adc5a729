"""A fitted machine as a machine file: every value with where it is from, and `[fit]` with how surely it is known."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Item, Table

from loadgo.fitting.values import Found, Value
from loadgo.notation.keys import parts_of
from loadgo.notation.laws import amount, number, written
from loadgo.prediction.fitted import Fitted, Parameter

_ORDER = ("processors", "memory", "multiprogramming", "storage", "supervisor", "tariff", "commands")
_NESTED = ("storage", "commands")
_WIDTH = 116

_Entry = tuple[list[str], Any, str]
"""Names of a value within its table, the value, and what is said of it."""


@dataclass(frozen=True)
class Heading:
    """What the file opens with."""

    title: str
    source: str


@dataclass(frozen=True)
class OwnLoad:
    """The machine's own users, for `loadgo simulate`."""

    users: int | None
    """None where they came and went."""
    think: str
    arrivals: str
    """Interactions a second, where they came and went."""
    commands: tuple[str, ...]


def file_of(heading: Heading, found: Found, load: OwnLoad, fit: Fitted) -> str:
    """The text of the machine file."""
    file = tomlkit.document()
    for line in textwrap.wrap(_printable(heading.source), _WIDTH):
        file.add(tomlkit.comment(line))
    file.add("title", tomlkit.item(heading.title))
    file.add("source", tomlkit.item(heading.source))
    for table, rows in _tables(found, fit):
        rows.add(tomlkit.nl())
        _within(file, table[:-1]).add(table[-1], rows)
    file.add("load", tomlkit.item([_own_load(load)]))
    if fit.runs:
        file.add("fit", _fit(fit))
    return tomlkit.dumps(file).rstrip("\n") + "\n"


def _tables(found: Found, fit: Fitted) -> Iterator[tuple[tuple[str, ...], Table]]:
    """Each table with its values, in the order of the manual; within one kind as they came."""
    told = {parameter.key: parameter for parameter in fit.parameters if parameter.of == "mean"}
    entries = [(parts_of(key), value, "") for key, value in found.tables]
    entries += [(parts_of(value.key), _value(value), _comment(value, told)) for value in found.values]
    tables: dict[tuple[str, ...], list[_Entry]] = {}
    for parts, value, comment in entries:
        depth = 2 if parts[0] in _NESTED else 1
        tables.setdefault(tuple(parts[:depth]), []).append((parts[depth:], value, comment))
    for name in sorted(tables, key=lambda name: _ORDER.index(name[0])):
        yield name, _table(tables[name])


def _table(entries: Sequence[_Entry]) -> Table:
    """A table with a comment above each value; values that lie deeper make an inline table, by its first name."""
    rows: dict[str, Any] = {}
    comments: dict[str, list[str]] = {}
    for (name, *deeper), value, comment in entries:
        if deeper:
            rows.setdefault(name, tomlkit.inline_table()).add(deeper[0], tomlkit.item(value))
        else:
            rows[name] = value
        if comment:
            comments.setdefault(name, []).append(f"{deeper[0]}: {comment}" if deeper else comment)
    table = tomlkit.table()
    for name, value in rows.items():
        for comment in comments.get(name, ()):
            table.add(tomlkit.comment(_printable(comment)))
        table.add(name, _inline(value))
    return table


def _inline(value: Any) -> Item:
    """A value in one line: lists of tables, too."""
    if isinstance(value, Item):
        return value
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.add(key, _inline(inner))
        return table
    if isinstance(value, Sequence) and not isinstance(value, str):
        array = tomlkit.array()
        for inner in value:
            array.append(_inline(inner))
        return array
    item: Item = tomlkit.item(value)
    return item


def _within(file: TOMLDocument, path: Sequence[str]) -> TOMLDocument | Table:
    """The table that holds the tables of `path`, which has no heading of its own."""
    if not path:
        return file
    if path[0] not in file:
        file.add(path[0], tomlkit.table(is_super_table=True))
    within: Table = file[path[0]]
    return within


def _value(value: Value) -> Item:
    """A law as a string, an amount without a unit as a number: to the digits of the law's notation."""
    text = written(value.law)
    return tomlkit.value(text) if value.law.name == "fixed" and not value.law.timed else tomlkit.item(text)


def _comment(value: Value, told: Mapping[str, Parameter]) -> str:
    parameter = told.get(value.key)
    if parameter is None or parameter.low is None:
        return value.source
    return f"{value.source}; mean {_short(value.law.mean, value.law.timed)}, 95 %: {parameter.low} to {parameter.high}"


def _short(value: float, timed: bool) -> str:
    return amount(float(f"{value:.4g}"), timed)


def _printable(comment: str) -> str:
    """A comment in one line, without the control characters that TOML forbids there."""
    return "".join(sign if sign.isprintable() else " " for sign in comment)


def _own_load(load: OwnLoad) -> dict[str, Any]:
    many = {"arrivals": load.arrivals} if load.users is None else {"users": load.users, "think": load.think}
    return {"name": "as measured", **many, "commands": list(load.commands)}


def _fit(fit: Fitted) -> Table:
    table = tomlkit.table()
    table.add("script", tomlkit.item(fit.script))
    table.add("runs", tomlkit.item(list(fit.runs)))
    table.add("users", tomlkit.item(list(fit.users)))
    table.add("interactions", tomlkit.item(fit.interactions))
    table.add("assumed", _lines(fit.assumed))
    table.add("parameters", _lines([_parameter(one) for one in fit.parameters]))
    table.add(tomlkit.comment("of the natural logarithms of the parameters, in their order"))
    table.add("covariance", _lines([[tomlkit.value(f"{value:.6g}") for value in row] for row in fit.covariance]))
    return table


def _parameter(one: Parameter) -> dict[str, str]:
    pairs = {"key": one.key, "of": one.of, "value": one.value, "low": one.low, "high": one.high, "source": one.source}
    return {key: value for key, value in pairs.items() if value is not None}


def _lines(values: Sequence[Any]) -> Item:
    """An array with a line for each value."""
    array = tomlkit.array()
    for value in values:
        array.append(_inline(value))
    array.multiline(bool(values))
    return array


def parameters_of(values: Sequence[Value], bounds: Sequence[tuple[float, float] | None]) -> tuple[Parameter, ...]:
    """The parameters of the values that have a doubt, each mean before its spread, with their intervals."""
    found = []
    ends = iter(bounds)
    for value in values:
        for of, timed, shown in (("mean", value.law.timed, value.law.mean), ("spread", False, value.law.spread)):
            if of == "mean" and value.mean is None and value.deviation is None:
                continue
            if of == "spread" and value.spread is None:
                continue
            end = next(ends)
            low, high = (None, None) if end is None else (_short(end[0], timed), _short(end[1], timed))
            text = amount(shown, timed) if of == "mean" else number(shown)
            found.append(Parameter(value.key, of, text, low, high, value.source))
    return tuple(found)
