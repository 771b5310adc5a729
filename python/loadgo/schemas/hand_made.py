"""The JSON objects that functions put together by hand, as typed dicts: their keys and the types of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from loadgo.comparison.chart_data import Distribution
from loadgo.comparison.compare import ThresholdResult
from loadgo.comparison.difference import Difference, Drift
from loadgo.comparison.judgement import Judged
from loadgo.costs.curve import Load as CostLoad
from loadgo.costs.fairness import Differential, Ratio, Verdict
from loadgo.costs.fairness import Measure as FairnessMeasure
from loadgo.costs.priced import Priced, Row
from loadgo.decomposition.chains import Chain
from loadgo.decomposition.parts import OutputLine, Part
from loadgo.decomposition.roads import Road
from loadgo.decomposition.waterfall import Waterfall
from loadgo.documents.json_types import WithMembers
from loadgo.fitting.trial import FittedCheck
from loadgo.laboratory.history import Direction, Order
from loadgo.measures.charged_use import MachineTime
from loadgo.measures.charges import SharedHoldings
from loadgo.measures.record_checks import RunCheck
from loadgo.measures.tariff import Tariff
from loadgo.measures.vocabulary import DocumentVocabulary
from loadgo.pairing.results import Change, LeftOut, Pair
from loadgo.pairing.variant import Variant
from loadgo.prediction.fitted import Parameter
from loadgo.profiling.summary import ProfileSummary
from loadgo.ready_message.ready import FigureSpread
from loadgo.records.conditions import DifferingCondition
from loadgo.records.extrapolation import ExtrapolatedUser
from loadgo.reporting.failed_lines import FailedLine
from loadgo.reproduction.models.rfc_392_here import LocalTransfers
from loadgo.reproduction.models.rfc_392_remedies import RemedyCost
from loadgo.running.command_run import CommandRun
from loadgo.running.load import Load
from loadgo.stats.resample import Interval
from loadgo.transfers.prices import Prices
from loadgo.transfers.remedies import Saving
from loadgo.transfers.row import Row as TransferRow


class ChartDataJson(TypedDict):
    """A chart's caption and columns."""

    caption: str
    columns: Mapping[str, Sequence[Any]]


class RunMore(TypedDict):
    """What the JSON of a run has beside its summary."""

    vocabulary: NotRequired[DocumentVocabulary]
    over_time: Mapping[str, ChartDataJson]


class FailedJson(TypedDict):
    """The lines of a run that failed."""

    failed: Sequence[FailedLine]


class ComparedSideJson(TypedDict):
    """A side of a comparison."""

    name: str
    kind: Literal["host", "machine", "printed"]
    title: str
    runs: int
    interactions: int
    extrapolated: Sequence[ExtrapolatedUser]
    unanswered: int
    conditions: Mapping[str, str]
    notes: Sequence[str]


class ComparedRowJson(TypedDict):
    """A row of a comparison."""

    label: str
    kind: Literal["row", "subtotal", "total"]
    counts: tuple[int, int] | None
    measures: Mapping[str, Difference]


class ComparedRowsJson(TypedDict):
    """The rows of a comparison, and how they were matched."""

    by: Literal["line", "command"]
    paired: bool
    unit: Literal["user", "run"]
    units: tuple[int, int]
    waits: float | None
    left_out: Sequence[str]
    rows: Sequence[ComparedRowJson]


class BetweenRunsJson(TypedDict):
    """How much runs differ by themselves."""

    drift: Drift
    like_runs: int
    degrees: int
    reason: str
    pairs_needed: int | None
    command: str | None


class SideOfCheck(TypedDict):
    """The side that a check belongs to."""

    side: str


class ComparisonJson(TypedDict):
    """A comparison."""

    answer: str
    margin: float
    a: ComparedSideJson
    b: ComparedSideJson
    conditions: Sequence[DifferingCondition]
    rows: ComparedRowsJson
    commands: Sequence[ComparedRowJson]
    whole: Mapping[str, Difference]
    between_runs: BetweenRunsJson
    parts: Sequence[Part]
    by_output_line: Sequence[OutputLine]
    bookkeeping: Sequence[Chain]
    waterfalls: Sequence[Waterfall]
    distribution: Distribution | None
    roads: Sequence[Road]
    checks: Sequence[Annotated[dict[str, object], WithMembers(RunCheck, SideOfCheck)]]
    prediction: Sequence[Judged]
    findings: Sequence[ThresholdResult]
    notes: Sequence[str]


class SpeedupMore(TypedDict):
    """What the JSON of a speed-up has beside its fields."""

    waterfalls: Sequence[Waterfall]


class PricedRows(TypedDict):
    """The rows of a priced load."""

    rows: Sequence[Row]


class CostPointJson(TypedDict):
    """The costs of one load."""

    users: int
    runs: Sequence[str]
    interactions: int
    held: SharedHoldings
    machine: MachineTime | None
    stretch: str
    tariffs: Sequence[Annotated[dict[str, object], WithMembers(Priced, PricedRows)]]


class CostCurveJson(TypedDict):
    """The costs at one tariff over the load."""

    tariff: str
    loads: Sequence[CostLoad]


class CostsJson(TypedDict):
    """The costs of runs."""

    title: str
    by: Literal["command", "user"]
    curves: Sequence[CostCurveJson]
    points: Sequence[CostPointJson]
    differing: Sequence[str]
    notes: Sequence[str]
    warnings: Sequence[str]


