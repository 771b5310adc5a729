"""A history in words: its answer, each change in a sentence, warnings and notes."""

from __future__ import annotations

from collections.abc import Iterator

from loadgo.comparison.figures import notation_of, percent_interval, relative_change
from loadgo.laboratory.history import History, HistoryChange, HistoryPoint
from loadgo.measures.fail_if import format_figure
from loadgo.measures.run_remarks import remarks_note
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.comparisons import NamedFigure
from loadgo.notation.figures import NOT_MEASURED, capitalized, counted, duration, in_words, number, plain
from loadgo.stats.change_points import FEWEST_VALUES, LARGEST_CHANCE_SHARE

MOST_NAMED_RUNS = 3
"""Most runs that a note names. The JSON has all."""
MOST_NAMED_CONDITIONS = 6


def answer(past: History) -> str:
    """The sentence that says whether the figure changed, and how at the last change that counts."""
    points = past.points
    if not any(series.enough for series in past.series):
        return (
            f"{past.figure}: cannot tell from {counted(len(points), 'run')}; a change can be found from "
            f"{FEWEST_VALUES} runs on."
        )
    if not past.changes:
        return f"{past.figure}: no change found in {counted(len(points), 'run')}, {_dates(points)}."
    if past.judged_changes:
        return f"{past.figure}: {_change_words(past, past.judged_changes[-1])}"
    last = past.changes[-1]
    return f"{past.figure}: no change found since {past.since:%Y-%m-%d}. Before, {_change_words(past, last)}"


def further_answers(past: History) -> tuple[str, ...]:
    """The other changes that count, and hosts with too few runs."""
    lines = [capitalized(_change_words(past, change)) for change in past.judged_changes[:-1]]
    few = [series for series in past.series if not series.enough]
    if few and len(few) < len(past.series):
        lines += [f"{plain(one.host)}: cannot tell from {counted(len(one.points), 'run')}." for one in few]
    return tuple(lines)


def _change_words(past: History, change: HistoryChange) -> str:
    host = f" on {plain(change.host)}" if len(past.series) > 1 else ""
    verdict = "" if change.direction == "neither" else f": {change.direction}"
    return (
        f"{size_words(past.figure, change)}{host} between {plain(change.last_before.run.name)} and "
        f"{plain(change.first_after.run.name)}, from {format_figure(change.level.before, past.figure.dimension)} to "
        f"{format_figure(change.level.after, past.figure.dimension)}{verdict}."
    )


def size_words(figure: NamedFigure, change: HistoryChange) -> str:
    """The size of a change with its interval, as in `+42.2 % (+38 to +47 %)`."""
    interval = interval_words(figure, change)
    return f"{_size(figure, change)} ({interval})" if interval != NOT_MEASURED else _size(figure, change)


def _size(figure: NamedFigure, change: HistoryChange) -> str:
    level = change.level
    if level.scale == "ratio":
        return relative_change(level.size, level.interval)
    return _signed_figure(figure, level.size)


def interval_words(figure: NamedFigure, change: HistoryChange) -> str:
    """The 95 % interval of a change; a dash where the values do not scatter."""
    level = change.level
    if level.interval is None:
        return NOT_MEASURED
    if level.scale == "ratio":
        return percent_interval(level.interval, notation_of([(level.size, level.interval)]))
    return f"{_signed_figure(figure, level.interval.low)} to {_signed_figure(figure, level.interval.high)}"


def _signed_figure(figure: NamedFigure, value: float) -> str:
    sign = "−" if value < 0 else "+"
    return f"{sign}{format_figure(abs(value), figure.dimension)}"


def warnings(past: History) -> tuple[str, ...]:
    """A warning if runs of the history have remarks, since these may be what changed."""
    doubtful = sum(bool(point.remarks) for point in past.points)
    if not doubtful:
        return ()
    have = "has a remark" if doubtful == 1 else "have remarks"
    return (
        f"{number(doubtful)} of {counted(len(past.points), 'run')} {have}, such as other work of the host or a "
        "limit: a change may come from there, and not from what was to be measured.",
    )


