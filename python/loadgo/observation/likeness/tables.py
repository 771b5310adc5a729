"""The tables of a likeness."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.comparison.figures import relative_change
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, duration, number, seconds, share, size
from loadgo.observation.likeness.results import (
    ComparedBytes,
    ComparedDistribution,
    ComparedFigure,
    Gap,
    Likeness,
    LoadOfSide,
    Measure,
    Verdict,
)
from loadgo.observation.likeness.words import (
    TABLE_WORDS,
    VERDICT_WORDS,
    difference_in_words,
    interval_in_words,
    observed_in_words,
    share_interval_in_words,
    value_in_words,
)
from loadgo.stats.interval import Interval

_DISTANCE_FOOT = (
    "distance: how far the quantiles of both sides lie apart on average, as a share of the observed mean "
    "(Wasserstein's distance); its interval begins at 0 where chance alone may be the cause."
)
_COMMAND_TABLES: tuple[tuple[Measure, str], ...] = (
    ("processor time", "Processor time"),
    ("page faults", "Page faults"),
    ("bytes read", "Bytes read"),
    ("bytes written", "Bytes written"),
    ("processes", "Processes"),
    ("response time", "Response time"),
)
_NAME_CHARS = 40
LEFT_OUT_TEXT = "left out"
"""The word in place of bytes that a script leaves out."""


def likeness_tables(likeness: Likeness) -> list[Table]:
    """All tables with the figures themselves, for the full report."""
    tables = [_user_table(likeness), _mix_table(likeness)]
    tables += [_command_table(likeness, measure, title) for measure, title in _COMMAND_TABLES]
    tables += [_byte_table(likeness), _think_after_table(likeness), _correlation_table(likeness), _load_table(likeness)]
    tables.append(_gap_table("What cannot be compared", likeness.not_compared, "why"))
    tables.append(_gap_table("What the script does not model", likeness.not_modelled, "how"))
    return [table.placed("full") for table in tables if table is not None]


def _has_classes(likeness: Likeness) -> bool:
    return any(figure.user_class for figure in likeness.figures)


def _class_column(likeness: Likeness, classes: Sequence[str]) -> list[Column]:
    if not _has_classes(likeness):
        return []
    return [Column("users", tuple(name or "all" for name in classes), kind="name")]


def _user_table(likeness: Likeness) -> Table | None:
    """The figures of users and sessions."""
    rows = [figure for figure in likeness.figures if not figure.command]
    if not rows:
        return None
    names = tuple(
        f"{TABLE_WORDS[row.measure]}{f', {row.statistic}' if row.measure == 'think time' else ''}" for row in rows
    )
    columns = (
        Column("figure", names),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("observed", tuple(observed_in_words(row) for row in rows)),
        Column("run", tuple(value_in_words(row.measure, row.run) for row in rows)),
        Column("difference", tuple(difference_in_words(row) for row in rows)),
        Column("its 95 %", tuple(interval_in_words(row) for row in rows), spare=1, of_previous=True),
        _verdict_column([row.verdict for row in rows]),
    )
    charts = tuple(f"curve-{name}" for name in _curve_names(likeness, "think time"))
    foot = "Rates are those of one user at work. processors taken: by the commands of a user, on average."
    return Table("Users", columns, name_width=None, foot=foot, id="users", charts=charts)


def _verdict_column(verdicts: Sequence[Verdict | None]) -> Column:
    """The verdict of each row, which a narrow page keeps in view."""
    words = tuple("" if verdict is None else VERDICT_WORDS[verdict] for verdict in verdicts)
    return Column("alike", words, kind="name", kept=True)


def _mix_table(likeness: Likeness) -> Table | None:
    rows = likeness.mixes
    if not rows:
        return None
    columns = (
        Column("of", tuple(row.what for row in rows)),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("others", tuple(share(row.share) for row in rows)),
        Column("its 95 %", tuple(share_interval_in_words(row.interval) for row in rows), spare=1, of_previous=True),
        Column("observed", tuple(number(row.counts[0]) for row in rows), spare=3),
        Column("run", tuple(number(row.counts[1]) for row in rows), spare=3),
        _verdict_column([row.verdict for row in rows]),
    )
    foot = "others: the share of the run's commands, or pairs, that are others than those observed."
    return Table("Which commands, and in which order", columns, id="mix", foot=foot)


def _command_table(likeness: Likeness, measure: Measure, title: str) -> Table | None:
    """The table of a measure: for each command its mean, its p90, and the distance of both distributions."""
    figures = [figure for figure in likeness.figures if figure.measure == measure and figure.command]
    keys = list(dict.fromkeys((figure.user_class, figure.command) for figure in figures))
    if not keys:
        return None
    distances = {
        (row.user_class, row.command): row for row in likeness.distributions if row.measure == measure and row.command
    }
    rows: list[ComparedFigure | ComparedDistribution] = []
    for key in keys:
        rows += [figure for figure in figures if (figure.user_class, figure.command) == key]
        rows += [distances[key]] if key in distances else []
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("", tuple(_statistic(row) for row in rows), kind="name"),
        Column("observed", tuple(_observed(row) for row in rows)),
        Column("run", tuple(_in_run(row) for row in rows)),
        Column("difference", tuple(_difference(row) for row in rows)),
        Column("its 95 %", tuple(_interval(row) for row in rows), spare=1, of_previous=True),
        Column("runs observed", tuple(number(row.counts[0]) for row in rows), spare=2),
        Column("in run", tuple(number(row.counts[1]) for row in rows), spare=2),
        _verdict_column([None if isinstance(row, ComparedDistribution) else row.verdict for row in rows]),
    )
    charts = tuple(f"curve-{name}" for name in _curve_names(likeness, measure))
    foot = _DISTANCE_FOOT if distances and measure == "processor time" else ""
    return Table(title, columns, name_width=None, foot=foot, id=measure.replace(" ", "-"), charts=charts)


def _statistic(row: ComparedFigure | ComparedDistribution) -> str:
    return "distance" if isinstance(row, ComparedDistribution) else row.statistic


def _observed(row: ComparedFigure | ComparedDistribution) -> str:
    return "" if isinstance(row, ComparedDistribution) else observed_in_words(row)


def _in_run(row: ComparedFigure | ComparedDistribution) -> str:
    return "" if isinstance(row, ComparedDistribution) else value_in_words(row.measure, row.run)


def _difference(row: ComparedFigure | ComparedDistribution) -> str:
    return share(row.distance) if isinstance(row, ComparedDistribution) else difference_in_words(row)


def _interval(row: ComparedFigure | ComparedDistribution) -> str:
    return share_interval_in_words(row.interval) if isinstance(row, ComparedDistribution) else interval_in_words(row)


def _byte_table(likeness: Likeness) -> Table | None:
    """The bytes of commands."""
    rows = [row for row in likeness.bytes if row.observed or row.script]
    if not any(row.script is not None for row in rows):
        return None
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("bytes", tuple(row.moved for row in rows), kind="words"),
        Column("observed", tuple(size(row.observed) for row in rows)),
        Column("script", tuple(_script_bytes(row) for row in rows)),
        Column("difference", tuple(_byte_difference(row) for row in rows)),
        Column("p90 observed", tuple(size(row.observed_p90) for row in rows), spare=3),
        Column("p90 in script", tuple(size(row.script_p90) for row in rows), spare=3),
        Column("distance", tuple(_byte_distance(row) for row in rows), spare=2),
        Column("goes with CPU: observed", tuple(_correlation(row.observed_correlation) for row in rows), spare=4),
        Column("in script", tuple(_correlation(row.script_correlation) for row in rows), spare=4),
    )
    lead = (
        "A run does not count the bytes of a command. These are means of the runs that were observed, and of what the "
        "stand-ins of the run's script are to move. They are not judged."
    )
    left_out = any(_is_left_out(row) for row in rows)
    foot = f"{LEFT_OUT_TEXT}: the few processes of so small a job move about as many bytes anyway." if left_out else ""
    absent = {NOT_MEASURED: "too few runs, one of both figures is the same in all of them, or nothing to compare"}
    return Table("Bytes that commands move", columns, name_width=None, lead=lead, foot=foot, id="bytes", absent=absent)


def _is_left_out(row: ComparedBytes) -> bool:
    """Whether the script has none of a command's bytes, as of those by calls of a small job."""
    return row.script == 0 and row.observed > 0 and row.moved.endswith("by calls")


