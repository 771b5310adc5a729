"""A comparison as a document: the answer in a sentence, conditions that differ, tables, and the fine print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgo.comparison.chart_data import Distribution, distribution_of
from loadgo.comparison.compare import DOCUMENT_CHECK, Comparison, Finding
from loadgo.comparison.figures import change, change_interval
from loadgo.comparison.judgement import Judged
from loadgo.comparison.judgement_words import judged_in_words, off_in_words, two_intervals, why_not_judged
from loadgo.comparison.pictures import comparison_pictures
from loadgo.comparison.rows import Difference
from loadgo.comparison.side import Side
from loadgo.comparison.tables import comparison_tables
from loadgo.decomposition.json_keys import JSON_KEYS as DECOMPOSITION_KEYS
from loadgo.decomposition.tables import road_notes, road_warnings
from loadgo.decomposition.waterfall import of_chains
from loadgo.decomposition.waterfall_pictures import waterfall_pictures
from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.measures.record_checks import Check
from loadgo.notation.figures import number
from loadgo.notation.measures import MARK, name_of
from loadgo.records.conditions import Condition
from loadgo.records.extrapolation import Extrapolated
from loadgo.stats.resample import FEWEST_STRETCH_WAITS, FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_ANSWERED = ("response", "cpu", "throughput")
_DIFFERENCE = (
    "measure before after interval before_interval after_interval extrapolated more_is_better change relative verdict"
)
_KEYS: Keys = {
    **DECOMPOSITION_KEYS,
    Difference: _DIFFERENCE,
    Judged: _DIFFERENCE + " within doubt reach judgement",
    Condition: "name before after",
    Distribution: "probabilities a_ns b_ns counts",
    Extrapolated: "user done missing",
    Check: "name verdict text",
    Finding: "failed text",
}


def render_comparison(made: Comparison, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The comparison as `format`; `width` and `color` are for `text`. Raises `ValueError` for another format."""
    return render(format, lambda: comparison_document(made), lambda: comparison_json(made), width=width, color=color)


def comparison_document(made: Comparison) -> Document:
    """The page of a comparison."""

    def charts() -> list[Chart]:
        from loadgo.comparison.charts import comparison_charts

        return comparison_charts(made)

    tables = comparison_tables(made)
    first = bool(made.conditions) + bool(made.judged)
    pictures = (*comparison_pictures(made), *waterfall_pictures(of_chains(made.chains)))
    return Document(
        title=f"{made.b.name} compared with {made.a.name}",
        answer=_answer(made),
        warnings=_warnings(made),
        about=tuple(f"{letter}: {_said(side)}" for letter, side in (("A", made.a), ("B", made.b))),
        sections=(*tables[:first], *pictures, Charts(charts), *tables[first:]),
        notes=tuple(_notes(made)),
    )


def comparison_json(made: Comparison) -> str:
    """One JSON object in full precision; times in nanoseconds; null is not known."""
    told = {
        "answer": _answer(made),
        "a": _side(made.a),
        "b": _side(made.b),
        "conditions": made.conditions,
        "rows": {
            **{name: getattr(made.rows, name) for name in ("by", "paired", "unit", "units", "waits", "left_out")},
            "rows": [
                {
                    "label": row.label,
                    "kind": row.kind,
                    "measures": row.measures,
                }
                for row in made.rows.rows
            ],
        },
        "whole": made.rows.whole,
        "parts": made.parts.parts,
        "by_output_line": made.parts.output,
        "bookkeeping": made.chains,
        "waterfalls": of_chains(made.chains),
        "distribution": distribution_of(made),
        "roads": made.roads,
        "checks": [{"side": side, **members_of(check, _KEYS)} for side, check in made.checks],
        "prediction": made.judged,
        "findings": made.findings,
        "notes": made.notes,
    }
    return json_document(told, _KEYS)


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "kind": side.kind,
        "title": side.title,
        "runs": len(side.tables),
        "interactions": len(side.rows),
        "extrapolated": side.extrapolated,
        "unanswered": side.unanswered,
        "conditions": dict(side.conditions),
        "notes": side.notes,
    }


def _said(side: Side) -> str:
    kind = {"host": "a host", "machine": "simulated", "printed": "as printed"}[side.kind]
    runs = f", {len(side.tables)} runs" if len(side.tables) > 1 else ""
    mark = f" {MARK}" if side.extrapolated or any(note.startswith("Extrapolated") for note in side.notes) else ""
    return f"{side.name}{mark}, {kind}: {side.title}{runs}"


