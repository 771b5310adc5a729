"""The texts of a reproduction: the answer, verdict letters, and figures in printed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import get_args

from loadgo.notation.figures import cut, digits, in_words
from loadgo.published.document import CauseKind, Figure
from loadgo.reproduction.own_words import NO_MODEL_SENTENCE, own_answer
from loadgo.reproduction.reproduce import (
    BAD_VERDICTS,
    FigureVerdict,
    ReproducedDocument,
    ReproducedFigure,
    ReproducedTotal,
    Reproduction,
)
from loadgo.reproduction.verdict import tolerances_in_words

HELD_VERDICTS: tuple[FigureVerdict, ...] = ("within", "misprint")
"""The verdicts of predictions that hold."""
_TOLERATED_VERDICTS: tuple[FigureVerdict, ...] = (*HELD_VERDICTS, "one run", "outside")
"""The verdicts of predictions that have a tolerance."""

_NAMED_FIGURES = 6
"""Most figures that an answer names."""
_NAME_CHARS = 48
LOOSE_FIT_SHARE = 0.1
"""Relative error of a fitted figure from which it is listed."""

VERDICT_LETTERS: dict[FigureVerdict, str] = {
    "given": "g",
    "fitted": "f",
    "within": "p",
    "one run": "p~",
    "outside": "p!",
    "misprint": "p*",
    "missing": "?",
    "not predicted": "!",
    "not modelled": "n",
}

LETTER_LEGEND = (
    ("g", "given: fed into the model"),
    ("f", "fitted: a parameter was set by it"),
    ("p", "predicted, and within its tolerance"),
    ("p~", "predicted, outside its tolerance, and where single runs lie: one printed run cannot tell"),
    ("p!", "predicted, and outside its tolerance"),
    ("p*", "predicted, and off only because the document misprints it"),
    ("n", "not modelled"),
    ("?", "to be predicted or fitted, and no model gives it"),
    ("!", "to be predicted, and only fed in or fitted"),
)


def answer(reproduction: Reproduction) -> str:
    """The first sentences: how many predictions hold, which fail, and the number of figures by verdict."""
    if reproduction.is_own:
        return f"{own_answer(reproduction.documents[0])} {NO_MODEL_SENTENCE}"
    if len(reproduction.documents) == 1:
        (only,) = reproduction.documents
        return f"{_predictions(only)} {only.document.name}: {_verdict_counts(reproduction.count)}."
    documents = f"{len(reproduction.documents)} documents have {_verdict_counts(reproduction.count)}"
    return f"{_several_predictions(reproduction)} {documents}."


def _several_predictions(reproduction: Reproduction) -> str:
    """How many predictions of several documents hold. The failing ones are too many to be named here."""
    held, failed = reproduction.count(*HELD_VERDICTS), reproduction.count(*BAD_VERDICTS)
    judged = held + failed + reproduction.count("one run")
    if held == judged:
        return _all_hold(held, reproduction.documents)
    return _clauses(
        f"{held} of {judged} figures that simulated machines predict are within their tolerance of the printed "
        f"ones{_tolerances(reproduction.documents)}",
        _cause_counts(reproduction.documents) if failed > reproduction.unexplained else "",
        _without_cause(reproduction.unexplained, failed) if reproduction.unexplained else "",
        _one_run_clause(reproduction.count),
    )


def _without_cause(unexplained: int, failed: int) -> str:
    are, fail = ("is", "fails") if unexplained == 1 else ("are", "fail")
    return f"{unexplained} {are} not" if unexplained == failed else f"{unexplained} {fail} without one"


def purpose_text() -> str:
    """The subject of the page, and its two kinds of figures."""
    return (
        "Published measurements of time-sharing systems (printed), and the same figures of simulated machines that are "
        "made like them (ours)"
    )


def document_answer(reproduced: ReproducedDocument) -> str:
    """How many predictions of one document hold, which fail, and the number of its figures by verdict."""
    if reproduced.document.path:
        return own_answer(reproduced)
    return f"{_predictions(reproduced)} {_verdict_counts(reproduced.count)}."


def failing_figures(reproduced: ReproducedDocument) -> list[str]:
    """The names of the figures that should be predicted and are not, or are outside without a named cause."""
    names_by_key = {
        key: figure_name(cell.figure.label, key.split("/")[1]) for key, cell in reproduced.cells.items() if cell.bad
    }
    cells = distinct_names(names_by_key)
    totals = [
        figure_name(total.total.label)
        for total in reproduced.totals
        if total.rule is not None and total.verdict in BAD_VERDICTS
    ]
    return [*cells, *totals]


def distinct_names(names_by_key: Mapping[str, str]) -> list[str]:
    """The names of cells by key (`document/table/row/column`), with their rows where several have one name."""
    names = list(names_by_key.values())
    return [
        f"{name} of row {key.split('/')[2]}" if names.count(name) > 1 else name for key, name in names_by_key.items()
    ]


def figure_name(label: str, table: str = "") -> str:
    """The label of a figure in a sentence: `Idle, zero · 6180` is `idle zero (6180)`.

    A row that is a number alone says nothing without its table: `16 · runtime` of `table-1` is `table 1 row 16
    (runtime)`.
    """
    row, _, column = label.partition(" · ")
    if row.isdigit() and table:
        row = f"{table.replace('-', ' ')} row {row}"
    name = row.replace(",", "").rstrip(" :")
    name = f"{name[:1].lower()}{name[1:]}" if name[1:2].islower() else name
    name = cut(name, _NAME_CHARS)
    return f"{name} ({column})" if column else name


def _predictions(reproduced: ReproducedDocument) -> str:
    """`26 of 28 predictions hold; idle zero (6180) fails; one printed run cannot tell for 1.`"""
    held, failed = reproduced.count(*HELD_VERDICTS), reproduced.count(*BAD_VERDICTS)
    judged = held + failed + reproduced.count("one run")
    if held == judged:
        return _all_hold(held, [reproduced])
    failing = failing_figures(reproduced)
    return _clauses(
        f"{held} of {judged} predictions hold{_tolerances([reproduced])}",
        f"{in_words(failing, _NAMED_FIGURES)} fail{'s' if len(failing) == 1 else ''}" if failing else "",
        _cause_counts([reproduced]) if failed > reproduced.unexplained else "",
        _one_run_clause(reproduced.count),
    )


def _all_hold(count: int, documents: Sequence[ReproducedDocument]) -> str:
    """The sentence where every judged prediction holds, or where there is none."""
    if not count:
        return "No figure is predicted."
    subject = f"All {count} predictions hold" if count > 1 else "The one prediction holds"
    return f"{subject}{_tolerances(documents)}."


def _one_run_clause(count: Callable[..., int]) -> str:
    """The clause on predictions that one printed run leaves open; empty without any."""
    return f"one printed run cannot tell for {count('one run')}" if count("one run") else ""


def _clauses(*clauses: str) -> str:
    return f"{'; '.join(filter(None, clauses))}."


def _tolerances(documents: Sequence[ReproducedDocument]) -> str:
    """The widest tolerance of the predictions, as ` (tolerances up to a factor of 4)`."""
    figures: list[ReproducedFigure | ReproducedTotal] = []
    for reproduced in documents:
        figures += [*reproduced.cells.values(), *reproduced.totals]
    judged = [
        figure.rule.within
        for figure in figures
        if figure.rule is not None and figure.rule.within is not None and figure.verdict in _TOLERATED_VERDICTS
    ]
    return f" ({tolerances_in_words(judged)})" if judged else ""


def _cause_counts(documents: Sequence[ReproducedDocument]) -> str:
    """`13 fail for a named cause (4 data, 9 missing mechanism)`."""
    kinds = [cell.cause.kind for reproduced in documents for cell in reproduced.cells.values() if cell.cause]
    by_kind = ", ".join(f"{kinds.count(kind)} {kind}" for kind in get_args(CauseKind) if kind in kinds)
    return f"{len(kinds)} fail{'s' if len(kinds) == 1 else ''} for a named cause ({by_kind})"


def effort_text(reproduction: Reproduction) -> str:
    """The number of runs, and their real time."""
    return f"{reproduction.experiments} runs of simulated machines in {reproduction.wall_s:.0f} s"


SUMMARY_COLUMNS = (
    "document",
    "figures",
    "given",
    "fitted",
    "predicted",
    "outside",
    "cannot tell",
    "without cause",
    "not predicted",
    "not modelled",
    "findings",
)
"""The columns of the summary.

