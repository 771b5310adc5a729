"""Divides sessions into light and heavy ones, where they are of two kinds.

The measure is the processor time of a session's commands, per command, on a logarithmic scale. All divisions of the
ordered sessions in two are tried. The best has the least squares within its parts (Fisher, JASA 53, 1958). The division
counts only if it leaves less than a fifth of the squares. Of a uniform law the best leaves a fourth, of a normal one
more than a third. The parts must differ by a factor of two, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.observation.sessions import ObservedSession

MOST_LEFT_SHARE = 0.2
"""The largest share of squares that a division may leave."""
FEWEST_DIVIDED_SESSIONS = 20
"""Number of sessions from which classes are told apart: alike, 38 of 1,000 sets of 20 are divided, 211 of 10."""
LEAST_CLASS_RATIO = 2.0
"""The mean of heavy sessions is at least this many times that of light ones, on the logarithmic scale."""
FEWEST_CLASS_SESSIONS = 2
FEWEST_CLASS_SHARE = 0.05
"""A class has at least this share of the sessions."""
_FLOOR_NS = 1_000_000
"""Least processor time a command on the logarithmic scale, since accounting counts in steps of 10 ms."""


@dataclass(frozen=True)
class SessionClass:
    """A class of sessions with a name: `all`, or `light` and `heavy`; and `batch`."""

    name: str
    sessions: tuple[ObservedSession, ...]


@dataclass(frozen=True)
class Division:
    """The classes of the sessions, and the reason."""

    classes: tuple[SessionClass, ...]
    reason: str


def divide(sessions: Sequence[ObservedSession]) -> Division:
    """The classes of the sessions, which are not empty. Batch jobs are a class of their own."""
    typed = [session for session in sessions if not session.is_batch]
    if len(typed) == len(sessions):
        return _divide_typed(sessions)
    batch = SessionClass("batch", tuple(session for session in sessions if session.is_batch))
    if not typed:
        return Division((batch,), "one class, which is batch jobs")
    division = _divide_typed(typed)
    return Division((*division.classes, batch), f"{division.reason}; and a class of batch jobs")


def _divide_typed(sessions: Sequence[ObservedSession]) -> Division:
    """The classes of sessions at terminals."""
    one_class = (SessionClass("all", tuple(sessions)),)
    if any(use.cpu_ns is None for session in sessions for use in session.commands):
        return Division(one_class, "one class, since processor times are not known")
    if len(sessions) < FEWEST_DIVIDED_SESSIONS:
        return Division(one_class, f"one class, since two classes need {FEWEST_DIVIDED_SESSIONS} sessions or more")
    logs = np.log([max(cpu_per_command_ns(session), _FLOOR_NS) for session in sessions])
    ordered = [sessions[index] for index in np.argsort(logs, kind="stable")]
    logs = np.sort(logs)
    place, left = _best_division(logs)
    ratio = math.exp(logs[place:].mean() - logs[:place].mean())
    if left > MOST_LEFT_SHARE or ratio < LEAST_CLASS_RATIO:
        return Division(one_class, "one class, since the sessions do not divide clearly by processor time a command")
    border_ns = math.exp((logs[place - 1] + logs[place]) / 2)
    return Division(
        (SessionClass("light", tuple(ordered[:place])), SessionClass("heavy", tuple(ordered[place:]))),
        f"two classes of sessions: the heavy ones use more than {border_ns / 1e6:.3g} ms of processor time a command",
    )


def cpu_per_command_ns(session: ObservedSession) -> float:
    """The mean processor time of a session's commands."""
    return sum(use.cpu_ns or 0 for use in session.commands) / len(session.commands)


def _best_division(ordered: np.ndarray) -> tuple[int, float]:
    """The number of values in the first part of the best division, and the share of squares that it leaves."""
    count = len(ordered)
    fewest = max(FEWEST_CLASS_SESSIONS, math.ceil(FEWEST_CLASS_SHARE * count))
    squares = float(((ordered - ordered.mean()) ** 2).sum())
    if squares <= 1e-12 * count:
        return fewest, 1.0
    sums, sizes = np.cumsum(ordered)[:-1], np.arange(1, count)
    rest_means = (ordered.sum() - sums) / (count - sizes)
    between = sizes * (count - sizes) / count * (sums / sizes - rest_means) ** 2
    between[: fewest - 1] = between[count - fewest :] = -1.0
    place = int(np.argmax(between))
    return place + 1, float(1 - between[place] / squares)
