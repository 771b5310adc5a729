"""A fitted machine as a machine file: every value with where it is from, and `[fit]` with how surely it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.fitting.system import toml
from loadgo.fitting.values import Found, Value
from loadgo.notation.laws import amount, number, written
from loadgo.prediction.fitted import Fitted, Parameter, parts_of

Floats = NDArray[np.float64]

_ORDER = ("processors", "memory", "multiprogramming", "storage", "supervisor", "tariff", "commands")
_NESTED = ("storage", "commands")
_WIDTH = 116


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
    told = {parameter.key: parameter for parameter in fit.parameters if parameter.of == "mean"}
    tables: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for key, value in found.tables:
        _enter(tables, key, [], value)
    for one in found.values:
        _enter(tables, one.key, [_comment(one, told)], _value(one))
    text = [f"# {line}" for line in _wrapped(heading.source)]
    text += [f"title  = {toml(heading.title)}", f"source = {toml(heading.source)}"]
    for table in sorted(tables, key=_place):
        text += ["", f"[{'.'.join(_quoted(name) for name in table)}]", *_rows(tables[table])]
    text += ["", "[[load]]", 'name     = "as measured"']
    closed = [f"users    = {load.users}", f'think    = "{load.think}"']
    text += [f'arrivals = "{load.arrivals}"'] if load.users is None else closed
    text += [f"commands = {toml(list(load.commands))}"]
    text += ["", *_fit(fit)] if fit.runs else []
    return "\n".join(text) + "\n"


def _enter(tables: dict[tuple[str, ...], dict[str, list[str]]], key: str, comments: list[str], value: str) -> None:
    """Puts a value into its table; what lies deeper than its table becomes an inline table, by its first name."""
    parts = parts_of(key)
    depth = 2 if parts[0] in _NESTED else 1
    table, rest = tuple(parts[:depth]), parts[depth:]
    rows = tables.setdefault(table, {})
    if len(rest) == 1:
        rows[rest[0]] = [*(f"# {comment}" for comment in comments), f"{_quoted(rest[0])} = {value}"]
        return
    inside = rows.setdefault(rest[0], [f"{_quoted(rest[0])} = {{ }}"])
    opened = inside[-1].removesuffix(" }")
    comma = "" if opened.endswith("{") else ","
    inside[-1] = f"{opened}{comma} {_quoted(rest[1])} = {value} }}"
    inside[:0] = [f"# {rest[1]}: {comment}" for comment in comments]


def _rows(rows: Mapping[str, list[str]]) -> list[str]:
    return [line for lines in rows.values() for line in lines]


def _place(table: tuple[str, ...]) -> tuple[int, int]:
    """Tables in the order of the manual; within one kind as they came (sorting is stable)."""
    return _ORDER.index(table[0]), 0


def _quoted(name: str) -> str:
    bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if bare else toml(name)


def _value(value: Value) -> str:
    text = written(value.law)
    return text if value.law.name == "fixed" and not value.law.timed else toml(text)


def _comment(value: Value, told: Mapping[str, Parameter]) -> str:
    parameter = told.get(value.key)
    if parameter is None or parameter.low is None:
        return value.source
    return f"{value.source}; mean {_short(value.law.mean, value.law.timed)}, 95 %: {parameter.low} to {parameter.high}"


def _short(value: float, timed: bool) -> str:
    return amount(float(f"{value:.4g}"), timed)


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _WIDTH)


def _fit(fit: Fitted) -> list[str]:
    lines = ["[fit]", f"script       = {toml(fit.script)}", f"runs         = {toml(list(fit.runs))}"]
    lines += [f"users        = {list(fit.users)}", f"interactions = {fit.interactions}"]
    lines += _block("assumed", [toml(text) for text in fit.assumed])
    lines += _block("parameters", [_parameter(one) for one in fit.parameters])
    lines.append("# of the natural logarithms of the parameters, in their order")
    rows = [f"[{', '.join(f'{value:.6g}' for value in row)}]" for row in fit.covariance]
    return [*lines, *_block("covariance", rows)]


def _parameter(one: Parameter) -> str:
    pairs = [("key", one.key), ("of", one.of), ("value", one.value), ("low", one.low), ("high", one.high)]
    pairs.append(("source", one.source))
    return "{ " + ", ".join(f"{key} = {toml(value)}" for key, value in pairs if value is not None) + " }"


def _block(key: str, rows: Sequence[str]) -> list[str]:
    return [f"{key} = [", *(f"    {row}," for row in rows), "]"] if rows else [f"{key} = []"]


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