`without cause` counts figures outside for which no cause is named, `not predicted` figures that should be predicted or
fitted, and are not.
"""

SUMMARY_NOTES = (
    "findings: places where the document contradicts itself, if only in the last digit",
    "cannot tell: outside the tolerance, but no farther than single runs lie, and the document has one run",
    "The exit status is 1 if a figure is outside its tolerance without a named cause, missing, or not predicted",
)
"""Notes below the summary."""


def summary(reproduction: Reproduction) -> list[tuple[str, ...]]:
    """A row for each document: the number of figures by verdict, and of its contradictions."""
    return [(reproduced.document.name, *map(str, _summary_counts(reproduced))) for reproduced in reproduction.documents]


def _summary_counts(reproduced: ReproducedDocument) -> list[int]:
    without_cause = sum(cell.verdict == "outside" and cell.bad for cell in reproduced.cells.values())
    counts = [reproduced.count(*verdicts) for verdicts in _SUMMARY_VERDICTS]
    position = SUMMARY_COLUMNS.index("without cause") - 1
    return [*counts[:position], without_cause, *counts[position:], len(reproduced.findings)]


_SUMMARY_VERDICTS: tuple[tuple[FigureVerdict, ...], ...] = (
    tuple(VERDICT_LETTERS),
    ("given",),
    ("fitted",),
    ("within", "one run", "outside", "misprint"),
    ("outside",),
    ("one run",),
    ("missing", "not predicted"),
    ("not modelled",),
)


def _verdict_counts(count: Callable[..., int]) -> str:
    total = count(*VERDICT_LETTERS)
    predicted = count("within", "one run", "outside", "misprint")
    missing = count("missing")
    counts = [f"{count('given')} given", f"{count('fitted')} fitted", f"{predicted} predicted"]
    counts += [f"{count('not modelled')} not modelled"]
    if not_predicted := count("not predicted"):
        counts.append(f"{not_predicted} not predicted that should be")
    if missing:
        counts.append(f"{missing} missing")
    if misprints := count("misprint"):
        counts.append(f"{misprints} misprinted")
    return f"{total:,} figures: {', '.join(counts)}"


def ours_text(cell: ReproducedFigure) -> str:
    """Our figure in printed form; empty for a missing figure, and for one that is given as printed."""
    if cell.ours is None or (cell.verdict in ("given", "not modelled") and cell.ratio in (1.0, None)):
        return ""
    return value_text(cell.figure, cell.ours.value, cell.ours.high)


def value_text(figure: Figure, number: float, high: float | None = None) -> str:
    """A value with the decimals of a printed figure, and at least three significant digits."""
    if high is not None:
        return f"{value_text(figure, number)}–{value_text(figure, high)}"
    if figure.unit == "date":
        day = date.fromordinal(round(number))
        return f"{day.month}/{day.day}/{day.year % 100}"
    if figure.unit == "min:s":
        return f"{int(number) // 60:02}:{int(number) % 60:02}"
    places, half = 0, figure.number.low_half
    while half and 2 * half < 1 and places < 6:
        half, places = half * 10, places + 1
    return significant(number, places)


def significant(value: float, places: int = 0) -> str:
    """A number with `places` decimals, or more if three significant digits need them."""
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    needed = digits(abs(value))
    least = len(needed.partition(".")[2]) if abs(value) < 1000 else 0
    return f"{value:,.{max(places, least)}f}"


def ratio_text(ratio: float | None) -> str:
    """A ratio as `×1.03`; empty for None."""
    return "" if ratio is None else f"×{ratio:.3g}" if ratio >= 0.0995 else f"×{ratio:.2g}"


def verdict_letter(cell: ReproducedFigure | ReproducedTotal) -> str:
    """The letter of a figure's verdict."""
    return VERDICT_LETTERS[cell.verdict]


