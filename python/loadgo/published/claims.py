"""Claims: equations and inequalities of a document's own numbers, such as `{a} + {b} = {c}`.

A claim has numbers, cells in braces, `+ - * / ( )`, and one of `= <= >=`. `{+pattern}` is a sum of cells. `{cell.low}`
and `{cell.high}` are the ends of a printed range, `{cell.ours}` is our figure for the cell. Claims are evaluated over
intervals, so that rounding is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

_TOKEN = re.compile(r"\s*(\{[^}]*\}|\d+(?:\.\d+)?|<=|>=|[-+*/()=])")

ClaimSign = Literal["=", "<=", ">="]


@dataclass(frozen=True)
class NumberRange:
    """All numbers between two ends. An end that is None is infinite."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True)
class Operation:
    """Two expressions, combined by one of `+ - * /`."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Reference:
    """A cell, or a sum of cells.

    `end` is `low` or `high` for an end of the cell's range, `ours` for our figure, otherwise empty. With `sum`, `cell`
    is a pattern whose cells are added.
    """

    cell: str
    end: str = ""
    sum: bool = False
    cells: tuple[str, ...] = ()
    """The ids of its cells, after `resolve`."""


Expression = Operation | Reference | Fraction

CellSource = Callable[[Reference], NumberRange]
"""Returns the possible values of a reference: the printed number with its rounding, or our figure."""


@dataclass(frozen=True)
class Claim:
    """Two expressions and the sign between them."""

    text: str
    left: Expression
    right: Expression
    comparison: ClaimSign


def parse_claim(text: str) -> Claim:
    """Parses a claim. Raises `ValueError` that names the mistake."""
    tokens = _tokens(text)
    left, remaining = _sum(tokens, text)
    if not remaining or remaining[0] not in ("=", "<=", ">="):
        raise ValueError(f"the claim {text!r} compares nothing: it needs one of = <= >=")
    right, after = _sum(remaining[1:], text)
    if after:
        raise ValueError(f"the claim {text!r} goes on after it has ended, with {after[0]!r}")
    comparison: ClaimSign = "=" if remaining[0] == "=" else "<=" if remaining[0] == "<=" else ">="
    return Claim(text, left, right, comparison)


def parse_expression(text: str) -> Expression:
    """Parses an expression. Raises `ValueError` that names the mistake."""
    expression, remaining = _sum(_tokens(text), text)
    if remaining:
        raise ValueError(f"{text!r} goes on after it has ended, with {remaining[0]!r}")
    return expression


def resolve(expression: Expression, find: Callable[[str], tuple[str, ...]]) -> Expression:
    """The expression with the ids of its figures, which `find` returns for each cell or pattern.

    Raises `ValueError` for a cell without a figure, and for a pattern of several figures outside a sum.
    """
    if isinstance(expression, Operation):
        return Operation(expression.sign, resolve(expression.left, find), resolve(expression.right, find))
    if isinstance(expression, Reference):
        cells = find(expression.cell)
        if not cells:
            raise ValueError(f"a claim names {expression.cell}, and the document has no such figure")
        if len(cells) > 1 and not expression.sum:
            raise ValueError(f"{expression.cell} matches {len(cells)} figures: a sum of them is {{+{expression.cell}}}")
        return Reference(expression.cell, expression.end, expression.sum, cells)
    return expression


def references(expression: Expression) -> list[Reference]:
    """The references in an expression, from left to right."""
    if isinstance(expression, Operation):
        return [*references(expression.left), *references(expression.right)]
    return [expression] if isinstance(expression, Reference) else []


def is_sum(expression: Expression) -> bool:
    """Whether an expression only adds and subtracts cells. The last printed digit of such a sum must be right."""
    if isinstance(expression, Operation):
        return expression.sign in "+-" and is_sum(expression.left) and is_sum(expression.right)
    return isinstance(expression, Reference)


def evaluate(expression: Expression, source: CellSource) -> NumberRange:
    """All values that the expression may have when `source` gives its cells."""
    if isinstance(expression, Fraction):
        return NumberRange(expression, expression)
    if isinstance(expression, Reference):
        return source(expression)
    left, right = evaluate(expression.left, source), evaluate(expression.right, source)
    if expression.sign == "+":
        return NumberRange(_plus(left.low, right.low), _plus(left.high, right.high))
    if expression.sign == "-":
        return NumberRange(_plus(left.low, _minus(right.high)), _plus(left.high, _minus(right.low)))
    return multiply_ranges(left, right if expression.sign == "*" else invert_range(right))


def invert_range(divisor: NumberRange) -> NumberRange:
    """One over a range of numbers. The upper end is infinite for a range that begins at 0."""
    if divisor.low is not None and divisor.low >= 0:
        high = None if divisor.low == 0 else 1 / divisor.low
        return NumberRange(Fraction(0) if divisor.high is None else 1 / divisor.high if divisor.high else None, high)
    return NumberRange(None, None)


def multiply_ranges(left: NumberRange, right: NumberRange) -> NumberRange:
    """The product of two ranges of numbers that are not negative."""
    low = None if left.low is None or right.low is None else left.low * right.low
    high = None if left.high is None or right.high is None else left.high * right.high
    return NumberRange(low, high)


def cannot_hold(left: NumberRange, right: NumberRange, comparison: ClaimSign) -> bool:
    """Whether no two values of the ranges make the comparison true."""
    below = left.high is not None and right.low is not None and left.high < right.low
    above = left.low is not None and right.high is not None and left.low > right.high
    return {"=": below or above, "<=": above, ">=": below}[comparison]


def surely_holds(left: NumberRange, right: NumberRange, comparison: ClaimSign) -> bool:
    """Whether all values of the ranges make an inequality true. An equation of ranges is never sure."""
    below = left.high is not None and right.low is not None and left.high <= right.low
    above = left.low is not None and right.high is not None and left.low >= right.high
    return {"=": False, "<=": below, ">=": above}[comparison]


def _tokens(text: str) -> list[str]:
    tokens, offset = [], 0
    while offset < len(text.rstrip()):
        match = _TOKEN.match(text, offset)
        if not match:
            raise ValueError(f"the claim {text!r} has no meaning from {text[offset:].strip()!r} on")
        tokens.append(match[1])
        offset = match.end()
    return tokens


def _sum(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    return _chain(tokens, text, "+-", _product)


def _product(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    return _chain(tokens, text, "*/", _operand)


def _chain(
    tokens: list[str], text: str, signs: str, parse_operand: Callable[[list[str], str], tuple[Expression, list[str]]]
) -> tuple[Expression, list[str]]:
    left, remaining = parse_operand(tokens, text)
    while remaining and remaining[0] in signs:
        right, after = parse_operand(remaining[1:], text)
        left, remaining = Operation(remaining[0], left, right), after
    return left, remaining


def _operand(tokens: list[str], text: str) -> tuple[Expression, list[str]]:
    if not tokens:
        raise ValueError(f"{text!r} ends where a number or a cell should be")
    first, remaining = tokens[0], tokens[1:]
    if first == "(":
        inner, after = _sum(remaining, text)
        if not after or after[0] != ")":
            raise ValueError(f"{text!r} lacks a closing parenthesis")
        return inner, after[1:]
    if first.startswith("{"):
        return _reference(first[1:-1]), remaining
    if first[0].isdigit():
        return Fraction(first), remaining
    raise ValueError(f"{text!r} has {first!r} where a number or a cell should be")


def _reference(inside: str) -> Reference:
    cell = inside.removeprefix("+").strip()
    end = next((end for end in ("low", "high", "ours") if cell.endswith(f".{end}")), "")
    return Reference(cell.removesuffix(f".{end}") if end else cell, end, inside.startswith("+"))


def _plus(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _minus(a: Fraction | None) -> Fraction | None:
    return None if a is None else -a
