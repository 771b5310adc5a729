"""A speed-up as a document or as JSON: its causes, and its decomposition by meters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgo.attribution.results import INTERACTION_SHARE, Cause, Caused, Change, Pair, Speedup
from loadgo.decomposition.json_keys import JSON_KEYS as DECOMPOSITION_KEYS
from loadgo.decomposition.reading import B_OVER_A, measure_in_heading, read_amount, read_factor, read_interval
from loadgo.decomposition.tables import chain_tables, road_notes, road_table, road_warnings
from loadgo.decomposition.waterfall import Waterfall, chain_waterfalls, waterfall_name, waterfall_of
from loadgo.decomposition.waterfall_pictures import waterfall_pictures
from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import A_MODEL, trust_in_words
from loadgo.notation.figures import capitalized, in_words
from loadgo.notation.measures import signed
from loadgo.stats.resample import FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_NO_EFFECT_SHARE = 0.0005
"""A factor that differs from 1 by less than this counts as no effect."""
_NO_INTERACTION = f"No change's factor surely depends on the others by more than {100 * INTERACTION_SHARE:.0f} %."
_ALONE_AND_LAST = (
    "made first, made last: the factor of the change before all others are made, and after them. B ÷ A is the mean "
    "over all orders of the changes; with three or more it can lie outside of both."
)
_DEPENDS = "depends on others"
"""The heading of the column that marks a change whose factor the other changes alter."""
_SHOWN_VALUES = 8
"""A page names at most this many values of a change; the JSON has all."""
_ELAPSED_MEANING = (
    "Elapsed is the length of the run over the number of its interactions, of all users together; response is what one "
    "user waits for one line. Elapsed is less than the response where several users wait at a time."
)
JSON_KEYS: Keys = {
    **DECOMPOSITION_KEYS,
    Speedup: "title changes runs seeds causes bookkeeping roads notes warnings fit_warnings measured conditions",
    Change: "name set",
    Caused: "measure unit before after ratio interval b_over_a b_over_a_interval causes pair",
    Cause: ("name factor interval first last saved apart b_over_a b_over_a_interval b_over_a_first b_over_a_last"),
    Pair: "names factor interval b_over_a b_over_a_interval",
}


def speedup_json(speedup: Speedup) -> str:
    """The speed-up as one JSON object in full precision: times in nanoseconds, null for what is not known."""
    more = {"warnings": _warnings(speedup), "waterfalls": waterfalls_of(speedup)}
    return json_document(members_of(speedup, JSON_KEYS) | more, JSON_KEYS)


def waterfalls_of(speedup: Speedup) -> tuple[Waterfall, ...]:
    """The waterfalls of a speed-up: first those of its causes, then those of its decomposition by meters."""
    return (*cause_waterfalls(speedup.causes), *chain_waterfalls(speedup.bookkeeping))


def speedup_document(speedup: Speedup) -> Document:
    """The page of a speed-up."""

    def charts() -> list[Chart]:
        from loadgo.decomposition.waterfall_charts import waterfall_charts

        return waterfall_charts(waterfalls_of(speedup))

    cross_check = road_table(speedup.roads)
    measure = _answer_measure(speedup)
    pictures = waterfall_pictures([waterfall for waterfall in waterfalls_of(speedup) if waterfall.measure == measure])
    causes = sorted(enumerate(speedup.causes, 1), key=lambda numbered: numbered[1].measure != measure)
    tables = [
        *(
            _causes_table(caused, waterfall_name(number), is_first=caused.measure == measure)
            for number, caused in causes
        ),
        *chain_tables(speedup.bookkeeping, first_chart=len(speedup.causes) + 1),
        *([] if cross_check is None else [cross_check]),
    ]
    warnings = _warnings(speedup)
    return Document(
        title=f"speed-up of {speedup.title}",
        answer=_answer(speedup),
        further_answers=_without_intervals(speedup),
        trust=_trust(speedup, is_warned=bool(warnings)),
        warnings=warnings,
        about=(_about(speedup), _changes_in_words(speedup)),
        sections=(*pictures, Charts(charts), *tables),
        notes=_notes(speedup),
    )


def _warnings(speedup: Speedup) -> tuple[str, ...]:
    return (*speedup.warnings, *road_warnings(speedup.roads))


def _trust(speedup: Speedup, *, is_warned: bool) -> str:
    """The line on whether to believe the factors; empty without any."""
    if not speedup.causes:
        return ""
    runs = f"{speedup.runs} {_runs_in_words(speedup)}"
    has_intervals = speedup.runs >= FEWEST_UNITS
    against = [] if has_intervals else ["without intervals, chance may explain a small factor"]
    grounds = [f"the 95 % intervals are from {runs}"] if has_intervals else []
    evidence = speedup.evidence.and_also(against, grounds)
    return trust_in_words(evidence if speedup.measured else replace(evidence, scope=A_MODEL), is_warned=is_warned)


def _about(speedup: Speedup) -> str:
    return f"{speedup.title}; {speedup.conditions}" if speedup.conditions else speedup.title


def _changes_in_words(speedup: Speedup) -> str:
    listed = "; ".join(_change_in_words(change.name, change.set) for change in speedup.changes)
    return f"The change{'' if len(speedup.changes) == 1 else 's'}: {listed}"


def _change_in_words(name: str, values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN_VALUES} more" if len(values) > _SHOWN_VALUES else ""
    listed = f"{', '.join(values[:_SHOWN_VALUES])}{more}"
    return f"{name}: {listed}" if listed and listed != name else name


def _answer(speedup: Speedup) -> str:
    if not speedup.causes:
        return "There is no decomposition: no figure is known on every machine."
    measure = _answer_measure(speedup)
    shown = next(caused for caused in speedup.causes if caused.measure == measure)
    before, after = (read_amount(shown, value) for value in (shown.before, shown.after))
    measured = capitalized(shown.measure) if speedup.measured else f"Simulated {shown.measure}"
    change = f"{measured} is {before} without the changes (A) and {after} with all of them (B): {_b_of_a(shown)}"
    if len(shown.causes) < 2:
        return f"{change}."
    moved = [cause for cause in shown.causes if abs(cause.factor - 1) >= _NO_EFFECT_SHARE]
    if not moved:
        return f"{change}. No change has an effect."
    effects = in_words([f"{read_factor(cause.factor)} by {cause.name}" for cause in moved])
    return f"{change}. That is {'the product of ' if len(moved) > 1 else ''}{effects}."


def _without_intervals(speedup: Speedup) -> tuple[str, ...]:
    """A line that the factors have no intervals; none where they have."""
    if not speedup.causes or speedup.runs >= FEWEST_UNITS:
        return ()
    runs = f"{speedup.runs} {_runs_in_words(speedup)}"
    more = "" if speedup.measured else f" (`--runs {FEWEST_UNITS}`)"
    return (f"There are no intervals: these are {runs}, and intervals take {FEWEST_UNITS} or more{more}.",)


def _b_of_a(caused: Caused) -> str:
    """The ratio A over B as a sentence about B, with its interval: `B is ×0.341 of A (95 %: 0.320–0.365)`."""
    interval = "" if caused.interval is None else f" (95 %: {read_interval(caused.interval)})"
    if abs(caused.ratio - 1) < _NO_EFFECT_SHARE:
        return f"B is the same as A{interval}"
    return f"B is {read_factor(caused.ratio)} of A{interval}"


def _answer_measure(speedup: Speedup) -> str:
    """The measure of the answer and of the picture on a page of text: the response time where it is known."""
    measures = [caused.measure for caused in speedup.causes]
    return "response" if "response" in measures or not measures else measures[0]


def _causes_table(caused: Caused, chart_name: str, *, is_first: bool) -> Table:
    """The factors of the changes of one measure. The first table says what its columns mean."""

    def saved(value: float) -> str:
        is_time, sign = caused.unit == "ns", "−" if value > 0 else "+"
        return signed(-value) if is_time else f"{sign}{read_amount(caused, abs(value))}"

    rows = caused.causes
    intervals = (*(row.interval for row in rows), caused.interval)
    columns = (
        Column("change", (*(row.name for row in rows), "all, multiplied")),
        Column(B_OVER_A, (*(read_factor(row.factor) for row in rows), read_factor(caused.ratio))),
        *([Column("95 % interval", tuple(map(read_interval, intervals)))] if any(intervals) else []),
        Column("made first", (*(read_factor(row.first) for row in rows), ""), spare=1),
        Column("made last", (*(read_factor(row.last) for row in rows), ""), spare=1),
        *([Column(_DEPENDS, (*map(_depends, rows), ""), spare=2)] if any(row.interacts for row in rows) else []),
        Column("B − A", (*(saved(row.saved) for row in rows), saved(caused.before - caused.after)), spare=3),
    )
    ends = f"{read_amount(caused, caused.before)} to {read_amount(caused, caused.after)}"
    title = f"What each change did to {measure_in_heading(caused)} ({ends})"
    lead = _ELAPSED_MEANING if caused.measure == "elapsed" else ""
    foot = _columns_in_words(rows, is_first=is_first)
    return Table(title, columns, total_rows=1, name_width=36, charts=(chart_name,), lead=lead, foot=foot)


def _columns_in_words(rows: Sequence[Cause], *, is_first: bool) -> str:
    """The lines below a table of causes, on its columns and on those that are left out. Empty for a single change."""
    if len(rows) < 2:
        return ""
    none_depends = not any(row.interacts for row in rows)
    return "\n".join([*([_ALONE_AND_LAST] if is_first else []), *([_NO_INTERACTION] if none_depends else [])])


def _depends(cause: Cause) -> str:
    if not cause.interacts:
        return ""
    return "perhaps" if cause.apart is None else "yes"


def _notes(speedup: Speedup) -> tuple[tuple[str, str], ...]:
    notes = [
        (
            "Causes",
            "every combination of the changes was run: a change's factor is its effect, averaged over all orders of "
            "making the changes (its log-Shapley value).",
        ),
        (
            "Meters",
            "their tables compare the machine without the changes with the machine with all of them. Their factors are "
            "not those of the changes. A factor is what one meter's change made of the whole: programs ×0.9 of the "
            "response do not take 0.9 of their own time.",
        ),
    ]
    for caused in speedup.causes:
        if caused.pair is not None:
            first, second = caused.pair.names
            bounds = f" ({read_interval(caused.pair.interval)})" if caused.pair.interval else ""
            notes.append(
                (
                    "Dependence",
                    f"of {caused.measure}, most between {first} and {second}: both changes are "
                    f"{read_factor(caused.pair.factor)}{bounds} of the product of what each is alone.",
                )
            )
    if speedup.runs < FEWEST_UNITS:
        notes.append(("Intervals", f"none: {speedup.runs} {_runs_in_words(speedup)}; they need {FEWEST_UNITS}."))
    else:
        paired = "in the order of their names" if speedup.measured else "by their seeds"
        notes.append(("Intervals", f"95 %, {speedup.runs} {_runs_in_words(speedup)} resampled, paired {paired}."))
    notes += [("Cross-check", line) for line in road_notes(speedup.roads)]
    return (*notes, *(("Left out", note) for note in speedup.notes))


def _runs_in_words(speedup: Speedup) -> str:
    which = "with each combination of the changes" if speedup.measured else "of each machine"
    return f"run{'s' if speedup.runs != 1 else ''} {which}"


def cause_waterfalls(causes: Sequence[Caused]) -> tuple[Waterfall, ...]:
    """A waterfall for each measure, with a step for each change in the order in which the changes were named."""
    return tuple(
        waterfall_of("causes", caused, [(cause.name, cause.factor, cause.interval) for cause in caused.causes])
        for caused in causes
    )
