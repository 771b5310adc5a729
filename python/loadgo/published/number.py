"""A number as printed: `.4`, `$1,995.07`, `20-30`, `≤ 15`, `about 600`, `four-fold`, `5/13/69`, `02:56`.

The number may be off by half a unit of its last printed place. In a round number that the document calls approximate
(`about 600`), the last place is that of the last digit other than 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

NUMBER_PATTERN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")
"""A number in digits."""

NUMBER_WORDS = {
    "one and one half": Fraction(3, 2),
    "half": Fraction(1, 2),
    "two": Fraction(2),
    "three": Fraction(3),
    "four": Fraction(4),
    "eight": Fraction(8),
    "ten": Fraction(10),
    "order of magnitude": Fraction(10),
    "fifteen": Fraction(15),
    "twenty": Fraction(20),
    "million": Fraction(10**6),
    "a milli": Fraction(1),  # "a millisecond"
}
"""Numbers that the documents print in words."""

Bound = Literal["", "at most", "at least"]

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_STRUCK = re.compile(r"~~.*?~~")


@dataclass(frozen=True)
class Number:
    """A printed number, or a range of two, in the unit of its figure."""

    low: Fraction
    high: Fraction
    """The same as `low` unless a range is printed."""
    low_half: Fraction
    """Half a unit of the last place of `low`: the largest error of its rounding."""
    high_half: Fraction
    approximate: bool = False
    bound: Bound = ""
    struck: bool = False
    """Whether the document has it crossed out."""

    @property
    def is_range(self) -> bool:
        """Whether two different ends are printed."""
        return self.low != self.high

    @property
    def middle(self) -> float:
        """The number itself, or the middle of a range."""
        return float(self.low + self.high) / 2


def read_number(text: str, unit: str) -> Number:
    """Reads the number that is printed as `text`. Raises `ValueError` if there is none, or more than a range.

    Three units decide how the text is read: `date` (a number of days), `clock time` (minutes since midnight, from
    `0630`) and `min:s` (seconds, from `02:56`).
    """
    struck = bool(_STRUCK.fullmatch(text.strip()))
    text = text.translate(_RAISED)
    unstruck = text.replace("~~", "") if struck else _STRUCK.sub("", text)
    approximate = bool(re.search(r"~|\babout\b|order of|closer to|approximately|or so\b|a little under", unstruck))
    ends = [_end(part, unit, approximate) for part in _parts(unstruck, unit)]
    if not 1 <= len(ends) <= 2:
        raise ValueError(f"{text!r} is no number and no range of two")
    (low, low_half), (high, high_half) = ends[0], ends[-1]
    return Number(low, high, low_half, high_half, approximate, _bound(unstruck), struck)


def _parts(text: str, unit: str) -> list[str]:
    """The texts of the numbers in `text`."""
    if unit == "date":
        return re.findall(r"\d+/\d+/\d+", text)
    if unit == "min:s":
        return re.findall(r"(?:\d+:)?\d+", text)
    if unit == "h":
        text = text.replace("1/2", ".5")
    numbers = [match[0] for match in NUMBER_PATTERN.finditer(text)]
    return numbers or [word for word in NUMBER_WORDS if re.search(rf"\b{word}\b", text, re.IGNORECASE)][:1]


def _end(part: str, unit: str, approximate: bool) -> tuple[Fraction, Fraction]:
    """The number that a text holds, and half a unit of its last place."""
    if unit == "date":
        month, day, year = (int(piece) for piece in part.split("/"))
        return Fraction(date(1900 + year, month, day).toordinal()), Fraction(0)
    if unit == "min:s":
        minutes, _, seconds = part.rpartition(":")
        return Fraction(60 * int(minutes or 0) + int(seconds)), Fraction(1, 2)
    if unit == "clock time":
        return Fraction(60 * int(part[:2])) + Fraction(part[2:]), Fraction(0)
    if part in NUMBER_WORDS:
        return NUMBER_WORDS[part], Fraction(1, 20) if "half" in part else Fraction(1, 2)
    return Fraction(part.replace(",", "")), _place(part.replace(",", ""), approximate) / 2


def _place(digits: str, approximate: bool) -> Fraction:
    """The unit of the last printed place."""
    integer, _, decimals = digits.partition(".")
    if decimals or not approximate:
        return Fraction(1, 10 ** len(decimals))
    return Fraction(10 ** (len(integer) - len(integer.rstrip("0")))) if integer.strip("0") else Fraction(1)


def _bound(text: str) -> Bound:
    if re.search(r"≤|no more than|up to|not more than|between zero", text):
        return "at most"
    return "at least" if re.search(r"≥|more than|at least", text) else ""
