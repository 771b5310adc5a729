"""Reproduces the published documents: every printed figure beside ours, and a verdict on each predicted figure.

A figure is *given* (fed in), *fitted* (a parameter was set by it) or *predicted*. A figure that no model gives is *not
modelled*, with a reason. Only a predicted figure can be right or wrong: `published/` has its tolerance, with a reason.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, get_args

from loadgo.distribution.choice import WorkerChoice
from loadgo.distribution.interrupts import interrupts_held_back
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.published.catalogue import document, documents
from loadgo.published.consistency import find_contradictions
from loadgo.published.document import Cause, Document, Figure, Rule, Total
from loadgo.published.failures import Numbers, is_sure
from loadgo.published.finding import Finding
from loadgo.published.own_file import read_own_document
from loadgo.reproduction.models.arithmetic import evaluate_with_ours, with_arithmetic
from loadgo.reproduction.models.laboratory import Lab
from loadgo.reproduction.models.rfc_392_here import LocalTransfers, ReportProgress, repeat_transfers_here
from loadgo.reproduction.models.rfc_392_remedies import RemedyCost, remedy_costs
from loadgo.reproduction.models.values import Plot, ReproducedValue, ReproducedValues
from loadgo.reproduction.verdict import is_within, ratio_of
from loadgo.running.worker_runs import run_crew
from loadgo.transfers.prices import Prices

MODEL_MODULES = {
    "ctss-trivial": "ctss_trivial",
    "mpl-16": "mpl_16",
    "rfc-392": "rfc_392",
    "multics-1969": "multics_1969",
    "csr-rfc-20": "csr_rfc_20",
}
"""The module with each document's models: its `reproduced_values(lab)` and `reproduced_plots(lab)`."""

TRANSFER_DOCUMENT = "rfc-392"
"""The document whose transfers can be repeated on this host."""

FigureVerdict = Literal[
    "given", "fitted", "not modelled", "within", "one run", "outside", "misprint", "missing", "not predicted"
]

BAD_VERDICTS: tuple[FigureVerdict, ...] = ("outside", "missing", "not predicted")


@dataclass(frozen=True)
class ReproducedFigure:
    """A printed figure with ours, and the verdict."""

    figure: Figure
    rule: Rule
    ours: ReproducedValue | None
    """Our figure; None if it is not modelled, or missing."""
    ratio: float | None
    """Ours over printed; None for dates, a printed 0, and ours within a printed range."""
    verdict: FigureVerdict
    """`within` or `outside` the tolerance, or the mark of a figure that is not predicted.

    `misprint`: within the tolerance of the value that follows from the document's other figures. `one run`: outside
    the tolerance, and where 95 of 100 single runs lie, so that one printed run cannot tell. `missing`: to be
    predicted, and no model gives it. `not predicted`: to be predicted, and only fed in or fitted.
    """
    corrected: str = ""
    """For a misprint: the value that follows from the document's other figures."""
    cause: Cause | None = None
    """The document file's reason why our figure is outside, if its evidence holds."""

    @property
    def bad(self) -> bool:
        """Whether the figure is not as it should be, and no cause is named."""
        return self.verdict in BAD_VERDICTS and self.cause is None


@dataclass(frozen=True)
class ReproducedTotal:
    """A total of printed figures, with the same total of ours."""

    total: Total
    printed: float
    ours: float | None
    rule: Rule | None
    verdict: FigureVerdict

    @property
    def ratio(self) -> float | None:
        """Ours over the total of the printed figures."""
        return self.ours / self.printed if self.ours is not None and self.printed else None


@dataclass(frozen=True)
class ReproducedDocument:
    """A reproduced document."""

    document: Document
    cells: Mapping[str, ReproducedFigure]
    """The figures by their ids."""
    totals: tuple[ReproducedTotal, ...]
    further: ReproducedValues
    """Figures of the models that the document does not print, by `DOCUMENT/further/NAME`."""
    findings: tuple[Finding, ...]
    """Places where the document contradicts itself."""
    plots: tuple[Plot, ...]
    remedies: tuple[RemedyCost, ...] = ()
    """The document's proposed remedies, and the savings that they would have given."""
    here: LocalTransfers | None = None
    """The document's measurements repeated on this host, if requested."""

    def count(self, *verdicts: FigureVerdict) -> int:
        """The number of figures and totals with one of these verdicts."""
        judged_totals = [total for total in self.totals if total.rule is not None]
        all_verdicts = [figure.verdict for figure in self.cells.values()] + [total.verdict for total in judged_totals]
        return sum(verdict in verdicts for verdict in all_verdicts)

    @property
    def unexplained(self) -> int:
        """The number of figures and totals that are not as they should be, and have no named cause."""
        totals = [total for total in self.totals if total.rule is not None and total.verdict in BAD_VERDICTS]
        return sum(figure.bad for figure in self.cells.values()) + len(totals)


