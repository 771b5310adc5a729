"""The published documents again: every printed figure beside ours, and whether what was predicted is near enough.

A figure is *given* (fed in), *fitted* (a parameter was set by it) or *predicted*; what a model cannot give is *not
modelled* and says why. Only a predicted figure can be right or wrong: each has a tolerance, with its reason, in
`published/`.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Literal, get_args

from loadgo.errors import BadArgument
from loadgo.published.catalogue import document, documents
from loadgo.published.consistency import find_contradictions
from loadgo.published.document import Document, Figure, Rule, Total
from loadgo.published.finding import Finding
from loadgo.reproduction.models.arithmetic import ours_of, with_arithmetic
from loadgo.reproduction.models.laboratory import Lab
from loadgo.reproduction.models.rfc_392_here import Here, made_here
from loadgo.reproduction.models.rfc_392_remedies import Remedied, remedied
from loadgo.reproduction.models.values import Plot, Value, Values
from loadgo.reproduction.verdict import near, ratio_of
from loadgo.transfers.prices import Prices

MODELS = {
    "ctss-trivial": "ctss_trivial",
    "mpl-16": "mpl_16",
    "rfc-392": "rfc_392",
    "multics-1969": "multics_1969",
    "csr-rfc-20": "csr_rfc_20",
}
"""The module that runs each document's models: its `provide(lab)` and `plots(lab)`."""

TRANSFERS = "rfc-392"
"""The document whose transfers can be made on this host."""

Verdict = Literal["given", "fitted", "not modelled", "within", "outside", "misprint", "missing", "not predicted"]

BAD: tuple[Verdict, ...] = ("outside", "missing", "not predicted")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Reproduced:
    """One printed figure beside ours."""

    figure: Figure
    rule: Rule
    ours: Value | None
    """None when it is not modelled, or missing."""
    ratio: float | None
    """Ours over printed; None where that says nothing: dates, a printed 0, ours within a printed range."""
    verdict: Verdict
    """`within` or `outside` the tolerance; `misprint`: within it of what the document's other figures say; `missing`:
    to be predicted, and no model gives it; `not predicted`: to be predicted, and only fed in or fitted.
    """
    corrected: str = ""
    """Of a misprint: what the document's other figures say."""


@dataclass(frozen=True)
class ReproducedTotal:
    """A figure that is not printed but follows from printed ones, beside what follows from ours."""

    total: Total
    printed: float
    ours: float | None
    rule: Rule | None
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        """Ours over what follows from the printed figures."""
        return self.ours / self.printed if self.ours is not None and self.printed else None


@dataclass(frozen=True)
class DocumentAgain:
    """One document, reproduced."""

    document: Document
    cells: Mapping[str, Reproduced]
    """By the figures' ids."""
    totals: tuple[ReproducedTotal, ...]
    further: Values
    """What the models give that the document has no figure for, by `DOCUMENT/further/NAME`."""
    findings: tuple[Finding, ...]
    """Where the document contradicts itself."""
    plots: tuple[Plot, ...]
    remedies: tuple[Remedied, ...] = ()
    """What the document proposes, and what it would have saved."""
    here: Here | None = None
    """The document's measurements made on this host, where that was asked for."""

    def count(self, *verdicts: Verdict) -> int:
        """How many figures and totals came to one of these."""
        judged = [total for total in self.totals if total.rule is not None]
        return sum(cell.verdict in verdicts for cell in self.cells.values()) + sum(
            total.verdict in verdicts for total in judged
        )


@dataclass(frozen=True)
class Reproduction:
    """All documents that were asked for, reproduced."""

    documents: tuple[DocumentAgain, ...]
    experiments: int
    """How many runs it took."""
    wall_s: float

    def count(self, *verdicts: Verdict) -> int:
        """How many figures and totals came to one of these."""
        return sum(again.count(*verdicts) for again in self.documents)

    @property
    def bad(self) -> bool:
        """Whether a figure that was to be predicted is outside its tolerance, missing, or not predicted at all."""
        return self.count(*BAD) > 0


def reproduce(name: str | None = None, *, here: Prices | None = None, progress: Progress | None = None) -> Reproduction:
    """Runs the published measurements again, and puts our figure beside each printed figure.

    Args:
        name: A document, such as `mpl-16`. By default all documents (docs/published.md lists them).
        here: The prices of this host. The transfers of RFC 392 are then made on this host too.
        progress: A function that is called with a line for each document that is done.

    Returns:
        `Reproduction` with each document's figures, their ratio and verdict. `bad` tells whether a prediction failed.

    Raises:
        loadgo.errors.BadArgument: There is no such document, or `here` was given with another one; it is a
            `ValueError`.
        loadgo.errors.LoadgoError: A machine cannot be run.
    """
    if here is not None and name not in (None, TRANSFERS):
        raise BadArgument(f"{name} has nothing to be measured on this host: that is for {TRANSFERS}, its transfers")
    asked = documents() if name is None else (document(name),)
    began = time.monotonic()
    with Lab() as lab, ThreadPoolExecutor(max_workers=len(asked)) as together:
        done = [together.submit(_again, one, lab, progress) for one in asked]
        found = tuple(one.result() for one in done)
        # Not before the machines are done: nothing else is to run beside it.
        found = tuple(_on_this_host(one, here, progress) for one in found)
        return Reproduction(found, lab.count, time.monotonic() - began)


