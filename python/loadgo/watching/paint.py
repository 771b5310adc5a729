"""Colours for the lines of a watched run in a terminal: those of the palette, of the 256 of a terminal the nearest."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.color import Color, ColorSystem

from loadgo.documents.palette import ACCENT_COLOR, STATE_COLORS
from loadgo.watching.state_signs import STATE_SIGNS

_PALETTE_DIGITS = len("#rrggbb")


def _terminal_color(color: str) -> str:
    """The escape code of a colour of the palette, without its transparency."""
    nearest = Color.parse(color[:_PALETTE_DIGITS]).downgrade(ColorSystem.EIGHT_BIT)
    return ";".join(nearest.get_ansi_codes())


_SGR = {"bad": "1;31", "good": "32", "faint": "2", "head": "1", "bars": _terminal_color(ACCENT_COLOR)}
_SIGN_COLORS = {sign: _terminal_color(STATE_COLORS[state]) for state, sign in STATE_SIGNS.items()}
"""The colour of each sign of a user's state."""
_BARS = re.compile("[▁▂▃▄▅▆▇█]+")
_BAD_WORDS = re.compile(r" over$| lost at \S+ \S+$| lost$| late \S+ \S+$|[\d,]+ RECORDS? LOST")


def painted(text: str, kind: str) -> str:
    """The line with escape sequences for colour. `kind` is the kind of the line on the screen."""
    paint = _PAINTERS.get(kind)
    return paint(text) if paint else text


def _colored(text: str, name: str) -> str:
    return f"\x1b[{_SGR[name]}m{text}\x1b[0m" if text else text


def _band(text: str) -> str:
    """A user's line, whose name stands before the signs."""
    return text[:12] + _signs(text[12:], r"(.)\1*")


def _signs(text: str, pattern: str) -> str:
    """The text with the signs of states in their colours; `pattern` finds a sign as its first group."""

    def paint(run: re.Match[str]) -> str:
        color = _SIGN_COLORS.get(run[1])
        return f"\x1b[{color}m{run[0]}\x1b[0m" if color else run[0]

    return re.sub(pattern, paint, text)


def _series(text: str) -> str:
    return text[:12] + _BARS.sub(lambda bars: _colored(bars[0], "bars"), text[12:])


def _row(text: str) -> str:
    return _BAD_WORDS.sub(lambda words: _colored(words[0], "bad"), text)


_PAINTERS: dict[str, Callable[[str], str]] = {
    "title": lambda text: _colored(text, "head"),
    "answer": lambda text: _colored(text, "bad"),
    "good answer": lambda text: _colored(text, "good"),
    "head": lambda text: _colored(text, "faint"),
    "band": _band,
    "legend": lambda text: _signs(text, r"(\S)(?= \S)"),
    "series": _series,
    "row": _row,
}
