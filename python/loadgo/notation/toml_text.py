"""TOML of files that people write: parsed, with the place of what is no TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from loadgo.errors import Mistake

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


def toml_table(text: str) -> dict[str, Any]:
    """The table in a text. Raises `ValueError`, also for values nested too deeply and for too large ones."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("its values are nested too deeply") from None
    except (MemoryError, OverflowError) as error:
        raise tomllib.TOMLDecodeError(f"it has a value that is too large: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """The table in a file's text. Raises `Mistake` with line and column."""
    try:
        return toml_table(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    place = _TOML_PLACE.search(message)
    last_line = text.count("\n") + 1, len(text) - text.rfind("\n")
    line, column = (int(place[1]), int(place[2])) if place and place[1] else last_line
    raise Mistake(line, column, f"this is not TOML: {_TOML_PLACE.sub('', message)}")