def troubles(reproduced: ReproducedDocument) -> list[str]:
    """A line for each figure that is not as it should be without a named cause, and for each misprint."""
    lines = [
        f"{short_id(cell.figure.id)}: {_trouble_text(cell)}"
        for cell in reproduced.cells.values()
        if cell.bad or cell.verdict == "misprint"
    ]
    for total in reproduced.totals:
        if total.rule is not None and total.verdict in BAD_VERDICTS:
            ours = "nothing" if total.ours is None else significant(total.ours)
            within = "" if total.rule.within is None else f", tolerance {total.rule.within.text}"
            lines.append(f"{short_id(total.total.id)}: {significant(total.printed)} printed, {ours} ours{within}")
    return lines


def explained(reproduced: ReproducedDocument) -> list[tuple[str, ...]]:
    """For each named cause: its kind, what it says, and a line for each figure that is outside for it."""
    cells_by_cause: dict[tuple[str, str], list[ReproducedFigure]] = {}
    for cell in reproduced.cells.values():
        if cell.cause is not None:
            cells_by_cause.setdefault((cell.cause.kind, cell.cause.says), []).append(cell)
    return [
        (f"{kind}: {says}", *(f"{short_id(cell.figure.id)}: {_compared_text(cell)}" for cell in cells))
        for (kind, says), cells in cells_by_cause.items()
    ]


