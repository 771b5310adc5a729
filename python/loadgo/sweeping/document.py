"""A sweep as a document: the answer, a table of its configurations, a chart; and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import A_MODEL, WIDE_SHARE, Evidence, trust_in_words
from loadgo.notation.figures import counted, number, share
from loadgo.sweeping.results import Configuration, Sweep, SweepFigure
from loadgo.sweeping.words import (
    having_in_words,
    interval_in_words,
    lack_in_words,
    simulations_in_words,
    users_in_words,
    value_in_words,
)

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

MOST_TABLE_ROWS = 60
"""Largest number of configurations in a text's table; a page and a CSV have all."""

JSON_KEYS: Keys = {
    Sweep: (
        "bad in_words folder title script measure part points_expected points configurations problems problem_count "
        "repeated stopped fit_warnings conditions"
    ),
    Configuration: "machine settings users points problems figures",
    SweepFigure: "value interval points never",
}
"""The JSON keys of a sweep, type by type."""

_TIMES_MEANING = (
    "mean, p50 to p99: of the response time. A store, such as a disk, may be full where processors are not."
)
_SPARE_COLUMNS = {"mean": 3, "p50": 4, "p90": 1, "p95": 5, "p99": 2, "throughput": 1, "busy": 2}


def sweep_json(sweep: Sweep) -> str:
    """The configurations as one JSON object in full precision: times in seconds, null for what is unknown."""
    return json_document({**members_of(sweep, JSON_KEYS), "warnings": _warnings(sweep)}, JSON_KEYS)


def sweep_document(sweep: Sweep) -> Document:
    """The page of a sweep."""

    def charts() -> list[Chart]:
        from loadgo.sweeping.charts import sweep_charts

        return sweep_charts(sweep)

    return Document(
        title=sweep.title or f"sweep of {sweep.script or 'machines under their own load'}",
        answer=sweep.in_words,
        trust=_trust(sweep),
        warnings=_warnings(sweep),
        about=(_about(sweep),),
        sections=(Charts(charts), *_tables(sweep)),
        notes=(*(("Errors", line) for line in _error_notes(sweep)), *(("Points", line) for line in _notes(sweep))),
    )


def _about(sweep: Sweep) -> str:
    """The load, the machines, which are simulated, and the conditions of each simulation."""
    machines = f"{', '.join(_machines(sweep))} (simulated)"
    load = f"{machines}, without a script" if sweep.script is None else f"{sweep.script} on {machines}"
    return f"{load}; {sweep.conditions}" if sweep.conditions else load


def _machines(sweep: Sweep) -> list[str]:
    return list(dict.fromkeys(configuration.machine for configuration in sweep.configurations)) or ["no machine yet"]


def _warnings(sweep: Sweep) -> tuple[str, ...]:
    warnings = list(sweep.fit_warnings)
    if sweep.stopped:
        warnings.append(f"The sweep was stopped: {simulations_in_words(sweep)} are done. The same command goes on.")
    if sweep.bad:
        warnings.append(f"{counted(sweep.problem_count, 'simulation')} could not be run: {sweep.problems[0]}")
    if sweep.points_without(sweep.measure) < sweep.points - sweep.problem_count:
        warnings += filter(None, [lack_in_words(sweep)])
    return tuple(warnings)


def _trust(sweep: Sweep) -> str:
    """The line on whether to believe the answer; empty where no configuration has its figure."""
    figures = [row.figures[sweep.measure] for row in sweep.configurations if sweep.measure in row.figures]
    if not figures:
        return ""
    finite = [figure for figure in figures if not figure.never]
    without, single = sum(figure.interval is None for figure in finite), sum(figure.points == 1 for figure in figures)
    one_seed = single == len(figures)
    against = []
    if without:
        which = (
            "the figures have" if without == len(finite) else f"{number(without)} of {number(len(finite))} figures have"
        )
        against.append(f"{which} no interval")
    wide = max((_half_width(figure) for figure in finite), default=0.0)
    if wide > WIDE_SHARE:
        against.append(f"a figure is known only within ±{share(wide)} (more seeds or longer simulations narrow it)")
    if one_seed:
        against.append("each configuration has one seed, so its interval is from the scatter within one run")
    elif single:
        have = "has" if single == 1 else "have"
        against.append(
            f"{number(single)} of {counted(len(figures), 'configuration')} {have} one seed here, so the interval is "
            "from the scatter within one run"
        )
    if sweep.part:
        against.append(f"this is part {sweep.part} of the grid (`loadgo merge` joins the parts)")
    grounds = [] if one_seed else [f"the {'other' if single else '95 %'} intervals are from the scatter of the seeds"]
    grounds += (
        [] if sweep.bad or sweep.stopped else [f"all simulations{' of this part' if sweep.part else ''} are done"]
    )
    evidence = Evidence(tuple(against), tuple(grounds), A_MODEL)
    return trust_in_words(evidence, is_warned=bool(_warnings(sweep)))