@dataclass(frozen=True, repr=False)
class Reproduction(Result, presented_by="loadgo.reproduction.presentation:presentation"):
    """The reproduced documents."""

    documents: tuple[ReproducedDocument, ...]
    experiments: int
    """Number of runs."""
    wall_s: float

    def count(self, *verdicts: FigureVerdict) -> int:
        """The number of figures and totals with one of these verdicts."""
        return sum(reproduced.count(*verdicts) for reproduced in self.documents)

    @property
    def unexplained(self) -> int:
        """The number of figures and totals that are not as they should be, and have no named cause."""
        return sum(reproduced.unexplained for reproduced in self.documents)

    @property
    def is_own(self) -> bool:
        """Whether the document is a user's own file, which no model computes."""
        return any(reproduced.document.path for reproduced in self.documents)

    @property
    def bad(self) -> bool:
        """Whether a figure to be predicted is missing, not predicted at all, or outside without a named cause.

        Of a user's own document: whether it contradicts itself by more than the last digit.
        """
        if self.is_own:
            findings = [finding for reproduced in self.documents for finding in reproduced.findings]
            return any(finding.degree == "contradiction" for finding in findings)
        return self.unexplained > 0


def reproduce(
    name: str | PathLike[str] | None = None,
    *,
    here: Prices | None = None,
    workers: int | str | None = None,
    executor: Executor | None = None,
    progress: ReportProgress | None = None,
) -> Reproduction:
    """Runs the published measurements again, and puts our figure beside each printed figure.

    Args:
        name: A document, such as `mpl-16`. By default all documents (docs/published.md lists them). Of a file of your
            own, `before.toml`, the figures are checked against each other, and nothing is run.
        here: The prices of this host. The transfers of RFC 392 are then made on this host too.
        workers: Who simulates: a number of processes, `dask`, or the address of a Dask scheduler. By default threads of
            this process. The figures are the same.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        progress: A function that is called with a line for each document that is done.

    Returns:
        `Reproduction` with each document's figures, their ratio and verdict. `bad` tells whether a prediction failed,
        or whether a file of your own contradicts itself.

    Raises:
        loadgo.errors.BadArgument: There is no such document, or `here` was given with another one; it is a
            `ValueError`.
        loadgo.errors.Mistake: A file of your own has a mistake.
        loadgo.errors.LoadgoError: A machine cannot be run.
    """
    if here is not None and name not in (None, TRANSFER_DOCUMENT):
        raise BadArgument(f"{name} has no transfers that can be repeated on this host; only {TRANSFER_DOCUMENT} has")
    requested = _requested(name)
    choice = WorkerChoice(workers, executor)
    choice.check(is_simulated=True)
    began = time.monotonic()
    if requested[0].path:
        return Reproduction((judge_document(requested[0], {}),), 0, time.monotonic() - began)
    with run_crew(choice) as crew, Lab(crew) as lab:
        reproduced = _all_reproduced(requested, lab, progress)
        count = lab.count
    # The host is measured after the simulations, so that nothing runs beside it.
    reproduced = [_with_this_host(result, here, progress) for result in reproduced]
    return Reproduction(tuple(reproduced), count, time.monotonic() - began)


def _requested(name: str | PathLike[str] | None) -> tuple[Document, ...]:
    """The bundled documents, one of them, or that of a user's file."""
    if name is None:
        return documents()
    text = fspath(name)
    return (read_own_document(Path(text)) if text.endswith(".toml") else document(text),)


def judge_document(published: Document, values: ReproducedValues, plots: Sequence[Plot] = ()) -> ReproducedDocument:
    """Judges a document by `values`, our figures by id. Figures that follow from them by arithmetic are added.

    Raises `ValueError` for a value of a figure that the document does not have.
    """
    further = {key: value for key, value in values.items() if key.startswith(f"{published.name}/further/")}
    known_keys = {*published.figures, *further, *(total.id for total in published.totals)}
    unknown = [key for key in values if key not in known_keys]
    if unknown:
        raise BadArgument(f"the models of {published.name} give figures that it does not have: {', '.join(unknown)}")
    findings = find_contradictions(published)
    ours = with_arithmetic(published, values)
    suspects = {suspect.figure: suspect for finding in findings for suspect in finding.suspects}
    cells = {}
    for key, figure in published.figures.items():
        cell = _cell(figure, _rule(published, key), ours.get(key))
        suspect = suspects.get(key)
        if cell.verdict == "outside" and cell.ours and suspect and _agrees_with(cell, float(suspect.corrected)):
            cell = ReproducedFigure(figure, cell.rule, cell.ours, cell.ratio, "misprint", suspect.text)
        cells[key] = cell
    cells = _with_causes(published, cells)
    totals = tuple(_total(published, total, cells, values.get(total.id)) for total in published.totals)
    return ReproducedDocument(published, cells, totals, further, findings, tuple(plots))


