"""The answer of a likeness in sentences, and whether to believe it."""

from __future__ import annotations

from loadgo.measures.trust import WIDE_SHARE, trust_in_words
from loadgo.notation.figures import counted, number
from loadgo.notation.margin import is_within_margin, margin_in_words
from loadgo.observation.likeness.compared import FEWEST_VALUES
from loadgo.observation.likeness.results import ComparedFigure, ComparedMix, Likeness, difference_of
from loadgo.observation.likeness.words import kind_of, named_difference
from loadgo.stats.resample import FEWEST_UNITS

FEWEST_SESSIONS = 10
"""Fewer sessions are a reason for doubt."""
_NAMED_FIGURES = 3
"""Number of kinds of which the answer names the furthest figure, if the run is not like what was observed."""
_MANY_UNCLEAR_SHARE = 0.5
_LEAST_WEIGHT_SHARE = 0.05
"""A figure of a command with less of the whole is not named first."""


def answer(likeness: Likeness) -> str:
    """The sentence on the figures of the script."""
    judged = likeness.judged("script")
    if not judged:
        return (
            "Whether the run is like what was observed cannot be told: no figure has enough values in enough sessions "
            f"on both sides ({counted(likeness.sessions[0], 'session')} observed, {number(likeness.sessions[1])} in "
            f"the run). It takes {FEWEST_VALUES} values in {FEWEST_UNITS} sessions on each side: observe for longer, "
            "or run it with more `--users` or `--passes`."
        )
    margin, differing = margin_in_words(likeness.margin), [row for row in judged if row.verdict == "differs"]
    if differing:
        which = f"{number(len(differing))} of {counted(len(judged), 'figure')} of the script"
        verb = "differs" if len(differing) == 1 else "differ"
        return (
            f"The run is not like what was observed: {which} {verb} by more than {margin}, and not by chance. "
            f"{_most(differing, _NAMED_FIGURES)}"
        )
    counts = counts_in_words(likeness, judged)
    verdict = "is like" if likeness.is_alike else "may be like"
    return f"The run {verdict} what was observed: {counts}. {_most(judged)}"


def host_answer(likeness: Likeness) -> str:
    """The sentence on the figures that depend on the host, too; empty without any."""
    judged = likeness.judged("host")
    if not judged:
        return ""
    counts = counts_in_words(likeness, judged)
    return f"Responses and rates depend on what else the host does, too: {counts}. {_most(judged)}"


def counts_in_words(likeness: Likeness, judged: list[ComparedFigure | ComparedMix]) -> str:
    """How many of these figures are within the margin, and how many with their whole interval."""
    within = sum(_is_within(row, likeness.margin) for row in judged)
    certain = sum(row.verdict == "alike" for row in judged)
    margin = margin_in_words(likeness.margin)
    shown = "all" if within == len(judged) else number(within) if within else "none"
    verb = "differs" if within < 2 else "differ"
    counts = f"of {counted(len(judged), 'figure')} {shown} {verb} by less than {margin}"
    if not within:
        return counts
    certainty = "all of them" if certain == within else number(certain) if certain else "none"
    return f"{counts}, {certainty} with the whole interval"


def _is_within(row: ComparedFigure | ComparedMix, margin: float) -> bool:
    difference = difference_of(row)
    return difference is not None and is_within_margin(difference, difference, margin)


def _most(rows: list[ComparedFigure | ComparedMix], count: int = 1) -> str:
    """A sentence on the figures that differ most, each of another kind."""
    return f"Most: {'; '.join(map(named_difference, furthest_by_kind(rows)[:count]))}."


def furthest_by_kind(rows: list[ComparedFigure | ComparedMix]) -> list[ComparedFigure | ComparedMix]:
    """The figure of each kind that differs most, the furthest first: of commands that matter, if there is one."""
    ordered = sorted(_weighty(rows) or rows, key=lambda row: -abs(difference_of(row) or 0.0))
    furthest: dict[str, ComparedFigure | ComparedMix] = {}
    for row in ordered:
        furthest.setdefault(kind_of(row), row)
    return list(furthest.values())


def _weighty(rows: list[ComparedFigure | ComparedMix]) -> list[ComparedFigure | ComparedMix]:
    """The figures without those of commands that have little of the sum of their measure over these commands."""
    totals: dict[str, float] = {}
    for row in rows:
        if isinstance(row, ComparedFigure) and row.command:
            totals[row.measure] = totals.get(row.measure, 0.0) + _total(row)
    return [
        row
        for row in rows
        if not isinstance(row, ComparedFigure)
        or not row.command
        or _total(row) >= _LEAST_WEIGHT_SHARE * totals[row.measure]
    ]


def _total(figure: ComparedFigure) -> float:
    """The observed figure over all runs of a command, as much as there may be."""
    return (figure.observed_most or 0.0) * figure.counts[0]


def trust(likeness: Likeness) -> str:
    """The line on whether to believe the answer."""
    against, grounds = [], []
    observed, in_run = likeness.sessions
    if observed < FEWEST_SESSIONS:
        against.append(f"{counted(observed, 'observed session')} may not be like others")
    if in_run < FEWEST_SESSIONS:
        against.append(f"the run has {counted(in_run, 'session')} of the script")
    judged = [*likeness.judged("script"), *likeness.judged("host")]
    few = sum(figure.verdict == "few" for figure in likeness.figures)
    unclear = sum(row.verdict == "unclear" for row in judged)
    if few:
        against.append(f"{counted(few, 'figure')} {'has' if few == 1 else 'have'} too few values to be judged")
    if judged and unclear > _MANY_UNCLEAR_SHARE * len(judged):
        against.append(
            f"the intervals of {number(unclear)} of {counted(len(judged), 'figure')} reach beyond the margin"
        )
    if any(_is_rounded(figure) for figure in likeness.figures):
        against.append("processor times were counted in steps of 10 ms, so that they are ranges")
    if judged:
        grounds.append(
            f"the 95 % intervals are from {counted(observed, 'session')} observed and {number(in_run)} in the run"
        )
    evidence = likeness.evidence.and_also(against, grounds)
    return trust_in_words(evidence, is_warned=bool(likeness.warnings), is_low=not judged)


def _is_rounded(figure: ComparedFigure) -> bool:
    """Whether rounding hides a share of the figure that matters."""
    if figure.measure != "processor time" or not figure.observed or figure.observed_most is None:
        return False
    return figure.observed_most / figure.observed - 1 > WIDE_SHARE
