"""What another way to move the same bytes saves: each method over a byte a call and over blocked records.

The ratio of processor time a bit, round by round (what drifts on the host is in both), and for three rounds or more
the interval that Student's t gives for the mean of its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadgo.stats.resample import CONFIDENCE, Interval
from loadgo.transfers.compared import Times
from loadgo.transfers.rounds import by_kind
from loadgo.transfers.row import Row

BASES = ("bytes", "records")
"""What the seed's program did: BIN and BOUT a byte, and records with headers in blocks."""
_FEWEST = 3


@dataclass(frozen=True)
class Saving:
    """A method at one end, and how many times less processor time a bit it takes than each of `BASES`."""

    method: str
    side: str
    direction: str
    rounds: int
    cpu_s_per_bit: float
    """The geometric mean of the rounds."""
    over: Mapping[str, Times]
    """By the base; a base that was not measured is not there."""


def savings(rows: Sequence[Row]) -> list[Saving]:
    """A saving for each method and end; none where no base was measured, or nothing but bases.

    Ordered by direction and cost, the dearest first.
    """
    logs = {
        kind: [math.log(row.cpu_s_per_bit) if not row.broke_off and row.cpu_s_per_bit else math.nan for row in of_kind]
        for kind, of_kind in by_kind(rows).items()
    }
    known = {kind: of_kind for kind, of_kind in logs.items() if any(map(math.isfinite, of_kind))}
    measured = {method for method, _, _ in known}
    if not measured & set(BASES) or len(measured) < 2:
        return []
    found = []
    for (method, side, direction), of_kind in known.items():
        bases = {base: known[base, side, direction] for base in BASES if (base, side, direction) in known}
        over = {base: _less(of_base, of_kind) for base, of_base in bases.items() if base != method}
        whole = [one for one in of_kind if math.isfinite(one)]
        cost = math.exp(sum(whole) / len(whole))
        known_over = {base: times for base, times in over.items() if times is not None}
        found.append(Saving(method, side, direction, len(whole), cost, known_over))
    return sorted(found, key=lambda one: (one.direction != "s", one.side, -one.cpu_s_per_bit))


def _less(base: Sequence[float], other: Sequence[float]) -> Times | None:
    """How many times less `other` is, from the logarithms of the rounds that both came through."""
    pairs = [one - two for one, two in zip(base, other, strict=False) if math.isfinite(one - two)]
    if not pairs:
        return None
    count, mean = len(pairs), sum(pairs) / len(pairs)
    if count < _FEWEST:
        return Times(math.exp(mean), None)
    spread = math.sqrt(sum((one - mean) ** 2 for one in pairs) / (count - 1))
    half = _student(count - 1) * spread / math.sqrt(count)
    return Times(math.exp(mean), Interval(math.exp(mean - half), math.exp(mean + half)))


def _student(freedom: int) -> float:
    # Not from scipy.stats, which takes seconds to load.
    from scipy import special

    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