def _script_bytes(row: ComparedBytes) -> str:
    return LEFT_OUT_TEXT if _is_left_out(row) else size(row.script)


def _byte_distance(row: ComparedBytes) -> str:
    return NOT_MEASURED if _is_left_out(row) else share(row.distance)


def _byte_difference(row: ComparedBytes) -> str:
    if row.relative is None or _is_left_out(row):
        return NOT_MEASURED
    return relative_change(row.relative, None)


def _think_after_table(likeness: Likeness) -> Table | None:
    rows = [figure for figure in likeness.figures if figure.command and figure.measure == "think time"]
    if not rows:
        return None
    columns = (
        Column("after", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("", tuple(row.statistic for row in rows), kind="name"),
        Column("observed", tuple(duration(row.observed) for row in rows)),
        Column("run", tuple(duration(row.run) for row in rows)),
        Column("difference", tuple(difference_in_words(row) for row in rows)),
        Column("its 95 %", tuple(interval_in_words(row) for row in rows), spare=1, of_previous=True),
        _verdict_column([row.verdict for row in rows]),
    )
    return Table("Think times by what was just done", columns, name_width=None)


def _correlation_table(likeness: Likeness) -> Table | None:
    rows = likeness.correlations
    if not rows:
        return None
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("processor time and", tuple(row.second for row in rows), kind="name"),
        Column("observed", tuple(_correlation(row.observed) for row in rows)),
        Column("its 95 %", tuple(_ends(row.observed_interval) for row in rows), spare=1, of_previous=True),
        Column("run", tuple(_correlation(row.run) for row in rows)),
        Column("its 95 %", tuple(_ends(row.run_interval) for row in rows), spare=1, of_previous=True),
    )
    foot = (
        "Rank correlations (Spearman's) of the runs of a command: 1 if runs with more processor time have more of the "
        "other, too, 0 if they have nothing to do with each other. waiting: neither on a processor nor ready."
    )
    absent = {NOT_MEASURED: "one of both figures is the same in all runs"}
    return Table("What goes with what", columns, name_width=None, foot=foot, absent=absent)