def judged(told: Document, values: Values, plots: Sequence[Plot] = ()) -> DocumentAgain:
    """The document beside `values`, our figures by id: what follows from them by arithmetic is added.

    Raises `ValueError` for a value of a figure that the document does not have.
    """
    further = {key: value for key, value in values.items() if key.startswith(f"{told.name}/further/")}
    known = {*told.figures, *further, *(total.id for total in told.totals)}
    unknown = [key for key in values if key not in known]
    if unknown:
        raise BadArgument(f"the models of {told.name} give figures that it does not have: {', '.join(unknown)}")
    findings = find_contradictions(told)
    ours = with_arithmetic(told, values)
    corrected = {s.figure: s for finding in findings for s in finding.suspects}
    cells = {}
    for key, figure in told.figures.items():
        cell = _cell(figure, _rule(told, key), ours.get(key))
        suspect = corrected.get(key)
        if cell.verdict == "outside" and cell.ours and suspect and _mended(cell, float(suspect.corrected)):
            cell = Reproduced(figure, cell.rule, cell.ours, cell.ratio, "misprint", suspect.text)
        cells[key] = cell
    totals = tuple(_total(told, total, cells, values.get(total.id)) for total in told.totals)
    return DocumentAgain(told, cells, totals, further, findings, tuple(plots))


def _again(told: Document, lab: Lab, progress: Progress | None) -> DocumentAgain:
    model = import_module(f"loadgo.reproduction.models.{MODELS[told.name]}")
    again = judged(told, model.provide(lab), model.plots(lab))
    if told.name == TRANSFERS:
        again = replace(again, remedies=remedied(lab))
    if progress is not None:
        progress(f"{told.name}: {again.count(*get_args(Verdict))} figures, {again.count(*BAD)} not as they should be")
    return again


def _on_this_host(again: DocumentAgain, here: Prices | None, progress: Progress | None) -> DocumentAgain:
    if here is None or again.document.name != TRANSFERS:
        return again
    return replace(again, here=made_here(here, progress=progress))


def _rule(told: Document, key: str) -> Rule:
    return next(rule for rule in told.rules if fnmatch.fnmatchcase(key, rule.cells))


def _cell(figure: Figure, rule: Rule, ours: Value | None) -> Reproduced:
    if ours is None:
        if rule.mark in ("predicted", "fitted"):
            return Reproduced(figure, rule, None, None, "missing")
        if rule.mark == "not modelled":
            return Reproduced(figure, rule, None, None, "not modelled")
        number = figure.number
        high = float(number.high) if number.is_range else None
        ours = Value(float(number.low), "given", rule.why, high=high)
    return Reproduced(figure, rule, ours, ratio_of(figure, ours), _verdict(figure, rule, ours))


def _verdict(figure: Figure, rule: Rule, ours: Value) -> Verdict:
    if ours.mark == "predicted" and rule.within is not None:
        return "within" if near(figure.number, ours, rule.within) else "outside"
    if rule.mark == "predicted":
        return "not predicted"
    return "fitted" if ours.mark == "fitted" else "not modelled" if ours.mark == "not modelled" else "given"


def _mended(cell: Reproduced, corrected: float) -> bool:
    """Whether ours is within the tolerance of what the figure must be by the document's other figures."""
    assert cell.ours is not None
    assert cell.rule.within is not None
    return abs(cell.ours.value / corrected - 1) <= max(cell.rule.within.relative, cell.rule.within.factor - 1)


def _total(told: Document, total: Total, cells: Mapping[str, Reproduced], own: Value | None) -> ReproducedTotal:
    """The total from our figures, unless the model gives its own."""
    printed = ours_of(total.expression, told.figures, {})
    values = {key: cell.ours for key, cell in cells.items() if cell.ours is not None}
    whole = not any(cells[key].ours is None for key in total.cells)
    ours = ours_of(total.expression, told.figures, values) if whole else None
    ours = ours if own is None else own.value
    rule = next((rule for rule in told.rules if fnmatch.fnmatchcase(total.id, rule.cells)), None)
    verdict: Verdict = "missing" if ours is None else "given"
    if rule is not None and rule.within is not None and ours is not None:
        within = (
            abs(ours / printed - 1) <= rule.within.relative
            or 1 / rule.within.factor <= ours / printed <= rule.within.factor
        )
        verdict = "within" if within else "outside"
    return ReproducedTotal(total, printed, ours, rule, verdict)
