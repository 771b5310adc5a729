"""The clock of another host beside this host's: offsets with bounds, from exchanges over the agent's own stream.

An exchange has four times, as in NTP (RFC 5905, section 8): a question leaves here, comes there, the answer leaves
there, comes back here. The true offset lies within half the time that the exchange was under way, whatever its two
directions took. Of each stage of a run the exchange with the smallest bound counts, and between stages the offset is
interpolated, which follows the drift. Both clocks are monotonic, so nobody who sets a clock moves them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Stage = Literal["beginning", "middle", "end"]
_TIME_BYTES = 8
_MOST_MIDDLE_EXCHANGES = 4096
"""Largest number of exchanges of the middle stage that are kept; beyond it every second one is dropped."""
_GOOD_BOUND_NS = 10_000_000
"""An exchange of the middle counts up to this bound, and up to twice the bound of the others."""
_MOST_QUESTIONS = 64
"""Largest number of questions without an answer that are kept; an older one counts as unanswered."""


@dataclass(frozen=True)
class Exchange:
    """One question for the clock of another host, and its answer."""

    stage: Stage
    sent_ns: int
    """The instant at which the question left, on the clock here."""
    came_ns: int
    """The instant at which it came, on the clock there."""
    left_ns: int
    """The instant at which the answer left, on the clock there."""
    back_ns: int
    """The instant at which the answer came, on the clock here."""

    @property
    def here_ns(self) -> int:
        """The middle of the exchange on the clock here."""
        return (self.sent_ns + self.back_ns) // 2

    @property
    def offset_ns(self) -> int:
        """The clock there minus the clock here."""
        return ((self.came_ns - self.sent_ns) + (self.left_ns - self.back_ns)) // 2

    @property
    def bound_ns(self) -> int:
        """The largest error of the offset."""
        under_way_ns = (self.back_ns - self.sent_ns) - (self.left_ns - self.came_ns)
        return under_way_ns // 2 + 1


class ClockExchanges:
    """The exchanges with one agent so far: the best of each stage."""

    def __init__(self) -> None:
        self.stage: Stage = "beginning"
        """The stage to which the questions belong from now on."""
        self.answered = 0
        """The number of answers in the stage of their question; late ones of an earlier stage do not count."""
        self._pending: dict[int, Stage] = {}
        self._best: dict[Stage, Exchange] = {}
        self._middle: list[Exchange] = []

    def question(self) -> bytes:
        """The bytes of a question that leaves now."""
        sent_ns = time.monotonic_ns()
        self._pending[sent_ns] = self.stage
        if len(self._pending) > _MOST_QUESTIONS:
            del self._pending[next(iter(self._pending))]
        return sent_ns.to_bytes(_TIME_BYTES, "big")

    def take(self, answer: bytes, back_ns: int) -> None:
        """Takes an answer that came at `back_ns`. An answer to no question, or with impossible times, is left out."""
        if len(answer) != 3 * _TIME_BYTES:
            return
        sent_ns, came_ns, left_ns = (
            int.from_bytes(answer[at : at + _TIME_BYTES], "big") for at in range(0, len(answer), _TIME_BYTES)
        )
        stage = self._pending.pop(sent_ns, None)
        if stage is None or not 0 <= left_ns - came_ns <= back_ns - sent_ns:
            return
        self.answered += stage == self.stage
        exchange = Exchange(stage, sent_ns, came_ns, left_ns, back_ns)
        if stage == "middle":
            self._middle.append(exchange)
            if len(self._middle) > _MOST_MIDDLE_EXCHANGES:
                del self._middle[::2]
            return
        best = self._best.get(stage)
        if best is None or exchange.bound_ns < best.bound_ns:
            self._best[stage] = exchange

    def clock(self) -> FarClock | None:
        """The other host's clock by these exchanges; None without one."""
        ends = list(self._best.values())
        exchanges = [*ends, *self._between(ends)]
        return FarClock.by(exchanges) if exchanges else None

    def _between(self, ends: Sequence[Exchange]) -> list[Exchange]:
        """The exchanges of the middle stage that count beside those of the beginning and of the end.

        Between two good ends the clock is known without a bad middle. Without an end the last third stands for it.
        """
        if not self._middle:
            return []
        middle, last = _best_of_third(self._middle, 1), _best_of_third(self._middle, 2)
        limit_ns = max(_GOOD_BOUND_NS, *(2 * exchange.bound_ns for exchange in ends or [middle]))
        if "end" not in self._best:
            return [middle, *([last] if last is not middle and last.bound_ns <= limit_ns else [])]
        if "beginning" in self._best and middle.bound_ns > limit_ns:
            middle = min(self._middle, key=lambda exchange: exchange.bound_ns)
            return [middle] if middle.bound_ns <= limit_ns else []
        return [middle]


def _best_of_third(exchanges: Sequence[Exchange], third: int) -> Exchange:
    """The exchange with the smallest bound in a third (0, 1, 2) of the time that the exchanges cover."""
    first_ns = exchanges[0].here_ns
    third_ns = (exchanges[-1].here_ns - first_ns) / 3
    begin_ns, end_ns = first_ns + third * third_ns, first_ns + (third + 1) * third_ns
    inside = [exchange for exchange in exchanges if begin_ns <= exchange.here_ns <= end_ns]
    return min(inside or exchanges, key=lambda exchange: exchange.bound_ns)


@dataclass(frozen=True)
class FarClock:
    """The monotonic clock of another host, placed beside this host's."""

    exchanges: tuple[Exchange, ...]
    """The best exchange of each stage that has one, in the order of time."""

    @staticmethod
    def by(exchanges: Iterable[Exchange]) -> FarClock:
        """The clock by at least one exchange."""
        return FarClock(tuple(sorted(exchanges, key=lambda exchange: exchange.here_ns)))

    @property
    def bound_ns(self) -> int:
        """The largest error of an instant that `here_ns` places between the exchanges."""
        return max(exchange.bound_ns for exchange in self.exchanges)

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the clock there runs, in parts per million; None with a single exchange."""
        first, last = self.exchanges[0], self.exchanges[-1]
        span_ns = last.here_ns - first.here_ns
        return 1e6 * (last.offset_ns - first.offset_ns) / span_ns if span_ns > 0 else None

    def here_ns(self, there_ns: Sequence[int]) -> list[int]:
        """The instants on the clock here of instants on the clock there."""
        return [instant - self._offset_at(instant) for instant in there_ns]

    @property
    def best(self) -> Exchange:
        """The exchange with the smallest bound."""
        return min(self.exchanges, key=lambda exchange: exchange.bound_ns)

    def there_ns(self, here_ns: int) -> int:
        """The instant on the clock there of an instant on the clock here, in the time of the exchanges or soon after.

        It is known within the bound of the best exchange, and what the clocks drift apart since.
        """
        return here_ns + self.best.offset_ns

    def _offset_at(self, there_ns: int) -> int:
        """The offset at an instant there: interpolated between exchanges, that of the nearest outside of them."""
        for before, after in pairwise(self.exchanges):
            begin_ns, end_ns = before.here_ns + before.offset_ns, after.here_ns + after.offset_ns
            if begin_ns <= there_ns < end_ns:
                change_ns = after.offset_ns - before.offset_ns
                return before.offset_ns + change_ns * (there_ns - begin_ns) // (end_ns - begin_ns)
        first, last = self.exchanges[0], self.exchanges[-1]
        return first.offset_ns if there_ns < first.here_ns + first.offset_ns else last.offset_ns
