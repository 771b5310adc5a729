"""The text of a user's own document: mistakes with their place, and the checks of keys, kinds and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from loadgo.errors import Mistake
from loadgo.notation.toml_text import meant_instead, place_of

Kinds = Mapping[str, str]
"""The keys of a table, each with the kind of its value, as a word for people. Any kind is possible for an empty one."""
MOST_UNITS = 10**15
"""Largest number of seconds, events or units of money, so that sums stay exact enough."""
AMOUNT_KEYS = 3
"""Number of nested keys of an amount that stands in the side itself, such as `sides.before.cpu_s`."""
NUMBER_EXAMPLE = 'write a number, such as 14213, or an expression in quotes, such as "60 * {table/row/column}"'
_MOST_DECIMALS = 15
"""Most decimals of a number."""


@dataclass(frozen=True)
class OwnText:
    """The text of a file, in which mistakes have a place."""

    text: str

    def mistake(self, keys: Sequence[str], message: str) -> Mistake:
        """A mistake at the last of nested `keys`."""
        return Mistake(*place_of(self.text, *keys), message)

    def mistake_in(self, value: str, message: str) -> Mistake:
        """A mistake at the text `value`, such as the name of a table or a claim. At the file's beginning without it."""
        for number, line in enumerate(self.text.splitlines(), start=1):
            if value in line:
                return Mistake(number, line.index(value) + 1, message)
        return Mistake(1, 1, message)

    def check_keys(self, path: Sequence[str], table: Mapping[str, Any], known: Sequence[str]) -> None:
        """Raises `Mistake` at the first key of `table` that is not known."""
        for key in table:
            if key not in known:
                meant = meant_instead(key, known)
                raise self.mistake((*path, key), f"{key} is no key of {_place_name(path)}; {meant}")

    def check_number(self, path: Sequence[str], number: float | Decimal) -> None:
        """Raises `Mistake` for a number that no table can have: below 0, too large, or with too many digits.

        A share of the time is at most 100, and an amount of the side itself is not 0.
        """
        key, is_share = path[-1], path[0] == "sides" and path[2] == "time"
        if isinstance(number, Decimal) and not number.is_finite():
            raise self.mistake(path, f"{key} = {number} is no number; {NUMBER_EXAMPLE}")
        if not 0 <= number <= (100 if is_share else MOST_UNITS):
            what = "percent of all time, from 0 to 100" if is_share else f"from 0 to {MOST_UNITS:,}"
            raise self.mistake(path, f"{key} is {Decimal(number):.6g}, and must be {what}")
        if isinstance(number, Decimal) and -int(number.as_tuple().exponent) > _MOST_DECIMALS:
            raise self.mistake(path, f"{key} has more than {_MOST_DECIMALS} decimals: leave the last ones out")
        if number == 0 and path[0] == "sides" and len(path) == AMOUNT_KEYS:
            raise self.mistake(path, f"{key} is 0, and must be more: leave it out where it is not known")

    def check_kinds(
        self, path: Sequence[str], table: Mapping[str, Any], kinds: Kinds, needed: Sequence[str] = ()
    ) -> None:
        """Raises `Mistake` for a key that is not known or missing, and for a value of another kind."""
        self.check_keys(path, table, tuple(kinds))
        for key, value in table.items():
            if kinds[key] and not _IS_OF_KIND[kinds[key]](value):
                raise self.mistake((*path, key), f"{key} must be {kinds[key]}, not {toml_value(value)}")
        for key in needed:
            if key not in table:
                name = str(table.get("name", ""))
                message = f"{key} is missing in {' '.join([path[-1], *([name] if name else [])])}"
                raise self.mistake_in(f'"{name}"', message) if name else self.mistake(path, message)


_IS_OF_KIND: Mapping[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "a list": lambda value: isinstance(value, list),
    "a text or a list of texts": lambda value: isinstance(value, str) or _are_texts(value),
    "a table of texts": lambda value: isinstance(value, Mapping) and _are_texts(list(value.values())),
    "a list of tables": lambda value: isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value),
}


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def toml_value(value: Any) -> str:
    """A value as its file may have it, for a message."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, str) else str(value)


def _place_name(path: Sequence[str]) -> str:
    return f"[{'.'.join(path)}]" if path else "a document (docs/published.md)"