def trust(past: History) -> str:
    """The line on whether to believe the answer; empty without a run."""
    if not past.points:
        return ""
    doubtful = sum(bool(point.remarks) for point in past.points)
    against = []
    if not any(series.enough for series in past.series):
        against.append(f"{counted(len(past.points), 'run')} cannot tell a change from chance")
    is_warned = 2 * doubtful > len(past.points)
    if doubtful and not is_warned:
        have = "has" if doubtful == 1 else "have"
        against.append(f"{number(doubtful)} of {counted(len(past.points), 'run')} {have} a remark")
    percent = f"{100 * LARGEST_CHANCE_SHARE:g}"
    grounds = f"in random order the same runs show such a change in fewer than {percent} of 100 tries"
    if not past.changes:
        grounds = (
            f"a change counts if the same runs in random order show one as clear in fewer than {percent} of 100 tries; "
            "a smaller one can be hidden"
        )
    few = [plain(series.host) for series in past.series if not series.enough]
    where = f" on {in_words(few)}" if len(past.series) > 1 else ""
    evidence = Evidence(tuple(against), (grounds,) if len(few) < len(past.series) else ())
    return trust_in_words(evidence, is_warned=is_warned, untold=f"whether the figure changed{where}" if few else "")


def about(past: History) -> tuple[str, ...]:
    """Lines on the runs of the history."""
    run = past.like
    users = "" if run.users is None else f", {run.users:,} user{'' if run.users == 1 else 's'}"
    hosts = " and ".join(plain(series.host) for series in past.series[:4]) or "no host"
    further = f" and {len(past.series) - 4} more" if len(past.series) > 4 else ""
    on_hosts = "" if hosts == plain(run.system) else f" ({hosts}{further})"
    return (
        f"{counted(len(past.points), 'run')} of {plain(run.script)}{users} on {plain(run.system)}{on_hosts}, "
        f"{_dates(past.points)}",
    )


def _dates(points: tuple[HistoryPoint, ...]) -> str:
    dates = [f"{point.run.started:%Y-%m-%d}" for point in points if point.run.started is not None]
    if not dates:
        return "without dates"
    return dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"


def notes(past: History) -> tuple[tuple[str, str], ...]:
    """Notes below the tables: what a change is, the conditions beside each, and what was left out."""
    lines = [
        (
            "Change",
            "a run from which on the figure has another level, by more than chance: in random order the same runs show "
            f"such a change in fewer than {100 * LARGEST_CHANCE_SHARE:g} of 100 tries. The last run alone is never a "
            "change, since it may be an outlier. Slow drift is shown as one or several steps.",
        ),
        ("Size", "of a change: the level after it against the level before it, with its 95 % interval."),
        (
            "Like",
            "runs of the same script with the same text, users, system, host and log-in. Other conditions may differ.",
        ),
    ]
    lines += list(_condition_notes(past))
    if note := remarks_note(point.remarks for point in past.points):
        lines.append(("Remarks", note))
    for left_out in past.left_out:
        names = ", ".join(plain(name) for name in left_out.names[:MOST_NAMED_RUNS])
        more = f" and {len(left_out.names) - MOST_NAMED_RUNS:,} more" if len(left_out.names) > MOST_NAMED_RUNS else ""
        lines.append(("Left out", f"{counted(len(left_out.names), 'run')} ({left_out.reason}): {names}{more}."))
    return tuple(lines)


def _condition_notes(past: History) -> Iterator[tuple[str, str]]:
    for change in past.changes:
        differing = [
            f"{one.shown_name} {' → '.join(one.shown_values)}" for one in change.conditions[:MOST_NAMED_CONDITIONS]
        ]
        more = len(change.conditions) - len(differing)
        text = "; ".join(differing) + (f"; and {more} more" if more > 0 else "")
        yield (
            f"At {change.first_after.run.name}",
            f"{text}." if text else "no recorded condition differs from the run before it.",
        )


def figure_words(figure: NamedFigure, value: float) -> str:
    """A value of the figure with its unit."""
    return format_figure(value, figure.dimension)


def time_words(point: HistoryPoint) -> str:
    """The start of a point's run, to the minute."""
    return NOT_MEASURED if point.run.started is None else f"{point.run.started:%Y-%m-%d %H:%M}"


def apart_words(change: HistoryChange) -> str:
    """The time between the two runs of a change."""
    seconds = change.first_after.run.start_s - change.last_before.run.start_s
    if seconds <= 0:
        return NOT_MEASURED
    return duration(seconds * 1e9) if seconds < 172_800 else f"{seconds / 86_400:,.1f} days"
