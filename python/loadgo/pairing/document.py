"""An experiment as a document: the answer, and tables of changes, of changes by command, and of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from loadgo.comparison.pictures import MOST_AXIS_CHARS, ChangeAxis
from loadgo.documents.as_json import Keys, json_document
from loadgo.documents.document import Charts, Document, SignPicture
from loadgo.documents.signs import legend, marks
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, share
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import name_of
from loadgo.pairing.chart_data import PAIRS_TITLE, MeasureChanges, margin_ratios, measures_changes, range_of
from loadgo.pairing.results import Change, Experiment, LeftOut, Pair
from loadgo.pairing.run_figures import CommandMeans, RunFigures
from loadgo.pairing.variant import Variant
from loadgo.pairing.words import (
    about,
    advice,
    answer,
    change_name,
    figure,
    interval_text,
    notation_for,
    notes,
    relative,
    relative_of_pair,
    trust,
    warnings,
)
from loadgo.running.load import Load
from loadgo.running.prepared import is_host

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

JSON_KEYS: Keys = {
    Variant: "script on set limit before login",
    Load: "users passes duration think typing arrivals warm_up until seed",
    Change: (
        "measure command log_ratios=logs reference_log_ratios=reference_logs a b change=relative interval verdict "
        "more_pairs"
    ),
    Pair: "seed first progress a b",
    RunFigures: (
        "folder measures=whole commands errors others_share fit_warnings limit_warnings elsewhere=is_elsewhere "
        "reference_ns"
    ),
    CommandMeans: "count response_ns=response cpu_ns=cpu",
    LeftOut: "letter folder reason",
}


def experiment_document(experiment: Experiment) -> Document:
    """The document of an experiment."""

    def charts() -> list[Chart]:
        from loadgo.pairing.charts import experiment_charts

        return experiment_charts(experiment)

    changes, commands = experiment.changes, experiment.command_changes
    whole = [(change_name(change), change) for change in changes]
    tables = [replace(_table("Changes", whole), charts=("pairs",), charts_lead=True)] if changes else []
    if commands:
        rows = [(f"{change.command}, {change_name(change)}", change) for change in commands]
        tables.append(_table("By command", rows))
    if experiment.pairs:
        tables.append(_pairs_table(experiment))
    return Document(
        title=f"{experiment.b.script} against {experiment.a.script}, run in turn",
        answer=answer(experiment),
        further_answers=tuple(advice(experiment)),
        trust=trust(experiment),
        warnings=tuple(warnings(experiment)),
        about=about(experiment),
        sections=(*experiment_pictures(experiment), Charts(charts), *tables),
        notes=tuple(notes(experiment)),
    )


def experiment_json(experiment: Experiment) -> str:
    """One JSON object in full precision. Times are in nanoseconds, and a pair's figure is the logarithm of B over A."""
    members = {
        "answer": answer(experiment),
        "warnings": warnings(experiment),
        "a": experiment.a,
        "b": experiment.b,
        "load": experiment.load,
        "margin": experiment.margin,
        "measures": experiment.decisive,
        "end": experiment.end,
        "changes": experiment.changes,
        "commands": experiment.command_changes,
        "pairs": experiment.pairs,
        "left_out": experiment.left_out,
    }
    return json_document(members, JSON_KEYS)


def _table(title: str, rows: Sequence[tuple[str, Change]]) -> Table:
    """A row for each change: its name, A, B, the change, the interval, the verdict."""
    names, changes = zip(*rows, strict=True)
    notation = notation_for(changes)
    cells = {
        "A": tuple(figure(change.measure, change.a) for change in changes),
        "B": tuple(figure(change.measure, change.b) for change in changes),
        "change": tuple(relative(change, notation) for change in changes),
        "95 % interval": tuple(interval_text(change, notation) for change in changes),
        "B is": tuple(change.verdict for change in changes),
    }
    if all(change.interval is None for change in changes):
        del cells["95 % interval"]
    columns = (Column(heading, texts, kept=heading == "B is") for heading, texts in cells.items())
    return Table(title, (Column("measure", names), *columns))


def _pairs_table(experiment: Experiment) -> Table:
    """A row for each pair: the variant that ran first, the change of each decisive measure, and other work."""
    pairs = experiment.pairs
    columns = [
        Column("pair", tuple(str(number) for number, _ in enumerate(pairs, 1))),
        Column("first", tuple(pair.first for pair in pairs)),
    ]
    columns += [_pair_column(experiment, measure) for measure in experiment.decisive]
    if is_host(experiment.a.on):
        columns.append(Column("other work in A", tuple(share(pair.a.others_share) for pair in pairs), spare=1))
        columns.append(Column("other work in B", tuple(share(pair.b.others_share) for pair in pairs), spare=1))
    return Table("Pair by pair", tuple(columns))


def _pair_column(experiment: Experiment, measure: str) -> Column:
    """The change of a measure in each pair, at equal speed where that of all pairs is."""
    change = experiment.change(measure)
    logs = {} if change is None else dict(zip(change.pairs, change.pair_logs, strict=True))
    numbers = range(1, len(experiment.pairs) + 1)
    cells = (relative_of_pair(logs[number]) if number in logs else NOT_MEASURED for number in numbers)
    return Column(name_of(measure) if change is None else change_name(change), tuple(cells))


def experiment_pictures(experiment: Experiment) -> tuple[SignPicture, ...]:
    """The picture of an experiment; none if no measure is known on both sides."""
    measures = measures_changes(experiment)
    return (SignPicture(PAIRS_TITLE, partial(_lines, experiment, measures)),) if measures else ()


def _lines(experiment: Experiment, measures: list[MeasureChanges], width: int) -> list[str]:
    """Two lines for each measure, then the ticks of the axis and a legend. Each has at most `width` signs."""
    name_chars = max(len(measure.name) for measure in measures)
    text_chars = max(len(measure.text) for measure in measures)
    chars = min(MOST_AXIS_CHARS, width - name_chars - text_chars - 4)
    axis = ChangeAxis(*range_of(measures, experiment.margin), chars)
    lines = []
    for measure in measures:
        lines.append(f"{measure.name:{name_chars}}  {axis.row(measure.ratio)}  {measure.text:>{text_chars}}")
        margin = [(axis.place(ratio), "┊") for ratio in margin_ratios(experiment.margin)]
        pairs = [(axis.place(pair.ratio), "○") for pair in measure.pairs]
        lines.append(f"{'':{name_chars}}  {marks(chars, [*margin, (axis.place(1.0), '│'), *pairs])}".rstrip())
    intervals = ["─ its 95 % interval"] if any(measure.ratio.low is not None for measure in measures) else []
    parts = [
        "logarithmic",
        "● the change",
        *intervals,
        "○ a pair",
        f"┊ {margin_in_words(experiment.margin)}, the margin",
    ]
    indent = " " * (name_chars + 2)
    return [
        *lines,
        f"{indent}{axis.ticks()}".rstrip(),
        *(f"{indent}{row}" for row in legend(parts, width - len(indent))),
    ]
