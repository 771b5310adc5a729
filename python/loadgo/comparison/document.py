"""A comparison as a document: the answer in a sentence, conditions that differ, tables, and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loadgo.comparison.chart_data import Distribution, distribution_of
from loadgo.comparison.compare import DOCUMENT_CHECK, Comparison
from loadgo.comparison.difference import Difference
from loadgo.comparison.drift_words import (
    about_allowance,
    advice,
    busy_side,
    cannot_tell_measures,
    experiment_command,
    neighbours,
    pairs_needed,
    seeds,
)
from loadgo.comparison.headline import further_sentences, verdict_sentence
from loadgo.comparison.judgement import Judged
from loadgo.comparison.judgement_words import why_not_judged
from loadgo.comparison.metered_tables import metered_json, metered_tables
from loadgo.comparison.metered_words import (
    metered_answer,
    metered_notes,
    metered_sentences,
    metered_trust,
    metered_warnings,
)
from loadgo.comparison.pictures import comparison_pictures
from loadgo.comparison.printed_side import EXTRAPOLATION_WORD
from loadgo.comparison.rows import Row
from loadgo.comparison.short_form import (
    HOSTS_LABEL,
    MIX_LABEL,
    first_tables,
    full_pictures,
    further_tables,
    short_notes,
)
from loadgo.comparison.side import Side
from loadgo.comparison.tables import comparison_tables
from loadgo.comparison.thresholds import ThresholdResult
from loadgo.comparison.trust import comparison_trust
from loadgo.decomposition.json_keys import JSON_KEYS as DECOMPOSITION_KEYS
from loadgo.decomposition.tables import road_notes, road_warnings
from loadgo.decomposition.waterfall import chain_waterfalls
from loadgo.decomposition.waterfall_pictures import waterfall_pictures
from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.measures.record_checks import CHECKS_WITH_WARNINGS, RunCheck
from loadgo.measures.run_warnings import warnings_of_runs
from loadgo.measures.trust import unanswered_in_words
from loadgo.notation.figures import as_code, counted, in_words, number
from loadgo.notation.measures import EXTRAPOLATED_MARK, percent
from loadgo.records.conditions import DifferingCondition
from loadgo.records.extrapolation import ExtrapolatedUser
from loadgo.stats.resample import FEWEST_STRETCH_WAITS, FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_UNEQUAL_ANSWERS_SHARE = 0.01
"""Sides whose shares of lines without an answer differ by this have means of unequal lines. Chosen by hand."""
_NAMED_ROWS = 3
"""The most rows that a warning names."""
_DIFFERENCE = (
    "measure before after interval before_interval after_interval extrapolated more_is_better change relative verdict "
    "drift interval_within_runs=within_runs run_deviation pairs_needed margin cannot_tell_by times_longer "
    "estimate_doubt change_by_unanswered=by_unanswered"
)
JSON_KEYS: Keys = {
    **DECOMPOSITION_KEYS,
    Difference: _DIFFERENCE,
    Judged: _DIFFERENCE + " within doubt reach judgement",
    DifferingCondition: "name before after",
    Distribution: "probabilities a_ns b_ns counts",
    ExtrapolatedUser: "user done missing",
    RunCheck: "name verdict text",
    ThresholdResult: "failed text is_open",
}


def comparison_document(comparison: Comparison) -> Document:
    """The document of a comparison."""

    def charts() -> list[Chart]:
        from loadgo.comparison.charts import comparison_charts

        return comparison_charts(comparison)

    answers = _answers(comparison)
    tables = comparison_tables(comparison)
    first = bool(comparison.conditions) + bool(comparison.judged)
    pictures = (*comparison_pictures(comparison), *waterfall_pictures(chain_waterfalls(comparison.chains)))
    of_runs = _warnings_of_runs(comparison)
    return Document(
        title=f"{comparison.b.name} compared with {comparison.a.name}",
        answer=answers[0],
        further_answers=answers[1:],
        trust=_trust(comparison, is_warned=bool(of_runs)),
        warnings=_warnings(comparison, of_runs),
        about=tuple(f"{letter}: {_described(side)}" for letter, side in (("A", comparison.a), ("B", comparison.b))),
        sections=(
            *first_tables(tables[:first]),
            *full_pictures(pictures),
            Charts(charts),
            *further_tables(comparison, tables[first:]),
            *(metered_tables(comparison.metered) if comparison.metered is not None else ()),
        ),
        notes=tuple(_notes(comparison)),
        short_notes=short_notes(_notes(comparison), _broken_checks(comparison)),
    )


def comparison_json(comparison: Comparison) -> str:
    """One JSON object in full precision. Times are in nanoseconds, and null means not known."""
    members = {
        "answer": " ".join(_answers(comparison)),
        "warnings": _warnings(comparison, _warnings_of_runs(comparison)),
        "margin": comparison.margin,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "conditions": comparison.conditions,
        "rows": {
            **{name: getattr(comparison.rows, name) for name in ("by", "paired", "unit", "units", "waits", "left_out")},
            "rows": [_row(row) for row in comparison.rows.rows],
        },
        "commands": [_row(row) for row in comparison.by_command.rows if row.kind == "row"],
        "whole": comparison.rows.whole,
        "between_runs": _between_runs(comparison),
        "parts": comparison.parts.parts,
        "by_output_line": comparison.parts.output,
        "bookkeeping": comparison.chains,
        "waterfalls": chain_waterfalls(comparison.chains),
        "distribution": distribution_of(comparison),
        "roads": comparison.roads,
        "checks": [{"side": side, **members_of(check, JSON_KEYS)} for side, check in comparison.checks],
        "prediction": comparison.judged,
        "metered": metered_json(comparison.metered),
        "findings": comparison.findings,
        "notes": comparison.notes,
    }
    return json_document(members, JSON_KEYS)


def _answers(comparison: Comparison) -> tuple[str, ...]:
    """The answer, then its further sentences. Of meterings without a command the answer is about the host alone."""
    metered = comparison.metered
    if metered is None:
        return (verdict_sentence(comparison), *further_sentences(comparison))
    of_host = (metered_answer(metered), *metered_sentences(comparison, metered))
    if not comparison.rows.whole:
        return of_host
    return (verdict_sentence(comparison), *further_sentences(comparison), *of_host)


def _trust(comparison: Comparison, *, is_warned: bool) -> str:
    if comparison.metered is None or comparison.rows.whole:
        return comparison_trust(comparison, is_warned=is_warned)
    return metered_trust(comparison, comparison.metered, is_warned=is_warned)


def _row(row: Row) -> dict[str, Any]:
    return {"label": row.label, "kind": row.kind, "counts": row.counts, "measures": row.measures}


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "kind": side.kind,
        "title": side.title,
        "runs": len(side.tables),
        "interactions": side.interaction_count,
        "extrapolated": side.extrapolated,
        "unanswered": side.unanswered,
        "conditions": dict(side.conditions),
        "notes": side.notes,
    }


def _between_runs(comparison: Comparison) -> dict[str, Any]:
    between = comparison.rows.between
    is_open = between.drift != "none" and cannot_tell_measures(comparison.rows)
    pairs = pairs_needed(comparison.rows)
    return {
        "drift": between.drift,
        "like_runs": between.like_runs,
        "degrees": between.degrees,
        "reason": between.reason,
        "pairs_needed": pairs,
        "command": (experiment_command(comparison.a, comparison.b, pairs) or None) if is_open else None,
    }


def _described(side: Side) -> str:
    hosts = max((len(run.by_host) for run in side.tables), default=0)
    on = f"{hosts} hosts" if hosts else "a host"
    kind = {"host": on, "machine": "simulated", "printed": "as printed"}[side.kind]
    runs = f", {len(side.tables)} runs" if len(side.tables) > 1 else ""
    is_extrapolated = side.extrapolated or any(note.startswith(EXTRAPOLATION_WORD) for note in side.notes)
    part = " (in part extrapolated)" if is_extrapolated else ""
    return f"{side.name}{part}, {kind}: {side.title}{runs}"


def _warnings_of_runs(comparison: Comparison) -> list[str]:
    """The warnings that stand over the runs of both sides, and over their records."""
    sides = (comparison.a, comparison.b)
    warnings = []
    for side in sides:
        warnings += warnings_of_runs(side.run_names, side.tables, side.stretches, without=("busy",), named=True)
    is_of_host = comparison.metered is not None and not comparison.rows.whole  # all of its work is what is compared
    return [*warnings, *_broken_checks(comparison), *(() if is_of_host else neighbours(*sides))]


def _warnings(comparison: Comparison, of_runs: Sequence[str]) -> tuple[str, ...]:
    """All warnings of the comparison: failed thresholds, those of its runs, missing knowledge, and extrapolations."""
    sides = (comparison.a, comparison.b)
    warnings = [f"Failed: {finding.text}." for finding in comparison.findings if finding.failed is not False]
    warnings += metered_warnings(comparison.metered) if comparison.metered is not None else []
    warnings += [*of_runs, *_unequal_answers(comparison), *advice(comparison.rows, *sides)]
    for side in sides:
        for user in side.extrapolated:
            warnings.append(
                f"{side.name}: user {user.user} died {100 * user.share_done:.0f} % through the script; "
                f"{number(user.missing)} interactions are extrapolated. Figures that contain them are marked "
                f"{EXTRAPOLATED_MARK}."
            )
        warnings += [f"{side.name}: {note}" for note in side.notes if note.startswith(EXTRAPOLATION_WORD)]
    warnings += road_warnings(comparison.roads)
    return tuple(dict.fromkeys(warnings))


def _unequal_answers(comparison: Comparison) -> list[str]:
    """A warning if one side answered a smaller share of its lines: without them its mean responses are too short."""
    shares = {side.unanswered / len(side.rows) if len(side.rows) else 0.0: side for side in comparison.sides}
    rows = [_label(row) for row in comparison.rows.rows if row.measures["response"].may_turn]
    if max(shares) - min(shares) < _UNEQUAL_ANSWERS_SHARE and not rows:
        return []
    side = shares[max(shares)]
    lines = unanswered_in_words(side.unanswered, len(side.rows))
    turned = f" With them, the verdict on the response of {_some(rows)} may be another." if rows else ""
    longer = "users waited longer there than its mean responses say"
    return [f"{side.name}: {lines}, and no mean has them: {longer}.{turned}"]


def _label(row: Row) -> str:
    """The name of a row in a sentence."""
    return as_code(row.label) if row.kind == "row" else row.label


def _some(rows: Sequence[str]) -> str:
    """The first rows by name, and the number of the others."""
    names = list(dict.fromkeys(rows))
    more = [f"{len(names) - _NAMED_ROWS} more"] if len(names) > _NAMED_ROWS else []
    return in_words([*names[:_NAMED_ROWS], *more])


def _broken_checks(comparison: Comparison) -> list[str]:
    """A warning for each check that fails, but for those that the warnings of the runs have."""
    warnings = []
    for name, check in comparison.checks:
        if check.verdict == "broken" and check.name == DOCUMENT_CHECK:
            warnings.append(f"{check.text.partition(':')[0]}: see `loadgo reproduce {name}`.")
        elif check.verdict == "broken" and not check.name.startswith(CHECKS_WITH_WARNINGS):
            warnings.append(f"{name}: {check.name}: {check.text}.")
    return warnings


def _notes(comparison: Comparison) -> list[tuple[str, str]]:
    rows = comparison.rows
    notes = [(MIX_LABEL, _mix_in_words(comparison))] if rows.rows else []
    notes += _about_totals(comparison)
    notes += metered_notes(comparison.metered) if comparison.metered is not None else []
    notes += [("Intervals", line) for line in _about_intervals(comparison)]
    if any(run.by_host for side in comparison.sides for run in side.tables):
        notes.append((HOSTS_LABEL, "are compared together. `loadgo report RUN --host NAME` has one host of a run."))
    notes += [("Seeds", line) for line in seeds(comparison.a, comparison.b, rows)]
    sources = {side.fault_source for side in (comparison.a, comparison.b)} - {""}
    if sources and rows.whole:
        notes.append(("CPU of page faults", f"is {'; '.join(sorted(sources))}.{_fault_doubt(comparison)}"))
    elif rows.rows:
        notes.append(
            ("CPU of page faults", "is not known on both sides: the processor time of page faults was not metered.")
        )
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        notes += [(letter, note) for note in side.notes if not note.startswith(EXTRAPOLATION_WORD)]
        if side.unanswered:
            were, they_are = ("was", "it is") if side.unanswered == 1 else ("were", "they are")
            lines = counted(side.unanswered, "line")
            notes.append((letter, f"{lines} {were} never answered: {they_are} in no mean."))
        if side.other_work is not None and side.other_work.level == "partly busy":
            notes.append((letter, f"{busy_side(side)}."))
        if side.stretches:
            notes.append((letter, f"The figures are of {side.stretch_in_words}."))
    notes += [("Prediction", line) for line in why_not_judged(comparison.judged)]
    notes += [("Checks", line) for line in _checked(comparison)]
    notes += [("Left out", note) for note in comparison.notes]
    notes += [("Threshold", finding.text) for finding in comparison.findings]
    if comparison.parts.busy is not None:
        notes.append(("Changes", "by number + by time each = change, each at the mean of both sides."))
    if comparison.chains:
        notes.append(("Meters", "say where a change shows, and not what caused it: `loadgo speedup` finds the causes."))
    notes += [("Cross-check", line) for line in road_notes(comparison.roads)]
    return notes


def _fault_doubt(comparison: Comparison) -> str:
    """A sentence on the doubt of an estimated time of page faults; empty where all faults were clocked."""
    errors = [(letter, side.fault_error_share) for letter, side in zip("AB", comparison.sides, strict=True)]
    words = [
        f"± {percent(error).removeprefix('+')} in {letter}" if math.isfinite(error) else f"not known in {letter}"
        for letter, error in errors
        if error
    ]
    return f" The doubt of the estimate is {in_words(words)}, and in the intervals." if words else ""


def _about_totals(comparison: Comparison) -> list[tuple[str, str]]:
    """The notes on what a mean interaction is where a side has totals alone. Empty for other sides."""
    names = [side.name for side in comparison.sides if side.has_totals_alone]
    if not names or not comparison.rows.whole:
        return []
    have = "has totals alone" if len(names) == 1 else "have totals alone"
    mix = f"{in_words(names)} {have}: a mean interaction is over all interactions of a side, in the mix that it had."
    is_known = comparison.rows.whole["throughput"].change is not None
    rate = ("Throughput", "of printed totals is their interactions over their elapsed time.")
    return [(MIX_LABEL, mix), *([rate] if is_known else [])]


def _mix_in_words(comparison: Comparison) -> str:
    """A sentence on the weights of the total, and why the ratios of `loadgo cost` are others."""
    total = (
        "a mean interaction in one mix of commands, the mean of both sides' shares"
        if comparison.rows.by == "command"
        else "the whole script, each line once"
    )
    return (
        f"the last row is {total}; the same runs have other ratios in `loadgo cost --against`, where each side's "
        "interactions are in the mix that it typed."
    )


def _about_intervals(comparison: Comparison) -> list[str]:
    rows = comparison.rows
    if not rows.whole:
        return []
    short = [_too_short(rows.waits)] if rows.waits is not None else []
    if not any(difference.interval for difference in rows.whole.values()):
        printed = " A printed table has neither." if "printed" in (comparison.a.kind, comparison.b.kind) else ""
        return [f"There are none: they need {FEWEST_UNITS} users or runs on each side.{printed}", *short]
    pairing = "paired by run and seed" if rows.unit == "run" else "paired by user and line"
    units = f"{rows.units[0]} and {rows.units[1]} {rows.unit}s, {pairing if rows.paired else 'not paired'}"
    with_stretches = "; or stretches of time, where that is wider" if rows.paired else ", and stretches of time"
    stretches = "" if rows.unit == "run" else with_stretches
    judged = sum(row.kind == "row" for row in rows.rows)
    chance = 0.05 * judged
    return [
        f"95 %, by drawing again {units}{stretches}.",
        *about_allowance(rows),
        f"If no row differed, chance would still call up to {chance:.1f} of {judged} different, for each measure.",
        *short,
    ]


def _too_short(waits: float) -> str:
    enough = f"{FEWEST_STRETCH_WAITS * FEWEST_UNITS:.0f} waits"
    return (
        f"What users wait for is not judged: a run lasts {waits:.0f} of its mean waits, and all who wait at one time "
        f"meet the same. Take longer runs ({enough}), or {FEWEST_UNITS} on each side."
    )


def _checked(comparison: Comparison) -> list[str]:
    count = sum(check.verdict == "holds" for _, check in comparison.checks)
    others = [f"{side}: {check.name} ({check.text})" for side, check in comparison.checks if check.verdict != "holds"]
    return [f"{count} of {len(comparison.checks)} hold.", *others]
