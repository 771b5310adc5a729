"""What a document says about its own numbers, as a claim: `{a} + {b} = {c}`, with `{+pattern}` for a sum of cells.

A claim is data: numbers, cells in braces, `+ - * / ( )`, and one of `= <= >=`. `{cell.low}` and `{cell.high}` are the
ends of a printed range. It is evaluated over intervals, so that what rounding may hide is known exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

_TOKEN = re.compile(r"\s*(\{[^}]*\}|\d+(?:\.\d+)?|<=|>=|[-+*/()=])")

Comparison = Literal["=", "<=", ">="]


@dataclass(frozen=True)
class Interval:
    """All numbers between two ends; an end that is None is infinite."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True)
class Operation:
    """`left` and `right` put together by one of `+ - * /`."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Reference:
    """A cell; `end` is `low` or `high` of its range, else empty; `sum` when `cell` is a pattern to be added up."""

    cell: str
    end: str = ""
    sum: bool = False
    cells: tuple[str, ...] = ()
    """The ids that it stands for, once it is resolved."""


Expression = Operation | Reference | Fraction

Source = Callable[[Reference], Interval]
"""Where the numbers come from: printed ones with their rounding, or ours."""


@dataclass(frozen=True)
class Claim:
    """`left` compared with `right`."""

    text: str
    left: Expression
    right: Expression
    comparison: Comparison


def parse(text: str) -> Claim:
    """The claim that `text` makes; raises `ValueError` with what is wrong."""
    tokens = _tokens(text)
    left, rest = _sum(tokens, text)
    if not rest or rest[0] not in ("=", "<=", ">="):
        raise ValueError(f"the claim {text!r} compares nothing: it needs one of = <= >=")
    right, after = _sum(rest[1:], text)
    if after:
        raise ValueError(f"the claim {text!r} goes on after it has ended, with {after[0]!r}")
    comparison: Comparison = "=" if rest[0] == "=" else "<=" if rest[0] == "<=" else ">="
    return Claim(text, left, right, comparison)


def parse_expression(text: str) -> Expression:
    """The expression that `text` is; raises `ValueError`."""
    found, rest = _sum(_tokens(text), text)
    if rest:
        raise ValueError(f"{text!r} goes on after it has ended, with {rest[0]!r}")
    return found


def resolve(expression: Expression, find: Callable[[str], tuple[str, ...]]) -> Expression:
    """The expression with each pattern's cells, which `find` gives; raises `ValueError` where there are none."""
    if isinstance(expression, Operation):
        return Operation(expression.sign, resolve(expression.left, find), resolve(expression.right, find))
    if isinstance(expression, Reference):
        cells = find(expression.cell)
        if not cells or (len(cells) > 1 and not expression.sum):
            raise ValueError(f"a claim speaks of {expression.cell}, which there is not")
        return Reference(expression.cell, expression.end, expression.sum, cells)
    return expression


def references(expression: Expression) -> list[Reference]:
    """The cells in it, from left to right."""
    if isinstance(expression, Operation):
        return [*references(expression.left), *references(expression.right)]
    return [expression] if isinstance(expression, Reference) else []


def is_sum(expression: Expression) -> bool:
    """Whether only cells are added up in it: then the printed digits must come out to the last."""
    if isinstance(expression, Operation):
        return expression.sign in "+-" and is_sum(expression.left) and is_sum(expression.right)
    return isinstance(expression, Reference)


def evaluate(expression: Expression, source: Source) -> Interval:
    """All values that the expression may have, with its cells from `source`."""
    if isinstance(expression, Fraction):
        return Interval(expression, expression)
    if isinstance(expression, Reference):
        return source(expression)
    left, right = evaluate(expression.left, source), evaluate(expression.right, source)
    if expression.sign == "+":
        return Interval(_plus(left.low, right.low), _plus(left.high, right.high))
    if expression.sign == "-":
        return Interval(_plus(left.low, _minus(right.high)), _plus(left.high, _minus(right.low)))
    return times(left, right if expression.sign == "*" else inverse(right))


def inverse(of: Interval) -> Interval:
    """One over it; of an interval that begins at 0 the upper end is infinite."""
    if of.low is not None and of.low >= 0:
        high = None if of.low == 0 else 1 / of.low
        return Interval(Fraction(0) if of.high is None else 1 / of.high if of.high else None, high)
    return Interval(None, None)


def times(left: Interval, right: Interval) -> Interval:
    """The product of two intervals of numbers that are not below 0."""
    low = None if left.low is None or right.low is None else left.low * right.low
    high = None if left.high is None or right.high is None else left.high * right.high
    return Interval(low, high)


def apart(left: Interval, right: Interval, comparison: Comparison) -> bool:
    """Whether no values in the two intervals compare so."""
    below = left.high is not None and right.low is not None and left.high < right.low
    above = left.low is not None and right.high is not None and left.low > right.high
    return {"=": below or above, "<=": above, ">=": below}[comparison]


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if not found:
            raise ValueError(f"the claim {text!r} has no meaning from {text[at:].strip()!r} on")
        tokens.append(found[1])
        at = found.end()
    return tokens


def _sum(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    return _chain(tokens, text, "+-", _product)


def _product(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    return _chain(tokens, text, "*/", _part)


def _chain(
    tokens: list[str], text: str, signs: str, part: Callable[[list[str], str], tuple[Expression, list[str]]]
) -> tuple[Expression, list[str]]:
    left, rest = part(tokens, text)
    while rest and rest[0] in signs:
        right, after = part(rest[1:], text)
        left, rest = Operation(rest[0], left, right), after
    return left, rest


def _part(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    if not tokens:
        raise ValueError(f"{text!r} ends where a number or a cell should be")
    first, rest = tokens[0], tokens[1:]
    if first == "(":
        inner, after = _sum(rest, text)
        if not after or after[0] != ")":
            raise ValueError(f"{text!r} lacks a closing parenthesis")
        return inner, after[1:]
    if first.startswith("{"):
        return _reference(first[1:-1]), rest
    if first[0].isdigit():
        return Fraction(first), rest
    raise ValueError(f"{text!r} has {first!r} where a number or a cell should be")


def _reference(inside: str) -> Reference:
    cell = inside.removeprefix("+").strip()
    end = next((end for end in ("low", "high") if cell.endswith(f".{end}")), "")
    return Reference(cell.removesuffix(f".{end}") if end else cell, end, inside.startswith("+"))


def _plus(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _minus(a: Fraction | None) -> Fraction | None:
    return None if a is None else -a