def _half_width(figure: SweepFigure) -> float:
    """Half of the interval as a share of the figure; 0 without an interval."""
    if figure.interval is None or not figure.value:
        return 0.0
    return (figure.interval.high - figure.interval.low) / 2 / abs(figure.value)


def _error_notes(sweep: Sweep) -> list[str]:
    """The effect of lines without an answer on the mean and on the quantiles; empty where nothing went wrong."""
    figures = [row.figures for row in sweep.configurations]
    if not any("errors" in row and row["errors"].value for row in figures):
        return []
    notes = [
        "the share of lines that failed. The mean leaves out lines without an answer, so it is too low where there "
        "are errors; for p50 to p99 they are the longest."
    ]
    if any(figure.never for row in figures for figure in row.values()):
        notes.append(
            "never, in 1 of 4 simulations: in one of them so many lines had no answer that the quantile has no time "
            "(more than a tenth for p90). Errors are the mean over all simulations, which may be less."
        )
    return notes


def _notes(sweep: Sweep) -> list[str]:
    notes = [f"are what the files call the simulations, each of one configuration with one seed; in {sweep.folder}."]
    computed = sweep.points - sweep.problem_count
    if sweep.repeated:
        notes.append(f"{counted(sweep.repeated, 'batch').replace('batchs', 'batches')} computed again: a worker ended.")
    lacking = [name for name in _SPARE_COLUMNS if name != sweep.measure and _is_known(name, sweep.configurations)]
    lacks = {name: without for name in lacking if (without := sweep.points_without(name))}
    having = [f"{name} (in {number(computed - without)})" for name, without in lacks.items()]
    if having:
        notes.append(f"Figures that not all of the {counted(computed, 'simulation')} have: {', '.join(having)}.")
    notes.append("Intervals are of 95 %: from the scatter of the seeds, or with one seed from that of its run.")
    return notes


def _tables(sweep: Sweep) -> list[Table]:
    rows = sweep.configurations
    if not rows:
        return []
    main = sweep.measure
    several = len(_machines(sweep)) > 1 or not rows[0].settings
    columns = [Column("machine", tuple(row.machine for row in rows))] if several else []
    for key in rows[0].settings:
        columns.append(Column(key, tuple(row.settings[key] for row in rows), kind="name"))
    columns.append(Column("users", tuple(users_in_words(row.users) for row in rows)))
    columns.append(Column("seeds", tuple(number(row.points) for row in rows), spare=6))
    columns += [_values(main, rows), _intervals(main, rows)]
    if any(row.points_without(main) for row in rows):
        columns.append(Column(f"have {main}", tuple(having_in_words(row, main) for row in rows)))
    others = {name: spare for name, spare in _SPARE_COLUMNS.items() if name != main}
    columns += [_values(name, rows, spare) for name, spare in others.items() if _is_known(name, rows)]
    if any(row.figures["errors"].value for row in rows if "errors" in row.figures):
        columns.append(_values("errors", rows))
    table = Table("Configurations", tuple(columns), name_width=None, foot=_TIMES_MEANING)
    if len(rows) <= MOST_TABLE_ROWS:
        return [table]
    foot = f"{len(rows) - MOST_TABLE_ROWS:,} more configurations are in the other formats.\n{_TIMES_MEANING}"
    return [table.with_rows(range(MOST_TABLE_ROWS), foot).placed("short"), table.placed("full")]


def _is_known(name: str, rows: Sequence[Configuration]) -> bool:
    return any(name in row.figures for row in rows)


def _values(name: str, rows: Sequence[Configuration], spare: int = 0) -> Column:
    values = (row.figures[name].value if name in row.figures else None for row in rows)
    heading = "processors busy" if name == "busy" else name
    return Column(heading, tuple(value_in_words(name, value) for value in values), spare=spare)


def _intervals(name: str, rows: Sequence[Configuration]) -> Column:
    texts = (interval_in_words(name, row.figures[name]) if name in row.figures else "" for row in rows)
    return Column(f"{name}'s 95 %", tuple(texts), of_previous=True)