def _with_causes(published: Document, cells: Mapping[str, ReproducedFigure]) -> dict[str, ReproducedFigure]:
    """The figures, those outside with the first cause of the document's file whose evidence holds."""
    ours = {key: cell.ours.value for key, cell in cells.items() if cell.ours is not None}
    numbers = Numbers(published.figures)
    causes: dict[str, Cause] = {}
    for cause in published.causes:
        if is_sure(cause.evidence, numbers, ours):
            causes = {**dict.fromkeys(cause.cells, cause), **causes}
    return {
        key: replace(cell, cause=causes.get(key)) if cell.verdict == "outside" else cell for key, cell in cells.items()
    }


def _all_reproduced(
    requested: Sequence[Document], lab: Lab, progress: ReportProgress | None
) -> list[ReproducedDocument]:
    """Reproduces all documents at the same time. An error or an interrupt ends all experiments."""
    with ThreadPoolExecutor(max_workers=len(requested)) as threads:
        try:
            with interrupts_held_back():
                futures = [threads.submit(_reproduced, published, lab, progress) for published in requested]
            return [future.result() for future in futures]
        except BaseException:
            lab.stop()
            raise


def _reproduced(published: Document, lab: Lab, progress: ReportProgress | None) -> ReproducedDocument:
    model = import_module(f"loadgo.reproduction.models.{MODEL_MODULES[published.name]}")
    reproduced = judge_document(published, model.reproduced_values(lab), model.reproduced_plots(lab))
    if published.name == TRANSFER_DOCUMENT:
        reproduced = replace(reproduced, remedies=remedy_costs(lab))
    if progress is not None:
        progress(
            f"{published.name}: {reproduced.count(*get_args(FigureVerdict))} figures, "
            f"{reproduced.unexplained} not as they should be"
        )
    return reproduced


def _with_this_host(
    reproduced: ReproducedDocument, here: Prices | None, progress: ReportProgress | None
) -> ReproducedDocument:
    if here is None or reproduced.document.name != TRANSFER_DOCUMENT:
        return reproduced
    return replace(reproduced, here=repeat_transfers_here(here, progress=progress))


def _rule(published: Document, key: str) -> Rule:
    return next(rule for rule in published.rules if fnmatch.fnmatchcase(key, rule.cells))


def _cell(figure: Figure, rule: Rule, ours: ReproducedValue | None) -> ReproducedFigure:
    if ours is None:
        if rule.mark in ("predicted", "fitted"):
            return ReproducedFigure(figure, rule, None, None, "missing")
        if rule.mark == "not modelled":
            return ReproducedFigure(figure, rule, None, None, "not modelled")
        number = figure.number
        high = float(number.high) if number.is_range else None
        ours = ReproducedValue(float(number.low), "given", rule.why, high=high)
    return ReproducedFigure(figure, rule, ours, ratio_of(figure, ours), _verdict(figure, rule, ours))


def _verdict(figure: Figure, rule: Rule, ours: ReproducedValue) -> FigureVerdict:
    if ours.mark == "predicted" and rule.within is not None:
        if is_within(figure.number, ours, rule.within):
            return "within"
        return "one run" if ours.one_run and _overlaps(figure, ours.one_run) else "outside"
    if rule.mark == "predicted":
        return "not predicted"
    return "fitted" if ours.mark == "fitted" else "not modelled" if ours.mark == "not modelled" else "given"


def _overlaps(figure: Figure, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= float(figure.number.high) and float(figure.number.low) <= bounds[1]


def _agrees_with(cell: ReproducedFigure, corrected: float) -> bool:
    """Whether ours is within the tolerance of a value that was corrected by the document's other figures."""
    assert cell.ours is not None
    assert cell.rule.within is not None
    return abs(cell.ours.value / corrected - 1) <= max(cell.rule.within.relative, cell.rule.within.factor - 1)


def _total(
    published: Document, total: Total, cells: Mapping[str, ReproducedFigure], own: ReproducedValue | None
) -> ReproducedTotal:
    """The total from our figures, unless the model gives its own."""
    printed = evaluate_with_ours(total.expression, published.figures, {})
    values = {key: cell.ours for key, cell in cells.items() if cell.ours is not None}
    is_complete = not any(cells[key].ours is None for key in total.cells)
    derived = evaluate_with_ours(total.expression, published.figures, values) if is_complete else None
    ours = derived if own is None else own.value
    rule = next((rule for rule in published.rules if fnmatch.fnmatchcase(total.id, rule.cells)), None)
    return ReproducedTotal(total, printed, ours, rule, _total_verdict(printed, ours, rule))


def _total_verdict(printed: float, ours: float | None, rule: Rule | None) -> FigureVerdict:
    if rule is not None and rule.within is not None and ours is not None:
        ratio, tolerance = ours / printed, rule.within
        is_near = abs(ratio - 1) <= tolerance.relative or 1 / tolerance.factor <= ratio <= tolerance.factor
        return "within" if is_near else "outside"
    if rule is not None and rule.mark == "not modelled":
        return "not modelled"
    return "missing" if ours is None else "given"
