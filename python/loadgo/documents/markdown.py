"""Plain text in Markdown: every character that has a meaning there is escaped."""

from __future__ import annotations

import re

from loadgo.notation.figures import plain

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@$]|:(?=//))")


def escaped(text: str) -> str:
    """Escapes `text` so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", plain(text))
