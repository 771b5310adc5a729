"""The grammar of conditions about figures, such as `p90(edit) < 2s and errors = 0`; mistakes show their place.

    condition  = conjunction ("or" conjunction)*      conjunction = term ("and" term)*
    term       = "(" condition ")" | comparison       comparison  = figure compare quantity
    figure     = NAME | NAME "(" COMMAND ")"          quantity    = NUMBER UNIT?
    compare    = > >= < <= = == !=

A COMMAND with brackets goes into quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from loadgo.errors import BadArgument
from loadgo.notation.figures import plain
from loadgo.notation.units import RATE_PER_S, TIME_NS

Dimension = Literal["time", "count", "share", "rate", "money", "number"]
Part = Literal["figure", "command", "compare", "quantity"]

_UNITS: dict[Dimension, Mapping[str, float]] = {
    "time": TIME_NS,
    "rate": RATE_PER_S,
    "count": {"": 1.0, "%": 0.01},
    "share": {"": 1.0, "%": 0.01},
    "money": {"": 1.0},
    "number": {"": 1.0},
}
EXAMPLE_QUANTITIES: dict[Dimension, str] = {
    "time": "a time with its unit, such as 500ms, 1s or 2min",
    "rate": "a rate, such as 5/s, 300/min or 18000/h",
    "count": "a count, such as 0, or a share of the lines, such as 1%",
    "share": "a share, such as 1%",
    "money": "an amount in the tariff's currency, such as 0.01",
    "number": "a number, such as 100",
}
_WORD = re.compile(r"""[^\s(),<>=!"']+""")
_SIGN = re.compile(r"[(),]")
_COMPARE = re.compile(r">=|<=|!=|==|[<>=]")
_COMMAND = re.compile(r""""(?P<quoted>[^"]*)"\s*\)|'(?P<single>[^']*)'\s*\)|(?P<bare>[^()"'\s][^()]*)\)""")
_QUANTITY = re.compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?:(?P<unit>%|/?[A-Za-zµμ]+)|\s+(?P<apart>%|/?(?:[num]?s|µs|μs|min|h)\b))?(?![\w.])"
)
_QUANTILE = re.compile(r"p(\d+(?:\.\d+)?)")
MOST_NESTED_BRACKETS = 100
"""Brackets within brackets, each of which takes some calls of the reader."""


class ConditionError(BadArgument):
    """A mistake in a condition: what is wrong, at which column (from 1), and what would be right."""

    def __init__(self, argument: str, text: str, column: int, mistake: str) -> None:
        super().__init__(argument, text, column, mistake)
        self.about(argument)
        self.argument, self.text, self.column, self.mistake = argument, text, column, mistake

    @property
    def pointed(self) -> str:
        """The mistake over the text, with a mark under its column."""
        return f"column {self.column}: {self.mistake}\n    {self.text}\n    {' ' * (self.column - 1)}^"

    def __str__(self) -> str:
        return f"`{self.argument}`, {self.pointed}"


@dataclass(frozen=True)
class Figures:
    """The figures that conditions of one argument may name: by dimension, the names in one text with spaces between."""

    argument: str
    of_commands: Mapping[Dimension, str]
    of_run: Mapping[Dimension, str]
    any_quantile: bool = False
    """Whether every `pNN`, such as `p42`, is a time of commands too."""

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """The dimension of each figure, by name."""
        groups = (*self.of_commands.items(), *self.of_run.items())
        return {name: dimension for dimension, names in groups for name in names.split()}


