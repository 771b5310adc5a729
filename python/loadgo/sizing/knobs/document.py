"""A search over a limit as a document: the answer, the curve, the trials, and files to put in place; or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document, Points
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, counted, number, people, seconds, share
from loadgo.sizing.answer import format_measure
from loadgo.sizing.json_keys import JSON_KEYS as CAPACITY_KEYS
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.pictures import knob_pictures
from loadgo.sizing.knobs.results import KnobCapacity, KnobPoint, RecommendedFile

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

JSON_KEYS: dict[type, str] = {
    **CAPACITY_KEYS,
    KnobCapacity: (
        "bad script on knob users settings targets end side answer interval in_words points classes each_trial values "
        "seconds limit_warnings recommended"
    ),
    Knob: "text scope class=user_class name low high",
    KnobPoint: "value standing figures",
    RecommendedFile: "path content",
}


def knob_json(result: KnobCapacity) -> str:
    """The result as one JSON object in full precision."""
    return json_document(members_of(result, JSON_KEYS), JSON_KEYS)


def knob_document(result: KnobCapacity) -> Document:
    """The page of a result."""

    def charts() -> list[Chart]:
        from loadgo.sizing.knobs.charts import knob_charts

        return knob_charts(result)

    targets = "; ".join(target.text for target in result.targets)
    mix = ", ".join(f"{mix_class.name} {mix_class.weight}" for mix_class in result.classes)
    load = ", ".join([f"{people(result.users)}, {mix or result.script}", *result.settings])
    files = (Points("Files to put in place, below /etc", tuple(map(_item, result.recommended)), verbatim=True),)
    curve = (_curve_table(result),) if result.points else ()
    return Document(
        title=f"{result.knob.text} that keeps the targets",
        answer=result.in_words,
        warnings=(*result.limit_warnings, *_warnings(result)),
        about=(load, f"targets: {targets}"),
        sections=(*curve, *knob_pictures(result), Charts(charts), *(files if result.recommended else ())),
        notes=tuple(_notes(result)),
    )


def _item(file: RecommendedFile) -> tuple[str, ...]:
    return (file.path, *file.content.splitlines())


def _warnings(result: KnobCapacity) -> list[str]:
    stopped = ["The search was stopped: the answer comes from the complete trials."] if result.end == "stopped" else []
    invalid = dict.fromkeys(record.why for record in result.each_trial if not record.valid)
    return [*stopped, *(f"A trial is not valid, and no line uses it: {why}." for why in invalid)]


def _notes(result: KnobCapacity) -> list[tuple[str, str]]:
    trials = f"{counted(len(result.each_trial), 'trial')}, {seconds(result.seconds)} together"
    notes = [("Trials", f"{trials}; each is a run of its own: {', '.join(_runs(result))}.")]
    if result.recommended:
        notes.append(
            (
                "Files",
                "A user's slice holds all sessions of a user. `systemctl daemon-reload` brings a drop-in into force "
                "for those who log in afterwards, and limits.conf is read at each log-in."
                + (f" They are in {result.folder}." if result.folder else ""),
            )
        )
    return notes


def _runs(result: KnobCapacity) -> list[str]:
    return [record.name for record in result.each_trial]


def _curve_table(result: KnobCapacity) -> Table:
    points = result.points

    def column(heading: str, cell: Callable[[KnobPoint], str], spare: int = 0) -> Column:
        return Column(heading, tuple(cell(point) for point in points), spare)

    columns = [
        column(result.knob.text, lambda point: result.knob.in_words(point.value)),
        *(
            column(target.text, lambda point, index=index: _value_cell(point, index))  # type: ignore[misc]
            for index, target in enumerate(result.targets)
        ),
        *(
            column(f"over {seconds(target.limit)}", lambda point, index=index: _slow_cell(point, index))  # type: ignore[misc]
            for index, target in enumerate(result.targets)
            if target.share is not None
        ),
        column("targets", lambda point: "undecided" if point.standing == "open" else point.standing),
        column("trials", lambda point: number(point.figures.trials), spare=3),
        column("interactions", lambda point: number(point.figures.interactions), spare=4),
        column("processors", lambda point: share(point.figures.utilisation.get("processors")), spare=2),
        column("other work", lambda point: share(point.figures.others), spare=1),
    ]
    return Table("Measured, by the limit", tuple(columns), charts=("capacity-of-limit",))


def _value_cell(point: KnobPoint, index: int) -> str:
    verdict = point.figures.verdicts[index]
    return NOT_MEASURED if verdict.value is None else format_measure(verdict.target, verdict.value.value)


def _slow_cell(point: KnobPoint, index: int) -> str:
    slow = point.figures.verdicts[index].slow_share
    if slow is None:
        return NOT_MEASURED
    interval = slow.interval
    return share(slow.value) + ("" if interval is None else f" ({share(interval.low)} to {share(interval.high)})")
