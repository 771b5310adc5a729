"""Conditions of `fail_if` over a report's figures, such as `p90(edit) > 1s and errors > 0`, read before the run.

    condition  = all ("or" all)*        all = one ("and" one)*        one = "(" condition ")" | comparison
    comparison = figure compare quantity                              figure = NAME | NAME "(" COMMAND ")"
    compare    = > >= < <= = !=                                       quantity = NUMBER UNIT?

A COMMAND of more than words goes into quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from loadgo.errors import BadArgument
from loadgo.notation.figures import plain
from loadgo.notation.units import TIME_NS

Dimension = Literal["time", "count", "rate", "money", "number"]


class FailIfError(BadArgument):
    """A mistake in a condition: what is wrong, at which column (from 1), and what would be right."""

    def __init__(self, text: str, column: int, mistake: str) -> None:
        self.pointed = f"column {column}: {mistake}\n    {text}\n    {' ' * (column - 1)}^"
        super().__init__(f"`fail_if`, {self.pointed}")
        self.about("fail_if")
        self.column = column
        self.mistake = mistake


@dataclass(frozen=True)
class Comparison:
    """One figure against a limit."""

    text: str
    column: int
    figure: str
    command: str | None
    compare: str
    limit: float
    """In nanoseconds, a second, currency or plain counts; a share of one when `of_lines`."""
    of_lines: bool
    """The limit is a share of all lines (`errors > 1%`)."""


@dataclass(frozen=True)
class Both:
    """`and`."""

    left: Condition
    right: Condition


@dataclass(frozen=True)
class Either:
    """`or`."""

    left: Condition
    right: Condition


Condition = Comparison | Both | Either


_RATE = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
_UNITS: dict[Dimension, dict[str, float]] = {
    "time": dict(TIME_NS),
    "rate": _RATE,
    "count": {"": 1.0, "%": 0.01},
    "money": {"": 1.0},
    "number": {"": 1.0},
}
_RIGHT: dict[Dimension, str] = {
    "time": "a time with its unit, such as 500ms, 1s or 2min",
    "rate": "a rate, such as 5/s, 300/min or 18000/h",
    "count": "a count, such as 0, or a share of the lines, such as 1%",
    "money": "an amount in the tariff's currency, such as 0.01",
    "number": "a number, such as 100",
}
FIGURES_OF_COMMAND: dict[str, Dimension] = {
    "p50": "time",
    "p90": "time",
    "p95": "time",
    "p99": "time",
    "mean": "time",
    "max": "time",
    "cpu": "time",
    "ready_wait": "time",
    "paging_wait": "time",
    "io_wait": "time",
    "faults": "number",
    "major_faults": "number",
    "count": "number",
    "errors": "count",
    "failed": "count",
    "timeouts": "count",
    "died": "count",
    "unconfirmed": "count",
    "cost": "money",
}
FIGURES_OF_RUN: dict[str, Dimension] = {
    "lost": "number",
    "refused": "number",
    "throughput": "rate",
    "lateness_p50": "time",
    "lateness_p99": "time",
    "lateness_max": "time",
}
FIGURES = FIGURES_OF_COMMAND | FIGURES_OF_RUN
"""Every figure that a condition can be about, and what it is compared with."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)(?:(?P<unit>%|/?[A-Za-zµμ]+)|\s+(?P<apart>%|/?(?:[num]?s|µs|μs|min|h)\b))?(?![\w.])
    |(?P<compare>>=|<=|!=|==|[<>=])|(?P<bracket>[()])|"(?P<quoted>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()<>=!"']+))""",
    re.VERBOSE,
)


def parse(text: str) -> Condition:
    """The condition that `text` says; raises `FailIfError` with the column of a mistake."""
    reader = _Reader(text, _tokens(text), 0)
    condition = reader.condition()
    if reader.kind != "end":
        raise reader.error("here must be `and`, `or` or the end")
    return condition