def _answer(made: Comparison) -> str:
    """What B is, measure by measure."""
    told = [made.rows.whole[name] for name in _ANSWERED if name in made.rows.whole]
    parts = [_phrase(one) for one in told if one.change is not None]
    if not parts and made.chains:
        parts = [f"{chain.measure} {chain.ratio:.3f} times less" for chain in made.chains]
        return "B against A, by totals: " + ", ".join(parts) + "."
    if not parts:
        return "Nothing can be compared: the two sides have no figure in common."
    if made.judged:
        return f"{judged_in_words(made.judged)} Measured less predicted: {off_in_words(made.judged)}."
    return f"B against A: {'; '.join(parts)}."


def _phrase(told: Difference) -> str:
    name = name_of(told.measure)
    if told.verdict == "no difference":
        return f"no difference in {name} ({change(told)}, {change_interval(told)})"
    if told.interval is None:
        return f"{name} {change(told)}"
    return f"{name} is {told.verdict} ({change(told)}, {change_interval(told)})"


def _warnings(made: Comparison) -> tuple[str, ...]:
    found = [f"Failed: {finding.text}." for finding in made.findings if finding.failed is not False]
    for name, check in made.checks:
        if check.verdict == "broken" and check.name == DOCUMENT_CHECK:
            found.append(f"{name} contradicts itself: see Checks.")
        elif check.verdict == "broken":
            found.append(f"{name}: {check.name}: {check.text}.")
    for side in (made.a, made.b):
        for one in side.extrapolated:
            found.append(
                f"{side.name}: user {one.user} died {100 * one.share_done:.0f} % through the script; "
                f"{number(one.missing)} interactions are extrapolated. What they are in is marked {MARK}."
            )
        found += [f"{side.name}: {note} {MARK}" for note in side.notes if note.startswith("Extrapolated")]
    found += road_warnings(made.roads)
    return tuple(dict.fromkeys(found))


def _notes(made: Comparison) -> list[tuple[str, str]]:
    rows = made.rows
    found = [("Intervals", line) for line in _about_intervals(made)]
    sources = {side.fault_source for side in (made.a, made.b)} - {""}
    if sources:
        found.append(("Page time", f"is {'; '.join(sorted(sources))}."))
    elif rows.rows:
        found.append(("Page time", "is not known on both sides: the processor time of page faults was not metered."))
    for letter, side in (("A", made.a), ("B", made.b)):
        found += [(letter, note) for note in side.notes if not note.startswith("Extrapolated")]
        if side.unanswered:
            found.append((letter, f"{number(side.unanswered)} lines were never answered: they are in no mean."))
        if side.stretches:
            found.append((letter, f"The figures are of {_stretch(side)}."))
    found += [("Prediction", line) for line in (*two_intervals(made.judged), *why_not_judged(made.judged))]
    found += [("Checks", line) for line in _checked(made)]
    found += [("Left out", note) for note in made.notes]
    found += [("Threshold", finding.text) for finding in made.findings]
    if made.parts.busy is not None:
        found.append(("Changes", "by number + by time each = change, each at the mean of both sides."))
    if made.chains:
        found.append(("Bookkeeping", "says what the meters moved by; not what each change did: see loadgo speedup."))
    found += [("Cross-check", line) for line in road_notes(made.roads)]
    return found


def _stretch(side: Side) -> str:
    return "the steady part of the run" if side.stretches[0].name == "steady" else "the whole run"


def _about_intervals(made: Comparison) -> list[str]:
    rows = made.rows
    if not rows.whole:
        return []
    short = [_too_short(rows.waits)] if rows.waits is not None else []
    if not any(one.interval for one in rows.whole.values()):
        return [f"There are none: they need {FEWEST_UNITS} users or runs on each side, and print has neither.", *short]
    how = "paired by run and seed" if rows.unit == "run" else "paired by user and line"
    drawn = f"{rows.units[0]} and {rows.units[1]} {rows.unit}s, {how if rows.paired else 'not paired'}"
    time = "" if rows.unit == "run" else "; or stretches of time, where that is wider"
    judged = sum(row.kind == "row" for row in rows.rows)
    chance = 0.05 * judged
    return [
        f"95 %, by drawing again {drawn}{time}.",
        f"Of {judged} rows that are alike chance calls up to {chance:.1f} different, for each measure.",
        *short,
    ]


def _too_short(waits: float) -> str:
    enough = f"{FEWEST_STRETCH_WAITS * FEWEST_UNITS:.0f} waits"
    return (
        f"What users wait for is not judged: a run lasts {waits:.0f} of its mean waits, and all who wait at one time "
        f"meet the same. Take longer runs ({enough}), or {FEWEST_UNITS} on each side."
    )


def _checked(made: Comparison) -> list[str]:
    held = sum(check.verdict == "holds" for _, check in made.checks)
    untold = [f"{side}: {check.name} ({check.text})" for side, check in made.checks if check.verdict != "holds"]
    return [f"{held} of {len(made.checks)} hold.", *untold]