@dataclass(frozen=True)
class Comparison:
    """One figure against a limit."""

    argument: str
    text: str
    """The whole condition."""
    words: str
    """This comparison alone."""
    figure: str
    dimension: Dimension
    command: str | None
    compare: str
    number: float
    unit: str
    columns: Mapping[Part, int] = field(hash=False)

    @property
    def limit(self) -> float:
        """The limit in the unit of its dimension: ns, events a second, currency, or a count. `%` gives a share of 1."""
        return self.number * _UNITS[self.dimension].get(self.unit, 1.0)

    @property
    def is_share_of_lines(self) -> bool:
        """Whether a count is compared with a share of all lines (`errors > 1%`)."""
        return self.dimension == "count" and self.unit == "%"

    def mistake(self, part: Part, mistake: str) -> ConditionError:
        """The error that shows `part` of this comparison."""
        return ConditionError(self.argument, self.text, self.columns[part], mistake)

    def unknown_command(self, known: Sequence[str]) -> ConditionError:
        """The mistake of naming a command that is not among `known`."""
        names = ", ".join(plain(name) for name in dict.fromkeys(known)) or "none, since no line counts"
        return self.mistake("command", f"there is no command {self.command!r}; the commands are: {names}")


@dataclass(frozen=True)
class Both:
    """Both conditions must hold: `and`."""

    left: Condition
    right: Condition


@dataclass(frozen=True)
class Either:
    """At least one of the conditions must hold: `or`."""

    left: Condition
    right: Condition


Condition = Comparison | Both | Either


def parse_condition(text: str, figures: Figures) -> Condition:
    """The condition in `text`; raises `ConditionError` with the column of a mistake."""
    reader = _Reader(text, figures)
    condition = reader.condition()
    reader.end("`and`, `or` or the end")
    return condition


def parse_comparisons(text: str, figures: Figures) -> list[Comparison]:
    """The comparisons in `text`, joined with `and` or commas; raises `ConditionError`."""
    reader = _Reader(text, figures)
    comparisons = [reader.comparison()]
    while reader.takes("and", "AND", ","):
        comparisons.append(reader.comparison())
    reader.end("`and`, a comma or the end")
    return comparisons


@dataclass(frozen=True)
class NamedFigure:
    """A figure of a run, or of one of its commands, such as `p90(edit)`."""

    name: str
    dimension: Dimension
    command: str | None
    """The command; None for all commands together, and for a figure of the whole run."""

    def __str__(self) -> str:
        if self.command is None:
            return self.name
        command = f'"{self.command}"' if set("()<>=!") & set(self.command) else self.command
        return f"{self.name}({command})"


def parse_figure(text: str, figures: Figures) -> NamedFigure:
    """The figure that `text` names; raises `ConditionError` with the column of a mistake."""
    reader = _Reader(text, figures)
    name, dimension = reader.figure()
    command = reader.command(name) if reader.takes("(") else None
    reader.end("the end: one figure, without a limit")
    return NamedFigure(name, dimension, command)


def _with_command(name: str, figures: Iterable[str]) -> list[str]:
    """The figure of a command that a name without brackets may mean: `p90(compile)` for `p90compile`."""
    figure = max((figure for figure in figures if name.startswith(figure)), key=len, default="")
    return [f"{figure}({name.removeprefix(figure).lstrip('_')})"] if figure else []