def untold(reproduced: ReproducedDocument) -> list[str]:
    """A line for each figure outside its tolerance that is where single runs lie."""
    lines = []
    for cell in reproduced.cells.values():
        if cell.verdict == "one run" and cell.ours is not None and cell.ours.one_run is not None:
            low, high = (f"{value_text(cell.figure, end)}{cell.figure.percent_sign}" for end in cell.ours.one_run)
            lines.append(
                f"{short_id(cell.figure.id)}: {_compared_text(cell)}; 95 of 100 single runs give {low} to {high}"
            )
    return lines


def ratio_chart_name(document_name: str) -> str:
    """The name of the chart of a document's predicted figures."""
    return f"ratios-{document_name}"


def loose_fits(reproduced: ReproducedDocument) -> list[str]:
    """A line for each fitted figure that is more than 10 % off."""
    return [
        f"{short_id(key)}: printed {cell.figure.text}, ours {value_text(cell.figure, cell.ours.value, cell.ours.high)}"
        for key, cell in reproduced.cells.items()
        if cell.verdict == "fitted" and cell.ours and cell.ratio and abs(cell.ratio - 1) > LOOSE_FIT_SHARE
    ]


def _trouble_text(cell: ReproducedFigure) -> str:
    ours = "" if cell.ours is None else value_text(cell.figure, cell.ours.value, cell.ours.high)
    if cell.verdict == "missing":
        return f"to be {cell.rule.mark}, and no model gives it"
    if cell.verdict == "not predicted":
        return (
            f"printed {cell.figure.text}, ours {ours}: to be predicted, and it is {cell.ours.mark if cell.ours else ''}"
        )
    within = cell.rule.within.text if cell.rule.within else ""
    if cell.verdict == "misprint":
        corrected = f"by the document's other figures {cell.corrected}"
        return f"printed {cell.figure.text}, {corrected}, ours {ours} (within {within})"
    return f"{_compared_text(cell)}: {cell.rule.why}"


def _compared_text(cell: ReproducedFigure) -> str:
    """The printed figure, ours and the tolerance."""
    ours = "" if cell.ours is None else value_text(cell.figure, cell.ours.value, cell.ours.high)
    within = cell.rule.within.text if cell.rule.within else ""
    return f"printed {cell.figure.text}, ours {ours}{cell.figure.percent_sign}, tolerance {within}"


def sources(reproduced: ReproducedDocument) -> list[tuple[str, str]]:
    """The figures by the source of ours: a run, arithmetic, or the reason why they are not modelled."""
    names_by_source: dict[str, list[str]] = {}
    for cell in reproduced.cells.values():
        if cell.verdict == "not modelled" and cell.ours is None:
            names_by_source.setdefault(f"not modelled: {cell.rule.why}", []).append(short_id(cell.figure.id))
        elif cell.ours is not None and cell.ours.how:
            names_by_source.setdefault(f"{cell.ours.mark}: {cell.ours.how}", []).append(short_id(cell.figure.id))
    return [(_name_list(names), source.replace("`", "")) for source, names in names_by_source.items()]


def short_id(key: str) -> str:
    """An id without its document's name."""
    return key.partition("/")[2]


def _name_list(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
