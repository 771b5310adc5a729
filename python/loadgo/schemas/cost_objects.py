"""The JSON objects of costs, fair prices, tariffs and transfers, as typed dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from loadgo.costs.curve import Load as CostLoad
from loadgo.costs.fairness import Differential, Ratio, Verdict
from loadgo.costs.fairness import Measure as FairnessMeasure
from loadgo.costs.priced import Priced, Row
from loadgo.documents.json_types import WithMembers
from loadgo.measures.charged_use import MachineTime
from loadgo.measures.charges import SharedHoldings
from loadgo.measures.tariff import Tariff
from loadgo.stats.resample import Interval
from loadgo.transfers.prices import Prices
from loadgo.transfers.remedies import Saving
from loadgo.transfers.row import Row as TransferRow


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


class TransferCosts(TypedDict):
    """The costs of moving a megabit and a gigabyte in processor time."""

    cost_megabit: float | None
    cost_gigabyte: float | None


class CommandTransferMore(TransferCosts):
    """Members of a command's transfer beside its fields."""

    prices: Prices
    warnings: Sequence[str]


class TransferJson(TypedDict):
    """Transfers."""

    rows: Sequence[Annotated[dict[str, object], WithMembers(TransferRow, TransferCosts)]]
    savings: Sequence[Saving]
    notes: Sequence[str]
    left_out: Sequence[str]
    stopped: bool
    prices: Prices
    warnings: Sequence[str]