class _Reader:
    """Reads a condition from left to right; blanks between its parts are skipped."""

    def __init__(self, text: str, figures: Figures) -> None:
        self.text = text.rstrip()
        self.figures = figures
        self.place = 0
        self.brackets = 0
        """Number of open brackets around this place."""
        self.advance(0)

    @property
    def column(self) -> int:
        return self.place + 1

    def advance(self, place: int) -> None:
        self.place = len(self.text) - len(self.text[place:].lstrip())

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Matches a pattern at this place and skips the match. None without a match."""
        found = pattern.match(self.text, self.place)
        if found:
            self.advance(found.end())
        return found

    def takes(self, *words: str) -> bool:
        """Skips the next word if it is one of `words`, and returns whether it is."""
        found = _SIGN.match(self.text, self.place) or _WORD.match(self.text, self.place)
        if found is None or found[0] not in words:
            return False
        self.advance(found.end())
        return True

    def error(self, mistake: str) -> ConditionError:
        return ConditionError(self.figures.argument, self.text, self.column, mistake)

    def end(self, expected: str) -> None:
        if self.place < len(self.text):
            raise self.error(f"here must be {expected}")

    def condition(self) -> Condition:
        left = self.conjunction()
        while self.takes("or", "OR"):
            left = Either(left, self.conjunction())
        return left

    def conjunction(self) -> Condition:
        left = self.term()
        while self.takes("and", "AND"):
            left = Both(left, self.term())
        return left

    def term(self) -> Condition:
        if self.brackets == MOST_NESTED_BRACKETS and self.text.startswith("(", self.place):
            raise self.error(f"a condition has at most {MOST_NESTED_BRACKETS} brackets within each other")
        if self.takes("("):
            self.brackets += 1
            inner = self.condition()
            if not self.takes(")"):
                raise self.error("a `)` is missing")
            self.brackets -= 1
            return inner
        return self.comparison()

    def comparison(self) -> Comparison:
        begins = self.place
        columns: dict[Part, int] = {"figure": self.column, "command": self.column}
        figure, dimension = self.figure()
        command = None
        if self.takes("("):
            columns["command"] = self.column
            command = self.command(figure)
        columns["compare"] = self.column
        compare = self.match(_COMPARE)
        if compare is None:
            raise self.error(f"{figure} must be compared, with one of > >= < <= = !=")
        columns["quantity"] = self.column
        number, unit = self.quantity(figure, dimension)
        words = " ".join(self.text[begins : self.place].split())
        return Comparison(
            self.figures.argument, self.text, words, figure, dimension, command, compare[0], number, unit, columns
        )

    def figure(self) -> tuple[str, Dimension]:
        dimensions = self.figures.dimensions
        word = _WORD.match(self.text, self.place)
        name = word[0] if word else ""
        quantile = _QUANTILE.fullmatch(name) if self.figures.any_quantile else None
        if quantile and not 0 < float(quantile[1]) < 100:
            raise self.error("a quantile lies between p0 and p100, such as p90")
        if name not in dimensions and not quantile:
            near = get_close_matches(name, dimensions, n=1) or _with_command(name, dimensions)
            others = ", and any other quantile" if self.figures.any_quantile else ""
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(dimensions)}{others}"
            raise self.error((f"{name!r} is no figure" if name else "a figure is missing") + hint)
        self.advance(self.place + len(name))
        return name, dimensions.get(name, "time")

    def command(self, figure: str) -> str:
        if figure in " ".join(self.figures.of_run.values()).split():
            raise self.error(f"{figure} is of the whole run, not of a command: leave the brackets out")
        found = self.match(_COMMAND)
        if found:
            return " ".join(found["bare"].split()) if found["bare"] else found["quoted"] or found["single"] or ""
        if self.text[self.place : self.place + 1] == ")":
            raise self.error(f"a command's name is missing, as in {figure}(edit)")
        if self.text[self.place : self.place + 1] in ('"', "'"):
            raise self.error("here begins a quoted name, which must end with the same quote and a `)`")
        self.place = next((at for at in range(self.place, len(self.text)) if self.text[at] in "(<>=!"), len(self.text))
        raise self.error("a `)` is missing after the command; a name with brackets goes into quotes")

    def quantity(self, figure: str, dimension: Dimension) -> tuple[float, str]:
        found = _QUANTITY.match(self.text, self.place)
        if found is None:
            raise self.error(f"{figure} is compared with {EXAMPLE_QUANTITIES[dimension]}")
        number, unit = float(found["number"]), found["unit"] or found["apart"] or ""
        if unit not in _UNITS[dimension] and (unit or number):
            raise self.error(f"{found[0]!r} does not fit: {figure} is compared with {EXAMPLE_QUANTITIES[dimension]}")
        self.match(_QUANTITY)
        return number, unit
