"""Figures of a likeness in words: their names, values in their units, and differences with intervals."""

from __future__ import annotations

import math

from loadgo.comparison.figures import notation_of, percent_interval, relative_change
from loadgo.notation.figures import NOT_MEASURED, as_code, duration, joined, number, share, size
from loadgo.observation.likeness.results import ComparedFigure, ComparedMix, Measure, Verdict, difference_of
from loadgo.stats.interval import Interval

_TIMES: tuple[Measure, ...] = ("processor time", "response time", "think time")
_SIZES: tuple[Measure, ...] = ("bytes read", "bytes written")
USER_WORDS: dict[Measure, str] = {
    "commands in a session": "commands in a session",
    "commands a minute": "commands a minute of a user",
    "processors used": "processors that a user takes",
    "running or ready": "processes of a user that run or want to",
    "think time": "think time",
}
"""The names of figures of users and sessions."""
TABLE_WORDS: dict[Measure, str] = {
    **USER_WORDS,
    "commands a minute": "commands a minute",
    "processors used": "processors taken",
    "running or ready": "processes running or ready",
}
"""The same in a table, whose title says that they are those of a user."""
VERDICT_WORDS: dict[Verdict, str] = {"alike": "yes", "differs": "no", "unclear": "unclear", "few": "too few"}


def value_in_words(measure: Measure, value: float | None) -> str:
    """A figure with its unit."""
    if measure in _TIMES:
        return duration(value)
    return size(value) if measure in _SIZES else number(value)


def observed_in_words(figure: ComparedFigure) -> str:
    """The observed figure; with rounding, from what was counted to all that rounding may hide."""
    low, high = (value_in_words(figure.measure, value) for value in (figure.observed, figure.observed_most))
    return low if figure.observed == figure.observed_most else joined(low, high)


def difference_in_words(figure: ComparedFigure | ComparedMix) -> str:
    """The difference in percent; of a mix, the share that differs."""
    if isinstance(figure, ComparedMix):
        return share(figure.share)
    if figure.relative is None:
        is_within_range = figure.run is not None and figure.observed_most != figure.observed
        return "within the range" if is_within_range else NOT_MEASURED
    return relative_change(figure.relative, figure.interval)


def interval_in_words(figure: ComparedFigure) -> str:
    """The interval of a difference in percent, or as factors where the difference is one."""
    interval = figure.interval
    if interval is None:
        return NOT_MEASURED
    notation = notation_of([(figure.relative, interval)])
    if math.isinf(interval.high):
        return f"{relative_change(interval.low, None, notation)} or more"
    return percent_interval(interval, notation)


def share_interval_in_words(interval: Interval | None) -> str:
    """The interval of a distance or a share in percent, which is never negative."""
    return (
        NOT_MEASURED if interval is None else joined(*(f"{100 * end:.0f} %" for end in (interval.low, interval.high)))
    )


def named(figure: ComparedFigure | ComparedMix) -> str:
    """The figure in a sentence, such as `the p90 of the think time of heavy users`."""
    if isinstance(figure, ComparedMix):
        return f"the share of {figure.what} that are others{_of_users(figure.user_class)}"
    if figure.command and figure.measure == "think time":
        subject = f"think time after {as_code(figure.command)}{_of_users(figure.user_class)}"
    elif figure.command:
        subject = (
            f"{figure.measure} of {as_code(figure.command)}{f' ({figure.user_class})' if figure.user_class else ''}"
        )
    elif figure.measure in ("commands in a session", "commands a minute", "processors used", "running or ready"):
        return f"the {USER_WORDS[figure.measure]}{_of_class(figure.user_class)}"
    else:
        subject = f"{figure.measure}{_of_users(figure.user_class)}"
    return f"the {figure.statistic} of the {subject}" if figure.statistic == "p90" else f"the mean {subject}"


def kind_of(figure: ComparedFigure | ComparedMix) -> str:
    """The kind of a figure, as the first table of a report has it."""
    if isinstance(figure, ComparedMix):
        return "which commands" if figure.what == "commands" else "order of commands"
    if figure.command and figure.measure == "think time":
        return "think time after a command"
    return TABLE_WORDS.get(figure.measure, figure.measure)


def row_name(figure: ComparedFigure | ComparedMix) -> str:
    """The figure as the name of a row, such as `think time after build, p90 (heavy)`; without p90 it is the mean."""
    if isinstance(figure, ComparedMix):
        return f"{figure.what} that are others{_of_class(figure.user_class)}"
    between = " after" if figure.measure == "think time" else " of"
    command = f"{between} {figure.command}" if figure.command else ""
    statistic = ", p90" if figure.statistic == "p90" else ""
    return f"{TABLE_WORDS.get(figure.measure, figure.measure)}{command}{statistic}{_of_class(figure.user_class)}"


def _of_users(user_class: str) -> str:
    return f" of {user_class} users" if user_class else ""


def _of_class(user_class: str) -> str:
    return f" ({user_class})" if user_class else ""


def named_difference(figure: ComparedFigure | ComparedMix) -> str:
    """The figure with its difference and the interval of that."""
    shown = difference_in_words(figure)
    if figure.interval is None or difference_of(figure) is None:
        return f"{named(figure)}, {shown}"
    ends = share_interval_in_words(figure.interval) if isinstance(figure, ComparedMix) else interval_in_words(figure)
    return f"{named(figure)}, {shown} ({ends})"
