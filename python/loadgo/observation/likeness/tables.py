"""The tables of a likeness."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.comparison.figures import relative_change
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, TOO_FEW_TEXT, digits, duration, number, seconds, share, size
from loadgo.notation.margin import margin_in_words
from loadgo.observation.likeness.results import (
    ComparedBytes,
    ComparedDistribution,
    ComparedFigure,
    Gap,
    Likeness,
    LoadOfSide,
    Measure,
    Statistic,
    Verdict,
)
from loadgo.observation.likeness.words import (
    USER_WORDS,
    difference_in_words,
    interval_in_words,
    observed_in_words,
    share_interval_in_words,
    value_in_words,
)
from loadgo.stats.interval import Interval

MOST_ROWS = 12
"""Most rows of a table of commands in the short report."""
VERDICT_WORDS: dict[Verdict, str] = {"alike": "yes", "differs": "no", "unclear": "unclear", "few": "too few"}
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
_Key = tuple[str, str]
_ByKey = dict[tuple[str, str, Statistic], ComparedFigure]


def likeness_tables(likeness: Likeness) -> list[Table]:
    """All tables that have rows."""
    tables = [_user_table(likeness), _mix_table(likeness)]
    for measure, title in _COMMAND_TABLES:
        tables += _command_tables(likeness, measure, title)
    tables += _byte_tables(likeness)
    tables += [_think_after_table(likeness), _correlation_table(likeness), _load_table(likeness)]
    tables.append(_gap_table("What cannot be compared", likeness.not_compared, "why"))
    tables.append(_gap_table("What the script does not model", likeness.not_modelled, "how"))
    return [table for table in tables if table is not None]


def _has_classes(likeness: Likeness) -> bool:
    return any(figure.user_class for figure in likeness.figures)


def _class_column(likeness: Likeness, classes: Sequence[str]) -> list[Column]:
    if not _has_classes(likeness):
        return []
    return [Column("users", tuple(name or "all" for name in classes), kind="words")]


def _user_table(likeness: Likeness) -> Table | None:
    """The figures of users and sessions."""
    rows = [figure for figure in likeness.figures if not figure.command]
    if not rows:
        return None
    names = tuple(
        f"{USER_WORDS[row.measure]}{f', {row.statistic}' if row.measure == 'think time' else ''}" for row in rows
    )
    columns = (
        Column("figure", names),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("observed", tuple(observed_in_words(row) for row in rows)),
        Column("run", tuple(value_in_words(row.measure, row.run) for row in rows)),
        Column("difference", tuple(difference_in_words(row) for row in rows)),
        Column("its 95 %", tuple(interval_in_words(row) for row in rows), spare=1, of_previous=True),
        _verdict_column(likeness, [row.verdict for row in rows]),
    )
    charts = tuple(f"curve-{name}" for name in _curve_names(likeness, "think time"))
    return Table("Users", columns, name_width=_NAME_CHARS, id="users", charts=charts)


def _verdict_column(likeness: Likeness, verdicts: Sequence[Verdict]) -> Column:
    """The verdict of each row, which a narrow page keeps in view."""
    words = tuple(VERDICT_WORDS[verdict] for verdict in verdicts)
    return Column(f"within {margin_in_words(likeness.margin)}", words, kind="words", kept=True)


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
        _verdict_column(likeness, [row.verdict for row in rows]),
    )
    foot = "others: the share of the run's commands, or pairs, that are others than those observed."
    return Table("Which commands, and in which order", columns, id="mix", foot=foot)


def _command_tables(likeness: Likeness, measure: Measure, title: str) -> list[Table]:
    """The table of a measure; of many commands a short one of the most frequent ones, too."""
    figures = [figure for figure in likeness.figures if figure.measure == measure and figure.command]
    keys = list(dict.fromkeys((figure.user_class, figure.command) for figure in figures))
    if not keys:
        return []
    by_key = {(figure.user_class, figure.command, figure.statistic): figure for figure in figures}
    distances = {
        (row.user_class, row.command): row for row in likeness.distributions if row.measure == measure and row.command
    }
    foot = _DISTANCE_FOOT if distances and measure == "processor time" else ""
    columns = (
        Column("command", tuple(command for _, command in keys), verbatim=True),
        *_class_column(likeness, [name for name, _ in keys]),
        *_statistic_columns(by_key, keys, "mean"),
        *_statistic_columns(by_key, keys, "p90"),
        *_distance_columns(distances, keys),
        Column("runs observed", _counts(by_key, keys, 0), spare=7),
        Column("in run", _counts(by_key, keys, 1), spare=7),
        _verdict_column(likeness, [_joint_verdict(by_key, key) for key in keys]),
    )
    charts = tuple(f"curve-{name}" for name in _curve_names(likeness, measure))
    table = Table(title, columns, foot=foot, id=measure.replace(" ", "-"), charts=charts)
    if len(keys) <= MOST_ROWS:
        return [table]
    left_out = f"{number(len(keys) - MOST_ROWS)} rows with fewer runs are left out."
    frequent = sorted(range(len(keys)), key=lambda at: -by_key[(*keys[at], "mean")].counts[0])[:MOST_ROWS]
    short = table.with_rows(frequent, "\n".join(filter(None, (left_out, foot))))
    return [table.placed("full"), short.placed("short")]


def _joint_verdict(by_key: _ByKey, key: _Key) -> Verdict:
    """The verdict of the mean and the p90 together: both must be alike, and one is enough to differ."""
    found = {figure.verdict for statistic in ("mean", "p90") if (figure := by_key.get((*key, statistic))) is not None}
    return next(verdict for verdict in ("differs", "unclear", "few", "alike") if verdict in found)


def _counts(by_key: _ByKey, keys: Sequence[_Key], side: int) -> tuple[str, ...]:
    return tuple(number(by_key[(*key, "mean")].counts[side]) for key in keys)


def _statistic_columns(by_key: _ByKey, keys: Sequence[_Key], statistic: Statistic) -> list[Column]:
    """The columns of means, or of p90."""
    rows = [by_key.get((*key, statistic)) for key in keys]
    if not any(rows):
        return []
    spare = {"mean": (0, 0, 0, 1), "p90": (5, 5, 2, 4)}[statistic]
    return [
        Column(f"{statistic} observed", _cells(rows, observed_in_words), spare=spare[0]),
        Column(f"{statistic} in run", _cells(rows, lambda row: value_in_words(row.measure, row.run)), spare=spare[1]),
        Column(f"{statistic} difference", _cells(rows, difference_in_words), spare=spare[2]),
        Column(
            "its 95 %",
            _cells(rows, interval_in_words, NOT_MEASURED),
            spare=spare[3],
            of_previous=True,
        ),
    ]


def _cells(rows: Sequence[ComparedFigure | None], words: object, absent: str = TOO_FEW_TEXT) -> tuple[str, ...]:
    assert callable(words)
    return tuple(absent if row is None else str(words(row)) for row in rows)


def _distance_columns(distances: dict[_Key, ComparedDistribution], keys: Sequence[_Key]) -> list[Column]:
    rows = [distances.get(key) for key in keys]
    if not any(rows):
        return []
    cells = tuple(TOO_FEW_TEXT if row is None else share(row.distance) for row in rows)
    ends = tuple(NOT_MEASURED if row is None else share_interval_in_words(row.interval) for row in rows)
    return [Column("distance", cells, spare=3), Column("its 95 %", ends, spare=6, of_previous=True)]


def _byte_tables(likeness: Likeness) -> list[Table]:
    """The bytes of commands; of many rows a short table of those that move most, too."""
    rows = [row for row in likeness.bytes if row.observed or row.script]
    if not any(row.script is not None for row in rows):
        return []
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("bytes", tuple(row.moved for row in rows), kind="name"),
        Column("observed", tuple(size(row.observed) for row in rows)),
        Column("script", tuple(_script_bytes(row) for row in rows)),
        Column("difference", tuple(_byte_difference(row) for row in rows)),
        Column("p90 observed", tuple(size(row.observed_p90) for row in rows), spare=3),
        Column("p90 in script", tuple(size(row.script_p90) for row in rows), spare=3),
        Column("distance", tuple(share(row.distance) for row in rows), spare=2),
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
    table = Table("Bytes that commands move", columns, lead=lead, foot=foot, id="bytes", absent=absent)
    if len(rows) <= MOST_ROWS:
        return [table]
    most = sorted(range(len(rows)), key=lambda at: -rows[at].observed * rows[at].runs)[:MOST_ROWS]
    hidden = f"{number(len(rows) - MOST_ROWS)} rows with fewer bytes are left out."
    return [table.placed("full"), table.with_rows(most, "\n".join(filter(None, (hidden, foot)))).placed("short")]


def _is_left_out(row: ComparedBytes) -> bool:
    """Whether the script has none of a command's bytes, as of those by calls of a small job."""
    return row.script == 0 and row.observed > 0 and row.moved.endswith("by calls")


def _script_bytes(row: ComparedBytes) -> str:
    return LEFT_OUT_TEXT if _is_left_out(row) else size(row.script)


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
        Column("", tuple(row.statistic for row in rows), kind="words"),
        Column("observed", tuple(duration(row.observed) for row in rows)),
        Column("run", tuple(duration(row.run) for row in rows)),
        Column("difference", tuple(difference_in_words(row) for row in rows)),
        Column("its 95 %", tuple(interval_in_words(row) for row in rows), spare=1, of_previous=True),
        _verdict_column(likeness, [row.verdict for row in rows]),
    )
    return Table("Think times by what was just done", columns, shown="full")


def _correlation_table(likeness: Likeness) -> Table | None:
    rows = likeness.correlations
    if not rows:
        return None
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *_class_column(likeness, [row.user_class for row in rows]),
        Column("processor time and", tuple(row.second for row in rows), kind="words"),
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
    return Table("What goes with what", columns, shown="full", foot=foot, absent=absent)


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
    return Table(title, columns, name_width=_NAME_CHARS, shown="full" if heading == "how" else "always")


def _curve_names(likeness: Likeness, measure: Measure) -> list[str]:
    return [str(number) for number, curve in enumerate(likeness.curves) if curve.measure == measure]
