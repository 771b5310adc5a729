"""The options of a capacity search, and the lengths of its trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadgo.distribution.choice import DEFAULT_CHOICE, WorkerChoice
from loadgo.errors import BadArgument
from loadgo.notation.quantities import span_s
from loadgo.running.prepared import is_host
from loadgo.sizing.search.rounds import TrialLengths
from loadgo.sizing.site import TrialSite

DEFAULT_SHORTEST_TRIAL_S, DEFAULT_LONGEST_TRIAL_S = 30.0, 300.0
"""Defaults of the shortest and the longest trial on a host."""


DEFAULT_MACHINE_TRIAL_S = 1800.0
"""Default length of a trial on a simulated machine, for a search over a limit: virtual time, which costs little."""


@dataclass(frozen=True)
class SearchOptions:
    """The options of a search; None means the default."""

    target: str | Sequence[str]
    max_users: int | None = None
    mix: str | None = None
    within: int | None = None
    shortest: float | str | None = None
    longest: float | str | None = None
    trials: int | None = None
    seed: int = 1
    tariff: str = "default"
    out: Path | None = None
    draws: int | None = None
    choice: WorkerChoice = DEFAULT_CHOICE
    sudo: bool = False
    """Whether the agent on another host runs by `sudo`."""
    limit_each: tuple[str, ...] = ()
    """The limits of each user, and of single classes."""


def trial_lengths(options: SearchOptions, site: TrialSite) -> TrialLengths:
    """The shortest and the longest trial. Options that contradict raise `ValueError`."""
    return trial_lengths_on_host(options) if site.live else _trial_lengths(options, 0.0, math.inf)


def trial_lengths_on_host(options: SearchOptions) -> TrialLengths:
    """The shortest and the longest trial on a host. Options that contradict raise `ValueError`."""
    return _trial_lengths(options, DEFAULT_SHORTEST_TRIAL_S, DEFAULT_LONGEST_TRIAL_S)


def knob_trial_s(options: SearchOptions, on: str) -> float:
    """The length of each trial of a search over a limit on the system `on`. A mistake raises `ValueError`."""
    if is_host(on) or options.shortest is not None:
        return trial_lengths_on_host(options).shortest_s
    return DEFAULT_MACHINE_TRIAL_S


def _trial_lengths(options: SearchOptions, shortest: float, longest: float) -> TrialLengths:
    if options.shortest is not None:
        shortest = span_s(options.shortest, "shortest")
    if options.longest is not None:
        longest = span_s(options.longest, "longest")
    if options.shortest is not None and options.longest is None:
        longest = max(longest, shortest)
    if options.longest is not None and options.shortest is None:
        shortest = min(longest, shortest)
    if shortest > longest:
        raise BadArgument(f"the shortest trial, {shortest:g} s, is longer than the longest, {longest:g} s")
    return TrialLengths(shortest, longest)