class ShiftChargeJson(TypedDict):
    """The charge for an interaction on one shift."""

    shift: str
    interaction: float
    tariff: Tariff | None


class PricedSideJson(TypedDict):
    """A side of a comparison of prices."""

    name: str
    title: str
    currency: str
    paid: Sequence[ShiftChargeJson]
    means: Mapping[str, float]


class FairLevelJson(TypedDict):
    """B's charge for the same performance, in multiples of A's."""

    times: float
    interval: Interval | None
    verdict: Verdict


class FairPriceJson(TypedDict):
    """The charges of both sides on one shift."""

    shift: str
    charges: Ratio
    for_the_same: Mapping[str, FairLevelJson]


class FairnessJson(TypedDict):
    """Whether a price is fair."""

    answer: str
    a: PricedSideJson
    b: PricedSideJson
    measure: FairnessMeasure
    performance: Mapping[str, Ratio]
    prices: Sequence[FairPriceJson]
    differentials: Sequence[Differential]
    notes: Sequence[str]
    warnings: Sequence[str]


class TariffsJson(TypedDict):
    """The tariffs that come with loadgo."""

    tariffs: Sequence[Tariff]


class FitJson(TypedDict):
    """A fit."""

    title: str
    path: str | PathLike[str] | None
    script: str
    runs: Sequence[str]
    users: Sequence[int]
    interactions: int
    parameters: Sequence[Parameter]
    checks: Sequence[FittedCheck]
    assumed: Sequence[str]
    warnings: Sequence[str]
    hint: str


class HistoryPointJson(TypedDict):
    """The figure of one run."""

    run: str
    started: datetime | None
    host: str
    version: str
    kernel: str
    value: float


class HistoryConditionJson(TypedDict):
    """A condition that differs between two runs."""

    name: str
    before: str
    after: str


class HistoryChangeJson(TypedDict):
    """A change of the figure's level."""

    first_run_after: str
    last_run_before: str
    host: str
    before: float
    after: float
    scale: str
    size: float
    interval: Interval | None
    chance: float
    direction: Direction
    conditions: Sequence[HistoryConditionJson]


class HistoryGroupJson(TypedDict):
    """Runs of one version, host or kernel."""

    name: str
    runs: int
    median: float


class HistoryLeftOutJson(TypedDict):
    """Runs that are in no history."""

    reason: str
    runs: Sequence[str]


class HistoryJson(TypedDict):
    """A figure over many runs."""

    answer: str
    bad: bool
    figure: str
    dimension: str
    runs_folder: str
    like: str
    by: Order
    since: datetime | None
    enough: bool
    fewest_runs: int
    points: Sequence[HistoryPointJson]
    changes: Sequence[HistoryChangeJson]
    groups: Sequence[HistoryGroupJson]
    left_out: Sequence[HistoryLeftOutJson]


class ExperimentJson(TypedDict):
    """An experiment of pairs of runs."""

    answer: str
    a: Variant
    b: Variant
    load: Load
    margin: float
    measures: Sequence[str]
    end: str
    changes: Sequence[Change]
    commands: Sequence[Change]
    pairs: Sequence[Pair]
    left_out: Sequence[LeftOut]


class ProfileMore(TypedDict):
    """What the JSON of a profile has beside its fields."""

    summary: ProfileSummary


class MeteredRunMore(TypedDict):
    """What a run of a command has beside its fields."""

    status: int
    cpu_ns: int | None
    cost: float | None


class ReadyMore(TypedDict):
    """What the JSON of a ready message has beside its fields."""

    figures: Mapping[str, Mapping[str, FigureSpread]]
    runs: Sequence[Annotated[dict[str, object], WithMembers(CommandRun, MeteredRunMore)]]


class TransferCosts(TypedDict):
    """The costs of moving a megabit and a gigabyte in processor time."""

    cost_megabit: float | None
    cost_gigabyte: float | None


class CommandTransferMore(TransferCosts):
    """What the JSON of a command's transfer has beside its fields."""

    prices: Prices


class TransferJson(TypedDict):
    """Transfers."""

    rows: Sequence[Annotated[dict[str, object], WithMembers(TransferRow, TransferCosts)]]
    savings: Sequence[Saving]
    notes: Sequence[str]
    left_out: Sequence[str]
    stopped: bool
    prices: Prices


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


class ListedRunJson(TypedDict):
    """A recorded run."""

    id: str
    folder: str
    name: str
    system: str
    users: int | None
    started: datetime | None
    finished: bool
    outcome: str
    interactions: int | None


class RunsJson(TypedDict):
    """The recorded runs."""

    runs: Sequence[ListedRunJson]


class ListedMachineJson(TypedDict):
    """A simulated machine."""

    name: str
    title: str
    processors: int
    commands: Sequence[str]
    source: str


class MachinesJson(TypedDict):
    """The machines that come with loadgo."""

    machines: Sequence[ListedMachineJson]


class AbilityJson(TypedDict):
    """Something that a run may need of a host."""

    name: str
    state: Literal["exact", "estimated", "absent"]
    how: str
    why_not: str
    remedy: str


class AbilitiesJson(TypedDict):
    """What can be measured and controlled on a host."""

    abilities: Sequence[AbilityJson]


class QueryJson(TypedDict):
    """The rows of an answer, by column."""

    rows: Sequence[Mapping[str, Any]]
