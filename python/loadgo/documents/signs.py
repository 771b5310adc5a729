"""Pictures made of text characters: bars, shades, marks on a line, a plot with its axes, and their legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_LEVELS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HALVES = " ▐▌█"


def line(shares: Sequence[float]) -> str:
    """A bar character for each share from 0 to 1. Each share above 0 shows a bar."""
    return "".join(_LEVELS[min(8, math.ceil(share * 8 - 1e-9))] if share > 0 else " " for share in shares)


def bar(share: float, width: int) -> str:
    """A bar whose length is a share of `width` characters, in eighths of a character; above 0, at least an eighth."""
    eighths = max(1 if share > 0 else 0, round(share * width * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def half_bar(width: int, begin: int, end: int) -> str:
    """A line of `width` characters with a bar from `begin` to before `end`, both counted in half characters."""
    return "".join(_HALVES[2 * (begin <= at < end) + (begin <= at + 1 < end)] for at in range(0, 2 * width, 2))


def legend(parts: Sequence[str], width: int) -> list[str]:
    """Joins the parts of a legend side by side, in lines of at most `width` characters."""
    lines = [""]
    for part in parts:
        joined = f"{lines[-1]}   {part}" if lines[-1] else part
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def shade(rate: float, least: float, most: float) -> str:
    """A shade for a rate, on a logarithmic scale from `least` to `most`. A higher rate is darker."""
    if rate <= 0:
        return _SHADES[0]
    strength = math.log(rate / least) / math.log(most / least) if most > least else 1.0
    return _SHADES[min(4, 1 + math.floor(strength * 4))]


def place(value: float, low: float, high: float, width: int) -> int:
    """The position of a value on an axis of `width` characters from `low` to `high`. Values beyond are at the ends."""
    share = (value - low) / (high - low) if high > low else 0.0
    return round(min(1.0, max(0.0, share)) * (width - 1))


def marks(width: int, placed: Iterable[tuple[int, str]], between: tuple[int, int] | None = None) -> str:
    """A line with an interval, `between`, and signs at their positions. A later sign covers an earlier one."""
    signs = [" "] * width
    if between is not None:
        signs[between[0] : between[1] + 1] = "─" * (between[1] - between[0] + 1)
    for at, sign in placed:
        signs[at] = sign
    return "".join(signs)


def plot(canvas: Sequence[Sequence[str]], labels: Sequence[tuple[int, str]], ends: tuple[str, str]) -> list[str]:
    """The canvas, its rows from top to bottom, with labels beside rows and the ends of the axis below it."""
    margin, columns = max(len(label) for _, label in labels), len(canvas[0])
    shown = dict(labels)
    lines = [f"{shown.get(at, ''):>{margin}} │{''.join(row)}".rstrip() for at, row in enumerate(canvas)]
    axis = f"{shown.get(len(canvas), ''):>{margin}} └{'─' * columns}"
    return [*lines, axis, f"{'':>{margin}}  {ends[0]}{ends[1]:>{columns - len(ends[0])}}"]
