"""Pictures made of text characters: a line of bars, shades, and the legend that explains the characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

_LEVELS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"


def line(shares: Sequence[float]) -> str:
    """A bar character for each share from 0 to 1; the smallest share above 0 still shows a bar."""
    return "".join(_LEVELS[min(8, math.ceil(share * 8 - 1e-9))] if share > 0 else " " for share in shares)


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
    """A shade for a rate: the higher the rate, the darker, on a logarithmic scale from `least` to `most`."""
    if rate <= 0:
        return _SHADES[0]
    strength = math.log(rate / least) / math.log(most / least) if most > least else 1.0
    return _SHADES[min(4, 1 + math.floor(strength * 4))]
