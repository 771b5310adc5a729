"""The JSON objects of comparisons, speed-ups, experiments and histories, as typed dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, TypedDict

from loadgo.comparison.chart_data import Distribution
from loadgo.comparison.difference import Difference, Drift
from loadgo.comparison.judgement import Judged
from loadgo.comparison.thresholds import ThresholdResult
from loadgo.decomposition.chains import Chain
from loadgo.decomposition.parts import OutputLine, Part
from loadgo.decomposition.roads import Road
from loadgo.decomposition.waterfall import Waterfall
from loadgo.documents.json_types import WithMembers
from loadgo.laboratory.history import Direction, Order
from loadgo.measures.metered_rates import RateKind
from loadgo.measures.record_checks import RunCheck
from loadgo.pairing.results import Change, LeftOut, Pair
from loadgo.pairing.variant import Variant
from loadgo.records.conditions import DifferingCondition
from loadgo.records.extrapolation import ExtrapolatedUser
from loadgo.running.load import Load
from loadgo.stats.resample import Interval


class LikenessMore(TypedDict):
    """The further members of a likeness."""

    answer: str
    """The answer in sentences."""


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


class RateRowJson(TypedDict):
    """A rate of two meterings. Its figures are shares from 0 to 1, events a second, or a mean length."""

    kind: RateKind
    name: str
    figure: Difference
    estimated: tuple[bool, bool]
    errors: tuple[float | None, float | None]
    each_ns: tuple[float | None, float | None]


class ComparedRatesJson(TypedDict):
    """Two meterings without a load, compared by second."""

    meters: tuple[str, str]
    rows: Sequence[RateRowJson]
    one_sided: Mapping[str, str]


class ComparisonJson(TypedDict):
    """A comparison."""

    answer: str
    warnings: Sequence[str]
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
    metered: ComparedRatesJson | None
    findings: Sequence[ThresholdResult]
    notes: Sequence[str]


class SpeedupMore(TypedDict):
    """Members of a speed-up's JSON beside its fields."""

    waterfalls: Sequence[Waterfall]


class ExperimentJson(TypedDict):
    """An experiment of pairs of runs."""

    answer: str
    warnings: Sequence[str]
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
    warnings: Sequence[str]
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