def _correlation(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.2f}".replace("-", "−")


def _ends(interval: Interval | None) -> str:
    return NOT_MEASURED if interval is None else f"{_correlation(interval.low)} to {_correlation(interval.high)}"


def _load_table(likeness: Likeness) -> Table:
    """The load as a whole. It is that of other numbers of users, and is not judged."""
    sides = (likeness.observed_load, likeness.run_load)
    rows = (
        ("users at work", *(_digits(side.users) for side in sides)),
        ("time", *(seconds(side.span_s) for side in sides)),
        ("commands", *(number(side.commands) for side in sides)),
        ("processors that commands use", *(_digits(side.processors_used) for side in sides)),
        ("processes that run or want to run", *(_digits(side.running_or_ready) for side in sides)),
        *([("sessions that begin in an hour", *map(_sessions, sides))] if sides[1].sessions_an_hour else []),
    )
    columns = tuple(
        Column(heading, tuple(row[at] for row in rows)) for at, heading in enumerate(("load", "observed", "run"))
    )
    foot = (
        "Means over the time. Observed users at work are those of the script who type as many commands. "
        "For one user see the table of users, which is right for any number of them."
    )
    return Table("The load as a whole", columns, name_width=_NAME_CHARS, foot=foot, id="load")


def _digits(value: float | None) -> str:
    return NOT_MEASURED if value is None else digits(value)


def _sessions(side: LoadOfSide) -> str:
    return _digits(side.sessions_an_hour)


def _gap_table(title: str, gaps: Sequence[Gap], heading: str) -> Table | None:
    if not gaps:
        return None
    columns = (
        Column("figure", tuple(gap.figure for gap in gaps)),
        Column(heading, tuple(gap.reason for gap in gaps), kind="words"),
    )
    return Table(title, columns, name_width=_NAME_CHARS)


def _curve_names(likeness: Likeness, measure: Measure) -> list[str]:
    return [str(number) for number, curve in enumerate(likeness.curves) if curve.measure == measure]
