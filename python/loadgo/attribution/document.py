"""A speed-up taken apart as a document, causes and bookkeeping in tables of their own; or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.attribution.results import Cause, Caused, Change, Pair, Speedup
from loadgo.decomposition.json_keys import JSON_KEYS as DECOMPOSITION_KEYS
from loadgo.decomposition.tables import chain_tables, road_notes, road_table, road_warnings
from loadgo.decomposition.waterfall import Waterfall, of_chains, waterfall_of
from loadgo.decomposition.waterfall_pictures import waterfall_pictures
from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import digits, duration, in_words
from loadgo.notation.measures import factor, factor_interval, signed
from loadgo.stats.resample import FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_SAME = 0.0005
"""A factor so near to 1 is none."""
_MOST_VALUES = 8
"""Of more values that a change is, a page names these; the JSON has all."""
_KEYS: Keys = {
    **DECOMPOSITION_KEYS,
    Speedup: "title changes runs seeds causes bookkeeping roads notes warnings measured",
    Change: "name set",
    Caused: "measure unit before after ratio interval causes pair",
    Cause: "name factor interval first last saved apart",
    Pair: "names factor interval",
}


def render_speedup(made: Speedup, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The speed-up as `format`; `width` and `color` are for `text`. Raises `ValueError` for another format."""
    return render(format, lambda: speedup_document(made), lambda: speedup_json(made), width=width, color=color)


def speedup_json(made: Speedup) -> str:
    """One JSON object in full precision; times in nanoseconds; null is not known."""
    return json_document(members_of(made, _KEYS) | {"waterfalls": waterfalls_of(made)}, _KEYS)


def waterfalls_of(made: Speedup) -> tuple[Waterfall, ...]:
    """What is drawn of it: causes, and bookkeeping."""
    return (*of_causes(made.causes), *of_chains(made.bookkeeping))


def speedup_document(made: Speedup) -> Document:
    """The page of a speed-up."""

    def charts() -> list[Chart]:
        from loadgo.decomposition.waterfall_charts import waterfall_charts

        return waterfall_charts(waterfalls_of(made))

    road = road_table(made.roads)
    pictures = waterfall_pictures([one for one in waterfalls_of(made) if one.measure == _told(made)])
    tables = [
        *(_causes(one) for one in made.causes),
        *chain_tables(made.bookkeeping),
        *([] if road is None else [road]),
    ]
    return Document(
        title=f"speed-up of {made.title}",
        answer=_answer(made),
        warnings=(
            *made.warnings,
            *road_warnings(made.roads),
        ),
        about=(made.title, *(_said(change.name, change.set) for change in made.changes)),
        sections=(*pictures, Charts(charts), *tables),
        notes=_notes(made),
    )


def _said(name: str, values: Sequence[str]) -> str:
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    listed = f"{', '.join(values[:_MOST_VALUES])}{more}"
    return f"{name}: {listed}" if listed and listed != name else name


def _answer(made: Speedup) -> str:
    if not made.causes:
        return "Nothing can be taken apart: no figure is known of all machines."
    told = next(one for one in made.causes if one.measure == _told(made))
    before, after = (_shown(told, value) for value in (told.before, told.after))
    whole = f"{told.measure.capitalize()} goes from {before} to {after} with all the changes, {_times(told.ratio)}"
    if len(told.causes) < 2:
        return f"{whole}."
    moved = [cause for cause in told.causes if abs(cause.factor - 1) >= _SAME]
    parts = in_words([f"{_times(cause.factor)} by {cause.name}" for cause in moved])
    if not moved:
        return f"{whole}: none of them does anything to it."
    return f"{whole}: {parts}, which multiply to the whole."


def _times(factor: float) -> str:
    """`2.93 times less`, `1.20 times more`, `the same`."""
    if abs(factor - 1) < _SAME:
        return "the same"
    return f"{digits(factor)} times less" if factor > 1 else f"{digits(1 / factor)} times more"


def _shown(told: Caused, value: float) -> str:
    return digits(value) if told.unit == "$" else duration(value)


def _told(made: Speedup) -> str:
    """The figure that the answer is about, and that is drawn on a page of text: response where it is known."""
    measures = [one.measure for one in made.causes]
    return "response" if "response" in measures or not measures else measures[0]


def _causes(told: Caused) -> Table:
    def saved(value: float) -> str:
        return f"{'−' if value > 0 else '+'}{digits(abs(value))}" if told.unit == "$" else signed(-value)

    rows = told.causes
    columns = (
        Column("change", (*(one.name for one in rows), "all, multiplied")),
        Column("A ÷ B", (*(factor(one.factor) for one in rows), factor(told.ratio))),
        Column("95 % interval", (*(factor_interval(one.interval) for one in rows), factor_interval(told.interval))),
        Column("made first", (*(factor(one.first) for one in rows), ""), spare=1),
        Column("made last", (*(factor(one.last) for one in rows), ""), spare=1),
        Column("", (*("interacts" if one.interacts else "" for one in rows), ""), spare=2),
        Column("is", (*(saved(one.saved) for one in rows), saved(told.before - told.after)), spare=3),
    )
    title = (
        f"Causes: what each change did to {told.measure} ({_shown(told, told.before)} to {_shown(told, told.after)})"
    )
    return Table(title, columns, total_rows=1, name_width=36)


def _notes(made: Speedup) -> tuple[tuple[str, str], ...]:
    found = [
        (
            "Causes",
            "every choice of the changes was run: a change's factor is what making it takes off, the mean of all "
            "orders in which they could be made (its log-Shapley value).",
        ),
        (
            "Bookkeeping",
            "another question: what the meters moved by, from the machine with none of the changes to that with all. "
            "Its factors are not those of the changes.",
        ),
    ]
    for told in made.causes:
        if told.pair is not None:
            first, second = told.pair.names
            bounds = f" ({factor_interval(told.pair.interval)})" if told.pair.interval else ""
            found.append(
                (
                    "Interaction",
                    f"{told.measure}: most between {first} and {second}; together they are "
                    f"{factor(told.pair.factor)}{bounds} of what they are alone, multiplied.",
                )
            )
    if made.runs < FEWEST_UNITS:
        found.append(("Intervals", f"none: {made.runs} {_runs(made)}; they need {FEWEST_UNITS}."))
    else:
        paired = "in the order in which they are named" if made.measured else "by their seeds"
        found.append(("Intervals", f"95 %, {made.runs} {_runs(made)} drawn again whole, paired {paired}."))
    found += [("Cross-check", line) for line in road_notes(made.roads)]
    return (*found, *(("Left out", note) for note in made.notes))


def _runs(made: Speedup) -> str:
    of = "with each choice of the changes" if made.measured else "of each machine"
    return f"run{'s' if made.runs != 1 else ''} {of}"


def of_causes(causes: Sequence[Caused]) -> tuple[Waterfall, ...]:
    """A waterfall for each figure, with a step for each change in the order in which the changes were named."""
    return tuple(
        waterfall_of("causes", told, [(one.name, one.factor, one.interval) for one in told.causes]) for told in causes
    )
