"""TOML of files that people write: parsed, with the place of what is no TOML, and the keys that may be meant."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection
from difflib import get_close_matches
from typing import Any

from loadgo.errors import Mistake

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


def toml_table(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The table in a text, with the numbers that `parse_float` makes of those with a decimal point or an exponent.

    Raises `ValueError`, also for values nested too deeply and for too large ones.
    """
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise tomllib.TOMLDecodeError("its values are nested too deeply") from None
    except (MemoryError, OverflowError) as error:
        raise tomllib.TOMLDecodeError(f"it has a value that is too large: {error}") from error


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The table in a file's text, as `toml_table` reads it. Raises `Mistake` with line and column."""
    try:
        return toml_table(text, parse_float)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    place = _TOML_PLACE.search(message)
    last_line = text.count("\n") + 1, len(text) - text.rfind("\n")
    line, column = (int(place[1]), int(place[2])) if place and place[1] else last_line
    raise Mistake(line, column, f"this is not TOML: {_TOML_PLACE.sub('', message)}")


def place_of(text: str, *keys: str) -> tuple[int, int]:
    """Line and column of the last of nested `keys` that the text has. 1, 1 if it has none of them.

    Each key is sought from the line of the key before it.
    """
    place, lines = (1, 1), text.splitlines()
    for key in keys:
        written = re.compile(rf"(?:^|[\s{{,\[.\"'])({re.escape(key)})[\"']?\s*(?:=|\.|\])")
        for number, line in enumerate(lines[place[0] - 1 :], start=place[0]):
            code, _, comment = line.partition("#")
            if match := written.search(line if key in comment else code):
                place = (number, match.start(1) + 1)
                break
    return place


def meant_instead(name: str, known: Collection[str]) -> str:
    """The remedy for an unknown `name`: the `known` name nearest to it, or all of them."""
    similar = get_close_matches(name, list(known), n=1)
    return f"did you mean {similar[0]}?" if similar else f"there are {', '.join(known)}"
