"""TOML of files that people write: parsed, with the place of what is no TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from loadgo.errors import Mistake

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


def parse_toml(text: str) -> dict[str, Any]:
    """The table in a file's text. Raises `Mistake` with line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    place = _TOML_PLACE.search(message)
    last_line = text.count("\n") + 1, len(text) - text.rfind("\n")
    line, column = (int(place[1]), int(place[2])) if place and place[1] else last_line
    raise Mistake(line, column, f"this is not TOML: {_TOML_PLACE.sub('', message)}")
