"""A search over a limit as a document: the answer, the curve, the trials, and files to put in place; or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document, Points
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import counted, number, people, plain, seconds, share
from loadgo.running.prepared import THIS_HOST, is_host
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.pictures import knob_pictures
from loadgo.sizing.knobs.results import KnobCapacity, KnobPoint, RecommendedFile
from loadgo.sizing.knobs.trust import knob_doubts, knob_trust
from loadgo.sizing.report.json_keys import JSON_KEYS as CAPACITY_KEYS
from loadgo.sizing.report.tables import has_value, slow_cell, slow_heading, standing_cell, undecided_notes, value_cell

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

JSON_KEYS: dict[type, str] = {
    **CAPACITY_KEYS,
    KnobCapacity: (
        "bad script on knob users settings targets end side answer interval in_words points classes each_trial values "
        "seconds limit_warnings why notes recommended"
    ),
    Knob: "text scope class=user_class name low high",
    KnobPoint: "value standing figures",
    RecommendedFile: "path content",
}


def knob_json(answered: KnobCapacity) -> str:
    """The result as one JSON object in full precision."""
    return json_document({**members_of(answered, JSON_KEYS), "warnings": _warnings(answered)}, JSON_KEYS)


def knob_document(answered: KnobCapacity) -> Document:
    """The page of a result."""

    def charts() -> list[Chart]:
        from loadgo.sizing.knobs.charts import knob_charts

        return knob_charts(answered)

    targets = "; ".join(target.text for target in answered.targets)
    mix = ", ".join(f"{mix_class.name} {mix_class.weight}" for mix_class in answered.classes)
    system = [] if answered.on == THIS_HOST else [f"on {plain(answered.on)}"]
    load = ", ".join([f"{people(answered.users)}, {mix or answered.script}", *system, *answered.settings])
    files = (Points("Files to put in place, below /etc", tuple(map(_item, answered.recommended)), verbatim=True),)
    curve = (_curve_table(answered),) if answered.points else ()
    return Document(
        title=f"{answered.knob.text} that keeps the targets",
        answer=answered.in_words,
        warnings=_warnings(answered),
        trust=knob_trust(answered, is_warned=bool(knob_doubts(answered))),
        about=(load, f"targets: {targets}"),
        sections=(*curve, *knob_pictures(answered), Charts(charts), *(files if answered.recommended else ())),
        notes=tuple(_notes(answered)),
    )


def _warnings(answered: KnobCapacity) -> tuple[str, ...]:
    return (*answered.limit_warnings, *knob_doubts(answered))


def _item(file: RecommendedFile) -> tuple[str, ...]:
    return (file.path, *(line.expandtabs(4) for line in file.content.splitlines()))


def _notes(answered: KnobCapacity) -> list[tuple[str, str]]:
    virtual = "" if is_host(answered.on) else " of virtual time"
    trials = f"{counted(len(answered.each_trial), 'trial')}, {seconds(answered.seconds)}{virtual} in all"
    runs = f"each is a run of its own: {', '.join(_runs(answered))}"
    notes = [("Trials", f"{trials}; {runs}." if answered.each_trial else "none was complete.")]
    if any(point.standing == "open" for point in answered.points):
        notes += undecided_notes("this limit", _curve_table(answered))
    if answered.recommended:
        notes.append(
            (
                "Files",
                "A user's slice holds all sessions of a user. `systemctl daemon-reload` brings a drop-in into force "
                "for those who log in afterwards, and limits.conf is read at each log-in."
                + (f" They are in {answered.folder}." if answered.folder else ""),
            )
        )
    return [*notes, *(("Left out", note) for note in answered.notes)]


def _runs(answered: KnobCapacity) -> list[str]:
    return [record.name for record in answered.each_trial]


def _standing(answered: KnobCapacity, point: KnobPoint) -> str:
    return standing_cell(point.standing, point.figures, answered.on)


def _curve_table(answered: KnobCapacity) -> Table:
    points = answered.points

    def column(heading: str, cell: Callable[[KnobPoint], str], spare: int = 0) -> Column:
        return Column(heading, tuple(cell(point) for point in points), spare)

    columns = [
        column(answered.knob.text, lambda point: answered.knob.in_words(point.value, figures=3)),
        *(
            column(target.text, lambda point, index=index: value_cell(point.figures, index))  # type: ignore[misc]
            for index, target in enumerate(answered.targets)
            if has_value(target)
        ),
        *(
            column(slow_heading(target), lambda point, index=index: slow_cell(point.figures.verdicts[index]))  # type: ignore[misc]
            for index, target in enumerate(answered.targets)
            if target.share is not None
        ),
        Column("own trials", tuple(_standing(answered, point) for point in points), kept=True),
        column("trials", lambda point: number(point.figures.trials), spare=3),
        column("interactions", lambda point: number(point.figures.interactions), spare=4),
        column("processors", lambda point: share(point.figures.utilisation.get("processors")), spare=2),
    ]
    if is_host(answered.on):
        columns.append(column("other work", lambda point: share(point.figures.others), spare=1))
    return Table("Measured, by the limit", tuple(columns), charts=("capacity-of-limit",))
