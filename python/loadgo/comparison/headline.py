"""The headline of a comparison: the verdict on B, the commands that surely differ, and the conditions that differ.

Of many rows some differ by chance. A row is in the headline if it differs at 95 % confidence for all rows and both
measures together. Its interval is then widened after Bonferroni, on the scale of logarithms, and must leave out 0. The
few users, stretches or runs that intervals come from have a Student's t that grows faster than the normal quantile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from loadgo.comparison.chart_data import ChartRow, named_rows
from loadgo.comparison.compare import Comparison
from loadgo.comparison.difference import QUANTILES_BY_MEASURE, Difference
from loadgo.comparison.drift_words import (
    ANSWERED_MEASURES,
    cannot_tell_measures,
    host_change,
    names_host_change,
    narrowing,
    runs_a_side,
)
from loadgo.comparison.figures import Notation, change, change_interval, notation_for, relative_change
from loadgo.comparison.judgement_words import judged_in_words, off_in_words, second_figures
from loadgo.comparison.rows import Matched
from loadgo.comparison.side import Side
from loadgo.comparison.unlike_loads import unlike_loads
from loadgo.notation.figures import cut, in_words
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import name_of, signed
from loadgo.records.conditions import SCRIPT_TEXT, DifferingCondition, is_measured_condition
from loadgo.stats.resample import FEWEST_UNITS, MOST_STRETCHES
from loadgo.stats.student import INTERVAL_CONFIDENCE, student_reach

_ROW_MEASURES = ("response", "cpu")
_NAMED_ROWS = 3
"""Most rows that are named in each direction."""
_NAMED_CONDITIONS = 3
_FEWEST_HIDDEN_CONDITIONS = 3
"""Fewer conditions beyond `_NAMED_CONDITIONS` are named as well: the one that is hidden may be the cause."""
_NAMED_LAST = ("title", "tariff")
"""The beginnings of conditions that change no time: others are named before them."""
_VALUE_CHARS = 24
_UNCHOSEN_CONDITIONS = ("seed", "users_logged_in", "date", "time of day")
"""Conditions that differ from run to run without a change by the experimenter."""


def verdict_sentence(comparison: Comparison) -> str:
    """The sentences about B against A, measure by measure. Different loads are said first."""
    return " ".join(filter(None, (loads_sentence(comparison), _verdict(comparison))))


def loads_sentence(comparison: Comparison) -> str:
    """The sentence that the loads differ, and what that means for the verdict. Empty for like loads."""
    named = in_words([_condition(condition) for condition in comparison.unlike_loads])
    if not named:
        return ""
    so = "" if comparison.judged else ", so nothing is called better or worse"
    return f"The loads differ: {named}. That alone may explain each change{so}."


def _verdict(comparison: Comparison) -> str:
    """The change of each measure of the answer, whether a prediction is right, or that nothing can be compared."""
    differences = [comparison.rows.whole[name] for name in _answer_measures(comparison.rows)]
    notation = notation_for(comparison.rows.whole.values())
    phrases = [_phrase(difference, notation) for difference in differences if difference.change is not None]
    totals = _total_phrases(comparison, notation) if comparison.is_by_totals or not phrases else []
    if not phrases and not totals:
        return "Nothing can be compared: the two sides have no figure in common."
    if totals and not comparison.judged:
        return f"B against A, for a mean interaction: {'; '.join(totals)}."
    if comparison.judged:
        against = f"{second_figures(comparison.b).capitalize()} against predicted"
        return f"{judged_in_words(comparison.judged)} {against}: {off_in_words(comparison.judged)}."
    is_doubted = cannot_tell_measures(comparison.rows) and any(comparison.rows.between.live_runs)
    of = f", from {runs_a_side(comparison.rows)}" if is_doubted else ""
    return f"B against A{of}: {'; '.join(phrases)}.{_without_interval(comparison, differences)}"


def _total_phrases(comparison: Comparison, notation: Notation) -> list[str]:
    """The change of each total: those that the meters take apart, then the others."""
    phrases = [f"{chain.measure} {relative_change(1 / chain.ratio - 1, None)}" for chain in comparison.chains]
    if not comparison.is_by_totals:
        return phrases
    chained = {chain.measure.lower() for chain in comparison.chains}
    covered = chained | ({"throughput"} if "elapsed" in chained else set())
    differences = [comparison.rows.whole[name] for name in ANSWERED_MEASURES if name in comparison.rows.whole]
    known = [one for one in differences if one.change is not None and one.measure not in covered]
    charges = [road for road in comparison.roads if road.unit != "ns" and not any("cost" in name for name in chained)]
    return [
        *phrases,
        *(_phrase(difference, notation) for difference in known),
        *(f"{road.name} {relative_change(1 / road.ratio - 1, None)}" for road in charges),
    ]


def _answer_measures(rows: Matched) -> list[str]:
    """The measures of the answer: with a quantile where the mean response has no verdict for lack of answers."""
    measures = [name for name in ANSWERED_MEASURES if name in rows.whole]
    if "response" not in measures or not rows.whole["response"].may_turn:
        return measures
    known = [name for name in reversed(QUANTILES_BY_MEASURE) if rows.whole[name].change is not None]
    return ["response", *known[:1], *measures[1:]]


def further_sentences(comparison: Comparison) -> tuple[str, ...]:
    """The sentences below the verdict: rows that surely differ, conditions that differ, and what would give a verdict.

    Empty if nothing can be compared.
    """
    if not comparison.rows.whole and not comparison.chains:
        return ()
    sides = comparison.a, comparison.b
    sentences = (
        stretches_sentence(*sides),
        page_faults_sentence(comparison),
        "" if names_host_change(comparison.rows) else host_change(comparison.rows),
        rows_sentence(comparison.by_command),
        _unstated_conditions(comparison.sides) or conditions_sentence(comparison.conditions),
    )
    return (*filter(None, sentences), *([] if comparison.judged else narrowing(comparison.rows, *sides)))


def _unstated_conditions(sides: Sequence[Side]) -> str:
    """A sentence if a printed side states no conditions, so that none are compared."""
    unstated = [side.name for side in sides if side.kind == "printed" and not side.conditions]
    if not unstated:
        return ""
    state = "states none" if len(unstated) == 1 else "state none"
    return f"Conditions are not compared: {in_words(unstated)} {state}."


def stretches_sentence(a: Side, b: Side) -> str:
    """A sentence if the figures of one side are of its steady part and those of the other of the whole run."""
    parts = [side.stretch_in_words for side in (a, b)]
    if not all(parts) or parts[0] == parts[1]:
        return ""
    return (
        f"The sides are not the same part of a run: the figures are of {parts[0]} in A, and of {parts[1]} in B. "
        "`--phases all` compares both as a whole."
    )


def page_faults_sentence(comparison: Comparison) -> str:
    """A sentence on printed figures: how much of the change in processor time is that of page faults."""
    is_printed = "printed" in (comparison.a.kind, comparison.b.kind)
    changes = [comparison.rows.whole[name].change for name in ("cpu", "page", "work") if name in comparison.rows.whole]
    if not is_printed or len(changes) != len(("cpu", "page", "work")) or None in changes:
        return ""
    cpu, page, work = (signed(change) for change in changes)
    return f"Of the change in CPU, {cpu}, page faults are {page} and all else is {work}."


def rows_sentence(matched: Matched) -> str:
    """A sentence with the rows that surely differ, in both directions. Empty without one, and for a single row."""
    phrases = []
    degrees = max(FEWEST_UNITS, min(*matched.units, MOST_STRETCHES)) - 1
    for measure in _ROW_MEASURES:
        known = named_rows(matched, measure)
        rows, notation = [row for row in known if row.kind == "row"], notation_for(row.difference for row in known)
        figures = len(rows) * len(_ROW_MEASURES)
        sure = [row for row in rows if len(rows) > 1 and surely_differs(row.difference, figures, degrees)]
        every = f"all {len(rows)} {matched.by}s" if len(sure) == len(rows) else ""
        if sure:
            rest = [row for row in rows if row.difference.differs and row not in sure]
            phrases.append(_rows_phrase(measure, sure, every, notation) + _probably(rest))
    if not phrases:
        return ""
    if matched.between.drift == "not known":
        return (
            f"By {matched.by}, within the runs alone, {'; '.join(phrases)}; runs may differ by as much by themselves, "
            "so this is no verdict."
        )
    return f"By {matched.by}, {'; '.join(phrases)}."


def _probably(rows: Sequence[ChartRow]) -> str:
    """The clause on rows that differ by their own interval, but not if all rows are judged together."""
    directions = [row.difference.verdict for row in rows]
    counts = [f"{direction} in {directions.count(direction)} more" for direction in dict.fromkeys(directions)]
    return f", and probably {in_words(counts)}" if counts else ""


def surely_differs(difference: Difference, figures: int, degrees: int) -> bool:
    """Whether a row's figure differs within its runs, at 95 % confidence for so many figures together.

    `degrees` are the degrees of freedom of the interval.
    """
    interval, before, after = difference.within_runs or difference.interval, difference.before, difference.after
    if difference.may_turn:
        return False
    if difference.drift == "not known":
        interval = difference.interval
    elif not difference.differs:
        return False
    if interval is None or not before or not after or before < 0 or after < 0:
        return False
    wider = student_reach(degrees, 1 - (1 - INTERVAL_CONFIDENCE) / figures) / student_reach(degrees)
    log = math.log(after / before)
    nearest = interval.low if log > 0 else interval.high
    if nearest <= -before:
        return False
    end = math.log1p(nearest / before)
    return end * log > 0 and abs(log) > wider * abs(log - end)


def _rows_phrase(measure: str, sure: Sequence[ChartRow], every: str, notation: Notation) -> str:
    """The rows in both directions, as in `response is worse in compile (+84 %)`. `every` names all if all are sure."""
    by_direction: dict[str, list[ChartRow]] = {}
    for row in sorted(sure, key=lambda row: -abs(math.log1p(row.difference.relative or 0.0))):
        by_direction.setdefault(_direction(row.difference), []).append(row)
    sureness = "" if all(row.difference.cannot_tell_by for row in sure) else "surely "
    name = name_of(measure)
    if every and len(by_direction) == 1:
        (direction,) = by_direction
        return f"{name} is {sureness}{direction} in {every}, most in {_named(by_direction[direction][:1], notation)}"
    lists = [
        f"{direction} in {_named(rows, notation)}" for direction, rows in sorted(by_direction.items(), reverse=True)
    ]
    return f"{name} is {sureness}{', and '.join(lists)}"


def _direction(difference: Difference) -> str:
    if difference.verdict in ("better", "worse"):
        return difference.verdict
    return "higher" if (difference.change or 0.0) > 0 else "lower"


def _named(rows: Sequence[ChartRow], notation: Notation) -> str:
    names = [f"{row.in_words} ({change(row.difference, notation)})" for row in rows[:_NAMED_ROWS]]
    more = [f"{len(rows) - _NAMED_ROWS} more"] if len(rows) > _NAMED_ROWS else []
    return in_words([*names, *more])


def conditions_sentence(conditions: Sequence[DifferingCondition]) -> str:
    """A sentence with the first conditions that the experimenter chose and that differ, besides those of the load."""
    of_load = unlike_loads(conditions)
    chosen = [
        condition
        for condition in conditions
        if not is_measured_condition(condition.name)
        and condition.name.lower() not in _UNCHOSEN_CONDITIONS
        and condition not in of_load
    ]
    if not chosen:
        return _same_conditions(conditions, "Else what loadgo set" if of_load else "What loadgo set")
    chosen.sort(key=lambda condition: condition.name.removeprefix("machine ").startswith(_NAMED_LAST))
    is_long = len(chosen) >= _NAMED_CONDITIONS + _FEWEST_HIDDEN_CONDITIONS
    named = [_condition(condition) for condition in (chosen[:_NAMED_CONDITIONS] if is_long else chosen)]
    more = [f"{len(chosen) - len(named)} more conditions"] if is_long else []
    return f"What {'else ' if of_load else ''}differs: {in_words([*named, *more])}."


def _same_conditions(conditions: Sequence[DifferingCondition], what: str) -> str:
    """The sentence that the experimenter changed nothing, or only the seeds. `what` is its subject."""
    has_seeds = any(condition.name == "seed" for condition in conditions)
    but = ", but not the seeds" if has_seeds else ""
    measured = [condition.shown_name for condition in conditions if is_measured_condition(condition.name)]
    differ = f"; the host's {in_words(measured)} {'differs' if len(measured) == 1 else 'differ'}" if measured else ""
    return f"{what} is the same{but}{differ}."


def _condition(condition: DifferingCondition) -> str:
    if condition.name == SCRIPT_TEXT:
        return f"the {SCRIPT_TEXT}"
    before, after = (cut(value, _VALUE_CHARS) for value in condition.shown_values)
    return f"{condition.shown_name} ({before} in A, {after} in B)"


def _without_interval(comparison: Comparison, differences: Iterable[Difference]) -> str:
    """A sentence for runs that are too short for intervals; empty for printed tables, which never have any."""
    is_printed = "printed" in (comparison.a.kind, comparison.b.kind)
    if is_printed or all(difference.interval or difference.change is None for difference in differences):
        return ""
    return " The runs are too short for an interval: chance alone may explain the change."


def _phrase(difference: Difference, notation: Notation) -> str:
    name, relative = name_of(difference.measure), change(difference, notation)
    figures = f"{relative}, {change_interval(difference, notation)}"
    if difference.verdict == "cannot tell":
        within = " within the runs" if difference.drift == "not known" else ""
        if difference.may_turn:
            within += ", of the lines that were answered"
            figures = figures if difference.interval else relative
        if difference.cannot_tell_by == "drift" and difference.drift == "not known":
            return f"too few runs to judge {name} ({figures}{within})"
        return f"cannot tell for {name} ({figures}{within})"
    if difference.verdict == "no difference":
        return f"no difference in {name} beyond {margin_in_words(difference.margin)} ({figures})"
    if difference.interval is None:
        return f"{name} is {difference.verdict} ({relative})"
    return f"{name} is {difference.verdict} ({figures})"
