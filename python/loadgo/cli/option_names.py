"""Names of a call's arguments as options of the command line, for the texts of errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPTIONS = {
    "duration": "--for",
    "driven_from": "--from",
    "output": "-o",
    "sources": "--from",
    "fifo": "--no-fifo",
    "token": "--token-file",
    "figure": "FIGURE",
}
"""Options whose names differ from those of their arguments, and arguments of the command line that are no options."""


def with_option_names(text: str, arguments: Sequence[str]) -> str:
    """The text with options in place of the names in backquotes: `` `max_users=9` `` becomes `--max-users 9`."""
    if not arguments:
        return text
    names = "|".join(sorted(map(re.escape, arguments), key=len, reverse=True))
    return re.sub(rf"`({names})(?:=([^`]*))?`", lambda match: _option(match[1], match[2]), text)


def _option(argument: str, value: str | None) -> str:
    option = _OPTIONS.get(argument, "--" + argument.replace("_", "-"))
    return option if value is None else f"{option} {value}"
