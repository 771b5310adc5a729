"""The sentences on two compared meterings: what changed on the host, what only one side has, and what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.comparison.headline import conditions_sentence, surely_differs
from loadgo.comparison.metered_rates import FEWEST_METERINGS, ComparedRates, RateRow, is_metering
from loadgo.comparison.metered_tables import KIND_NAMES, rate_change, rate_interval, rate_name
from loadgo.measures.metered_rates import EVENT_KINDS
from loadgo.measures.trust import Evidence, effect_on, trust_in_words
from loadgo.notation.figures import as_code, in_words
from loadgo.notation.margin import margin_in_words
from loadgo.stats.resample import FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.comparison.compare import Comparison

_NAMED_ROWS = 3
"""Most rows that a sentence names in each direction."""
_LEAST_POINTS_SHARE = 0.001
"""A change of a share that is smaller than a tenth of a percentage point is not named."""
_METER_NOTE = "Meterings"
_NAMES = {**KIND_NAMES, "time": "busy time", "queue": "context switches"}
"""The names of the figures that the answer has."""


def metered_answer(compared: ComparedRates) -> str:
    """The sentence on B against A by second of the host."""
    rows = [compared.whole("time"), *(compared.whole(kind) for kind in EVENT_KINDS), *compared.rows_of("queue")[1:2]]
    phrases = [_phrase(row) for row in rows if row is not None and row.difference.change is not None]
    if not phrases:
        return "Nothing can be compared: the two meterings have no figure in common."
    short = (
        "" if compared.has_intervals else " The meterings are too short for intervals: chance may explain the changes."
    )
    return f"B against A, by second of the host: {'; '.join(phrases)}.{short}"


def metered_sentences(comparison: Comparison, compared: ComparedRates) -> tuple[str, ...]:
    """The sentences below the answer: what changed most, what surely differs, and conditions that differ."""
    sentences = (
        _categories_sentence(compared),
        *(_events_sentence(compared, kind) for kind in EVENT_KINDS),
        one_sided_sentence(compared),
        "" if comparison.rows.whole else conditions_sentence(comparison.conditions),
        _drift_sentence(compared),
    )
    return tuple(filter(None, sentences))


def metered_warnings(compared: ComparedRates) -> list[str]:
    """A warning if the two sides have other meters, whose figures and price differ without a change of the host."""
    a, b = compared.tiers
    if a == b:
        return []
    return [
        f"A was metered by the {a or 'unknown'} meters, B by the {b or 'unknown'} ones, which take other shares of the "
        "processors' time themselves and may divide the rest otherwise. Meter both with the same --meters."
    ]


def metered_trust(comparison: Comparison, compared: ComparedRates, *, is_warned: bool) -> str:
    """The line on whether to believe a comparison of meterings without interactions."""
    against = []
    if not compared.has_intervals:
        against.append("the meterings are too short for intervals, so chance may explain any of the changes")
    elif not compared.has_drift:
        against.append(
            "the intervals are those within the meterings, and how much the host differs by itself from one to the "
            "next is not in them"
        )
    if any(not is_metering(side) for side in comparison.sides):
        against.append("one side has a load of users, and the other has none of ours")
    verdicts = [check.verdict for _, check in comparison.checks]
    grounds = []
    if "broken" not in verdicts and "holds" in verdicts:
        grounds.append(f"all {verdicts.count('holds')} checks of the records hold")
    if compared.has_drift:
        grounds.append(f"the intervals are from {len(compared.sides[0])} and {len(compared.sides[1])} meterings")
    wholes = [compared.whole("time"), *map(compared.whole, EVENT_KINDS)]
    open_names = [_NAMES[row.kind] for row in wholes if row is not None and row.difference.verdict == "cannot tell"]
    return trust_in_words(
        Evidence(tuple(against), tuple(grounds)),
        is_warned=is_warned,
        is_low=not compared.has_intervals,
        untold=effect_on(open_names),
    )


def one_sided_sentence(compared: ComparedRates) -> str:
    """A sentence with what only one side metered."""
    by_side: dict[str, list[str]] = {}
    for kind, side in compared.one_sided.items():
        by_side.setdefault(side, []).append(KIND_NAMES[kind])
    return " ".join(
        f"Only {side} metered {in_words(kinds)}: there is nothing to compare." for side, kinds in by_side.items()
    )


def metered_notes(compared: ComparedRates) -> list[tuple[str, str]]:
    """The notes on where the intervals come from."""
    if not compared.rows:
        return []
    notes = ["Nobody set the load of a metering, so nothing is called better or worse."]
    if compared.has_drift:
        notes.append("Intervals: 95 %, Student's of the meterings of each side.")
    elif compared.has_intervals:
        stretches = sorted(
            {len(rate.by_stretch) for side in compared.sides for rates in side for rate in rates.by_kind["time"]}
        )
        of = in_words([str(count) for count in stretches])
        notes.append(f"Intervals: 95 %, Student's of the scatter between {of} stretches within a metering.")
    if any(compared.windows):
        letters = [letter for letter, has_windows in zip("AB", compared.windows, strict=True) if has_windows]
        notes.append(
            f"System calls, faults and interrupts of {in_words(letters)} are estimates from random windows: ± is half "
            "of a 95 % interval, which is in that of the change. Bursts between windows are in none."
        )
    return [(_METER_NOTE, note) for note in notes]


def _phrase(row: RateRow) -> str:
    name = _NAMES[row.kind]
    unit = " points" if row.kind == "time" else ""
    difference = row.difference
    figures = f"{rate_change(row)}{unit}"
    if difference.interval is not None:
        figures += f", {rate_interval(row)}{unit}"
    if row.kind == "time":
        before, after = (f"{100 * (share or 0.0):.1f} %" for share in (difference.before, difference.after))
        figures = f"{before} to {after}: {figures}"
    if any(row.estimated) and row.kind in EVENT_KINDS:
        figures += ", estimated"
    if difference.cannot_tell_by == "estimate":
        return f"cannot tell for {name} ({figures}: within the doubt of the estimates)"
    if difference.verdict == "cannot tell":
        return f"cannot tell for {name} ({figures})"
    if difference.verdict == "no difference":
        return f"no difference in {name} beyond {margin_in_words(difference.margin)} ({figures})"
    return f"{name} {'is' if row.kind == 'time' else 'are'} {difference.verdict} ({figures})"


def _categories_sentence(compared: ComparedRates) -> str:
    """The categories whose share changed most, of those that differ."""
    rows = [row for row in compared.rows_of("time") if row is not compared.whole("time") and row.difference.differs]
    rows = [row for row in rows if abs(row.difference.change or 0.0) >= _LEAST_POINTS_SHARE]
    rows.sort(key=lambda row: -abs(row.difference.change or 0.0))
    named = [f"{rate_name(row)} ({rate_change(row)} points)" for row in rows[:_NAMED_ROWS]]
    return f"Of the processors' time, most changed: {in_words(named)}." if named else ""


def _events_sentence(compared: ComparedRates, kind: str) -> str:
    """The events by name that differ also where all of their kind are judged together."""
    rows = [row for row in compared.rows if row.kind == kind and row is not compared.whole(row.kind)]
    sure = [row for row in rows if surely_differs(row.difference, max(len(rows), 1), _degrees(compared))]
    by_direction: dict[str, list[RateRow]] = {}
    for row in sorted(sure, key=lambda row: -abs(row.difference.change or 0.0)):
        by_direction.setdefault(row.difference.verdict, []).append(row)
    named = [f"{verdict}: {_named(rows)}" for verdict, rows in sorted(by_direction.items())]
    return f"Of the {kind if kind != 'primitives' else 'system calls'}, surely {'; '.join(named)}." if named else ""


def _named(rows: Sequence[RateRow]) -> str:
    names = [f"{as_code(rate_name(row))} ({rate_change(row)})" for row in rows[:_NAMED_ROWS]]
    more = [f"{len(rows) - _NAMED_ROWS} more"] if len(rows) > _NAMED_ROWS else []
    return in_words([*names, *more])


def _degrees(compared: ComparedRates) -> int:
    """Degrees of freedom of the intervals, at least."""
    return min(map(len, compared.sides)) - 1 if compared.has_drift else FEWEST_UNITS - 1


def _drift_sentence(compared: ComparedRates) -> str:
    if compared.has_drift or not compared.rows:
        return ""
    return (
        "How much the host differs by itself from one metering to the next is not known from so few: "
        f"give {FEWEST_METERINGS} of each, with commas between them."
    )
