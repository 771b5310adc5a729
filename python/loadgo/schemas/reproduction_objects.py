"""The JSON objects of the published documents run again, as typed dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from loadgo.reproduction.models.rfc_392_here import LocalTransfers
from loadgo.reproduction.models.rfc_392_remedies import RemedyCost


class ReproducedFigureJson(TypedDict):
    """A printed figure with ours."""

    document: str
    id: str
    line: str | int | None
    label: str
    printed: str
    unit: str
    printed_low: float | None
    printed_high: float | None
    ours: float | None
    ours_high: float | None
    interval_low: float | None
    interval_high: float | None
    ratio: float | None
    mark: str
    verdict: str
    tolerance: str | None
    why: str | None
    how: str | None
    corrected: str | None
    one_run_low: float | None
    one_run_high: float | None
    cause: str | None
    cause_kind: str | None


class FurtherFigureJson(TypedDict):
    """A figure of a model that the document does not print."""

    value: float
    how: str


class SuspectJson(TypedDict):
    """A figure that may be a misprint."""

    figure: str
    corrected: float


class FindingJson(TypedDict):
    """A place where a document contradicts itself."""

    relation: str
    degree: str
    failures: int
    of: int
    reading: str
    figures: Sequence[str]
    suspects: Sequence[SuspectJson]
    text: Sequence[str]


class PlotJson(TypedDict):
    """A chart with the curves of our model."""

    name: str
    title: str
    curves: Mapping[str, Sequence[tuple[float, float]]]


class ReproducedDocumentJson(TypedDict):
    """A reproduced document."""

    name: str
    title: str
    by: str
    dated: str
    answer: str
    figures: Sequence[ReproducedFigureJson]
    further: Mapping[str, FurtherFigureJson]
    findings: Sequence[FindingJson]
    plots: Sequence[PlotJson]
    remedies: Sequence[RemedyCost]
    here: LocalTransfers | None


class ReproductionJson(TypedDict):
    """The reproduced documents."""

    answer: str
    bad: bool
    experiments: int
    wall_s: float
    documents: Sequence[ReproducedDocumentJson]
