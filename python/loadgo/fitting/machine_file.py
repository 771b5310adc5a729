"""A fitted machine as a machine file: each value with its source, and the table `[fit]` with the uncertainties."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Item, Table

from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.file_shapes import schema_line
from loadgo.notation.keys import parts_of
from loadgo.notation.laws import amount, number, written
from loadgo.prediction.fitted import Fitted, Parameter, correlation_of_odds

_TABLE_ORDER = ("processors", "memory", "multiprogramming", "storage", "supervisor", "tariff", "commands")
_NESTED_TABLES = ("storage", "commands")
_COMMENT_CHARS = 116

_Entry = tuple[list[str], Any, str]
"""Names of a value within its table, the value, and its comment."""


@dataclass(frozen=True)
class FileHeading:
    """The first lines of a machine file."""

    title: str
    source: str


@dataclass(frozen=True)
class OwnLoad:
    """The load of the measured users, for `loadgo simulate`."""

    users: int | None
    """None for an open load."""
    think: str
    arrivals: str
    """Interactions a second, for an open load."""
    commands: tuple[str, ...]


def machine_file_text(heading: FileHeading, values: FittedValues, load: OwnLoad, fit: Fitted) -> str:
    """The text of a machine file."""
    file = tomlkit.document()
    for line in textwrap.wrap(_printable(heading.source), _COMMENT_CHARS):
        file.add(tomlkit.comment(line))
    file.add("title", tomlkit.item(heading.title))
    file.add("source", tomlkit.item(heading.source))
    for table, rows in _ordered_tables(values, fit):
        rows.add(tomlkit.nl())
        _parent_table(file, table[:-1]).add(table[-1], rows)
    file.add("load", tomlkit.item([_load_table(load)]))
    if fit.runs:
        file.add("fit", _fit_table(fit))
    return schema_line("machine") + tomlkit.dumps(file).rstrip("\n") + "\n"


def _ordered_tables(values: FittedValues, fit: Fitted) -> Iterator[tuple[tuple[str, ...], Table]]:
    """Each table with its name, in the order of docs/machines.md. Commands and stores keep their own order."""
    means_by_key = {parameter.key: parameter for parameter in fit.parameters if parameter.of != "spread"}
    entries = [(parts_of(key), value, "") for key, value in values.tables]
    entries += [(parts_of(value.key), _law_item(value), _comment(value, means_by_key)) for value in values.values]
    tables: dict[tuple[str, ...], list[_Entry]] = {}
    for parts, value, comment in entries:
        depth = 2 if parts[0] in _NESTED_TABLES else 1
        tables.setdefault(tuple(parts[:depth]), []).append((parts[depth:], value, comment))
    for name in sorted(tables, key=lambda name: _TABLE_ORDER.index(name[0])):
        yield name, _table(tables[name])


def _table(entries: Sequence[_Entry]) -> Table:
    """A table with a comment above each value. A value with a deeper name goes into an inline table."""
    values_by_name: dict[str, Any] = {}
    comments: dict[str, list[str]] = {}
    for (name, *deeper), toml_value, comment in entries:
        if deeper:
            values_by_name.setdefault(name, tomlkit.inline_table()).add(deeper[0], tomlkit.item(toml_value))
        else:
            values_by_name[name] = toml_value
        if comment:
            comments.setdefault(name, []).append(f"{deeper[0]}: {comment}" if deeper else comment)
    table = tomlkit.table()
    for name, toml_value in values_by_name.items():
        for comment in comments.get(name, ()):
            table.add(tomlkit.comment(_printable(comment)))
        table.add(name, _inline(toml_value))
    return table


def _inline(toml_value: Any) -> Item:
    """A value as TOML in one line, with inline tables and arrays."""
    if isinstance(toml_value, Item):
        return toml_value
    if isinstance(toml_value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in toml_value.items():
            table.add(key, _inline(inner))
        return table
    if isinstance(toml_value, Sequence) and not isinstance(toml_value, str):
        array = tomlkit.array()
        for inner in toml_value:
            array.append(_inline(inner))
        return array
    item: Item = tomlkit.item(toml_value)
    return item


def _parent_table(file: TOMLDocument, path: Sequence[str]) -> TOMLDocument | Table:
    """The parent of the tables below `path`, a table without a heading; the file itself for an empty path."""
    if not path:
        return file
    if path[0] not in file:
        file.add(path[0], tomlkit.table(is_super_table=True))
    parent: Table = file[path[0]]
    return parent


def _law_item(value: FittedValue) -> Item:
    """A law as a TOML string, or a fixed amount without a unit as a TOML number."""
    text = written(value.law)
    return tomlkit.value(text) if value.law.name == "fixed" and not value.law.timed else tomlkit.item(text)


def _comment(value: FittedValue, means_by_key: Mapping[str, Parameter]) -> str:
    parameter = means_by_key.get(value.key)
    if parameter is None or parameter.low is None:
        return value.source
    mean = "" if parameter.of == "correlation" else f"mean {_short_amount(value.law.mean, value.law.timed)}, "
    return f"{value.source}; {mean}95 %: {parameter.low} to {parameter.high}"


def _short_amount(value: float, timed: bool) -> str:
    return amount(float(f"{value:.4g}"), timed)


def _printable(comment: str) -> str:
    """A comment in one line, without the control characters that TOML forbids in comments."""
    return "".join(character if character.isprintable() else " " for character in comment)


def _load_table(load: OwnLoad) -> dict[str, Any]:
    users = {"arrivals": load.arrivals} if load.users is None else {"users": load.users, "think": load.think}
    return {"name": "as measured", **users, "commands": list(load.commands)}


def _fit_table(fit: Fitted) -> Table:
    table = tomlkit.table()
    table.add("script", tomlkit.item(fit.script))
    table.add("runs", tomlkit.item(list(fit.runs)))
    table.add("users", tomlkit.item(list(fit.users)))
    table.add("interactions", tomlkit.item(fit.interactions))
    if fit.reference:
        table.add("reference", tomlkit.item(fit.reference))
    table.add("assumed", _multiline_array(fit.assumed))
    if fit.warnings:
        table.add("warnings", _multiline_array(fit.warnings))
    table.add("parameters", _multiline_array([_parameter_table(parameter) for parameter in fit.parameters]))
    of_correlations = "; of a correlation r: of (1 + r) / (1 - r)"
    has_correlation = any(parameter.of == "correlation" for parameter in fit.parameters)
    of_parameters = f"of the natural logarithms of the parameters{of_correlations if has_correlation else ''}"
    table.add(tomlkit.comment(f"{of_parameters}, in their order"))
    table.add(
        "covariance", _multiline_array([[tomlkit.value(f"{value:.6g}") for value in row] for row in fit.covariance])
    )
    return table


def _parameter_table(parameter: Parameter) -> dict[str, str]:
    pairs = {
        "key": parameter.key,
        "of": parameter.of,
        "value": parameter.value,
        "low": parameter.low,
        "high": parameter.high,
        "source": parameter.source,
    }
    return {key: value for key, value in pairs.items() if value is not None}


def _multiline_array(values: Sequence[Any]) -> Item:
    """An array with a line for each value."""
    array = tomlkit.array()
    for value in values:
        array.append(_inline(value))
    array.multiline(bool(values))
    return array


def fitted_parameters(
    values: Sequence[FittedValue], bounds: Sequence[tuple[float, float] | None]
) -> tuple[Parameter, ...]:
    """The parameters of the values that have an uncertainty, each mean before its spread, with their intervals."""
    parameters = []
    remaining_bounds = iter(bounds)
    for fitted in values:
        law = fitted.law
        for quantity, timed, estimate in (("mean", law.timed, law.mean), ("spread", False, law.spread)):
            if quantity == "mean" and fitted.mean is None and fitted.deviation is None:
                continue
            if quantity == "spread" and fitted.spread is None:
                continue
            interval = next(remaining_bounds)
            low, high = (None, None) if interval is None else (_short_amount(end, timed) for end in interval)
            text = amount(estimate, timed) if quantity == "mean" else number(estimate)
            parameters.append(Parameter(fitted.key, quantity, text, low, high, fitted.source))
        if fitted.correlation is not None:
            interval = next(remaining_bounds)
            low, high = (
                (None, None)
                if interval is None
                else (_short_amount(correlation_of_odds(end), timed=False) for end in interval)
            )
            parameters.append(Parameter(fitted.key, "correlation", number(law.mean), low, high, fitted.source))
    return tuple(parameters)