def check_commands(condition: Condition, known: list[str]) -> None:
    """Raises `FailIfError` when the condition names a command that is not among `known` (the script's)."""
    if isinstance(condition, Comparison):
        if condition.command is not None and condition.command not in known:
            raise unknown_command(condition, known)
    else:
        check_commands(condition.left, known)
        check_commands(condition.right, known)


def unknown_command(condition: Comparison, known: list[str]) -> FailIfError:
    """The mistake of naming a command that is not among `known`."""
    names = ", ".join(plain(name) for name in known) or "none, since no line counts"
    column = condition.column + len(condition.figure) + 1
    return FailIfError(condition.text, column, f"there is no command {condition.command!r}; the commands are: {names}")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    unit: str
    column: int


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            column = place + len(text[place:]) - len(text[place:].lstrip()) + 1
            raise FailIfError(text, column, f"{text[column - 1]!r} does not belong here")
        kind = str(match.lastgroup) if match["number"] is None else "number"
        begins = match.start(kind) - (kind in ("quoted", "single"))
        kind_name = "quoted" if kind == "single" else kind
        found.append(_Token(kind_name, match[kind], match["unit"] or match["apart"] or "", begins + 1))
        place = match.end()
    return [*found, _Token("end", "", "", len(text.rstrip()) + 1)]


@dataclass
class _Reader:
    """Reads tokens from left to right."""

    text: str
    tokens: list[_Token]
    place: int

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    @property
    def kind(self) -> str:
        return self.token.kind

    def error(self, mistake: str) -> FailIfError:
        return FailIfError(self.text, self.token.column, mistake)

    def take(self) -> _Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def takes(self, *texts: str) -> bool:
        """Whether the next token is one of `texts`, unquoted; it is taken then."""
        if self.kind in ("word", "bracket") and self.token.text in texts:
            self.place += 1
            return True
        return False

    def condition(self) -> Condition:
        left = self.all()
        while self.takes("or", "OR"):
            left = Either(left, self.all())
        return left

    def all(self) -> Condition:
        left = self.one()
        while self.takes("and", "AND"):
            left = Both(left, self.one())
        return left

    def one(self) -> Condition:
        if self.takes("("):
            inner = self.condition()
            if not self.takes(")"):
                raise self.error("a `)` is missing")
            return inner
        return self.comparison()

    def comparison(self) -> Comparison:
        begins = self.token
        figure, dimension = self.figure()
        command = self.command(figure) if self.takes("(") else None
        if self.kind != "compare":
            raise self.error(f"{figure} must be compared, with one of > >= < <= = !=")
        compare = self.take().text
        limit, of_lines = self.quantity(figure, dimension)
        return Comparison(self.text, begins.column, figure, command, compare, limit, of_lines)

    def figure(self) -> tuple[str, Dimension]:
        known = FIGURES
        if self.kind != "word" or self.token.text not in known:
            near = get_close_matches(self.token.text, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
            what = f"{self.token.text!r} is no figure" if self.token.text else "a figure is missing"
            raise self.error(what + hint)
        name = self.take().text
        return name, known[name]

    def command(self, figure: str) -> str:
        if figure in FIGURES_OF_RUN:
            raise self.error(f"{figure} is of the whole run, not of a command: leave the brackets out")
        words = []
        while self.kind in ("word", "quoted", "number"):
            words.append(self.take())
        if not words:
            raise self.error(f"a command's name is missing, as in {figure}(edit)")
        if not self.takes(")"):
            raise self.error("a `)` is missing after the command; a name with other signs goes into quotes")
        return " ".join(word.text + word.unit for word in words)

    def quantity(self, figure: str, dimension: Dimension) -> tuple[float, bool]:
        if self.kind != "number":
            raise self.error(f"{figure} is compared with {_RIGHT[dimension]}")
        token = self.token
        units = _UNITS[dimension]
        if token.unit not in units and not (token.unit == "" and float(token.text) == 0):
            said = f"{token.text}{token.unit}"
            raise self.error(f"{said!r} does not fit: {figure} is compared with {_RIGHT[dimension]}")
        self.take()
        return float(token.text) * units.get(token.unit, 1.0), token.unit == "%"
